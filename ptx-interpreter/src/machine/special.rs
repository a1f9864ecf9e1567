//! The values of special registers.

use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::launch::place_among;
use crate::memory::spaces::MODULE;
use crate::ptx::special::{Ordered, RESERVED, Special};

impl Machine<'_> {
    /// The address at which the blocks of the grid meet; 0 if they must not wait for each other.
    pub(crate) fn grid_workspace(&self) -> u64 {
        let place = self.program.grid_workspace.filter(|_| self.launch.cooperative);
        place.map_or(0, |place| MODULE + place)
    }

    /// Where the threads of a warp are in their block along an axis.
    pub(crate) fn threads_along(&self, group: Group, axis: usize) -> Lanes {
        let (first, sizes) = (self.number_of(group.thread(0)), self.launch.threads);
        std::array::from_fn(|lane| place_among(first + lane, sizes)[axis].into())
    }

    /// The value of a special register.
    pub(crate) fn special(&self, thread: Thread, special: Special) -> u64 {
        let along = |number: usize, sizes: [u32; 3], axis: usize| u64::from(place_among(number, sizes)[axis]);
        let (block, number) = (self.block_of(thread), self.number_of(thread));
        let lane = thread.lane as u32;
        match special {
            Special::Thread(axis) => along(number, self.launch.threads, axis),
            Special::Threads(axis) => self.launch.threads[axis].into(),
            Special::Block(axis) => self.place_of_block(block)[axis].into(),
            Special::Blocks(axis) => self.launch.blocks[axis].into(),
            Special::Cluster(axis) => {
                along(self.grids.own(block as u32) as usize / self.cluster, self.clusters_along(), axis)
            }
            Special::Clusters(axis) => self.clusters_along()[axis].into(),
            Special::InCluster(axis) => along(block % self.cluster, self.cluster_sizes, axis),
            Special::OfCluster(axis) => self.cluster_sizes[axis].into(),
            Special::Rank => self.rank(block),
            Special::Ranks => self.cluster as u64,
            Special::IsCluster => (self.cluster > 1).into(),
            Special::Lane => lane.into(),
            Special::Warp => (number / LANES) as u64,
            Special::Warps => self.warps_of_block as u64,
            Special::Sm => (block % 4) as u64,
            Special::Mask(Ordered::Equal) => 1 << lane,
            Special::Mask(Ordered::Less) => (1 << lane) - 1,
            Special::Mask(Ordered::LessOrEqual) => (2 << lane) - 1,
            Special::Mask(Ordered::Greater) => 0xffff_ffff & !((2 << lane) - 1),
            Special::Mask(Ordered::GreaterOrEqual) => 0xffff_ffff & !((1 << lane) - 1),
            Special::Clock(from, bits) => (self.steps + self.waited) >> from & (u64::MAX >> (64 - bits)),
            Special::DynamicShared => self.launch.shared as u64,
            // It is allocated by 128 bytes.
            Special::TotalShared => self.shared_bytes().next_multiple_of(128) as u64,
            Special::AllShared => (self.shared_bytes().next_multiple_of(128) + RESERVED) as u64,
            Special::Reserved(part) => self.reserved(part) as u64,
            Special::GridWorkspace(from) => self.grid_workspace() >> from & u64::from(u32::MAX),
            Special::Constant(number) => number,
        }
    }
}
