//! `mbarrier` begins with sm_80.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_init(bar, 1) }
}
