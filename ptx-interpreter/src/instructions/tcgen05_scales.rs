//! The scales of the elements of a `tcgen05.mma`. They are in tensor memory, in each 32 lanes those of all rows: a column has those
//! of 32 rows.

use super::tcgen05_shape::{Own, Scales, Shape};
use crate::machine::Machine;
use crate::machine::stop::{Result, wrong};
use crate::memory::tensor::{COLUMNS, LANES, Place};
use crate::watch::tensor::Run;

/// Lanes of a warp.
const LANES_OF_WARP: usize = 32;

/// What a block has of scales: of A, and of B, for each of its four parts of 32 lanes and each row (of B: column), along K.
pub(super) struct ScalesOf {
    of_scale: usize,
    parts: [Vec<[Vec<f64>; 2]>; 4],
}

impl ScalesOf {
    pub(super) fn read(
        machine: &mut Machine<'_>,
        block: usize,
        shape: &Shape,
        scales: Scales,
        places: [Place; 2],
        runs: &mut Vec<Run>,
    ) -> Result<ScalesOf> {
        let rows = [shape.rows_of_block(), shape.columns_of_lane()];
        for (place, rows) in places.iter().zip(rows) {
            if place.lane != 0 {
                return Err(wrong("scales do not begin in lane 0"));
            }
            let columns = rows.div_ceil(LANES_OF_WARP);
            machine.has_columns(block, *place, columns)?;
            let run = |lane| Run { block, place: Place { lane, column: place.column }, columns, writes: false };
            runs.extend((0..LANES).map(run));
        }
        let words = &machine.tensor_of(block)?.words;
        let count = shape.depth / scales.of_scale;
        let of = |part: usize, factor: usize, row: usize| {
            let lane = part * LANES_OF_WARP + row % LANES_OF_WARP;
            let word = words[lane * COLUMNS + places[factor].column + row / LANES_OF_WARP];
            let scale = |at: usize| scales.element.number((word >> ((scales.first[factor] + at) * 8) & 0xff).into());
            (0..count).map(scale).collect::<Vec<f64>>()
        };
        let most = rows[0].max(rows[1]);
        let of_row = |part: usize, row: usize| {
            [0, 1].map(|factor| if row < rows[factor] { of(part, factor, row) } else { Vec::new() })
        };
        let parts = [0, 1, 2, 3].map(|part| (0..most).map(|row| of_row(part, row)).collect());
        Ok(ScalesOf { of_scale: scales.of_scale, parts })
    }

    fn scaled(&self, row: &[f64], scales: &[f64]) -> Vec<f64> {
        row.iter().enumerate().map(|(along, number)| number * scales[along / self.of_scale]).collect()
    }

    /// A row of A as a lane multiplies it.
    pub(super) fn of_a(&self, _: &Shape, lane: usize, own: Own, row: &[f64]) -> Vec<f64> {
        self.scaled(row, &self.parts[lane / LANES_OF_WARP][own.row][0])
    }

    /// The columns of B as each 32 lanes multiply them; of columns that they do not multiply, nothing.
    pub(super) fn of_b(&self, shape: &Shape, columns: &[Vec<f64>]) -> [Vec<Vec<f64>>; 4] {
        [0, 1, 2, 3].map(|part| {
            let first = shape.own(part * LANES_OF_WARP).map_or(0, |own| own.first);
            let own = first..first + shape.columns_of_lane();
            let scaled = |(at, column): (usize, &Vec<f64>)| match own.contains(&at) {
                true => self.scaled(column, &self.parts[part][at - first][1]),
                false => Vec::new(),
            };
            columns.iter().enumerate().map(scaled).collect()
        })
    }
}
