//! A sparse matrix times a vector: Poisson's equation on a square grid, by five points.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::spmv::spmv;

pub(super) struct Spmv;

impl Workload for Spmv {
    fn facts(&self) -> Facts {
        Facts {
            name: "spmv",
            about: "the five-point Poisson matrix, in compressed rows, times a vector",
            unit: "points on a side of the grid",
            cpu_size: 1000,
            gpu_size: 4000,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        Box::new(Poisson::new(size))
    }
}

struct Poisson {
    side: usize,
    row_start: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
    x: Vec<f32>,
}

impl Poisson {
    /// The matrix of a conductor that differs from place to place, so that no two rows agree.
    fn new(side: usize) -> Self {
        let mut random = Random(3);
        let mut matrix = Poisson { side, row_start: vec![0], columns: vec![], values: vec![], x: vec![] };
        for row in 0..side * side {
            for column in matrix.neighbours(row).into_iter().flatten() {
                matrix.columns.push(column as u32);
                matrix.values.push(if column == row { 4.0 } else { -1.0 } + random.float() / 8.0);
            }
            matrix.row_start.push(matrix.columns.len() as u32);
        }
        matrix.x = (0..side * side).map(|_| random.float()).collect();
        matrix
    }

    /// The columns of a row's entries, ascending; a point at the border has fewer.
    fn neighbours(&self, row: usize) -> [Option<usize>; 5] {
        let (side, across, down) = (self.side, row % self.side, row / self.side);
        [
            (down > 0).then(|| row - side),
            (across > 0).then(|| row - 1),
            Some(row),
            (across + 1 < side).then(|| row + 1),
            (down + 1 < side).then(|| row + side),
        ]
    }

    fn rows(&self) -> usize {
        self.side * self.side
    }
}

impl Problem for Poisson {
    fn threads(&self) -> usize {
        self.rows()
    }

    fn useful_bytes(&self) -> u64 {
        // x once, since it should stay in the cache; everything else once anyway.
        4 * (self.row_start.len() + 2 * self.values.len() + self.x.len() + self.rows()) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.row_start)),
            Input::Bytes(bytes_of(&self.columns)),
            Input::Bytes(bytes_of(&self.values)),
            Input::Bytes(bytes_of(&self.x)),
            Input::Number(Number::U64(self.rows() as u64)),
        ]
    }

    /// By the grid, not by the columns: what the stored matrix says must agree with the geometry.
    fn output_bytes(&self) -> usize {
        self.rows() * size_of::<f32>()
    }

    fn reference(&self) -> Output {
        let mut values = self.values.iter();
        let mut row_sum = |row| {
            let points = self.neighbours(row).into_iter().flatten();
            points.zip(values.by_ref()).fold(0.0, |sum, (point, value)| sum + value * self.x[point])
        };
        Output::F32((0..self.rows()).map(&mut row_sum).collect())
    }

    unsafe fn run(&self, output: Place) {
        let [row_start, columns] = [&self.row_start, &self.columns].map(|numbers| numbers.as_ptr());
        let [values, x] = [&self.values, &self.x].map(|floats| floats.as_ptr());
        // SAFETY: `new` made the row starts ascend and every column a point; the output is as promised.
        unsafe { each_thread(self, || spmv(output.at(), row_start, columns, values, x, self.rows())) };
    }
}
