//! What is gated and no form of the catalogue.

use crate::bounds::program::Call;

/// Parameters, the call, and the oldest SM and PTX ISA version that have it.
const CALLS: &[(&str, &str, (u32, u32))] = &[
    ("p: SharedPtr<u32>", "p.read()", (20, 20)),
    ("p: SharedPtr<u32>, cond: bool", "p.read_if(cond, 0)", (20, 20)),
    ("p: SharedPtr<u32>", "p.write(0)", (20, 20)),
    ("p: SharedPtr<u32>, cond: bool", "p.write_if(cond, 0)", (20, 20)),
    ("p: SharedPtr<B128>", "p.read()", (70, 83)),
    ("p: SharedPtr<B128>, cond: bool, v: B128", "p.read_if(cond, v)", (70, 83)),
    ("p: SharedPtr<B128>, v: B128", "p.write(v)", (70, 83)),
    ("p: SharedPtr<B128>, cond: bool, v: B128", "p.write_if(cond, v)", (70, 83)),
    ("p: SharedPtr<i128>", "p.read()", (70, 83)),
    ("p: *mut u32", "SharedClusterPtr::new(p)", (90, 78)),
    ("p: SharedPtr<u32>", "SharedClusterPtr::of(p)", (90, 78)),
    ("p: *const u128", "ld_global::<NoHint, NoPrefetch>().read(p)", (70, 83)),
    ("p: *mut i128, v: i128", "st().volatile().write(p, v)", (70, 83)),
    ("slice: *const [f32]", "prefetch_global_l2_slice::<NoHint, f32>(slice, 0, 32)", (20, 20)),
    ("slice: *const [f32]", "prefetch_global_l2_slice::<L2EvictLast, f32>(slice, 0, 32)", (80, 74)),
    ("slice: *const [f32]", "prefetch_global_l2_slice::<L2EvictNormal, f32>(slice, 0, 32)", (80, 74)),
    ("slice: *const [f32]", "applypriority_global_l2_evict_normal_slice(slice, 0, 32)", (80, 74)),
    ("slice: *mut [f32]", "discard_global_l2_slice(slice, 0, 32)", (80, 74)),
    // An order that is said although it is meant anyway.
    ("bar: SharedPtr<Mbarrier>", "mbarrier_arrive_as::<Release<Cta>, _>(bar)", (80, 70)),
    ("bar: SharedPtr<Mbarrier>", "mbarrier_expect_tx_as::<Relaxed<Cta>, _>(bar, 0)", (90, 80)),
    ("bar: SharedPtr<Mbarrier>", "mbarrier_test_wait_parity_as::<Acquire<Cta>>(bar, 0)", (80, 71)),
    ("bar: SharedPtr<Mbarrier>", "mbarrier_try_wait_parity_as::<Acquire<Cta>>(bar, 0)", (90, 78)),
    // Words of `ptx!` that are meant anyway: no form is listed with them.
    ("p: SharedPtr<u32>", "ptx!(ld.shared::cta.u32 [p])", (30, 78)),
    ("p: SharedPtr<u32>", "ptx!(red.shared::cta.add.u32 [p], 1)", (30, 78)),
    ("p: *const u32", "ptx!(ld.param.u32 [p])", (70, 77)),
    ("p: *const u32", "ptx!(ld.weak.global.u32 [p])", (70, 60)),
];

/// Those calls.
pub(crate) fn calls() -> impl Iterator<Item = Call> {
    CALLS.iter().map(|(parameters, rust, needs)| Call::new(parameters, rust, *needs))
}
