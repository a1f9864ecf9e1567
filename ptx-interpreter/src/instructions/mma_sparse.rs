//! `mma.sp`: products of a sparse matrix.

use ptx_intrinsics::on_cpu::matrix::{Operand as Matrix, Sparse};

use super::mma_registers::Registers;
use super::together::{Together, collective, registers};
use crate::machine::group::Thread;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;
use crate::watch::exchanged::Deciding;

struct Multiply {
    sparse: Sparse,
    registers: Registers,
    metadata: Operand,
    /// Which threads of four have the metadata.
    threads: usize,
}

pub(super) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let sparse = Sparse::parse(words)?;
    let [d, a, b, c, metadata, threads] = operands.try_into().ok()?;
    let registers = Registers::new(words, [d, a, b, c].map(Operand::lanes), |matrix| sparse.registers(matrix))?;
    let Operand::Number(threads) = threads else { return None };
    let threads = usize::try_from(threads).ok().filter(|threads| sparse.selects(*threads))?;
    collective(Operand::Number(u32::MAX.into()), Multiply { sparse, registers, metadata, threads })
}

/// The parts of registers that have the metadata of each row.
pub(super) fn metadata_of_rows<'o>(sparse: &Sparse, register: &'o Operand, threads: usize) -> Vec<Deciding<'o>> {
    let of_row = |line: usize| {
        let parts = sparse.metadata_of(line, threads).into_iter();
        parts.map(move |(lane, bits)| Deciding { matrix: Matrix::A, line, lane, register, bits: bits.into() })
    };
    (0..16).flat_map(of_row).collect()
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let content = self.registers.read(machine, all)?;
        let register = |matrix, lane, number| content.register(matrix, lane, number);
        let metadata = registers(machine, all, std::slice::from_ref(&self.metadata))?;
        let lanes = all.iter().map(|thread| thread.lane);
        let (result, found) = self.sparse.result(lanes, register, |lane| metadata[lane][0] as u32, self.threads);
        machine.watch_metadata(all[0], found);
        let deciding = metadata_of_rows(&self.sparse, &self.metadata, self.threads);
        machine.watch_registers_product(all, self.registers.all(), &deciding, |matrix, lane, number| {
            self.sparse.places(matrix, lane, number).collect()
        });
        self.registers.write(machine, all, result)
    }
}
