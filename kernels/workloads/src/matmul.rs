//! A product of matrices.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Workload, bytes_of};
use kernels::matmul::{DEPTH, Quad, THREADS, TILE, matmul};

pub(super) struct Matmul;

/// The weights, in tiles: 144 by 192 of them.
const DEEP: usize = 9;
const WIDE: usize = 3;

impl Workload for Matmul {
    fn facts(&self) -> Facts {
        Facts {
            name: "matmul",
            about: "rows of 144 times a matrix of 144 by 192 that stays in L2",
            unit: "tiles of 64 rows",
            cpu_size: 16,
            gpu_size: 1 << 13,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(10);
        let mut quads = |count: usize| (0..count).map(|_| Quad::new([(); 4].map(|()| random.float()))).collect();
        let weights = quads(DEEP * DEPTH * WIDE * TILE / 4);
        Box::new(Product { rows: size, input: quads(size * TILE * DEEP * DEPTH / 4), weights })
    }
}

struct Product {
    rows: usize,
    input: Vec<Quad>,
    weights: Vec<Quad>,
}

impl Problem for Product {
    fn threads(&self) -> usize {
        self.rows * WIDE * THREADS
    }

    fn useful_bytes(&self) -> u64 {
        let out = self.rows * TILE * WIDE * TILE * size_of::<f32>();
        (size_of_val(&self.input[..]) + size_of_val(&self.weights[..]) + out) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let numbers = [self.rows, DEEP, WIDE].map(|number| Input::Number(Number::U32(number as u32)));
        let factors = [Input::Bytes(bytes_of(&self.input)), Input::Bytes(bytes_of(&self.weights))];
        [Input::Output].into_iter().chain(factors).chain(numbers).collect()
    }

    fn output_bytes(&self) -> usize {
        self.rows * TILE * WIDE * TILE * size_of::<f32>()
    }

    fn reference(&self) -> Output {
        let elements = |quads: &[Quad]| quads.iter().flat_map(|quad| quad.0).collect::<Vec<f32>>();
        let (input, weights) = (elements(&self.input), elements(&self.weights));
        let (deep, wide) = (DEEP * DEPTH, WIDE * TILE);
        let sum = |at: usize| {
            let (row, column) = (at / wide, at % wide);
            (0..deep).fold(0.0, |sum, k| sum + input[row * deep + k] * weights[k * wide + column])
        };
        Output::F32((0..self.rows * TILE * wide).map(sum).collect())
    }

    unsafe fn run(&self, output: Place) {
        let grid = Grid { resident: 4, ..self.grid(super::CPU_BLOCKS) };
        let (input, weights, rows) = (self.input.as_ptr(), self.weights.as_ptr(), self.rows as u32);
        // SAFETY: the factors have so many tiles; the output is as promised.
        unsafe { grid.run(|| matmul(output.at(), input, weights, rows, DEEP as u32, WIDE as u32)) };
    }
}
