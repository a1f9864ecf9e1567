//! Reductions of many values on a CPU: each value is one atomic, and all are done at once.

use super::atomic::change;
use super::mbarrier::{Address, complete};
use crate::grammar::atomic::Atomic;
use crate::isa::atomic::{AtomicOperation, TYPES};
use crate::isa::element::{Element, PtxType};
use crate::isa::order::OrderWord;

/// Changes the values of `size` bytes.
///
/// # Safety
/// `src` is readable, and `dst` readable and writable, for `size` bytes. Other threads access `dst` only by atomics.
pub(crate) unsafe fn reduce<T: Element>(op: AtomicOperation, dst: *mut T, src: *const u8, size: u32) {
    // SAFETY: the caller's promise.
    unsafe { reduce_as(op, T::Ptx::TEXT, dst.cast(), src, size) }
}

/// The same, and tells the barrier of its bytes.
///
/// # Safety
/// As for [`reduce`], and `bar` is an initialised barrier that expects `size` bytes.
pub(crate) unsafe fn reduce_to<T: Element>(op: AtomicOperation, dst: *mut T, src: *const u8, size: u32, bar: Address) {
    // SAFETY: the caller's promise.
    unsafe {
        reduce(op, dst, src, size);
        complete(bar, size);
    }
}

/// Changes the values of `size` bytes that PTX calls `of`.
///
/// # Safety
/// As for [`reduce`].
pub(crate) unsafe fn reduce_as(op: AtomicOperation, of: &str, dst: *mut u8, src: *const u8, size: u32) {
    assert!(size.is_multiple_of(16), "{size} bytes are to be reduced, which is no multiple of 16");
    assert!((dst.addr() | src.addr()).is_multiple_of(16), "{dst:p} or {src:p} is not aligned to 16 bytes");
    // SAFETY: the caller's promise.
    unsafe { change_each(op, of, dst, src, size as usize) }
}

/// The same, wherever they are.
///
/// # Safety
/// As for [`reduce`].
pub(crate) unsafe fn change_each(op: AtomicOperation, of: &str, dst: *mut u8, src: *const u8, size: usize) {
    let ty = TYPES.iter().position(|row| row.ptx == of).expect("reductions are of types of atomics");
    let words = Atomic { op: Some(op), order: Some(OrderWord::Relaxed), ty, ..Atomic::plain(true) };
    let bytes = TYPES[ty].bytes;
    for at in (0..size).step_by(bytes) {
        // SAFETY: the caller's promise.
        unsafe {
            let (to, by) = (dst.add(at), src.add(at));
            match bytes {
                2 => _ = change::<u16>(words, to.cast(), by.cast::<u16>().read(), None),
                4 => _ = change::<u32>(words, to.cast(), by.cast::<u32>().read(), None),
                _ => _ = change::<u64>(words, to.cast(), by.cast::<u64>().read(), None),
            }
        }
    }
}
