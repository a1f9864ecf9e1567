//! `mma.sync`: a warp multiplies two matrices and adds a third. What comes out of it, ptx-intrinsics says for every executor.

use ptx_intrinsics::on_cpu::matrix::{Operand as Matrix, Product};
use rustc_apfloat::{Float, Round, ieee::Double};

use super::together::{Together, collective, registers};
use super::{mma_scaled, mma_sparse};
use crate::alu::round_of;
use crate::group::Thread;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::{Result, wrong};

struct Multiply {
    product: Product,
    round: Round,
    d: Vec<Operand>,
    a: Vec<Operand>,
    b: Vec<Operand>,
    c: Vec<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    if words.contains(&"block_scale") {
        return mma_scaled::decode(words, operands);
    }
    if words.get(1).is_some_and(|word| word.starts_with("sp")) {
        return mma_sparse::decode(words, operands);
    }
    let product = Product::parse(words)?;
    let operands: Vec<Vec<Operand>> = operands.into_iter().map(Operand::lanes).collect();
    let [d, a, b, c] = operands.try_into().ok()?;
    let lists = [(&d, Matrix::D), (&a, Matrix::A), (&b, Matrix::B), (&c, Matrix::C)];
    if lists.into_iter().any(|(list, matrix)| list.len() != product.registers(matrix)) {
        return None;
    }
    let round = round_of(product.rounding);
    collective(Operand::Number(u32::MAX.into()), Multiply { product, round, d, a, b, c })
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp multiply matrices together"));
        }
        let read = |list| registers(machine, all, list);
        let (a, b, c) = (read(&self.a)?, read(&self.b)?, read(&self.c)?);
        let register = |matrix, lane: usize, number: usize| match matrix {
            Matrix::A => a[lane][number],
            Matrix::B => b[lane][number],
            _ => c[lane][number],
        };
        let of = |number: f64| Double::from_bits(number.to_bits().into());
        let fused = |a, b, c| f64::from_bits(of(a).mul_add_r(of(b), of(c), self.round).value.to_bits() as u64);
        let result = self.product.result(all.iter().map(|thread| thread.lane), register, fused);
        for (thread, values) in all.iter().zip(result) {
            for (register, value) in self.d.iter().zip(values) {
                machine.set(*thread, register, value.into())?;
            }
        }
        Ok(())
    }
}
