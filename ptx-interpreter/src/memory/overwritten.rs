//! What launches overwrite of the memory outside, so that a launch can be taken back.

use std::collections::BTreeMap;
use std::fmt;

use crate::parts::overlay::{NONE, Overlay, PAGE, Page, on_pages, ranges};

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

    /// Where the first byte is that another launch has left otherwise.
    pub fn differs_from(&self, other: &Left) -> Option<u64> {
        let differs = |number: &&u64| self.0.get(number) != other.0.get(number);
        let begin = self.0.keys().chain(other.0.keys()).filter(differs).min()? * PAGE;
        (begin..begin + PAGE).find(|address| self.at(*address) != other.at(*address))
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
