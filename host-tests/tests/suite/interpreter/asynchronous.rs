//! Copies that are done when somebody waits for them, as late as a GPU may do them, and barriers, which are those that the
//! crate has on a CPU.

use ptx_intrinsics::*;

use super::{Result, Run, aligned};

/// A copy that was begun.
#[derive(Clone, Debug)]
pub(super) struct Copy {
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
pub(super) struct Copies {
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

impl Run<'_> {
    /// `cp.async` and what belongs to it.
    pub(super) fn copy(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        match (words.get(1..3), words.get(2..4)) {
            (Some(["async", "bulk"]), _) => self.bulk(at, &words[3..], operands),
            (Some(["async", "commit_group"]), _) => {
                self.threads[at].copies.commit();
                Ok(())
            }
            (Some(["async", "wait_group"]), _) => {
                let left = self.number(at, operands, 0)? as usize;
                let due = self.threads[at].copies.due(left);
                self.perform(&due)
            }
            (Some(["async", "wait_all"]), _) => self.finish(at),
            (_, Some(["mbarrier", "arrive"])) => {
                self.finish(at)?;
                let noinc = words.contains(&"noinc");
                let bar = self.operand(at, "shared", operands, 0)?;
                // Without `.noinc` one more arrival is expected, and it is this one.
                // SAFETY: the barrier is a word of the interpreter's own.
                if noinc { self.barrier(bar, |bar| unsafe { mbarrier_arrive(bar) }).map(drop) } else { Ok(()) }
            }
            (Some(["async", "ca" | "cg"]), _) => self.begin(at, words, operands),
            _ => Err("a copy that the interpreter does not know".into()),
        }
    }

    /// A `cp.async` itself.
    fn begin(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        let (to, from) = (self.operand(at, "shared", operands, 0)?, self.operand(at, "global", operands, 1)?);
        let size = self.number(at, operands, 2)? as usize;
        if !(matches!(size, 4 | 8 | 16) && (size == 16 || words[2] == "ca")) {
            return Err(format!("{size} bytes cannot be copied"));
        }
        aligned(to, size)?;
        let behind = operands.len() - 3 - usize::from(words.contains(&"L2::cache_hint"));
        let read = match operands.get(3) {
            Some(ignore) if behind == 1 && ignore.contains("ignore") => size * usize::from(self.get(at, ignore)? == 0),
            Some(_) if behind == 1 => self.number(at, operands, 3)? as usize,
            _ => size,
        };
        if read > 0 {
            aligned(from, size)?;
        }
        self.threads[at].copies.open.push(Copy { to, from, read: read.min(size), size, mask: u16::MAX });
        Ok(())
    }

    fn bulk(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        match words[0] {
            "commit_group" => {
                self.threads[at].bulk.commit();
                return Ok(());
            }
            "wait_group" => {
                let left = self.number(at, operands, 0)? as usize;
                let due = self.threads[at].bulk.due(left);
                return self.perform(&due);
            }
            "prefetch" if words[1] == "tensor" => return self.prefetch_tensor(at, words, &operands[0]),
            "prefetch" => {
                let (from, size) = (self.operand(at, "global", operands, 0)?, self.number(at, operands, 1)? as usize);
                return sixteen(&[from, size as u64]).and_then(|()| self.read(from, size).map(drop));
            }
            _ => {}
        }
        let (to, from) = (self.operand(at, words[0], operands, 0)?, self.operand(at, words[1], operands, 1)?);
        let size = self.number(at, operands, 2)? as usize;
        sixteen(&[to, from, size as u64])?;
        let mut copy = Copy { to, from, read: size, size, mask: u16::MAX };
        if words[0] == "global" {
            if words.contains(&"cp_mask") {
                copy.mask = self.number(at, operands, operands.len() - 1)? as u16;
            }
            self.threads[at].bulk.open.push(copy);
            return Ok(());
        }
        let bar = if words.contains(&"ignore_oob") { 5 } else { 3 };
        let bar = self.operand(at, words[0], operands, bar)?;
        if words.contains(&"multicast::cluster") && self.number(at, operands, 4)? != 1 << self.threads[at].block {
            return Err("a copy to other blocks, which the interpreter does not know".into());
        }
        self.perform(&[copy])?;
        if words.contains(&"ignore_oob") {
            let (left, right) = (self.number(at, operands, 3)? as usize, self.number(at, operands, 4)? as usize);
            self.write(to, &vec![0xd5; left])?;
            self.write(to + (size - right) as u64, &vec![0xd5; right])?;
        }
        // SAFETY: the barrier is a word of the interpreter's own.
        self.barrier(bar, |bar| unsafe { mbarrier_complete_tx(bar, size as u32) })
    }

    /// The map has a mark and its dimensions, by the fake driver.
    fn prefetch_tensor(&mut self, at: usize, words: &[&str], operand: &str) -> Result<()> {
        let inner = operand.trim_matches(['[', ']']);
        let (map, coordinates) = inner.split_once(',').ok_or("no coordinates")?;
        let map = self.get(at, map.trim())? as u64;
        aligned(map, 64)?;
        let content = self.read(map, 128)?;
        let dimensions = coordinates.split(',').count();
        let kind = if words.contains(&"im2col") { 1 } else { 0 };
        if words[2] != format!("{dimensions}d") || content[..2] != [dimensions as u8, kind] {
            return Err(format!("a map of {} dimensions, kind {}, for {operand}", content[0], content[1]));
        }
        Ok(())
    }

    /// `mbarrier`.
    pub(super) fn mbarrier(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        let space = words.iter().find(|word| word.starts_with("shared")).copied().unwrap_or("shared");
        let (kind, modifier) = (words[1], words[2]);
        let first = if matches!(kind, "init" | "inval" | "expect_tx" | "complete_tx") { 0 } else { 1 };
        if kind == "pending_count" {
            let state = state(self.get(at, &operands[1])? as u64);
            // SAFETY: it makes a number of a number.
            return self.set(at, &operands[0], unsafe { mbarrier_pending_count(state) }.into());
        }
        let place = self.operand(at, space, operands, first)?;
        let value = operands.get(first + 1).map(|_| self.number(at, operands, first + 1)).transpose()?;
        let number = value.unwrap_or(1) as u32;
        // SAFETY: the barrier is a word of the interpreter's own.
        let result = self.barrier(place, |bar| unsafe { barrier_does(bar, kind, modifier, number, value) })??;
        if first == 1 && operands[0] != "_" { self.set(at, &operands[0], result.into()) } else { Ok(()) }
    }

    /// Lets the crate's barrier have its say about the word at that address.
    fn barrier<R>(&mut self, place: u64, then: impl FnOnce(SharedPtr<Mbarrier>) -> R) -> Result<R> {
        aligned(place, 8)?;
        let content = self.read(place, 8)?;
        let mut word = u64::from_le_bytes(content.try_into().map_err(|_| "no word")?);
        let result = then(SharedPtr::new((&raw mut word).cast()));
        self.write(place, &word.to_le_bytes())?;
        Ok(result)
    }

    /// The generic address of an operand in a space.
    fn operand(&self, at: usize, space: &str, operands: &[String], number: usize) -> Result<u64> {
        self.address(at, &[space], operands.get(number).ok_or("an operand is missing")?)
    }

    fn number(&self, at: usize, operands: &[String], number: usize) -> Result<u64> {
        Ok(self.get(at, operands.get(number).ok_or("an operand is missing")?)? as u64)
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
) -> std::result::Result<u64, &'static str> {
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
                    _ => return Err("a barrier's instruction that the interpreter does not know"),
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
