//! `mma.sync`: a warp multiplies two matrices and adds a third.
//!
//! Integers are exact, and wrap or saturate once. `f64` is a chain of fused multiply-adds along the depth, which begins with C.
//! Of all other floats, products are exact and their sum is made in `f64` and rounded once. A GPU rounds, or cuts off, in steps
//! that NVIDIA does not tell: a sum that needs more bits than the result has may differ from a GPU's in its last bits.

mod element;
mod layout;

use rustc_apfloat::{Float, Round, ieee::Double};

use super::together::{Together, collective};
use crate::alu::round_of;
use crate::machine::{Machine, Step, Thread};
use crate::operand::Operand;
use crate::stop::{Result, wrong};
use element::Element;
use layout::{At, Layout, Shape};

struct Multiply {
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
    round: Round,
    operands: [Vec<Operand>; 4],
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["mma", "sync", "aligned", shape, a_major @ ("row" | "col"), b_major @ ("row" | "col"), rest @ ..] = words
    else {
        return None;
    };
    let (rest, bits) = match rest {
        [rest @ .., bits @ ("and" | "xor"), "popc"] => (rest, Some(*bits)),
        _ => (rest, None),
    };
    let [modifiers @ .., d, a, b, c] = rest else { return None };
    let shape = Shape::parse(shape)?;
    let [to, a, b, from] = [d, a, b, c].map(|word| Element::parse(word));
    let (to, a, b, from) = (to?, a?, b?, from?);
    if !are_multiplied(shape, a, b, modifiers.contains(&"kind::f8f6f4")) || !are_summed(shape, a, [from, to]) {
        return None;
    }
    let quads = a == Element::Float(16) && shape.is([8, 8, 4]);
    let layout = match (*a_major, *b_major) {
        (a, b) if quads => Layout::Quads { a_rows: a == "row", b_columns: b == "col" },
        ("row", "col") => Layout::Whole,
        _ => return None,
    };
    let (mut saturates, mut round) = (false, Round::NearestTiesToEven);
    for word in modifiers {
        match *word {
            "satfinite" if to == Element::Signed(32) && a != Element::Bit => saturates = true,
            "rn" | "rz" | "rm" | "rp" if a == Element::Float(64) => round = round_of(word),
            "kind::f8f6f4" if matches!(a, Element::Small(_)) => {}
            _ => return None,
        }
    }
    if bits.is_some() != (a == Element::Bit) {
        return None;
    }
    let operands: Vec<Vec<Operand>> = operands.into_iter().map(Operand::lanes).collect();
    let operands: [Vec<Operand>; 4] = operands.try_into().ok()?;
    let differ = bits == Some("xor");
    let multiply = Multiply { shape, layout, a, b, from, to, saturates, differ, round, operands };
    if multiply.operands.iter().map(Vec::len).ne(multiply.registers()) {
        return None;
    }
    collective(Operand::Number(u32::MAX.into()), multiply)
}

/// Whether there is an instruction that multiplies matrices of that shape and of those types.
fn are_multiplied(shape: Shape, a: Element, b: Element, of_any_size: bool) -> bool {
    let shapes: &[[usize; 3]] = match (a, b) {
        (a, b) if a.is_fp8() && b.is_fp8() => &[[16, 8, 16], [16, 8, 32]],
        (Element::Small(_), Element::Small(_)) if of_any_size => &[[16, 8, 32]],
        (Element::Signed(8) | Element::Unsigned(8), Element::Signed(8) | Element::Unsigned(8)) => {
            &[[8, 8, 16], [16, 8, 16], [16, 8, 32]]
        }
        (Element::Signed(4) | Element::Unsigned(4), Element::Signed(4) | Element::Unsigned(4)) => {
            &[[8, 8, 32], [16, 8, 32], [16, 8, 64]]
        }
        (Element::Float(16), Element::Float(16)) => &[[8, 8, 4], [16, 8, 8], [16, 8, 16]],
        (Element::Brain, Element::Brain) => &[[16, 8, 8], [16, 8, 16]],
        (Element::Tf32, Element::Tf32) => &[[16, 8, 4], [16, 8, 8]],
        (Element::Bit, Element::Bit) => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
        (Element::Float(64), Element::Float(64)) => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
        _ => &[],
    };
    shapes.iter().any(|known| shape.is(*known))
}

fn are_summed(shape: Shape, a: Element, sums: [Element; 2]) -> bool {
    let [from, to] = sums;
    match a {
        Element::Float(16) if shape.is([8, 8, 4]) && sums == [Element::Float(16), Element::Float(32)] => true,
        Element::Float(16) | Element::Small(_) => from == to && matches!(to, Element::Float(16 | 32)),
        Element::Float(64) => sums == [Element::Float(64); 2],
        Element::Brain | Element::Tf32 => sums == [Element::Float(32); 2],
        _ => sums == [Element::Signed(32); 2],
    }
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp multiply matrices together"));
        }
        let (elements, in_a, in_b) = (self.elements(), self.a.of_register(), self.b.of_register());
        let a = self.matrix(machine, all, 1, self.a, |lane, i| self.layout.of_a(self.shape, in_a, lane, i))?;
        let b = self.matrix(machine, all, 2, self.b, |lane, i| self.layout.of_b(in_b, lane, i))?;
        let place = |lane, i| self.layout.of_c(self.from.bits(), lane, i);
        let c = self.matrix(machine, all, 3, self.from, place)?;
        for thread in all {
            let values: Vec<u64> = (0..elements[0])
                .map(|i| {
                    let (product, row, column) = self.layout.of_c(self.to.bits(), thread.lane, i);
                    self.sum(c[product][row][column], &a[product][row], &b[product][column])
                })
                .collect();
            for (register, parts) in self.operands[0].iter().zip(values.chunks(self.to.of_register())) {
                let whole = parts.iter().rev().fold(0, |whole: u128, part| whole << self.to.bits() | u128::from(*part));
                machine.set(*thread, register, whole)?;
            }
        }
        Ok(())
    }
}

impl Multiply {
    /// How many elements of D, A, B and C a lane has.
    fn elements(&self) -> [usize; 4] {
        let Shape { rows, columns, depth } = self.shape;
        [rows * columns, rows * depth, depth * columns, rows * columns].map(|all| all * self.layout.products() / 32)
    }

    /// In how many registers.
    fn registers(&self) -> [usize; 4] {
        let [d, a, b, c] = self.elements();
        let types = [(d, self.to), (a, self.a), (b, self.b), (c, self.from)];
        types.map(|(elements, element)| elements / element.of_register())
    }

    /// The matrices of an operand, row by row, of each product.
    fn matrix(
        &self,
        machine: &Machine<'_>,
        all: &[Thread],
        operand: usize,
        element: Element,
        place: impl Fn(usize, usize) -> At,
    ) -> Result<Vec<Vec<Vec<f64>>>> {
        let (bits, of_register) = (element.bits(), element.of_register());
        let (rows, along) = (self.shape.rows.max(self.shape.columns), self.shape.depth.max(self.shape.columns));
        let mut matrices = vec![vec![vec![0.0; along]; rows]; self.layout.products()];
        for thread in all {
            for (register, source) in self.operands[operand].iter().enumerate() {
                let value = machine.get(*thread, source)? as u64;
                for at in 0..of_register {
                    let (product, row, along) = place(thread.lane, register * of_register + at);
                    let element = element.number(value >> (at * bits) & (u64::MAX >> (64 - bits)));
                    matrices[product][row][along] = element;
                }
            }
        }
        Ok(matrices)
    }

    /// One element of the result.
    fn sum(&self, added: f64, row: &[f64], column: &[f64]) -> u64 {
        let pairs = row.iter().zip(column).take(self.shape.depth);
        if self.a == Element::Float(64) {
            let of = |number: f64| Double::from_bits(number.to_bits().into());
            let sum = pairs.fold(of(added), |sum, (a, b)| of(*a).mul_add_r(of(*b), sum, self.round).value);
            return sum.to_bits() as u64;
        }
        let product = |(a, b): (&f64, &f64)| if self.differ { f64::from(u8::from(a != b)) } else { a * b };
        self.to.rounded(added + pairs.map(product).sum::<f64>(), self.saturates)
    }
}
