//! What threads of a warp exchange: each gives numbers, and gets some that depend on those of all.

use crate::machine::lanes::{LANES, Lanes};
use crate::ptx::operand::Operand;

/// An instruction by which threads exchange something, with its own operands. Others may meet them at another one of the same words: PTX
/// asks for "the same qualifiers and same membermask value", and not for the same place.
pub(crate) trait Exchange: Send + Sync {
    /// What each thread gives.
    fn reads(&self) -> [Option<&Operand>; 3];

    /// Where it gets its results.
    fn writes(&self) -> [Option<&Operand>; 2];

    /// The results, by what is given by the threads that are here.
    fn exchange(&self, given: &[Lanes; 3], here: u32, mask: u32) -> [Lanes; 2];

    /// The lane whose first number each thread gets, if it is one lane's.
    fn sources(&self, _given: &[Lanes; 3]) -> Option<[usize; LANES]> {
        None
    }

    /// The bits of what a thread gets that depend on those of some lanes, or on all if its own is among them.
    fn depends(&self, _on: u32, _is_own: bool) -> u64 {
        u64::MAX
    }

    /// Whether it orders memory.
    fn orders(&self) -> bool {
        false
    }
}
