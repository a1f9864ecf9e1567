//! What a launch is asked for.

use std::sync::Mutex;

use crate::check::{Before, Place};
use crate::counts::Counting;
use crate::memory::alias::Alias;
use crate::memory::heap::Heap;
use crate::memory::overwritten::Overwritten;
use crate::memory::texture::Objects;

/// The same launch with other arguments on another GPU.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    /// The number of its GPU.
    pub gpu: u32,
    /// Where each argument is.
    pub arguments: &'a [*const u8],
    /// Where a variable of the module is on its GPU, as [`Outside::variable`].
    pub variable: &'a (dyn Fn(&str) -> Option<u64> + Sync),
}

impl std::fmt::Debug for Peer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("gpu", &self.gpu).field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Its name.
    pub kernel: &'a str,
    /// Blocks in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Where each argument is.
    pub arguments: &'a [*const u8],
    /// Bytes of shared memory besides those of the module's variables.
    pub shared: usize,
    /// Blocks of a cluster in x, y and z, where the kernel does not say it itself.
    pub cluster: [u32; 3],
    /// Whether its blocks may wait for each other: `cudaLaunchCooperativeKernel`.
    pub cooperative: bool,
    /// How many blocks the GPU has at one time, if that is known. Later ones begin when others have ended.
    pub resident: Option<usize>,
    /// Makes the order in which threads take turns.
    pub seed: u64,
    /// Instructions that all threads together may take.
    pub steps: u64,
    /// What stands between the threads of a block and memory.
    pub l1: L1,
    /// What accesses wait for.
    pub delays: Delays,
    /// Where loads are [late](Delays::Loads): which accesses go another way than the usual one, of those that the seed chooses, by their
    /// numbers. Without it all do. Threads wait for the others that are late, and do nothing before that.
    pub only: Option<&'a [u64]>,
    /// When it has to have ended.
    pub deadline: Option<std::time::Instant>,
    /// What `malloc` gives, and kernels before have allocated. Without it the launch has one of its own.
    pub heap: Option<&'a Mutex<Heap>>,
    /// Whether the [report](crate::Report::used) says which memory it has used.
    pub tells_used: bool,
    /// What the [report](crate::Report::counts) says of how often instructions were executed.
    pub counting: Counting,
    /// What it overwrites of the memory outside is kept here as it was, if somebody wants that.
    pub overwritten: Option<&'a Mutex<Overwritten>>,
    /// Whether the grid before it may still run, as under programmatic dependent launch. Then the report also says which memory it
    /// has [used early](crate::Used::early).
    pub begins_early: bool,
    /// Whether somebody runs the kernels that the kernel launches: see [`Report::launched`](crate::Report::launched). If not, a launch
    /// is a [gap](crate::Why::Gap).
    pub takes_launched: bool,
    /// What the handles of textures and surfaces stand for, if the program has any.
    pub objects: Option<&'a Objects>,
    /// Other addresses of memory.
    pub aliases: &'a [Alias],
    /// The number of its GPU.
    pub gpu: u32,
    /// The same launch on other GPUs, which runs at the same time: its threads may wait for each other.
    pub peers: &'a [Peer<'a>],
    /// What was used before one of these begins, as far as another one may begin earlier.
    pub before: &'a [Before],
    /// Whether its blocks may run in parts, and on how many cores, if it is [checked](crate::Program::check).
    pub parts: Parts,
}

impl<'a> Launch<'a> {
    /// A launch of one block of 32 threads.
    pub fn new(kernel: &'a str, arguments: &'a [*const u8]) -> Launch<'a> {
        Launch {
            kernel,
            blocks: [1; 3],
            threads: [32, 1, 1],
            arguments,
            shared: 0,
            cluster: [1; 3],
            cooperative: false,
            resident: None,
            seed: 0,
            steps: 1 << 30,
            l1: L1::None,
            delays: Delays::None,
            only: None,
            deadline: None,
            heap: None,
            tells_used: false,
            counting: Counting::Nothing,
            overwritten: None,
            begins_early: false,
            takes_launched: false,
            objects: None,
            aliases: &[],
            gpu: 0,
            peers: &[],
            before: &[],
            parts: Parts::default(),
        }
    }
}

/// Whether the blocks of a launch run in parts, each of which knows nothing of the others.
///
/// A large launch is cut into parts of neighbouring clusters if its blocks can neither wait for each other nor order each other. If all
/// parts end without a finding, and no byte that one writes is used by another one, they are the launch. If not, memory is as before, and
/// the launch is run as a whole, as later ones of the kernel. The cut depends on the kernel and the grid alone: a seed replays on every
/// machine. Of what depends on the order of threads, a launch in parts may leave something else than one that is run as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// On all cores.
    #[default]
    OnAllCores,
    /// The same parts, one after the other: for those who run other launches at the same time.
    OnOneCore,
    /// Every cluster is a part, however small the launch is: for tests.
    OfOneCluster,
    /// It is run as a whole.
    None,
}

/// What L1 a block has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum L1 {
    /// None: every load finds the newest value.
    #[default]
    None,
    /// It keeps what the block's weak loads have found and what its threads store there, until a thread of the block acquires for
    /// more than the block. So a weak load may give an old value.
    Kept,
    /// It keeps all of it for ever: the machine is broken.
    Forgetful,
}

/// When accesses to global memory happen, and loads of shared memory if they are weak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delays {
    /// At once.
    #[default]
    None,
    /// A load is performed later, but before its value is used, as the memory model allows. So it may return what was stored after it.
    Loads,
    /// Others see a store later, and a load is performed later, but before its value is used: as the memory model allows. What a
    /// bulk copy reads may be older than the last store, until a proxy fence.
    Allowed,
    /// The machine is broken: releases and fences do not wait until the stores before them are seen.
    StoresForgotten,
    /// The machine is broken: releases and fences do not wait for the loads before them, nor later loads for an acquire or for those
    /// of the same place.
    LoadsForgotten,
    /// The machine is broken: a bulk copy may read what was there before a store, although a proxy fence is between them.
    FencesForgotten,
}

/// A kernel that a kernel launches: dynamic parallelism.
#[derive(Clone, Debug)]
pub struct DeviceLaunch {
    /// Its name.
    pub kernel: String,
    /// Blocks of its grid, in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block, in x, y and z.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The bytes of each argument.
    pub arguments: Vec<Vec<u8>>,
    /// Whether it begins when the kernel, and all that it launches, has ended: `cudaStreamTailLaunch`.
    pub is_tail: bool,
    /// Who launches it, and where.
    pub place: Place,
}

/// A launch from the device for which there is a buffer for arguments.
pub(crate) struct Asked {
    pub(crate) kernel: String,
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared: u32,
}

/// The memory outside of the kernel.
pub struct Outside<'a> {
    /// Whether the GPU may use `bytes` bytes at an address.
    pub holds: &'a (dyn Fn(u64, usize) -> bool + Sync),
    /// Where a variable of the module is, if the host has asked for it; where the constant bank begins for the empty name.
    pub variable: &'a (dyn Fn(&str) -> Option<u64> + Sync),
}

/// Where the number is among so many in x, y and z.
pub(crate) fn place_among(number: usize, [x, y, z]: [u32; 3]) -> [u32; 3] {
    let number = number as u32;
    // Most launches have one axis, and divisions are slow.
    if (y, z) == (1, 1) {
        return [number, 0, 0];
    }
    [number % x, number / x % y, number / x / y]
}
