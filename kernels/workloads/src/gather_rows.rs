//! Rows gathered out of a cache by tensor copies of four.

use kernels::gather_rows::{FOURS, Four, ROW, THREADS, gather_rows};
use ptx_intrinsics::prelude::V4;
use ptx_kernel::Swizzle;

use super::{Facts, Grid, Input, Matrix, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of};

pub(super) struct GatherRows;

/// The oldest GPU that has its copies.
pub(super) const OLDEST: Sm = Sm::new(100);

/// Rows of the cache.
const CACHE: usize = 1000;

/// Numbers of a row.
const WIDE: usize = ROW as usize;

impl Workload for GatherRows {
    fn facts(&self) -> Facts {
        Facts {
            name: "gather_rows",
            about: "rows of a cache, of which a table names four at a time for a tensor copy",
            unit: "times four rows of 256 bytes",
            cpu_size: 1 << 12,
            gpu_size: 1 << 18,
        }
    }

    fn oldest(&self) -> Sm {
        OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(15);
        let cache = (0..CACHE * WIDE).map(|_| random.next() as u16).collect();
        // Some rows are none of the cache's: -1, and those after the last.
        let mut row = || random.below(CACHE as u64 + 20) as i32 - 1;
        Box::new(Rows { cache, table: (0..size).map(|_| V4::new([(); 4].map(|()| row()))).collect() })
    }
}

struct Rows {
    cache: Vec<u16>,
    table: Vec<V4<i32>>,
}

impl Rows {
    fn matrix(&self) -> Matrix {
        Matrix { sizes: [WIDE, CACHE], tile: [ROW, 1], swizzle: Swizzle::None }
    }
}

impl Problem for Rows {
    fn threads(&self) -> usize {
        self.table.len().div_ceil(FOURS as usize) * THREADS as usize
    }

    fn useful_bytes(&self) -> u64 {
        (2 * self.output_bytes() + size_of_val(&self.table[..])) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let fours = Input::Number(Number::U32(self.table.len() as u32));
        vec![
            Input::Output,
            Input::Map(bytes_of(&self.cache), self.matrix()),
            Input::Bytes(bytes_of(&self.table)),
            fours,
        ]
    }

    fn output_bytes(&self) -> usize {
        self.table.len() * size_of::<Four>()
    }

    fn reference(&self) -> Output {
        let rows = self.table.iter().flat_map(|four| four.0);
        let row = |row: i32| self.cache.chunks(WIDE).nth(usize::try_from(row).ok()?);
        Output::Bits16(rows.flat_map(|at| row(at).map_or(vec![0; WIDE], <[u16]>::to_vec)).collect())
    }

    fn grid(&self, blocks: u32) -> Grid {
        let wanted = self.table.len().div_ceil(FOURS as usize) as u32;
        Grid { blocks: wanted.min(blocks), threads: THREADS, cluster: 1, shared: 0, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        let map = self.matrix().at(self.cache.as_ptr()).encode().expect("its rules hold");
        let (table, fours) = (self.table.as_ptr(), self.table.len() as u32);
        // SAFETY: the map and the table are as the kernel says; the output is as promised.
        unsafe { self.grid(8).run(|| gather_rows(output.at(), &map, table, fours)) };
    }
}
