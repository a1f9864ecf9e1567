//! The sizes of a transform, and where its elements lie.

use super::status::{INVALID_SIZE, INVALID_VALUE};
use super::types::{Form, Type};
use crate::blas::grid::Grid;
use crate::blas::{Dimension, Kind};
use crate::status::Result;

/// Dimensions that a transform has at most. One of fewer has others of one element before them.
pub(super) const MOST: usize = 3;

/// How the elements of a side lie, as a program says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) embed: [i64; MOST],
    pub(super) stride: i64,
    pub(super) distance: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) kind: Type,
    pub(super) sizes: [usize; MOST],
    pub(super) batch: usize,
    /// Of the input and the output.
    given: Option<[Given; 2]>,
}

/// Sizes after ones.
pub(super) fn after_ones(sizes: &[i64]) -> Result<[i64; MOST]> {
    if sizes.is_empty() || sizes.len() > MOST {
        return Err(INVALID_VALUE);
    }
    let mut all = [1; MOST];
    all[MOST - sizes.len()..].copy_from_slice(sizes);
    Ok(all)
}

impl Shape {
    pub(super) fn new(kind: Type, sizes: &[i64], batch: i64, given: Option<[Given; 2]>) -> Result<Shape> {
        let sizes = after_ones(sizes)?;
        let is_positive = |number: &i64| *number > 0;
        if !sizes.iter().chain([&batch]).all(is_positive) {
            return Err(INVALID_SIZE);
        }
        let placed = given.iter().flatten();
        if !placed.clone().all(|side| side.stride > 0 && side.distance >= 0 && side.embed.iter().all(is_positive)) {
            return Err(INVALID_VALUE);
        }
        // The last byte of each side has an address.
        let most = |numbers: &[i64]| numbers.iter().try_fold(32i64, |product, number| product.checked_mul(*number));
        let is_small = |numbers: &[i64]| most(numbers).is_some();
        let is_placed = |side: &Given| {
            let [_, middle, inner] = side.embed;
            is_small(&[side.stride, sizes[0], middle, inner]) && is_small(&[side.distance, batch])
        };
        if !is_small(&[sizes[0], sizes[1], sizes[2], batch]) || !placed.clone().all(is_placed) {
            return Err(INVALID_SIZE);
        }
        Ok(Shape { kind, sizes: sizes.map(|size| size as usize), batch: batch as usize, given })
    }

    /// How many elements of the last dimension are stored of complex numbers.
    pub(super) fn half(&self) -> usize {
        let last = self.sizes[MOST - 1];
        if self.kind.form == Form::Complex { last } else { last / 2 + 1 }
    }

    /// How many bytes the plan works in.
    pub(super) fn work_size(&self) -> usize {
        let complex = if self.kind.is_double { 16 } else { 8 };
        self.batch * self.sizes[0] * self.sizes[1] * self.half() * complex
    }

    /// The input and the output. A program that does not say how they lie has them one after the other, and real ones take the place
    /// of complex ones if they are the same memory.
    pub(super) fn grids(&self, [from, to]: [u64; 2]) -> [Grid; 2] {
        let [input, output] = self.kind.kinds();
        let is_in_place = from == to;
        [self.grid(0, from, input, is_in_place), self.grid(1, to, output, is_in_place)]
    }

    fn grid(&self, side: usize, start: u64, kind: Kind, is_in_place: bool) -> Grid {
        let [first, second, last] = self.sizes;
        let is_real = matches!(kind, Kind::F32 | Kind::F64);
        let inner = if is_real { last } else { self.half() };
        let Given { embed, stride, distance } = self.given.map_or_else(
            || {
                let row = if is_real && is_in_place { 2 * self.half() } else { inner };
                let embed = [first, second, row].map(|size| size as i64);
                Given { embed, stride: 1, distance: embed.iter().product() }
            },
            |given| given[side],
        );
        let row = stride * embed[2];
        let dimension = |count, step| Dimension { count, step };
        let dimensions = [
            dimension(self.batch, distance),
            dimension(first, row * embed[1]),
            dimension(second, row),
            dimension(inner, stride),
        ];
        Grid { start, kind, dimensions }
    }
}
