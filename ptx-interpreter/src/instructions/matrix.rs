//! `ldmatrix` and `stmatrix`: a warp moves matrices whose rows of 16 bytes the lanes name.

use super::together::{Together, collective};
use crate::access::How;
use crate::machine::{Machine, Step, Thread};
use crate::memory::aligned;
use crate::operand::{Operand, Space};
use crate::stop::{Result, wrong};

struct Matrix {
    loads: bool,
    kind: Kind,
    packed: Packed,
    registers: Vec<Operand>,
    address: Operand,
    space: Space,
}

/// Which bytes of a row in memory a lane has.
#[derive(Clone, Copy)]
enum Kind {
    /// `m8n8` of 16 bits, and `m8n16` of 8: four bytes of a row.
    Rows,
    /// `m8n8.trans`: a half of each of two rows.
    Halves,
    /// `m16n16.trans`, loaded: two registers, each a byte of each of four rows.
    Sixteen,
    /// `m16n8.trans`, stored: two bytes of each of two rows.
    Pairs,
}

/// How the elements of a row are in memory.
#[derive(Clone, Copy)]
enum Packed {
    Not,
    /// 16 elements of so many bits, and then padding. Each becomes a byte.
    Bits(usize),
}

/// Bytes of a row, of which each lane of a group names one.
const ROW: usize = 16;

pub(crate) fn decode(words: &[&str], mut operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [name, "sync", "aligned", shape, count @ ("x1" | "x2" | "x4"), rest @ ..] = words else { return None };
    let (transposed, rest) = match rest {
        ["trans", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (space, rest) = match rest {
        ["shared" | "shared::cta", rest @ ..] => (Space::Shared, rest),
        rest => (Space::Generic, rest),
    };
    let loads = *name == "ldmatrix";
    let (kind, packed) = kind(loads, shape, transposed, rest)?;
    if !loads {
        operands.reverse();
    }
    let [registers, address] = operands.try_into().ok()?;
    let registers = registers.lanes();
    let matrices: usize = count[1..].parse().ok()?;
    if registers.len() != matrices * kind.registers() || matrices * kind.rows() > 32 {
        return None;
    }
    let matrix = Matrix { loads, kind, packed, registers, address, space };
    collective(Operand::Number(u32::MAX.into()), matrix)
}

fn kind(loads: bool, shape: &str, transposed: bool, types: &[&str]) -> Option<(Kind, Packed)> {
    let packed = match types {
        ["b16" | "b8"] => Packed::Not,
        ["b8x16", "b6x16_p32"] => Packed::Bits(6),
        ["b8x16", "b4x16_p64"] => Packed::Bits(4),
        _ => return None,
    };
    let kind = match (loads, shape, transposed, types) {
        (_, "m8n8", false, ["b16"]) | (true, "m8n16", false, [_, _]) => Kind::Rows,
        (_, "m8n8", true, ["b16"]) => Kind::Halves,
        (true, "m16n16", true, ["b8"] | [_, _]) => Kind::Sixteen,
        (false, "m16n8", true, ["b8"]) => Kind::Pairs,
        _ => return None,
    };
    Some((kind, packed))
}

impl Kind {
    /// How many registers of a lane one matrix has.
    fn registers(self) -> usize {
        if matches!(self, Kind::Sixteen) { 2 } else { 1 }
    }

    /// How many rows one matrix has in memory.
    fn rows(self) -> usize {
        8 * self.registers()
    }

    /// The row in memory, and the byte of that row, of byte `at` of a register of a lane.
    fn place(self, lane: usize, register: usize, at: usize) -> (usize, usize) {
        let (group, own) = (lane / 4, lane % 4);
        match self {
            Kind::Rows => (group, 4 * own + at),
            Kind::Halves => (2 * own + at / 2, 2 * group + at % 2),
            Kind::Sixteen => (4 * own + at, group + 8 * register),
            Kind::Pairs => (2 * own + at % 2, group + 8 * (at / 2)),
        }
    }
}

impl Packed {
    fn unpacked(self, row: [u8; ROW]) -> [u8; ROW] {
        let Packed::Bits(bits) = self else { return row };
        let all = u128::from_le_bytes(row);
        std::array::from_fn(|at| (all >> (at * bits)) as u8 & ((1 << bits) - 1))
    }
}

impl Together for Matrix {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        if all.len() != 32 {
            return Err(wrong("lanes of the mask have ended: all of the warp move a matrix together"));
        }
        let (rows, registers) = (all.chunks(self.kind.rows()), self.registers.chunks(self.kind.registers()));
        for (rows, registers) in rows.zip(registers) {
            if self.loads {
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

    fn load(&self, machine: &mut Machine<'_>, all: &[Thread], rows: &[Thread], registers: &[Operand]) -> Result<()> {
        let mut matrix = vec![[0; ROW]; rows.len()];
        for (thread, row) in rows.iter().zip(&mut matrix) {
            let address = self.row(machine, *thread).map_err(|stop| stop.by(thread.lane))?;
            machine.watch_one(*thread, address, ROW, How::READ)?;
            machine.read_into(address, row).map_err(|stop| stop.by(thread.lane))?;
            *row = self.packed.unpacked(*row);
        }
        for thread in all {
            for (number, register) in registers.iter().enumerate() {
                let value = std::array::from_fn(|at| {
                    let (row, byte) = self.kind.place(thread.lane, number, at);
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
                    let (row, byte) = self.kind.place(thread.lane, number, at);
                    matrix[row][byte] = value;
                }
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
