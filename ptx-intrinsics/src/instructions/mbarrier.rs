//! `mbarrier`: a barrier in shared memory that threads arrive at and copies complete on.

use crate::instructions::shared_ptr::*;
use crate::isa::gate::*;
use crate::isa::order::*;
use crate::isa::scope::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu;
#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// A barrier: 64 bits of shared memory, to be touched by the functions of `mbarrier` alone.
///
/// A phase of it is complete when as many threads have arrived as [`mbarrier_init`] said, and as many bytes have come as
/// [`mbarrier_arrive_expect_tx`] and its like said; then the next phase begins by itself. Who waits names the phase by the
/// [state](MbarrierState) that arriving gave, or by its parity: the first phase has parity 0, the second 1, the third 0.
///
/// ```
/// use ptx_intrinsics::*;
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

/// What a barrier was before an arrival: names the phase that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct MbarrierState(u64);

/// Where a barrier lies: [`SharedPtr`] in this block, `.shared`; [`SharedClusterPtr`] in one of the cluster,
/// `.shared::cluster`, where an arrival gives no state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pointer to a barrier",
    label = "takes a `SharedPtr<Mbarrier>` or a `SharedClusterPtr<Mbarrier>`",
    note = "`SharedPtr::new(p)` makes one of a pointer to this block's shared memory, `SharedClusterPtr::new(p)` of one to another block's"
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

/// Calls `$callback! { $args {(order) "order" as "text" sm isa} … }` with the orders of a kind. The first is what PTX takes where
/// nothing is said.
macro_rules! for_each_order {
    (arrive $callback:ident $args:tt) => {
        $callback! { $args
            {(Release<Cta>) "Release<Cta>" 0 "" AsyncCopies}
            {(Release<Cluster>) "Release<Cluster>" 1 ".release.cluster" BulkCopies}
            {(Relaxed<Cta>) "Relaxed<Cta>" 2 ".relaxed.cta" BulkCopiesCta}
            {(Relaxed<Cluster>) "Relaxed<Cluster>" 3 ".relaxed.cluster" BulkCopiesCta}
        }
    };
    (wait $callback:ident $args:tt) => {
        $callback! { $args
            {(Acquire<Cta>) "Acquire<Cta>" 0 "" AsyncCopies}
            {(Acquire<Cluster>) "Acquire<Cluster>" 1 ".acquire.cluster" BulkCopies}
            {(Relaxed<Cta>) "Relaxed<Cta>" 2 ".relaxed.cta" BulkCopiesCta}
            {(Relaxed<Cluster>) "Relaxed<Cluster>" 3 ".relaxed.cluster" BulkCopiesCta}
        }
    };
    (tx $callback:ident $args:tt) => {
        $callback! { $args
            {(Relaxed<Cta>) "Relaxed<Cta>" 0 "" BulkCopies}
            {(Relaxed<Cluster>) "Relaxed<Cluster>" 1 ".relaxed.cluster" BulkCopies}
        }
    };
}

macro_rules! orders {
    ($($(#[$doc:meta])* $trait:ident $kind:ident $message:literal $takes:literal;)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = "not an order of this instruction", note = $takes)]
        pub trait $trait: Order {
            #[doc(hidden)]
            const AS: u8;
            #[doc(hidden)]
            type AtGate: Gate;
        }
        for_each_order! { $kind orders_of ($trait) }
    )* };
}
macro_rules! orders_of {
    (($trait:ident) $({($order:ty) $name:literal $as:literal $text:literal $gate:ident})*) => { $(
        #[diagnostic::do_not_recommend]
        impl $trait for $order {
            const AS: u8 = $as;
            type AtGate = $gate;
        }
    )* };
}
orders! {
    /// How an arrival is ordered: `Release<Cta>`, which is what PTX takes where nothing is said, `Release<Cluster>`,
    /// `Relaxed<Cta>` or `Relaxed<Cluster>`. `.cluster` needs sm_90 and ptx80, `.relaxed` sm_90 and ptx86.
    ArriveOrder arrive "an arrival at a barrier cannot be `{Self}`"
        "it takes `Release<Cta>`, `Release<Cluster>`, `Relaxed<Cta>` or `Relaxed<Cluster>`";
    /// How a wait is ordered: `Acquire<Cta>`, which is what PTX takes where nothing is said, `Acquire<Cluster>`,
    /// `Relaxed<Cta>` or `Relaxed<Cluster>`. `.cluster` needs sm_90 and ptx80, `.relaxed` sm_90 and ptx86.
    WaitOrder wait "a wait for a barrier cannot be `{Self}`"
        "it takes `Acquire<Cta>`, `Acquire<Cluster>`, `Relaxed<Cta>` or `Relaxed<Cluster>`";
    /// How a count of bytes is ordered: `Relaxed<Cta>`, which is what PTX takes where nothing is said, or
    /// `Relaxed<Cluster>`.
    TxOrder tx "a count of bytes cannot be `{Self}`" "it takes `Relaxed<Cta>` or `Relaxed<Cluster>`";
}

gated! { mbarrier_init mbarrier_inval mbarrier_pending_count mbarrier_arrive_no_complete mbarrier_arrive_drop_no_complete }

/// Makes `bar` a barrier of `count` arrivals, in its first phase.
///
/// Other threads use it behind a barrier of the block; copies and blocks of the cluster behind
/// `fence.mbarrier_init.release.cluster` too.
///
/// PTX: `mbarrier.init.shared.b64 [bar], count;`. Needs sm_80 and ptx70.
///
#[doc = isa_link!("mbarrier.init" "parallel-synchronization-and-communication-instructions-mbarrier-init")]
///
/// # Safety
/// `bar` points into this block's shared memory, aligned to 8 bytes, and nobody uses what is there. `count` is from 1 to
/// 2<sup>20</sup> - 1.
#[doc(alias = "mbarrier.init")]
#[inline(always)]
pub unsafe fn mbarrier_init(bar: SharedPtr<Mbarrier>, count: u32)
where
    for<'a> AsyncCopies: OnTarget<mbarrier_init, &'a ()>,
{
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(target_arch = "nvptx64")]
        issue! {
            ["mbarrier.init.shared.b64 [{bar}], {count};"] bar = in(reg32) bar.address(), count = in(reg32) count,
        }
        #[cfg(not(target_arch = "nvptx64"))]
        cpu::mbarrier::init(bar.address(), count);
    }
}

/// Ends the barrier at `bar`: the memory may be used for something else.
///
/// PTX: `mbarrier.inval.shared.b64 [bar];`. Needs sm_80 and ptx70. Off the GPU nothing is to be done.
///
#[doc = isa_link!("mbarrier.inval" "parallel-synchronization-and-communication-instructions-mbarrier-inval")]
///
/// # Safety
/// `bar` points at a barrier in this block's shared memory that was initialised, and nobody uses it.
#[doc(alias = "mbarrier.inval")]
#[inline(always)]
pub unsafe fn mbarrier_inval(bar: SharedPtr<Mbarrier>)
where
    for<'a> AsyncCopies: OnTarget<mbarrier_inval, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's promise.
    unsafe {
        issue! { ["mbarrier.inval.shared.b64 [{bar}];"] bar = in(reg32) bar.address(), }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    let _ = bar;
}

/// How many arrivals the phase lacked before the one that gave `state`.
///
/// PTX: `mbarrier.pending_count.b64 count, state;`. Needs sm_80 and ptx70.
///
#[doc = isa_link!("mbarrier.pending_count" "parallel-synchronization-and-communication-instructions-mbarrier-pending-count")]
///
/// # Safety
/// `state` is what [`mbarrier_arrive_no_complete`] or [`mbarrier_arrive_drop_no_complete`] gave.
#[doc(alias = "mbarrier.pending_count")]
#[inline(always)]
pub unsafe fn mbarrier_pending_count(state: MbarrierState) -> u32
where
    for<'a> AsyncCopies: OnTarget<mbarrier_pending_count, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let count: u32;
        compute! {
            ["mbarrier.pending_count.b64 {count}, {state};"] count = out(reg32) count, state = in(reg64) state.0,
        }
        count
    }
    #[cfg(not(target_arch = "nvptx64"))]
    cpu::mbarrier::pending(state.0)
}

/// An arrival on a GPU, in each order, in this block and in the cluster.
#[cfg(target_arch = "nvptx64")]
macro_rules! arrive {
    (($bar:ident $op:literal $operand:tt) $({$order:tt $name:literal $as:literal $text:literal $gate:ident})*) => {{
        let state: u64;
        match const { B::CLUSTER } {
            false => match const { O::AS } {
                $($as => arrive! { @here state $bar [$op $text] $operand },)*
                _ => unreachable!(),
            },
            true => {
                match const { O::AS } {
                    $($as => arrive! { @there $bar [$op $text] $operand },)*
                    _ => unreachable!(),
                }
                state = 0;
            }
        }
        B::state(state)
    }};
    (@here $state:ident $bar:ident [$($text:literal)*] ($($operand:ident)?)) => {
        issue! {
            ["mbarrier.", $($text,)* ".shared.b64 {state}, [{bar}]" $(, ", {", stringify!($operand), "}")?, ";"]
            state = out(reg64) $state, bar = in(reg32) $bar.cluster_address(), $($operand = in(reg32) $operand,)?
        }
    };
    (@there $bar:ident [$($text:literal)*] ($($operand:ident)?)) => {
        issue! {
            ["mbarrier.", $($text,)* ".shared::cluster.b64 _, [{bar}]" $(, ", {", stringify!($operand), "}")?, ";"]
            bar = in(reg32) $bar.cluster_address(), $($operand = in(reg32) $operand,)?
        }
    };
}

macro_rules! arrivals {
    ($($(#[$doc:meta])* $name:ident $name_as:ident $op:literal ($($operand:ident $percent:literal)?) $gate:ident
        $anchor:literal [$count:expr, $bytes:expr, $dropped:expr];)*) => {
        /// Without the gates.
        #[cfg_attr(not(target_arch = "nvptx64"), allow(clippy::extra_unused_type_parameters, reason = "an order is the same there"))]
        mod arriving {
            use super::*;
            $(
                #[inline(always)]
                pub(super) unsafe fn $name<O: ArriveOrder, B: MbarrierPtr>(bar: B $(, $operand: u32)?) -> B::State {
                    // SAFETY: the caller's promise.
                    unsafe {
                        #[cfg(target_arch = "nvptx64")]
                        {
                            for_each_order! { arrive arrive (bar $op ($($operand)?)) }
                        }
                        #[cfg(not(target_arch = "nvptx64"))]
                        B::state(cpu::mbarrier::arrive(bar.cluster_address(), $count, $bytes, $dropped))
                    }
                }
            )*
        }

        $(
            gated! { $name }

            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".shared.b64 state, [bar]" $(, ", ", stringify!($operand))?, ";`, of a ")]
            #[doc = concat!("barrier of the cluster `mbarrier.", $op, ".shared::cluster.b64 _, [bar]" $(, ", ", stringify!($operand))?, ";`.")]
            #[doc = concat!(needs!($gate), " A barrier of the cluster needs sm_90 and ptx80.")]
            ///
            #[doc = isa_link!("mbarrier.arrive" $anchor)]
            ///
            /// # Safety
            /// `bar` points at a barrier that was initialised, in a block that runs, whose phase still expects this.
            #[inline(always)]
            pub unsafe fn $name<B>(bar: B $(, $operand: u32)?) -> B::State
            where
                B: MbarrierPtr<Gate: OnTarget<B>>,
                $gate: OnTarget<$name, B>,
            {
                // SAFETY: the caller's promise.
                unsafe { arriving::$name::<Release<Cta>, B>(bar $(, $operand)?) }
            }

            #[doc = concat!("[`", stringify!($name), "`] in the order `O`: `", stringify!($name_as), "::<Release<Cluster>, _>(bar …)`.")]
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".sem.scope.space.b64`. Needs sm_90 and ptx80, `.relaxed` ptx86.")]
            ///
            #[doc = isa_link!("mbarrier.arrive" $anchor)]
            ///
            /// # Safety
            #[doc = concat!("As for [`", stringify!($name), "`].")]
            #[inline(always)]
            pub unsafe fn $name_as<O, B>(bar: B $(, $operand: u32)?) -> B::State
            where
                O: ArriveOrder<AtGate: OnTarget<O>>,
                B: MbarrierPtr<Gate: OnTarget<B>>,
                $gate: OnTarget<$name, B>,
            {
                // SAFETY: the caller's promise.
                unsafe { arriving::$name::<O, B>(bar $(, $operand)?) }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const ARRIVALS: &[&[[Single; 2]]] = &[$(
            for_each_order! { arrive arrival_rows ($name $name_as $op $gate ($($operand $percent)?)) }
        ),*];
    };
}

/// The rows of one arrival: in each order, here and in the cluster.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! arrival_rows {
    (($name:ident $name_as:ident $op:literal $gate:ident $operands:tt)
        $({$marker:tt $order:literal $as:literal $text:literal $at_gate:ident})*) => {
        &[$([
            arrival_rows! {
                @row $name $name_as $op $operands $as $order $text [$gate] [$at_gate] [AsyncCopies]
                ".shared" "SharedPtr" "%" Some("MbarrierState")
            },
            arrival_rows! {
                @row $name $name_as $op $operands $as $order $text [$gate] [$at_gate] [BulkCopies]
                ".shared::cluster" "SharedClusterPtr" "_" None
            },
        ]),*]
    };
    (@row $name:ident $name_as:ident $op:literal ($($operand:ident $percent:literal)?) $as:literal $order:literal $text:literal
        [$gate:ident] [$at_gate:ident] [$space_gate:ident]
        $space:literal $pointer:literal $state:literal $result:expr) => {
        Single::new(
            "mbarrier",
            [
                concat!(stringify!($name), "(bar" $(, ", ", stringify!($operand))?, ")"),
                concat!(stringify!($name_as), "::<", $order, ", _>(bar" $(, ", ", stringify!($operand))?, ")"),
            ][($as != 0) as usize],
            concat!("mbarrier.", $op, $text, $space, ".b64"),
            Signature {
                parameters: concat!("bar: ", $pointer, "<Mbarrier>" $(, ", ", stringify!($operand), ": u32")?),
                result: $result,
                operands: concat!($state, ", [%]" $(, $percent)?),
            },
            Needs::of::<$gate>().and(Needs::of::<$at_gate>()).and(Needs::of::<$space_gate>()),
        )
    };
}

arrivals! {
    /// Arrives at the barrier, and gives its state before. What this thread did before is seen by those that see the phase
    /// complete.
    #[doc(alias = "mbarrier.arrive")]
    mbarrier_arrive mbarrier_arrive_as "arrive" () AsyncCopies
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive"
        [1, 0, 0];

    /// Arrives `count` times.
    #[doc(alias = "mbarrier.arrive")]
    mbarrier_arrive_count mbarrier_arrive_count_as "arrive" (count ", %") TryWait
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive"
        [count, 0, 0];

    /// Tells the barrier to expect `bytes` bytes more in this phase, and arrives.
    #[doc(alias = "mbarrier.arrive.expect_tx")]
    mbarrier_arrive_expect_tx mbarrier_arrive_expect_tx_as "arrive.expect_tx" (bytes ", %") BulkCopies
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive"
        [1, bytes, 0];

    /// Arrives, and for the last time: the phases to come expect one arrival less.
    #[doc(alias = "mbarrier.arrive_drop")]
    mbarrier_arrive_drop mbarrier_arrive_drop_as "arrive_drop" () AsyncCopies
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop"
        [1, 0, 1];

    /// Arrives `count` times, and for the last time: the phases to come expect so many arrivals less.
    #[doc(alias = "mbarrier.arrive_drop")]
    mbarrier_arrive_drop_count mbarrier_arrive_drop_count_as "arrive_drop" (count ", %") TryWait
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop"
        [count, 0, count];

    /// Tells the barrier to expect `bytes` bytes more in this phase, and arrives for the last time.
    #[doc(alias = "mbarrier.arrive_drop.expect_tx")]
    mbarrier_arrive_drop_expect_tx mbarrier_arrive_drop_expect_tx_as "arrive_drop.expect_tx" (bytes ", %") BulkCopies
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop"
        [1, bytes, 1];
}

macro_rules! incomplete {
    ($($(#[$doc:meta])* $name:ident($count:ident) $op:literal $anchor:literal $dropped:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".shared.b64 state, [bar], count;`. Needs sm_80 and ptx70.")]
            ///
            #[doc = isa_link!("mbarrier.arrive" $anchor)]
            ///
            /// # Safety
            /// `bar` points at a barrier in this block's shared memory that was initialised, and its phase expects more
            /// than `count` arrivals: they do not complete it.
            #[inline(always)]
            pub unsafe fn $name(bar: SharedPtr<Mbarrier>, $count: u32) -> MbarrierState
            where
                for<'a> AsyncCopies: OnTarget<$name, &'a ()>,
            {
                // SAFETY: the caller's promise.
                unsafe {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        let state: u64;
                        issue! {
                            ["mbarrier.", $op, ".shared.b64 {state}, [{bar}], {count};"]
                            state = out(reg64) state, bar = in(reg32) bar.address(), count = in(reg32) $count,
                        }
                        MbarrierState(state)
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    MbarrierState(cpu::mbarrier::arrive(bar.address(), $count, 0, $dropped))
                }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const INCOMPLETE: &[Single] = &[$(Single::gated::<AsyncCopies>(
            "mbarrier",
            concat!(stringify!($name), "(bar, count)"),
            concat!("mbarrier.", $op, ".shared.b64"),
            Signature {
                parameters: "bar: SharedPtr<Mbarrier>, count: u32",
                result: Some("MbarrierState"),
                operands: "%, [%], %",
            },
        )),*];
    };
}
incomplete! {
    /// Arrives `count` times, which does not complete the phase.
    #[doc(alias = "mbarrier.arrive.noComplete")]
    mbarrier_arrive_no_complete(count) "arrive.noComplete"
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive" 0;
    /// Arrives `count` times and for the last time, which does not complete the phase.
    #[doc(alias = "mbarrier.arrive_drop.noComplete")]
    mbarrier_arrive_drop_no_complete(count) "arrive_drop.noComplete"
        "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop" count;
}

/// A count of bytes on a GPU, in each order, in this block and in the cluster.
#[cfg(target_arch = "nvptx64")]
macro_rules! tx {
    (($bar:ident $op:literal $bytes:ident) $({$marker:tt $name:literal $as:literal $text:literal $gate:ident})*) => {
        match const { B::CLUSTER } {
            false => match const { O::AS } {
                $($as => issue! {
                    ["mbarrier.", $op, $text, ".shared.b64 [{bar}], {bytes};"]
                    bar = in(reg32) $bar.cluster_address(), bytes = in(reg32) $bytes,
                },)*
                _ => unreachable!(),
            },
            true => match const { O::AS } {
                $($as => issue! {
                    ["mbarrier.", $op, $text, ".shared::cluster.b64 [{bar}], {bytes};"]
                    bar = in(reg32) $bar.cluster_address(), bytes = in(reg32) $bytes,
                },)*
                _ => unreachable!(),
            },
        }
    };
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident $name_as:ident $op:literal $anchor:literal $host:ident;)*) => {
        /// Without the gates.
        #[cfg_attr(not(target_arch = "nvptx64"), allow(clippy::extra_unused_type_parameters, reason = "an order is the same there"))]
        mod counting {
            use super::*;
            $(
                #[inline(always)]
                pub(super) unsafe fn $name<O: TxOrder, B: MbarrierPtr>(bar: B, bytes: u32) {
                    // SAFETY: the caller's promise.
                    unsafe {
                        #[cfg(target_arch = "nvptx64")]
                        {
                            for_each_order! { tx tx (bar $op bytes) }
                        }
                        #[cfg(not(target_arch = "nvptx64"))]
                        cpu::mbarrier::$host(bar.cluster_address(), bytes);
                    }
                }
            )*
        }

        $(
            gated! { $name }

            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".shared.b64 [bar], bytes;`, of a barrier of the cluster `.shared::cluster`. ")]
            /// Needs sm_90 and ptx80.
            ///
            #[doc = isa_link!("mbarrier" $anchor)]
            ///
            /// # Safety
            /// `bar` points at a barrier that was initialised, in a block that runs. `bytes` is less than 2<sup>20</sup>.
            #[inline(always)]
            pub unsafe fn $name<B>(bar: B, bytes: u32)
            where
                B: MbarrierPtr<Gate: OnTarget<B>>,
                BulkCopies: OnTarget<$name, B>,
            {
                // SAFETY: the caller's promise.
                unsafe { counting::$name::<Relaxed<Cta>, B>(bar, bytes) }
            }

            #[doc = concat!("[`", stringify!($name), "`] in the order `O`: `", stringify!($name_as), "::<Relaxed<Cluster>, _>(bar, bytes)`.")]
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".sem.scope.space.b64 [bar], bytes;`. Needs sm_90 and ptx80.")]
            ///
            #[doc = isa_link!("mbarrier" $anchor)]
            ///
            /// # Safety
            #[doc = concat!("As for [`", stringify!($name), "`].")]
            #[inline(always)]
            pub unsafe fn $name_as<O, B>(bar: B, bytes: u32)
            where
                O: TxOrder<AtGate: OnTarget<O>>,
                B: MbarrierPtr<Gate: OnTarget<B>>,
                BulkCopies: OnTarget<$name, B>,
            {
                // SAFETY: the caller's promise.
                unsafe { counting::$name::<O, B>(bar, bytes) }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const COUNTS: &[&[[Single; 2]]] = &[$(for_each_order! { tx count_rows ($name $name_as $op) }),*];
    };
}

/// The rows of one count: in each order, here and in the cluster.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! count_rows {
    (($name:ident $name_as:ident $op:literal) $({$marker:tt $order:literal $as:literal $text:literal $gate:ident})*) => {
        &[$([
            count_rows! { @row $name $name_as $op $as $order $text ".shared" "SharedPtr" },
            count_rows! { @row $name $name_as $op $as $order $text ".shared::cluster" "SharedClusterPtr" },
        ]),*]
    };
    (@row $name:ident $name_as:ident $op:literal $as:literal $order:literal $text:literal $space:literal $pointer:literal) => {
        Single::gated::<BulkCopies>(
            "mbarrier",
            [
                concat!(stringify!($name), "(bar, bytes)"),
                concat!(stringify!($name_as), "::<", $order, ", _>(bar, bytes)"),
            ][($as != 0) as usize],
            concat!("mbarrier.", $op, $text, $space, ".b64"),
            Signature {
                parameters: concat!("bar: ", $pointer, "<Mbarrier>, bytes: u32"),
                result: None,
                operands: "[%], %",
            },
        )
    };
}

counts! {
    /// Tells the barrier to expect `bytes` bytes more in this phase.
    #[doc(alias = "mbarrier.expect_tx")]
    mbarrier_expect_tx mbarrier_expect_tx_as "expect_tx"
        "parallel-synchronization-and-communication-instructions-mbarrier-expect-tx" expect;
    /// Tells the barrier that `bytes` of the bytes that it expects have come, as a copy does when it is done.
    #[doc(alias = "mbarrier.complete_tx")]
    mbarrier_complete_tx mbarrier_complete_tx_as "complete_tx"
        "parallel-synchronization-and-communication-instructions-mbarrier-complete-tx" complete;
}

/// A wait on a GPU, in each order.
#[cfg(target_arch = "nvptx64")]
macro_rules! wait {
    (($bar:ident $op:literal $register:ident $phase:ident $ns:tt)
        $({$marker:tt $order:literal $as:literal $text:literal $gate:ident})*) => {{
        let done: u32;
        match const { O::AS } {
            $($as => wait! { @asm done $bar [$op $text] $register $phase $ns },)*
            _ => unreachable!(),
        }
        done != 0
    }};
    (@asm $done:ident $bar:ident [$($text:literal)*] $register:ident $phase:ident ($($ns:ident)?)) => {
        issue! {
            [
                "{{\n.reg .pred %done;\nmbarrier.", $($text,)* ".shared.b64 %done, [{bar}], {phase}"
                $(, ", {", stringify!($ns), "}")?, ";\nselp.u32 {done}, 1, 0, %done;\n}}"
            ]
            done = out(reg32) $done, bar = in(reg32) $bar.address(), phase = in($register) $phase,
            $($ns = in(reg32) $ns,)?
        }
    };
}

macro_rules! waits {
    ($($(#[$doc:meta])* $name:ident $name_as:ident $op:literal ($phase:ident: $of:ty) $register:ident [$bits:expr] ($($ns:ident)?)
        $gate:ident $parity:expr;)*) => {
        /// Without the gates.
        #[cfg_attr(not(target_arch = "nvptx64"), allow(clippy::extra_unused_type_parameters, reason = "an order is the same there"))]
        mod waiting {
            use super::*;
            $(
                #[inline(always)]
                pub(super) unsafe fn $name<O: WaitOrder>(bar: SharedPtr<Mbarrier>, $phase: $of $(, $ns: u32)?) -> bool {
                    // SAFETY: the caller's promise.
                    unsafe {
                        #[cfg(target_arch = "nvptx64")]
                        {
                            let phase = $bits;
                            for_each_order! { wait wait (bar $op $register phase ($($ns)?)) }
                        }
                        #[cfg(not(target_arch = "nvptx64"))]
                        {
                            $(let _ = $ns;)?
                            cpu::mbarrier::is_complete(bar.address(), $parity)
                        }
                    }
                }
            )*
        }

        $(
            gated! { $name }

            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".shared.b64 done, [bar], ", stringify!($phase) $(, ", ", stringify!($ns))?, ";`. ")]
            #[doc = needs!($gate)]
            ///
            #[doc = isa_link!("mbarrier.test_wait" "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait")]
            ///
            /// # Safety
            /// `bar` points at a barrier in this block's shared memory that was initialised. The phase is the one that it
            /// is in, or the one before.
            #[inline(always)]
            pub unsafe fn $name(bar: SharedPtr<Mbarrier>, $phase: $of $(, $ns: u32)?) -> bool
            where
                for<'a> $gate: OnTarget<$name, &'a ()>,
            {
                // SAFETY: the caller's promise.
                unsafe { waiting::$name::<Acquire<Cta>>(bar, $phase $(, $ns)?) }
            }

            #[doc = concat!("[`", stringify!($name), "`] in the order `O`: `", stringify!($name_as), "::<Acquire<Cluster>>(bar, …)`.")]
            ///
            #[doc = concat!("PTX: `mbarrier.", $op, ".sem.scope.shared.b64`. Needs sm_90 and ptx80, `.relaxed` ptx86.")]
            ///
            #[doc = isa_link!("mbarrier.test_wait" "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait")]
            ///
            /// # Safety
            #[doc = concat!("As for [`", stringify!($name), "`].")]
            #[inline(always)]
            pub unsafe fn $name_as<O>(bar: SharedPtr<Mbarrier>, $phase: $of $(, $ns: u32)?) -> bool
            where
                O: WaitOrder<AtGate: OnTarget<O>>,
                $gate: OnTarget<$name, O>,
            {
                // SAFETY: the caller's promise.
                unsafe { waiting::$name::<O>(bar, $phase $(, $ns)?) }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const WAITS: &[&[Single]] = &[$(
            for_each_order! { wait wait_rows ($name $name_as $op $phase ($of) $gate ($($ns)?)) }
        ),*];
    };
}

/// The rows of one wait: in each order.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! wait_rows {
    (($name:ident $name_as:ident $op:literal $phase:ident ($of:ty) $gate:ident $ns:tt)
        $({$marker:tt $order:literal $as:literal $text:literal $at_gate:ident})*) => {
        &[$(wait_rows! { @row $name $name_as $op $phase ($of) [$gate] [$at_gate] $ns $as $order $text }),*]
    };
    (@row $name:ident $name_as:ident $op:literal $phase:ident ($of:ty) [$gate:ident] [$at_gate:ident]
        ($($ns:ident)?) $as:literal $order:literal $text:literal) => {
        Single::new(
            "mbarrier",
            [
                concat!(stringify!($name), "(bar, ", stringify!($phase) $(, ", ", stringify!($ns))?, ")"),
                concat!(
                    stringify!($name_as), "::<", $order, ">(bar, ", stringify!($phase)
                    $(, ", ", stringify!($ns))?, ")"
                ),
            ][($as != 0) as usize],
            concat!("mbarrier.", $op, $text, ".shared.b64"),
            Signature {
                parameters: concat!(
                    "bar: SharedPtr<Mbarrier>, ", stringify!($phase), ": ", stringify!($of)
                    $(, ", ", stringify!($ns), ": u32")?
                ),
                result: Some("bool"),
                operands: concat!("%done, [%], %" $(, wait_rows!(@percent $ns))?),
            },
            Needs::of::<$gate>().and(Needs::of::<$at_gate>()),
        )
    };
    (@percent $ns:ident) => { ", %" };
}

waits! {
    /// Whether the phase is complete that `state` is of. What those did before that arrived is seen then.
    #[doc(alias = "mbarrier.test_wait")]
    mbarrier_test_wait mbarrier_test_wait_as "test_wait" (state: MbarrierState) reg64 [state.0] ()
        AsyncCopies cpu::mbarrier::parity(state.0);
    /// Whether the phase of this parity, 0 or 1, is complete. What those did before that arrived is seen then.
    #[doc(alias = "mbarrier.test_wait.parity")]
    mbarrier_test_wait_parity mbarrier_test_wait_parity_as "test_wait.parity" (parity: u32) reg32 [parity] ()
        Parity parity != 0;
    /// Waits for the phase that `state` is of, for as long as the GPU likes, and says whether it is complete: to be asked
    /// in a loop.
    #[doc(alias = "mbarrier.try_wait")]
    mbarrier_try_wait mbarrier_try_wait_as "try_wait" (state: MbarrierState) reg64 [state.0] ()
        TryWait cpu::mbarrier::parity(state.0);
    /// Waits for the phase that `state` is of, for `ns` nanoseconds or so, and says whether it is complete.
    #[doc(alias = "mbarrier.try_wait")]
    mbarrier_try_wait_for mbarrier_try_wait_for_as "try_wait" (state: MbarrierState) reg64 [state.0] (ns)
        TryWait cpu::mbarrier::parity(state.0);
    /// Waits for the phase of this parity, 0 or 1, for as long as the GPU likes, and says whether it is complete: to be
    /// asked in a loop.
    #[doc(alias = "mbarrier.try_wait.parity")]
    mbarrier_try_wait_parity mbarrier_try_wait_parity_as "try_wait.parity" (parity: u32) reg32 [parity] ()
        TryWait parity != 0;
    /// Waits for the phase of this parity, 0 or 1, for `ns` nanoseconds or so, and says whether it is complete.
    #[doc(alias = "mbarrier.try_wait.parity")]
    mbarrier_try_wait_parity_for mbarrier_try_wait_parity_for_as "try_wait.parity" (parity: u32) reg32 [parity] (ns)
        TryWait parity != 0;
}

#[cfg(not(target_arch = "nvptx64"))]
const OTHERS: &[Single] = &[
    Single::gated::<AsyncCopies>(
        "mbarrier",
        "mbarrier_init(bar, count)",
        "mbarrier.init.shared.b64",
        Signature { parameters: "bar: SharedPtr<Mbarrier>, count: u32", result: None, operands: "[%], %" },
    ),
    Single::gated::<AsyncCopies>(
        "mbarrier",
        "mbarrier_inval(bar)",
        "mbarrier.inval.shared.b64",
        Signature { parameters: "bar: SharedPtr<Mbarrier>", result: None, operands: "[%]" },
    ),
    Single::gated::<AsyncCopies>(
        "mbarrier",
        "mbarrier_pending_count(state)",
        "mbarrier.pending_count.b64",
        Signature { parameters: "state: MbarrierState", result: Some("u32"), operands: "%, %" },
    ),
];

/// Every `mbarrier`.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) fn singles() -> impl Iterator<Item = &'static Single> {
    let pairs = ARRIVALS.iter().chain(COUNTS).copied().flatten().flatten();
    OTHERS.iter().chain(pairs).chain(INCOMPLETE).chain(WAITS.iter().copied().flatten())
}
