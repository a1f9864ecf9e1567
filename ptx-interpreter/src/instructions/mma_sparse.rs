//! `mma.sp`: products of a sparse matrix.

use ptx_intrinsics::on_cpu::matrix::{Meaningless, Operand as Matrix, Sparse};

use super::together::{Together, collective, registers};
use crate::group::Thread;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::{Result, wrong};

struct Multiply {
    sparse: Sparse,
    d: Vec<Operand>,
    a: Vec<Operand>,
    b: Vec<Operand>,
    c: Vec<Operand>,
    metadata: Operand,
    /// Which threads of four have the metadata.
    threads: usize,
}

pub(super) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let sparse = Sparse::parse(words)?;
    let [d, a, b, c, metadata, threads] = operands.try_into().ok()?;
    let [d, a, b, c] = [d, a, b, c].map(Operand::lanes);
    let lists = [(&d, Matrix::D), (&a, Matrix::A), (&b, Matrix::B), (&c, Matrix::C)];
    if lists.into_iter().any(|(list, matrix)| list.len() != sparse.registers(matrix)) {
        return None;
    }
    let Operand::Number(threads) = threads else { return None };
    let threads = usize::try_from(threads).ok().filter(|threads| sparse.selects(*threads))?;
    collective(Operand::Number(u32::MAX.into()), Multiply { sparse, d, a, b, c, metadata, threads })
}

/// What is told of metadata.
pub(super) fn says_nothing(found: Meaningless) -> String {
    format!("the metadata of a sparse matrix have {:#06b}, which says nothing", found.bits)
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp multiply matrices together"));
        }
        let read = |list| registers(machine, all, list);
        let (a, b, c) = (read(&self.a)?, read(&self.b)?, read(&self.c)?);
        let metadata = read(std::slice::from_ref(&self.metadata))?;
        let register = |matrix, lane: usize, number: usize| match matrix {
            Matrix::A => a[lane][number],
            Matrix::B => b[lane][number],
            _ => c[lane][number],
        };
        let lanes = all.iter().map(|thread| thread.lane);
        let result = self.sparse.result(lanes, register, |lane| metadata[lane][0] as u32, self.threads);
        let result = result.map_err(|found| wrong(says_nothing(found)))?;
        for (thread, values) in all.iter().zip(result) {
            for (register, value) in self.d.iter().zip(values) {
                machine.set(*thread, register, value.into())?;
            }
        }
        Ok(())
    }
}
