//! What launches overwrite of the memory outside, so that a launch can be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use crate::parts::overlay::{NONE, Overlay, PAGE, Page, on_pages, ranges};

/// The bits of an address in a buffer that has no address of its own.
const BUFFER: u32 = 40;

/// What launches have overwritten of the memory outside, as it was before. See [`Launch::overwritten`](crate::Launch::overwritten).
#[derive(Default)]
pub struct Overwritten(Overlay);

/// The bytes that a launch has changed, and what they are now.
#[derive(Default, PartialEq, Eq)]
pub struct Left(BTreeMap<u64, Box<Page>>);

impl Overwritten {
    /// Some bytes are written from now on.
    ///
    /// # Safety
    /// They are readable, and so is what the memory outside `holds` beside them.
    pub(crate) unsafe fn keep(&mut self, holds: &dyn Fn(u64, usize) -> bool, address: u64, bytes: usize) {
        for range in on_pages(address, bytes) {
            let begin = address + range.start as u64;
            let (number, at) = (begin / PAGE, (begin % PAGE) as usize);
            let page = self.0.page(number);
            // SAFETY: the caller says so.
            unsafe {
                match holds(number * PAGE, PAGE as usize) {
                    true if page.known == NONE => page.copy(0..PAGE as usize, (number * PAGE) as *const u8),
                    true => {}
                    false => page.copy(at..at + range.len(), begin as *const u8),
                }
            }
        }
    }

    /// What the bytes are now, as far as they are not as they were.
    ///
    /// # Safety
    /// The memory is still there, and nobody writes it.
    pub unsafe fn left(&self) -> Left {
        let changed = |(number, before): (u64, &Page)| {
            let (mut page, begin) = (Page::new(), (number * PAGE) as *const u8);
            for range in ranges(&before.known) {
                // SAFETY: the caller says so.
                let now = unsafe { std::slice::from_raw_parts(begin.add(range.start), range.len()) };
                let pairs = now.iter().zip(&before.content[range.clone()]);
                for (at, (now, _)) in (range.start..).zip(pairs).filter(|(_, (now, before))| now != before) {
                    page.content[at] = *now;
                    page.known[at / 64] |= 1 << (at % 64);
                }
            }
            (page.known != NONE).then_some((number, page))
        };
        Left(self.0.pages().filter_map(changed).collect())
    }

    /// What was at an address, if the byte was overwritten.
    pub fn before(&self, address: u64) -> Option<u8> {
        self.0.written(address / PAGE)?.at(address)
    }

    /// Where it has been written: whole pages, where all of a page is memory.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.pages().flat_map(|(number, page)| {
            let at = move |range: Range<usize>| (number * PAGE + range.start as u64, number * PAGE + range.end as u64);
            let is_whole = page.known.iter().all(|bits| *bits == u64::MAX);
            let some = (!is_whole).then(|| ranges(&page.known)).into_iter().flatten();
            is_whole.then_some(0..PAGE as usize).into_iter().chain(some).map(at)
        })
    }

    /// Memory is as it was.
    ///
    /// # Safety
    /// It is still there, and nothing else uses it.
    pub unsafe fn put_back(self) {
        for (number, page) in self.0.into_pages() {
            // SAFETY: the caller says so.
            unsafe { page.put(&page.known, (number * PAGE) as *mut u8) };
        }
    }
}

impl Left {
    /// Puts the bytes to where they were.
    ///
    /// # Safety
    /// The memory is still there, and nothing else uses it.
    pub unsafe fn put(&self) {
        for (number, page) in &self.0 {
            // SAFETY: the caller says so.
            unsafe { page.put(&page.known, (number * PAGE) as *mut u8) };
        }
    }

    /// What is in buffers, each at an [address](Left::place) that stands for it.
    pub fn of(buffers: &[Vec<u8>]) -> Left {
        let mut all = Overlay::default();
        for (number, buffer) in buffers.iter().enumerate() {
            let begin = Left::place(number);
            for range in on_pages(begin, buffer.len()) {
                let page = all.page((begin + range.start as u64) / PAGE);
                // SAFETY: it is in the buffer.
                unsafe { page.copy(0..range.len(), buffer[range].as_ptr()) };
            }
        }
        Left(all.into_pages().collect())
    }

    /// Where a buffer begins.
    pub fn place(number: usize) -> u64 {
        (number as u64) << BUFFER
    }

    /// The buffer that an address is in.
    pub fn buffer_of(address: u64) -> usize {
        (address >> BUFFER) as usize
    }

    /// The words that another launch has left otherwise, by their addresses.
    pub fn words_other_than<'a>(&'a self, other: &'a Left) -> impl Iterator<Item = u64> + 'a {
        let differs = |number: &u64| self.0.get(number) != other.0.get(number);
        let pages: BTreeSet<u64> = self.0.keys().chain(other.0.keys()).copied().filter(differs).collect();
        let words = pages.into_iter().flat_map(|number| (number * PAGE..(number + 1) * PAGE).step_by(4));
        words.filter(|word| (*word..word + 4).any(|address| self.at(address) != other.at(address)))
    }

    /// What it has at an address, if the byte was changed.
    pub fn at(&self, address: u64) -> Option<u8> {
        self.0.get(&(address / PAGE))?.at(address)
    }
}

impl fmt::Debug for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.pages().map(|(number, _)| number * PAGE)).finish()
    }
}

impl fmt::Debug for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys().map(|number| number * PAGE)).finish()
    }
}
