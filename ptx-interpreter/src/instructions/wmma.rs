//! `wmma`: a warp loads fragments of matrices, multiplies and stores them. PTX leaves open which lane has which elements: here a fragment
//! is put together of those of `mma.sync`. Where it has more registers, it has each element several times.

use std::cell::RefCell;

use ptx_intrinsics::on_cpu::matrix::{Operand as Matrix, Product};

use super::together::{Together, collective, registers};
use crate::alu::{fused_of, round_of};
use crate::machine::group::Thread;
use crate::machine::lanes::LANES;
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};

/// Products of `mma.sync` that make up one of `wmma`.
struct Parts {
    product: Product,
    /// How many there are of them, one below the other and beside each other.
    below: usize,
    beside: usize,
    /// Of each only the upper half is used.
    halved: bool,
    /// Rows, columns and depth of the whole.
    shape: [usize; 3],
}

/// Where a register of a fragment comes from: the part, by its row and column, and the register there.
type Source = (usize, usize, usize);

impl Parts {
    /// By the shape, and the words of `mma.sync` before and behind the types of D, A, B and C.
    fn new(shape: &str, before: &[&str], types: [&str; 4], behind: &[&str]) -> Option<Self> {
        let (part, below, beside, halved) = match shape {
            "m16n16k16" => ("m16n8k16", 1, 2, false),
            "m32n8k16" => ("m16n8k16", 2, 1, false),
            "m8n32k16" => ("m16n8k16", 1, 4, true),
            "m16n16k8" => ("m16n8k8", 1, 2, false),
            "m8n8k4" | "m8n8k32" | "m8n8k128" => (shape, 1, 1, false),
            _ => return None,
        };
        let words = [&["mma", "sync", "aligned", part, "row", "col"][..], before, &types, behind].concat();
        let sizes = shape[1..].split(['n', 'k']).map(|size| size.parse().ok());
        let shape = sizes.collect::<Option<Vec<usize>>>()?.try_into().ok()?;
        Some(Self { product: Product::parse(&words)?, below, beside, halved, shape })
    }

    /// The same for a fragment alone.
    fn of_fragment(shape: &str, matrix: Matrix, ty: &str) -> Option<Self> {
        let factor = match (matrix, ty, shape) {
            (Matrix::A | Matrix::B, ..) => ty,
            (_, "f32", "m16n16k8") => "tf32",
            (_, "f16" | "f32", _) => "f16",
            (_, "f64", _) => "f64",
            (_, "s32", "m8n8k32") => "s4",
            (_, "s32", "m8n8k128") => "b1",
            (_, "s32", _) => "s8",
            _ => return None,
        };
        let sum = match (matrix, factor) {
            (Matrix::C | Matrix::D, _) => ty,
            (_, "f64") => "f64",
            (_, "f16" | "bf16" | "tf32") => "f32",
            _ => "s32",
        };
        let behind: &[&str] = if factor == "b1" { &["xor", "popc"] } else { &[] };
        Self::new(shape, &[], [sum, factor, factor, sum], behind)
    }

    /// Rows and columns of a matrix.
    fn size(&self, matrix: Matrix) -> [usize; 2] {
        let [rows, columns, depth] = self.shape;
        match matrix {
            Matrix::A => [rows, depth],
            Matrix::B => [depth, columns],
            Matrix::C | Matrix::D => [rows, columns],
        }
    }

    /// Rows and columns of the elements of a register in the whole matrix.
    fn elements(&self, matrix: Matrix, lane: usize, (below, beside, number): Source) -> Vec<[usize; 2]> {
        let places = RefCell::new(Vec::new());
        self.product.register(matrix, lane, number, |row, along| {
            places.borrow_mut().push(match matrix {
                Matrix::B => [along, 8 * beside + row],
                _ => [16 * below + row, 8 * beside + along],
            });
            0
        });
        places.into_inner()
    }

    /// The registers of a fragment, each element once.
    fn sources(&self, matrix: Matrix) -> Vec<Source> {
        let (below, beside) = match matrix {
            Matrix::A => (self.below, 1),
            Matrix::B => (1, self.beside),
            Matrix::C | Matrix::D => (self.below, self.beside),
        };
        let numbers = 0..self.product.registers(matrix);
        let all = (0..below).flat_map(|below| (0..beside).map(move |beside| (below, beside)));
        let all = all.flat_map(|(below, beside)| numbers.clone().map(move |number| (below, beside, number)));
        let size = self.size(matrix);
        let is_inside =
            |source: &Source| !self.halved || self.elements(matrix, 0, *source).iter().all(|[row, _]| *row < size[0]);
        all.filter(is_inside).collect()
    }
}

/// What is in memory of a fragment.
struct Fragment {
    /// Rows and columns of the matrix.
    size: [usize; 2],
    /// Of each register and lane the rows and columns of the elements. Further registers of the list have the same ones.
    elements: Vec<Vec<Vec<[usize; 2]>>>,
    list: Vec<Operand>,
    by_rows: bool,
    /// Bits of an element.
    bits: usize,
    space: Space,
    address: Operand,
    stride: Option<Operand>,
    loads: bool,
}

struct Multiply {
    parts: Parts,
    sources: [Vec<Source>; 4],
    lists: [Vec<Operand>; 4],
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    match words {
        ["wmma", "mma", ..] => multiply(words, operands),
        ["wmma", what @ ("load" | "store"), matrix, "sync", "aligned", rest @ ..] => {
            fragment(*what == "load", matrix, rest, operands)
        }
        _ => None,
    }
}

fn fragment(loads: bool, matrix: &str, words: &[&str], mut operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let matrix = match (matrix, loads) {
        ("a", true) => Matrix::A,
        ("b", true) => Matrix::B,
        ("c", true) => Matrix::C,
        ("d", false) => Matrix::D,
        _ => return None,
    };
    let [major @ ("row" | "col"), shape, space @ .., ty] = words else { return None };
    if !loads && operands.len() >= 2 {
        operands.swap(0, 1);
    }
    let mut operands = operands.into_iter();
    let (list, address, stride) = (operands.next()?.lanes(), operands.next()?, operands.next());
    let parts = Parts::of_fragment(shape, matrix, ty)?;
    let of_register = |source: Source| (0..LANES).map(|lane| parts.elements(matrix, lane, source)).collect::<Vec<_>>();
    let elements: Vec<_> = parts.sources(matrix).into_iter().map(of_register).collect();
    let digits = ty.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    if list.len() % elements.len() != 0 || loads && list.is_empty() {
        return None;
    }
    let fragment = Fragment {
        size: parts.size(matrix),
        elements,
        list,
        by_rows: *major == "row",
        bits: digits.parse().ok()?,
        space: Space::of(space),
        address,
        stride,
        loads,
    };
    collective(Operand::Number(u32::MAX.into()), fragment)
}

impl Fragment {
    /// Where the elements of a register are: bytes that are behind each other are one piece. Each has an address and a number of bytes.
    fn pieces(&self, base: u64, stride: usize, elements: &[[usize; 2]]) -> Result<Vec<(u64, usize)>> {
        let index =
            |[row, column]: &[usize; 2]| if self.by_rows { row * stride + column } else { column * stride + row };
        let all: Vec<usize> = elements.iter().map(index).collect();
        let bytes = all.len() * self.bits / 8;
        if all.windows(2).all(|two| two[0] + 1 == two[1]) && (all[0] * self.bits).is_multiple_of(8 * bytes) {
            return Ok(vec![(base.wrapping_add((all[0] * self.bits / 8) as u64), bytes)]);
        }
        if self.bits < 8 {
            return Err(wrong("the stride of a matrix of less than 8 bits an element is no multiple of 32 bits"));
        }
        let one = self.bits / 8;
        Ok(all.iter().map(|index| (base.wrapping_add((index * one) as u64), one)).collect())
    }

    fn access(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let base = machine.address(thread, self.space, &self.address)?;
        let [rows, columns] = self.size;
        let stride = match &self.stride {
            Some(stride) => machine.get(thread, stride)? as u32 as usize,
            None if self.by_rows => columns,
            None => rows,
        };
        for (at, elements) in self.elements.iter().enumerate() {
            let pieces = self.pieces(base, stride, &elements[thread.lane])?;
            match self.loads {
                true => self.load(machine, thread, &pieces, at)?,
                false => self.store(machine, thread, &pieces, at)?,
            }
        }
        Ok(())
    }

    /// One register, and those that have the same elements.
    fn load(&self, machine: &mut Machine<'_>, thread: Thread, pieces: &[(u64, usize)], at: usize) -> Result<()> {
        let (mut value, mut undefined) = (0, None);
        for (place, (address, bytes)) in pieces.iter().enumerate() {
            aligned(*address, *bytes)?;
            let begin = 8 * bytes * place;
            machine.reads_to_registers(|machine| machine.watch_one(thread, *address, *bytes, How::READ))?;
            if let Some((bits, why)) = machine.undefined_read(thread, (*address, *bytes)) {
                undefined = Some((undefined.map_or(0, |(all, _)| all) | bits << begin, why));
            }
            value |= machine.read_number(*address, *bytes)? << begin;
        }
        for register in self.list.iter().skip(at).step_by(self.elements.len()) {
            machine.set(thread, register, value.into())?;
            machine.all_get(&[thread], register, &[undefined]);
        }
        Ok(())
    }

    fn store(&self, machine: &mut Machine<'_>, thread: Thread, pieces: &[(u64, usize)], at: usize) -> Result<()> {
        let value = machine.get(thread, &self.list[at])? as u64;
        for (place, (address, bytes)) in pieces.iter().enumerate() {
            aligned(*address, *bytes)?;
            let begin = 8 * bytes * place;
            machine.watch_one(thread, *address, *bytes, How::WRITE)?;
            machine.watch_part_stored(thread, (*address, *bytes), &self.list[at], begin as u32);
            machine.write_number(*address, *bytes, value >> begin)?;
        }
        Ok(())
    }
}

fn all_are_here(all: &[Thread]) -> Result<()> {
    if all.len() == 32 { Ok(()) } else { Err(wrong("lanes of the warp have ended: all of it use a fragment together")) }
}

impl Together for Fragment {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        all_are_here(all)?;
        all.iter().try_for_each(|thread| self.access(machine, *thread).map_err(|stop| stop.by(thread.lane)))
    }
}

fn multiply(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["wmma", "mma", "sync", "aligned", "row" | "col", "row" | "col", shape, rest @ ..] = words else {
        return multiply_bits(words, operands);
    };
    let parts = match rest {
        [to, from] => Parts::new(shape, &[], [to, "f16", "f16", from], &[]),
        [to, a, b, from] => Parts::new(shape, &[], [to, a, b, from], &[]),
        [to, a, b, from, "satfinite"] => Parts::new(shape, &["satfinite"], [to, a, b, from], &[]),
        [to, a, b, from, round @ ("rn" | "rz" | "rm" | "rp")] => Parts::new(shape, &[round], [to, a, b, from], &[]),
        [round, to, a, b, from] => Parts::new(shape, &[round], [to, a, b, from], &[]),
        _ => None,
    };
    of_parts(parts?, operands)
}

/// Of matrices of bits.
fn multiply_bits(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["wmma", "mma", how, "popc", "sync", "aligned", "row", "col", shape, to, a, b, from] = words else {
        return None;
    };
    of_parts(Parts::new(shape, &[], [to, a, b, from], &[how, "popc"])?, operands)
}

fn of_parts(parts: Parts, operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let lists: [Vec<Operand>; 4] = operands.into_iter().map(Operand::lanes).collect::<Vec<_>>().try_into().ok()?;
    let sources = [Matrix::D, Matrix::A, Matrix::B, Matrix::C].map(|matrix| parts.sources(matrix));
    let fits = |(list, sources): (&Vec<Operand>, &Vec<Source>)| !list.is_empty() && list.len() % sources.len() == 0;
    if !lists.iter().zip(&sources).all(fits) {
        return None;
    }
    collective(Operand::Number(u32::MAX.into()), Multiply { parts, sources, lists })
}

impl Multiply {
    /// Rows and columns of the elements of a register of a list: of B each column, and the place along it.
    fn places(&self, matrix: Matrix, lane: usize, number: usize) -> Vec<(usize, usize)> {
        let sources = &self.sources[match matrix {
            Matrix::D => 0,
            Matrix::A => 1,
            Matrix::B => 2,
            Matrix::C => 3,
        }];
        let elements = self.parts.elements(matrix, lane, sources[number % sources.len()]).into_iter();
        elements.map(|[row, column]| if matrix == Matrix::B { (column, row) } else { (row, column) }).collect()
    }
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        all_are_here(all)?;
        let [_, a, b, c] = &self.lists;
        let content = [registers(machine, all, a)?, registers(machine, all, b)?, registers(machine, all, c)?];
        let lists = [&self.lists[0], a, b, c].map(Vec::as_slice);
        machine.watch_registers_product(all, lists, &[], |matrix, lane, number| self.places(matrix, lane, number));
        let fused = fused_of(round_of(self.parts.product.rounding));
        for (below, beside) in
            (0..self.parts.below).flat_map(|below| (0..self.parts.beside).map(move |beside| (below, beside)))
        {
            let register = |matrix: Matrix, lane: usize, number: usize| {
                let (which, source) = match matrix {
                    Matrix::A => (1, (below, 0, number)),
                    Matrix::B => (2, (0, beside, number)),
                    _ => (3, (below, beside, number)),
                };
                // The lower half of a part that has none is zero.
                let at = self.sources[which].iter().position(|other| *other == source);
                at.map_or(0, |at| content[which - 1][lane][at])
            };
            let result = self.parts.product.result(all.iter().map(|thread| thread.lane), register, &fused);
            for (at, (_, _, number)) in
                self.sources[0].iter().enumerate().filter(|(_, source)| (source.0, source.1) == (below, beside))
            {
                for (thread, values) in all.iter().zip(&result) {
                    machine.set(*thread, &self.lists[0][at], values[*number].into())?;
                }
            }
        }
        Ok(())
    }
}
