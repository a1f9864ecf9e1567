//! A state space that does not have the order.
use ptx_intrinsics::prelude::*;

fn main() {}

// Constant memory orders nothing.
fn acquire_on_constant(p: *const f32) -> f32 {
    unsafe { ld_const().acquire::<Gpu>().read(p) }
}

// Memory-mapped registers are not in shared memory.
fn mmio_on_shared(p: *const f32) -> f32 {
    unsafe { ld_shared().mmio().read(p) }
}

// Local memory is the thread's own.
fn relaxed_on_local(p: *const f32) -> f32 {
    unsafe { ld_local().relaxed::<Cta>().read(p) }
}
