//! What a launch may access. Its memory is opened when it is first accessed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::guard::{self, PAGE};

/// An allocation is opened in chunks, at most of this number: what is opened in between makes a mapping of its own.
const CHUNKS: u64 = 1 << 10;

pub(crate) struct Reach {
    allocations: Vec<Allocation>,
    /// Whether each chunk is open.
    is_open: Vec<AtomicBool>,
}

struct Allocation {
    begin: u64,
    end: u64,
    /// Bytes of a chunk.
    chunk: u64,
    /// The number of the first one.
    first: usize,
}

impl Reach {
    /// Of allocations in their order.
    pub(crate) fn new(allocations: impl Iterator<Item = (u64, u64)>) -> Reach {
        let mut chunks = 0;
        let numbered = |(begin, end): (u64, u64)| {
            let (chunk, first) = ((end - begin).div_ceil(CHUNKS).max(4 * PAGE), chunks);
            chunks += (end - begin).div_ceil(chunk) as usize;
            Allocation { begin, end, chunk, first }
        };
        let allocations = allocations.map(numbered).collect();
        Reach { allocations, is_open: (0..chunks).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Whether bytes are in one allocation.
    pub(crate) fn holds(&self, address: u64, bytes: usize) -> bool {
        let behind = self.allocations.partition_point(|one| one.begin <= address);
        let Some(one) = behind.checked_sub(1).map(|at| &self.allocations[at]) else { return false };
        let Some(until) = address.checked_add(bytes as u64).filter(|until| *until <= one.end) else { return false };
        for chunk in (address - one.begin) / one.chunk..(until - one.begin).div_ceil(one.chunk) {
            let is_open = &self.is_open[one.first + chunk as usize];
            if !is_open.load(Ordering::Acquire) {
                let begin = one.begin + chunk * one.chunk;
                guard::open(begin, one.chunk.min(one.end - begin));
                is_open.store(true, Ordering::Release);
            }
        }
        true
    }
}
