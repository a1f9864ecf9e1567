//! Special registers: where a thread runs, which lanes are beside it, and how much shared memory its block has.
//!
//! What [`index`](crate::lane_id) has is not here, and `clock`, `clock64` and `globaltimer` are functions of `ptx-intrinsics`.

use ptx_intrinsics::gate::{AllShared, Clusters, GraphExec, OnTarget};
#[cfg(not(target_arch = "nvptx64"))]
use ptx_intrinsics::on_cpu::Thread as _;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu::{place, sizes};

gated! {
    clusterid_x clusterid_y clusterid_z nclusterid_x nclusterid_y nclusterid_z
    cluster_ctaid_x cluster_ctaid_y cluster_ctaid_z cluster_nctaid_x cluster_nctaid_y cluster_nctaid_z
    aggr_smem_size current_graph_exec
}

/// A register that is `fixed` has one value for the whole life of a thread. One that is `moving` is read anew by each call, and one of
/// a `clock` stays where it is among accesses to memory too.
macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident $register:literal $type:ident $kind:ident $needs:literal $($gate:ident)? = $cpu:expr;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `mov.", stringify!($type), " d, ", $register, ";`. ", $needs)]
        #[doc(alias = $register)]
        #[inline(always)]
        pub fn $name() -> $type
        where
            $(for<'a> $gate: OnTarget<$name, &'a ()>,)?
        {
            #[cfg(target_arch = "nvptx64")]
            {
                registers!(@read $type $register $kind)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                $cpu
            }
        }
    )* };
    (@read $type:ident $register:literal fixed) => { registers!(@mov $type $register (pure, nomem, nostack, preserves_flags)) };
    (@read $type:ident $register:literal moving) => { registers!(@mov $type $register (nomem, nostack, preserves_flags)) };
    (@read $type:ident $register:literal clock) => { registers!(@mov $type $register (nostack, preserves_flags)) };
    (@mov u32 $($row:tt)*) => { registers!(@asm u32 reg32 $($row)*) };
    (@mov u64 $($row:tt)*) => { registers!(@asm u64 reg64 $($row)*) };
    (@asm $type:ident $class:ident $register:literal ($($option:ident),*)) => {{
        let value: $type;
        // SAFETY: it reads a special register.
        unsafe {
            core::arch::asm!(
                concat!("mov.", stringify!($type), " {value}, ", $register, ";"),
                value = out($class) value,
                options($($option),*),
            );
        }
        value
    }};
}
registers! {
    /// The SM on which the thread runs now. It may change, as a debugger can move a thread. On a CPU blocks go round four of them.
    smid "%smid" u32 moving "Any target." = place().number() % 4;
    /// One more than the greatest [`smid`]. There may be none with some of the numbers below.
    nsmid "%nsmid" u32 fixed "Any target." = 4;
    /// The warp's number on its SM, which may change. For the number in the block, divide the thread's number by
    /// [`WARP_SIZE`](crate::WARP_SIZE). On a CPU it is the same.
    warpid "%warpid" u32 moving "Any target." = place().warp()[0];
    /// One more than the greatest [`warpid`]. On a CPU that is the number of warps of the block.
    nwarpid "%nwarpid" u32 fixed "Any target." = place().warp()[1];
    /// The number of the launch. On a CPU it is 1.
    gridid "%gridid" u64 fixed "Any target." = 1;

    /// The mask of the thread's own lane.
    lanemask_eq "%lanemask_eq" u32 fixed "Any target." = 1 << place().lane();
    /// The mask of the lanes below the thread's own.
    lanemask_lt "%lanemask_lt" u32 fixed "Any target." = (1 << place().lane()) - 1;
    /// The mask of the lanes up to the thread's own.
    lanemask_le "%lanemask_le" u32 fixed "Any target." = u32::MAX >> (31 - place().lane());
    /// The mask of the lanes above the thread's own.
    lanemask_gt "%lanemask_gt" u32 fixed "Any target." = !(u32::MAX >> (31 - place().lane()));
    /// The mask of the lanes from the thread's own on.
    lanemask_ge "%lanemask_ge" u32 fixed "Any target." = u32::MAX << place().lane();

    /// The cluster's number in the grid, in `x`.
    clusterid_x "%clusterid.x" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[0].x;
    /// The cluster's number in the grid, in `y`.
    clusterid_y "%clusterid.y" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[0].y;
    /// The cluster's number in the grid, in `z`.
    clusterid_z "%clusterid.z" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[0].z;
    /// How many clusters the grid has in `x`.
    nclusterid_x "%nclusterid.x" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[1].x;
    /// How many clusters the grid has in `y`.
    nclusterid_y "%nclusterid.y" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[1].y;
    /// How many clusters the grid has in `z`.
    nclusterid_z "%nclusterid.z" u32 fixed "Needs sm_90 and ptx78." Clusters = place().clusters()[1].z;
    /// The block's number in its cluster, in `x`. On a CPU clusters extend along `x`.
    cluster_ctaid_x "%cluster_ctaid.x" u32 fixed "Needs sm_90 and ptx78." Clusters = place().rank;
    /// The block's number in its cluster, in `y`.
    cluster_ctaid_y "%cluster_ctaid.y" u32 fixed "Needs sm_90 and ptx78." Clusters = 0;
    /// The block's number in its cluster, in `z`.
    cluster_ctaid_z "%cluster_ctaid.z" u32 fixed "Needs sm_90 and ptx78." Clusters = 0;
    /// How many blocks the cluster has in `x`. On a CPU clusters extend along `x`.
    cluster_nctaid_x "%cluster_nctaid.x" u32 fixed "Needs sm_90 and ptx78." Clusters = place().cluster;
    /// How many blocks the cluster has in `y`.
    cluster_nctaid_y "%cluster_nctaid.y" u32 fixed "Needs sm_90 and ptx78." Clusters = 1;
    /// How many blocks the cluster has in `z`.
    cluster_nctaid_z "%cluster_nctaid.z" u32 fixed "Needs sm_90 and ptx78." Clusters = 1;

    /// The bytes of dynamic shared memory of the block.
    dynamic_smem_size "%dynamic_smem_size" u32 fixed "Any target." = sizes()[0];
    /// The bytes of shared memory of the block, a multiple of 128. On a CPU a variable counts from its first use on.
    total_smem_size "%total_smem_size" u32 fixed "Any target." = sizes()[1].next_multiple_of(128);
    /// [`total_smem_size`], and what the system has reserved: 1 KiB on a CPU.
    aggr_smem_size "%aggr_smem_size" u32 fixed "Needs sm_90 and ptx81." AllShared = sizes()[1].next_multiple_of(128) + 1024;
    /// The handle of the graph that runs this kernel, by which it launches a graph; 0 if none does, as on a CPU.
    current_graph_exec "%current_graph_exec" u64 fixed "Needs ptx80." GraphExec = 0;

    /// The upper half of the counter of cycles. On a CPU it counts nanoseconds.
    clock_hi "%clock_hi" u32 clock "Any target." = (place().nanoseconds() >> 32) as u32;
    /// The lower half of the clock that all SMs share, in nanoseconds.
    globaltimer_lo "%globaltimer_lo" u32 clock "Any target." = place().nanoseconds() as u32;
    /// The upper half of the clock that all SMs share, in nanoseconds.
    globaltimer_hi "%globaltimer_hi" u32 clock "Any target." = (place().nanoseconds() >> 32) as u32;
}
