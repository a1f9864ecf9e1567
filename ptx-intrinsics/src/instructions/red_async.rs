//! `red.async`: change a value later, in another block's shared memory, where a barrier counts the bytes, or in global memory.

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::*;
use crate::isa::element::*;

#[cfg(not(ptx_device))]
use crate::cpu;
#[cfg(not(ptx_device))]
use crate::isa::{atomic::AtomicOperation, order::OrderWord};

types! {
    /// A type that `red.async` counts up and down: `u32`.
    RedAsyncCount, words counts ".type", "`red.async` does not count a `{Self}`", "it takes `u32`" [(u32)];

    /// A type of which `red.async` takes the smaller or the larger value: `u32` or `i32`.
    RedAsyncOrdered, words ordered ".type", "`red.async` does not compare a `{Self}`", "it takes `u32` or `i32`" [(u32) (s32)];

    /// A type whose bits `red.async` changes: `B32`.
    RedAsyncBits, words bits ".type", "`red.async` does not change the bits of a `{Self}`", "it takes `B32`: `cast` the pointer" [(b32)];

    /// A type to which `red.async` adds in shared memory, and `multimem.red.async`: `u32`, `i32` or `u64`.
    RedAsyncAddend, words addends ".type", "`red.async` in shared memory and `multimem.red.async` do not add to a `{Self}`",
        "it takes `u32`, `i32` or `u64`" [(u32) (s32) (u64)];

    /// A type to which `red.async` adds in global memory: `u32`, `i32`, `u64` or `i64`.
    RedAsyncGlobalAddend, words global_addends ".type", "`red.async` does not add to a `{Self}` in global memory",
        "it takes `u32`, `i32`, `u64` or `i64`" [(u32) (s32) (u64) (s64)];
}

/// Reductions in shared memory of another block, one for each operation.
macro_rules! reductions {
    ($($(#[$doc:meta])* $function:ident $op:ident $types:ident $ptx:literal;)*) => {
        instructions! { SHARED: $(
            instruction "red.async", isa "parallel-synchronization-and-communication-instructions-red-async", effect message, T = u32 {
                $(#[$doc])*
                ///
                /// The value is in shared memory of another block of this cluster, and the barrier of that block counts
                /// its bytes as arrived.
                unsafe fn $function<T in $types>(
                    dst: SharedClusterPtr<T> as reg32 = dst.cluster_address(),
                    value: T as held,
                    bar: SharedClusterPtr<Mbarrier> as reg32 = bar.cluster_address(),
                ) {
                    ptx: $ptx T, [dst], value, [bar];
                    needs: AsyncStores;
                    safety: "`dst` is aligned to the size of `T` and writable. `dst` and `bar` point into the shared memory of \
                        one block of this cluster, which is not this block, and which runs until `bar` completes the phase. The \
                        barrier is initialised and expects the bytes of a `T`. Until the phase is complete, other threads \
                        access `dst` only by atomics.";
                    cpu: cpu::change_to(AtomicOperation::$op, dst.cluster_address().cast::<T>(), value, bar.cluster_address());
                }
            }
        )* }
    };
}
reductions! {
    /// Adds one to a value, or makes it 0 if it is `value` or above.
    red_async_shared_cluster_inc Inc counts "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc";
    /// Subtracts one from a value, or makes it `value` if it is 0 or above `value`.
    red_async_shared_cluster_dec Dec counts "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec";
    /// Makes a value the smaller one of it and `value`.
    red_async_shared_cluster_min Min ordered "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min";
    /// Makes a value the larger one of it and `value`.
    red_async_shared_cluster_max Max ordered "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max";
    /// Makes a value its AND with `value`.
    red_async_shared_cluster_and And bits "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and";
    /// Makes a value its OR with `value`.
    red_async_shared_cluster_or Or bits "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or";
    /// Makes a value its XOR with `value`.
    red_async_shared_cluster_xor Xor bits "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor";
    /// Adds `value` to a value.
    red_async_shared_cluster_add Add addends "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add";
}

/// What the caller of a release promises.
macro_rules! promise {
    () => {
        "`p` is aligned to the size of `T`, and points to global memory that is readable and writable until this block ends. \
        Other threads access it only by atomic or ordered accesses."
    };
}

instructions! { GLOBAL:
    instruction "red.async", isa "parallel-synchronization-and-communication-instructions-red-async", effect message, T = u32 {
        /// Adds `value` to the value at `p`, a generic address in global memory, at some time before this block ends. It is a
        /// release: a thread that acquires the sum sees what this thread did before.
        #[doc(alias = "red.async")]
        unsafe fn red_async_release_add / red_async_release_global_add<either G in global, S in async_scope, T in global_addends>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "red.async.release" S G ".add" T, [p], value;
            needs: AsyncReleases;
            safety: promise!();
            cpu: cpu::atomic::reduce(AtomicOperation::Add, OrderWord::Release, p, value);
        }

        /// [`red_async_release_add`] among all threads of all GPUs and of the host, on memory-mapped registers: exactly one
        /// access of exactly this width.
        #[doc(alias = "red.async.mmio")]
        unsafe fn red_async_mmio_release_sys_add / red_async_mmio_release_sys_global_add<either G in global, T in global_addends>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "red.async.mmio.release.sys" G ".add" T, [p], value;
            needs: AsyncReleases;
            safety: promise!();
            cpu: cpu::atomic::reduce(AtomicOperation::Add, OrderWord::Release, p, value);
        }
    }
    instruction "multimem.red.async", isa "parallel-synchronization-and-communication-instructions-multimem-red-async", effect message, T = u32 {
        /// Adds `value` to the copies that all GPUs have at `p`, a multimem address, at some time before this block ends. It is a
        /// release: a thread that acquires the sum sees what this thread did before. On a CPU there is one copy.
        #[doc(alias = "multimem.red.async")]
        unsafe fn multimem_red_async_release_add / multimem_red_async_release_global_add<either G in global, S in async_scope, T in addends>(
            p: *mut T as reg64, value: T as held,
        ) {
            ptx: "multimem.red.async.release" S G ".add" T, [p], value;
            needs: MultimemReleases;
            safety: "`p` is a multimem address in global memory, aligned to the size of `T`. Each copy is readable and writable until \
                this block ends. Other threads access it only by atomic or ordered accesses, and by its own address only behind a \
                [`fence_proxy_alias`](crate::fence::fence_proxy_alias).";
            cpu: cpu::atomic::reduce(AtomicOperation::Add, OrderWord::Release, p, value);
        }
    }
}
