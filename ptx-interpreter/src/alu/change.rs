//! What an atomic makes of the number that it finds.

use ptx_intrinsics::grammar::atomic::Atomic;
use ptx_intrinsics::ptx::change;

/// How an atomic changes a number, or several as one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) atomic: Atomic,
    pub(crate) bytes: usize,
    /// A sum of `f32` without `.noftz`: outside of shared memory it knows no subnormal numbers.
    pub(crate) flushes: bool,
}

impl Change {
    /// What is there after what was found.
    pub(crate) fn of(&self, in_shared: bool, found: u128, (value, compare): (u128, Option<u128>)) -> u128 {
        let flushes = self.flushes && !in_shared;
        let flushed = |number| if flushes { without_subnormals(number) } else { number };
        let (mut new, value) = (flushed(found), flushed(value));
        // SAFETY: the number is this thread's own, and as wide as any.
        unsafe {
            let new = &raw mut new;
            match self.bytes {
                2 => drop(change(self.atomic, new.cast(), value as u16, compare.map(|value| value as u16))),
                4 => drop(change(self.atomic, new.cast(), value as u32, compare.map(|value| value as u32))),
                8 => drop(change(self.atomic, new.cast(), value as u64, compare.map(|value| value as u64))),
                _ => drop(change(self.atomic, new, value, compare)),
            }
        }
        flushed(new)
    }
}

/// Zeros in place of subnormal numbers, in each `f32`; the signs stay.
fn without_subnormals(numbers: u128) -> u128 {
    (0..4).map(|at| (numbers >> (32 * at)) as u32).enumerate().fold(0, |all, (at, bits)| {
        let kept = if f32::from_bits(bits).is_subnormal() { bits & 1 << 31 } else { bits };
        all | u128::from(kept) << (32 * at)
    })
}
