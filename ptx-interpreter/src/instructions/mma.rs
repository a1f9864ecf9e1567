//! `mma.sync`: a warp multiplies two matrices and adds a third. Products are exact, and their sum is rounded once, where a GPU
//! rounds in steps that NVIDIA does not tell.

use super::together::{Together, collective};
use crate::alu::{DOUBLE, Kind, Type, converted};
use crate::machine::{Machine, Step, Thread};
use crate::operand::Operand;
use crate::stop::{Result, wrong};

struct Multiply {
    depth: usize,
    a: Type,
    b: Type,
    /// Of what is added and of the result.
    sums: [Type; 2],
    saturates: bool,
    operands: [Vec<Operand>; 4],
}

/// Rows and columns of the result.
const ROWS: usize = 16;
const COLUMNS: usize = 8;

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["mma", "sync", "aligned", shape, "row", "col", rest @ ..] = words else { return None };
    let depth: usize = shape.strip_prefix("m16n8k")?.parse().ok()?;
    let (saturates, rest) = match rest {
        ["satfinite", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let [d, a, b, c] = rest else { return None };
    let known = match (*a, *b, depth) {
        ("f16", "f16", 8 | 16) => matches!((*c, *d), ("f16" | "f32", "f16" | "f32")),
        ("bf16", "bf16", 8 | 16) | ("tf32", "tf32", 4 | 8) => (*c, *d) == ("f32", "f32"),
        ("s8" | "u8", "s8" | "u8", 16 | 32) => (*c, *d) == ("s32", "s32"),
        _ => false,
    };
    if !known {
        return None;
    }
    let ty = |word: &str| Type::parse(if word == "tf32" { "f32" } else { word });
    let operands: Vec<Vec<Operand>> = operands.into_iter().map(Operand::lanes).collect();
    let (a, b, sums) = (ty(a)?, ty(b)?, [ty(c)?, ty(d)?]);
    let registers = |ty: Type, elements: usize| elements * ty.bits as usize / 32 / 32;
    let expected = [
        registers(sums[1], ROWS * COLUMNS),
        registers(a, ROWS * depth),
        registers(b, depth * COLUMNS),
        registers(sums[0], ROWS * COLUMNS),
    ];
    let operands: [Vec<Operand>; 4] = operands.try_into().ok()?;
    if operands.iter().map(Vec::len).ne(expected) {
        return None;
    }
    collective(Operand::Number(u32::MAX.into()), Multiply { depth, a, b, sums, saturates, operands })
}

/// Where a lane's element of a register is: its row or column, and how far along the sum.
fn place(lane: usize, of_register: usize, register: usize, at: usize, rows: usize) -> (usize, usize) {
    let (group, own) = (lane / 4, lane % 4);
    (group + 8 * (register % rows), own * of_register + at + 4 * of_register * (register / rows))
}

/// The number of an element: of integers their value, of `tf32` without the bits that it lacks.
fn number(ty: Type, bits: u32) -> f64 {
    match (ty.kind, ty.bits) {
        (Kind::Signed, 8) => f64::from(bits as u8 as i8),
        (Kind::Unsigned, 8) => f64::from(bits as u8),
        (Kind::Signed, _) => f64::from(bits as i32),
        (Kind::Brain, _) => f64::from(f32::from_bits(bits << 16)),
        (_, 16) => {
            let round = rustc_apfloat::Round::NearestTiesToEven;
            f64::from_bits(converted(ty, DOUBLE, bits.into(), round) as u64)
        }
        _ => f64::from(f32::from_bits(bits)),
    }
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp multiply matrices together"));
        }
        let a = self.matrix(machine, all, 1, self.a, 2)?;
        let b = self.matrix(machine, all, 2, self.b, 1)?;
        let [from, to] = self.sums;
        let (in_from, in_to) = (32 / from.bits as usize, 32 / to.bits as usize);
        for thread in all {
            let mut values = Vec::with_capacity(4);
            for element in 0..4 {
                let (row, column) = (thread.lane / 4 + element / 2 * 8, thread.lane % 4 * 2 + element % 2);
                let register = machine.get(*thread, &self.operands[3][element / in_from])? as u32;
                let added = number(from, register >> (element % in_from * from.bits as usize) & low(from.bits));
                let products = (0..self.depth).map(|at| a[row][at] * b[column][at]);
                values.push(self.rounded(added + products.sum::<f64>()));
            }
            for (number, register) in self.operands[0].iter().enumerate() {
                let parts = &values[number * in_to..(number + 1) * in_to];
                let whole = parts.iter().rev().fold(0, |whole: u64, part| whole << to.bits | u64::from(*part));
                machine.set(*thread, register, whole.into())?;
            }
        }
        Ok(())
    }
}

fn low(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

impl Multiply {
    /// The rows of the first matrix, or the columns of the second one.
    fn matrix(
        &self,
        machine: &Machine<'_>,
        all: &[Thread],
        operand: usize,
        ty: Type,
        rows: usize,
    ) -> Result<Vec<Vec<f64>>> {
        let of_register = 32 / ty.bits as usize;
        let is_tf32 = ty.bits == 32;
        let mut matrix = vec![vec![0.0; self.depth]; 8 * rows];
        for thread in all {
            for (register, source) in self.operands[operand].iter().enumerate() {
                let bits = machine.get(*thread, source)? as u32;
                for at in 0..of_register {
                    let (row, along) = place(thread.lane, of_register, register, at, rows);
                    let element = bits >> (at as u32 * ty.bits) & low(ty.bits);
                    // `tf32` has ten bits after the point.
                    matrix[row][along] = number(ty, if is_tf32 { element & !0x1fff } else { element });
                }
            }
        }
        Ok(matrix)
    }

    fn rounded(&self, sum: f64) -> u32 {
        let to = self.sums[1];
        match to.kind {
            Kind::Signed if self.saturates => (sum as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            Kind::Signed => sum as i64 as u32,
            _ => converted(DOUBLE, to, sum.to_bits().into(), rustc_apfloat::Round::NearestTiesToEven) as u32,
        }
    }
}
