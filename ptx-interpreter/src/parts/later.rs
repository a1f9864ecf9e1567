//! What the atomics of a part change in memory outside, if nobody uses what they found there. Memory has it when all parts have ended, one
//! part after the other: that is an order that the launch could have had.

use crate::memory::change::Change;

#[derive(Clone, Copy)]
struct One {
    address: u64,
    /// The halves of the number, the lower one first.
    value: [u64; 2],
    /// Which of the kinds it is.
    kind: u32,
}

/// All of them, in the order in which the part came to them.
#[derive(Default)]
pub(crate) struct Later {
    kinds: Vec<Change>,
    all: Vec<One>,
}

impl Later {
    pub(crate) fn push(&mut self, address: u64, change: Change, value: u128) {
        let known = self.kinds.iter().position(|kind| *kind == change);
        let kind = known.unwrap_or(self.kinds.len()) as u32;
        if known.is_none() {
            self.kinds.push(change);
        }
        self.all.push(One { address, value: [value as u64, (value >> 64) as u64], kind });
    }

    /// The bytes that it takes.
    pub(crate) fn size(&self) -> u64 {
        size_of_val(&*self.all) as u64
    }

    /// Where they change something: addresses and numbers of bytes.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u64, usize)> {
        self.all.iter().map(|one| (one.address, self.kinds[one.kind as usize].bytes))
    }

    /// Changes memory. `place` says where an address is.
    ///
    /// # Safety
    /// The bytes are there, and nobody else uses them.
    pub(crate) unsafe fn keep(&self, mut place: impl FnMut(u64) -> *mut u8) {
        for One { address, value: [low, high], kind } in &self.all {
            let (change, place, mut found) = (self.kinds[*kind as usize], place(*address), [0; 16]);
            let value = u128::from(*low) | u128::from(*high) << 64;
            // SAFETY: the caller says so.
            unsafe {
                std::ptr::copy_nonoverlapping(place, found.as_mut_ptr(), change.bytes);
                let new = change.changed(u128::from_le_bytes(found), (value, None)).to_le_bytes();
                std::ptr::copy_nonoverlapping(new.as_ptr(), place, change.bytes);
            }
        }
    }
}
