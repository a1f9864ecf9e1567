//! `tcgen05.mma`: a thread lets a block, or a pair of blocks, multiply matrices of shared memory and of tensor memory, where the
//! result is.
//!
//! The values are computed at once. Until a barrier is told by `tcgen05.commit` the matrices are in use. Of a pair each block has
//! half of the rows of A and of the result, and half of the columns of B.

use super::tcgen05_scales::ScalesOf;
use super::tcgen05_shape::{Kind, Shape, Sharing};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, stop, wrong};
use crate::machine::{Machine, Step};
use crate::memory::descriptor::Matrix;
use crate::memory::tensor::{COLUMNS, LANES, Place};
use crate::memory::units::Units;
use crate::ptx::operand::Operand;
use crate::watch::tensor::Run;

struct Multiply {
    kind: Kind,
    sharing: Sharing,
    d: Operand,
    a: Operand,
    b: Operand,
    shape: Operand,
    /// Where the scales of A and of B are.
    scales: Option<[Operand; 2]>,
    /// Lanes that are not written.
    disabled: Vec<Operand>,
    adds: Operand,
    /// D is divided by that power of two.
    divides: Option<Operand>,
}

/// What a product uses.
#[derive(Default)]
struct Uses {
    units: Units,
    runs: Vec<Run>,
}

/// A row of a factor, along K.
type Row = Vec<f64>;

/// What a product needs.
struct Factors {
    /// Of each block, for each lane of the result.
    a: Vec<Vec<Row>>,
    /// For each column of the result.
    b: Vec<Row>,
}

pub(super) fn decode(words: &[&str], sharing: Sharing, operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let (kind, rest) = words.split_first()?;
    // What is kept near the multipliers makes no difference to values.
    let kept = if sharing == Sharing::Weights { "collector::b" } else { "collector::a::" };
    let rest: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with(kept)).collect();
    let scaled = |packed, of_scale| Some(Kind::Scaled { packed, of_scale });
    let kind = match (*kind, &rest[..]) {
        ("kind::f16", []) => Some(Kind::Half),
        ("kind::tf32", []) => Some(Kind::Tf32),
        ("kind::f8f6f4", []) => Some(Kind::Byte),
        ("kind::i8", []) => Some(Kind::Integer),
        ("kind::mxf8f6f4", ["block_scale"] | ["block_scale", "scale_vec::1X" | "block32"]) => scaled(false, 32),
        ("kind::mxf4", ["block_scale"] | ["block_scale", "scale_vec::2X" | "block32"]) => scaled(true, 32),
        ("kind::mxf4nvf4", ["block_scale", "scale_vec::2X" | "block32"]) => scaled(true, 32),
        ("kind::mxf4nvf4", ["block_scale", "scale_vec::4X" | "block16"]) => scaled(true, 16),
        _ => None,
    }?;
    let mut operands = operands.into_iter();
    let (d, a, b, shape) = (operands.next()?, operands.next()?, operands.next()?, operands.next()?);
    let scales = match kind {
        Kind::Scaled { .. } => Some([operands.next()?, operands.next()?]),
        _ => None,
    };
    let mut adds = operands.next()?;
    let mut disabled = Vec::new();
    if let Operand::Vector(mask) = adds {
        (disabled, adds) = (mask, operands.next()?);
    }
    let divides = operands.next();
    let has_mask = matches!((disabled.len(), sharing), (0, _) | (4, Sharing::One) | (8, Sharing::Pair));
    // Another operand of `.ws` leaves out columns.
    let is_known = sharing != Sharing::Weights || divides.is_none() && !matches!(kind, Kind::Scaled { .. });
    let is_flag = adds.is_predicate() || matches!(adds, Operand::Number(0 | 1));
    if !is_flag || !has_mask || !is_known || operands.next().is_some() {
        return None;
    }
    Some(Box::new(Multiply { kind, sharing, d, a, b, shape, scales, disabled, adds, divides }))
}

impl Step for Multiply {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Multiply {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let blocks = machine.blocks_of_tensor(thread, self.sharing == Sharing::Pair)?;
        if blocks[0] != machine.block_of(thread) {
            return stop(Why::Gap, "tcgen05.mma.cta_group::2 that the odd block of a pair begins");
        }
        let d = machine.place_in_tensor(thread, &self.d)?;
        let shape = machine.get(thread, &self.shape)? as u32;
        let shape = Shape::of(self.kind, self.sharing, shape)?.beginning_in(d.lane)?;
        let adds = machine.get(thread, &self.adds)? & 1 == 1;
        let mut uses = Uses::default();
        let factors = Factors {
            a: blocks.iter().map(|block| self.a(machine, thread, *block, &shape, &mut uses)).collect::<Result<_>>()?,
            b: self.b(machine, thread, &blocks, &shape, &mut uses)?,
        };
        let scales = self.scales(machine, thread, &blocks, &shape, &mut uses)?;
        let enabled = self.enabled(machine, thread)?;
        for (block, enabled) in blocks.iter().zip(enabled) {
            machine.has_columns(*block, d, shape.columns_of_lane())?;
            for (lane, _) in shape.lanes().filter(|(lane, _)| enabled >> *lane & 1 == 1) {
                let place = Place { lane, column: d.column };
                let run = Run { block: *block, place, columns: shape.columns_of_lane(), writes: true };
                uses.runs.extend(adds.then_some(Run { writes: false, ..run }));
                uses.runs.push(run);
            }
        }
        machine.watch_product(thread, &uses.units, &uses.runs);
        let before = match &self.divides {
            _ if !adds => None,
            Some(divides) => Some(2f64.powi(-(machine.get(thread, divides)? as i32))),
            None => Some(1.0),
        };
        machine.worked((shape.columns * shape.depth) as u64)?;
        for (number, block) in blocks.iter().enumerate() {
            let scaled = scales.get(number).map(|scales| scales.of_b(&shape, &factors.b));
            let words = &mut machine.tensor_of(*block)?.words;
            for (lane, own) in shape.lanes().filter(|(lane, _)| enabled[number] >> *lane & 1 == 1) {
                let a = match scales.get(number) {
                    Some(scales) => &scales.of_a(&shape, lane, own, &factors.a[number][lane]),
                    None => &factors.a[number][lane],
                };
                let b = scaled.as_ref().map_or(&factors.b, |scaled| &scaled[lane / 32]);
                let begin = lane * COLUMNS + d.column;
                for (column, word) in words[begin..begin + shape.columns_of_lane()].iter_mut().enumerate() {
                    let added = before.map_or(0.0, |factor| factor * shape.sum.number((*word).into()));
                    let products = a.iter().zip(&b[own.first + column]).map(|(a, b)| a * b);
                    *word = shape.sum.rounded(added + products.sum::<f64>(), shape.saturates) as u32;
                }
            }
        }
        machine.progress += 1;
        Ok(())
    }

    /// The lanes of each block that are written, as bits.
    fn enabled(&self, machine: &Machine<'_>, thread: Thread) -> Result<[u128; 2]> {
        let mut disabled = [0; 2];
        for (number, word) in self.disabled.iter().enumerate() {
            disabled[number / 4] |= (machine.get(thread, word)? & 0xffff_ffff) << (32 * (number % 4));
        }
        Ok(disabled.map(|disabled: u128| !disabled))
    }

    /// The rows of A that the lanes of a block multiply.
    fn a(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        block: usize,
        shape: &Shape,
        uses: &mut Uses,
    ) -> Result<Vec<Row>> {
        if matches!(self.a, Operand::Address(..)) {
            return self.a_of_tensor(machine, thread, block, shape, uses);
        }
        let rows = self.rows(machine, thread, block, shape, (0, shape.rows_of_block()), uses)?;
        Ok((0..LANES).map(|lane| shape.own(lane).map_or(Row::new(), |own| rows[own.row].clone())).collect())
    }

    fn a_of_tensor(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        block: usize,
        shape: &Shape,
        uses: &mut Uses,
    ) -> Result<Vec<Row>> {
        if self.sharing == Sharing::Weights && shape.rows_of_block() < LANES {
            return stop(Why::Gap, format!("tcgen05.mma.ws of {} rows with A in tensor memory", shape.rows_of_block()));
        }
        let (first, columns) = (machine.place_in_tensor(thread, &self.a)?, shape.depth * shape.bits / 32);
        if first.lane != shape.from {
            return Err(wrong(format!("A does not begin in lane {}, as the result does", shape.from)));
        }
        machine.has_columns(block, first, columns)?;
        let run = |lane| Run { block, place: Place { lane, column: first.column }, columns, writes: false };
        uses.runs.extend(shape.lanes().map(|(lane, _)| run(lane)));
        let words = &machine.tensor_of(block)?.words;
        let of_word = 32 / shape.bits;
        let element = |lane: usize, along: usize| {
            let word = words[lane * COLUMNS + first.column + along / of_word];
            let bits = u64::from(word >> (along % of_word * shape.bits)) & (u64::MAX >> (64 - shape.bits));
            if shape.bits == 4 { shape.number(0, bits) } else { shape.number_of_container(0, bits) }
        };
        let row = |lane| (0..shape.depth).map(|along| element(lane, along)).collect();
        Ok((0..LANES).map(|lane| shape.own(lane).map_or(Row::new(), |_| row(lane))).collect())
    }

    /// The columns of B: each block has as many.
    fn b(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        blocks: &[usize],
        shape: &Shape,
        uses: &mut Uses,
    ) -> Result<Vec<Row>> {
        let mut all = Vec::with_capacity(shape.columns);
        for block in blocks {
            all.extend(self.rows(machine, thread, *block, shape, (1, shape.columns / blocks.len()), uses)?);
        }
        Ok(all)
    }

    /// Rows of a factor in a block's shared memory.
    fn rows(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        block: usize,
        shape: &Shape,
        (factor, count): (usize, usize),
        uses: &mut Uses,
    ) -> Result<Vec<Row>> {
        let descriptor = machine.get(thread, [&self.a, &self.b][factor])? as u64;
        machine.watch_descriptor(thread, descriptor);
        let matrix = Matrix::of_tcgen05(descriptor, shape.across[factor], shape.bits)?.of_width(shape.widths[factor]);
        let elements = machine.elements(block, &matrix, (0, count), shape.depth, &mut uses.units)?;
        let row = |row: &[u64]| row.iter().map(|bits| shape.number(factor, *bits)).collect();
        Ok(elements.chunks(shape.depth).map(row).collect())
    }

    /// The scales that each block has.
    fn scales(
        &self,
        machine: &mut Machine<'_>,
        thread: Thread,
        blocks: &[usize],
        shape: &Shape,
        uses: &mut Uses,
    ) -> Result<Vec<ScalesOf>> {
        let (Some(operands), Some(scales)) = (&self.scales, shape.scales) else { return Ok(Vec::new()) };
        let mut places = [Place { lane: 0, column: 0 }; 2];
        for (place, operand) in places.iter_mut().zip(operands) {
            // The two highest bits name a byte, as those of the instruction descriptor do.
            let at = machine.place_in_tensor(thread, operand)?;
            *place = Place { lane: at.lane & 0x3fff, ..at };
        }
        blocks.iter().map(|block| ScalesOf::read(machine, *block, shape, scales, places, &mut uses.runs)).collect()
    }
}
