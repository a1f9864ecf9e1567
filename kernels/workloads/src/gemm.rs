//! A product of matrices of `bf16` by tensor copies.

use half::bf16;
use kernels::gemm::{DEPTH, PART, SHARED, THREADS, TILE, gemm};
use ptx_kernel::Swizzle;

use super::{Facts, Grid, Input, Matrix, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of, rod};

pub(super) struct Gemm;

/// Columns of the product, and numbers of a row of both factors: neither is whole tiles.
const WIDE: usize = 136;
const DEEP: usize = 200;

impl Workload for Gemm {
    fn facts(&self) -> Facts {
        Facts {
            name: "gemm",
            about: "a product of matrices of bf16, whose tiles tensor copies bring into a ring",
            unit: "tiles of 128 rows",
            cpu_size: 4,
            gpu_size: 1 << 9,
        }
    }

    fn oldest(&self) -> Sm {
        rod::OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(12);
        // Whole numbers, of which every sum is exact: the order in which a GPU adds does not matter.
        let mut numbers =
            |count: usize| (0..count).map(|_| bf16::from_f32(random.below(17) as f32 - 8.0).to_bits()).collect();
        // The last tile is not whole.
        let rows = (size * TILE as usize).saturating_sub(3);
        Box::new(Product { rows, a: numbers(rows * DEEP), b: numbers(WIDE * DEEP) })
    }
}

/// The product of `a` with the transposed `b`, both row by row.
struct Product {
    rows: usize,
    a: Vec<u16>,
    b: Vec<u16>,
}

impl Product {
    fn tiles(&self) -> [u32; 2] {
        [WIDE, self.rows].map(|size| size.div_ceil(TILE as usize) as u32)
    }

    fn depth(&self) -> u32 {
        DEEP.div_ceil(DEPTH as usize) as u32
    }

    /// The maps of the product and of both factors.
    fn matrices(&self) -> [Matrix; 3] {
        let factor = |rows| Matrix { sizes: [DEEP, rows], tile: [DEPTH, TILE], swizzle: Swizzle::Bytes128 };
        let product = Matrix { sizes: [WIDE, self.rows], tile: [PART[1], PART[0]], swizzle: Swizzle::Bytes64 };
        [product, factor(self.rows), factor(WIDE)]
    }
}

impl Problem for Product {
    fn threads(&self) -> usize {
        self.tiles().iter().product::<u32>() as usize * THREADS as usize
    }

    fn useful_bytes(&self) -> u64 {
        (size_of_val(&self.a[..]) + size_of_val(&self.b[..]) + self.output_bytes()) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let [product, a, b] = self.matrices();
        let maps = [Input::OutputMap(product), Input::Map(bytes_of(&self.a), a), Input::Map(bytes_of(&self.b), b)];
        let [columns, rows] = self.tiles();
        let numbers = [columns * rows, columns, self.depth()].map(|number| Input::Number(Number::U32(number)));
        maps.into_iter().chain(numbers).collect()
    }

    fn output_bytes(&self) -> usize {
        self.rows * WIDE * size_of::<u16>()
    }

    fn reference(&self) -> Output {
        let numbers = |bits: &[u16]| bits.iter().map(|bits| bf16::from_bits(*bits).to_f64()).collect::<Vec<f64>>();
        let (a, b) = (numbers(&self.a), numbers(&self.b));
        let sum = |row: &[f64], column: &[f64]| row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
        let rows = a.chunks(DEEP).flat_map(|row| b.chunks(DEEP).map(|column| sum(row, column)));
        Output::Bits16(rows.map(|sum| bf16::from_f64(sum).to_bits()).collect())
    }

    /// A block for each multiprocessor.
    fn grid(&self, blocks: u32) -> Grid {
        let wanted = self.tiles().iter().product::<u32>();
        let fit = (blocks * super::BLOCK / 2048).max(1);
        Grid { blocks: wanted.min(fit), threads: THREADS, cluster: 1, shared: SHARED as u32, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        if self.rows == 0 {
            return;
        }
        let [product, a, b] = self.matrices();
        let maps = [product.at(output.at()), a.at(self.a.as_ptr()), b.at(self.b.as_ptr())];
        let [d, a, b] = maps.map(|map| map.encode().expect("its rules hold"));
        let ([columns, rows], depth) = (self.tiles(), self.depth());
        // SAFETY: the maps and their numbers are as the kernel says; the output is as promised.
        unsafe { self.grid(super::CPU_BLOCKS / 4).run(|| gemm(&d, &a, &b, columns * rows, columns, depth)) };
    }
}
