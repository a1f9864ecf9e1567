//! What `multimem` means on a CPU: a multimem address stands for one copy, so the reduction of all copies is its value.

use core::mem::MaybeUninit;

use super::access::{load, store};
use super::aligned::demand;
use super::atomic::change;
use crate::grammar::atomic::Atomic;
use crate::grammar::multimem::Multimem;
use crate::isa::atomic::TYPES as ATOMICS;
use crate::isa::element::*;
use crate::isa::multimem::{Group, TYPES};
use crate::isa::order::OrderWord;

/// What `multimem.ld_reduce` gives.
///
/// # Safety
/// `p` is the address of a readable, aligned `T`, and `T` is what the words move.
#[inline]
pub unsafe fn reduced<T: Copy>(words: Multimem, p: *const T) -> T {
    demand(p);
    let mut value = MaybeUninit::<T>::uninit();
    let (from, to) = (p.cast::<u8>(), value.as_mut_ptr().cast::<u8>());
    let (number, meaning) = (TYPES[words.ty].number, OrderWord::on_cpu(words.order));
    for at in (0..size_of::<T>()).step_by(number) {
        // SAFETY: the numbers are parts of the `T`s, each as aligned as its size.
        unsafe {
            let (from, to) = (from.add(at), to.add(at));
            match number {
                1 => to.cast::<B8>().write(load(meaning, from.cast())),
                2 => to.cast::<B16>().write(load(meaning, from.cast())),
                4 => to.cast::<B32>().write(load(meaning, from.cast())),
                _ => to.cast::<B64>().write(load(meaning, from.cast())),
            }
        }
    }
    // SAFETY: every number was written.
    unsafe { value.assume_init() }
}

/// `multimem.st`.
///
/// # Safety
/// `p` is the address of a writable, aligned `T`, and `T` is what the words move.
#[inline]
pub unsafe fn stored<T: Copy>(words: Multimem, p: *mut T, value: T) {
    demand(p);
    let (from, to) = ((&raw const value).cast::<u8>(), p.cast::<u8>());
    let (number, meaning) = (TYPES[words.ty].number, OrderWord::on_cpu(words.order));
    for at in (0..size_of::<T>()).step_by(number) {
        // SAFETY: as for `reduced`.
        unsafe {
            let (from, to) = (from.add(at), to.add(at));
            match number {
                1 => store(meaning, to.cast(), from.cast::<B8>().read()),
                2 => store(meaning, to.cast(), from.cast::<B16>().read_unaligned()),
                4 => store(meaning, to.cast(), from.cast::<B32>().read_unaligned()),
                _ => store(meaning, to.cast(), from.cast::<B64>().read_unaligned()),
            }
        }
    }
}

/// `multimem.red`: what `red` of the same words does.
///
/// # Safety
/// As for [`stored`]; other threads access the place only by atomics.
#[inline]
pub unsafe fn changed<T: Copy>(words: Multimem, p: *mut T, value: T) {
    let own = &TYPES[words.ty];
    let ty = ATOMICS.iter().position(|row| row.ptx == own.ptx).expect("`red` has all types of `multimem.red`");
    let noftz = matches!(own.group, Group::Half);
    let Multimem { order, scope, space, op, .. } = words;
    // SAFETY: the caller's promise.
    unsafe { change(Atomic { order, scope, space, op, noftz, ty, ..Atomic::plain(true) }, p, value, None) };
}
