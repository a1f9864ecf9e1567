//! `mbarrier` begins with sm_80.
use ptx_intrinsics::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_init(bar, 1) }
}
