//! A barrier is told by its address in shared memory.
use ptx_intrinsics::*;

fn main() {}

fn kernel(bar: *mut Mbarrier) {
    unsafe { mbarrier_arrive(bar); }
}
