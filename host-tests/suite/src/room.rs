//! Where the addresses of a kernel lie.

/// Threads of a block. Each of them moves an element of its own.
pub(super) const THREADS: usize = 32;

/// The bytes that a thread has for a trial: as many as the longest access, and a line of L2 for what concerns a line.
pub(super) const SLOT: usize = 32;

const LINE: usize = 128;

/// The same of a column along the width, which all threads of a block look at together.
pub(super) const WIDE_SLOT: usize = 512;

/// Bytes of the parameter of a kernel: two trials of [`SLOT`] bytes for each thread.
pub(super) const PARAMETER: usize = 2 * THREADS * SLOT;

/// Where the address of a form lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// The memory of the GPU.
    Global,
    /// Memory of several GPUs, by a multimem address.
    Multimem,
    /// Memory of the host that the GPU sees.
    Mapped,
    /// Shared memory of the thread's own block.
    Shared,
    /// Lines of 128 bytes of it.
    SharedLines,
    /// Shared memory of the other block of a cluster of two.
    Cluster,
    /// Lines of 128 bytes of it.
    ClusterLines,
    /// A variable in the constant bank.
    Const,
    /// Local memory.
    Local,
    /// A parameter of the kernel.
    Entry,
    /// A parameter of a function that the kernel calls.
    Func,
    /// Lines of 128 bytes in the memory of the GPU.
    Lines,
    /// A tensor map in the memory of the GPU.
    TensorMap,
    /// The same, beside lines of shared memory of the thread's own block.
    TensorShared,
    /// The same, beside lines of shared memory of the other block of a cluster of two.
    TensorCluster,
    /// The same, beside room for a column along the width in the thread's own block.
    TensorWide,
    /// The same, beside such room in the other block of a cluster of two.
    TensorWideCluster,
    /// A tensor map in the constant bank.
    ConstTensorMap,
    /// A tensor map that is a parameter of the kernel.
    EntryTensorMap,
}

impl Room {
    /// Blocks of a launch.
    pub fn blocks(self) -> usize {
        if self.is_of_cluster() { 2 } else { 1 }
    }

    /// Whether its kernels are launched in clusters.
    pub fn is_of_cluster(self) -> bool {
        matches!(self, Room::Cluster | Room::ClusterLines | Room::TensorCluster | Room::TensorWideCluster)
    }

    /// Bytes that a thread has for a trial.
    pub fn slot(self) -> usize {
        match self {
            Room::Lines
            | Room::SharedLines
            | Room::ClusterLines
            | Room::TensorMap
            | Room::TensorShared
            | Room::TensorCluster
            | Room::ConstTensorMap
            | Room::EntryTensorMap => LINE,
            Room::TensorWide | Room::TensorWideCluster => WIDE_SLOT,
            _ => SLOT,
        }
    }

    /// Whether the kernel has a parameter of `PARAMETER` bytes.
    pub fn has_parameter(self) -> bool {
        matches!(self, Room::Entry | Room::EntryTensorMap)
    }

    /// Whether its slots hold tensor maps.
    pub fn has_tensor_map(self) -> bool {
        self.word().contains("tensor")
    }

    /// Its kernels' names begin with this.
    pub fn word(self) -> &'static str {
        match self {
            Room::Global => "global",
            Room::Multimem => "multimem",
            Room::Mapped => "mapped",
            Room::Shared => "shared",
            Room::SharedLines => "shared_lines",
            Room::Cluster => "cluster",
            Room::ClusterLines => "cluster_lines",
            Room::Const => "const",
            Room::Local => "local",
            Room::Entry => "entry",
            Room::Func => "func",
            Room::Lines => "lines",
            Room::TensorMap => "tensor_map",
            Room::TensorShared => "tensor_shared",
            Room::TensorCluster => "tensor_cluster",
            Room::TensorWide => "tensor_wide",
            Room::TensorWideCluster => "tensor_wide_cluster",
            Room::ConstTensorMap => "const_tensor_map",
            Room::EntryTensorMap => "entry_tensor_map",
        }
    }
}
