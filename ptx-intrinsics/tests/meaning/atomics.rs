//! Every `atom` and `red` against what the PTX ISA says that it does, written here once more for Rust's own numbers.

use std::collections::BTreeSet;

use half::{bf16, f16};
use ptx_intrinsics::catalogue;
use ptx_intrinsics::grammar::atomic::Atomic;
use ptx_intrinsics::ptx;

use crate::{FORMS, kind};

/// An atomic as its words say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Words<'a> {
    pub(crate) op: &'a str,
    /// The type of one number: of `.v4.f16x2` it is `f16`.
    pub(crate) number: &'a str,
    pub(crate) numbers: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn of(ptx: &'a str) -> Self {
        const OPERATIONS: [&str; 10] = ["and", "or", "xor", "exch", "cas", "inc", "dec", "add", "min", "max"];
        let words: Vec<&str> = ptx.split('.').collect();
        let op = words.iter().find(|word| OPERATIONS.contains(word)).expect("an atomic has an operation");
        let ty = words[words.len() - 1];
        let lanes = words[words.len() - 2].strip_prefix('v').and_then(|lanes| lanes.parse().ok()).unwrap_or(1);
        match ty.strip_suffix("x2") {
            Some(number) => Self { op, number, numbers: 2 * lanes },
            None => Self { op, number: ty, numbers: lanes },
        }
    }

    pub(crate) fn bytes_of_a_number(self) -> usize {
        let bits = self.number.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        bits.parse::<usize>().expect("a type ends in its bits") / 8
    }

    /// Numbers at the edges of the type.
    fn samples(self) -> Vec<u128> {
        match self.number {
            // 0.0, -0.0, 1.0, -1.5, the smallest, the largest, an infinity, two that are none.
            "f16" => vec![0, 0x8000, 0x3c00, 0xbe00, 1, 0x7bff, 0xfc00, 0x7e01, 0xfd55],
            "bf16" => vec![0, 0x8000, 0x3f80, 0xbfc0, 1, 0x7f7f, 0xff80, 0x7fc1, 0xffa5],
            "f32" => [0.0, -0.0, 1.0, -1.5, 1e-3, f32::MAX, f32::NEG_INFINITY, f32::from_bits(0x7f80_0001)]
                .map(|x: f32| x.to_bits().into())
                .to_vec(),
            "f64" => [0.0, -0.0, 1.0, -1.5, 1e-3, f64::MAX, f64::NEG_INFINITY, f64::from_bits(0x7ff0_0000_0000_0001)]
                .map(|x: f64| x.to_bits().into())
                .to_vec(),
            _ => {
                let (sign, all) =
                    (1 << (self.bytes_of_a_number() * 8 - 1), u128::MAX >> (128 - self.bytes_of_a_number() * 8));
                vec![0, 1, 2, 3, sign - 1, sign, sign + 1, all - 1, all, all / 3]
            }
        }
    }

    /// What is there afterwards.
    pub(crate) fn after(self, old: u128, value: u128, compare: u128) -> u128 {
        let half = |is_nan: [bool; 2], less: bool| match (is_nan, self.op) {
            ([true, true], _) => 0x7fff,
            ([true, false], _) => value,
            ([false, true], _) => old,
            (_, "min") => {
                if less {
                    old
                } else {
                    value
                }
            }
            _ => {
                if less {
                    value
                } else {
                    old
                }
            }
        };
        match (self.op, self.number) {
            ("exch", _) => value,
            ("cas", _) => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
            ("and", _) => old & value,
            ("or", _) => old | value,
            ("xor", _) => old ^ value,
            ("inc", "u32") => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            ("dec", "u32") => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            ("add", "u32" | "s32") => (old as u32).wrapping_add(value as u32).into(),
            ("add", "u64") => (old as u64).wrapping_add(value as u64).into(),
            ("add", "f32") => (f32::from_bits(old as u32) + f32::from_bits(value as u32)).to_bits().into(),
            ("add", "f64") => (f64::from_bits(old as u64) + f64::from_bits(value as u64)).to_bits().into(),
            ("add", "f16") => {
                let [a, b] = [old, value].map(|bits| f16::from_bits(bits as u16).to_f32());
                f16::from_f32(a + b).to_bits().into()
            }
            ("add", "bf16") => {
                let [a, b] = [old, value].map(|bits| bf16::from_bits(bits as u16).to_f32());
                bf16::from_f32(a + b).to_bits().into()
            }
            ("min", "u32" | "u64") => old.min(value),
            ("max", "u32" | "u64") => old.max(value),
            ("min", "s32") => ((old as i32).min(value as i32) as u32).into(),
            ("max", "s32") => ((old as i32).max(value as i32) as u32).into(),
            ("min", "s64") => ((old as i64).min(value as i64) as u64).into(),
            ("max", "s64") => ((old as i64).max(value as i64) as u64).into(),
            ("min" | "max", "f16") => {
                let [a, b] = [old, value].map(|bits| f16::from_bits(bits as u16));
                half([a.is_nan(), b.is_nan()], a.total_cmp(&b).is_lt())
            }
            ("min" | "max", "bf16") => {
                let [a, b] = [old, value].map(|bits| bf16::from_bits(bits as u16));
                half([a.is_nan(), b.is_nan()], a.total_cmp(&b).is_lt())
            }
            _ => panic!("{self:?} is no atomic of PTX: {}", self.op),
        }
    }

    /// Which bits of a sum that is no number are not said.
    fn same(self, found: u128, expected: u128) -> bool {
        let is_nan = |bits: u128| match self.number {
            "f16" => f16::from_bits(bits as u16).is_nan(),
            "bf16" => bf16::from_bits(bits as u16).is_nan(),
            "f32" => f32::from_bits(bits as u32).is_nan(),
            "f64" => f64::from_bits(bits as u64).is_nan(),
            _ => false,
        };
        found == expected || self.op == "add" && is_nan(found) && is_nan(expected)
    }
}

/// The numbers of a type, one after the other in memory.
pub(crate) fn packed(numbers: &[u128], bytes: usize) -> [u8; 16] {
    let mut memory = [0; 16];
    for (place, number) in memory.chunks_mut(bytes).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes()[..bytes]);
    }
    memory
}

fn unpacked(memory: [u8; 16], bytes: usize) -> Vec<u128> {
    let number = |place: &[u8]| place.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte));
    memory.chunks(bytes).map(number).collect()
}

/// Does it at the 16 aligned bytes at `p`, of which it changes so many, and gives what stood there.
///
/// # Safety
/// Others touch them by atomics alone.
pub(crate) unsafe fn change(words: Atomic, p: *mut u8, value: [u8; 16], compare: Option<[u8; 16]>) -> [u8; 16] {
    let mut old = [0; 16];
    macro_rules! as_one {
        ($t:ty) => {{
            let bits = |bytes: [u8; 16]| u128::from_le_bytes(bytes) as $t;
            // SAFETY: the caller's promise.
            let found = unsafe { ptx::change(words, p.cast::<$t>(), bits(value), compare.map(bits)) };
            old[..size_of::<$t>()].copy_from_slice(&found.to_le_bytes());
        }};
    }
    match words.bytes() {
        2 => as_one!(u16),
        4 => as_one!(u32),
        8 => as_one!(u64),
        _ => as_one!(u128),
    }
    old
}

#[repr(align(16))]
struct Place([u8; 48]);

/// Tries a form on one choice of numbers, of which each lane takes another one.
fn tries(ptx: &str, words: Words<'_>, at: [usize; 3]) {
    let (samples, bytes) = (words.samples(), words.bytes_of_a_number());
    let lanes = |from: usize| (0..words.numbers).map(|lane| samples[(from + 4 * lane) % samples.len()]).collect();
    let [old, value, compare]: [Vec<u128>; 3] = at.map(lanes);
    let atomic = Atomic::read(ptx).expect("the catalogue's own words");
    let whole = words.numbers * bytes;
    let mut place = Place([0xa5; 48]);
    place.0[16..16 + whole].copy_from_slice(&packed(&old, bytes)[..whole]);
    let comparing = (words.op == "cas").then(|| packed(&compare, bytes));
    // SAFETY: the place is this function's.
    let found =
        unsafe { change(atomic, (&raw mut place.0).wrapping_byte_add(16).cast(), packed(&value, bytes), comparing) };
    assert_eq!(found[..whole], packed(&old, bytes)[..whole], "what {ptx} gives of {old:x?}");
    let mut now = [0; 16];
    now[..whole].copy_from_slice(&place.0[16..16 + whole]);
    let [old_bits, new_bits] = [&old, &value].map(|numbers| u128::from_le_bytes(packed(numbers, bytes)));
    let changed = ptx::changed(atomic, old_bits, new_bits, comparing.map(u128::from_le_bytes), whole);
    assert_eq!(changed.to_le_bytes()[..whole], now[..whole], "what {ptx} makes of {old:x?} outside of memory");
    for (lane, now) in unpacked(now, bytes).into_iter().take(words.numbers).enumerate() {
        let expected = words.after(old[lane], value[lane], compare[lane]);
        let of = format!("{ptx} of {:#x}, {:#x}, {:#x}", old[lane], value[lane], compare[lane]);
        assert!(words.same(now, expected), "{of} is {now:#x}, and not {expected:#x}");
    }
    assert!(place.0[..16].iter().chain(&place.0[16 + whole..]).all(|&byte| byte == 0xa5), "{ptx} writes beside");
}

#[test]
#[cfg_attr(miri, ignore = "it walks the whole catalogue, which takes an hour there")]
fn every_atomic_does_what_the_isa_says() {
    let mut kinds = BTreeSet::new();
    let (mut forms, mut tried) = (0, 0);
    for form in catalogue::forms().filter(|form| kind(form) == 1) {
        let words = Words::of(form.ptx());
        forms += 1;
        // Each operation on each type in all its numbers, each of its spellings in one choice.
        let samples = words.samples().len();
        let kind = (words.op.to_owned(), words.number.to_owned(), words.numbers);
        let each = if kinds.insert(kind) { 0..samples * samples } else { forms % samples..forms % samples + 1 };
        for choice in each {
            let (old, value) = (choice % samples, (choice / samples + choice) % samples);
            for compare in if words.op == "cas" { [old, value] } else { [0, 0] } {
                tries(form.ptx(), words, [old, value, compare]);
                tried += 1;
            }
        }
    }
    println!("{forms} forms of {} kinds, {tried} tries", kinds.len());
    assert_eq!(forms, FORMS[1]);
    assert!(kinds.len() == 50, "{} operations on types", kinds.len());
}
