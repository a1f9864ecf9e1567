//! What the catalogue knows of an instruction, as plain data.

#[cfg(not(target_arch = "nvptx64"))]
use super::gate::{Gate, Needs};

/// What an instruction does with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a value.
    Load,
    /// Writes a value.
    Store,
    #[cfg(not(target_arch = "nvptx64"))]
    /// Neither: it brings something into a cache, or makes a policy.
    Other,
}

/// A row of an instruction that has a function for each spelling.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
pub(crate) struct Single {
    pub(crate) instruction: &'static str,
    pub(crate) rust: &'static str,
    pub(crate) ptx: &'static str,
    pub(crate) signature: Signature,
    pub(crate) needs: Needs,
}

#[cfg(not(target_arch = "nvptx64"))]
impl Single {
    pub(crate) const fn new(
        instruction: &'static str,
        rust: &'static str,
        ptx: &'static str,
        signature: Signature,
        needs: Needs,
    ) -> Self {
        Self { instruction, rust, ptx, signature, needs }
    }

    pub(crate) const fn gated<G: Gate>(
        instruction: &'static str,
        rust: &'static str,
        ptx: &'static str,
        signature: Signature,
    ) -> Self {
        Self::new(instruction, rust, ptx, signature, G::NEEDS)
    }
}

/// What a form that is neither a load nor a store takes and gives.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The parameters that its Rust expression names: `p: *const u8`.
    pub parameters: &'static str,
    /// The type of the expression, where it has a value.
    pub result: Option<&'static str>,
    /// The operands of the instruction, `%` for a register: `[%]`.
    pub operands: &'static str,
}
