//! `ldmatrix` and `stmatrix`: a warp moves matrices of 8 rows of 16 bytes, whose rows the lanes name.

use super::together::{Together, collective};
use crate::access::How;
use crate::machine::{Machine, Step, Thread};
use crate::memory::aligned;
use crate::operand::{Operand, Space};
use crate::stop::{Result, wrong};

struct Matrix {
    loads: bool,
    transposed: bool,
    registers: Vec<Operand>,
    address: Operand,
    space: Space,
}

/// Bytes of a row, and rows of a matrix.
const ROW: usize = 16;
const ROWS: usize = 8;

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [name, "sync", "aligned", "m8n8", count @ ("x1" | "x2" | "x4"), rest @ ..] = words else { return None };
    let (transposed, rest) = match rest {
        ["trans", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let space = match rest {
        ["shared" | "shared::cta", "b16"] => Space::Shared,
        ["b16"] => Space::Generic,
        _ => return None,
    };
    let (loads, mut operands) = (*name == "ldmatrix", operands);
    if !loads {
        operands.reverse();
    }
    let [registers, address] = operands.try_into().ok()?;
    let registers = registers.lanes();
    if registers.len() != count[1..].parse().ok()? {
        return None;
    }
    collective(Operand::Number(u32::MAX.into()), Matrix { loads, transposed, registers, address, space })
}

impl Together for Matrix {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp move a matrix together"));
        }
        for number in 0..self.registers.len() {
            let rows = &all[number * ROWS..(number + 1) * ROWS];
            if self.loads { self.load(machine, all, rows, number)? } else { self.store(machine, all, rows, number)? }
        }
        Ok(())
    }
}

impl Matrix {
    /// The address of a row, which a lane names.
    fn row(&self, machine: &Machine<'_>, thread: Thread) -> Result<u64> {
        let address = machine.address(thread, self.space, &self.address)?;
        aligned(address, ROW)?;
        Ok(address)
    }

    /// The two elements of a matrix that a lane has: their rows and columns.
    fn elements(&self, lane: usize) -> [(usize, usize); 2] {
        let (own, pair) = (lane / 4, lane % 4 * 2);
        if self.transposed { [(pair, own), (pair + 1, own)] } else { [(own, pair), (own, pair + 1)] }
    }

    fn load(&self, machine: &mut Machine<'_>, all: &[Thread], rows: &[Thread], number: usize) -> Result<()> {
        let mut matrix = [[0; ROW]; ROWS];
        for (thread, row) in rows.iter().zip(&mut matrix) {
            let address = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
            machine.watch_one(*thread, address, ROW, How::READ)?;
            machine.read_into(address, row).map_err(|stop| stop.by(thread.lane))?;
        }
        for thread in all {
            let half = |(row, column): (usize, usize)| &matrix[row][2 * column..2 * column + 2];
            let bytes = self.elements(thread.lane).map(half).concat();
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
            machine.set(*thread, &self.registers[number], value)?;
        }
        Ok(())
    }

    fn store(&self, machine: &mut Machine<'_>, all: &[Thread], rows: &[Thread], number: usize) -> Result<()> {
        let mut matrix = [[0; ROW]; ROWS];
        for thread in all {
            let value = (machine.get(*thread, &self.registers[number])? as u32).to_le_bytes();
            for ((row, column), half) in self.elements(thread.lane).into_iter().zip(value.chunks(2)) {
                matrix[row][2 * column..2 * column + 2].copy_from_slice(half);
            }
        }
        for (thread, row) in rows.iter().zip(&matrix) {
            let address = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
            machine.watch_one(*thread, address, ROW, How::WRITE)?;
            machine.write(address, row).map_err(|stop| stop.by(thread.lane))?;
        }
        Ok(())
    }
}
