//! What the instruction descriptor of a `tcgen05.mma` tells: sizes and types, and where the result is.

use ptx_intrinsics::on_cpu::matrix::Element;

use crate::machine::stop::{Result, Why, stop, wrong};
use crate::memory::tensor::LANES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Half,
    Tf32,
    /// Floats of 4 to 8 bits, each in eight.
    Byte,
    Integer,
    /// The same as bytes, or floats of four bits side by side; and so many of them have a scale.
    Scaled {
        packed: bool,
        of_scale: usize,
    },
}

/// Who multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// A block.
    One,
    /// A block, of which each part multiplies some columns: `.ws`.
    Weights,
    /// A pair of blocks.
    Pair,
}

/// Scales of the elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    pub(super) element: Element,
    /// Elements along K that have one.
    pub(super) of_scale: usize,
    /// The byte of a column that has the first one: of A, and of B.
    pub(super) first: [usize; 2],
}

pub(super) struct Shape {
    /// Blocks that multiply together.
    blocks: usize,
    /// Parts of the lanes that have the same rows, each with some of the columns.
    parts: usize,
    /// Of the whole result.
    rows: usize,
    /// The lane in which the result begins.
    pub(super) from: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
    /// What an element takes, and how much of that it is in shared memory.
    pub(super) bits: usize,
    pub(super) widths: [usize; 2],
    pub(super) elements: [Element; 2],
    pub(super) sum: Element,
    pub(super) saturates: bool,
    /// Whether A and B lie with elements of one column of K side by side.
    pub(super) across: [bool; 2],
    pub(super) negates: [bool; 2],
    pub(super) scales: Option<Scales>,
}

/// What a lane of tensor memory has of a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// Of the rows of its block.
    pub(super) row: usize,
    /// The column of the result that is in the first one of the lane.
    pub(super) first: usize,
}

/// A name of a type, and its bits in shared memory.
type Name = (&'static str, usize);

fn field(word: u32, from: u32, bits: u32) -> usize {
    (word >> from & ((1 << bits) - 1)) as usize
}

fn gap<T>(what: &str) -> Result<T> {
    stop(Why::Gap, format!("tcgen05.mma {what}"))
}

impl Kind {
    /// What an element takes, the type of the sum, and those of A and B by their numbers.
    fn types(self, word: u32) -> Result<(usize, &'static str, &'static [Name])> {
        const SMALL: &[Name] = &[("e4m3", 8), ("e5m2", 8), ("", 0), ("e2m3", 6), ("e3m2", 6), ("e2m1", 4)];
        Ok(match (self, field(word, 4, 2)) {
            (Kind::Half, 1) => (16, "f32", &[("f16", 16), ("bf16", 16)]),
            (Kind::Half, 0) => (16, "f16", &[("f16", 16)]),
            (Kind::Byte, 0) => (8, "f16", SMALL),
            (Kind::Tf32, 1) => (32, "f32", &[("", 0), ("", 0), ("tf32", 32)]),
            (Kind::Byte, 1) | (Kind::Scaled { packed: false, .. }, _) => (8, "f32", SMALL),
            (Kind::Integer, 2) => (8, "s32", &[("u8", 8), ("s8", 8)]),
            (Kind::Scaled { packed: true, .. }, _) => (4, "f32", &[("", 0), ("e2m1", 4)]),
            _ => return Err(wrong("the instruction descriptor has another type of D than the kind")),
        })
    }

    fn scales(self, word: u32) -> Result<Option<Scales>> {
        let Kind::Scaled { packed, of_scale } = self else { return Ok(None) };
        if field(word, 31, 1) == 1 {
            return gap("of a depth of 96");
        }
        let name = if field(word, 23, 1) == 1 { "ue8m0" } else { "ue4m3" };
        if name == "ue4m3" && of_scale != 16 {
            return Err(wrong("scales of ue4m3 are for 16 elements each"));
        }
        let first = [field(word, 29, 2), field(word, 4, 2)];
        let step = if packed { 64 / of_scale } else { 1 };
        if first.iter().any(|first| first % step != 0) {
            return Err(wrong(format!("the scales of a product begin at byte {first:?} of a column")));
        }
        let element = Element::parse(name).ok_or_else(|| wrong("no type of scales"))?;
        Ok(Some(Scales { element, of_scale, first }))
    }
}

impl Shape {
    pub(super) fn of(kind: Kind, sharing: Sharing, word: u32) -> Result<Shape> {
        if field(word, 2, 1) == 1 {
            return gap("of sparse matrices");
        }
        let (bits, sum, names) = kind.types(word)?;
        let scales = kind.scales(word)?;
        let of = |from: u32, bits: u32| match names.get(field(word, from, bits)) {
            Some(name) if name.1 > 0 => Ok(*name),
            _ => Err(wrong("the instruction descriptor has a type of A or B that the kind has not")),
        };
        // Of elements side by side the type of B has two bits, and the third one says nothing of whole matrices.
        let (a, b) = (of(7, 3)?, of(10, if matches!(kind, Kind::Scaled { packed: true, .. }) { 2 } else { 3 })?);
        if bits == 16 && a != b {
            return Err(wrong("A and B are not of one type"));
        }
        let (columns, rows) = (field(word, 17, 6) * 8, field(word, 24, 5) * 16);
        let step = match sharing {
            Sharing::One => 8,
            Sharing::Weights => 64,
            _ => 16,
        };
        let has_rows = match sharing {
            Sharing::One => rows == 128 || rows == 64 && scales.is_none(),
            Sharing::Weights => matches!(rows, 32 | 64 | 128),
            Sharing::Pair => matches!(rows, 128 | 256),
        };
        let (blocks, parts) = match sharing {
            Sharing::One => (1, 1),
            Sharing::Weights => (1, LANES / rows.clamp(32, LANES)),
            Sharing::Pair => (2, if rows == 128 { 2 } else { 1 }),
        };
        if sharing == Sharing::Weights && field(word, 30, 2) != 0 {
            return gap("with columns of B that are used again");
        }
        if !has_rows || columns == 0 || columns % step != 0 || columns > 256 {
            let who = if blocks == 1 { "one block" } else { "a pair of blocks" };
            return Err(wrong(format!("there is no product of {rows} rows and {columns} columns for {who}")));
        }
        let bit = |at: u32| field(word, at, 1) == 1;
        let across = [bit(15), bit(16)];
        if across[0] && a.1 < 8 || across[1] && b.1 < 8 {
            return Err(wrong("elements of less than 8 bits lie with those of a row side by side"));
        }
        let element = |name: &str| Element::parse(name).ok_or_else(|| wrong("the instruction descriptor has no type"));
        Ok(Shape {
            blocks,
            parts,
            rows,
            from: 0,
            columns,
            depth: 256 / bits,
            bits,
            widths: [a.1, b.1],
            elements: [element(a.0)?, element(b.0)?],
            sum: element(sum)?,
            saturates: bit(3),
            across,
            negates: [bit(13), bit(14)],
            scales,
        })
    }

    /// Of a result that begins in this lane: 64 rows may be in the second sixteen lanes of each warp.
    pub(super) fn beginning_in(self, from: usize) -> Result<Shape> {
        match from {
            0 => Ok(self),
            16 if !self.fills_lanes() => Ok(Shape { from, ..self }),
            _ => Err(wrong("the result does not begin in lane 0, or, with 64 rows of one block, in lane 16")),
        }
    }

    /// Rows of a block.
    pub(super) fn rows_of_block(&self) -> usize {
        self.rows / self.blocks
    }

    /// Whether the lanes of a part have all rows of the block.
    pub(super) fn fills_lanes(&self) -> bool {
        self.rows_of_block() * self.parts == LANES
    }

    /// Columns of a lane.
    pub(super) fn columns_of_lane(&self) -> usize {
        self.columns / self.parts
    }

    /// What a lane has of the result.
    pub(super) fn own(&self, lane: usize) -> Option<Own> {
        if self.fills_lanes() {
            let rows = self.rows_of_block();
            return Some(Own { row: lane % rows, first: lane / rows * self.columns_of_lane() });
        }
        (lane % 32 / 16 == self.from / 16).then(|| Own { row: lane / 32 * 16 + lane % 16, first: 0 })
    }

    /// The lanes that have something of the result.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (usize, Own)> + '_ {
        (0..LANES).filter_map(|lane| Some((lane, self.own(lane)?)))
    }

    /// An element of a factor, of its bits in shared memory.
    pub(super) fn number(&self, factor: usize, bits: u64) -> f64 {
        // Four bits are in the middle of their byte.
        let bits = if self.widths[factor] == 4 { bits << 2 } else { bits };
        self.number_of_container(factor, bits)
    }

    /// An element of a factor that has as many bits as it takes.
    pub(super) fn number_of_container(&self, factor: usize, bits: u64) -> f64 {
        let number = self.elements[factor].number(bits);
        if self.negates[factor] { -number } else { number }
    }
}
