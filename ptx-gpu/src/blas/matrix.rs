//! Matrices whose columns follow each other, and what is computed with them.

use std::thread;

use super::number::{Number, Strided};

/// Multiplications from which on a product is computed by several threads.
const LARGE: usize = 1 << 24;

#[derive(Clone, Debug)]
pub(super) struct Matrix<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) content: Vec<T>,
}

/// `cublasOperation_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Plain,
    Transposed,
    Adjoint,
}

/// `cublasFillMode_t`: the triangle that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    Lower,
    Upper,
}

impl Part {
    pub(super) fn has(self, row: usize, column: usize) -> bool {
        match self {
            Part::Whole => true,
            Part::Lower => row >= column,
            Part::Upper => row <= column,
        }
    }
}

/// What stands for elements that are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// The elements of the other triangle.
    Symmetric,
    /// Their conjugates. The diagonal is real.
    Hermitian,
    /// Nothing, and in the diagonal ones if it is not stored.
    Triangular { is_unit: bool },
}

impl<T: Number> Matrix<T> {
    pub(super) fn new(rows: usize, columns: usize, element: impl Fn(usize, usize) -> T) -> Matrix<T> {
        let all = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        Matrix { rows, columns, content: all.map(|(row, column)| element(row, column)).collect() }
    }

    pub(super) fn zero(rows: usize, columns: usize) -> Matrix<T> {
        Matrix { rows, columns, content: vec![T::zero(); rows * columns] }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> T {
        self.content[row + column * self.rows]
    }

    pub(super) fn at_mut(&mut self, row: usize, column: usize) -> &mut T {
        &mut self.content[row + column * self.rows]
    }

    pub(super) fn op(self, op: Op) -> Matrix<T> {
        match op {
            Op::Plain => self,
            Op::Transposed => Matrix::new(self.columns, self.rows, |row, column| self.at(column, row)),
            Op::Adjoint => Matrix::new(self.columns, self.rows, |row, column| self.at(column, row).conjugate()),
        }
    }

    /// The whole matrix of which a triangle is stored.
    pub(super) fn filled(&self, part: Part, fill: Fill) -> Matrix<T> {
        Matrix::new(self.rows, self.columns, |row, column| match fill {
            Fill::Triangular { is_unit: true } if row == column => T::one(),
            Fill::Hermitian if row == column => self.at(row, column).real(),
            _ if part.has(row, column) => self.at(row, column),
            Fill::Symmetric => self.at(column, row),
            Fill::Hermitian => self.at(column, row).conjugate(),
            Fill::Triangular { .. } => T::zero(),
        })
    }

    pub(super) fn scaled(mut self, factor: T) -> Matrix<T> {
        self.content.iter_mut().for_each(|element| *element *= factor);
        self
    }

    /// The sum of both, element by element.
    pub(super) fn plus(mut self, other: &Matrix<T>) -> Matrix<T> {
        self.content.iter_mut().zip(&other.content).for_each(|(element, other)| *element += *other);
        self
    }

    pub(super) fn times(&self, other: &Matrix<T>) -> Matrix<T> {
        let (m, k, n) = (self.rows, self.columns, other.columns);
        let mut product = Matrix::zero(m, n);
        if m == 0 || n == 0 {
            return product;
        }
        let threads = if m * n * k < LARGE { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
        let columns = n.div_ceil(threads);
        thread::scope(|scope| {
            for (at, part) in product.content.chunks_mut(columns * m).enumerate() {
                let mut add = move || {
                    let of = |start: &[T]| Strided { start: start.as_ptr(), row: 1, column: m as isize };
                    let a = of(&self.content);
                    let b = Strided { column: k as isize, ..of(&other.content[at * columns * k..]) };
                    let c = Strided { start: part.as_mut_ptr(), row: 1, column: m as isize };
                    // SAFETY: the first has m rows and k columns, the second k rows and these columns, and the part as many.
                    unsafe { T::add_product([m, k, part.len() / m], a, b, c) };
                };
                if threads == 1 { add() } else { drop(scope.spawn(add)) }
            }
        });
        product
    }

    /// Solves `self * x = other`. `part` says which triangle it is.
    pub(super) fn solve(&self, part: Part, mut other: Matrix<T>) -> Matrix<T> {
        let n = self.rows;
        for column in 0..other.columns {
            for step in 0..n {
                let row = if part == Part::Lower { step } else { n - 1 - step };
                let solution = other.at(row, column) / self.at(row, row);
                *other.at_mut(row, column) = solution;
                let rest = if part == Part::Lower { row + 1..n } else { 0..row };
                for below in rest {
                    *other.at_mut(below, column) -= self.at(below, row) * solution;
                }
            }
        }
        other
    }
}

impl Part {
    /// The triangle of what an operation makes of a matrix.
    pub(super) fn after(self, op: Op) -> Part {
        match (self, op) {
            (part, Op::Plain) => part,
            (Part::Lower, _) => Part::Upper,
            (Part::Upper, _) => Part::Lower,
            (Part::Whole, _) => Part::Whole,
        }
    }
}
