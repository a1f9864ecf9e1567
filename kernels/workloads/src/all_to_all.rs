//! A transposed matrix, by stores to all blocks of a cluster.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of, rod};
use kernels::all_to_all::{CLUSTER, SQUARE, THREADS, all_to_all};
use ptx_intrinsics::prelude::V4;

pub(super) struct AllToAll;

/// Squares beside each other.
const WIDE: usize = 3;

/// Columns of the matrix.
const COLUMNS: usize = WIDE * SQUARE as usize;

impl Workload for AllToAll {
    fn facts(&self) -> Facts {
        Facts {
            name: "all_to_all",
            about: "a transposed matrix, of which the blocks of a cluster send each other their tiles",
            unit: "times 128 rows of 384 numbers",
            cpu_size: 4,
            gpu_size: 1 << 10,
        }
    }

    fn oldest(&self) -> Sm {
        rod::OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(14);
        let mut four = || V4::new([(); 4].map(|()| random.float()));
        let rows = size * SQUARE as usize;
        Box::new(Squares { height: size as u32, fours: (0..rows * COLUMNS / 4).map(|_| four()).collect() })
    }
}

struct Squares {
    height: u32,
    fours: Vec<V4<f32>>,
}

impl Problem for Squares {
    fn threads(&self) -> usize {
        (self.height * CLUSTER * THREADS) as usize * WIDE
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.fours[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let numbers = [WIDE as u32, self.height].map(|number| Input::Number(Number::U32(number)));
        [Input::Output, Input::Bytes(bytes_of(&self.fours))].into_iter().chain(numbers).collect()
    }

    fn reference(&self) -> Output {
        let rows = self.height as usize * SQUARE as usize;
        let at = |row: usize, column: usize| self.fours[(row * COLUMNS + column) / 4].0[column % 4];
        Output::F32((0..COLUMNS).flat_map(|column| (0..rows).map(move |row| at(row, column))).collect())
    }

    fn grid(&self, _: u32) -> Grid {
        let blocks = self.height * CLUSTER * WIDE as u32;
        Grid { blocks, threads: THREADS, cluster: CLUSTER, shared: 0, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        // SAFETY: each square has a cluster; the output is as promised.
        unsafe { self.grid(CLUSTER).run(|| all_to_all(output.at(), self.fours.as_ptr(), WIDE as u32, self.height)) };
    }
}
