//! The registers of a product of a warp: those of the matrices D, A, B and C.

use ptx_intrinsics::on_cpu::matrix::Operand as Matrix;

use super::together::registers;
use crate::alu::{DOUBLE, SINGLE};
use crate::machine::Machine;
use crate::machine::group::Thread;
use crate::machine::stop::{Result, wrong};
use crate::ptx::operand::Operand;

pub(super) struct Registers {
    d: Vec<Operand>,
    a: Vec<Operand>,
    b: Vec<Operand>,
    c: Vec<Operand>,
}

/// What the lanes have of A, B and C.
pub(super) struct Content([Vec<Vec<u64>>; 3]);

impl Registers {
    /// The lists of D, A, B and C, if each is as long as its matrix needs.
    pub(super) fn new(
        words: &[&str],
        [d, a, b, c]: [Vec<Operand>; 4],
        count: impl Fn(Matrix) -> usize,
    ) -> Option<Self> {
        let sum = if words.contains(&"f64") { DOUBLE } else { SINGLE };
        let c = c.into_iter().map(|number| number.of_type(sum)).collect();
        let lists = [(&d, Matrix::D), (&a, Matrix::A), (&b, Matrix::B), (&c, Matrix::C)];
        let are_whole = lists.into_iter().all(|(list, matrix)| list.len() == count(matrix));
        are_whole.then_some(Self { d, a, b, c })
    }

    /// Those of D, A, B and C.
    pub(super) fn all(&self) -> [&[Operand]; 4] {
        [&self.d, &self.a, &self.b, &self.c]
    }

    /// Errors: a lane has ended.
    pub(super) fn read(&self, machine: &Machine<'_>, all: &[Thread]) -> Result<Content> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp multiply matrices together"));
        }
        let read = |list| registers(machine, all, list);
        Ok(Content([read(&self.a)?, read(&self.b)?, read(&self.c)?]))
    }

    pub(super) fn write(&self, machine: &mut Machine<'_>, all: &[Thread], result: Vec<Vec<u64>>) -> Result<()> {
        for (thread, values) in all.iter().zip(result) {
            for (register, value) in self.d.iter().zip(values) {
                machine.set(*thread, register, value.into())?;
            }
        }
        Ok(())
    }
}

impl Content {
    pub(super) fn register(&self, matrix: Matrix, lane: usize, number: usize) -> u64 {
        let Self([a, b, c]) = self;
        match matrix {
            Matrix::A => a[lane][number],
            Matrix::B => b[lane][number],
            _ => c[lane][number],
        }
    }
}
