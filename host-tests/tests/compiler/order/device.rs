//! Kernels whose plain accesses stand around one with an order. The test reads their PTX.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
#![allow(clippy::missing_safety_doc)]

use ptx_intrinsics::prelude::*;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

macro_rules! kernels {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name($($argument: $type),*) {
            unsafe { $body }
        }
    )* };
}

kernels! {
    // The second read is of the same address, and may not be the first one's value.
    reads_around_acquire(data: *mut u64, flag: *const u32, out: *mut u64) {
        let before = *data;
        let seen = ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(flag);
        *out = before + *data + seen as u64;
    }
    reads_around_spelled_acquire(data: *mut u64, flag: *const u32, out: *mut u64) {
        let before = *data;
        let seen = ptx!(ld.acquire.sys.global.L1::no_allocate.L2::128B.u32 [flag]);
        *out = before + *data + seen as u64;
    }
    // The first write would be dead without the release between them.
    writes_around_release(data: *mut u64, flag: *mut u32) {
        *data = 1;
        st_global::<NoHint>().release::<Gpu>().write(flag, 1);
        *data = 2;
    }
    writes_around_spelled_release(data: *mut u64, flag: *mut u32) {
        *data = 1;
        ptx!(st.release.sys.global.L1::no_allocate.u32 [flag], 1);
        *data = 2;
    }
    // A loop that waits reads again each time.
    waits(flag: *const u32, data: *const u64, out: *mut u64) {
        while ld().acquire::<Sys>().read(flag) == 0 {}
        *out = *data;
    }
    // Nobody uses these, and they stay, each once.
    unused(p: *const u32) {
        ld_global::<NoHint, NoPrefetch>().volatile().read(p);
        ld_global::<NoHint, NoPrefetch>().volatile().read(p);
        ld().mmio().read(p);
        ld().mmio().read(p);
        ld_shared().relaxed::<Cta>().read(p);
        ptx!(ld.volatile.global.L2::64B.u32 [p]);
        ptx!(ld.mmio.relaxed.sys.global.u32 [p]);
        ptx!(ld.global.cv.u32 [p]);
    }
    // Nobody uses these, and they go.
    unused_and_weak(p: *const u32) {
        ld_global::<EvictFirst, NoPrefetch>().read(p);
        ld_shared().read(p);
        ptx!(ld.L2::128B.u32 [p]);
    }
    // Stores are never dropped or doubled, the same value to the same place or not.
    stores(p: *mut u32) {
        st_global::<NoHint>().volatile().write(p, 1);
        st_global::<NoHint>().volatile().write(p, 1);
        st().mmio().write(p, 1);
        st().mmio().write(p, 1);
        st_global::<Cs>().write(p, 1);
        st_global::<Cs>().write(p, 1);
    }
    // What the values are where there was no load.
    set(flag: u32, p: *const f32, wide: *const u128, count: *mut u32, out: *mut f32) {
        *out = ptx!(@(flag != 0) ld.global.f32 [p], else 7.0);
        *out.add(1) = ptx!(@(flag != 0) ld.global.b128 [wide], else 7) as u32 as f32;
        *out.add(2) = ptx!(@(flag != 0) atom.global.add.u32 [count], flag, else 7) as u32 as f32;
    }
    // The same, and the values do not matter.
    unset(flag: u32, p: *const f32, wide: *const u128, count: *mut u32, out: *mut f32) {
        *out = ptx!(@(flag != 0) ld.global.f32 [p], else _);
        *out.add(1) = ptx!(@(flag != 0) ld.global.b128 [wide], else _) as u32 as f32;
        *out.add(2) = ptx!(@(flag != 0) atom.global.add.u32 [count], flag, else _) as u32 as f32;
    }
    // A policy is made of a number, and goes where nobody uses it: it is dropped.
    policies(out: *mut u64, fraction: f32) {
        CachePolicy::fractional::<L2EvictFirst>(fraction);
        *out = CachePolicy::fractional::<L2EvictLast>(fraction).bits();
    }
    // One instruction in a loop over lines.
    slices(p: *mut f32, length: usize, thread: usize) {
        let slice = core::ptr::slice_from_raw_parts_mut(p, length);
        prefetch_global_l2_slice::<L2EvictLast, f32>(slice, thread, 32);
        applypriority_global_l2_evict_normal_slice(slice, thread, 32);
        discard_global_l2_slice(slice, thread, 32);
    }
    // One predicated instruction each. Threads differ, and there are two loads on their way: where all threads agree, or
    // only one load is waited for, ptxas branches around it instead.
    guarded(p: *const u32, out: *mut u32, threads: u32) {
        let thread = core::arch::nvptx::_thread_idx_x() as usize;
        let (p, out, cond) = (p.add(thread), out.add(thread), thread < threads as usize);
        let load = ld_global::<EvictLast, NoPrefetch>();
        let (a, b) = (load.read_if(cond, p, 7), load.read_if(cond, p.add(1024), 7));
        st_global::<Wt>().write_if(cond, out, a);
        st_global::<Cs>().write(out.add(1024), a + b);
    }
    guarded_and_spelled(p: *const u32, out: *mut u32, threads: u32) {
        let thread = core::arch::nvptx::_thread_idx_x() as usize;
        let (p, out, cond) = (p.add(thread), out.add(thread), thread < threads as usize);
        let a = ptx!(@cond ld.relaxed.gpu.global.L1::no_allocate.u32 [p], else 7);
        let b = ptx!(@cond ld.relaxed.gpu.global.L1::no_allocate.u32 [p.add(1024)], else 7);
        ptx!(@cond st.relaxed.gpu.global.L1::no_allocate.u32 [out], a);
        st_global::<Cs>().write(out.add(1024), a + b);
    }
}
