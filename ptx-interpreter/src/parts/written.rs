//! The bytes that a part of a launch has written, and how they get to memory.

use crate::check::{Bytes, Footprint};
use crate::machine::Machine;
use crate::memory::spaces::{MODULE, Owner, owner};
use crate::parts::overlay::{ALL, Bits, NONE, PAGE, Page, ranges};

/// A page, and which of its bytes were written.
pub(crate) struct Written {
    number: u64,
    page: Box<Page>,
    bytes: Bits,
}

/// The pages that a part has written. None if a byte has changed of which the checks were not told.
pub(crate) fn written(machine: &mut Machine<'_>, footprint: &Footprint) -> Option<Vec<Written>> {
    let pages = std::mem::take(&mut machine.part.as_mut()?.overlay);
    let mut all = Vec::new();
    for (number, page) in pages.into_pages() {
        let bytes = bytes_of(number, footprint);
        if bytes != ALL && !is_as_before(machine, number, &page, &bytes) {
            return None;
        }
        if bytes != NONE {
            all.push(Written { number, page, bytes });
        }
    }
    Some(all)
}

fn bytes_of(number: u64, footprint: &Footprint) -> Bits {
    let mut all = NONE;
    let words = size_of::<Bytes>() / 8;
    for (at, own) in all.chunks_exact_mut(words).enumerate() {
        if let Some(touched) = footprint.get(&(number * PAGE + (at * words * 64) as u64)) {
            own.copy_from_slice(&touched.writes);
        }
    }
    all
}

/// Whether the bytes that were not written are what they were.
fn is_as_before(machine: &Machine<'_>, number: u64, page: &Page, bytes: &Bits) -> bool {
    let is_same = |at: usize, bytes: usize| {
        // SAFETY: that many bytes are there, and nobody writes them.
        let there =
            |from: *const u8| unsafe { std::slice::from_raw_parts(from, bytes) == &page.content[at..at + bytes] };
        machine.beneath(number * PAGE + at as u64, bytes).is_some_and(there)
    };
    bytes.iter().zip(&page.known).enumerate().all(|(word, (written, known))| match known & !written {
        0 => true,
        u64::MAX => is_same(word * 64, 64),
        rest => (0..64).filter(|bit| rest >> bit & 1 == 1).all(|bit| is_same(word * 64 + bit, 1)),
    })
}

impl Written {
    /// Its bytes of memory.
    pub(crate) fn size(&self) -> u64 {
        size_of_val(&*self.page) as u64
    }

    /// Puts the bytes to where they belong.
    ///
    /// # Safety
    /// There they may be written, and nothing else uses them.
    pub(crate) unsafe fn keep(&self, module: &mut [u8]) {
        let begin = self.number * PAGE;
        // SAFETY: the caller says so.
        unsafe { self.page.put(&self.bytes, place_of(begin, module)) };
    }

    /// The ranges of memory outside that it is put to.
    pub(crate) fn outside(&self) -> impl Iterator<Item = (u64, usize)> {
        let begin = self.number * PAGE;
        let is_outside = owner(begin, 1).0 == Owner::Outside;
        ranges(&self.bytes).filter(move |_| is_outside).map(move |range| (begin + range.start as u64, range.len()))
    }
}

/// Where an address is outside of the parts.
pub(crate) fn place_of(address: u64, module: &mut [u8]) -> *mut u8 {
    match owner(address, 1).0 {
        Owner::Module => module.as_mut_ptr().wrapping_add((address - MODULE) as usize),
        _ => address as *mut u8,
    }
}
