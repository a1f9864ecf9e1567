//! `mma.sync`: a warp multiplies two matrices and adds a third.
//!
//! Integers are exact, and wrap or saturate once. `f64` is a chain of fused multiply-adds along the depth, which begins with C.
//! Of all other floats, products are exact, and are summed as an H100 does it: see `steps`. For some instructions that is not known;
//! of these the sum is made in `f64` and rounded once. On another GPU a sum that needs more bits than the result has may differ in
//! its last bits.

use alloc::vec;
use alloc::vec::Vec;

use super::element::Element;
use super::layout::{At, Layout, Shape};
use super::steps::{self, Steps, Terms};

/// The matrices of `d = a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The result.
    D,
    /// The first factor.
    A,
    /// The second factor.
    B,
    /// What is added.
    C,
}

/// The matrices of an operand, row by row (of B: column by column), of each product.
pub(super) type Matrices = Vec<Vec<Vec<f64>>>;

/// An `mma.sync`.
#[derive(Debug)]
pub struct Product {
    shape: Shape,
    layout: Layout,
    a: Element,
    b: Element,
    /// What is added.
    from: Element,
    to: Element,
    saturates: bool,
    /// Bits count where they differ.
    differ: bool,
    steps: Steps,
    /// The rounding of `f64`, as PTX writes it.
    pub rounding: &'static str,
}

impl Product {
    /// The instruction of these words, if ptxas takes it.
    pub fn parse(words: &[&str]) -> Option<Product> {
        if let ["mma", "sync", "aligned", kind @ "kind::f8f6f4", shape, a, b, rest @ ..] = words {
            let moved: Vec<&str> =
                ["mma", "sync", "aligned", *shape, *a, *b, *kind].into_iter().chain(rest.iter().copied()).collect();
            return Product::parse(&moved);
        }
        let ["mma", "sync", "aligned", shape, a_major @ ("row" | "col"), b_major @ ("row" | "col"), rest @ ..] = words
        else {
            return None;
        };
        let (rest, bits) = match rest {
            [rest @ .., bits @ ("and" | "xor"), "popc"] => (rest, Some(*bits)),
            _ => (rest, None),
        };
        let [modifiers @ .., to, a, b, from] = rest else { return None };
        let shape = Shape::parse(shape)?;
        let of = Element::parse;
        let (to, a, b, from) = (of(to)?, of(a)?, of(b)?, of(from)?);
        let known = are_multiplied(shape, a, b, modifiers.contains(&"kind::f8f6f4")) && are_summed(shape, a, from, to);
        if !known || bits.is_some() != (a == Element::Bit) {
            return None;
        }
        let quads = a == Element::Float(16) && shape.is([8, 8, 4]);
        let layout = match (*a_major, *b_major) {
            (a, b) if quads => Layout::Quads { a_rows: a == "row", b_columns: b == "col" },
            ("row", "col") => Layout::Whole,
            _ => return None,
        };
        let differ = bits == Some("xor");
        let steps = match quads {
            true => Steps::Fused,
            false if modifiers.contains(&"kind::f8f6f4") => Steps::Exact,
            false => steps::of_warp(a),
        };
        let mut product = Product { shape, layout, a, b, from, to, saturates: false, differ, steps, rounding: "rn" };
        for word in modifiers {
            match *word {
                "satfinite" if to == Element::Signed(32) && a != Element::Bit => product.saturates = true,
                "kind::f8f6f4" if matches!(a, Element::Small(_)) => {}
                _ if a == Element::Float(64) => {
                    product.rounding = ["rn", "rz", "rm", "rp"].into_iter().find(|known| known == word)?;
                }
                _ => return None,
            }
        }
        Some(product)
    }

    /// As it is part of a `wgmma`.
    #[must_use]
    pub fn of_four_warps(self) -> Product {
        Product { steps: steps::of_four_warps(self.a), ..self }
    }

    /// `m16n8`, as it is part of a product with scales, or of a sparse matrix. The sum is rounded once.
    pub(super) fn of_part(depth: usize, [a, b, sum]: [Element; 3]) -> Product {
        let shape = Shape { rows: 16, columns: 8, depth };
        let (layout, steps, rounding) = (Layout::Whole, Steps::Exact, "rn");
        Product { shape, layout, a, b, from: sum, to: sum, saturates: false, differ: false, steps, rounding }
    }

    pub(super) fn saturating(self) -> Product {
        Product { saturates: true, ..self }
    }

    fn element(&self, operand: Operand) -> Element {
        match operand {
            Operand::D => self.to,
            Operand::A => self.a,
            Operand::B => self.b,
            Operand::C => self.from,
        }
    }

    /// How many elements of a matrix a lane has.
    fn elements(&self, operand: Operand) -> usize {
        let Shape { rows, columns, depth } = self.shape;
        let all = match operand {
            Operand::A => rows * depth,
            Operand::B => depth * columns,
            Operand::C | Operand::D => rows * columns,
        };
        all * self.layout.products() / 32
    }

    /// In how many registers.
    pub fn registers(&self, operand: Operand) -> usize {
        self.elements(operand) / self.element(operand).of_register()
    }

    /// In which product element `i` of a lane is, and in which row (of B: column) and how far along it.
    fn place(&self, operand: Operand, lane: usize, i: usize) -> At {
        let element = self.element(operand);
        match operand {
            Operand::A => self.layout.of_a(self.shape, element.of_register(), lane, i),
            Operand::B => self.layout.of_b(element.of_register(), lane, i),
            Operand::C | Operand::D => self.layout.of_c(element.bits(), lane, i),
        }
    }

    /// The elements that a register of a lane has: of each its row (of B: its column), and its place along that.
    pub fn places(&self, operand: Operand, lane: usize, number: usize) -> impl Iterator<Item = (usize, usize)> {
        let of_register = self.element(operand).of_register();
        (0..of_register).map(move |at| {
            let (_, row, along) = self.place(operand, lane, number * of_register + at);
            (row, along)
        })
    }

    /// A register of a factor, of the bits of its elements. `bits` gives those of a row (of B: a column) and a place along it.
    pub fn register(&self, operand: Operand, lane: usize, number: usize, bits: impl Fn(usize, usize) -> u64) -> u64 {
        let (of_element, places) = (self.element(operand).bits(), self.places(operand, lane, number));
        let parts = places.enumerate().map(|(at, (row, along))| bits(row, along) << (at * of_element));
        parts.fold(0, |whole, part| whole | part)
    }

    /// The registers of D of each lane. `register` gives those of A, B and C by the lane and a number; `fused` is the
    /// multiply-add of `f64`, rounded as the instruction says.
    pub fn result(
        &self,
        lanes: impl Iterator<Item = usize>,
        register: impl Fn(Operand, usize, usize) -> u64,
        fused: impl Fn(f64, f64, f64) -> f64,
    ) -> Vec<Vec<u64>> {
        self.result_with(lanes, register, fused, |_, _, _| 1.0)
    }

    /// The same, where each number of A and B is multiplied by a scale: that of an operand, a row (of B: a column) and a place along it.
    pub(super) fn result_with(
        &self,
        lanes: impl Iterator<Item = usize>,
        register: impl Fn(Operand, usize, usize) -> u64,
        fused: impl Fn(f64, f64, f64) -> f64,
        scale: impl Fn(Operand, usize, usize) -> f64,
    ) -> Vec<Vec<u64>> {
        let [mut a, mut b, c] = [Operand::A, Operand::B, Operand::C].map(|operand| self.matrices(operand, &register));
        for (operand, matrices) in [(Operand::A, &mut a), (Operand::B, &mut b)] {
            for (row, numbers) in matrices.iter_mut().flat_map(|matrix| matrix.iter_mut().enumerate()) {
                numbers.iter_mut().enumerate().for_each(|(along, number)| *number *= scale(operand, row, along));
            }
        }
        self.results(lanes, [&a, &b, &c], fused)
    }

    /// The registers of D, of the matrices.
    pub(super) fn results(
        &self,
        lanes: impl Iterator<Item = usize>,
        [a, b, c]: [&Matrices; 3],
        fused: impl Fn(f64, f64, f64) -> f64,
    ) -> Vec<Vec<u64>> {
        let of_lane = |lane: usize| {
            let values: Vec<u64> = (0..self.elements(Operand::D))
                .map(|i| {
                    let (product, row, column) = self.place(Operand::D, lane, i);
                    self.sum(c[product][row][column], &a[product][row], &b[product][column], &fused)
                })
                .collect();
            let registers = values.chunks(self.to.of_register());
            let whole = |parts: &[u64]| parts.iter().rev().fold(0, |whole, part| whole << (self.to.bits() % 64) | part);
            registers.map(whole).collect()
        };
        lanes.map(of_lane).collect()
    }

    /// Of each element of D of each lane of a warp the sum that it is before it is rounded, and the sum of the magnitudes of what
    /// is added. The sum is exact but for some last bits of an `f64`.
    pub fn sums(&self, register: impl Fn(Operand, usize, usize) -> u64) -> Vec<Vec<(f64, f64)>> {
        let [a, b, c] = [Operand::A, Operand::B, Operand::C].map(|operand| self.matrices(operand, &register));
        let sum = |lane: usize, i: usize| {
            let (product, row, column) = self.place(Operand::D, lane, i);
            let pairs = a[product][row].iter().zip(&b[product][column]).take(self.shape.depth);
            precise(core::iter::once(c[product][row][column]).chain(pairs.map(|(a, b)| a * b)))
        };
        (0..32).map(|lane| (0..self.elements(Operand::D)).map(|i| sum(lane, i)).collect()).collect()
    }

    /// The matrices of an operand, row by row (of B: column by column), of each product.
    pub(super) fn matrices(&self, operand: Operand, register: impl Fn(Operand, usize, usize) -> u64) -> Matrices {
        let element = self.element(operand);
        let (bits, of_register) = (element.bits(), element.of_register());
        let (rows, along) = (self.shape.rows.max(self.shape.columns), self.shape.depth.max(self.shape.columns));
        let mut matrices = vec![vec![vec![0.0; along]; rows]; self.layout.products()];
        for lane in 0..32 {
            for number in 0..self.registers(operand) {
                let value = register(operand, lane, number);
                for at in 0..of_register {
                    let (product, row, along) = self.place(operand, lane, number * of_register + at);
                    let bits = value >> (at * bits) & (u64::MAX >> (64 - bits));
                    matrices[product][row][along] = element.number(bits);
                }
            }
        }
        matrices
    }

    /// One element of the result.
    fn sum(&self, added: f64, row: &[f64], column: &[f64], fused: impl Fn(f64, f64, f64) -> f64) -> u64 {
        let pairs = row.iter().zip(column).take(self.shape.depth);
        if self.a == Element::Float(64) {
            return pairs.fold(added, |sum, (a, b)| fused(*a, *b, sum)).to_bits();
        }
        if self.steps != Steps::Exact {
            let depth = self.shape.depth;
            let (row, column) = (&row[..depth], &column[..depth]);
            let terms = Terms { to: self.to, from: self.from, factors: [self.a, self.b], added, row, column };
            if let Some(sum) = terms.sum(self.steps) {
                return sum;
            }
        }
        let product = |(a, b): (&f64, &f64)| if self.differ { f64::from(u8::from(a != b)) } else { a * b };
        self.to.rounded(added + pairs.map(product).sum::<f64>(), self.saturates)
    }
}

/// A sum, and that of the magnitudes. What is lost by rounding is added in the end (Neumaier's sum).
fn precise(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut lost, mut magnitude) = (0.0f64, 0.0, 0.0);
    for number in numbers {
        let next = sum + number;
        lost += if sum.abs() >= number.abs() { (sum - next) + number } else { (number - next) + sum };
        (sum, magnitude) = (next, magnitude + number.abs());
    }
    (if sum.is_finite() { sum + lost } else { sum }, magnitude)
}

/// Whether there is an instruction that multiplies matrices of that shape and of those types.
fn are_multiplied(shape: Shape, a: Element, b: Element, of_any_size: bool) -> bool {
    use Element::{Bit, Brain, Float, Signed, Small, Tf32, Unsigned};

    let shapes: &[[usize; 3]] = match (a, b) {
        (a, b) if a.is_fp8() && b.is_fp8() => &[[16, 8, 16], [16, 8, 32]],
        (Small(_), Small(_)) if of_any_size => &[[16, 8, 32]],
        (Signed(8) | Unsigned(8), Signed(8) | Unsigned(8)) => &[[8, 8, 16], [16, 8, 16], [16, 8, 32]],
        (Signed(4) | Unsigned(4), Signed(4) | Unsigned(4)) => &[[8, 8, 32], [16, 8, 32], [16, 8, 64]],
        (Float(16), Float(16)) => &[[8, 8, 4], [16, 8, 8], [16, 8, 16]],
        (Brain, Brain) => &[[16, 8, 8], [16, 8, 16]],
        (Tf32, Tf32) => &[[16, 8, 4], [16, 8, 8]],
        (Bit, Bit) => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
        (Float(64), Float(64)) => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
        _ => &[],
    };
    shapes.iter().any(|known| shape.is(*known))
}

/// Whether the sums of such products have these types.
fn are_summed(shape: Shape, a: Element, from: Element, to: Element) -> bool {
    match a {
        Element::Float(16) if shape.is([8, 8, 4]) && to == Element::Float(32) => {
            matches!(from, Element::Float(16 | 32))
        }
        Element::Float(16) | Element::Small(_) => from == to && matches!(to, Element::Float(16 | 32)),
        Element::Float(64) => [from, to] == [Element::Float(64); 2],
        Element::Brain | Element::Tf32 => [from, to] == [Element::Float(32); 2],
        _ => [from, to] == [Element::Signed(32); 2],
    }
}
