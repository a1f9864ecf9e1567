//! Asynchronous copies on a CPU. Those that a barrier waits for are done at once.

use super::aligned::demand;
use super::copies::Copy;
use super::mbarrier::{Address, complete};
use super::thread::current;

/// How many bytes are read, if an operand says it.
pub(crate) fn bytes_of<T>(operand: &str, value: u32) -> usize {
    match operand {
        "ignore" if value != 0 => 0,
        "ignore" => size_of::<T>(),
        _ => {
            assert!(value as usize <= size_of::<T>(), "`src_size` is {value}, and {} bytes are copied", size_of::<T>());
            value as usize
        }
    }
}

/// Begins to copy `bytes` bytes and to fill the rest of `size` with zeros.
///
/// # Safety
/// `size` bytes of the destination are writable and the first `bytes` of the source readable, until the copy is waited for.
pub(crate) unsafe fn begin(dst: *mut u8, src: *const u8, bytes: usize, size: usize) {
    assert!(
        dst.addr().is_multiple_of(size),
        "{dst:p} is not aligned to the {size} bytes of the copy: a GPU faults there"
    );
    let aligned = bytes == 0 || src.addr().is_multiple_of(size);
    assert!(aligned, "{src:p} is not aligned to the {size} bytes of the copy: a GPU faults there");
    let copy = Copy { dst, src, bytes, size };
    match current() {
        Some(thread) => thread.copies().begin(copy),
        // SAFETY: the caller's promise.
        None => unsafe { copy.perform() },
    }
}

pub(crate) fn commit() {
    if let Some(thread) = current() {
        thread.copies().commit();
    }
}

/// Waits for all groups but the newest `left`.
pub(crate) fn wait(left: u32) {
    if let Some(thread) = current() {
        thread.copies().wait(left as usize);
    }
}

pub(crate) fn wait_all() {
    if let Some(thread) = current() {
        thread.copies().wait_all();
    }
}

pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, size: u32) {
    assert!(size.is_multiple_of(16), "{size} bytes are to be copied, which is no multiple of 16");
    assert!((dst.addr() | src.addr()).is_multiple_of(16), "{dst:p} or {src:p} is not aligned to 16 bytes");
    // SAFETY: the caller's promise.
    unsafe { dst.copy_from_nonoverlapping(src, size as usize) }
}

pub(crate) unsafe fn copy_to(dst: Address, src: *const u8, size: u32, bar: Address) {
    // SAFETY: the caller's promise.
    unsafe {
        copy(dst.cast(), src, size);
        complete(bar, size);
    }
}

/// Stores a value, and tells the barrier of its bytes.
///
/// # Safety
/// `dst` is writable, and `bar` is an initialised barrier that expects the size of `T`.
pub(crate) unsafe fn store_to<T>(dst: Address, value: T, bar: Address) {
    let dst: *mut T = dst.cast();
    demand(dst);
    // SAFETY: the caller's promise.
    unsafe {
        dst.write(value);
        complete(bar, size_of::<T>() as u32);
    }
}

pub(crate) unsafe fn copy_part(dst: Address, src: *const u8, size: u32, [left, right]: [u32; 2], bar: Address) {
    assert!(size.is_multiple_of(16), "{size} bytes are to be copied, which is no multiple of 16");
    assert!(left < 16 && right < 16 && left + right <= size, "{left} and {right} of {size} bytes cannot be ignored");
    let dst: *mut u8 = dst.cast();
    // SAFETY: the caller's promise. What is ignored is undetermined: a pattern shows whoever reads it.
    unsafe {
        dst.write_bytes(0xD5, size as usize);
        dst.add(left as usize).copy_from_nonoverlapping(src.add(left as usize), (size - left - right) as usize);
        complete(bar, size);
    }
}

pub(crate) unsafe fn copy_masked(dst: *mut u8, src: *const u8, size: u32, mask: u16) {
    assert!(size.is_multiple_of(16), "{size} bytes are to be copied, which is no multiple of 16");
    for at in (0..size as usize).filter(|at| mask >> (at % 16) & 1 == 1) {
        // SAFETY: the caller's promise.
        unsafe { dst.add(at).write(src.add(at).read()) }
    }
}
