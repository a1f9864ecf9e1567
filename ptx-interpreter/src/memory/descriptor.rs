//! Matrices in shared memory, as the descriptors of `wgmma` and `tcgen05` tell where their elements are.

use crate::machine::stop::{Result, Why, stop, wrong};

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
    /// The line of 128 bytes, of eight, at which the pattern of the swizzle begins.
    base: u64,
    /// Whether elements that lie side by side are of one column of K, and not of one row.
    pub(crate) across: bool,
    /// What an element takes.
    bits: u64,
    /// The bits of an element: those of sixteen bytes lie side by side at their beginning.
    width: u64,
}

impl Matrix {
    /// Of `wgmma`.
    pub(crate) fn of(descriptor: u64, across: bool, bits: usize) -> Matrix {
        Matrix::new(descriptor, [1, 8, 4, 2][(descriptor >> 62) as usize], across, bits)
    }

    /// Whether a descriptor has the number that PTX asks for in bits 46 to 48.
    pub(crate) fn is_marked(descriptor: u64) -> bool {
        descriptor >> 46 & 7 == 1
    }

    /// Of `tcgen05`.
    pub(crate) fn of_tcgen05(descriptor: u64, across: bool, bits: usize) -> Result<Matrix> {
        let swizzled = match descriptor >> 61 {
            0 => 1,
            2 => 8,
            4 => 4,
            6 => 2,
            1 => return stop(Why::Gap, "a descriptor of a matrix with a swizzle of 32 bytes at a time"),
            mode => return Err(wrong(format!("a descriptor of a matrix has no swizzle {mode}"))),
        };
        if descriptor >> 52 & 1 == 1 {
            return stop(Why::Gap, "a descriptor of a matrix with an absolute address");
        }
        Ok(Matrix::new(descriptor, swizzled, across, bits))
    }

    fn new(descriptor: u64, swizzled: u64, across: bool, bits: usize) -> Matrix {
        let bytes = |from: u32| (descriptor >> from & 0x3fff) * UNIT;
        let (start, leading, stride) = (bytes(0), bytes(16), bytes(32));
        let base = descriptor >> 49 & 7;
        let bits = bits as u64;
        Matrix { start, leading, stride, swizzled, base, across, bits, width: bits }
    }

    /// With elements that have fewer bits than they take.
    pub(crate) fn of_width(self, width: usize) -> Matrix {
        Matrix { width: width as u64, ..self }
    }

    /// Where the 16 bytes with an element are, and at which bit of them it is: the element at a place along K of a row of A, or
    /// of a column of B.
    pub(crate) fn place(&self, row: usize, along: usize) -> (u64, u32) {
        let (beside, other) = if self.across { (row, along) } else { (along, row) };
        let of_unit = 8 * UNIT / self.bits;
        let (unit, bit) = (beside as u64 / of_unit, beside as u64 % of_unit * self.width);
        let (group, line) = (other as u64 / ROWS, other as u64 % ROWS * UNIT * self.swizzled);
        let offset = match (self.across, self.swizzled) {
            (false, 1) => unit * self.leading + line + group * self.stride,
            (false, _) => unit * UNIT + line + group * self.stride,
            (true, 1) => unit * self.stride + line + group * self.leading,
            (true, all) => unit % all * UNIT + unit / all * self.leading + line + group * self.stride,
        };
        let place = self.start + offset;
        (place ^ (((place >> 7).wrapping_sub(self.base) & (self.swizzled - 1)) * UNIT), bit as u32)
    }

    /// The element of 16 bytes.
    pub(crate) fn element(&self, unit: u128, bit: u32) -> u64 {
        (unit >> bit) as u64 & (u64::MAX >> (64 - self.width))
    }
}
