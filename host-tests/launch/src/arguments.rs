//! A launch, and what its kernel takes.

use std::ffi::c_void;
use std::sync::Arc;

/// A launch of a kernel in a one-dimensional grid.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The entry point.
    pub kernel: String,
    /// Blocks in the grid.
    pub blocks: u32,
    /// Threads in a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// What the kernel takes, in its order.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number or an address.
    U64(u64),
    /// A 32-bit float.
    F32(f32),
    /// Eight 32-bit floats by value.
    F32x8([f32; 8]),
    /// Any bytes by value.
    Bytes(Arc<[u8]>),
}

impl Argument {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Argument::U32(_) | Argument::F32(_) => 4,
            Argument::U64(_) => 8,
            Argument::F32x8(_) => 32,
            Argument::Bytes(value) => value.len(),
        }
    }

    /// Where its bytes are.
    pub fn pointer(&self) -> *mut c_void {
        match self {
            Argument::U32(value) => (&raw const *value).cast_mut().cast(),
            Argument::U64(value) => (&raw const *value).cast_mut().cast(),
            Argument::F32(value) => (&raw const *value).cast_mut().cast(),
            Argument::F32x8(value) => (&raw const *value).cast_mut().cast(),
            Argument::Bytes(value) => value.as_ptr().cast_mut().cast(),
        }
    }
}

/// Why a kernel that takes parameters of these sizes, in bytes, does not take arguments of those sizes.
pub(crate) fn mismatch(taken: &[usize], passed: &[usize]) -> Option<String> {
    if taken.len() != passed.len() {
        return Some(format!("the kernel takes {} parameters, and is given {}", taken.len(), passed.len()));
    }
    let at = (0..taken.len()).find(|&at| taken[at] != passed[at])?;
    Some(format!("parameter {at} of the kernel has {} bytes, and is given {}", taken[at], passed[at]))
}
