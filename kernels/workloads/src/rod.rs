//! Heat in rods, a cluster of blocks for each.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of};
use kernels::rod::{CLUSTER, FLOW, ROD, THREADS, rod};

pub(super) struct Rod;

/// The oldest GPU that has clusters.
pub(super) const OLDEST: Sm = Sm::new(90);

/// Enough for the heat at one block's end to pass the next.
const STEPS: u32 = 100;

impl Workload for Rod {
    fn facts(&self) -> Facts {
        Facts {
            name: "rod",
            about: "100 steps of heat in rods, each in the shared memory of four blocks",
            unit: "rods of 256 cells",
            cpu_size: 64,
            gpu_size: 1 << 16,
        }
    }

    fn oldest(&self) -> Sm {
        OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(9);
        Box::new(Rods { cells: (0..size * ROD).map(|_| random.float()).collect() })
    }
}

struct Rods {
    cells: Vec<f32>,
}

impl Problem for Rods {
    fn threads(&self) -> usize {
        self.cells.len()
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.cells[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![Input::Output, Input::Bytes(bytes_of(&self.cells)), Input::Number(Number::U32(STEPS))]
    }

    fn reference(&self) -> Output {
        let mut cells = self.cells.clone();
        for rod in cells.chunks_mut(ROD) {
            for _ in 0..STEPS {
                let before = rod.to_vec();
                let at = |at: usize| before[at.min(ROD - 1)];
                for (here, cell) in rod.iter_mut().enumerate() {
                    let (left, right) = (at(here.saturating_sub(1)), at(here + 1));
                    *cell += FLOW * ((left - before[here]) + (right - before[here]));
                }
            }
        }
        Output::F32(cells)
    }

    fn grid(&self, _: u32) -> Grid {
        let blocks = self.cells.len().div_ceil(THREADS) as u32;
        Grid { blocks, threads: THREADS as u32, cluster: CLUSTER, shared: 0, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        // SAFETY: the grid has a cell for each of its threads; the output is as promised.
        unsafe { self.grid(CLUSTER).run(|| rod(output.at(), self.cells.as_ptr(), STEPS)) };
    }
}
