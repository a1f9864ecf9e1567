//! A barrier has no scope beyond the cluster.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_arrive_as::<Release<Gpu>, _>(bar); }
}
