//! `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: boxes of a tensor, which a tensor map describes.

use ptx_intrinsics::mbarrier::mbarrier_complete_tx;
use ptx_intrinsics::on_cpu::tensor::{BYTES, Given, Mode, Piece, Place, Refused, TensorMap, pieces};

use super::mbarrier::{Takes, on_barrier};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, missing, stop, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::begun::Copy;
use crate::memory::change::Change;
use crate::ptx::access::Engine;
use crate::ptx::operand::{Operand, Space};

struct Tensor {
    /// Shared memory that is written; none where it is read.
    into: Option<Space>,
    /// Of a reduction.
    op: Option<String>,
    multicast: bool,
    /// Whether the barrier may be in the other block of a pair.
    in_pair: bool,
    mode: Mode,
    dimensions: String,
    operands: Vec<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    const OPERATIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];
    // It stands anywhere.
    let in_pair = words.contains(&"cta_group::2");
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with("cta_group::")).collect();
    let has = |word: &str| words.contains(&word);
    let at = words.iter().position(|word| *word == "tensor")?;
    // What is taken of the tensor may stand before the spaces or behind them.
    let into = words.iter().skip(at + 2).find_map(|word| Space::parse(word))?;
    let reduces = has("reduce");
    let op = words.iter().find(|word| OPERATIONS.contains(word)).map(|op| (*op).to_owned());
    if reduces != op.is_some() {
        return None;
    }
    let tensor = Tensor {
        into: Some(into).filter(|into| *into != Space::Global),
        op,
        multicast: has("multicast::cluster"),
        in_pair,
        mode: mode_of(&words)?,
        dimensions: (*words.get(at + 1)?).to_owned(),
        operands,
    };
    Some(Box::new(tensor))
}

/// What a copy takes of a tensor; none where the interpreter does not know the word.
pub(super) fn mode_of(words: &[&str]) -> Option<Mode> {
    let is_mode = |word: &&str| ["tile", "im2col"].iter().any(|mode| word.starts_with(mode));
    Some(match words.iter().copied().find(is_mode) {
        None | Some("tile") => Mode::Tile,
        Some("tile::gather4" | "tile::scatter4") => Mode::Rows,
        Some("im2col" | "im2col_no_offs") => Mode::Columns,
        Some("im2col::w") => Mode::Width,
        Some("im2col::w::128") => Mode::Width128,
        Some(_) => return None,
    })
}

impl Step for Tensor {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Tensor {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let mode = self.mode;
        let operand = |at: usize| self.operands.get(at).ok_or_else(missing);
        let tensor = operand(usize::from(self.into.is_some()))?;
        let (address, map, coordinates) = self.map(machine, thread, tensor)?;
        // Only a load of columns has offsets, or a halo and an offset.
        let takes_offsets = !matches!(mode, Mode::Tile | Mode::Rows) && self.into.is_some();
        let offsets = if takes_offsets { self.offsets(machine, thread)? } else { Vec::new() };
        let place = Place { mode, coordinates: &coordinates, offsets: &offsets, writes: self.into.is_none() };
        let (all, bytes) = pieces(&map, &place).or_else(refused)?;
        let Some(space) = self.into else {
            let from = machine.address(thread, Space::Shared, operand(1)?)?;
            machine.watch_map_read(thread, address, &[]);
            return self.out(machine, thread, &map, &all, from);
        };
        let to = machine.address(thread, space, operand(0)?)?;
        let of_bar = if self.in_pair { Space::Cluster } else { space };
        let bar = machine.address(thread, of_bar, operand(2)?)?;
        aligned(to, 128)?;
        self.is_reached(machine, to, bar)?;
        if !self.multicast {
            machine.watch_map_read(thread, address, &[bar]);
            let copies = copies(machine, &map, &all, to)?;
            return begin(machine, thread, copies, bar, bytes);
        }
        let mask = machine.number(thread, &self.operands, 3 + usize::from(takes_offsets))?;
        let mut bars = Vec::new();
        for rank in (0..16).filter(|rank| mask >> rank & 1 == 1) {
            // In a pair, the barrier is in the block whose number has the same last bit.
            let told = if self.in_pair { rank & !1 | machine.rank_of(bar) & 1 } else { rank };
            let (to, bar) = (machine.in_block(to, rank)?, machine.in_block(bar, told)?);
            let copies = copies(machine, &map, &all, to)?;
            begin(machine, thread, copies, bar, bytes)?;
            bars.push(bar);
        }
        machine.watch_map_read(thread, address, &bars);
        Ok(())
    }

    fn offsets(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<Vec<u16>> {
        let Some(Operand::Vector(all)) = self.operands.get(3) else { return stop(Why::Wrong, "no offsets") };
        all.iter().map(|one| Ok(machine.get(thread, one)? as u16)).collect()
    }

    /// The barrier is in the block of the destination, or in the other one of its pair.
    fn is_reached(&self, machine: &Machine<'_>, to: u64, bar: u64) -> Result<()> {
        let [to, bar] = [to, bar].map(|place| machine.rank_of(place) >> u32::from(self.in_pair));
        if to == bar {
            return Ok(());
        }
        let text = if self.in_pair { "the barrier is not in the pair" } else { "the barrier is not in the block" };
        Err(wrong(format!("{text} of the destination")))
    }

    /// The map, where it is, and the coordinates of an operand.
    fn map(&self, machine: &mut Machine<'_>, thread: Thread, tensor: &Operand) -> Result<(u64, TensorMap, Vec<i32>)> {
        let Operand::Address(base, 0, coordinates) = tensor else { return stop(Why::Wrong, "no coordinates") };
        let address = machine.get(thread, base)? as u64;
        let map = map_at(machine, address)?;
        machine.watch_map(thread, address, BYTES);
        if self.dimensions != format!("{}d", map.rank) {
            return Err(wrong(format!("a map of {} dimensions, for {}", map.rank, self.dimensions)));
        }
        let number = |one: &Operand| Ok(machine.get(thread, one)? as u32 as i32);
        Ok((address, map, coordinates.iter().map(number).collect::<Result<_>>()?))
    }

    /// From shared memory, in a group.
    fn out(&self, machine: &mut Machine<'_>, thread: Thread, map: &TensorMap, all: &[Piece], from: u64) -> Result<()> {
        aligned(from, 128)?;
        let change = match &self.op {
            Some(op) => Some(change_of(map, op)?),
            None => None,
        };
        let mut copies = Vec::with_capacity(all.len());
        for piece in all {
            let Some(to) = piece.global else { continue };
            let from = place(map, from + piece.at)?;
            machine.there(from, piece.bytes, false)?;
            machine.there(to, piece.bytes, true)?;
            copies.push(Copy { change, ..Copy::plain(to, from, piece.bytes) });
        }
        machine.watch_stores(thread, &copies)?;
        machine.copies_of.entry(machine.id(thread)).or_default().bulk.open.extend(copies);
        Ok(())
    }
}

/// What 128 bytes at an address describe.
pub(super) fn map_at(machine: &mut Machine<'_>, address: u64) -> Result<TensorMap> {
    given(machine, address, Given::described)
}

/// What is asked of the 128 bytes at an address.
pub(super) fn given<T>(
    machine: &mut Machine<'_>,
    address: u64,
    ask: impl FnOnce(&Given) -> core::result::Result<T, Refused>,
) -> Result<T> {
    aligned(address, 64)?;
    let content = machine.read(address, BYTES)?;
    let given = Given::new(&content).ok_or_else(missing)?;
    ask(&given).or_else(|why| match why {
        Refused::Wrong(text) => stop(Why::Wrong, format!("at {address:#x} is {text}")),
        Refused::Unknown(text) => stop(Why::Gap, format!("at {address:#x}: {text}")),
    })
}

fn refused<T>(refused: Refused) -> Result<T> {
    match refused {
        Refused::Wrong(text) => stop(Why::Wrong, text),
        Refused::Unknown(text) => stop(Why::Gap, text),
    }
}

fn change_of(map: &TensorMap, op: &str) -> Result<Change> {
    let element = map.element().map_or("a packed type", |(_, element)| element);
    let change = map.changed_as(op).and_then(|ty| Change::of(&["", op, ty]));
    change.ok_or_else(|| wrong(format!("a reduction .{op} of a tensor of {element}")))
}

fn place(map: &TensorMap, at: u64) -> Result<u64> {
    map.place(at).ok_or_else(|| wrong("a swizzle that is not known"))
}

/// The copies of a box into shared memory. What is outside of the tensor is zero, or NaN.
fn copies(machine: &mut Machine<'_>, map: &TensorMap, all: &[Piece], to: u64) -> Result<Vec<Copy>> {
    let one = |piece: &Piece| {
        let to = place(map, to + piece.at)?;
        machine.there(to, piece.bytes, true)?;
        let read = if piece.global.is_some() { piece.bytes } else { 0 };
        let from = piece.global.unwrap_or(to);
        machine.there(from, read, false)?;
        Ok(Copy {
            read,
            is_padding: piece.is_padding,
            rest: map.outside(),
            tf32: map.is_tf32(),
            ..Copy::plain(to, from, piece.bytes)
        })
    };
    all.iter().map(one).collect()
}

/// They are done later. Then the barrier counts the bytes of the whole box.
fn begin(machine: &mut Machine<'_>, thread: Thread, copies: Vec<Copy>, bar: u64, bytes: usize) -> Result<()> {
    aligned(bar, 8)?;
    machine.watch_copies(thread, &copies, Engine::Barrier(bar))?;
    machine.copy_later(Box::new(move |machine| {
        machine.perform(&copies)?;
        // SAFETY: the barrier is a word of the interpreter's own.
        on_barrier(machine, bar, Takes::come(bytes), |bar| unsafe { mbarrier_complete_tx(bar, bytes as u32) })
    }));
    Ok(())
}
