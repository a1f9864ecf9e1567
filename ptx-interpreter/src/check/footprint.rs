//! Which bytes of the memory outside some blocks of a launch have used: whether others have to do with them.

use super::checks::Checks;
use super::mark::{CELL, CELLS, Mark, QuickMap, WHOLE};
use super::shadow::{Cell, PAGE, Page};
use crate::memory::spaces::{Owner, owner};

/// For each byte of a page of the shadow a bit.
pub(crate) type Bytes = [u64; PAGE as usize / 64];

/// How the bytes of a page are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) reads: Bytes,
    pub(crate) writes: Bytes,
    /// Most pages have none.
    pub(crate) changes: Option<Box<Changes>>,
}

/// Bytes that atomics for the whole GPU change, and the sizes of these atomics: the two lowest bits of the logarithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) bytes: Bytes,
    sizes: [Bytes; 2],
}

/// The pages by their first addresses.
pub(crate) type Footprint = QuickMap<Touched>;

/// Of each bit of a half a nibble.
const NIBBLES: u64 = 0x1111_1111_1111_1111;

/// Four bits for each of sixteen.
fn spread(bits: u64) -> u64 {
    let mut bits = bits & 0xffff;
    for (shift, mask) in
        [(24, 0x0000_00ff_0000_00ff), (12, 0x000f_000f_000f_000f), (6, 0x0303_0303_0303_0303), (3, NIBBLES)]
    {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

/// Some bytes of cells, of which each has a bit.
fn add_cells(to: &mut Bytes, cells: &[u64; CELLS / 64], bytes: u8) {
    for (word, to) in to.iter_mut().enumerate() {
        *to |= spread(cells[word / 4] >> (word % 4 * 16)) * u64::from(bytes);
    }
}

fn add(to: &mut Bytes, cell: usize, bytes: u8) {
    to[cell / 16] |= u64::from(bytes) << (cell % 16 * 4);
}

fn meet(one: &Bytes, other: &Bytes) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

impl Touched {
    /// Whether no byte is written by one and used by the other, unless both change it by atomics of the same size.
    pub(crate) fn goes_with(&self, other: &Touched) -> bool {
        let avoids = |one: &Touched, other: &Touched| {
            let is_used = |bytes: &Bytes| meet(bytes, &other.reads) || meet(bytes, &other.writes);
            !is_used(&one.writes) && !one.changes.as_ref().is_some_and(|changes| is_used(&changes.bytes))
        };
        let changes = self.changes.as_ref().zip(other.changes.as_ref());
        avoids(self, other) && avoids(other, self) && changes.is_none_or(|(one, other)| one.goes_with(other))
    }

    pub(crate) fn join(&mut self, other: &Touched) {
        join(&mut self.reads, &other.reads);
        join(&mut self.writes, &other.writes);
        if let Some(others) = &other.changes {
            let own = self.changes.get_or_insert_default();
            join(&mut own.bytes, &others.bytes);
            own.sizes.iter_mut().zip(&others.sizes).for_each(|(own, other)| join(own, other));
        }
    }
}

impl Changes {
    fn goes_with(&self, other: &Changes) -> bool {
        let other_size = |at: usize| (0..2).fold(0, |all, bit| all | (self.sizes[bit][at] ^ other.sizes[bit][at]));
        (0..self.bytes.len()).all(|at| self.bytes[at] & other.bytes[at] & other_size(at) == 0)
    }

    /// Bytes of a cell that an atomic of a size changes.
    fn add(&mut self, cell: usize, bytes: u8, size: u8) {
        add(&mut self.bytes, cell, bytes);
        let of_size = self.sizes.iter_mut().enumerate().filter(|(bit, _)| size.trailing_zeros() >> bit & 1 == 1);
        of_size.for_each(|(_, sizes)| add(sizes, cell, bytes));
    }
}

fn join(own: &mut Bytes, other: &Bytes) {
    own.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
}

impl Checks {
    /// What was used of the memory outside, and of the module's. None if not all of it was remembered.
    pub(crate) fn footprint(&self) -> Option<Footprint> {
        if self.forgets.get() || self.shadow.forgets() {
            return None;
        }
        let mut all = Footprint::default();
        for (begin, page) in self.shadow.in_order().filter(|(begin, _)| is_outside(*begin)) {
            all.insert(begin, self.touched(begin, page));
        }
        for (map, bytes) in self.maps.iter().filter(|(map, _)| is_outside(**map)) {
            for at in (*map..map + bytes).step_by(CELL as usize) {
                add(&mut all.entry(at / PAGE * PAGE).or_default().reads, (at % PAGE / CELL) as usize, WHOLE);
            }
        }
        Some(all)
    }

    fn touched(&self, begin: u64, page: &Page) -> Touched {
        let mut touched = Touched::default();
        for reading in page.readings() {
            let mark = reading.mark();
            if mark.has_small_rows() {
                reading.cells().for_each(|(cell, mark)| touched.add(&mark, begin, cell));
            } else {
                add_cells(&mut touched.reads, reading.own_cells(), mark.bytes);
                reading.other_cells().for_each(|cell| add(&mut touched.reads, cell, mark.bytes));
            }
        }
        let mut cell = 0;
        for part in page.cells.chunk_by(|one, other| one == other && !one.has_more()) {
            self.add_marks(&mut touched, begin, cell..cell + part.len(), part[0]);
            cell += part.len();
        }
        // A read by `.nc` is of the whole cell.
        for (cell, _) in page.constant.iter().flat_map(|all| all.iter().enumerate()).filter(|(_, site)| **site != 0) {
            add(&mut touched.reads, cell, WHOLE);
        }
        touched
    }

    /// The marks of neighbouring cells, which have the same.
    fn add_marks(&self, touched: &mut Touched, begin: u64, cells: std::ops::Range<usize>, own: Cell) {
        if own == Cell::default() {
            return;
        }
        self.shadow.each_mark(own, |mark| cells.clone().for_each(|cell| touched.add(mark, begin, cell)));
    }
}

impl Touched {
    fn add(&mut self, mark: &Mark, page: u64, cell: usize) {
        let bytes = match mark.has_small_rows() {
            true => mark.at(page + cell as u64 * CELL).fold(0, |bytes, mark| bytes | mark.bytes),
            false => mark.bytes,
        };
        match (mark.is_change(), mark.writes) {
            (true, _) => self.changes.get_or_insert_default().add(cell, bytes, mark.size),
            (false, true) => add(&mut self.writes, cell, bytes),
            (false, false) => add(&mut self.reads, cell, bytes),
        }
    }
}

/// Whether nothing but atomics for the whole GPU have used some bytes of one page.
pub(crate) fn are_changes(footprint: &Footprint, address: u64, bytes: usize) -> bool {
    let Some(touched) = footprint.get(&(address / PAGE * PAGE)) else { return false };
    let of = |all: &Bytes| all[(address % PAGE / 64) as usize] >> (address % 64) & (u64::MAX >> (64 - bytes));
    let changes = touched.changes.as_ref().map_or(0, |changes| of(&changes.bytes));
    changes == u64::MAX >> (64 - bytes) && of(&touched.reads) | of(&touched.writes) == 0
}

fn is_outside(address: u64) -> bool {
    matches!(owner(address, 1).0, Owner::Outside | Owner::Module)
}

const _: () = assert!(PAGE == 64 * size_of::<Bytes>() as u64 / 8 && CELL == 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_bytes() {
        assert_eq!(spread(0b1010_0000_0000_0011), 0x1010_0000_0000_0011);
        let (mut bytes, mut one_by_one) = (Bytes::default(), Bytes::default());
        let cells = [0x8000_0000_0000_0001, 0x10, 0, 0x1234_5678_9abc_def0];
        for cell in (0..CELLS).filter(|cell| cells[cell / 64] >> (cell % 64) & 1 == 1) {
            add(&mut one_by_one, cell, 0b0110);
        }
        add_cells(&mut bytes, &cells, 0b0110);
        assert_eq!(bytes, one_by_one);
    }
}
