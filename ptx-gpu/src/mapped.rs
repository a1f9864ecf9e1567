//! Virtual memory: addresses that are reserved, pieces of memory without an address, and where they are mapped.
//!
//! What may be accessed without a gap between is one allocation, as the program sees it: it may grow.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use ptx_interpreter::Alias;

use crate::handle::{Handle, next};
use crate::of_gpu::MOST_GPUS;
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Result};

/// Sizes and addresses are multiples of this.
pub(crate) const GRANULARITY: u64 = 1 << 21;
/// What `cuMemSetAccess` allows: nothing, reads, reads and writes.
const NOTHING: u32 = 0;
const READS: u32 = 1;
const ALL: u32 = 3;

#[derive(Default)]
pub(crate) struct Mapped {
    /// Where reserved addresses begin: their size and the number that messages have.
    reserved: BTreeMap<u64, (u64, u64)>,
    pieces: HashMap<Handle, Piece>,
    /// By where they begin.
    mappings: BTreeMap<u64, Mapping>,
}

/// Memory without an address.
struct Piece {
    file: OwnedFd,
    bytes: u64,
    /// The program's own, those that it has asked for again, and mappings.
    references: u32,
    /// How often it was mapped.
    lives: u32,
    /// What the program has said of it.
    properties: [u64; 4],
}

#[derive(Clone, Copy)]
struct Mapping {
    bytes: u64,
    piece: Handle,
    /// What each GPU may do.
    access: [u32; MOST_GPUS],
}

impl Mapping {
    /// Whether some GPU may use it.
    fn is_accessible(&self) -> bool {
        self.access.contains(&ALL)
    }
}

/// What may be accessed of reserved addresses.
pub(crate) struct Accessible {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) number: u64,
    /// The GPU of the first piece.
    pub(crate) gpu: usize,
    pub(crate) parts: Vec<(u64, u64)>,
}

impl Mapped {
    /// Addresses are reserved. Messages call what is mapped there by this number.
    pub(crate) fn reserve(&mut self, begin: u64, bytes: u64, number: u64) {
        self.reserved.insert(begin, (bytes, number));
    }

    /// Errors: there is no such range, or something is mapped in it.
    pub(crate) fn free_addresses(&mut self, begin: u64, bytes: u64) -> Result {
        let is_whole = self.reserved.get(&begin).is_some_and(|(size, _)| *size == bytes);
        if !is_whole || self.mappings.range(begin..begin + bytes).next().is_some() {
            return Err(INVALID_VALUE);
        }
        self.reserved.remove(&begin);
        Ok(())
    }

    pub(crate) fn create(&mut self, bytes: u64, properties: [u64; 4]) -> Result<Handle> {
        // SAFETY: the name ends with a zero.
        let number = unsafe { libc::memfd_create(c"ptx-gpu".as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return Err(OUT_OF_MEMORY);
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(number) };
        // SAFETY: the file is open.
        if unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) } != 0 {
            return Err(OUT_OF_MEMORY);
        }
        let handle = next();
        self.pieces.insert(handle, Piece { file, bytes, references: 1, lives: 0, properties });
        Ok(handle)
    }

    /// A reference to a piece is gone. Gives the GPU and the bytes that are free now.
    pub(crate) fn release(&mut self, handle: Handle) -> Result<(usize, u64)> {
        let piece = self.pieces.get_mut(&handle).ok_or(INVALID_VALUE)?;
        piece.references -= 1;
        let gpu = gpu_of(&piece.properties);
        if piece.references > 0 {
            return Ok((gpu, 0));
        }
        let bytes = piece.bytes;
        self.pieces.remove(&handle);
        Ok((gpu, bytes))
    }

    pub(crate) fn properties_of(&self, handle: Handle) -> Result<[u64; 4]> {
        Ok(self.pieces.get(&handle).ok_or(INVALID_VALUE)?.properties)
    }

    /// Errors: the addresses are not reserved, something is mapped there, or the piece has another size.
    pub(crate) fn map(&mut self, begin: u64, bytes: u64, offset: u64, handle: Handle) -> Result {
        let (from, (size, _)) = self.reserved.range(..=begin).next_back().ok_or(INVALID_VALUE)?;
        let is_inside = begin.is_multiple_of(GRANULARITY) && begin + bytes <= from + size;
        let before = self.mappings.range(..begin + bytes).next_back();
        let is_free = before.is_none_or(|(from, mapping)| from + mapping.bytes <= begin);
        let piece = self.pieces.get_mut(&handle).ok_or(INVALID_VALUE)?;
        if offset != 0 {
            return Err(NOT_SUPPORTED);
        }
        if !is_inside || !is_free || piece.bytes != bytes {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the addresses are reserved, and nothing is mapped there.
        let place = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            libc::mmap(begin as *mut _, bytes as usize, libc::PROT_NONE, flags, piece.file.as_raw_fd(), 0)
        };
        if place == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        piece.references += 1;
        piece.lives += 1;
        self.mappings.insert(begin, Mapping { bytes, piece: handle, access: [NOTHING; MOST_GPUS] });
        Ok(())
    }

    /// Gives the bytes of each GPU that are free now. Errors: the range is not of whole mappings.
    pub(crate) fn unmap(&mut self, begin: u64, bytes: u64) -> Result<Vec<(usize, u64)>> {
        let mut free = Vec::new();
        for (from, mapping) in self.whole_mappings(begin, bytes)? {
            // SAFETY: the addresses are of this mapping alone; from now on nobody may use them.
            unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
                libc::mmap(from as *mut _, mapping.bytes as usize, libc::PROT_NONE, flags, -1, 0);
            }
            self.mappings.remove(&from);
            free.push(self.release(mapping.piece)?);
        }
        Ok(free)
    }

    pub(crate) fn set_access(&mut self, begin: u64, bytes: u64, gpu: usize, access: u32) -> Result {
        match access {
            NOTHING | ALL => {}
            READS => {
                note("cuMemSetAccess: memory that may only be read is missing here: let the program write to it too");
                return Err(NOT_SUPPORTED);
            }
            _ => return Err(INVALID_VALUE),
        }
        for (from, mut mapping) in self.whole_mappings(begin, bytes)? {
            *mapping.access.get_mut(gpu).ok_or(INVALID_VALUE)? = access;
            let protection = if mapping.is_accessible() { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
            // SAFETY: the addresses are of this mapping.
            if unsafe { libc::mprotect(from as *mut _, mapping.bytes as usize, protection) } != 0 {
                return Err(OUT_OF_MEMORY);
            }
            self.mappings.insert(from, mapping);
        }
        Ok(())
    }

    pub(crate) fn access_of(&self, address: u64, gpu: usize) -> Result<u32> {
        self.mapping_of(address)?.access.get(gpu).copied().ok_or(INVALID_VALUE)
    }

    /// What a GPU may use, without a gap.
    pub(crate) fn reached_by(&self, gpu: usize) -> Vec<(u64, u64)> {
        let reached = self.mappings.iter().filter(|(_, one)| one.access.get(gpu) == Some(&ALL));
        joined(reached.map(|(from, one)| (*from, from + one.bytes)))
    }

    /// The piece that is mapped at an address. It has one reference more.
    pub(crate) fn retain(&mut self, address: u64) -> Result<Handle> {
        let handle = self.mapping_of(address)?.piece;
        self.pieces.get_mut(&handle).ok_or(INVALID_VALUE)?.references += 1;
        Ok(handle)
    }

    fn mapping_of(&self, address: u64) -> Result<Mapping> {
        let (from, mapping) = self.mappings.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        if address < from + mapping.bytes { Ok(*mapping) } else { Err(INVALID_VALUE) }
    }

    fn whole_mappings(&self, begin: u64, bytes: u64) -> Result<Vec<(u64, Mapping)>> {
        let end = begin.checked_add(bytes).ok_or(INVALID_VALUE)?;
        let all: Vec<(u64, Mapping)> = self.mappings.range(begin..end).map(|(from, one)| (*from, *one)).collect();
        let last = all.iter().try_fold(begin, |at, (from, one)| (*from == at).then_some(at + one.bytes));
        if bytes > 0 && last == Some(end) { Ok(all) } else { Err(INVALID_VALUE) }
    }

    fn accessible_mappings(&self) -> impl Iterator<Item = (u64, &Mapping)> {
        self.mappings.iter().filter(|(_, one)| one.is_accessible()).map(|(from, one)| (*from, one))
    }

    /// What may be accessed of pieces that were mapped before: they keep what they have.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Range<u64>> {
        let is_kept = |one: &Mapping| self.pieces.get(&one.piece).is_some_and(|piece| piece.lives > 1);
        self.accessible_mappings().filter(move |(_, one)| is_kept(one)).map(|(from, one)| from..from + one.bytes)
    }

    /// The addresses of pieces that have others before them.
    pub(crate) fn aliases(&self) -> Vec<Alias> {
        let mut first = HashMap::new();
        let mut all: Vec<Alias> = Vec::new();
        for (begin, Mapping { bytes, piece, .. }) in self.accessible_mappings() {
            let of = *first.entry(*piece).or_insert(begin);
            if of == begin {
                continue;
            }
            match all.last_mut() {
                Some(last) if (last.begin + last.bytes, last.of + last.bytes) == (begin, of) => last.bytes += bytes,
                _ => all.push(Alias { begin, bytes: *bytes, of }),
            }
        }
        all
    }

    /// The reserved range around an address, and what may be accessed in it without a gap.
    pub(crate) fn accessible(&self, address: u64) -> Option<Accessible> {
        let (&begin, &(size, number)) = self.reserved.range(..=address).next_back()?;
        let mappings = self.mappings.range(begin..begin + size).filter(|(_, one)| one.is_accessible());
        let first = mappings.clone().next().and_then(|(_, one)| self.pieces.get(&one.piece));
        let gpu = first.map_or(0, |piece| gpu_of(&piece.properties));
        let parts = joined(mappings.map(|(from, one)| (*from, from + one.bytes)));
        Some(Accessible { begin, end: begin + size, number, gpu, parts })
    }
}

/// The GPU of which a piece is, by what the program has said of it.
pub(crate) fn gpu_of(properties: &[u64; 4]) -> usize {
    (properties[1] >> 32) as usize
}

/// Ranges in their order. Those without a gap between are one.
fn joined(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for (from, until) in ranges {
        match parts.last_mut() {
            Some((_, end)) if *end == from => *end = until,
            _ => parts.push((from, until)),
        }
    }
    parts
}
