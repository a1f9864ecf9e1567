//! Titles and other words of findings that are asked for elsewhere.

/// What a note says of a thread that tells of others of its block.
pub(crate) const TELLS: &str = "tells others what is done";

/// The title of what the deadline ended.
pub(crate) const LATE: &str = "the kernel has not ended before the deadline";

/// The title of what is only so with older values.
pub(crate) const OLDER: &str = "older values, which the memory model lets loads return, change what the kernel leaves";

/// The title of a use of a barrier that nothing orders after its initialisation, which is the first place.
pub(crate) const UNORDERED_INIT: &str = "a thread uses a barrier, and nothing orders that after its `mbarrier.init`";

/// What the title of a finding begins with that is about the end of a block.
pub(crate) const BLOCK_ENDS: &str = "a block ends before ";

/// The title of a read that comes before a copy, and should come after it.
pub(crate) const READ_BEFORE_COPY: &str =
    "bytes are read that an asynchronous copy writes, and nothing orders the copy before that";

/// What the title of a copy ends with that comes too early, and what that of two strong accesses begins with whose scopes are too narrow.
pub(crate) const BEGINS_EARLY: &str = "begins while another thread may still use the same bytes";
pub(crate) const NARROW: &str = "two strong accesses race, because the scope of one is narrower";

/// The title of a barrier that threads of a warp come to at different instructions.
pub(crate) const DIVERGENT: &str =
    "a barrier is in divergent code: threads of one warp wait for it at different instructions";

/// What orders two threads of a warp, of a block and of a cluster.
pub(crate) const IN_A_WARP: &str =
    "put `bar.warp.sync` (__syncwarp()) between them; threads of a warp do not run in lockstep";
pub(crate) const IN_A_BLOCK: &str = "put `bar.sync 0` (__syncthreads()) between them, which all threads of the block execute; in branches of single \
                                     warps, a named barrier or an mbarrier";

pub(crate) const IN_A_CLUSTER: &str =
    "put `barrier.cluster.arrive.release` and `barrier.cluster.wait.acquire` (cluster.sync()) between them";

/// What is said of a mistake by which all threads wait in the end.
pub(crate) const HANGS: &str = "so all threads wait in the end, and nobody is left who could end that";

// What ends no launch.
pub(crate) const ASKS_AGAIN: &str =
    "a cluster asks to cancel a launch after it has seen that an earlier request cancelled nothing";
pub(crate) const NO_BLOCK: &str = "the number of a block is taken from a response that says that nothing was cancelled";
pub(crate) const MEANINGLESS: &str = "metadata of a sparse matrix say nothing";
pub(crate) const OTHER_LANES: &str = "a warp names lanes of tensor memory that belong to another warp";
pub(crate) const OFFSET_OF_BARRIER: &str =
    "the barrier of `tcgen05.commit` is named by an offset in shared memory, and a generic address belongs there";
pub(crate) const UNMARKED: &str =
    "a descriptor of a matrix in shared memory has not the number 0b001 in its bits 46 to 48";
pub(crate) const FOREIGN: &str = "a thread accesses the local memory of another thread";
pub(crate) const NO_WAIT_FOR_GRID: &str =
    "bytes of the grid before this one are accessed, and `griddepcontrol.wait` is not before it";
pub(crate) const NOT_BEGUN: &str =
    "the shared memory of another block is accessed, and nothing tells that this block has begun";
pub(crate) const NO_PEER: &str =
    "tensor memory is allocated by a pair of blocks, and nothing tells that the other block has begun";
pub(crate) const OUTLIVED: &str =
    "the shared memory of another block is accessed, and nothing keeps that block from ending before";
