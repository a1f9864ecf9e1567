//! What an atomic means on a CPU: each element is one atomic, 128 bits are one.

use half1::{bf16, f16};

use super::aligned::demand;
use super::atomics::{self as atomic, AtomicU16, AtomicU32};
use super::thread::looked;
use super::wide::AtomicU64;
use super::wide_lock::lock_wide;
use crate::grammar::atomic::Atomic;
use crate::isa::atomic::{AtomicOperation, Number, TYPES};
use crate::isa::element::{Element, PtxType};
use crate::isa::order::OrderWord;

/// Does what the words say to the value at `p`, and gives what stood there.
///
/// # Safety
/// `p` is the address of a writable, aligned `T`, and `T` is what the words move.
#[inline]
pub unsafe fn change<T: Copy>(words: Atomic, p: *mut T, value: T, compare: Option<T>) -> T {
    demand(p);
    let number = TYPES[words.ty].number;
    let mut old = value;
    let (memory, to) = (p.cast::<u8>(), (&raw mut old).cast::<u8>());
    let (value, compare) = ((&raw const value).cast::<u8>(), compare.as_ref().map(|c| (c as *const T).cast::<u8>()));
    for at in (0..size_of::<T>()).step_by(number.bytes()) {
        // SAFETY: the elements are parts of the `T`s, each as aligned as its size.
        unsafe {
            let compare = compare.map(|compare| number.read(compare.add(at)));
            let value = number.read(value.add(at));
            let new = |old| words.applied(number, old, value, compare);
            number.write(to.add(at), number.change(memory.add(at), words.order(), new));
        }
    }
    looked(p, &old);
    old
}

/// What the words make of what is there, whose bits these are, as those of the other values: `bytes` bytes.
#[inline]
pub fn changed(words: Atomic, old: u128, value: u128, compare: Option<u128>, bytes: usize) -> u128 {
    let number = TYPES[words.ty].number;
    let own = u128::MAX >> (128 - 8 * number.bytes());
    if bytes == number.bytes() {
        return words.applied(number, old & own, value & own, compare.map(|compare| compare & own)) & own;
    }
    (0..bytes).step_by(number.bytes()).fold(0, |all, at| {
        let of = |whole: u128| whole >> (8 * at) & own;
        all | (words.applied(number, of(old), of(value), compare.map(of)) & own) << (8 * at)
    })
}

/// A reduction of the value at `p`, as the type `T` is called in PTX.
///
/// # Safety
/// `p` is the address of a writable, aligned `T`.
pub(crate) unsafe fn reduce<T: Element>(op: AtomicOperation, order: OrderWord, p: *mut T, value: T) {
    let ty = TYPES.iter().position(|row| row.ptx == T::Ptx::TEXT).expect("reductions are of types of atomics");
    let words = Atomic { op: Some(op), order: Some(order), ty, ..Atomic::plain(true) };
    // SAFETY: the caller's promise.
    unsafe { change(words, p, value, None) };
}

impl Atomic {
    /// `.relaxed` where nothing is said.
    const fn order(&self) -> atomic::Ordering {
        match self.order {
            Some(OrderWord::Acquire) => atomic::Ordering::Acquire,
            Some(OrderWord::Release) => atomic::Ordering::Release,
            Some(OrderWord::AcqRel) => atomic::Ordering::AcqRel,
            _ => atomic::Ordering::Relaxed,
        }
    }

    /// What is there afterwards.
    fn applied(&self, number: Number, old: u128, value: u128, compare: Option<u128>) -> u128 {
        match self.op {
            Some(AtomicOperation::And) => old & value,
            Some(AtomicOperation::Or) => old | value,
            Some(AtomicOperation::Xor) => old ^ value,
            Some(AtomicOperation::Cas) => {
                if Some(old) == compare {
                    value
                } else {
                    old
                }
            }
            Some(AtomicOperation::Inc) => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            Some(AtomicOperation::Dec) => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            Some(AtomicOperation::Add) => number.sum(old, value),
            Some(AtomicOperation::Min) => number.least(old, value),
            Some(AtomicOperation::Max) => number.greatest(old, value),
            Some(AtomicOperation::Exch) | None => value,
        }
    }
}

impl Number {
    const fn bytes(self) -> usize {
        match self {
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
            Self::U128 => 16,
        }
    }

    /// # Safety
    /// `p` is the readable, aligned address of a number of this kind.
    unsafe fn read(self, p: *const u8) -> u128 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes() {
                2 => p.cast::<u16>().read().into(),
                4 => p.cast::<u32>().read().into(),
                8 => p.cast::<u64>().read().into(),
                _ => p.cast::<u128>().read(),
            }
        }
    }

    /// # Safety
    /// `p` is the writable, aligned address of a number of this kind.
    unsafe fn write(self, p: *mut u8, bits: u128) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes() {
                2 => p.cast::<u16>().write(bits as u16),
                4 => p.cast::<u32>().write(bits as u32),
                8 => p.cast::<u64>().write(bits as u64),
                _ => p.cast::<u128>().write(bits),
            }
        }
    }

    /// Changes a number in memory in one step, and gives what stood there.
    ///
    /// # Safety
    /// `p` is readable, writable, and aligned to the size of the number.
    #[inline]
    unsafe fn change(self, p: *mut u8, order: atomic::Ordering, new: impl Fn(u128) -> u128) -> u128 {
        macro_rules! step_by_step {
            ($atomic:ident $t:ident) => {{
                // SAFETY: the caller's promise.
                let number = unsafe { $atomic::from_ptr(p.cast()) };
                let mut old = number.load(atomic::Ordering::Relaxed);
                loop {
                    match number.compare_exchange_weak(old, new(old.into()) as $t, order, loads(order)) {
                        Ok(old) => return old.into(),
                        Err(now) => old = now,
                    }
                }
            }};
        }
        match self.bytes() {
            2 => step_by_step!(AtomicU16 u16),
            4 => step_by_step!(AtomicU32 u32),
            8 => step_by_step!(AtomicU64 u64),
            _ => {
                let _whole = lock_wide();
                // SAFETY: the caller's promise; all 128-bit atomics take the lock.
                unsafe {
                    let old = self.read(p);
                    self.write(p, new(old));
                    old
                }
            }
        }
    }

    fn sum(self, a: u128, b: u128) -> u128 {
        match self {
            // The sum of two in f32 is exact enough to be rounded once more.
            Self::F16 => {
                let [a, b] = [a, b].map(|bits| f16::from_bits(bits as u16).to_f32());
                f16::from_f32(a + b).to_bits().into()
            }
            Self::Bf16 => {
                let [a, b] = [a, b].map(|bits| bf16::from_bits(bits as u16).to_f32());
                bf16::from_f32(a + b).to_bits().into()
            }
            Self::F32 => (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into(),
            Self::F64 => (f64::from_bits(a as u64) + f64::from_bits(b as u64)).to_bits().into(),
            _ => a.wrapping_add(b),
        }
    }

    fn least(self, a: u128, b: u128) -> u128 {
        self.chosen(a, b, |a, b| a <= b)
    }

    fn greatest(self, a: u128, b: u128) -> u128 {
        self.chosen(a, b, |a, b| a >= b)
    }

    /// `a` where that is better than `b`; a number is better than none.
    fn chosen(self, a: u128, b: u128, better: fn(i128, i128) -> bool) -> u128 {
        match (self.rank(a), self.rank(b)) {
            (Some(x), Some(y)) => {
                if better(x, y) {
                    a
                } else {
                    b
                }
            }
            (Some(_), None) => a,
            (None, Some(_)) => b,
            (None, None) => 0x7fff,
        }
    }

    /// The place of a number among those of its kind: -0.0 below 0.0. None for what is not a number.
    fn rank(self, bits: u128) -> Option<i128> {
        let half = |is_nan: bool| {
            let magnitude = i128::from(bits as u16 & 0x7fff);
            (!is_nan).then_some(if bits >> 15 & 1 == 1 { -magnitude - 1 } else { magnitude })
        };
        match self {
            Self::S32 => Some((bits as i32).into()),
            Self::S64 => Some((bits as i64).into()),
            Self::F16 => half(f16::from_bits(bits as u16).is_nan()),
            Self::Bf16 => half(bf16::from_bits(bits as u16).is_nan()),
            _ => Some(bits as i128),
        }
    }
}

/// The order of the load in it.
const fn loads(order: atomic::Ordering) -> atomic::Ordering {
    match order {
        atomic::Ordering::Acquire | atomic::Ordering::AcqRel => atomic::Ordering::Acquire,
        _ => atomic::Ordering::Relaxed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many CPUs do what is ordered and what is not in the same way, so that no value tells.
    #[test]
    fn each_order_is_the_one_of_the_same_name() {
        let orders = [
            ("atom.add.u32", atomic::Ordering::Relaxed, atomic::Ordering::Relaxed),
            ("atom.relaxed.gpu.add.u32", atomic::Ordering::Relaxed, atomic::Ordering::Relaxed),
            ("atom.acquire.gpu.add.u32", atomic::Ordering::Acquire, atomic::Ordering::Acquire),
            ("atom.release.gpu.add.u32", atomic::Ordering::Release, atomic::Ordering::Relaxed),
            ("atom.acq_rel.gpu.add.u32", atomic::Ordering::AcqRel, atomic::Ordering::Acquire),
        ];
        for (ptx, order, of_a_load) in orders {
            let found = Atomic::read(ptx).expect("a form").order();
            assert_eq!((found, loads(found)), (order, of_a_load), "{ptx}");
        }
    }
}
