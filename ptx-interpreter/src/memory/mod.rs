//! Memory: its spaces, and where the bytes of an address are.

pub(crate) mod alias;
pub(crate) mod begun;
pub(crate) mod change;
pub(crate) mod copies;
pub(crate) mod descriptor;
pub(crate) mod fetch;
pub(crate) mod gaps;
pub(crate) mod heap;
pub(crate) mod l1;
pub(crate) mod local;
pub(crate) mod near;
pub(crate) mod overwritten;
pub(crate) mod spaces;
pub(crate) mod tensor;
pub(crate) mod texture;
pub(crate) mod units;

use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, each};
use crate::machine::stop::{Result, Stop, Why, stop};
use crate::memory::alias::first_address;
use crate::memory::local::Local;
use crate::memory::spaces::{LOCAL, MODULE, Owner, PARAMETERS, PIECE, SHARED, WINDOW, owner};
use crate::parts::overlay::{PAGE, on_pages};
use crate::ptx::operand::{Operand, Place, Space};
use crate::ptx::special::RESERVED;

/// An address of 32 bits, with what is added to it, has no more of them. Compilers begin a loop before the first byte of shared memory.
const NARROW: u64 = u32::MAX as u64;

impl Machine<'_> {
    /// Where the parameters of a thread's grid are.
    #[inline]
    pub(crate) fn parameters_of(&self, thread: Thread) -> u64 {
        PARAMETERS + self.grids.of(self.block_of(thread) as u32) as u64 * PIECE
    }

    /// Where a variable of the module is, if the host has asked for it on the GPU of a thread.
    fn variable(&self, thread: Thread, name: &str) -> Option<u64> {
        match self.grids.of(self.block_of(thread) as u32) {
            0 => (self.outside.variable)(name),
            grid => (self.launch.peers[grid - 1].variable)(name),
        }
    }

    /// Where a space begins among the generic addresses. A block's shared memory has the addresses of its cluster.
    fn base(&self, thread: Thread, space: Space) -> u64 {
        match space {
            Space::Generic | Space::Global | Space::Func => 0,
            Space::Shared | Space::Cluster => SHARED + (self.block_of(thread) / self.cluster) as u64 * WINDOW,
            Space::Entry => self.parameters_of(thread),
            Space::Local => LOCAL + u64::from(self.id(thread)) * PIECE,
            Space::Const => self.variable(thread, "").unwrap_or_default(),
        }
    }

    /// The generic address of what a name means.
    fn generic(&self, thread: Thread, place: &Place) -> u64 {
        match place {
            Place::Shared(offset) => {
                self.base(thread, Space::Shared) + self.rank(self.block_of(thread)) * PIECE + offset
            }
            Place::Dynamic => {
                let at = self.code.dynamic as u64;
                self.base(thread, Space::Shared) + self.rank(self.block_of(thread)) * PIECE + at
            }
            Place::Local(offset) | Place::Frame(offset) => {
                self.base(thread, Space::Local) + self.warp(thread.warp).frames[thread.frame].base + offset
            }
            Place::Entry(offset) => self.base(thread, Space::Entry) + offset,
            Place::Variable { name, at, .. } => self.variable(thread, name).unwrap_or(MODULE + at),
        }
    }

    /// What `mov` makes of a name.
    pub(crate) fn address_in_its_space(&self, thread: Thread, place: &Place) -> u64 {
        let space = match place {
            Place::Shared(_) | Place::Dynamic => Space::Shared,
            Place::Local(_) => Space::Local,
            Place::Entry(_) => Space::Entry,
            Place::Variable { constant: true, .. } => Space::Const,
            Place::Frame(_) | Place::Variable { .. } => Space::Generic,
        };
        self.generic(thread, place).wrapping_sub(self.base(thread, space))
    }

    /// The generic address of an operand in brackets.
    pub(crate) fn address(&self, thread: Thread, space: Space, operand: &Operand) -> Result<u64> {
        let Operand::Address(base, offset, _) = operand else {
            return stop(Why::Wrong, format!("{operand:?} is no address"));
        };
        let address = match &**base {
            Operand::Name(place, add) => self.generic(thread, place).wrapping_add(add.wrapping_add(*offset)),
            base => {
                let wraps = matches!(base, Operand::Register(register) if register.bits <= 32);
                let of_function = space == Space::Entry && !self.warp(thread.warp).frames[thread.frame].code.is_entry;
                let space = if of_function { Space::Func } else { space };
                let place = (self.get(thread, base)? as u64).wrapping_add(*offset);
                let place = if wraps { place & NARROW } else { place };
                place.wrapping_add(self.base(thread, space))
            }
        };
        match space {
            Space::Shared => self.in_own_shared(thread, address)?,
            Space::Global => in_global(address)?,
            _ => {}
        }
        Ok(address)
    }

    /// Bytes of shared memory that a block has.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.code.dynamic + self.launch.shared
    }

    /// With what the system has reserved, if the module asks where that is.
    pub(crate) fn shared_room(&self) -> usize {
        if self.program.names_reserved { self.reserved(RESERVED) } else { self.shared_bytes() }
    }

    /// Where that part of what the system has reserved begins.
    pub(crate) fn reserved(&self, part: usize) -> usize {
        self.shared_bytes().next_multiple_of(RESERVED) + part
    }

    fn in_own_shared(&self, thread: Thread, address: u64) -> Result<()> {
        let begin = self.base(thread, Space::Shared) + self.rank(self.block_of(thread)) * PIECE;
        if address.wrapping_sub(begin) < PIECE {
            return Ok(());
        }
        stop(Why::Astray, format!("{address:#x} is not in the space .shared of the block"))
    }

    /// The generic addresses of an operand in all threads of a group.
    #[inline]
    pub(crate) fn addresses(&self, group: Group, space: Space, operand: &Operand, all: &mut Lanes) -> Result<()> {
        let Operand::Address(base, offset, _) = operand else {
            return stop(Why::Wrong, format!("{operand:?} is no address"));
        };
        match (&**base, space) {
            (Operand::Name(place, _), _) if place.is_same_for_all() => {
                *all = [self.address(group.first(), space, operand)?; LANES];
            }
            (Operand::Register(register), Space::Generic | Space::Global | Space::Shared | Space::Cluster) => {
                let thread = group.first();
                let base = self.base(thread, space);
                let most = if register.bits <= 32 { NARROW } else { u64::MAX };
                let (own, offset) = (&self.frame(group).registers[register.at], *offset);
                *all = own.map(|value| base.wrapping_add(value.wrapping_add(offset) & most));
                if space == Space::Shared {
                    let begin = self.base(thread, Space::Shared) + self.rank(self.block_of(thread)) * PIECE;
                    if all.iter().fold(false, |any, address| any | (address.wrapping_sub(begin) >= PIECE)) {
                        group.threads().try_for_each(|thread| {
                            self.in_own_shared(thread, all[thread.lane]).map_err(|stop| stop.by(thread.lane))
                        })?;
                    }
                } else if space == Space::Global && all.iter().fold(0, |bits, address| bits | address) >= SHARED {
                    group
                        .threads()
                        .try_for_each(|thread| in_global(all[thread.lane]).map_err(|stop| stop.by(thread.lane)))?;
                }
            }
            _ => {
                for thread in group.threads() {
                    all[thread.lane] = self.address(thread, space, operand)?;
                }
            }
        }
        Ok(())
    }

    /// The place in another block of the cluster that corresponds to one in a block.
    pub(crate) fn in_block(&self, place: u64, rank: u64) -> Result<u64> {
        if rank >= self.cluster as u64 {
            return stop(Why::Astray, format!("the cluster has no block {rank}"));
        }
        Ok(place - self.rank_of(place) * PIECE + rank * PIECE)
    }

    /// The same, as an address alone: compilers also compute what they do not use. Of a block that the cluster does not have it is
    /// nobody's.
    pub(crate) fn mapped(&self, place: u64, rank: u64) -> Result<u64> {
        let last = WINDOW / PIECE - 1;
        if rank < self.cluster as u64 || self.cluster as u64 > last {
            return self.in_block(place, rank);
        }
        Ok(place - self.rank_of(place) * PIECE + last * PIECE)
    }

    /// Whether an address is in the shared memory of a block that has ended.
    pub(crate) fn has_ended(&self, address: u64) -> bool {
        matches!(owner(address, self.cluster).0, Owner::Shared(block) if self.blocks.get(block).is_none_or(Option::is_none))
    }

    /// The place in the cluster of the block whose shared memory an address is in.
    pub(crate) fn rank_of(&self, address: u64) -> u64 {
        address / PIECE % (WINDOW / PIECE)
    }

    pub(crate) fn to_generic(&self, thread: Thread, space: Space, address: u64) -> u64 {
        address.wrapping_add(self.base(thread, space))
    }

    pub(crate) fn in_its_space(&self, thread: Thread, space: Space, address: u64) -> u64 {
        address.wrapping_sub(self.base(thread, space))
    }

    /// Whether a generic address is in a space.
    pub(crate) fn is_in(&self, thread: Thread, address: u64, space: &str) -> Result<bool> {
        let near = |begin: u64, bytes: u64| (begin..begin + bytes).contains(&address);
        let window = self.base(thread, Space::Shared);
        let is_constant = || {
            self.program
                .constants
                .iter()
                .any(|(name, place, bytes)| near(self.variable(thread, name).unwrap_or(MODULE + place), *bytes))
        };
        Ok(match space {
            "shared" | "shared::cta" => near(window + self.rank(self.block_of(thread)) * PIECE, PIECE),
            "shared::cluster" => near(window, self.cluster as u64 * PIECE),
            "local" => near(self.base(thread, Space::Local), PIECE),
            "param" | "param::entry" => near(self.base(thread, Space::Entry), PIECE),
            "const" => is_constant(),
            "global" => !(SHARED..MODULE).contains(&address) && !is_constant(),
            _ => return stop(Why::Gap, format!("the space {space}")),
        })
    }

    /// Where bytes are on the host. Every access of a kernel to memory is served through the pointer that comes from here.
    #[inline]
    pub(crate) fn host(&mut self, address: u64, bytes: usize, writes: bool) -> Result<*mut u8> {
        self.place(address, bytes, writes).ok_or_else(|| nowhere(address, bytes, writes))
    }

    /// Whether there is memory, which need not be in one place on the host.
    pub(crate) fn there(&mut self, address: u64, bytes: usize, writes: bool) -> Result<()> {
        match self.part.is_some() && self.beneath(address, bytes).is_some() {
            true => Ok(()),
            false => self.host(address, bytes, writes).map(drop),
        }
    }

    /// The same, if there is memory.
    #[inline]
    pub(crate) fn place(&mut self, address: u64, bytes: usize, writes: bool) -> Option<*mut u8> {
        let page = address / PAGE;
        let pages = &self.pages[usize::from(writes)];
        let (known, away) = pages[page as usize % pages.len()];
        if known == page && (address % PAGE).saturating_add(bytes as u64) <= PAGE {
            return Some(address.wrapping_add(away) as *mut u8);
        }
        self.place_of(address, bytes, writes)
    }

    fn place_of(&mut self, address: u64, bytes: usize, writes: bool) -> Option<*mut u8> {
        let within = |memory: &mut [u8], at: u64| {
            memory.get_mut(at as usize..(at as usize).checked_add(bytes)?).map(<[u8]>::as_mut_ptr)
        };
        let (owner, at) = owner(address, self.cluster);
        match owner {
            Owner::Shared(block) => {
                self.blocks.get_mut(block).and_then(Option::as_mut).and_then(|block| within(&mut block.shared, at))
            }
            Owner::Local(thread) => self.local_of(thread).and_then(|local| within(&mut local.bytes, at)),
            Owner::Parameters if writes => None,
            Owner::Parameters => within(self.parameters.get_mut((at / PIECE) as usize)?, at % PIECE),
            Owner::Module | Owner::Outside if self.part.is_some() => self.of_the_part(address, bytes, writes),
            Owner::Module => {
                let mut module = self.program.module.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                within(&mut module, at)
            }
            Owner::Heap => self.heap.heap.place(address, bytes),
            Owner::Outside => self.of_the_host(address, bytes, writes),
            // Ordinary instructions have no way there.
            Owner::Tensor(_) | Owner::Nobody => None,
        }
    }

    /// The local memory of a thread, by its number in the grid.
    pub(crate) fn local_of(&mut self, thread: usize) -> Option<&mut Local> {
        let (block, number) = (thread / self.threads, thread % self.threads);
        let warp = self.warps.get_mut(block * self.warps_of_block + number / LANES).and_then(Option::as_mut);
        warp.map(|warp| &mut warp.local[number % LANES])
    }

    fn of_the_host(&mut self, address: u64, bytes: usize, writes: bool) -> Option<*mut u8> {
        if !(self.outside.holds)(address, bytes) {
            return None;
        }
        if writes {
            self.overwrites(address, bytes);
        }
        let page = address / PAGE;
        if let Some(first) = self.in_one_memory(page * PAGE, PAGE)
            && (self.outside.holds)(page * PAGE, PAGE as usize)
        {
            let away = first.wrapping_sub(page * PAGE);
            self.know_page(false, page, away);
            if writes || self.launch.overwritten.is_none() {
                self.know_page(true, page, away);
            }
        }
        // Bytes of several memories are where their addresses say.
        Some(self.in_one_memory(address, bytes as u64).unwrap_or(address) as *mut u8)
    }

    /// The first address of bytes outside, if all of them are in one memory.
    fn in_one_memory(&self, address: u64, bytes: u64) -> Option<u64> {
        let (first, own, _) = first_address(self.launch.aliases, address, bytes);
        (own == bytes).then_some(first)
    }

    /// Bytes outside, which are there, are written from now on.
    pub(crate) fn overwrites(&self, address: u64, bytes: usize) {
        if let Some(overwritten) = self.launch.overwritten {
            let mut overwritten = overwritten.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (mut address, mut rest) = (address, bytes as u64);
            while rest > 0 {
                let (first, own, _) = first_address(self.launch.aliases, address, rest);
                // SAFETY: they are held.
                unsafe { overwritten.keep(self.outside.holds, first, own as usize) };
                (address, rest) = (address + own, rest - own);
            }
        }
    }

    /// All of a page may be read, or written, that far away from its address.
    pub(crate) fn know_page(&mut self, writes: bool, page: u64, away: u64) {
        let pages = &mut self.pages[usize::from(writes)];
        let place = page as usize % pages.len();
        pages[place] = (page, away);
    }

    pub(crate) fn read_into(&mut self, address: u64, content: &mut [u8]) -> Result<()> {
        if self.is_apart(address, content.len()) {
            self.there(address, content.len(), false)?;
            return on_pages(address, content.len())
                .try_for_each(|range| self.read_into(address + range.start as u64, &mut content[range]));
        }
        let from = self.host(address, content.len(), false)?;
        // SAFETY: the bytes are inside the piece, and nothing else uses the launch's memory now.
        unsafe { std::ptr::copy_nonoverlapping(from, content.as_mut_ptr(), content.len()) };
        Ok(())
    }

    pub(crate) fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut content = vec![0; bytes];
        self.read_into(address, &mut content)?;
        Ok(content)
    }

    pub(crate) fn write(&mut self, address: u64, content: &[u8]) -> Result<()> {
        if self.is_apart(address, content.len()) {
            self.there(address, content.len(), true)?;
            return on_pages(address, content.len())
                .try_for_each(|range| self.write(address + range.start as u64, &content[range]));
        }
        let to = self.host(address, content.len(), true)?;
        // Nobody waits for what another thread writes to its own memory.
        self.progress += u64::from(!(LOCAL..MODULE).contains(&address));
        // SAFETY: the bytes are inside the piece, and nothing else uses the launch's memory now.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), to, content.len()) };
        Ok(())
    }

    /// A number of at most eight bytes.
    #[inline]
    pub(crate) fn read_number(&mut self, address: u64, bytes: usize) -> Result<u64> {
        let from = self.host(address, bytes, false)?;
        // SAFETY: the bytes are inside the piece.
        Ok(unsafe { number_at(from, bytes) })
    }

    #[inline]
    pub(crate) fn write_number(&mut self, address: u64, bytes: usize, value: u64) -> Result<()> {
        let to = self.host(address, bytes, true)?;
        self.progress += u64::from(!(LOCAL..MODULE).contains(&address));
        // SAFETY: the bytes are inside the piece.
        unsafe { put_number_at(to, bytes, value) };
        Ok(())
    }
}

/// The number of at most eight bytes at a place, which need not be aligned.
///
/// # Safety
/// These bytes can be read.
#[inline]
pub(crate) unsafe fn number_at(place: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => place.cast::<u32>().read_unaligned().into(),
            8 => place.cast::<u64>().read_unaligned(),
            2 => place.cast::<u16>().read_unaligned().into(),
            _ => place.read().into(),
        }
    }
}

/// Puts such a number there.
///
/// # Safety
/// These bytes can be written.
#[inline]
pub(crate) unsafe fn put_number_at(place: *mut u8, bytes: usize, value: u64) {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => place.cast::<u32>().write_unaligned(value as u32),
            8 => place.cast::<u64>().write_unaligned(value),
            2 => place.cast::<u16>().write_unaligned(value as u16),
            _ => place.write(value as u8),
        }
    }
}

fn nowhere(address: u64, bytes: usize, writes: bool) -> Stop {
    let what = if writes { "write" } else { "read" };
    let text = format!("a {what} where there is no memory: {bytes} bytes at {address:#x}");
    Stop { why: Why::Astray, text, lane: None }
}

/// Shared memory, parameters and local memory are not global memory, although they have generic addresses.
fn in_global(address: u64) -> Result<()> {
    if !(SHARED..MODULE).contains(&address) {
        return Ok(());
    }
    stop(Why::Astray, format!("{address:#x} is not in the space .global"))
}

/// Whether the address of each thread of a group is a multiple of `bytes`.
pub(crate) fn all_aligned(group: Group, addresses: &Lanes, bytes: usize) -> Result<()> {
    let mut bits = 0;
    each(group.mask, |lane| bits |= addresses[lane]);
    if bytes.is_power_of_two() && bits & (bytes as u64 - 1) == 0 {
        return Ok(());
    }
    group.threads().try_for_each(|thread| aligned(addresses[thread.lane], bytes).map_err(|stop| stop.by(thread.lane)))
}

pub(crate) fn aligned(address: u64, bytes: usize) -> Result<()> {
    if address.is_multiple_of(bytes as u64) {
        return Ok(());
    }
    stop(Why::Misaligned, format!("{address:#x} is no multiple of {bytes}"))
}
