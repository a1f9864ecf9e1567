//! The elements of matrices in shared memory, which are read in units of 16 bytes.

use std::collections::BTreeMap;

use crate::machine::Machine;
use crate::machine::stop::Result;
use crate::memory::descriptor::Matrix;
use crate::memory::spaces::shared_of;

/// Sixteen bytes of shared memory, by their addresses.
pub(crate) type Units = BTreeMap<u64, u128>;

/// Elements that take as long as an instruction of a warp.
const ELEMENTS: u64 = 8;

impl Machine<'_> {
    /// The elements of some rows of a matrix in a block's shared memory, one after the other.
    pub(crate) fn elements(
        &mut self,
        block: usize,
        matrix: &Matrix,
        (first, count): (usize, usize),
        depth: usize,
        units: &mut Units,
    ) -> Result<Vec<u64>> {
        self.worked((count * depth) as u64 / ELEMENTS)?;
        let base = shared_of(block, self.cluster);
        let mut elements = Vec::with_capacity(count * depth);
        for row in first..first + count {
            for along in 0..depth {
                let (place, bit) = matrix.place(row, along);
                let address = base + place;
                let unit = match units.get(&address) {
                    Some(unit) => *unit,
                    None => {
                        let mut bytes = [0; 16];
                        self.there(address, 16, false)?;
                        self.read_into(address, &mut bytes)?;
                        *units.entry(address).or_insert(u128::from_le_bytes(bytes))
                    }
                };
                elements.push(matrix.element(unit, bit));
            }
        }
        Ok(elements)
    }
}
