//! `st.async`: store a value later, in another block's shared memory, where a barrier counts the bytes, or in global memory.

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::*;
use crate::isa::element::*;

#[cfg(not(ptx_device))]
use crate::cpu;
#[cfg(not(ptx_device))]
use crate::emit::registers::same_bits;
#[cfg(not(ptx_device))]
use crate::isa::order::Meaning;

types! {
    /// A type that `st.async` stores in shared memory: 32 or 64 bits, and vectors of them of up to 128 bits.
    StAsyncElement, words stored "{.vec}.type", "`st.async` does not store a `{Self}` in shared memory",
        "it takes types of 32 and 64 bits, `V2` of them, and `V4` of those of 32 bits" [
        (b32) (u32) (s32) (f32) (b64) (u64) (s64) (f64)
        (v2 b32) (v2 u32) (v2 s32) (v2 f32) (v2 b64) (v2 u64) (v2 s64) (v2 f64)
        (v4 b32) (v4 u32) (v4 s32) (v4 f32)
    ];

    /// A type that `st.async` stores in global memory: 8 to 64 bits.
    StAsyncScalar, words released ".type", "`st.async` does not store a `{Self}` in global memory",
        "it takes types of 8 to 64 bits, and no vectors" [
        (b8) (u8) (s8) (b16) (u16) (s16) (b32) (u32) (s32) (f32) (b64) (u64) (s64) (f64)
    ];
}

/// What the caller of a release promises.
macro_rules! promise {
    () => {
        "`p` is aligned to the size of `T`, and points to global memory that is writable until this block ends. Other threads \
        access it only by atomic or ordered accesses."
    };
}

/// What the caller of a release to several GPUs promises.
macro_rules! copies {
    () => {
        "`p` is a multimem address in global memory, aligned to the size of `T`. Each copy is writable until this block ends. Other \
        threads access it only by atomic or ordered accesses, and by its own address only behind a \
        [`fence_proxy_alias`](crate::fence::fence_proxy_alias)."
    };
}

instructions! { SINGLES:
    instruction "st.async", isa "data-movement-and-conversion-instructions-st-async", effect message, T = u32 {
        /// Stores `value` in shared memory of another block of this cluster, and tells the barrier of that block that its bytes
        /// have arrived.
        ///
        /// ```
        /// use ptx_intrinsics::mbarrier::*;
        /// use ptx_intrinsics::prelude::*;
        ///
        /// let (mut there, mut bar) = (0.0f32, Mbarrier::default());
        /// let own = SharedPtr::new(&raw mut bar);
        /// let (dst, bar) = (SharedClusterPtr::new(&raw mut there), SharedClusterPtr::of(own));
        /// unsafe {
        ///     mbarrier_init(own, 1);
        ///     let state = mbarrier_arrive_expect_tx(own, 4);
        ///     // st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [dst], value, [bar];
        ///     st_async_shared_cluster(dst, 1.5, bar);
        ///     assert!(mbarrier_test_wait(own, state));
        /// }
        /// assert_eq!(there, 1.5);
        /// ```
        #[doc(alias = "st.async")]
        #[doc(alias = "st.async.shared::cluster")]
        unsafe fn st_async_shared_cluster<T in stored>(
            dst: SharedClusterPtr<T> as reg32 = dst.cluster_address(),
            value: T as held,
            bar: SharedClusterPtr<Mbarrier> as reg32 = bar.cluster_address(),
        ) {
            ptx: "st.async.shared::cluster.mbarrier::complete_tx::bytes" T, [dst], value, [bar];
            needs: AsyncStores;
            safety: "`dst` is aligned to the size of `T` and writable. `dst` and `bar` point into the shared memory of one \
                block of this cluster, which is not this block, and which runs until `bar` completes the phase. The barrier is \
                initialised and expects the bytes of a `T`. No thread accesses `dst` before the phase is complete.";
            cpu: cpu::copy::store_to(dst.cluster_address(), value, bar.cluster_address());
        }

        /// Stores `value` at `p`, a generic address in global memory, at some time before this block ends. It is a release:
        /// a thread that acquires the value sees what this thread did before.
        unsafe fn st_async_release / st_async_release_global<either G in global, S in async_scope, T in released>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "st.async.release" S G T, [p], value;
            needs: AsyncReleases;
            safety: promise!();
            cpu: cpu::store(Meaning::Release, p.cast::<T::Ptx>(), same_bits(value));
        }

        /// [`st_async_release`] among all threads of all GPUs and of the host, on memory-mapped registers: exactly one access
        /// of exactly this width.
        #[doc(alias = "st.async.mmio")]
        unsafe fn st_async_mmio_release_sys / st_async_mmio_release_sys_global<either G in global, T in released>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "st.async.mmio.release.sys" G T, [p], value;
            needs: AsyncReleases;
            safety: promise!();
            cpu: cpu::store(Meaning::Release, p.cast::<T::Ptx>(), same_bits(value));
        }
    }
    instruction "multimem.st.async", isa "data-movement-and-conversion-instructions-multimem-st-async", effect message, T = u32 {
        /// Stores `value` in the copies that all GPUs have at `p`, a multimem address, at some time before this block ends. It is a
        /// release: a thread that acquires the value sees what this thread did before. On a CPU there is one copy.
        #[doc(alias = "multimem.st.async")]
        unsafe fn multimem_st_async_release / multimem_st_async_release_global<either G in global, S in async_scope, T in released>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "multimem.st.async.release" S G T, [p], value;
            needs: MultimemReleases;
            safety: copies!();
            cpu: cpu::store(Meaning::Release, p.cast::<T::Ptx>(), same_bits(value));
        }
    }
}
