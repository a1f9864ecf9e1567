//! Memory: its spaces, loads, stores and atomics.

use ptx_intrinsics::caching::{CachePolicy, L2EvictUnchanged};
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::ptx::change;

use crate::alu::signed;
use crate::code::{Operand, Place, Space, lanes};
use crate::machine::Machine;
use crate::{MODULE, Result, Stop, Why, stop, wrong};

/// Where shared memory, parameters and local memory seem to be: no host has memory there.
const SHARED: u64 = 0x1000_0000_0000_0000;
const PARAMETERS: u64 = 0x2000_0000_0000_0000;
const LOCAL: u64 = 0x3000_0000_0000_0000;

/// What a block has of shared memory, a thread of local memory, and a kernel of parameters.
const PIECE: u64 = 1 << 24;
/// What a cluster has of shared memory: a piece for each of its blocks.
const WINDOW: u64 = 1 << 28;

impl Machine<'_> {
    /// Where a space begins among the generic addresses. A block's shared memory has the addresses of its cluster.
    fn base(&self, at: usize, space: Space) -> u64 {
        match space {
            Space::Generic | Space::Global | Space::Func => 0,
            Space::Shared | Space::Cluster => SHARED + (self.threads[at].block / self.cluster) as u64 * WINDOW,
            Space::Entry => PARAMETERS,
            Space::Local => LOCAL + at as u64 * PIECE,
            Space::Const => (self.outside.variable)("").unwrap_or_default(),
        }
    }

    pub(crate) fn rank(&self, at: usize) -> u64 {
        (self.threads[at].block % self.cluster) as u64
    }

    /// The generic address of what a name means.
    fn generic(&self, at: usize, place: &Place) -> u64 {
        match place {
            Place::Shared(offset) => self.base(at, Space::Shared) + self.rank(at) * PIECE + offset,
            Place::Local(offset) | Place::Frame(offset) => self.base(at, Space::Local) + self.threads[at].base + offset,
            Place::Entry(offset) => PARAMETERS + offset,
            Place::Variable { name, at, .. } => (self.outside.variable)(name).unwrap_or(MODULE + at),
        }
    }

    /// What `mov` makes of a name.
    pub(crate) fn address_in_its_space(&self, at: usize, place: &Place) -> u64 {
        let space = match place {
            Place::Shared(_) => Space::Shared,
            Place::Local(_) => Space::Local,
            Place::Entry(_) => Space::Entry,
            Place::Variable { constant: true, .. } => Space::Const,
            Place::Frame(_) | Place::Variable { .. } => Space::Generic,
        };
        self.generic(at, place).wrapping_sub(self.base(at, space))
    }

    /// The generic address of an operand in brackets.
    pub(crate) fn address(&self, at: usize, space: Space, operand: &Operand) -> Result<u64> {
        let Operand::Address(base, offset, _) = operand else {
            return stop(Why::Wrong, format!("{operand:?} is no address"));
        };
        let address = match &**base {
            Operand::Name(place) => self.generic(at, place).wrapping_add(*offset),
            base => {
                let of_function = space == Space::Entry && !self.threads[at].code.is_entry;
                let space = if of_function { Space::Func } else { space };
                (self.get(at, base)? as u64).wrapping_add(*offset).wrapping_add(self.base(at, space))
            }
        };
        if space == Space::Shared && !self.is_in(at, address, "shared")? {
            return stop(Why::Astray, format!("{address:#x} is not in the block's shared memory"));
        }
        Ok(address)
    }

    /// The place in another block of the cluster that corresponds to one in a block.
    pub(crate) fn in_block(&self, place: u64, rank: u64) -> Result<u64> {
        if rank >= self.cluster as u64 {
            return stop(Why::Astray, format!("the cluster has no block {rank}"));
        }
        Ok(place - (place / PIECE % (WINDOW / PIECE)) * PIECE + rank * PIECE)
    }

    /// Whether a generic address is in a space.
    pub(crate) fn is_in(&self, at: usize, address: u64, space: &str) -> Result<bool> {
        let near = |begin: u64, bytes: u64| (begin..begin + bytes).contains(&address);
        let window = self.base(at, Space::Shared);
        let is_constant = || {
            self.program
                .constants
                .iter()
                .any(|(name, place, bytes)| near((self.outside.variable)(name).unwrap_or(MODULE + place), *bytes))
        };
        Ok(match space {
            "shared" | "shared::cta" => near(window + self.rank(at) * PIECE, PIECE),
            "shared::cluster" => near(window, self.cluster as u64 * PIECE),
            "local" => near(self.base(at, Space::Local), PIECE),
            "param" | "param::entry" => near(PARAMETERS, PIECE),
            "const" => is_constant(),
            "global" => !(SHARED..MODULE).contains(&address) && !is_constant(),
            _ => return stop(Why::Gap, format!("the space {space}")),
        })
    }

    /// `cvta`, `isspacep`, `mapa` and `getctarank`.
    pub(crate) fn convert_address(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [to, from, ..] = operands else { return stop(Why::Wrong, "an operand is missing") };
        let value = self.get(at, from)? as u64;
        let space = |word: &str| Space::parse(word).ok_or_else(|| Stop { why: Why::Gap, text: words.join(".") });
        let rank = |address: u64| address / PIECE % (WINDOW / PIECE);
        let result = match words[..] {
            ["cvta", "to", name, "u32" | "u64"] => value.wrapping_sub(self.base(at, space(name)?)),
            ["cvta", name, "u32" | "u64"] => value.wrapping_add(self.base(at, space(name)?)),
            ["isspacep", name] => self.is_in(at, value, name)?.into(),
            ["getctarank", ..] => rank(value),
            ["mapa", ..] => {
                let there = self.get(at, operands.get(2).ok_or_else(|| wrong("a rank is missing"))?)? as u64;
                self.in_block(value, there)?
            }
            _ => return stop(Why::Gap, words.join(".")),
        };
        self.set(at, to, result.into())
    }

    pub(crate) fn load(
        &mut self,
        at: usize,
        space: Space,
        bytes: usize,
        is_signed: bool,
        to: &[Operand],
        from: &Operand,
    ) -> Result<()> {
        let address = self.address(at, space, from)?;
        aligned(address, bytes * to.len())?;
        let mut all = [0; 64];
        let all = &mut all[..bytes * to.len()];
        self.read_into(address, all)?;
        for (lane, value) in to.iter().zip(all.chunks(bytes)) {
            let value = number(value);
            let value = if is_signed { signed(value, 8 * bytes as u32) as u128 } else { value };
            self.set(at, lane, value)?;
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        at: usize,
        space: Space,
        bytes: usize,
        to: &Operand,
        from: &[Operand],
    ) -> Result<()> {
        let address = self.address(at, space, to)?;
        aligned(address, bytes * from.len())?;
        for (number, lane) in from.iter().enumerate() {
            if let Operand::Sink = lane {
                continue;
            }
            let value = self.get(at, lane)?.to_le_bytes();
            self.write(address + (number * bytes) as u64, &value[..bytes])?;
        }
        Ok(())
    }

    /// What was there, and after it what is there now, by the crate's own meaning.
    pub(crate) fn atomic(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let text = words.join(".");
        let hinted = text.contains("::cache_hint");
        let (atomic, _) = judge_atomic(&text, hinted).map_err(|_| Stop { why: Why::Gap, text: text.clone() })?;
        let place = usize::from(words[0] == "atom");
        let bytes = atomic.bytes();
        let space = Space::of(words.iter().map(String::as_str));
        let missing = || wrong("an operand is missing");
        let address = self.address(at, space, operands.get(place).ok_or_else(missing)?)?;
        aligned(address, bytes)?;
        let mut values = Vec::new();
        for operand in &operands[place + 1..operands.len() - usize::from(hinted)] {
            let lanes = lanes(operand.clone());
            let mut value = [0; 16];
            for (lane, part) in lanes.iter().zip(value.chunks_mut(bytes / lanes.len())) {
                part.copy_from_slice(&self.get(at, lane)?.to_le_bytes()[..part.len()]);
            }
            values.push(u128::from_le_bytes(value));
        }
        let mut memory = [0; 16];
        self.read_into(address, &mut memory[..bytes])?;
        let mut new = u128::from_le_bytes(memory);
        let value = *values.last().ok_or_else(missing)?;
        let compare = (values.len() > 1).then(|| values[0]);
        // SAFETY: the number is this thread's own, and as wide as any.
        unsafe {
            let new = &raw mut new;
            match bytes {
                2 => drop(change(atomic, new.cast(), value as u16, compare.map(|value| value as u16))),
                4 => drop(change(atomic, new.cast(), value as u32, compare.map(|value| value as u32))),
                8 => drop(change(atomic, new.cast(), value as u64, compare.map(|value| value as u64))),
                _ => drop(change(atomic, new, value, compare)),
            }
        }
        self.write(address, &new.to_le_bytes()[..bytes])?;
        if place == 1 {
            let lanes = lanes(operands[0].clone());
            for (lane, part) in lanes.iter().zip(memory.chunks(bytes / lanes.len())) {
                self.set(at, lane, number(part))?;
            }
        }
        Ok(())
    }

    /// `prefetch`, `applypriority` and `discard`: they need memory, and `discard` loses what is in it.
    pub(crate) fn line(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let space = Space::of(words.iter().map(String::as_str));
        let address = self.address(at, space, operands.first().ok_or_else(|| wrong("an operand is missing"))?)?;
        match words[0].as_str() {
            "discard" => {
                aligned(address, 128)?;
                self.write(address, &[0xdd; 128])
            }
            "applypriority" => aligned(address, 128).and_then(|()| self.read(address, 128).map(drop)),
            _ if words.iter().any(|word| word == "tensormap") => {
                aligned(address, 64).and_then(|()| self.read(address, 128).map(drop))
            }
            _ => self.read(address, 1).map(drop),
        }
    }

    pub(crate) fn policy(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let bits = self.policy_bits(at, words, operands)?;
        self.set(at, &operands[0], bits.into())
    }

    fn policy_bits(&self, at: usize, words: &[String], operands: &[Operand]) -> Result<u64> {
        let missing = || wrong("an operand is missing");
        let value = |number: usize| self.get(at, operands.get(number).ok_or_else(missing)?);
        if words[1] == "cvt" {
            return Ok(value(1)? as u64);
        }
        let priorities: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("L2::evict_")).collect();
        let primary = priorities
            .first()
            .and_then(|first| ["unchanged", "first", "last", "normal"].iter().position(|word| word == first));
        let primary = (primary.ok_or_else(|| wrong("an unknown priority"))? as u64) << 57;
        let secondary = u64::from(priorities.get(1) == Some(&"first")) << 56;
        if words[1] == "range" {
            let address =
                self.address(at, Space::of(words.iter().map(String::as_str)), operands.get(1).ok_or_else(missing)?)?;
            let range = CachePolicy::encode_range::<L2EvictUnchanged>(address, value(2)? as u32, value(3)? as u32);
            // A range of no bytes has no priorities.
            return Ok(if value(3)? as u32 == 0 { range.bits() } else { range.bits() | primary | secondary });
        }
        let fraction = match operands.get(1) {
            None => 1.0,
            Some(Operand::Decimal(fraction)) => *fraction as f32,
            Some(_) => f32::from_bits(value(1)? as u32),
        };
        Ok(2 << 59 | primary | secondary | ((fraction * 15.99) as u64) << 52)
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut content = vec![0; bytes];
        self.read_into(address, &mut content)?;
        Ok(content)
    }

    /// The kernel's own memory at an address: whose, and where in it. None: it is not the kernel's own.
    fn own(&self, address: u64) -> Option<(Own, usize)> {
        let within = |begin: u64, bytes: u64| address.checked_sub(begin).filter(|offset| *offset < bytes);
        if address < SHARED {
            return None;
        }
        if let Some(offset) = within(SHARED, self.clusters.len() as u64 * WINDOW) {
            let rank = offset % WINDOW / PIECE;
            let block = (offset / WINDOW) as usize * self.cluster + rank as usize;
            let exists = rank < self.cluster as u64;
            return Some((if exists { Own::Shared(block) } else { Own::Nobody }, (offset % PIECE) as usize));
        }
        if let Some(offset) = within(LOCAL, self.threads.len() as u64 * PIECE) {
            return Some((Own::Local((offset / PIECE) as usize), (offset % PIECE) as usize));
        }
        let others = [(Own::Parameters, PARAMETERS), (Own::Module, MODULE)];
        let found = others.into_iter().find_map(|(own, begin)| Some((own, within(begin, PIECE)? as usize)));
        found.or_else(|| (address < MODULE + (1 << 60)).then_some((Own::Nobody, 0)))
    }

    pub(crate) fn read_into(&self, address: u64, content: &mut [u8]) -> Result<()> {
        let copy = |memory: &[u8], start: usize, content: &mut [u8]| match memory.get(start..start + content.len()) {
            Some(found) => {
                content.copy_from_slice(found);
                Ok(())
            }
            None => astray("read", content.len(), address),
        };
        match self.own(address) {
            Some((Own::Shared(block), start)) => copy(&self.blocks[block].shared, start, content),
            Some((Own::Local(thread), start)) => copy(&self.threads[thread].local, start, content),
            Some((Own::Parameters, start)) => copy(&self.parameters, start, content),
            Some((Own::Module, start)) => copy(&self.module(), start, content),
            Some((Own::Nobody, _)) => astray("read", content.len(), address),
            None if (self.outside.holds)(address, content.len()) => {
                // SAFETY: the memory is the GPU's to use.
                content.copy_from_slice(unsafe { std::slice::from_raw_parts(address as *const u8, content.len()) });
                Ok(())
            }
            None => astray("read", content.len(), address),
        }
    }

    pub(crate) fn write(&mut self, address: u64, content: &[u8]) -> Result<()> {
        let copy = |memory: &mut [u8], start: usize| match memory.get_mut(start..start + content.len()) {
            Some(place) => {
                place.copy_from_slice(content);
                Ok(())
            }
            None => astray("write", content.len(), address),
        };
        match self.own(address) {
            Some((Own::Shared(block), start)) => copy(&mut self.blocks[block].shared, start),
            Some((Own::Local(thread), start)) => copy(&mut self.threads[thread].local, start),
            Some((Own::Module, start)) => copy(&mut self.module(), start),
            Some((Own::Parameters | Own::Nobody, _)) => astray("write", content.len(), address),
            None if (self.outside.holds)(address, content.len()) => {
                // SAFETY: the memory is the GPU's to use.
                unsafe { std::slice::from_raw_parts_mut(address as *mut u8, content.len()) }.copy_from_slice(content);
                Ok(())
            }
            None => astray("write", content.len(), address),
        }
    }

    fn module(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.program.module.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whose memory it is.
enum Own {
    Shared(usize),
    Local(usize),
    Parameters,
    Module,
    Nobody,
}

fn astray(what: &str, bytes: usize, address: u64) -> Result<()> {
    stop(Why::Astray, format!("a {what} where there is no memory: {bytes} bytes at {address:#x}"))
}

/// A number of little-endian bytes.
fn number(bytes: &[u8]) -> u128 {
    let mut whole = [0; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(whole)
}

pub(crate) fn aligned(address: u64, bytes: usize) -> Result<()> {
    if address.is_multiple_of(bytes as u64) {
        return Ok(());
    }
    stop(Why::Misaligned, format!("{address:#x} is no multiple of {bytes}"))
}
