//! Lines as they stand in public CUDA code, their operands ours: in every order of words that `ptxas` takes.
use ptx_intrinsics::prelude::*;

unsafe fn any<T>() -> T {
    unsafe { core::mem::zeroed() }
}

unsafe fn pasted(p: *mut u8, here: SharedPtr<u8>, policy: CachePolicy) {
    unsafe {
        let _: u64 = ptx!(atom.global.add.u64 [p as *mut u64], any::<u64>());
        let _: i32 = ptx!(atom.add.release.sys.global.s32 [p as *mut i32], any::<i32>());
        let _: u32 = ptx!(atom.shared.max.u32 [here.cast::<u32>()], any::<u32>());
        let _: u32 = ptx!(atom.shared.add.u32 [here.cast::<u32>()], any::<u32>());
        let _: u32 = ptx!(atom.acq_rel.gpu.global.add.u32 [p as *mut u32], any::<u32>());
        let _: B32 = ptx!(atom.global.acquire.sys.cas.b32 [p as *mut B32], any::<B32>(), any::<B32>());
        let _: u64 = ptx!(atom.relaxed.gpu.global.add.u64 [p as *mut u64], any::<u64>());
        let _: i32 = ptx!(atom.release.gpu.global.add.s32 [p as *mut i32], any::<i32>());
        let _: u32 = ptx!(atom.acq_rel.gpu.global.inc.u32 [p as *mut u32], any::<u32>());
        let _: u64 = ptx!(atom.acquire.gpu.global.add.u64 [p as *mut u64], any::<u64>());
        ptx!(red.relaxed.gpu.global.add.s32 [p as *mut i32], any::<i32>());
        ptx!(red.release.gpu.global.add.u64 [p as *mut u64], any::<u64>());
        ptx!(red.release.gpu.global.add.u32 [p as *mut u32], any::<u32>());
        ptx!(red.release.gpu.global.add.s32 [p as *mut i32], any::<i32>());
        ptx!(red.global.add.v4.f32 [p as *mut V4<f32>], any::<V4<f32>>());
        ptx!(red.release.sys.global.max.u64 [p as *mut u64], any::<u64>());
        ptx!(red.release.global.gpu.add.u32 [p as *mut u32], any::<u32>());
        ptx!(red.release.cta.shared.add.u32 [here.cast::<u32>()], any::<u32>());
        ptx!(red.release.sys.global.add.u64 [p as *mut u64], any::<u64>());
        let _: u64 = ptx!(atom.add.u64 [p as *mut u64], any::<u64>());
        let _: B64 = ptx!(atom.and.b64 [p as *mut B64], any::<B64>());
        let _: i32 = ptx!(atom.add.release.gpu.global.s32 [p as *mut i32], any::<i32>());
        let _: u32 = ptx!(atom.add.release.gpu.u32 [p as *mut u32], any::<u32>());
        let _: u32 = ptx!(atom.add.u32 [p as *mut u32], any::<u32>());
        let _: u64 = ptx!(atom.add.release.gpu.u64 [p as *mut u64], any::<u64>());
        let _: f32 = ptx!(atom.global.add.f32 [p as *mut f32], any::<f32>());
        let _: u32 = ptx!(ld.shared::cluster.u32 [p as *const u32]);
        let _: V4<B32> = ptx!(ld.volatile.global.v4.b32 [p as *const V4<B32>]);
        let _: V8<B32> = ptx!(ld.global.v8.b32 [p as *const V8<B32>]);
        let _: i32 = ptx!(ld.volatile.global.s32 [p as *const i32]);
        let _: B32 = ptx!(ld.shared.b32 [here.cast::<B32>()]);
        let _: B32 = ptx!(ld.global.acquire.gpu.b32 [p as *const B32]);
        let _: V4<B32> = ptx!(ld.shared.v4.b32 [here.cast::<V4<B32>>()]);
        let _: B32 = ptx!(ld.cg.global.b32 [p as *const B32]);
        let _: V4<f32> = ptx!(ld.global.nc.v4.f32 [p as *const V4<f32>]);
        let _: B32 = ptx!(ld.global.nc.L1::no_allocate.L2::cache_hint.b32 [p as *const B32], policy);
        let _: B64 = ptx!(ld.global.nc.b64 [p as *const B64]);
        let _: V4<i32> = ptx!(ld.global.nc.v4.s32 [p as *const V4<i32>]);
        let _: f32 = ptx!(ld.global.nc.f32 [p as *const f32]);
        let _: V2<u64> = ptx!(ld.global.nc.v2.u64 [p as *const V2<u64>]);
        let _: V8<i32> = ptx!(ld.global.nc.L1::evict_normal.L2::evict_normal.L2::256B.v8.s32 [p as *const V8<i32>]);
        let _: V4<u32> = ptx!(ld.global.nc.L1::no_allocate.L2::256B.v4.u32 [p as *const V4<u32>]);
        let _: u32 = ptx!(ld.acquire.sys.global.u32 [p as *const u32]);
        let _: u8 = ptx!(ld.acquire.sys.global.u8 [p as *const u8]);
        let _: u32 = ptx!(ld.acquire.gpu.u32 [p as *const u32]);
        let _: B32 = ptx!(ld.acquire.gpu.global.b32 [p as *const B32]);
        let _: i32 = ptx!(ld.acquire.gpu.global.s32 [p as *const i32]);
        let _: u64 = ptx!(ld.acquire.gpu.global.u64 [p as *const u64]);
        let _: V2<B64> = ptx!(ld.volatile.global.v2.b64 [p as *const V2<B64>]);
        let _: u32 = ptx!(ld.volatile.global.u32 [p as *const u32]);
        let _: f32 = ptx!(ld.global.lu.f32 [p as *const f32]);
        ptx!(st.global.v2.u64 [p as *mut V2<u64>], any::<V2<u64>>());
        ptx!(st.volatile.global.v4.b32 [p as *mut V4<B32>], any::<V4<B32>>());
        ptx!(st.global.cs.u64 [p as *mut u64], any::<u64>());
        ptx!(st.shared::cluster.u32 [p as *mut u32], any::<u32>());
        ptx!(st.shared.b16 [here.cast::<B16>()], any::<B16>());
        ptx!(st.release.sys.global.u64 [p as *mut u64], any::<u64>());
        ptx!(st.volatile.global.u32 [p as *mut u32], any::<u32>());
        ptx!(st.global.cg.u64 [p as *mut u64], any::<u64>());
        ptx!(st.shared::cluster.v4.b32 [p as *mut V4<B32>], any::<V4<B32>>());
        ptx!(st.relaxed.mmio.sys.u32 [p as *mut u32], any::<u32>());
        ptx!(st.global.cg.v4.f32 [p as *mut V4<f32>], any::<V4<f32>>());
        ptx!(st.global.v4.u8 [p as *mut V4<u8>], any::<V4<u8>>());
        ptx!(st.weak.shared.u32 [here.cast::<u32>()], any::<u32>());
        ptx!(st.weak.global.cg.v2.f64 [p as *mut V2<f64>], any::<V2<f64>>());
        let _: u32 = ptx!(atom.relaxed.global.add.u32 [p as *mut u32], any::<u32>());
        let _: u32 = ptx!(atom.acq_rel.shared::cta.add.u32 [here.cast::<u32>()], any::<u32>());
        ptx!(red.release.global.add.u32 [p as *mut u32], any::<u32>());
        let _: u32 = ptx!(ld.weak.shared::cta.u32 [here.cast::<u32>()]);
        let _: B32 = ptx!(atom.cas.acquire.b32 [p as *mut B32], any::<B32>(), any::<B32>());
    }
}

fn main() {
    let _: unsafe fn(*mut u8, SharedPtr<u8>, CachePolicy) = pasted;
}
