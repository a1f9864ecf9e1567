//! Matrices and vectors in device memory: which bytes they are.

use std::ops::Range;

use super::kind::{Kind, Wide};
use super::matrix::{Matrix, Part};
use super::number::Number;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// What CUDA's manual calls it: `A`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) layout: Layout,
    pub(crate) reads: When,
    pub(crate) writes: bool,
}

/// Where the matrices of a batch begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// One after the other: `stride` is the number of bytes from one to the next.
    At { start: u64, stride: i64 },
    /// Where the pointers in device memory say.
    Pointers(u64),
    /// On the host, which waits for the call.
    Host(u64),
}

/// Whether an operand is read: of C it is the question whether `beta` is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Always,
    /// If this scalar of the call is not zero.
    Unless(usize),
}

/// How elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// `row` and `column` are the number of elements from one to the next. A part is stored.
    Strided { row: i64, column: i64, part: Part },
    /// The diagonals from `below` the main one to `above` it.
    Band { below: usize, above: usize, column: i64 },
    /// The columns of a triangle follow each other.
    Packed(Part),
    /// The columns of several dimensions, the slowest one first.
    Grid { row: i64, outer: [Dimension; 3] },
}

/// How many there are, and how many elements lie from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub(crate) count: usize,
    pub(crate) step: i64,
}

/// What is stored of a column.
struct Column {
    rows: Range<usize>,
    /// Where the first one of these is, and how far apart they are, in elements.
    first: i64,
    step: i64,
}

impl Operand {
    /// A matrix that is read, whose columns begin `column` elements apart.
    pub(super) fn matrix(
        name: &'static str,
        kind: Kind,
        start: u64,
        [rows, columns]: [i64; 2],
        column: i64,
    ) -> Operand {
        let (rows, columns) = (rows.max(0) as usize, columns.max(0) as usize);
        let layout = Layout::Strided { row: 1, column, part: Part::Whole };
        let place = Place::At { start, stride: 0 };
        Operand { name, kind, place, rows, columns, layout, reads: When::Always, writes: false }
    }

    /// A vector that is read. With a negative step its first element is the last one in memory.
    pub(super) fn vector(name: &'static str, kind: Kind, start: u64, count: i64, step: i64) -> Operand {
        let back = if step < 0 { (count.max(1) - 1) * -step } else { 0 };
        let start = start.wrapping_add_signed(if start == 0 { 0 } else { back * kind.bytes() as i64 });
        let of = Operand::matrix(name, kind, start, [count, 1], 0);
        Operand { layout: Layout::Strided { row: step, column: 0, part: Part::Whole }, ..of }
    }

    /// One element.
    pub(super) fn scalar(name: &'static str, kind: Kind, start: u64) -> Operand {
        Operand::matrix(name, kind, start, [1, 1], 1)
    }

    pub(super) fn reads(self, reads: When) -> Operand {
        Operand { reads, ..self }
    }

    /// It is written; what it is read for stays.
    pub(super) fn writes(self) -> Operand {
        Operand { writes: true, ..self }
    }

    /// It is written, and not read.
    pub(super) fn result(self) -> Operand {
        Operand { reads: When::Never, writes: true, ..self }
    }

    pub(super) fn part(self, stored: Part) -> Operand {
        let layout = match self.layout {
            Layout::Strided { row, column, .. } => Layout::Strided { row, column, part: stored },
            Layout::Packed(_) => Layout::Packed(stored),
            other @ (Layout::Band { .. } | Layout::Grid { .. }) => other,
        };
        Operand { layout, ..self }
    }

    pub(super) fn layout(self, layout: Layout) -> Operand {
        Operand { layout, ..self }
    }

    /// One of a batch: `elements` is the distance from one matrix to the next.
    pub(super) fn apart(self, elements: i64) -> Operand {
        let Place::At { start, .. } = self.place else { return self };
        Operand { place: Place::At { start, stride: elements * self.kind.bytes() as i64 }, ..self }
    }

    /// Of a batch: by pointers in device memory.
    pub(super) fn by_pointers(self) -> Operand {
        let Place::At { start, .. } = self.place else { return self };
        Operand { place: Place::Pointers(start), ..self }
    }

    /// What messages call it.
    pub(super) fn describe(&self) -> String {
        let Operand { name, rows, columns, .. } = self;
        match (rows, columns) {
            (1, 1) => (*name).to_owned(),
            (rows, 1) => format!("{name} ({rows} elements)"),
            (rows, columns) => format!("{name} ({rows} by {columns})"),
        }
    }

    fn column(&self, at: usize) -> Column {
        let rows_of = |part: Part| match part {
            Part::Whole => 0..self.rows,
            Part::Lower => at.min(self.rows)..self.rows,
            Part::Upper => 0..(at + 1).min(self.rows),
        };
        match self.layout {
            Layout::Strided { row, column, part } => {
                let rows = rows_of(part);
                let first = rows.start as i64 * row + at as i64 * column;
                Column { rows, first, step: row }
            }
            Layout::Band { below, above, column } => {
                let rows = at.saturating_sub(above)..(at + below + 1).min(self.rows);
                let first = (above + rows.start) as i64 - at as i64 + at as i64 * column;
                Column { rows, first, step: 1 }
            }
            Layout::Packed(part) => {
                let first = if part == Part::Lower { at * (2 * self.rows + 1 - at) / 2 } else { at * (at + 1) / 2 };
                Column { rows: rows_of(part), first: first as i64, step: 1 }
            }
            Layout::Grid { row, outer } => {
                let (mut rest, mut first) = (at, 0);
                for Dimension { count, step } in outer.into_iter().rev() {
                    first += (rest % count) as i64 * step;
                    rest /= count;
                }
                Column { rows: 0..self.rows, first, step: row }
            }
        }
    }
}

/// An operand of one member of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) operand: Operand,
    pub(super) start: u64,
}

impl View {
    fn address(&self, element: i64) -> u64 {
        self.start.wrapping_add_signed(element * self.operand.kind.bytes() as i64)
    }

    /// Runs of bytes: where each begins, and how many they are.
    pub(super) fn runs(&self) -> Vec<(u64, usize)> {
        let runs = self.runs_in_order();
        if matches!(self.operand.layout, Layout::Grid { .. }) { joined(runs) } else { runs }
    }

    /// In the order of the elements.
    fn runs_in_order(&self) -> Vec<(u64, usize)> {
        let bytes = self.operand.kind.bytes();
        let mut runs: Vec<(u64, usize)> = Vec::new();
        let mut add = |begin: u64, bytes: usize| match runs.last_mut() {
            Some((last, so_far)) if *last + *so_far as u64 == begin => *so_far += bytes,
            _ => runs.push((begin, bytes)),
        };
        for column in 0..self.operand.columns {
            let Column { rows, first, step } = self.operand.column(column);
            match (rows.len(), step) {
                (0, _) => {}
                (count, 1) => add(self.address(first), count * bytes),
                (count, _) => (0..count as i64).for_each(|row| add(self.address(first + row * step), bytes)),
            }
        }
        runs
    }

    /// Its elements; zeros where nothing is stored.
    pub(super) fn load<T: Number>(&self) -> Matrix<T> {
        let Operand { rows, columns, kind, .. } = self.operand;
        let mut matrix = Matrix::zero(rows, columns);
        for column in 0..columns {
            let Column { rows, first, step } = self.operand.column(column);
            for (number, row) in rows.enumerate() {
                // SAFETY: the call has looked at all bytes of the operand.
                let element = unsafe { kind.read(self.address(first + number as i64 * step)) };
                *matrix.at_mut(row, column) = T::narrow(element);
            }
        }
        matrix
    }

    /// Writes the elements that are stored.
    pub(super) fn store<T: Number>(&self, matrix: &Matrix<T>) {
        self.store_by(|row, column| matrix.at(row, column).wide());
    }

    pub(super) fn store_by(&self, element: impl Fn(usize, usize) -> Wide) {
        for column in 0..self.operand.columns {
            let Column { rows, first, step } = self.operand.column(column);
            for (number, row) in rows.enumerate() {
                let at = self.address(first + number as i64 * step);
                // SAFETY: the call has looked at all bytes of the operand, and nobody else uses them now.
                unsafe { self.operand.kind.write(at, element(row, column)) };
            }
        }
    }
}

/// Runs that meet or overlap are one: batches may lie between each other's elements.
fn joined(mut runs: Vec<(u64, usize)>) -> Vec<(u64, usize)> {
    runs.sort_unstable();
    let mut all: Vec<(u64, usize)> = Vec::new();
    for (begin, bytes) in runs {
        match all.last_mut() {
            Some((last, so_far)) if begin <= *last + *so_far as u64 => {
                *so_far = (*so_far).max((begin - *last) as usize + bytes);
            }
            _ => all.push((begin, bytes)),
        }
    }
    all
}
