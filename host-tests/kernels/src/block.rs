//! The threads of a block as one: a barrier, shared memory, and a cluster of blocks.

use core::marker::PhantomData;

/// What a thread shares with the others of its block: a barrier, and an `S` in shared memory.
///
/// An `S` is plain numbers, of at most 16 bytes of alignment. Nothing is in it at first.
pub struct Block<'a, S> {
    shared: *mut S,
    #[cfg(not(target_arch = "nvptx64"))]
    waits: &'a dyn Fn(Wait),
    #[cfg(not(target_arch = "nvptx64"))]
    cluster: Cluster<S>,
    of: PhantomData<&'a S>,
}

/// A block's place in its cluster, and the shared memory of all blocks in it, one after the other.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
pub(crate) struct Cluster<S> {
    pub(crate) rank: u32,
    pub(crate) blocks: u32,
    pub(crate) shared: *mut S,
}

/// What a thread waits for.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The other threads of its block.
    Block,
    /// The other threads of its cluster.
    Cluster,
    /// Whatever others do meanwhile.
    Turn,
}

impl<S> Block<'_, S> {
    /// The block's shared memory; its address is a generic one.
    #[inline(always)]
    pub fn shared(&self) -> *mut S {
        self.shared
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<'a, S> Block<'a, S> {
    pub(crate) fn new(cluster: Cluster<S>, waits: &'a dyn Fn(Wait)) -> Self {
        let shared = cluster.shared.wrapping_add(cluster.rank as usize);
        Block { shared, waits, cluster, of: PhantomData }
    }

    /// Waits until all threads of the block have come here, and makes what they wrote seen by all of them.
    pub fn sync(&self) {
        (self.waits)(Wait::Block);
    }

    /// Lets others go on: what a loop does that waits for another block.
    pub fn pause(&self) {
        (self.waits)(Wait::Turn);
    }

    /// The block's number in its cluster.
    pub fn rank(&self) -> u32 {
        self.cluster.rank
    }

    /// The shared memory of the cluster's block of that number.
    pub fn shared_of(&self, rank: u32) -> *mut S {
        assert!(rank < self.cluster.blocks, "a cluster of {} has no block {rank}", self.cluster.blocks);
        self.cluster.shared.wrapping_add(rank as usize)
    }

    /// Waits until all threads of the cluster have come here, and makes what they wrote seen by all of them.
    pub fn sync_cluster(&self) {
        (self.waits)(Wait::Cluster);
    }
}

#[cfg(target_arch = "nvptx64")]
impl<S> Block<'_, S> {
    /// # Safety
    /// `shared` is this block's own variable in shared memory.
    #[inline(always)]
    pub(crate) unsafe fn new(shared: *mut S) -> Self {
        Block { shared, of: PhantomData }
    }

    /// Waits until all threads of the block have come here, and makes what they wrote seen by all of them.
    #[inline(always)]
    pub fn sync(&self) {
        #[cfg(feature = "rust-cuda")]
        cuda_std::thread::sync_threads();
        #[cfg(not(feature = "rust-cuda"))]
        // SAFETY: the kernels call it where all threads of a block come along.
        unsafe {
            core::arch::nvptx::_syncthreads();
        }
    }

    /// Lets others go on: what a loop does that waits for another block.
    #[inline(always)]
    pub fn pause(&self) {}
}

#[cfg(all(target_arch = "nvptx64", feature = "cluster"))]
impl<S> Block<'_, S> {
    /// The block's number in its cluster.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        let rank;
        // SAFETY: this only reads a special register.
        unsafe { core::arch::asm!("mov.u32 {}, %cluster_ctarank;", out(reg32) rank, options(pure, nomem, nostack)) };
        rank
    }

    /// The shared memory of the cluster's block of that number.
    #[inline(always)]
    pub fn shared_of(&self, rank: u32) -> *mut S {
        let there;
        // SAFETY: an address is computed from an address, nothing is read.
        unsafe {
            core::arch::asm!("mapa.u64 {}, {}, {};", out(reg64) there, in(reg64) self.shared, in(reg32) rank,
                options(pure, nomem, nostack));
        }
        there
    }

    /// Waits until all threads of the cluster have come here, and makes what they wrote seen by all of them.
    #[inline(always)]
    pub fn sync_cluster(&self) {
        // SAFETY: the kernels call it where all threads of a cluster come along.
        unsafe {
            core::arch::asm!(
                "barrier.cluster.arrive.release.aligned;",
                "barrier.cluster.wait.acquire.aligned;",
                options(nostack)
            );
        }
    }
}
