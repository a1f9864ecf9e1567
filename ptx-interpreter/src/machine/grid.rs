//! Where the blocks of a grid are, and those of its clusters.

use std::sync::Arc;

use crate::check::Place;
use crate::machine::Machine;
use crate::machine::launch::{Launch, place_among};
use crate::machine::stop::{Result, Why, stop};

/// The grids of a launch, one after the other: of one kernel on each of some GPUs.
#[derive(Clone, Debug)]
pub(crate) struct Grids {
    /// Blocks of each.
    blocks: u32,
    /// The GPU of each.
    gpus: Arc<[u32]>,
}

impl Grids {
    pub(crate) fn new(launch: &Launch<'_>, blocks: usize) -> Grids {
        let gpus: Arc<[u32]> = std::iter::once(launch.gpu).chain(launch.peers.iter().map(|peer| peer.gpu)).collect();
        Grids { blocks: blocks as u32, gpus }
    }

    pub(crate) fn count(&self) -> usize {
        self.gpus.len()
    }

    /// Whether there is one alone.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        self.gpus.len() == 1
    }

    /// The grid of a block.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> usize {
        if self.is_one() { 0 } else { (block / self.blocks) as usize }
    }

    /// The GPU of a block.
    #[inline]
    pub(crate) fn gpu(&self, block: u32) -> u32 {
        self.gpus[self.of(block)]
    }

    /// A block's number becomes that in its grid, on its GPU.
    pub(crate) fn name(&self, place: &mut Place) {
        if !self.is_one() {
            place.gpu = Some(self.gpu(place.block));
            place.block = self.own(place.block);
        }
    }

    /// The number of a block in its grid.
    pub(crate) fn own(&self, block: u32) -> u32 {
        if self.is_one() { block } else { block % self.blocks }
    }
}

impl Machine<'_> {
    /// The next cluster never begins: the number of its first block. A single cluster has begun.
    pub(crate) fn cancel_launch(&mut self) -> Result<Option<[u32; 3]>> {
        let block = self.next_cluster * self.cluster;
        if block >= self.blocks.end() {
            return Ok(None);
        }
        if !self.grids.is_one() {
            return stop(Why::Gap, "clusterlaunchcontrol.try_cancel in a launch on several GPUs");
        }
        self.next_cluster += 1;
        Ok(Some(self.place_of_block(block)))
    }

    /// The cluster that begins as the next one: of each grid in turn.
    pub(crate) fn following_cluster(&self) -> usize {
        let (grids, next) = (self.grids.count(), self.next_cluster);
        next % grids * (self.clusters.end() / grids) + next / grids
    }

    /// Clusters in x, y and z.
    pub(crate) fn clusters_along(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.launch.blocks[axis] / self.cluster_sizes[axis])
    }

    /// Where a block is in the grid. Blocks are numbered cluster by cluster.
    pub(crate) fn place_of_block(&self, block: usize) -> [u32; 3] {
        let block = self.grids.own(block as u32) as usize;
        let cluster = place_among(block / self.cluster, self.clusters_along());
        let own = place_among(block % self.cluster, self.cluster_sizes);
        [0, 1, 2].map(|axis| cluster[axis] * self.cluster_sizes[axis] + own[axis])
    }
}
