//! Each line as a kernel author writes it: the orders, the spaces, and what public code bases use most.
use ptx_intrinsics::prelude::*;
use ptx_intrinsics::space::*;

const FLAG: Ld<Global, Acquire<Sys>> = ld_global::<NoHint, NoPrefetch>().acquire();
const PUBLISH: St<Global, Release<Gpu>, NoAllocate> = st_global::<NoAllocate>().release();

fn main() {
    let (word, mut to) = (7u32, 0u32);
    let (p, q) = (&raw const word, &raw mut to);
    unsafe {
        assert_eq!(ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p), 7);
        assert_eq!(FLAG.read(p), 7);
        PUBLISH.write(q, 1);
        assert_eq!(to, 1);
        // ld.volatile.global{.v4.u32}, st.release.sys.global, {ld,st}.relaxed.{gpu,sys}.global{.v2,.v4,.b128}
        ld_global::<NoHint, NoPrefetch>().volatile().read(p);
        st_global::<NoHint>().release::<Sys>().write(q, 2);
        ld_global::<NoHint, NoPrefetch>().relaxed::<Sys>().read(p);
        st_global::<NoHint>().relaxed::<Gpu>().write(q, 3);
        // {ld,st}.{relaxed,acquire,release}.{gpu,sys}.global.L1::no_allocate
        ld_global::<NoAllocate, NoPrefetch>().relaxed::<Gpu>().read(p);
        ld_global::<NoAllocate, NoPrefetch>().acquire::<Sys>().read(p);
        st_global::<NoAllocate>().relaxed::<Sys>().write(q, 4);
        assert_eq!(to, 4);
    }
    let four = V4::new([1u32, 2, 3, 4]);
    let mut out = four;
    let (p, q) = (&raw const four, &raw mut out);
    unsafe {
        // st.global.L1::no_allocate.v4.b32, ld.global.nc.L1::no_allocate.L2::256B.v4.s32, ld.global.L2::128B.v4.u32
        st_global::<NoAllocate>().write(q, four);
        ld_global_nc::<NoAllocate, Prefetch256>().read(p);
        ld_global::<NoHint, Prefetch128>().read(p);
        // {ld,st}.global.L2::cache_hint.v4.b32, ld.global.L1::evict_last.L2::cache_hint.v4.b32
        ld_global::<NoHint, NoPrefetch>().read_with(p, CachePolicy::EVICT_FIRST);
        st_global::<NoHint>().write_with(q, four, CachePolicy::EVICT_FIRST);
        let policy = CachePolicy::fractional::<L2EvictLast>(0.5);
        ld_global::<EvictLast, NoPrefetch>().read_with(p, policy);
        ld_global::<NoHint, NoPrefetch>().volatile().read(p);
        assert_eq!(out, four);
    }
    let eight = V8::new([1.0f32; 8]);
    let mut out = eight;
    unsafe {
        // {ld,st}.global.L1::no_allocate.v8.f32, ld.global.L2::evict_first.v8.b32
        st_global::<NoAllocate>().write(&mut out, ld_global::<NoAllocate, NoPrefetch>().read(&eight));
        ld_global::<L2EvictFirst, NoPrefetch>().read(&eight);
        assert_eq!(out, eight);
        // {ld,st}.{cg,cs,cv,lu,wt}
        for read in [ldcg, ldcs, ldcv, ldlu] {
            assert_eq!(read(&word), 7);
        }
        for write in [stcg, stcs, stwt, stwb] {
            write(&raw mut to, 9);
        }
        // Predicated, with a fallback value.
        assert_eq!(ptx!(@(to == 9) ld.acquire.gpu.global.u32 [&raw const word], else 0), 7);
        assert_eq!(ld_shared().read_if(to == 0, core::ptr::null(), 5u32), 5);
    }
}
