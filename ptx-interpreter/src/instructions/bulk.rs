//! `cp.async.bulk` and `cp.reduce.async.bulk`: done later, when the barrier counts the bytes or a thread waits for the group.

use ptx_intrinsics::mbarrier::mbarrier_complete_tx;
use ptx_intrinsics::on_cpu::tensor::Mode;

use super::mbarrier::{Takes, on_barrier};
use super::tensor::{map_at, mode_of};
use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, missing, stop};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::memory::begun::Copy;
use crate::memory::change::Change;
use crate::ptx::access::Engine;
use crate::ptx::operand::{Operand, Space};

struct Bulk {
    what: What,
    operands: Vec<Operand>,
}

enum What {
    Commit,
    /// Whether only the sources have to be read.
    Wait(bool),
    Prefetch,
    /// The dimensions, and what it takes of the tensor.
    PrefetchTensor(String, Mode),
    Copy {
        into: Space,
        of: Space,
        masked: bool,
        ignores: bool,
        multicast: bool,
        change: Option<Change>,
    },
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let has = |word: &str| words.contains(&word);
    let reduces = has("reduce");
    let change = if reduces { Some(Change::of(words)?) } else { None };
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "reduce").collect();
    let what = match (*words.get(3)?, words.get(4).copied()) {
        ("commit_group", _) => What::Commit,
        ("wait_group", kind) => What::Wait(kind == Some("read")),
        ("prefetch", Some("tensor")) => What::PrefetchTensor((*words.get(5)?).to_owned(), mode_of(&words)?),
        ("prefetch", _) => What::Prefetch,
        (into, of) => What::Copy {
            into: Space::parse(into)?,
            of: Space::parse(of?)?,
            masked: has("cp_mask"),
            ignores: has("ignore_oob"),
            multicast: has("multicast::cluster"),
            change,
        },
    };
    Some(Box::new(Bulk { what, operands }))
}

impl Step for Bulk {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Bulk {
    fn one(&self, machine: &mut Machine<'_>, thread: Thread) -> Result<()> {
        let number = |machine: &Machine<'_>, at: usize| machine.number(thread, &self.operands, at);
        let operand = |at: usize| self.operands.get(at).ok_or_else(missing);
        match &self.what {
            What::Commit => {
                let bulk = &mut machine.copies_of.entry(machine.id(thread)).or_default().bulk;
                bulk.commit();
                let group = bulk.committed;
                machine.watch_commit_of_copies(thread, group);
                Ok(())
            }
            What::Wait(only_read) => self.wait(machine, thread, *only_read),
            What::Prefetch => {
                // It is a hint: no memory has to be there.
                let from = machine.address(thread, Space::Global, operand(0)?)?;
                sixteen(&[from], number(machine, 1)?)
            }
            What::PrefetchTensor(words, mode) => self.prefetch_tensor(machine, thread, words, *mode),
            What::Copy { into, of, masked, change, .. } => {
                let (to, from) =
                    (machine.address(thread, *into, operand(0)?)?, machine.address(thread, *of, operand(1)?)?);
                let size = number(machine, 2)? as usize;
                sixteen(&[to, from], size as u64)?;
                let mut copy = Copy { change: *change, ..Copy::plain(to, from, size) };
                machine.there(from, size, false)?;
                machine.there(to, size, true)?;
                if *into != Space::Global {
                    return self.begin(machine, thread, *into, copy);
                }
                if *masked {
                    copy.mask = number(machine, self.operands.len() - 1)? as u16;
                }
                machine.watch_copy(thread, &copy, Engine::Bulk)?;
                machine.copies_of.entry(machine.id(thread)).or_default().bulk.open.push(copy);
                Ok(())
            }
        }
    }

    fn wait(&self, machine: &mut Machine<'_>, thread: Thread, only_read: bool) -> Result<()> {
        let left = machine.number(thread, &self.operands, 0)? as usize;
        let begun = machine.copies_of.entry(machine.id(thread)).or_default();
        let due = begun.bulk.due(left);
        let done = begun.bulk.done;
        machine.perform(&due)?;
        machine.watch_copied(thread, if only_read { Engine::BulkRead } else { Engine::Bulk }, done);
        Ok(())
    }

    /// It is done later. Then the barrier counts the bytes: in each block of a mask at the same place.
    fn begin(&self, machine: &mut Machine<'_>, thread: Thread, into: Space, copy: Copy) -> Result<()> {
        let What::Copy { ignores, multicast, .. } = self.what else { return Ok(()) };
        let operand = |at: usize| self.operands.get(at).ok_or_else(missing);
        let bar = machine.address(thread, into, operand(if ignores { 5 } else { 3 })?)?;
        let number = |at: usize| machine.number(thread, &self.operands, at);
        let (left, right) = if ignores { (number(3)? as usize, number(4)? as usize) } else { (0, 0) };
        let mut copies = vec![(copy.clone(), bar)];
        if multicast {
            let mask = number(4)?;
            let ranks = (0..16).filter(|rank| mask >> rank & 1 == 1);
            let moved = ranks.map(|rank| {
                let [to, bar] = [copy.to, bar].map(|place| machine.in_block(place, rank));
                Ok((Copy { to: to?, ..copy.clone() }, bar?))
            });
            copies = moved.collect::<Result<_>>()?;
        }
        for (copy, bar) in copies {
            aligned(bar, 8)?;
            machine.watch_copy(thread, &copy, Engine::Barrier(bar))?;
            machine.copy_later(Box::new(move |machine| {
                machine.perform(std::slice::from_ref(&copy))?;
                machine.write(copy.to, &vec![0xd5; left])?;
                machine.write(copy.to + (copy.size - right) as u64, &vec![0xd5; right])?;
                // SAFETY: the barrier is a word of the interpreter's own.
                on_barrier(machine, bar, Takes::come(copy.size), |bar| unsafe {
                    mbarrier_complete_tx(bar, copy.size as u32)
                })
            }));
        }
        Ok(())
    }

    /// The map has this number of dimensions, and is for this mode.
    fn prefetch_tensor(&self, machine: &mut Machine<'_>, thread: Thread, words: &str, mode: Mode) -> Result<()> {
        let Some(Operand::Address(map, 0, coordinates)) = self.operands.first() else {
            return stop(Why::Wrong, "no coordinates");
        };
        let dimensions = if mode == Mode::Rows { coordinates.len().saturating_sub(3) } else { coordinates.len() };
        let map = machine.get(thread, map)? as u64;
        let map = map_at(machine, map)?;
        if words != format!("{dimensions}d") || map.rank as usize != dimensions || !mode.suits(&map) {
            let (has, takes, rank) = (Mode::of(&map).words(), mode.words(), map.rank);
            let text = format!("a map of {rank} dimensions for {has}, for a prefetch of {dimensions} and {takes}");
            return stop(Why::Wrong, text);
        }
        Ok(())
    }
}

fn sixteen(places: &[u64], size: u64) -> Result<()> {
    if !size.is_multiple_of(16) {
        return stop(Why::Misaligned, format!("{size} bytes are no multiple of 16"));
    }
    places.iter().try_for_each(|place| aligned(*place, 16))
}
