//! An order that does not move the type.
use ptx_intrinsics::prelude::*;

fn main() {}

// The assembler forgets the order of 256 bits.
fn acquire_256_bits(p: *const V8<f32>) -> V8<f32> {
    unsafe { ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p) }
}

// Memory-mapped accesses move scalars.
fn mmio_of_vector(p: *const V2<f32>) -> V2<f32> {
    unsafe { ld().mmio().read(p) }
}

// The assembler forgets the order of 256 bits.
fn release_256_bits(p: *mut V4<f64>, v: V4<f64>) {
    unsafe { st().release::<Gpu>().write(p, v) }
}
