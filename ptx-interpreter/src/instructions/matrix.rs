//! `ldmatrix` and `stmatrix`: a warp moves matrices whose rows of 16 bytes the lanes name. `movmatrix` transposes one in registers.

use ptx_intrinsics::on_cpu::matrix::{ROW, Rows};

use super::together::{Together, collective, give, values};
use crate::counts::Counting;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};
use crate::watch::group::Written;

struct Matrix {
    rows: Rows,
    registers: Vec<Operand>,
    address: Operand,
    space: Space,
}

/// `movmatrix`
struct Transpose {
    to: Operand,
    value: Operand,
}

pub(crate) fn transpose(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["movmatrix", "sync", "aligned", "m8n8", "trans", "b16"] = words else { return None };
    let [to, value] = operands.try_into().ok()?;
    collective(Operand::Number(u32::MAX.into()), Transpose { to, value })
}

/// All of a warp move a matrix together.
fn all_are_here(all: &[Thread]) -> Result<()> {
    if all.len() == 32 {
        Ok(())
    } else {
        Err(wrong("lanes of the mask have ended: all of the warp move a matrix together"))
    }
}

/// A lane has two halves of a row, and gets two of a column.
fn transposed(values: &Lanes) -> Lanes {
    let half = |row: usize, column: usize| values[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (group, own) = (lane / 4, lane % 4);
        half(2 * own, group) | half(2 * own + 1, group) << 16
    })
}

impl Together for Transpose {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        all_are_here(all)?;
        let results = transposed(&values(machine, all, &self.value)?);
        machine.watch_transposed(all, [&self.to, &self.value], transposed);
        give(machine, all, &self.to, &results)
    }
}

pub(crate) fn decode(words: &[&str], mut operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    // CUTLASS writes `.x4.trans.m8n8`, which assemblers take.
    let mut words = words.to_vec();
    words.sort_by_key(|word| match *word {
        "ldmatrix" | "stmatrix" | "sync" | "aligned" => 0,
        shape if shape.starts_with("m8") || shape.starts_with("m16") => 1,
        "x1" | "x2" | "x4" => 2,
        "trans" => 3,
        _ => 4,
    });
    let rows = Rows::parse(&words)?;
    if !rows.loads {
        operands.reverse();
    }
    let [registers, address] = operands.try_into().ok()?;
    let registers = registers.lanes();
    if registers.len() != rows.matrices * rows.registers() {
        return None;
    }
    let space = if rows.shared { Space::Shared } else { Space::Generic };
    collective(Operand::Number(u32::MAX.into()), Matrix { rows, registers, address, space })
}

impl Together for Matrix {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        all_are_here(all)?;
        self.count(machine, all)?;
        let (rows, registers) = (all.chunks(self.rows.of_matrix()), self.registers.chunks(self.rows.registers()));
        for (rows, registers) in rows.zip(registers) {
            if self.rows.loads {
                self.load(machine, all, rows, registers)?;
            } else {
                self.store(machine, all, rows, registers)?;
            }
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

    /// Shared memory has eight rows at a time.
    fn count(&self, machine: &mut Machine<'_>, all: &[Thread]) -> Result<()> {
        if machine.launch.counting != Counting::Accesses {
            return Ok(());
        }
        for rows in all[..self.rows.of_matrix() * self.rows.matrices].chunks(8) {
            let (mut addresses, mut mask) = ([0; LANES], 0);
            for thread in rows {
                addresses[thread.lane] = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
                mask |= 1 << thread.lane;
            }
            machine.count_access(mask, &addresses, ROW);
        }
        Ok(())
    }

    fn load(&self, machine: &mut Machine<'_>, all: &[Thread], rows: &[Thread], registers: &[Operand]) -> Result<()> {
        let mut matrix = vec![[0; ROW]; rows.len()];
        let mut named = Vec::new();
        for (number, (thread, row)) in rows.iter().zip(&mut matrix).enumerate() {
            let address = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
            // Four lanes read a row: this one and those behind it. The lane that names the row need not be among them.
            let reader = all[4 * (number % 8)];
            machine.reads_to_registers(|machine| machine.watch_one(reader, address, ROW, How::READ))?;
            named.push((reader, address));
            machine.read_into(address, row).map_err(|stop| stop.by(thread.lane))?;
            *row = self.rows.unpacked(*row);
        }
        machine.watch_matrix(all, &named, registers, |lane, register, at| self.rows.place(lane, register, at));
        for thread in all {
            for (number, register) in registers.iter().enumerate() {
                let value = std::array::from_fn(|at| {
                    let (row, byte) = self.rows.place(thread.lane, number, at);
                    matrix[row][byte]
                });
                machine.set(*thread, register, u32::from_le_bytes(value).into())?;
            }
        }
        Ok(())
    }

    fn store(&self, machine: &mut Machine<'_>, all: &[Thread], rows: &[Thread], registers: &[Operand]) -> Result<()> {
        let mut matrix = vec![[0; ROW]; rows.len()];
        for thread in all {
            for (number, register) in registers.iter().enumerate() {
                let value = (machine.get(*thread, register)? as u32).to_le_bytes();
                for (at, value) in value.into_iter().enumerate() {
                    let (row, byte) = self.rows.place(thread.lane, number, at);
                    matrix[row][byte] = value;
                }
            }
        }
        let (first, mut addresses) = (rows[0].lane, [0; LANES]);
        for thread in rows {
            addresses[thread.lane] = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
        }
        let group = Group {
            mask: rows.iter().fold(0, |set, row| set | 1 << row.lane),
            warp: rows[0].warp,
            frame: rows[0].frame,
        };
        let is_there = |lane: usize, place: &[u8]| matrix[lane - first] == place;
        let is_same = |one: usize, other: usize| matrix[one - first] == matrix[other - first];
        let written = Written { is_there: &is_there, is_same: &is_same };
        machine.watch_store(group, &addresses, ROW, How::WRITE, Some(written))?;
        let places: Vec<u64> = rows.iter().map(|row| addresses[row.lane]).collect();
        machine.watch_matrix_stored(all, &places, registers, |lane, register, at| self.rows.place(lane, register, at));
        for (thread, row) in rows.iter().zip(&matrix) {
            machine.write(addresses[thread.lane], row).map_err(|stop| stop.by(thread.lane))?;
        }
        Ok(())
    }
}
