//! A barrier is told by its address in shared memory.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: *mut Mbarrier) {
    unsafe { mbarrier_arrive(bar); }
}
