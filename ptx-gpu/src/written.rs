//! Which bytes of the memory have values.

use std::collections::BTreeMap;

use ptx_interpreter::Gaps;

use crate::memory::Memory;

impl Memory {
    /// The bytes from an address on have values from now on.
    pub(crate) fn write(&mut self, address: u64, bytes: u64) {
        if let Some((_, one)) = self.live.range_mut(..=address).next_back() {
            one.unwritten.write(address, address + bytes);
        }
    }

    /// Bytes were copied. Gives those of the copies that have no value, since what was copied had none.
    pub(crate) fn copied(&mut self, from: u64, to: u64, bytes: u64) -> Vec<(u64, u64)> {
        let gaps = self.find(from).map(|one| one.unwritten.within(from, from + bytes)).unwrap_or_default();
        self.write(to, bytes);
        gaps.into_iter().map(|(begin, end)| (begin - from + to, end - from + to)).collect()
    }

    /// Whether an allocation has the address, and each of the bytes from there on has a value.
    pub(crate) fn is_written(&self, address: u64, bytes: u64) -> bool {
        self.find(address).is_some_and(|one| !one.unwritten.has_some_of(address, address + bytes))
    }

    /// A kernel ran, and has written to these ranges.
    pub(crate) fn written_to(&mut self, ranges: impl Iterator<Item = (u64, u64)>) {
        if self.unwritten.is_empty() {
            return;
        }
        for (begin, end) in ranges {
            let first = self.find(begin).map_or(begin, |one| one.begin);
            self.live.range_mut(first..end).for_each(|(_, one)| one.unwritten.write(begin, end));
        }
        let live = &self.live;
        self.unwritten.retain(|begin| live.get(begin).is_some_and(|one| !one.unwritten.is_empty()));
    }

    /// What was stored in these ranges is undefined. The host may write its own memory at any time, and mapped memory has other addresses too.
    pub(crate) fn stored_undefined(&mut self, ranges: &[(u64, u64)]) {
        let mut of_each: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for (begin, end) in ranges {
            if let Some(one) = self.find(*begin).filter(|one| *end <= one.end() && one.is_written_by_calls()) {
                of_each.entry(one.begin).or_default().push((*begin, *end));
            }
        }
        for (begin, own) in of_each {
            if let Some(one) = self.live.get_mut(&begin) {
                one.unwritten.add(&own);
                one.undefined.add(&own);
                if !self.unwritten.contains(&begin) {
                    self.unwritten.push(begin);
                }
            }
        }
    }

    /// A kernel ran, and may have written to any of them.
    pub(crate) fn written(&mut self) {
        for begin in std::mem::take(&mut self.unwritten) {
            self.live.get_mut(&begin).into_iter().for_each(|one| one.unwritten = Gaps::default());
        }
    }
}
