//! Copies that are done when somebody waits for them, as late as a GPU may do them; barriers, which are those that the
//! crate has on a CPU; and what is sent to another block, which arrives there later.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::code::{Operand, Space};
use crate::machine::Machine;
use crate::memory::aligned;
use crate::{Result, Stop, Why, stop, wrong};

/// A copy that was begun.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    to: u64,
    from: u64,
    /// How many bytes are read; the rest is filled with zeros.
    read: usize,
    size: usize,
    /// Which of each 16 bytes are written.
    mask: u16,
}

/// A thread's copies: those of no group yet, and its groups.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    open: Vec<Copy>,
    groups: Vec<Vec<Copy>>,
}

impl Copies {
    fn commit(&mut self) {
        let group = std::mem::take(&mut self.open);
        self.groups.push(group);
    }

    /// Those that are to be done where so many of the newest groups may be left.
    fn due(&mut self, left: usize) -> Vec<Copy> {
        let done = self.groups.len().saturating_sub(left);
        self.groups.drain(..done).flatten().collect()
    }
}

fn gap<T>(words: &[String]) -> Result<T> {
    stop(Why::Gap, words.join("."))
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|one| one == word)
}

impl Machine<'_> {
    /// `cp.async` and what belongs to it.
    pub(crate) fn copy(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let after: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        match after[..] {
            ["async", "bulk", ..] => self.bulk(at, words, operands),
            ["async", "commit_group"] => {
                self.threads[at].copies.commit();
                Ok(())
            }
            ["async", "wait_group"] => {
                let left = self.number(at, operands, 0)? as usize;
                let due = self.threads[at].copies.due(left);
                self.perform(&due)
            }
            ["async", "wait_all"] => self.finish(at),
            ["async", "mbarrier", "arrive", ..] => {
                self.finish(at)?;
                let place = self.place(at, Space::Shared, operands, 0)?;
                // Without `.noinc` one more arrival is expected, and it is this one.
                if !has(words, "noinc") {
                    return Ok(());
                }
                // SAFETY: the barrier is a word of the interpreter's own.
                self.on_barrier(place, |bar| unsafe { mbarrier_arrive(bar) }).map(drop)
            }
            ["async", "ca" | "cg", ..] => self.begin(at, words, operands),
            _ => gap(words),
        }
    }

    /// A `cp.async` itself.
    fn begin(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let (to, from) = (self.place(at, Space::Shared, operands, 0)?, self.place(at, Space::Global, operands, 1)?);
        let size = self.number(at, operands, 2)? as usize;
        if !(matches!(size, 4 | 8 | 16) && (size == 16 || words[2] == "ca")) {
            return stop(Why::Wrong, format!("{size} bytes cannot be copied"));
        }
        aligned(to, size)?;
        let more = operands.len() - 3 - usize::from(has(words, "L2::cache_hint"));
        // What is ignored is a predicate, and else there is a number of bytes.
        let read = match operands.get(3) {
            Some(ignore @ (Operand::Predicate(_) | Operand::Not(_))) if more == 1 => {
                size * usize::from(self.get(at, ignore)? == 0)
            }
            Some(_) if more == 1 => self.number(at, operands, 3)? as usize,
            _ => size,
        };
        if read > 0 {
            aligned(from, size)?;
        }
        self.threads[at].copies.open.push(Copy { to, from, read: read.min(size), size, mask: u16::MAX });
        Ok(())
    }

    fn bulk(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let missing = || wrong("a word is missing");
        let word = |number: usize| words.get(number).map(String::as_str).ok_or_else(missing);
        match word(3)? {
            "commit_group" => {
                self.threads[at].bulk.commit();
                return Ok(());
            }
            "wait_group" => {
                let left = self.number(at, operands, 0)? as usize;
                let due = self.threads[at].bulk.due(left);
                return self.perform(&due);
            }
            "prefetch" if word(4)? == "tensor" => return self.prefetch_tensor(at, words, &operands[0]),
            "prefetch" => {
                let (from, size) =
                    (self.place(at, Space::Global, operands, 0)?, self.number(at, operands, 1)? as usize);
                return sixteen(&[from, size as u64]).and_then(|()| self.read(from, size).map(drop));
            }
            _ => {}
        }
        let space =
            |number: usize| Space::parse(word(number)?).ok_or_else(|| Stop { why: Why::Gap, text: words.join(".") });
        let (into, of) = (space(3)?, space(4)?);
        let (to, from) = (self.place(at, into, operands, 0)?, self.place(at, of, operands, 1)?);
        let size = self.number(at, operands, 2)? as usize;
        sixteen(&[to, from, size as u64])?;
        let mut copy = Copy { to, from, read: size, size, mask: u16::MAX };
        if into == Space::Global {
            if has(words, "cp_mask") {
                copy.mask = self.number(at, operands, operands.len() - 1)? as u16;
            }
            self.threads[at].bulk.open.push(copy);
            return Ok(());
        }
        self.begin_into_shared(at, words, operands, into, copy)
    }

    /// It is done later, and then the barrier is told: in each block of a mask at the same place.
    fn begin_into_shared(
        &mut self,
        at: usize,
        words: &[String],
        operands: &[Operand],
        into: Space,
        copy: Copy,
    ) -> Result<()> {
        let ignores = has(words, "ignore_oob");
        let bar = self.place(at, into, operands, if ignores { 5 } else { 3 })?;
        let ignored = if ignores { [3, 4].map(|place| self.number(at, operands, place)) } else { [Ok(0), Ok(0)] };
        let [left, right] = ignored;
        let (left, right) = (left? as usize, right? as usize);
        let mut copies = vec![(copy.clone(), bar)];
        if has(words, "multicast::cluster") {
            let mask = self.number(at, operands, 4)?;
            let ranks = (0..16).filter(|rank| mask >> rank & 1 == 1);
            let moved = ranks.map(|rank| {
                let [to, bar] = [copy.to, bar].map(|place| self.in_block(place, rank));
                Ok((Copy { to: to?, ..copy.clone() }, bar?))
            });
            copies = moved.collect::<Result<_>>()?;
        }
        for (copy, bar) in copies {
            self.copy_later(Box::new(move |machine| {
                machine.perform(std::slice::from_ref(&copy))?;
                machine.write(copy.to, &vec![0xd5; left])?;
                machine.write(copy.to + (copy.size - right) as u64, &vec![0xd5; right])?;
                // SAFETY: the barrier is a word of the interpreter's own.
                machine.on_barrier(bar, |bar| unsafe { mbarrier_complete_tx(bar, copy.size as u32) })
            }));
        }
        Ok(())
    }

    /// The map has a mark and its dimensions, by the fake driver.
    fn prefetch_tensor(&mut self, at: usize, words: &[String], operand: &Operand) -> Result<()> {
        let Operand::Address(map, 0, dimensions) = operand else { return stop(Why::Wrong, "no coordinates") };
        let map = self.get(at, map)? as u64;
        aligned(map, 64)?;
        let content = self.read(map, 128)?;
        let kind = u8::from(has(words, "im2col"));
        if words[5] != format!("{dimensions}d") || content[..2] != [*dimensions as u8, kind] {
            let text = format!("a map of {} dimensions, kind {}, for {dimensions}", content[0], content[1]);
            return stop(Why::Wrong, text);
        }
        Ok(())
    }

    /// `mbarrier`.
    pub(crate) fn mbarrier(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let space = words.iter().filter(|word| word.starts_with("shared")).find_map(|word| Space::parse(word));
        let missing = || wrong("an operand is missing");
        let (kind, modifier) = (words.get(1).ok_or_else(missing)?.clone(), words.get(2).ok_or_else(missing)?.clone());
        let first = if matches!(kind.as_str(), "init" | "inval" | "expect_tx" | "complete_tx") { 0 } else { 1 };
        if kind == "pending_count" {
            let state = state(self.number(at, operands, 1)?);
            // SAFETY: it makes a number of a number.
            return self.set(at, &operands[0], unsafe { mbarrier_pending_count(state) }.into());
        }
        let place = self.place(at, space.unwrap_or(Space::Generic), operands, first)?;
        let value = operands.get(first + 1).map(|_| self.number(at, operands, first + 1)).transpose()?;
        let number = value.unwrap_or(1) as u32;
        if space == Some(Space::Cluster) {
            aligned(place, 8)?;
            // It is sent there, and nothing comes back.
            self.send(Box::new(move |machine| {
                // SAFETY: the barrier is a word of the interpreter's own.
                machine
                    .on_barrier(place, |bar| unsafe { barrier_does(bar, &kind, &modifier, number, value) })?
                    .map(drop)
            }));
            return Ok(());
        }
        // SAFETY: the barrier is a word of the interpreter's own.
        let result = self.on_barrier(place, |bar| unsafe { barrier_does(bar, &kind, &modifier, number, value) })??;
        if first == 1 { self.set(at, &operands[0], result.into()) } else { Ok(()) }
    }

    /// Lets the crate's barrier do something to the word at that address.
    fn on_barrier<R>(&mut self, place: u64, then: impl FnOnce(SharedPtr<Mbarrier>) -> R) -> Result<R> {
        aligned(place, 8)?;
        let content = self.read(place, 8)?;
        let mut word = u64::from_le_bytes(content.try_into().map_err(|_| wrong("no word"))?);
        let bar = SharedPtr::new((&raw mut word).cast());
        // The crate panics where a GPU's barrier would be in no known state.
        let result = catch_unwind(AssertUnwindSafe(|| then(bar)));
        let result = result.map_err(|_| wrong("the barrier is in no state for this"))?;
        self.write(place, &word.to_le_bytes())?;
        Ok(result)
    }

    /// Does all that is begun, of a group or not.
    fn finish(&mut self, at: usize) -> Result<()> {
        self.threads[at].copies.commit();
        let due = self.threads[at].copies.due(0);
        self.perform(&due)
    }

    fn perform(&mut self, due: &[Copy]) -> Result<()> {
        for copy in due {
            let mut content = if copy.read == 0 { Vec::new() } else { self.read(copy.from, copy.read)? };
            content.resize(copy.size, 0);
            for (at, byte) in content.iter().enumerate().filter(|(at, _)| copy.mask >> (at % 16) & 1 == 1) {
                self.write(copy.to + at as u64, &[*byte])?;
            }
        }
        Ok(())
    }
}

/// What an instruction does to a barrier, and gives.
unsafe fn barrier_does(
    bar: SharedPtr<Mbarrier>,
    kind: &str,
    modifier: &str,
    number: u32,
    value: Option<u64>,
) -> Result<u64> {
    // SAFETY: the caller's promise; a state is its bits.
    unsafe {
        match (kind, modifier) {
            ("init", _) => mbarrier_init(bar, number),
            ("inval", _) => mbarrier_inval(bar),
            ("expect_tx", _) => mbarrier_expect_tx(bar, number),
            ("complete_tx", _) => mbarrier_complete_tx(bar, number),
            ("test_wait" | "try_wait", "parity") => return Ok(mbarrier_test_wait_parity(bar, number).into()),
            ("test_wait" | "try_wait", _) => {
                return Ok(mbarrier_test_wait(bar, state(value.unwrap_or_default())).into());
            }
            _ => {
                let state = match (kind, modifier) {
                    ("arrive", "expect_tx") => mbarrier_arrive_expect_tx(bar, number),
                    ("arrive", "noComplete") => mbarrier_arrive_no_complete(bar, number),
                    ("arrive", _) => mbarrier_arrive_count(bar, number),
                    ("arrive_drop", "expect_tx") => mbarrier_arrive_drop_expect_tx(bar, number),
                    ("arrive_drop", "noComplete") => mbarrier_arrive_drop_no_complete(bar, number),
                    ("arrive_drop", _) => mbarrier_arrive_drop_count(bar, number),
                    _ => return stop(Why::Gap, format!("mbarrier.{kind}.{modifier}")),
                };
                return Ok(std::mem::transmute::<MbarrierState, u64>(state));
            }
        }
    }
    Ok(0)
}

fn state(bits: u64) -> MbarrierState {
    // SAFETY: a state is its bits.
    unsafe { std::mem::transmute(bits) }
}

fn sixteen(all: &[u64]) -> Result<()> {
    all.iter().try_for_each(|number| aligned(*number, 16))
}
