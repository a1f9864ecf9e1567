//! What each instruction makes of its operands: a kernel for each instruction and type, operands for it, and what came out of a
//! GPU beside what comes out of the interpreter of PTX.
//!
//! The tables in `tables/` name the instructions. No file says what an instruction means: the interpreter is the other side. Only
//! for instructions that are approximate, and for sums of matrices, there is the exact result too.

mod approximate;
mod bytes;
mod case;
mod float;
mod interpret;
mod judge;
mod matrices;
mod name;
mod operands;
mod product;
mod random;
mod sums;
mod table;
mod turns;
mod types;
mod wgmma;

use std::sync::LazyLock;

pub use bytes::{bytes_of_all, numbers_of, words_of};
pub use case::{BLOCK, Case, header};
pub use judge::{Judged, judge};

/// Every kernel, in the order in which a run should do them.
pub fn every() -> &'static [Case] {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| turns::in_turn(table::cases()));
    &ALL
}

/// The kernel of that name.
pub fn find(name: &str) -> Option<&'static Case> {
    every().iter().find(|case| case.name == name)
}
