//! The barrier on a CPU: one atomic word.
//!
//! A test of the harness compiles this file with atomics that try every order of two and three threads.

use super::atomics::Ordering;
use super::wide::AtomicU64;

/// What is used as an address in shared memory.
pub(super) type Address = *mut ();

/// Arrivals that the phase lacks, arrivals that the next phases expect, bytes that it lacks, and the parity.
#[derive(Clone, Copy, Debug)]
struct Word {
    pending: u32,
    expected: u32,
    bytes: i32,
    parity: bool,
}

/// Arrivals are counted in 20 bits, bytes in 20 and a sign.
const COUNT: u64 = (1 << 20) - 1;
const BYTES: u64 = (1 << 21) - 1;

impl Word {
    fn of(bits: u64) -> Self {
        let field = |at: u32, mask: u64| (bits >> at & mask) as u32;
        // The sign is bit 20.
        let bytes = (field(40, BYTES) << 11) as i32 >> 11;
        Word { pending: field(0, COUNT), expected: field(20, COUNT), bytes, parity: bits >> 63 == 1 }
    }

    fn bits(self) -> u64 {
        let bytes = self.bytes as u64 & BYTES;
        u64::from(self.pending) | u64::from(self.expected) << 20 | bytes << 40 | u64::from(self.parity) << 63
    }

    /// The next phase, if this one lacks nothing.
    fn turned(self) -> Self {
        if self.pending != 0 || self.bytes != 0 {
            return self;
        }
        Word { pending: self.expected, parity: !self.parity, ..self }
    }
}

#[inline]
unsafe fn word<'a>(bar: Address) -> &'a AtomicU64 {
    // SAFETY: the caller's promise: a barrier, which only these functions touch.
    unsafe { &*bar.cast() }
}

/// Changes the word and gives it as it was.
#[inline]
unsafe fn change(bar: Address, mut change: impl FnMut(Word) -> Word) -> u64 {
    // SAFETY: the caller's promise.
    let word = unsafe { word(bar) };
    let mut old = word.load(Ordering::Relaxed);
    loop {
        let new = change(Word::of(old)).turned().bits();
        match word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return old,
            Err(now) => old = now,
        }
    }
}

#[inline]
pub(crate) unsafe fn init(bar: Address, count: u32) {
    assert!((1..=COUNT as u32).contains(&count), "a barrier of {count} arrivals: 1 to {COUNT} are possible");
    let new = Word { pending: count, expected: count, bytes: 0, parity: false };
    // SAFETY: the caller's promise.
    unsafe { word(bar) }.store(new.bits(), Ordering::Release);
}

/// Arrivals of a phase in the layout `v1`.
const COUNT_V1: u32 = 511;

/// The same in the layout `v1`, which a CPU does not tell from the other one.
pub(crate) unsafe fn init_v1(bar: Address, count: u32) {
    let fits = (1..=COUNT_V1).contains(&count);
    assert!(fits, "a barrier of {count} arrivals in the layout v1: 1 to {COUNT_V1} are possible");
    // SAFETY: the caller's promise.
    unsafe { init(bar, count) }
}

/// Expects bytes, then arrives, `dropped` times for ever; gives the state before.
#[inline]
pub(crate) unsafe fn arrive(bar: Address, count: u32, bytes: u32, dropped: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        change(bar, |word| Word {
            pending: word.pending.checked_sub(count).expect("a barrier's phase expects so many arrivals"),
            expected: word.expected.checked_sub(dropped).expect("a barrier expects so many arrivals"),
            bytes: counted(i64::from(word.bytes) + i64::from(bytes)),
            ..word
        })
    }
}

#[inline]
pub(crate) unsafe fn expect(bar: Address, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { change(bar, |word| Word { bytes: counted(i64::from(word.bytes) + i64::from(bytes)), ..word }) };
}

#[inline]
pub(crate) unsafe fn complete(bar: Address, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { change(bar, |word| Word { bytes: counted(i64::from(word.bytes) - i64::from(bytes)), ..word }) };
}

fn counted(bytes: i64) -> i32 {
    assert!(bytes.unsigned_abs() <= COUNT, "a barrier's phase lacks {bytes} bytes: at most {COUNT} are possible");
    bytes as i32
}

/// Whether the phase of that parity is complete.
#[inline]
pub(crate) unsafe fn is_complete(bar: Address, parity: bool) -> bool {
    // SAFETY: the caller's promise.
    Word::of(unsafe { word(bar) }.load(Ordering::Acquire)).parity != parity
}

/// The parity of the phase that a state is of.
#[inline]
pub(crate) fn parity(state: u64) -> bool {
    Word::of(state).parity
}

#[inline]
pub(crate) fn pending(state: u64) -> u32 {
    Word::of(state).pending
}
