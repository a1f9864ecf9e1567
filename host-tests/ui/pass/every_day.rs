//! What people write every day compiles as written, and on a CPU it has its plain meaning.
use ptx_intrinsics::prelude::*;

const WEIGHTS: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();

fn main() {
    let p = &1.5f32 as *const f32;
    let w: f32 = unsafe { ld_global_nc::<EvictLast, Prefetch256>().read(p) };
    assert_eq!(w, 1.5);
    assert_eq!(unsafe { WEIGHTS.read(p) }, 1.5);
    assert_eq!(unsafe { ld_global::<Cg, NoPrefetch>().read(p) }, 1.5);

    let eight = V8::from([1u32, 2, 3, 4, 5, 6, 7, 8]);
    let p8 = &eight as *const V8<u32> as *const u32;
    let read = unsafe { ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read(p8 as *const V8<u32>) };
    assert_eq!(read, eight);
    let [first, ..]: [u32; 8] = read.into();
    assert_eq!(first, 1);

    let policy = CachePolicy::EVICT_LAST;
    assert_eq!(unsafe { ld_global_nc::<NoHint, NoPrefetch>().read_with(p, policy) }, 1.5);
    let (nowhere, or) = (core::ptr::null(), 2.5);
    assert_eq!(unsafe { ld_global_nc::<NoHint, NoPrefetch>().read_if(true, p, or) }, 1.5);
    assert_eq!(unsafe { ld_global_nc::<NoHint, NoPrefetch>().read_if(false, nowhere, or) }, 2.5);

    let mut stored = 0.0f32;
    unsafe { st_global::<Cs>().write(&mut stored, 3.5) };
    assert_eq!(stored, 3.5);

    unsafe {
        prefetch_l2(p);
        prefetch_l1(p);
        prefetch_global_l2::<L2EvictLast>(p);
        prefetchu_l1(p);
    }
    for read in [ldg, ldca, ldcg, ldcs, ldlu, ldcv] {
        assert_eq!(unsafe { read(p) }, 1.5);
    }
}
