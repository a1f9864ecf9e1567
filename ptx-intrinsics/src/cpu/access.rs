//! Loads and stores on a CPU.

use core::mem::MaybeUninit;

use super::aligned::{demand, read, write};
use super::atomics::{self, AtomicU8, AtomicU16, AtomicU32};
use super::thread::looked;
use super::wide::AtomicU64;
use super::wide_lock::lock_wide;
use crate::emit::access::{Load, LoadIn, LoadInIf, Store, StoreIn, StoreInIf};
use crate::emit::shared::{Address, SharedAccess};
use crate::isa::caching::*;
use crate::isa::element::*;
use crate::isa::order::{Meaning, OrderRow};
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::PrefetchSize;

/// Loads as PTX does: each element of a vector is atomic by itself, 128 bits are one element.
///
/// # Safety
/// `p` is the address of a readable, aligned `T`.
#[inline]
pub(crate) unsafe fn load<T: PtxType>(meaning: Meaning, p: *const T) -> T {
    demand(p);
    // SAFETY: the caller's promise.
    let value = unsafe { load_aligned(meaning, p) };
    if !matches!(meaning, Meaning::Plain) {
        looked(p, &value);
    }
    value
}

unsafe fn load_aligned<T: PtxType>(meaning: Meaning, p: *const T) -> T {
    let order = match meaning {
        // SAFETY: the caller's promise.
        Meaning::Plain => return unsafe { p.read() },
        // SAFETY: the caller's promise.
        Meaning::Volatile => return unsafe { p.read_volatile() },
        Meaning::Acquire => atomics::Ordering::Acquire,
        Meaning::Relaxed | Meaning::Release => atomics::Ordering::Relaxed,
    };
    let mut value = MaybeUninit::<T>::uninit();
    let to = value.as_mut_ptr();
    let element = size_of::<T::Register>();
    let _whole = is_one_of_128_bits::<T>().then(lock_wide);
    for at in 0..size_of::<T>() / element {
        // SAFETY: the elements are parts of the `T`s, each as aligned as an atomic of its size.
        unsafe {
            match element {
                1 => to.cast::<u8>().add(at).write(AtomicU8::from_ptr(p.cast_mut().cast::<u8>().add(at)).load(order)),
                2 => {
                    to.cast::<u16>().add(at).write(AtomicU16::from_ptr(p.cast_mut().cast::<u16>().add(at)).load(order))
                }
                4 => {
                    to.cast::<u32>().add(at).write(AtomicU32::from_ptr(p.cast_mut().cast::<u32>().add(at)).load(order))
                }
                _ => {
                    to.cast::<u64>().add(at).write(AtomicU64::from_ptr(p.cast_mut().cast::<u64>().add(at)).load(order))
                }
            }
        }
    }
    // SAFETY: every element was written.
    unsafe { value.assume_init() }
}

/// Stores as PTX does: each element of a vector is atomic by itself, 128 bits are one element.
///
/// # Safety
/// `p` is the address of a writable, aligned `T`.
#[inline]
pub(crate) unsafe fn store<T: PtxType>(meaning: Meaning, p: *mut T, value: T) {
    demand(p);
    let order = match meaning {
        // SAFETY: the caller's promise.
        Meaning::Plain => return unsafe { p.write(value) },
        // SAFETY: the caller's promise.
        Meaning::Volatile => return unsafe { p.write_volatile(value) },
        Meaning::Release => atomics::Ordering::Release,
        Meaning::Relaxed | Meaning::Acquire => atomics::Ordering::Relaxed,
    };
    let from = &raw const value;
    let element = size_of::<T::Register>();
    let _whole = is_one_of_128_bits::<T>().then(lock_wide);
    for at in 0..size_of::<T>() / element {
        // SAFETY: the elements are parts of the `T`s, each as aligned as an atomic of its size.
        unsafe {
            match element {
                1 => AtomicU8::from_ptr(p.cast::<u8>().add(at)).store(from.cast::<u8>().add(at).read(), order),
                2 => AtomicU16::from_ptr(p.cast::<u16>().add(at)).store(from.cast::<u16>().add(at).read(), order),
                4 => AtomicU32::from_ptr(p.cast::<u32>().add(at)).store(from.cast::<u32>().add(at).read(), order),
                _ => AtomicU64::from_ptr(p.cast::<u64>().add(at)).store(from.cast::<u64>().add(at).read(), order),
            }
        }
    }
}

/// Two registers make one value, and not a vector of two.
#[inline]
fn is_one_of_128_bits<T: PtxType>() -> bool {
    core::any::TypeId::of::<T>() == core::any::TypeId::of::<B128>()
}

impl<I, T: PtxType> Load<I> for T {
    #[inline(always)]
    unsafe fn load<C: Caching, P: PrefetchSize>(p: *const Self) -> Self {
        // SAFETY: the caller promises a readable, aligned address.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn load_with<C: Caching, P: PrefetchSize>(p: *const Self, _: CachePolicy) -> Self {
        // SAFETY: the caller promises a readable, aligned address.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn load_if<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self) -> Self {
        // SAFETY: the caller promises a readable, aligned address where `cond` is true.
        if cond { unsafe { read(p) } } else { or }
    }
    #[cfg(feature = "l2-combinations")]
    #[inline(always)]
    unsafe fn load_if_with<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self, _: CachePolicy) -> Self {
        // SAFETY: the caller promises a readable, aligned address where `cond` is true.
        if cond { unsafe { read(p) } } else { or }
    }
}

impl<I, T: PtxType> Store<I> for T {
    #[inline(always)]
    unsafe fn store<C: Caching>(p: *mut Self, value: Self) {
        // SAFETY: the caller promises a writable, aligned address.
        unsafe { write(p, value) }
    }
    #[inline(always)]
    unsafe fn store_with<C: Caching>(p: *mut Self, value: Self, _: CachePolicy) {
        // SAFETY: the caller promises a writable, aligned address.
        unsafe { write(p, value) }
    }
    #[inline(always)]
    unsafe fn store_if<C: Caching>(cond: bool, p: *mut Self, value: Self) {
        if cond {
            // SAFETY: the caller promises a writable, aligned address where `cond` is true.
            unsafe { write(p, value) }
        }
    }
    #[cfg(feature = "l2-combinations")]
    #[inline(always)]
    unsafe fn store_if_with<C: Caching>(cond: bool, p: *mut Self, value: Self, _: CachePolicy) {
        if cond {
            // SAFETY: the caller promises a writable, aligned address where `cond` is true.
            unsafe { write(p, value) }
        }
    }
}

impl<S, T: PtxType> LoadIn<S> for T {
    #[inline(always)]
    unsafe fn load_in<R: OrderRow>(p: *const Self) -> Self {
        // SAFETY: the caller promises a readable, aligned address.
        unsafe { load(R::ON_CPU, p) }
    }
}

impl<S, T: PtxType> LoadInIf<S> for T {
    #[inline(always)]
    unsafe fn load_in_if(cond: bool, p: *const Self, or: Self) -> Self {
        // SAFETY: the caller promises a readable, aligned address where `cond` is true.
        if cond { unsafe { read(p) } } else { or }
    }
}

impl<S, T: PtxType> StoreIn<S> for T {
    #[inline(always)]
    unsafe fn store_in<R: OrderRow>(p: *mut Self, value: Self) {
        // SAFETY: the caller promises a writable, aligned address.
        unsafe { store(R::ON_CPU, p, value) }
    }
}

impl<S, T: PtxType> StoreInIf<S> for T {
    #[inline(always)]
    unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self) {
        if cond {
            // SAFETY: the caller promises a writable, aligned address where `cond` is true.
            unsafe { write(p, value) }
        }
    }
}

impl<T: PtxType> SharedAccess for T {
    #[inline(always)]
    unsafe fn load_shared(p: Address) -> Self {
        // SAFETY: the caller promises a readable, aligned address.
        unsafe { read(p.cast::<Self>()) }
    }
    #[inline(always)]
    unsafe fn load_shared_if(cond: bool, p: Address, or: Self) -> Self {
        // SAFETY: as for `load_shared`, where `cond` is true.
        if cond { unsafe { Self::load_shared(p) } } else { or }
    }
    #[inline(always)]
    unsafe fn store_shared(p: Address, value: Self) {
        // SAFETY: the caller promises a writable, aligned address.
        unsafe { write(p.cast::<Self>(), value) }
    }
    #[inline(always)]
    unsafe fn store_shared_if(cond: bool, p: Address, value: Self) {
        if cond {
            // SAFETY: as for `store_shared`, where `cond` is true.
            unsafe { Self::store_shared(p, value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What takes turns is slow, and what does not could be seen in halves.
    #[test]
    fn one_value_of_128_bits_takes_turns_and_a_vector_does_not() {
        assert!(is_one_of_128_bits::<B128>());
        assert!(!is_one_of_128_bits::<V2<u64>>() && !is_one_of_128_bits::<V4<u32>>() && !is_one_of_128_bits::<u64>());
    }
}
