//! Which lane has which element of a matrix.

/// `m16n8k16`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
}

impl Shape {
    pub(super) fn parse(word: &str) -> Option<Shape> {
        let (rows, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (columns, depth) = rest.split_once('k')?;
        Some(Shape { rows: rows.parse().ok()?, columns: columns.parse().ok()?, depth: depth.parse().ok()? })
    }

    pub(super) fn is(self, [rows, columns, depth]: [usize; 3]) -> bool {
        self == Shape { rows, columns, depth }
    }
}

/// Where an element is: in which of the products, and in which row (of B: column) and how far along it.
pub(super) type At = (usize, usize, usize);

/// How a warp holds its matrices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// One product of all lanes.
    Whole,
    /// Four products of `f16`, `m8n8k4`, each by eight lanes; whether A has rows, and B columns, in a lane.
    Quads { a_rows: bool, b_columns: bool },
}

impl Layout {
    pub(super) fn products(self) -> usize {
        if matches!(self, Layout::Whole) { 1 } else { 4 }
    }

    /// The row and the column of A of element `i` of a lane, with `of_register` elements in a register.
    pub(super) fn of_a(self, shape: Shape, of_register: usize, lane: usize, i: usize) -> At {
        match self {
            Layout::Whole => whole(of_register, shape.rows / 8, lane, i),
            Layout::Quads { a_rows, .. } => quad(a_rows, lane, i),
        }
    }

    /// The column and the row of B.
    pub(super) fn of_b(self, of_register: usize, lane: usize, i: usize) -> At {
        match self {
            Layout::Whole => whole(of_register, 1, lane, i),
            Layout::Quads { b_columns, .. } => quad(b_columns, lane, i),
        }
    }

    /// The row and the column of C and D, whose elements have `bits` bits.
    pub(super) fn of_c(self, bits: usize, lane: usize, i: usize) -> At {
        let (group, own) = (lane / 4, lane % 4);
        let upper = lane / 16 * 4;
        match self {
            Layout::Whole => (0, group + i / 2 * 8, own * 2 + i % 2),
            Layout::Quads { .. } if bits == 16 => (group % 4, own + upper, i),
            Layout::Quads { .. } => (group % 4, (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)),
        }
    }
}

/// Registers go down the rows first, and then along.
fn whole(of_register: usize, halves: usize, lane: usize, i: usize) -> At {
    let (register, at) = (i / of_register, i % of_register);
    (0, lane / 4 + 8 * (register % halves), lane % 4 * of_register + at + 4 * of_register * (register / halves))
}

/// A lane has four elements of one row, or one of each of four rows.
fn quad(along: bool, lane: usize, i: usize) -> At {
    let (upper, own) = (lane / 16 * 4, lane % 4);
    let (row, column) = if along { (own + upper, i) } else { (i + upper, own) };
    (lane / 4 % 4, row, column)
}
