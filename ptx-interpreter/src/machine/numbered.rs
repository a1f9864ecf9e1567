//! Things with numbers, of which the first ones may be missing.

use std::ops::{Index, IndexMut, Range};

/// Things whose numbers follow each other.
pub(crate) struct Numbered<T> {
    first: usize,
    all: Vec<T>,
}

impl<T> Numbered<T> {
    pub(crate) fn new(numbers: Range<usize>, mut new: impl FnMut() -> T) -> Numbered<T> {
        Numbered { first: numbers.start, all: numbers.map(|_| new()).collect() }
    }

    /// The number after the last one.
    pub(crate) fn end(&self) -> usize {
        self.first + self.all.len()
    }

    pub(crate) fn first(&self) -> usize {
        self.first
    }

    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.all.get(number.wrapping_sub(self.first))
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.all.get_mut(number.wrapping_sub(self.first))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter()
    }
}

impl<T> Index<usize> for Numbered<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        &self.all[number.wrapping_sub(self.first)]
    }
}

impl<T> IndexMut<usize> for Numbered<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.all[number.wrapping_sub(self.first)]
    }
}

impl<T> Index<Range<usize>> for Numbered<T> {
    type Output = [T];

    fn index(&self, numbers: Range<usize>) -> &[T] {
        &self.all[numbers.start - self.first..numbers.end - self.first]
    }
}

impl<T> IndexMut<Range<usize>> for Numbered<T> {
    fn index_mut(&mut self, numbers: Range<usize>) -> &mut [T] {
        &mut self.all[numbers.start - self.first..numbers.end - self.first]
    }
}
