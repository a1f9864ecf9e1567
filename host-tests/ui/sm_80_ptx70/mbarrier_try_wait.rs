//! `mbarrier.try_wait` begins with sm_90 and PTX ISA 7.8.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_try_wait_parity(bar, 0); }
}
