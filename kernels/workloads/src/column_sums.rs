//! Sums of the columns of a matrix of bytes, by reductions across a cluster.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of, rod};
use kernels::column_sums::{CHUNK, CLUSTER, STRIP, THREADS, column_sums};
use ptx_intrinsics::prelude::V4;

pub(super) struct ColumnSums;

/// Chunks of a row: the last strip is not whole, nor is its last part.
const WIDE: usize = 2 * (STRIP / CHUNK) as usize + 41;

impl Workload for ColumnSums {
    fn facts(&self) -> Facts {
        Facts {
            name: "column_sums",
            about: "the sums of columns of bytes, of which each block of a cluster has a quarter of the rows",
            unit: "rows of 4,752 bytes",
            cpu_size: 256,
            gpu_size: 1 << 16,
        }
    }

    fn oldest(&self) -> Sm {
        rod::OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(13);
        let mut chunk = || V4::new([(); 4].map(|()| random.next() as u32));
        Box::new(Columns { rows: size as u32, chunks: (0..size * WIDE).map(|_| chunk()).collect() })
    }
}

struct Columns {
    rows: u32,
    chunks: Vec<V4<u32>>,
}

impl Problem for Columns {
    fn threads(&self) -> usize {
        CLUSTER as usize * WIDE
    }

    fn useful_bytes(&self) -> u64 {
        (size_of_val(&self.chunks[..]) + self.output_bytes()) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let numbers = [self.rows, WIDE as u32].map(|number| Input::Number(Number::U32(number)));
        [Input::Output, Input::Bytes(bytes_of(&self.chunks))].into_iter().chain(numbers).collect()
    }

    fn output_bytes(&self) -> usize {
        CHUNK as usize * WIDE * size_of::<i32>()
    }

    fn reference(&self) -> Output {
        let mut sums = vec![0i32; CHUNK as usize * WIDE];
        for row in bytes_of(&self.chunks).chunks(sums.len()) {
            sums.iter_mut().zip(row).for_each(|(sum, byte)| *sum += i32::from(*byte as i8));
        }
        Output::U32(sums.into_iter().map(|sum| sum as u32).collect())
    }

    fn grid(&self, _: u32) -> Grid {
        let blocks = CLUSTER * WIDE.div_ceil(THREADS as usize) as u32;
        Grid { blocks, threads: THREADS, cluster: CLUSTER, shared: 0, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        let (chunks, width) = (self.chunks.as_ptr(), WIDE as u32);
        // SAFETY: the rows have so many chunks; the output is as promised.
        unsafe { self.grid(CLUSTER).run(|| column_sums(output.at(), chunks, self.rows, width)) };
    }
}
