//! What begins with PTX ISA 7.8.
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

fn main() {}

// `.cluster` begins with sm_90.
fn cluster_scope(p: *const f32) -> f32 {
    unsafe { ld().relaxed::<Cluster>().read(p) }
}

// `mbarrier.try_wait` begins with sm_90 and PTX ISA 7.8.
fn mbarrier_try_wait(bar: SharedPtr<Mbarrier>) {
    unsafe { mbarrier_try_wait_parity(bar, 0); }
}

// `.shared::cluster` begins with sm_90.
fn shared_cluster(p: *const f32) -> f32 {
    unsafe { ld_shared_cluster().read(p) }
}
