//! Where the blocks of a grid are, and those of its clusters.

use crate::machine::Machine;
use crate::machine::launch::place_among;
use crate::machine::stop::{Result, Why, stop};

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
