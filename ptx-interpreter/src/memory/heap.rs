//! The heap of a GPU: what `malloc` gives to the threads of kernels, and what stays when a kernel ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::memory::spaces::{HEAP, HEAP_BYTES};

/// What there is before anything is written.
const POISON: u8 = 0xcd;
/// What a piece takes of the heap is a multiple of this.
const GRAIN: usize = 16;
/// Each piece has pages of its own, and a page of nobody's comes after it.
const PAGE: u64 = 1024;
/// Bytes of a heap, if a program says nothing.
const USUAL: usize = 8 << 20;

/// What `malloc` of kernels gives. One for all kernels of a program keeps what a kernel has allocated for those after it: see
/// [`Launch::heap`](crate::Launch::heap).
#[derive(Clone, Debug)]
pub struct Heap {
    room: usize,
    used: usize,
    /// The first address that nothing has had. None is used twice.
    next: u64,
    live: BTreeMap<u64, Vec<u8>>,
    freed: BTreeMap<u64, u64>,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap { room: USUAL, used: 0, next: HEAP, live: BTreeMap::new(), freed: BTreeMap::new() }
    }
}

impl Heap {
    /// Says how many bytes all pieces may have together: `cudaLimitMallocHeapSize`. There are 8 MiB if nobody says it.
    pub fn resize(&mut self, room: usize) {
        self.room = room;
    }

    /// Whether a kernel has had memory of it. Then its size is what it is.
    pub fn is_begun(&self) -> bool {
        self.next != HEAP
    }

    /// None if there is no room.
    pub(crate) fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let size = usize::try_from(bytes).ok()?.checked_next_multiple_of(GRAIN)?.max(GRAIN);
        let end = self.next.checked_add(bytes.checked_next_multiple_of(PAGE)? + PAGE)?;
        if self.used.checked_add(size)? > self.room || end > HEAP + HEAP_BYTES {
            return None;
        }
        let begin = std::mem::replace(&mut self.next, end);
        self.used += size;
        self.live.insert(begin, vec![POISON; bytes as usize]);
        Some(begin)
    }

    pub(crate) fn free(&mut self, begin: u64) {
        if let Some(content) = self.live.remove(&begin) {
            self.used -= content.len().next_multiple_of(GRAIN).max(GRAIN);
            self.freed.insert(begin, content.len() as u64);
        }
    }

    /// How many bytes the piece has that begins there.
    pub(crate) fn bytes(&self, begin: u64) -> Option<usize> {
        self.live.get(&begin).map(Vec::len)
    }

    /// Where bytes are, if they are in one piece.
    pub(crate) fn place(&mut self, address: u64, bytes: usize) -> Option<*mut u8> {
        let (begin, content) = self.live.range_mut(..=address).next_back()?;
        let at = (address - begin) as usize;
        content.get_mut(at..at.checked_add(bytes)?).map(<[u8]>::as_mut_ptr)
    }

    /// The first address that no kernel has had.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Where each piece begins, its bytes, and whether it is freed.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        let live = self.live.iter().map(|(begin, content)| (*begin, content.len() as u64, false));
        live.chain(self.freed.iter().map(|(begin, bytes)| (*begin, *bytes, true)))
    }
}

/// A heap that a launch has for itself, until it ends.
pub(crate) struct Lent<'a> {
    pub(crate) heap: Heap,
    owner: Option<&'a Mutex<Heap>>,
}

impl<'a> Lent<'a> {
    pub(crate) fn new(owner: Option<&'a Mutex<Heap>>) -> Lent<'a> {
        let take = |owner: &Mutex<Heap>| std::mem::take(&mut *owner.lock().unwrap_or_else(PoisonError::into_inner));
        Lent { heap: owner.map(take).unwrap_or_default(), owner }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(owner) = self.owner {
            *owner.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.heap);
        }
    }
}
