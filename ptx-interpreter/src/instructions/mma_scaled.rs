//! `mma.sync` with scales of blocks of elements.

use ptx_intrinsics::on_cpu::matrix::{Operand as Matrix, Scaled, Selected};

use super::mma_registers::Registers;
use super::together::{Together, collective, registers};
use crate::machine::group::Thread;
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;
use crate::watch::exchanged::Deciding;

/// Elements along the depth, at most, and how many have one scale, at least.
const DEPTH: usize = 64;
const OF_SCALE: usize = 16;

struct Multiply {
    scaled: Scaled,
    registers: Registers,
    /// The registers with scales of A and B, and which of them count: a byte, and a thread of four.
    scales: [Operand; 2],
    selected: [[Operand; 2]; 2],
}

pub(super) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let scaled = Scaled::parse(words)?;
    let operands: Vec<Vec<Operand>> = operands.into_iter().map(Operand::lanes).collect();
    let [d, a, b, c, of_a, by_a, of_b, by_b] = operands.try_into().ok()?;
    let registers = Registers::new(words, [d, a, b, c], |matrix| scaled.product.registers(matrix))?;
    let ([of_a], [of_b]): ([Operand; 1], [Operand; 1]) = (of_a.try_into().ok()?, of_b.try_into().ok()?);
    let selected = [by_a.try_into().ok()?, by_b.try_into().ok()?];
    collective(Operand::Number(u32::MAX.into()), Multiply { scaled, registers, scales: [of_a, of_b], selected })
}

impl Multiply {
    /// Which registers count, by the first lane: all have the same.
    fn selected(&self, machine: &Machine<'_>, all: &[Thread]) -> Result<[Selected; 2]> {
        let mut selected = [[0; 2]; 2];
        for (number, matrix) in [Matrix::A, Matrix::B].into_iter().enumerate() {
            let of = |thread: &Thread| -> Result<Selected> {
                let [byte, of_four] = &self.selected[number];
                Ok([machine.get(*thread, of_four)? as u16 as usize, machine.get(*thread, byte)? as u16 as usize])
            };
            selected[number] = of(&all[0])?;
            for thread in all {
                if of(thread)? != selected[number] {
                    return Err(wrong("the lanes of the warp select different scales"));
                }
            }
            if !self.scaled.selects(selected[number], matrix) {
                let [thread, byte] = selected[number];
                return Err(wrong(format!(
                    "there are no scales of {matrix:?} at byte {byte} of thread {thread} of four"
                )));
            }
        }
        Ok(selected)
    }

    /// The bytes of registers that have the scales of each row of A, and of each column of B.
    fn deciding(&self, selected: [Selected; 2]) -> Vec<Deciding<'_>> {
        let mut all = Vec::new();
        for (number, (matrix, count)) in [(Matrix::A, 16), (Matrix::B, 8)].into_iter().enumerate() {
            for (line, along) in
                (0..count).flat_map(|line| (0..DEPTH).step_by(OF_SCALE).map(move |along| (line, along)))
            {
                let (lane, byte) = self.scaled.scale_of(matrix, line, along, selected[number]);
                let register = &self.scales[number];
                all.push(Deciding { matrix, line, lane, register, bits: 0xff << (8 * byte) });
            }
        }
        all
    }
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let content = self.registers.read(machine, all)?;
        let register = |matrix, lane, number| content.register(matrix, lane, number);
        let selected = self.selected(machine, all)?;
        let [of_a, of_b] = [0, 1].map(|number| registers(machine, all, std::slice::from_ref(&self.scales[number])));
        let (of_a, of_b) = (of_a?, of_b?);
        let scales = |matrix, lane: usize| (if matrix == Matrix::A { &of_a } else { &of_b })[lane][0] as u32;
        let result = self.scaled.result(all.iter().map(|thread| thread.lane), register, scales, selected);
        let places = |matrix, lane, number| self.scaled.product.places(matrix, lane, number).collect();
        machine.watch_registers_product(all, self.registers.all(), &self.deciding(selected), places);
        self.registers.write(machine, all, result)
    }
}
