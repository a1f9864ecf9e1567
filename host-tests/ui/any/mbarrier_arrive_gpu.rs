//! A barrier has no scope beyond the cluster.
use ptx_intrinsics::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_arrive_as::<Release<Gpu>, _>(bar); }
}
