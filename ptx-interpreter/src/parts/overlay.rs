//! What a part of a launch has written. The memory outside stays as it is until all parts have ended.

use std::collections::HashMap;
use std::ops::Range;

/// Bytes that are copied before the first write to one of them.
pub(crate) const PAGE: u64 = 4096;
/// Pages of a read, at most, of which each is looked for.
const FEW: u64 = 8;

/// For each byte of a page a bit.
pub(crate) type Bits = [u64; PAGE as usize / 64];
/// No bytes of a page.
pub(crate) const NONE: Bits = [0; PAGE as usize / 64];
/// All bytes of a page.
pub(crate) const ALL: Bits = [u64::MAX; PAGE as usize / 64];

/// A page that was written.
#[derive(PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) content: [u8; PAGE as usize],
    /// The bytes whose content it has. Memory may begin or end within a page.
    pub(crate) known: Bits,
}

impl Page {
    /// Puts some of its bytes to where the page is.
    ///
    /// # Safety
    /// There they may be written, and nothing else uses them.
    pub(crate) unsafe fn put(&self, bytes: &Bits, to: *mut u8) {
        let put = |range: Range<usize>| {
            let from = self.content[range.clone()].as_ptr();
            // SAFETY: the caller says so.
            unsafe { std::ptr::copy_nonoverlapping(from, to.wrapping_add(range.start), range.len()) };
        };
        if *bytes == ALL { put(0..PAGE as usize) } else { ranges(bytes).for_each(put) }
    }

    pub(crate) fn new() -> Box<Page> {
        Box::new(Page { content: [0; PAGE as usize], known: NONE })
    }

    /// What it has of an address.
    pub(crate) fn at(&self, address: u64) -> Option<u8> {
        let at = (address % PAGE) as usize;
        (self.known[at / 64] >> (at % 64) & 1 == 1).then_some(self.content[at])
    }

    /// Copies the bytes of a range that it does not have yet.
    ///
    /// # Safety
    /// They are readable at that place, and nobody writes them.
    pub(crate) unsafe fn copy(&mut self, range: Range<usize>, from: *const u8) {
        if range.len() == self.content.len() {
            // SAFETY: the caller says so.
            unsafe { std::ptr::copy_nonoverlapping(from, self.content.as_mut_ptr(), self.content.len()) };
            self.known = ALL;
            return;
        }
        for (number, at) in range.enumerate() {
            if self.known[at / 64] >> (at % 64) & 1 == 0 {
                // SAFETY: the caller says so.
                self.content[at] = unsafe { from.add(number).read() };
                self.known[at / 64] |= 1 << (at % 64);
            }
        }
    }
}

/// The ranges of some bytes of a page, of which one may go on with the next.
pub(crate) fn ranges(bits: &Bits) -> impl Iterator<Item = Range<usize>> {
    let of_word = |(word, bits): (usize, &u64)| {
        let (begin, bits) = (word * 64, *bits);
        let whole = (bits == u64::MAX).then_some(begin..begin + 64);
        let single = (0..64).filter(move |bit| bits != u64::MAX && bits >> bit & 1 == 1);
        whole.into_iter().chain(single.map(move |bit| begin + bit..begin + bit + 1))
    };
    bits.iter().enumerate().flat_map(of_word)
}

/// The pages that were written, by their numbers.
#[derive(Default)]
pub(crate) struct Overlay {
    pages: HashMap<u64, Box<Page>>,
    /// The numbers of the first one and of the last one.
    bounds: Option<(u64, u64)>,
}

impl Overlay {
    /// Whether nothing of some pages was written. Of many it need not be known.
    pub(crate) fn is_free(&self, first: u64, last: u64) -> bool {
        let Some((low, high)) = self.bounds else { return true };
        last < low || high < first || last - first < FEW && !(first..=last).any(|page| self.pages.contains_key(&page))
    }

    /// A page that was written, or is written from now on.
    pub(crate) fn page(&mut self, number: u64) -> &mut Page {
        let (low, high) = self.bounds.unwrap_or((number, number));
        self.bounds = Some((low.min(number), high.max(number)));
        self.pages.entry(number).or_insert_with(Page::new)
    }

    pub(crate) fn written(&self, number: u64) -> Option<&Page> {
        self.pages.get(&number).map(|page| &**page)
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.pages.iter().map(|(number, page)| (*number, &**page))
    }

    pub(crate) fn into_pages(self) -> impl Iterator<Item = (u64, Box<Page>)> {
        self.pages.into_iter()
    }
}

/// The ranges of some bytes that are each on one page.
pub(crate) fn on_pages(address: u64, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let room = (PAGE - address.wrapping_add(at as u64) % PAGE) as usize;
        let range = at..bytes.min(at + room);
        at = range.end;
        (!range.is_empty()).then_some(range)
    })
}
