//! The assembler forgets the order of 256 bits.
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(p: *mut V4<f64>, v: V4<f64>) {
    unsafe { st().release::<Gpu>().write(p, v) }
}
