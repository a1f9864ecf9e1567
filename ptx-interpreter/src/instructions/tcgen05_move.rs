//! `tcgen05.ld`, `tcgen05.st` and `tcgen05.cp`: between tensor memory and registers, and from shared memory.

use super::tcgen05_pair::in_pair;
use super::together::{Together, agreed, collective};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, missing, stop};
use crate::machine::{Machine, Step};
use crate::memory::descriptor::Matrix;
use crate::memory::tensor::{COLUMNS, LANES, Place};
use crate::memory::units::Units;
use crate::ptx::operand::Operand;
use crate::watch::tensor::{Run, lanes_of_warp};

/// Which registers of which lanes have which words.
#[derive(Clone, Copy)]
enum Shape {
    /// A thread has a lane, and its registers are columns.
    Row,
    /// The same of 16 lanes: the upper threads have the same lanes again, this number of columns further on.
    Halves(usize),
    /// Two columns are in a register of neighbours: threads 0 and 2 have those of a lane, and 1 and 3 those of the eighth one after it.
    Pairs,
    /// Four columns are in a register of four threads, and the next register is of the eighth lane after it.
    Fours,
    /// As a result of `mma.m16n8`: eight columns are in four registers.
    Quads,
}

struct Move {
    shape: Shape,
    stores: bool,
    registers: Vec<Operand>,
    /// Columns of a register: with `.pack::16b` and `.unpack::16b` each half has one of its own.
    columns: usize,
    place: Operand,
}

struct Copy {
    /// Whether each block of a pair copies.
    in_pair: bool,
    /// Rows of the source, and bytes of each.
    rows: usize,
    bytes: usize,
    /// Bits of a byte: the others are zero, on both sides of four.
    width: usize,
    /// Of each 32 lanes the rows that they get.
    parts: [usize; 4],
    place: Operand,
    from: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    match *words {
        ["ld", "sync", "aligned", "16x32bx2", count, ref rest @ .., "b32"] => {
            let [registers, place, apart] = operands.try_into().ok()?;
            movement(Shape::halves(&apart)?, count, (false, columns(rest, "pack::16b")?), registers, place)
        }
        ["st", "sync", "aligned", "16x32bx2", count, ref rest @ .., "b32"] => {
            let [place, apart, registers] = operands.try_into().ok()?;
            movement(Shape::halves(&apart)?, count, (true, columns(rest, "unpack::16b")?), registers, place)
        }
        ["ld", "sync", "aligned", shape, count, ref rest @ .., "b32"] => {
            let [registers, place] = operands.try_into().ok()?;
            movement(Shape::named(shape)?, count, (false, columns(rest, "pack::16b")?), registers, place)
        }
        ["st", "sync", "aligned", shape, count, ref rest @ .., "b32"] => {
            let [place, registers] = operands.try_into().ok()?;
            movement(Shape::named(shape)?, count, (true, columns(rest, "unpack::16b")?), registers, place)
        }
        ["cp", group, ref shape @ ..] => {
            let [place, from] = operands.try_into().ok()?;
            let (shape, format) = match shape {
                [shape @ .., "b8x16", format] => (shape, Some(*format)),
                shape => (shape, None),
            };
            let (rows, bytes, parts) = match shape {
                ["128x256b"] => (128, 32, [0, 32, 64, 96]),
                ["128x128b"] => (128, 16, [0, 32, 64, 96]),
                ["64x128b", "warpx2::02_13"] => (64, 16, [0, 32, 0, 32]),
                ["64x128b", "warpx2::01_23"] => (64, 16, [0, 0, 32, 32]),
                ["32x128b", "warpx4"] => (32, 16, [0; 4]),
                _ => return None,
            };
            let width = match format {
                None => 8,
                Some("b6x16_p32") => 6,
                Some("b4x16_p64") => 4,
                Some(_) => return None,
            };
            Some(Box::new(Copy { in_pair: in_pair(group)?, rows, bytes, width, parts, place, from }))
        }
        _ => None,
    }
}

/// The columns of a register, by the words that remain.
fn columns(words: &[&str], packs: &str) -> Option<usize> {
    match words {
        [] => Some(1),
        [word] if *word == packs => Some(2),
        _ => None,
    }
}

fn movement(
    shape: Shape,
    count: &str,
    (stores, columns): (bool, usize),
    registers: Operand,
    place: Operand,
) -> Option<Box<dyn Step>> {
    let count: usize = count.strip_prefix('x')?.parse().ok()?;
    let registers = registers.lanes();
    let fits = count.is_power_of_two() && registers.len() == count * shape.registers() && registers.len() <= 128;
    // What the halves of a register are where columns are of several threads is not known.
    let is_known = columns == 1 || matches!(shape, Shape::Row | Shape::Halves(_));
    let all = Operand::Number(u32::MAX.into());
    if fits && is_known { collective(all, Move { shape, stores, registers, columns, place }) } else { None }
}

impl Shape {
    fn named(word: &str) -> Option<Shape> {
        Some(match word {
            "32x32b" => Shape::Row,
            "16x64b" => Shape::Pairs,
            "16x128b" => Shape::Fours,
            "16x256b" => Shape::Quads,
            _ => return None,
        })
    }

    fn halves(apart: &Operand) -> Option<Shape> {
        let Operand::Number(apart) = apart else { return None };
        Some(Shape::Halves(usize::try_from(*apart).ok().filter(|apart| *apart < COLUMNS)?))
    }

    /// Registers of a thread for `.x1`.
    fn registers(self) -> usize {
        match self {
            Shape::Row | Shape::Halves(_) | Shape::Pairs => 1,
            Shape::Fours => 2,
            Shape::Quads => 4,
        }
    }

    /// The place of a thread's register, from the first lane and column on.
    fn place(self, thread: usize, register: usize) -> (usize, usize) {
        match self {
            Shape::Row => (thread, register),
            Shape::Halves(apart) => (thread % 16, register + thread / 16 * apart),
            Shape::Pairs => (thread / 4 + thread % 2 * 8, register * 2 + thread / 2 % 2),
            Shape::Fours => (thread / 4 + register % 2 * 8, register / 2 * 4 + thread % 4),
            Shape::Quads => {
                let (eight, part) = (register / 4, register % 4);
                (thread / 4 + part / 2 * 8, eight * 8 + thread % 4 * 2 + part % 2)
            }
        }
    }

    fn lanes(self) -> usize {
        match self {
            Shape::Row => 32,
            _ => 16,
        }
    }
}

impl Move {
    /// The words of each thread that lie side by side.
    fn runs(&self, block: usize, first: Place, thread: Thread) -> Vec<(Thread, Run)> {
        let mut runs: Vec<(Thread, Run)> = Vec::new();
        for part in 0..self.registers.len() * self.columns {
            let (lane, column) = self.shape.place(thread.lane, part);
            let place = Place { lane: first.lane + lane, column: first.column + column };
            match runs.last_mut().map(|(_, run)| run) {
                Some(run) if run.place.lane == place.lane && run.place.column + run.columns == place.column => {
                    run.columns += 1;
                }
                _ => runs.push((thread, Run { block, place, columns: 1, writes: self.stores })),
            }
        }
        runs
    }
}

impl Together for Move {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let Operand::Address(base, ..) = &self.place else { return Err(missing()) };
        agreed(machine, all, base)?;
        let (mut first, block) = (machine.place_in_tensor(all[0], &self.place)?, machine.block_of(all[0]));
        let own = lanes_of_warp(all[0].warp % machine.warps_of_block);
        if !own.contains(&first.lane) {
            machine.watch_other_lanes(all[0], first.lane, &own);
            first.lane = own.start + first.lane % own.len();
        }
        if first.lane + self.shape.lanes() > own.end {
            let (lane, last) = (first.lane, own.end - 1);
            return stop(
                Why::Astray,
                format!("lanes of tensor memory from {lane} on go beyond the warp's last, {last}"),
            );
        }
        let runs: Vec<(Thread, Run)> = all.iter().flat_map(|thread| self.runs(block, first, *thread)).collect();
        for (_, run) in &runs {
            machine.has_columns(block, run.place, run.columns)?;
        }
        machine.watch_move(all, &runs, self.stores);
        for thread in all {
            for (register, operand) in self.registers.iter().enumerate() {
                let word = |part: usize| {
                    let (lane, column) = self.shape.place(thread.lane, register * self.columns + part);
                    (first.lane + lane) * COLUMNS + first.column + column
                };
                if self.stores {
                    let value = machine.get(*thread, operand)? as u32;
                    let words = &mut machine.tensor_of(block)?.words;
                    match self.columns {
                        1 => words[word(0)] = value,
                        _ => [value & 0xffff, value >> 16]
                            .into_iter()
                            .enumerate()
                            .for_each(|(part, half)| words[word(part)] = half),
                    }
                } else {
                    let words = &machine.tensor_of(block)?.words;
                    let value = match self.columns {
                        1 => words[word(0)],
                        _ => words[word(0)] & 0xffff | words[word(1)] << 16,
                    };
                    machine.set(*thread, operand, value.into())?;
                }
            }
        }
        machine.progress += u64::from(self.stores);
        Ok(())
    }
}

impl Step for Copy {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Copy {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let first = machine.place_in_tensor(thread, &self.place)?;
        let descriptor = machine.get(thread, &self.from)? as u64;
        machine.watch_descriptor(thread, descriptor);
        let matrix = Matrix::of_tcgen05(descriptor, false, 8)?.of_width(self.width);
        let (mut units, mut copied, columns) = (Units::new(), Vec::new(), self.bytes / 4);
        let mut all = Vec::new();
        for block in machine.blocks_of_tensor(thread, self.in_pair)? {
            let bytes = machine.elements(block, &matrix, (0, self.rows), self.bytes, &mut units)?;
            machine.has_columns(block, first, columns)?;
            let run = |lane| Run { block, place: Place { lane, column: first.column }, columns, writes: true };
            all.extend((0..LANES).map(run));
            copied.push((block, bytes));
        }
        machine.watch_product(thread, &units, &all);
        let shift = if self.width == 4 { 2 } else { 0 };
        for (block, bytes) in copied {
            let tensor = machine.tensor_of(block)?;
            for lane in 0..LANES {
                let row = self.parts[lane / 32] + lane % 32;
                let own = bytes[row * self.bytes..(row + 1) * self.bytes].chunks(4).enumerate();
                for (column, bytes) in own {
                    let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | (*byte << shift) as u32);
                    tensor.words[lane * COLUMNS + first.column + column] = word;
                }
            }
        }
        machine.progress += 1;
        Ok(())
    }
}
