//! `prefetch`, `applypriority` and `discard` of a whole slice, shared out among threads.

use crate::instructions::applypriority::*;
use crate::instructions::discard::*;
use crate::instructions::prefetch::*;
use crate::isa::gate::*;

/// What a prefetch of one line moves, and what `applypriority` and `discard` are about.
const LINE: usize = 128;

// What lies in memory has fewer bytes than `isize::MAX`: nothing overflows here.

/// The lines that a slice touches: where the first one begins, and how many there are.
fn touched<T>(slice: *const [T]) -> (*const u8, usize) {
    let (begin, bytes) = (slice.cast::<u8>(), slice.len() * size_of::<T>());
    let before = begin.addr() % LINE;
    let lines = if bytes == 0 { 0 } else { (before + bytes).div_ceil(LINE) };
    (begin.wrapping_sub(before), lines)
}

/// The lines that lie whole in a slice.
fn covered<T>(slice: *mut [T]) -> (*mut u8, usize) {
    let (begin, bytes) = (slice.cast::<u8>(), slice.len() * size_of::<T>());
    let before = begin.addr().wrapping_neg() % LINE;
    (begin.wrapping_add(before), bytes.saturating_sub(before) / LINE)
}

/// Brings every line of a slice in global memory into L2, with an eviction priority or without: all threads of a block
/// or a warp call it, `thread` of `threads` each, and each takes every `threads`-th line.
///
/// PTX: [`prefetch.global.L2`](prefetch_global_l2), once for each line of 128 bytes that the slice touches, also at ragged
/// ends.
///
/// PTX ISA: [prefetch](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-prefetch-prefetchu).
///
/// # Safety
/// The slice lies in global memory that this thread may read. `threads` is not 0.
#[inline]
pub unsafe fn prefetch_global_l2_slice<E, T>(slice: *const [T], thread: usize, threads: usize)
where
    E: PrefetchPriority<PrefetchGate: OnTarget<E>>,
{
    let (first, lines) = touched(slice);
    let mut line = thread;
    while line < lines {
        // SAFETY: the line holds a byte of the slice.
        unsafe { prefetch_global_l2::<E>(first.wrapping_add(line * LINE)) };
        line = line.saturating_add(threads);
    }
}

/// Gives every line of a slice in global memory the normal eviction priority in L2 again: all threads of a block or a
/// warp call it, `thread` of `threads` each, and each takes every `threads`-th line.
///
/// PTX: [`applypriority.global.L2::evict_normal`](applypriority_global_l2_evict_normal), once for each line of 128 bytes
/// that the slice touches, also at ragged ends: a priority is of a whole line, and changes no value.
///
#[doc = needs!(CacheHint)]
///
/// PTX ISA: [applypriority](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-applypriority).
///
/// # Safety
/// The slice lies in global memory that this thread may read, as do the lines that it begins and ends in: whatever the
/// CUDA driver allocates does. `threads` is not 0.
#[inline]
pub unsafe fn applypriority_global_l2_evict_normal_slice<T>(slice: *const [T], thread: usize, threads: usize)
where
    CacheHint: OnTarget<applypriority_global_l2_evict_normal, T>,
{
    let (first, lines) = touched(slice);
    let mut line = thread;
    while line < lines {
        // SAFETY: the line holds a byte of the slice.
        unsafe { applypriority_global_l2_evict_normal(first.wrapping_add(line * LINE).cast::<T>()) };
        line = line.saturating_add(threads);
    }
}

/// Drops the lines of a slice in global memory from L2 without writing them back: all threads of a block or a warp call
/// it, `thread` of `threads` each, and each takes every `threads`-th line.
///
/// PTX: [`discard.global.L2`](discard_global_l2), once for each line of 128 bytes that lies whole in the slice. The
/// elements at ragged ends, and what lies beside them in their lines, keep their values.
///
#[doc = needs!(CacheHint)]
///
/// PTX ISA: [discard](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-discard).
///
/// # Safety
/// The slice lies in global memory that this thread may write and that no thread uses for anything else at the same
/// time. What the dropped lines hold is undetermined: nothing reads it before it is written. `threads` is not 0.
#[inline]
pub unsafe fn discard_global_l2_slice<T>(slice: *mut [T], thread: usize, threads: usize)
where
    CacheHint: OnTarget<discard_global_l2, T>,
{
    let (first, lines) = covered(slice);
    let mut line = thread;
    while line < lines {
        // SAFETY: the whole line lies in the slice.
        unsafe { discard_global_l2(first.wrapping_add(line * LINE).cast::<T>()) };
        line = line.saturating_add(threads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte: a line is touched if one of its bytes is in the slice, and covered if all are.
    #[test]
    fn lines_of_ragged_slices() {
        for begin in 0..300 {
            for bytes in (0..12).chain([116, 127, 128, 129, 255, 256, 257, 384, 500]) {
                let slice = core::ptr::slice_from_raw_parts_mut(core::ptr::without_provenance_mut::<u8>(begin), bytes);
                let inside = |at: &usize| (begin..begin + bytes).contains(at);
                let lines = (0..1024).step_by(LINE).map(|line| (line, (line..line + LINE).filter(inside).count()));
                let [some, all] = [1, LINE].map(|least| lines.clone().filter(move |(_, held)| *held >= least));
                let (first, count) = touched(slice);
                assert_eq!(count, some.clone().count(), "{begin}, {bytes}");
                assert!(some.clone().next().is_none_or(|(line, _)| line == first.addr()), "{begin}, {bytes}");
                let (first, count) = covered(slice);
                assert_eq!(count, all.clone().count(), "{begin}, {bytes}");
                assert!(all.clone().next().is_none_or(|(line, _)| line == first.addr()), "{begin}, {bytes}");
            }
        }
    }

    /// Elements of several bytes: the same lines as those bytes.
    #[test]
    fn lines_of_wide_elements() {
        for begin in (0..300).step_by(8) {
            for count in 0..70 {
                let p = core::ptr::without_provenance_mut::<u8>(begin);
                let bytes = core::ptr::slice_from_raw_parts_mut(p, 8 * count);
                let elements = core::ptr::slice_from_raw_parts_mut(p.cast::<u64>(), count);
                assert_eq!(touched(elements), touched(bytes), "{begin}, {count}");
                assert_eq!(covered(elements), covered(bytes), "{begin}, {count}");
            }
        }
    }
}
