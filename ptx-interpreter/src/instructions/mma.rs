//! `mma.sync`: a warp multiplies two matrices and adds a third. What comes out of it, ptx-intrinsics says for every executor.

use ptx_intrinsics::on_cpu::matrix::Product;
use rustc_apfloat::Round;

use super::mma_registers::Registers;
use super::together::{Together, collective};
use super::{mma_scaled, mma_sparse};
use crate::alu::{fused_of, round_of};
use crate::machine::group::Thread;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

struct Multiply {
    product: Product,
    round: Round,
    registers: Registers,
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
    let registers = Registers::new(words, operands.try_into().ok()?, |matrix| product.registers(matrix))?;
    let round = round_of(product.rounding);
    collective(Operand::Number(u32::MAX.into()), Multiply { product, round, registers })
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let content = self.registers.read(machine, all)?;
        let register = |matrix, lane, number| content.register(matrix, lane, number);
        let result = self.product.result(all.iter().map(|thread| thread.lane), register, fused_of(self.round));
        machine.watch_registers_product(all, self.registers.all(), &[], |matrix, lane, number| {
            self.product.places(matrix, lane, number).collect()
        });
        self.registers.write(machine, all, result)
    }
}
