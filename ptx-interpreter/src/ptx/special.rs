//! The special registers, by their names.

/// Bytes of each block's shared memory that the system has reserved.
pub(crate) const RESERVED: usize = 1024;

/// A special register that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Thread(usize),
    Threads(usize),
    Block(usize),
    Blocks(usize),
    Cluster(usize),
    Clusters(usize),
    /// Where the block is in its cluster along an axis.
    InCluster(usize),
    /// Blocks of a cluster along an axis.
    OfCluster(usize),
    /// The block's number in its cluster.
    Rank,
    /// Blocks of a cluster.
    Ranks,
    IsCluster,
    Lane,
    Warp,
    Warps,
    Sm,
    /// The lanes that are equal, less, and so on.
    Mask(Ordered),
    /// Bits of the clock: their number, and the first of them.
    Clock(u32, u32),
    DynamicShared,
    TotalShared,
    /// All of it, with what the system has reserved.
    AllShared,
    /// Where in shared memory that part of what the system has reserved begins: CUDA's cooperative groups keep something there.
    Reserved(usize),
    /// Where the blocks of a cooperative grid meet: so many bits, from that one on.
    GridWorkspace(u32),
    Constant(u64),
}

/// Which lanes a mask has, beside the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Special {
    /// Whether it is the same for all threads of a warp.
    pub(crate) fn is_same_for_all(self) -> bool {
        !matches!(self, Special::Thread(_) | Special::Lane | Special::Mask(_))
    }

    /// By its name without `%`.
    pub(crate) fn parse(name: &str) -> Option<Special> {
        let (register, axis) = name.split_once('.').unwrap_or((name, "x"));
        let axis = ["x", "y", "z"].iter().position(|one| *one == axis)?;
        Some(match register {
            "tid" => Special::Thread(axis),
            "ntid" => Special::Threads(axis),
            "ctaid" => Special::Block(axis),
            "nctaid" => Special::Blocks(axis),
            "clusterid" => Special::Cluster(axis),
            "nclusterid" => Special::Clusters(axis),
            "cluster_ctaid" => Special::InCluster(axis),
            "cluster_nctaid" => Special::OfCluster(axis),
            "cluster_ctarank" => Special::Rank,
            "cluster_nctarank" => Special::Ranks,
            "is_explicit_cluster" => Special::IsCluster,
            "laneid" => Special::Lane,
            "warpid" => Special::Warp,
            "nwarpid" => Special::Warps,
            "smid" => Special::Sm,
            "nsmid" => Special::Constant(4),
            "gridid" => Special::Constant(1),
            "lanemask_eq" => Special::Mask(Ordered::Equal),
            "lanemask_lt" => Special::Mask(Ordered::Less),
            "lanemask_le" => Special::Mask(Ordered::LessOrEqual),
            "lanemask_gt" => Special::Mask(Ordered::Greater),
            "lanemask_ge" => Special::Mask(Ordered::GreaterOrEqual),
            "clock" | "globaltimer_lo" => Special::Clock(0, 32),
            "clock_hi" | "globaltimer_hi" => Special::Clock(32, 32),
            "clock64" | "globaltimer" => Special::Clock(0, 64),
            "dynamic_smem_size" => Special::DynamicShared,
            "aggr_smem_size" => Special::AllShared,
            "reserved_smem_offset_begin" | "reserved_smem_offset_0" => Special::Reserved(0),
            "reserved_smem_offset_1" => Special::Reserved(RESERVED / 2),
            "reserved_smem_offset_cap" | "reserved_smem_offset_end" => Special::Reserved(RESERVED),
            "current_graph_exec" => Special::Constant(0),
            // CUDA keeps there where `grid.sync()` counts the blocks.
            "envreg1" => Special::GridWorkspace(32),
            "envreg2" => Special::GridWorkspace(0),
            "total_smem_size" => Special::TotalShared,
            _ => return None,
        })
    }
}
