//! `.b128` has no vectors.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(_: *const V2<u128>) {}
