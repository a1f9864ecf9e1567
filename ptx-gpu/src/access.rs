//! Which GPUs may use which memory.

use ptx_interpreter::Piece;

use crate::gpu::Gpu;
use crate::memory::{Allocation, Home};
use crate::reach::Reach;

impl Gpu {
    /// Whether a GPU's kernels may use all of an allocation.
    pub(crate) fn has_access(&self, gpu: usize, one: &Allocation) -> bool {
        if one.gpu == gpu && one.home != Home::Mapped {
            return true;
        }
        match (one.home, one.pool) {
            (Home::Device, Some(pool)) => {
                self.pools.get(&pool).and_then(|pool| pool.access.get(&gpu)).is_some_and(|access| *access != 0)
            }
            (Home::Device | Home::Variable, _) => self.gpus.get(gpu).is_some_and(|own| own.peers.contains(&one.gpu)),
            (Home::Mapped, _) => {
                self.mapped.reached_by(gpu).iter().any(|(begin, end)| *begin <= one.begin && one.end() <= *end)
            }
            // What is the host's too, and what a graph allocates, which says itself who may use it.
            _ => true,
        }
    }

    /// What a GPU's kernels may use.
    pub(crate) fn reach(&self, gpu: usize) -> Reach {
        let is_reached =
            |one: &&Allocation| !matches!(one.home, Home::Array | Home::Mapped) && self.has_access(gpu, one);
        let whole = self.memory.live.values().filter(is_reached).map(|one| (one.begin, one.end()));
        let mut all: Vec<(u64, u64)> = whole.chain(self.mapped.reached_by(gpu)).collect();
        all.sort_unstable();
        Reach::new(all.into_iter())
    }

    /// The host frees memory, and waits for the GPUs that may use it by themselves. What another GPU does there has to be done.
    pub(crate) fn waits_to_free(&mut self, place: u64) {
        let Some(one) = self.memory.find(place).filter(|one| one.begin == place) else { return };
        let with_access: Vec<usize> = (0..self.gpus.len()).filter(|gpu| self.has_access(*gpu, one)).collect();
        with_access.into_iter().for_each(|gpu| self.order.host_waits_for_gpu(gpu));
        self.frees_without_waiting(place);
    }

    /// The host waits for all GPUs.
    pub(crate) fn waits_for_all(&mut self) {
        (0..self.gpus.len()).for_each(|gpu| self.order.host_waits_for_gpu(gpu));
    }

    /// What messages about a GPU's kernels call each piece of memory.
    pub(crate) fn pieces_for(&self, gpu: usize) -> Vec<Piece> {
        let mut pieces = self.memory.pieces();
        for piece in pieces.iter_mut().filter(|_| self.gpus.len() > 1) {
            let without = self.memory.live.get(&piece.begin).filter(|one| !self.has_access(gpu, one));
            if without.is_some() {
                piece.name = format!("{}{TO_WHICH}{gpu}{NO_ACCESS}", piece.name).into();
            }
        }
        pieces
    }
}

/// What is between the name of memory of another GPU and the number of the kernel's own.
const TO_WHICH: &str = ", to which GPU ";
const NO_ACCESS: &str = " has no access";

/// What is wrong with a kernel's access to another GPU's memory, by what messages call that, and what to write.
pub(crate) fn without_access(memory: &str) -> Option<(String, &'static str)> {
    let (name, here) = memory.split_once(NO_ACCESS)?.0.rsplit_once(TO_WHICH)?;
    let (name, there) = name.rsplit_once(" of GPU ")?;
    let both = format!("a kernel of GPU {here} uses memory of GPU {there}, and ");
    let (why, help) = match name {
        _ if name.ends_with("Async)") => {
            ("has no access to its pool", "give it access: cudaMemPoolSetAccess, for the pool of which it is allocated")
        }
        _ if name.ends_with("(cuMemMap)") => ("has no access to it", "give it access: cuMemSetAccess"),
        _ => (
            "peer access is not enabled",
            "enable it (cudaDeviceEnablePeerAccess) while the kernel's GPU is current (cudaSetDevice)",
        ),
    };
    Some((both + why, help))
}
