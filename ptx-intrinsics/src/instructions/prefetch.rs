//! `prefetch`, `prefetchu`: bring a cache line, or a tensor map, into a cache.

use crate::isa::caching::*;
use crate::isa::gate::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::emit::line::nothing;

/// An eviction priority that `prefetch.global.L2` takes.
#[diagnostic::on_unimplemented(
    message = "`prefetch.global.L2` does not take `{Self}`",
    label = "not a spelling of `prefetch.global.L2`",
    note = "it takes one of: `NoHint`, `L2EvictLast`, `L2EvictNormal`"
)]
pub trait PrefetchPriority: Caching {
    #[doc(hidden)]
    type PrefetchGate: Gate;
}

#[diagnostic::do_not_recommend]
impl PrefetchPriority for NoHint {
    type PrefetchGate = Always;
}
#[diagnostic::do_not_recommend]
impl PrefetchPriority for L2EvictLast {
    type PrefetchGate = PrefetchPriorities;
}
#[diagnostic::do_not_recommend]
impl PrefetchPriority for L2EvictNormal {
    type PrefetchGate = PrefetchPriorities;
}

lines! { "prefetch" "" "data-movement-and-conversion-instructions-prefetch-prefetchu" *const [readonly] nothing {
    /// Brings the line at `p`, a generic address, into L1 and L2.
    ///
    /// # Safety
    /// `p` points into memory that this thread may read; an address in shared memory does nothing.
    prefetch_l1 "prefetch.L1" Always;

    /// Brings the line at `p`, a generic address, into L2.
    ///
    /// # Safety
    /// `p` points into memory that this thread may read; an address in shared memory does nothing.
    prefetch_l2 "prefetch.L2" Always;

    /// Brings the line at `p` in global memory into L1 and L2.
    ///
    /// # Safety
    /// `p` points into global memory that this thread may read.
    prefetch_global_l1 "prefetch.global.L1" Always;

    /// Brings the line at `p` in local memory into L1 and L2. `p` is a generic address, as Rust's pointers are; the
    /// block converts it.
    ///
    /// # Safety
    /// `p` points into this thread's local memory.
    prefetch_local_l1 "prefetch.local.L1" @local Always;

    /// Brings the line at `p` in local memory into L2. `p` is a generic address, as Rust's pointers are; the block
    /// converts it.
    ///
    /// # Safety
    /// `p` points into this thread's local memory.
    prefetch_local_l2 "prefetch.local.L2" @local Always;

    /// Brings the line at `p`, a generic address, into the uniform cache.
    ///
    /// # Safety
    /// `p` points into memory that this thread may read; an address in constant, local or shared memory does nothing.
    #[doc(alias = "prefetchu")]
    prefetchu_l1 "prefetchu.L1" Always;

    /// Brings the tensor map at `p`, a generic address, into cache for a later `cp.async.bulk.tensor`.
    ///
    /// # Safety
    /// `p` points to a tensor map, 128 bytes aligned to 64, in constant, parameter or global memory.
    prefetch_tensormap "prefetch.tensormap" TensorMap prefetch_tensormap;

    /// Brings the tensor map at `p` in constant memory into cache for a later `cp.async.bulk.tensor`. `p` is a generic
    /// address, as Rust's pointers are; the block converts it.
    ///
    /// # Safety
    /// `p` points to a tensor map, 128 bytes aligned to 64, in constant memory.
    prefetch_const_tensormap "prefetch.const.tensormap" @const
        TensorMap prefetch_const_tensormap;

    /// Brings the tensor map at `p`, a kernel parameter, into cache for a later `cp.async.bulk.tensor`. `p` is a
    /// generic address, as Rust's pointers are; the block converts it.
    ///
    /// # Safety
    /// `p` points to a tensor map, 128 bytes aligned to 64, among the parameters of this kernel.
    prefetch_param_tensormap "prefetch.param.tensormap" @param
        TensorMap prefetch_param_tensormap;
    }
    line_row! { Always "prefetch" "prefetch_global_l2::<NoHint>(p)", "prefetch.global.L2", "" const },
    line_row! {
        PrefetchPriorities "prefetch" "prefetch_global_l2::<L2EvictLast>(p)",
        concat!("prefetch.global", __caching_text!(L2EvictLast)), "" const
    },
    line_row! {
        PrefetchPriorities "prefetch" "prefetch_global_l2::<L2EvictNormal>(p)",
        concat!("prefetch.global", __caching_text!(L2EvictNormal)), "" const
    },
}

/// Brings the line at `p` in global memory into L2, with an eviction priority or without.
///
/// PTX: `prefetch.global.L2 [p];` with [`NoHint`], `prefetch.global.L2::evict_last [p];`,
/// `prefetch.global.L2::evict_normal [p];`. The priorities need sm_80 and ptx74.
///
/// PTX ISA: [prefetch](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-prefetch-prefetchu).
///
/// # Safety
/// `p` points into global memory that this thread may read.
#[doc(alias = "prefetch.global.L2")]
#[inline(always)]
pub unsafe fn prefetch_global_l2<E>(p: *const impl Sized)
where
    E: PrefetchPriority<PrefetchGate: OnTarget<E>>,
{
    match const { E::ID } {
        L2EvictLast::ID => emit_line! { p ["prefetch.global", __caching_text!(L2EvictLast)] "" [readonly] nothing },
        L2EvictNormal::ID => emit_line! { p ["prefetch.global", __caching_text!(L2EvictNormal)] "" [readonly] nothing },
        _ => emit_line! { p ["prefetch.global.L2"] "" [readonly] nothing },
    }
}
