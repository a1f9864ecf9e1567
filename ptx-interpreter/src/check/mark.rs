//! An access that was made, and tables of such things.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::machine::lanes::LANES;

/// Bytes that are remembered together.
pub(crate) const CELL: u64 = 4;
/// So many cells of a page.
pub(crate) const CELLS: usize = 256;
/// One more than the scope of a cluster.
const CLUSTER: u8 = 2;
/// All bytes of a cell.
pub(crate) const WHOLE: u8 = 0xf;

/// An access that was made, of threads of one warp at the same place and epoch, or of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The warp in the grid, or the engine.
    pub(crate) who: u32,
    /// Its threads; of an engine, the thread that began it.
    pub(crate) lanes: u32,
    pub(crate) epoch: u32,
    pub(crate) site: u32,
    /// Which of the four bytes; none if there is no access.
    pub(crate) bytes: u8,
    /// Bytes of the whole access, of a strong one.
    pub(crate) size: u8,
    /// One more than the scope of a strong access.
    pub(crate) scope: u8,
    pub(crate) writes: bool,
    pub(crate) is_engine: bool,
    /// By which alias the bytes were named; 0 if by their first address.
    pub(crate) alias: u16,
    pub(crate) row: Row,
}

/// Lanes that access elements at equal distances. A mark with a row is for many cells: in each of them it means the lanes that
/// the row has there, and not all of the mark's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Bytes from an element to the next; 0 if there is no row.
    pub(crate) stride: u32,
    /// Where lane 0 has or would have its element: an address, modulo 32 elements.
    first: u32,
}

impl Row {
    /// No row: each cell says which of the lanes has it.
    pub(crate) const APART: Row = Row { stride: 0, first: 1 };
    /// The largest distance of two elements.
    pub(crate) const STRIDE: u64 = 1 << 26;

    /// The row in which a lane has the element at an address.
    pub(crate) fn new(lane: usize, address: u64, stride: u64) -> Row {
        let all = LANES as u64 * stride;
        // More bytes than a cell has begin with one.
        let begin = if stride < CELL { address } else { address / CELL * CELL };
        Row { stride: stride as u32, first: ((begin % all + all - lane as u64 * stride) % all) as u32 }
    }

    fn lane(self, address: u64) -> usize {
        let (stride, first) = (u64::from(self.stride), u64::from(self.first));
        let all = LANES as u64 * stride;
        ((address % all + all - first) % all / stride) as usize
    }
}

impl Mark {
    /// The marks of a cell that this one means there.
    pub(crate) fn at(self, cell: u64) -> impl Iterator<Item = Mark> {
        let stride = u64::from(self.row.stride);
        let parts = if stride == 0 { 1 } else { CELL.div_ceil(stride) };
        (0..parts).map(move |part| {
            if stride == 0 {
                return self;
            }
            let bytes = if parts == 1 { self.bytes } else { ((1u8 << stride) - 1) << (part * stride) };
            Mark { lanes: 1 << self.row.lane(cell + part * stride), bytes, row: Row::default(), ..self }
        })
    }

    /// Whether it is an atomic's or a reduction's, for more threads than those of a cluster. It may also be a strong store's, but no part of a
    /// launch has one.
    #[inline]
    pub(crate) fn is_change(&self) -> bool {
        self.writes && self.scope > CLUSTER
    }

    /// Whether a cell may have elements of several lanes of its row.
    #[inline]
    pub(crate) fn has_small_rows(&self) -> bool {
        (1..CELL as u32).contains(&self.row.stride)
    }

    /// The lanes that have bytes of a cell.
    #[inline]
    pub(crate) fn lanes_at(&self, cell: u64) -> u32 {
        match self.row.stride {
            0 => self.lanes,
            1..4 => self.at(cell).fold(0, |lanes, mark| lanes | mark.lanes),
            _ => 1 << self.row.lane(cell),
        }
    }

    /// Whether both have the same thread for each byte.
    #[inline]
    pub(crate) fn is_as(&self, other: &Mark) -> bool {
        self.who == other.who
            && self.row == other.row
            && (self.is_engine, self.alias) == (other.is_engine, other.alias)
            && (self.row.stride > 0 || self.lanes == other.lanes && self.lanes.is_power_of_two())
    }
}

impl Hash for Mark {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.who) << 32 | u64::from(self.lanes));
        state.write_u64(u64::from(self.epoch) << 32 | u64::from(self.site) << 4 | u64::from(self.bytes));
        state.write_u64(u64::from(self.row.first) << 32 | u64::from(self.row.stride));
    }
}

#[derive(Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    /// Tables look at the lowest bits, and the highest ones are mixed best.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// Where something is in a table, before that is made to fit.
#[inline]
pub(crate) fn place(what: impl Hash) -> usize {
    let mut hasher = Quick::default();
    what.hash(&mut hasher);
    hasher.finish() as usize
}

pub(crate) type QuickTable<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
pub(crate) type QuickMap<V> = QuickTable<u64, V>;

/// Removes what a table has of some addresses.
pub(crate) fn remove_range<V>(table: &mut QuickMap<V>, begin: u64, bytes: u64) {
    if (table.len() as u64) < bytes {
        table.retain(|place, _| !(begin..begin + bytes).contains(place));
    } else {
        (begin..begin + bytes).for_each(|place| drop(table.remove(&place)));
    }
}
