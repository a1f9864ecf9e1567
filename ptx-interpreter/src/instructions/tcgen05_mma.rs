//! `tcgen05.mma`: a thread lets a block multiply matrices of shared memory and of tensor memory, where the result is.
//!
//! The values are computed at once. Until a barrier is told by `tcgen05.commit` the matrices are in use.

use ptx_intrinsics::on_cpu::matrix::{Operand as Of, Product};

use crate::descriptor::Matrix;
use crate::group::{Group, Thread};
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::{Result, Why, stop, wrong};
use crate::tensor::{COLUMNS, Place};
use crate::units::Units;
use crate::watch_tensor::Run;

/// What is computed at a time.
const ROWS: usize = 16;
const WIDTH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Half,
    Tf32,
    Byte,
    Integer,
}

struct Multiply {
    kind: Kind,
    d: Operand,
    a: Operand,
    b: Operand,
    shape: Operand,
    /// Lanes that are not written.
    disabled: Vec<Operand>,
    adds: Operand,
    /// D is divided by that power of two.
    scale: Option<Operand>,
}

/// What the instruction descriptor tells.
struct Shape {
    rows: usize,
    columns: usize,
    depth: usize,
    /// Of an element of A and B.
    bits: usize,
    product: Product,
    /// Whether A and B lie with elements of one column of K side by side.
    across: [bool; 2],
    negates: [bool; 2],
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let (kind, rest) = words.split_first()?;
    let kind = match *kind {
        "kind::f16" => Kind::Half,
        "kind::tf32" => Kind::Tf32,
        "kind::f8f6f4" => Kind::Byte,
        "kind::i8" => Kind::Integer,
        _ => return None,
    };
    // What is kept near the multipliers makes no difference to values.
    let is_kept = |rest: &&&str| rest.starts_with("collector::a::");
    if rest.iter().filter(is_kept).count() != rest.len() {
        return None;
    }
    let mut operands = operands.into_iter();
    let (d, a, b, shape) = (operands.next()?, operands.next()?, operands.next()?, operands.next()?);
    let mut adds = operands.next()?;
    let mut disabled = Vec::new();
    if let Operand::Vector(mask) = adds {
        (disabled, adds) = (mask, operands.next()?);
    }
    let scale = operands.next();
    if !adds.is_predicate() || !matches!(disabled.len(), 0 | 4) || operands.next().is_some() {
        return None;
    }
    Some(Box::new(Multiply { kind, d, a, b, shape, disabled, adds, scale }))
}

impl Shape {
    fn of(kind: Kind, word: u32) -> Result<Shape> {
        let field = |from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as usize;
        let gap = |what: &str| stop(Why::Gap, format!("tcgen05.mma {what}"));
        if field(2, 1) == 1 {
            return gap("of sparse matrices");
        }
        let (bits, sum, names): (usize, &str, &[&str]) = match (kind, field(4, 2)) {
            (Kind::Half, 1) => (16, "f32", &["f16", "bf16"]),
            (Kind::Half, 0) => return gap("with sums of f16"),
            (Kind::Tf32, 1) => (32, "f32", &["", "", "tf32"]),
            (Kind::Byte, 1) => (8, "f32", &["e4m3", "e5m2"]),
            (Kind::Byte, 0) => return gap("with sums of f16"),
            (Kind::Integer, 2) => (8, "s32", &["u8", "s8"]),
            _ => return Err(wrong("the instruction descriptor has another type of D than the kind")),
        };
        let of = |from: u32| match names.get(field(from, 3)) {
            Some(name) if !name.is_empty() => Ok(*name),
            _ if kind == Kind::Byte && matches!(field(from, 3), 3..=5) => {
                stop(Why::Gap, "tcgen05.mma of elements of less than 8 bits")
            }
            _ => Err(wrong("the instruction descriptor has a type of A or B that the kind has not")),
        };
        let (a, b, depth) = (of(7)?, of(10)?, 256 / bits);
        if bits == 16 && a != b {
            return Err(wrong("A and B are not of one type"));
        }
        let (columns, rows) = (field(17, 6) * 8, field(24, 5) * 16);
        let step = if rows == 64 { 8 } else { 16 };
        if !matches!(rows, 64 | 128) || columns == 0 || columns % step != 0 || columns > 256 {
            return Err(wrong(format!("there is no product of {rows} rows and {columns} columns for one block")));
        }
        let before = if field(3, 1) == 1 { ".satfinite" } else { "" };
        let alike = format!("mma.sync.aligned.m16n8k{depth}.row.col{before}.{sum}.{a}.{b}.{sum}");
        let product = Product::parse(&alike.split('.').collect::<Vec<_>>())
            .ok_or_else(|| wrong("the instruction descriptor fits no product"))?
            .summed_exactly();
        let bit = |at: u32| field(at, 1) == 1;
        let (across, negates) = ([bit(15), bit(16)], [bit(13), bit(14)]);
        Ok(Shape { rows, columns, depth, bits, product, across, negates })
    }

    /// Where a row of the result is, counted from the first lane.
    fn lane(&self, row: usize) -> usize {
        if self.rows == 64 { row / 16 * 32 + row % 16 } else { row }
    }

    /// Negates numbers.
    fn signed(&self, mut elements: Vec<u64>, factor: usize) -> Vec<u64> {
        if self.negates[factor] {
            elements.iter_mut().for_each(|element| *element ^= 1 << (self.bits - 1));
        }
        elements
    }
}

impl Step for Multiply {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Multiply {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let block = machine.block_of(thread);
        let shape = Shape::of(self.kind, machine.get(thread, &self.shape)? as u32)?;
        let d = machine.place_in_tensor(thread, &self.d)?;
        if d.lane != 0 {
            return Err(wrong("the result does not begin in lane 0"));
        }
        let adds = machine.get(thread, &self.adds)? & 1 == 1;
        let (mut units, mut runs) = (Units::new(), Vec::new());
        let a = self.elements_of_a(machine, thread, &shape, &mut units, &mut runs)?;
        let b = Matrix::of_tcgen05(machine.get(thread, &self.b)? as u64, shape.across[1], shape.bits)?;
        let b = machine.elements(block, &b, (0, shape.columns), shape.depth, &mut units)?;
        let [a, b] = [shape.signed(a, 0), shape.signed(b, 1)];
        machine.has_columns(block, d, shape.columns)?;
        let enabled = self.enabled(machine, thread)?;
        let lanes: Vec<usize> = (0..shape.rows).map(|row| shape.lane(row)).collect();
        for lane in lanes.iter().filter(|lane| enabled >> **lane & 1 == 1) {
            let run = Run { place: Place { lane: *lane, column: d.column }, columns: shape.columns, writes: true };
            if adds {
                runs.push(Run { writes: false, ..run });
            }
            runs.push(run);
        }
        machine.watch_product(thread, &units, &runs);
        let power = match &self.scale {
            Some(scale) => machine.get(thread, scale)? as i32,
            None => 0,
        };
        let words = &mut machine.tensor_of(block)?.words;
        let before = |row: usize, column: usize, words: &[u32]| {
            let word = words[lanes[row] * COLUMNS + d.column + column];
            match (adds, power) {
                (false, _) => 0,
                (true, 0) => word,
                (true, power) => (f32::from_bits(word) * 2f32.powi(-power)).to_bits(),
            }
        };
        for tile in 0..shape.rows / ROWS * (shape.columns / WIDTH) {
            let (row, column) = (tile % (shape.rows / ROWS) * ROWS, tile / (shape.rows / ROWS) * WIDTH);
            let of_a = |own: usize, along: usize| a[(row + own) * shape.depth + along];
            let of_b = |own: usize, along: usize| b[(column + own) * shape.depth + along];
            let of_c = |own: usize, along: usize| before(row + own, column + along, words).into();
            let register = |matrix, lane, number| match matrix {
                Of::A => shape.product.register(Of::A, lane, number, of_a),
                Of::B => shape.product.register(Of::B, lane, number, of_b),
                other => shape.product.register(other, lane, number, of_c),
            };
            let result = shape.product.result(0..32, register, f64::mul_add);
            for (lane, values) in result.iter().enumerate() {
                for (number, value) in values.iter().enumerate() {
                    let own = lanes[row + lane / 4 + number / 2 * 8];
                    if enabled >> own & 1 == 1 {
                        words[own * COLUMNS + d.column + column + lane % 4 * 2 + number % 2] = *value as u32;
                    }
                }
            }
        }
        machine.progress += 1;
        Ok(())
    }

    /// The lanes that are written, as bits.
    fn enabled(&self, machine: &Machine<'_>, thread: Thread) -> Result<u128> {
        let mut disabled = 0;
        for (number, word) in self.disabled.iter().enumerate() {
            disabled |= (machine.get(thread, word)? & 0xffff_ffff) << (32 * number);
        }
        Ok(!disabled)
    }

    fn elements_of_a(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        shape: &Shape,
        units: &mut Units,
        runs: &mut Vec<Run>,
    ) -> Result<Vec<u64>> {
        let block = machine.block_of(thread);
        if !matches!(self.a, Operand::Address(..)) {
            let a = Matrix::of_tcgen05(machine.get(thread, &self.a)? as u64, shape.across[0], shape.bits)?;
            return machine.elements(block, &a, (0, shape.rows), shape.depth, units);
        }
        if shape.rows != 128 {
            return stop(Why::Gap, "tcgen05.mma of 64 rows with A in tensor memory");
        }
        let (first, columns) = (machine.place_in_tensor(thread, &self.a)?, shape.depth * shape.bits / 32);
        if first.lane != 0 {
            return Err(wrong("A does not begin in lane 0"));
        }
        machine.has_columns(block, first, columns)?;
        let run = |lane| Run { place: Place { lane, column: first.column }, columns, writes: false };
        runs.extend((0..shape.rows).map(run));
        let words = &machine.tensor_of(block)?.words;
        let of_word = 32 / shape.bits;
        let element = |row: usize, along: usize| {
            let word = words[row * COLUMNS + first.column + along / of_word];
            u64::from(word >> (along % of_word * shape.bits)) & (u64::MAX >> (64 - shape.bits))
        };
        Ok((0..shape.rows).flat_map(|row| (0..shape.depth).map(move |along| element(row, along))).collect())
    }
}
