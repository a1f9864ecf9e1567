//! Copies and prefetches that a program hands over together. Nothing orders those of one call among each other.

use super::copy::{Sides, bytes};
use super::memory::{device_of, prefetched};
use crate::call::{all, calls};
use crate::calling::call_name;
use crate::gpu::{Handle, live};
use crate::guard;
use crate::perform::submit_batch;
use crate::status::{INVALID_VALUE, Result};

/// `CUmemcpyAttributes`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Attributes {
    /// `CU_MEMCPY_SRC_ACCESS_ORDER_…`
    order: u32,
    /// Hints where the sides are, and flags.
    hints: [u32; 5],
}

/// The order of a source: as in the stream, before the call returns, and whenever.
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
const DURING_CALL: u32 = 2;

/// The last of those that begin at an index: `indices` has where each begins.
fn of_index<T: Copy>(every: &[T], indices: &[usize], at: usize) -> Result<T> {
    let found = indices.iter().rposition(|begin| *begin <= at).ok_or(INVALID_VALUE)?;
    Ok(every[found])
}

/// Copies. What the host may overwrite when the call returns is read at once, out of `kept`.
fn copies(
    (to, from, sizes): (*const u64, *const u64, *const usize),
    count: usize,
    (attributes, indices, kinds): (*const Attributes, *const usize, usize),
    stream: Handle,
) -> Result {
    // The program may have called the runtime.
    let call = call_name();
    let (to, from, sizes) = (all(to, count)?, all(from, count)?, all(sizes, count)?);
    let (attributes, indices) = (all(attributes, kinds)?, all(indices, kinds)?);
    let (mut kept, mut works) = (Vec::new(), Vec::new());
    for at in 0..count {
        let kind = of_index(&attributes, &indices, at)?;
        if !ORDERS.contains(&kind.order) {
            return Err(INVALID_VALUE);
        }
        let mut begin = from[at];
        if kind.order == DURING_CALL && is_of_host(begin, sizes[at], call)? {
            guard::open(begin, sizes[at] as u64);
            // SAFETY: the program answers for memory of the host, and what is registered was looked at.
            kept.push(unsafe { std::slice::from_raw_parts(begin as *const u8, sizes[at]) }.to_vec());
            begin = kept[kept.len() - 1].as_ptr() as u64;
        }
        works.push(bytes(to[at], begin, sizes[at], Sides::Unknown, call));
    }
    submit_batch(stream, &works)
}

/// Whether the host has these bytes.
fn is_of_host(begin: u64, bytes: usize, call: &str) -> Result<bool> {
    let gpu = live()?;
    match gpu.memory.find(begin) {
        None => Ok(begin != 0),
        Some(one) if one.is_pinned() => gpu.memory.expect(begin, bytes, call).map(|()| true),
        Some(_) => Ok(false),
    }
}

/// A copy with attributes of its own.
fn copied(to: u64, from: u64, size: usize, what: *const Attributes, stream: Handle) -> Result {
    copies((&raw const to, &raw const from, &raw const size), 1, (what, &0, 1), stream)
}

calls! {
    // `failed` is the index of a copy that is wrong.
    #[ptsz]
    fn cuMemcpyBatchAsync(
        to: *const u64,
        from: *const u64,
        sizes: *const usize,
        count: usize,
        attributes: *const Attributes,
        indices: *const usize,
        kinds: usize,
        _failed: *mut usize,
        stream: Handle,
    ) {
        copies((to, from, sizes), count, (attributes, indices, kinds), stream)
    }

    #[ptsz]
    fn cuMemcpyBatchAsync_v2(
        to: *const u64,
        from: *const u64,
        sizes: *const usize,
        count: usize,
        attributes: *const Attributes,
        indices: *const usize,
        kinds: usize,
        stream: Handle,
    ) {
        copies((to, from, sizes), count, (attributes, indices, kinds), stream)
    }

    #[ptsz]
    fn cuMemcpyWithAttributesAsync(
        to: u64,
        from: u64,
        size: usize,
        what: *const Attributes,
        stream: Handle,
    ) {
        copied(to, from, size, what, stream)
    }

    #[ptsz]
    fn cuMemPrefetchBatchAsync(
        addresses: *const u64,
        sizes: *const usize,
        count: usize,
        locations: *const u64,
        indices: *const usize,
        kinds: usize,
        _flags: u64,
        stream: Handle,
    ) {
        let (addresses, sizes) = (all(addresses, count)?, all(sizes, count)?);
        let (locations, indices) = (all(locations, kinds)?, all(indices, kinds)?);
        for at in 0..count {
            let device = device_of(of_index(&locations, &indices, at)?);
            prefetched(addresses[at], sizes[at], device, stream, "cuMemPrefetchBatchAsync")?;
        }
        Ok(())
    }
}
