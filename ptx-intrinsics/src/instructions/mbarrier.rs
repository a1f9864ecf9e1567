//! `mbarrier`: a barrier in shared memory that threads arrive at and copies complete on.

#[cfg(ptx_device)]
use crate::emit::registers::is_set;
use crate::instructions::shared_ptr::*;
use crate::isa::gate::*;
use crate::isa::order::*;
use crate::isa::scope::*;

#[cfg(not(ptx_device))]
use crate::cpu;

/// A barrier: 64 bits of shared memory that only the functions of `mbarrier` may access.
///
/// A phase is complete when the number of arrivals given to [`mbarrier_init`] is reached, and all bytes announced by
/// [`mbarrier_arrive_expect_tx`] and similar functions have arrived. Then the next phase begins by itself. A thread that waits
/// names the phase by the [state](MbarrierState) that its arrival returned, or by its parity: the first phase has parity 0, the second 1, the third 0.
///
/// ```
/// use ptx_intrinsics::mbarrier::*;
/// use ptx_intrinsics::prelude::*;
///
/// let mut bar = Mbarrier::default();
/// let bar = SharedPtr::new(&raw mut bar);
/// unsafe {
///     mbarrier_init(bar, 2);
///     let state = mbarrier_arrive(bar);
///     assert!(!mbarrier_test_wait(bar, state) && !mbarrier_test_wait_parity(bar, 0));
///     mbarrier_arrive(bar);
///     assert!(mbarrier_test_wait(bar, state) && mbarrier_test_wait_parity(bar, 0));
/// }
/// ```
#[derive(Debug, Default)]
#[repr(C, align(8))]
pub struct Mbarrier(u64);

/// The state of a barrier before an arrival. It names the phase to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct MbarrierState(u64);

/// Where a barrier lies: [`SharedPtr`] in this block, `.shared`; [`SharedClusterPtr`] in one of the cluster,
/// `.shared::cluster`, where an arrival returns no state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer to a barrier",
    label = "takes a `SharedPtr<Mbarrier>` or a `SharedClusterPtr<Mbarrier>`",
    note = "`SharedPtr::new(p)` makes one from a pointer to this block's shared memory, `SharedClusterPtr::new(p)` from a pointer to another block's"
)]
pub trait MbarrierPtr: InCluster<Mbarrier> {
    /// What arriving gives: the state, or nothing.
    type State: Copy;
    #[doc(hidden)]
    const CLUSTER: bool;
    #[doc(hidden)]
    type Gate: Gate;
    #[doc(hidden)]
    fn state(bits: u64) -> Self::State;
}

#[diagnostic::do_not_recommend]
impl MbarrierPtr for SharedPtr<Mbarrier> {
    type State = MbarrierState;
    const CLUSTER: bool = false;
    type Gate = AsyncCopies;
    #[inline(always)]
    fn state(bits: u64) -> MbarrierState {
        MbarrierState(bits)
    }
}

#[diagnostic::do_not_recommend]
impl MbarrierPtr for SharedClusterPtr<Mbarrier> {
    type State = ();
    const CLUSTER: bool = true;
    type Gate = BulkCopies;
    #[inline(always)]
    fn state(_: u64) {}
}

/// Where a barrier lies, as words: `<B in barrier>`.
macro_rules! barrier {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [MbarrierPtr<Gate: OnTarget<$parameter>>]
            [$parameter::CLUSTER;
                (false => ".shared" "SharedPtr<Mbarrier>", Always [MbarrierState])
                (true => ".shared::cluster" "SharedClusterPtr<Mbarrier>", BulkCopies silent)
            ]
            ".shared{::cluster}" concat!(" Of a barrier of the cluster: ", needs!(BulkCopies)), $row
        }
    };
}

/// The orders of a kind: a trait, and the table of words for `instructions!`. The first is what PTX takes where nothing is
/// said, and the function without an order is in it.
macro_rules! barrier_orders {
    ($($(#[$doc:meta])* $trait:ident, words $table:ident, $message:literal, $takes:literal { $($orders:tt)* })*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = "not an order of this instruction", note = $takes)]
        pub trait $trait: Order {
            #[doc(hidden)]
            const ID: u8;
            #[doc(hidden)]
            type AtGate: Gate;
        }
        words_of_orders! { $trait $table $($orders)* }
    )* };
}
macro_rules! words_of_orders {
    ($trait:ident $table:ident $default:ty => $default_gate:ident; $($order:ty => $id:tt $text:literal $gate:ident;)*) => {
        #[diagnostic::do_not_recommend]
        impl $trait for $default {
            const ID: u8 = 0;
            type AtGate = $default_gate;
        }
        $(
            #[diagnostic::do_not_recommend]
            impl $trait for $order {
                const ID: u8 = $id;
                type AtGate = $gate;
            }
        )*

        macro_rules! $table {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$trait<AtGate: OnTarget<$parameter>>]
                [<$parameter as $trait>::ID; $(($id => $text stringify!($order), $gate))* (_ => "" crate::isa::row::SAME, $default_gate)]
                ".sem.scope" concat!(" `.cluster`: ", needs!(BulkCopies), " `.relaxed`: ", needs!(BulkCopiesCta)), $row
            } };
        }
    };
}
barrier_orders! {
    /// How an arrival is ordered: `Release<Cta>`, the default of PTX, `Release<Cluster>`,
    /// `Relaxed<Cta>` or `Relaxed<Cluster>`.
    ///
    #[doc = concat!("`.cluster`: ", needs!(BulkCopies), " `.relaxed`: ", needs!(BulkCopiesCta))]
    ArriveOrder, words arrive_order, "an arrival at a barrier cannot be `{Self}`",
        "it takes `Release<Cta>`, `Release<Cluster>`, `Relaxed<Cta>` or `Relaxed<Cluster>`" {
        Release<Cta> => AsyncCopies;
        Release<Cluster> => 1 ".release.cluster" BulkCopies;
        Relaxed<Cta> => 2 ".relaxed.cta" BulkCopiesCta;
        Relaxed<Cluster> => 3 ".relaxed.cluster" BulkCopiesCta;
    }

    /// How a wait is ordered: `Acquire<Cta>`, the default of PTX, `Acquire<Cluster>`,
    /// `Relaxed<Cta>` or `Relaxed<Cluster>`.
    ///
    #[doc = concat!("`.cluster`: ", needs!(BulkCopies), " `.relaxed`: ", needs!(BulkCopiesCta))]
    WaitOrder, words wait_order, "a wait for a barrier cannot be `{Self}`",
        "it takes `Acquire<Cta>`, `Acquire<Cluster>`, `Relaxed<Cta>` or `Relaxed<Cluster>`" {
        Acquire<Cta> => AsyncCopies;
        Acquire<Cluster> => 1 ".acquire.cluster" BulkCopies;
        Relaxed<Cta> => 2 ".relaxed.cta" BulkCopiesCta;
        Relaxed<Cluster> => 3 ".relaxed.cluster" BulkCopiesCta;
    }

    /// How a count of bytes is ordered: `Relaxed<Cta>`, the default of PTX, or
    /// `Relaxed<Cluster>`.
    TxOrder, words tx_order, "a count of bytes cannot be `{Self}`", "it takes `Relaxed<Cta>` or `Relaxed<Cluster>`" {
        Relaxed<Cta> => BulkCopies;
        Relaxed<Cluster> => 1 ".relaxed.cluster" BulkCopies;
    }
}

instructions! { SINGLES:
    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-init", effect message, T = u8 {
        /// Makes `bar` a barrier of `count` arrivals, in its first phase.
        ///
        /// Other threads use it after a barrier of the block; copies and blocks of the cluster after
        /// `fence.mbarrier_init.release.cluster` too.
        #[doc(alias = "mbarrier.init")]
        unsafe fn mbarrier_init(bar: SharedPtr<Mbarrier> as shared, count: u32 as reg32) {
            ptx: "mbarrier.init.shared.b64", [bar], count;
            needs: AsyncCopies;
            safety: "`bar` points into this block's shared memory and is aligned to 8 bytes. No thread uses what is there. `count` \
                is from 1 to 2<sup>20</sup> - 1.";
            cpu: cpu::mbarrier::init(bar.address(), count);
        }

        /// [`mbarrier_init`] with its layout said: it is the one that is taken otherwise.
        #[doc(alias = "layout::v0")]
        unsafe fn mbarrier_init_layout_v0(bar: SharedPtr<Mbarrier> as shared, count: u32 as reg32) {
            ptx: "mbarrier.init.layout::v0.shared.b64", [bar], count;
            needs: BarrierLayouts;
            safety: "`bar` points into this block's shared memory and is aligned to 8 bytes. No thread uses what is there. `count` \
                is from 1 to 2<sup>20</sup> - 1.";
            cpu: cpu::mbarrier::init(bar.address(), count);
        }

        /// [`mbarrier_init`] with the newer layout, which has fewer bits for the arrivals and some for how a phase ended. The functions of
        /// this module use it as any other, but that [`mbarrier_pending_count`] does not know its states.
        #[doc(alias = "layout::v1")]
        unsafe fn mbarrier_init_layout_v1(bar: SharedPtr<Mbarrier> as shared, count: u32 as reg32) {
            ptx: "mbarrier.init.layout::v1.shared.b64", [bar], count;
            needs: BarrierLayouts;
            safety: "`bar` points into this block's shared memory and is aligned to 8 bytes. No thread uses what is there. `count` \
                is from 1 to 511.";
            cpu: cpu::mbarrier::init_v1(bar.address(), count);
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-inval", effect message, T = u8 {
        /// Ends the barrier at `bar`, so that its memory can be used for something else. On a CPU it does nothing.
        #[doc(alias = "mbarrier.inval")]
        unsafe fn mbarrier_inval(bar: SharedPtr<Mbarrier> as shared) {
            ptx: "mbarrier.inval.shared.b64", [bar];
            needs: AsyncCopies;
            safety: "`bar` points to an initialised barrier in this block's shared memory, and no thread uses it.";
            cpu: ();
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-pending-count", effect compute, T = u8 {
        /// How many arrivals the phase still needed before the arrival that returned `state`.
        #[doc(alias = "mbarrier.pending_count")]
        unsafe fn mbarrier_pending_count(state: MbarrierState as reg64 = state.0) -> (u32 as count: reg32) {
            ptx: "mbarrier.pending_count.b64" -> count, state;
            needs: AsyncCopies;
            safety: "`state` is what [`mbarrier_arrive_no_complete`] or [`mbarrier_arrive_drop_no_complete`] gave.";
            cpu: cpu::mbarrier::pending(state.0);
        }
    }
}

/// What the caller of an arrival promises.
macro_rules! arrival {
    () => {
        "`bar` points to an initialised barrier of a running block, and its phase still expects this."
    };
}

/// What the caller of a wait promises.
macro_rules! wait {
    () => {
        "`bar` points to an initialised barrier in this block's shared memory. The phase is the current one or the one before."
    };
}

instructions! { ARRIVALS:
    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-arrive", effect message, T = u8 {
        /// Arrives at the barrier, and returns its state before that. Threads that see the phase complete also see what this
        /// thread did before.
        unsafe fn mbarrier_arrive / mbarrier_arrive_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(),
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive" O B ".b64" -> state, [bar];
            needs: AsyncCopies;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), 1, 0, 0));
        }

        /// Arrives `count` times.
        unsafe fn mbarrier_arrive_count / mbarrier_arrive_count_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(), count: u32 as reg32,
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive" O B ".b64" -> state, [bar], count;
            needs: TryWait;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), count, 0, 0));
        }

        /// Tells the barrier to expect `bytes` bytes more in this phase, and arrives.
        unsafe fn mbarrier_arrive_expect_tx / mbarrier_arrive_expect_tx_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(), bytes: u32 as reg32,
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive.expect_tx" O B ".b64" -> state, [bar], bytes;
            needs: BulkCopies;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), 1, bytes, 0));
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", effect message, T = u8 {
        /// Arrives for the last time: later phases expect one arrival fewer.
        unsafe fn mbarrier_arrive_drop / mbarrier_arrive_drop_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(),
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive_drop" O B ".b64" -> state, [bar];
            needs: AsyncCopies;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), 1, 0, 1));
        }

        /// Arrives `count` times, for the last time: later phases expect `count` fewer.
        unsafe fn mbarrier_arrive_drop_count / mbarrier_arrive_drop_count_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(), count: u32 as reg32,
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive_drop" O B ".b64" -> state, [bar], count;
            needs: TryWait;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), count, 0, count));
        }

        /// Tells the barrier to expect `bytes` bytes more in this phase, and arrives for the last time.
        unsafe fn mbarrier_arrive_drop_expect_tx / mbarrier_arrive_drop_expect_tx_as<optional O in arrive_order, B in barrier>(
            bar: B as reg32 = bar.cluster_address(), bytes: u32 as reg32,
        ) -> (B::State as state: reg64 => B::state(state)) {
            ptx: "mbarrier.arrive_drop.expect_tx" O B ".b64" -> state, [bar], bytes;
            needs: BulkCopies;
            safety: arrival!();
            cpu: B::state(cpu::mbarrier::arrive(bar.cluster_address(), 1, bytes, 1));
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-expect-tx", effect message, T = u8 {
        /// Tells the barrier to expect `bytes` bytes more in this phase.
        unsafe fn mbarrier_expect_tx / mbarrier_expect_tx_as<optional O in tx_order, B in barrier>(bar: B as reg32 = bar.cluster_address(), bytes: u32 as reg32) {
            ptx: "mbarrier.expect_tx" O B ".b64", [bar], bytes;
            needs: BulkCopies;
            safety: "`bar` points to an initialised barrier of a running block. `bytes` is less than 2<sup>20</sup>.";
            cpu: cpu::mbarrier::expect(bar.cluster_address(), bytes);
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-complete-tx", effect message, T = u8 {
        /// Tells the barrier that `bytes` of the bytes that it expects have arrived, as a copy does when it is complete.
        unsafe fn mbarrier_complete_tx / mbarrier_complete_tx_as<optional O in tx_order, B in barrier>(bar: B as reg32 = bar.cluster_address(), bytes: u32 as reg32) {
            ptx: "mbarrier.complete_tx" O B ".b64", [bar], bytes;
            needs: BulkCopies;
            safety: "`bar` points to an initialised barrier of a running block. `bytes` is less than 2<sup>20</sup>.";
            cpu: cpu::mbarrier::complete(bar.cluster_address(), bytes);
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-arrive", effect message, T = u8 {
        /// Arrives `count` times, which does not complete the phase.
        #[doc(alias = "mbarrier.arrive.noComplete")]
        unsafe fn mbarrier_arrive_no_complete(bar: SharedPtr<Mbarrier> as shared, count: u32 as reg32)
            -> (MbarrierState as state: reg64 => MbarrierState(state))
        {
            ptx: "mbarrier.arrive.noComplete.shared.b64" -> state, [bar], count;
            needs: AsyncCopies;
            safety: "`bar` points to an initialised barrier in this block's shared memory, and its phase expects more than `count` \
                arrivals.";
            cpu: MbarrierState(cpu::mbarrier::arrive(bar.address(), count, 0, 0));
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop", effect message, T = u8 {
        /// Arrives `count` times and for the last time, which does not complete the phase.
        #[doc(alias = "mbarrier.arrive_drop.noComplete")]
        unsafe fn mbarrier_arrive_drop_no_complete(bar: SharedPtr<Mbarrier> as shared, count: u32 as reg32)
            -> (MbarrierState as state: reg64 => MbarrierState(state))
        {
            ptx: "mbarrier.arrive_drop.noComplete.shared.b64" -> state, [bar], count;
            needs: AsyncCopies;
            safety: "`bar` points to an initialised barrier in this block's shared memory, and its phase expects more than `count` \
                arrivals.";
            cpu: MbarrierState(cpu::mbarrier::arrive(bar.address(), count, 0, count));
        }
    }

    instruction "mbarrier", isa "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait", effect message, T = u8 {
        /// Whether the phase of `state` is complete. If it is, this thread sees what the arriving threads did before they arrived.
        ///
        /// Branch on the answer before you read that. `ptxas` 13.0 to 13.5 issues a load that does not depend on the answer before it is
        /// there, and an H100 then reads what was in memory before.
        unsafe fn mbarrier_test_wait / mbarrier_test_wait_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, state: MbarrierState as reg64 = state.0)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.test_wait" O ".shared.b64" -> "%done", [bar], state;
            block: (done done);
            needs: AsyncCopies;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), cpu::mbarrier::parity(state.0));
        }

        /// Whether the phase of this parity, 0 or 1, is complete. If it is, this thread sees what the arriving threads did
        /// before they arrived. Branch on the answer first: see [`mbarrier_test_wait`].
        unsafe fn mbarrier_test_wait_parity / mbarrier_test_wait_parity_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, parity: u32 as reg32)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.test_wait.parity" O ".shared.b64" -> "%done", [bar], parity;
            block: (done done);
            needs: Parity;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), parity != 0);
        }

        /// Waits for the phase of `state`, for a time that the GPU chooses, and returns whether the phase is complete. Call it
        /// in a loop.
        unsafe fn mbarrier_try_wait / mbarrier_try_wait_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, state: MbarrierState as reg64 = state.0)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.try_wait" O ".shared.b64" -> "%done", [bar], state;
            block: (done done);
            needs: TryWait;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), cpu::mbarrier::parity(state.0));
        }

        /// Waits for the phase of `state`, for about `ns` nanoseconds, and returns whether the phase is complete.
        unsafe fn mbarrier_try_wait_for / mbarrier_try_wait_for_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, state: MbarrierState as reg64 = state.0, ns: u32 as reg32)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.try_wait" O ".shared.b64" -> "%done", [bar], state, ns;
            block: (done done);
            needs: TryWait;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), cpu::mbarrier::parity(state.0));
        }

        /// Waits for the phase of this parity, 0 or 1, for a time that the GPU chooses, and returns whether the phase is
        /// complete. Call it in a loop.
        unsafe fn mbarrier_try_wait_parity / mbarrier_try_wait_parity_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, parity: u32 as reg32)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.try_wait.parity" O ".shared.b64" -> "%done", [bar], parity;
            block: (done done);
            needs: TryWait;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), parity != 0);
        }

        /// Waits for the phase of this parity, 0 or 1, for about `ns` nanoseconds, and returns whether the phase is complete.
        unsafe fn mbarrier_try_wait_parity_for / mbarrier_try_wait_parity_for_as<optional O in wait_order>(bar: SharedPtr<Mbarrier> as shared, parity: u32 as reg32, ns: u32 as reg32)
            -> (bool as done: reg32 => is_set(done))
        {
            ptx: "mbarrier.try_wait.parity" O ".shared.b64" -> "%done", [bar], parity, ns;
            block: (done done);
            needs: TryWait;
            safety: wait!();
            cpu: cpu::is_complete(bar.address(), parity != 0);
        }
    }
}
