//! Who waits acquires.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_try_wait_parity_as::<Release<Cta>>(bar, 0); }
}
