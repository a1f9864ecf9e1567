//! `.relaxed` begins with PTX ISA 8.6 at a barrier.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_arrive_as::<Relaxed<Cta>, _>(bar); }
}
