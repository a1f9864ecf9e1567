//! Matrices in shared memory, as the descriptors of `wgmma` tell where their elements are.

use crate::stop::{Result, Why, stop};

/// Bytes of a row of a core matrix, and its rows.
const UNIT: u64 = 16;
const ROWS: u64 = 8;

/// A matrix of which a descriptor tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    /// Offsets in shared memory.
    start: u64,
    leading: u64,
    stride: u64,
    /// Units that a swizzle permutes; one without a swizzle.
    swizzled: u64,
    /// Whether elements that lie side by side are of one column of K, and not of one row.
    pub(crate) across: bool,
    /// Of an element.
    bits: u64,
}

impl Matrix {
    pub(crate) fn of(descriptor: u64, across: bool, bits: usize) -> Result<Matrix> {
        let bytes = |from: u32| (descriptor >> from & 0x3fff) * UNIT;
        if descriptor >> 49 & 7 != 0 {
            return stop(Why::Gap, "a descriptor of a matrix with a base offset");
        }
        let swizzled = [1, 8, 4, 2][(descriptor >> 62) as usize];
        let (start, leading, stride) = (bytes(0), bytes(16), bytes(32));
        Ok(Matrix { start, leading, stride, swizzled, across, bits: bits as u64 })
    }

    /// Where the 16 bytes with an element are, and at which bit of them it is: the element at a place along K of a row of A, or
    /// of a column of B.
    pub(crate) fn place(&self, row: usize, along: usize) -> (u64, u32) {
        let (beside, other) = if self.across { (row, along) } else { (along, row) };
        let of_unit = 8 * UNIT / self.bits;
        let (unit, bit) = (beside as u64 / of_unit, beside as u64 % of_unit * self.bits);
        let (group, line) = (other as u64 / ROWS, other as u64 % ROWS * UNIT * self.swizzled);
        let offset = match (self.across, self.swizzled) {
            (false, 1) => unit * self.leading + line + group * self.stride,
            (false, _) => unit * UNIT + line + group * self.stride,
            (true, 1) => unit * self.stride + line + group * self.leading,
            (true, all) => unit % all * UNIT + unit / all * self.leading + line + group * self.stride,
        };
        let place = self.start + offset;
        (place ^ ((place >> 7 & (self.swizzled - 1)) * UNIT), bit as u32)
    }

    /// The element of 16 bytes.
    pub(crate) fn element(&self, unit: u128, bit: u32) -> u64 {
        (unit >> bit) as u64 & (u64::MAX >> (64 - self.bits))
    }
}
