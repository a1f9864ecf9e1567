//! `prefetch`, `prefetchu`: bring a cache line, or a tensor map, into a cache.

use crate::isa::caching::*;
use crate::isa::gate::*;

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

/// The priorities as words: `<E in priority>`.
macro_rules! priority {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [PrefetchPriority<PrefetchGate: OnTarget<$parameter>>]
            [$parameter::ID;
                (NoHint::ID => ".L2" "NoHint", Always)
                (L2EvictLast::ID => ".L2::evict_last" "L2EvictLast", PrefetchPriorities)
                (_ => ".L2::evict_normal" "L2EvictNormal", PrefetchPriorities)
            ]
            ".L2{::eviction_priority}" concat!(" With a priority: ", needs!(PrefetchPriorities)), $row
        }
    };
}

instructions! { SINGLES:
    instruction "prefetch", isa "data-movement-and-conversion-instructions-prefetch-prefetchu", effect hint, T = u8 {
        /// Brings the line at `p`, a generic address, into L1 and L2.
        #[doc = when_it_pays!(prefetch_l1)]
        unsafe fn prefetch_l1<T>(p: *const T as reg64) {
            ptx: "prefetch.L1", [p];
            needs: Always;
            safety: "`p` points into memory that this thread may read; an address in shared memory does nothing.";
            cpu: ();
        }

        /// Brings the line at `p`, a generic address, into L2.
        #[doc = when_it_pays!(prefetch_l2)]
        unsafe fn prefetch_l2<T>(p: *const T as reg64) {
            ptx: "prefetch.L2", [p];
            needs: Always;
            safety: "`p` points into memory that this thread may read; an address in shared memory does nothing.";
            cpu: ();
        }

        /// Brings the line at `p` in global memory into L1 and L2.
        #[doc = when_it_pays!(prefetch_global_l1)]
        unsafe fn prefetch_global_l1<T>(p: *const T as reg64) {
            ptx: "prefetch.global.L1", [p];
            needs: Always;
            safety: "`p` points into global memory that this thread may read.";
            cpu: ();
        }

        /// Brings the line at `p` in local memory into L1 and L2. `p` is a generic address, as Rust's pointers are; the
        /// block converts it. The assembler of CUDA 13.0 leaves it out, and that of CUDA 13.1 ends with an
        /// internal error at it, for sm_90 and newer.
        unsafe fn prefetch_local_l1<T>(p: *const T as reg64) {
            ptx: "prefetch.local.L1", ["%address"];
            block: (address p in ".local");
            needs: Always;
            safety: "`p` points into this thread's local memory.";
            cpu: ();
        }

        /// Brings the line at `p` in local memory into L2. `p` is a generic address, as Rust's pointers are; the block
        /// converts it. The assembler of CUDA 13.0 leaves it out, and that of CUDA 13.1 ends with an
        /// internal error at it, for sm_90 and newer.
        unsafe fn prefetch_local_l2<T>(p: *const T as reg64) {
            ptx: "prefetch.local.L2", ["%address"];
            block: (address p in ".local");
            needs: Always;
            safety: "`p` points into this thread's local memory.";
            cpu: ();
        }

        /// Brings the line at `p`, a generic address, into the uniform cache.
        #[doc(alias = "prefetchu")]
        unsafe fn prefetchu_l1<T>(p: *const T as reg64) {
            ptx: "prefetchu.L1", [p];
            needs: Always;
            safety: "`p` points into memory that this thread may read; an address in constant, local or shared memory does nothing.";
            cpu: ();
        }

        /// Brings the tensor map at `p`, a generic address, into cache for a later `cp.async.bulk.tensor`.
        unsafe fn prefetch_tensormap<T>(p: *const T as reg64) {
            ptx: "prefetch.tensormap", [p];
            needs: TensorMap;
            safety: "`p` points to a tensor map, 128 bytes aligned to 64, in constant, parameter or global memory.";
            cpu: ();
        }

        /// Brings the tensor map at `p` in constant memory into cache for a later `cp.async.bulk.tensor`. `p` is a generic
        /// address, as Rust's pointers are; the block converts it.
        unsafe fn prefetch_const_tensormap<T>(p: *const T as reg64) {
            ptx: "prefetch.const.tensormap", ["%address"];
            block: (address p in ".const");
            needs: TensorMap;
            safety: "`p` points to a tensor map, 128 bytes aligned to 64, in constant memory.";
            cpu: ();
        }

        /// Brings the tensor map at `p`, a kernel parameter, into cache for a later `cp.async.bulk.tensor`. `p` is a
        /// generic address, as Rust's pointers are; the block converts it.
        unsafe fn prefetch_param_tensormap<T>(p: *const T as reg64) {
            ptx: "prefetch.param.tensormap", ["%address"];
            block: (address p in ".param");
            needs: TensorMap;
            safety: "`p` points to a tensor map, 128 bytes aligned to 64, among the parameters of this kernel.";
            cpu: ();
        }

        /// Brings the line at `p` in global memory into L2, with an eviction priority, or without one by [`NoHint`].
        #[doc(alias = "prefetch.global.L2")]
        #[doc = when_it_pays!(prefetch_global_l2)]
        unsafe fn prefetch_global_l2<E in priority>(p: *const impl Sized as reg64) {
            ptx: "prefetch.global" E, [p];
            needs: Always;
            safety: "`p` points into global memory that this thread may read.";
            cpu: ();
        }
    }
}
