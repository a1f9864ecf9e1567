//! What each instruction has to give, by Rust's own types and, where the ISA has a loop, by that loop.

// A cast is unnecessary for one of the types that a macro's expression is for.
#![allow(clippy::unnecessary_cast)]

use half::{bf16, f16};

use crate::interpreter::patterns::{Instruction, Register};

/// What has to come out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    values: [u64; 2],
    carry: Option<u64>,
    /// Floats that are only approximate: their type.
    near: Option<String>,
    /// A NaN, of which only that is known: the type.
    float: Option<String>,
}

impl Expected {
    fn is(value: u64) -> Option<Expected> {
        Some(Expected { values: [value, 0], carry: None, near: None, float: None })
    }

    fn both(first: u64, second: u64) -> Option<Expected> {
        Some(Expected { values: [first, second], carry: None, near: None, float: None })
    }

    fn of_float(value: u64, ty: &str) -> Option<Expected> {
        Some(Expected { values: [value, 0], carry: None, near: None, float: Some(ty.to_owned()) })
    }

    /// The first result that is another.
    pub(crate) fn differs(&self, instruction: &Instruction, found: &[u64; 4]) -> Option<usize> {
        for (at, register) in instruction.to.iter().enumerate() {
            let mask = match register {
                Register::Predicate => 1,
                register => u64::MAX >> (64 - register.bits()),
            };
            let (found, expected) = (found[at] & mask, self.values[at] & mask);
            let right = match (&self.near, &self.float) {
                (Some(ty), _) => is_near(ty, found, expected),
                (_, Some(ty)) => found == expected || are_nans(ty, found, expected),
                _ => found == expected,
            };
            if !right {
                return Some(at);
            }
        }
        self.carry.filter(|carry| *carry != found[3] & 0xffff_ffff).map(|_| 3)
    }
}

fn lanes(ty: &str) -> (&str, Vec<u32>) {
    match ty.strip_suffix("x2") {
        Some(of) => (of, vec![0, width(of)]),
        None => (ty, vec![0]),
    }
}

fn width(ty: &str) -> u32 {
    ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

fn low(value: u64, bits: u32) -> u64 {
    value & u64::MAX >> (64 - bits)
}

/// A float as a number.
fn number(ty: &str, bits: u64) -> f64 {
    match ty {
        "f16" => f16::from_bits(bits as u16).to_f64(),
        "bf16" => bf16::from_bits(bits as u16).to_f64(),
        "f32" => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The float that is nearest.
fn bits(ty: &str, number: f64) -> u64 {
    match ty {
        "f16" => nearest(ty, number, f16::from_f64(number).to_bits()),
        "bf16" => nearest(ty, number, bf16::from_f64(number).to_bits()),
        "f32" => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

/// That one, or the one beside it that is nearer: `half` looks at the upper 32 bits of the number alone, and so takes what
/// is just beyond the middle of two for the middle.
fn nearest(ty: &str, exact: f64, found: u16) -> u64 {
    let distance = |bits: u16| (number(ty, bits.into()) - exact).abs();
    // What overflows has no middle.
    if !number(ty, found.into()).is_finite() {
        return found.into();
    }
    let beside = [found.wrapping_sub(1), found.wrapping_add(1)];
    beside.into_iter().find(|&other| distance(other) < distance(found)).unwrap_or(found).into()
}

fn are_nans(ty: &str, one: u64, other: u64) -> bool {
    let (ty, at) = lanes(ty);
    let lane = |value: u64, at: u32| low(value >> at, width(ty));
    at.into_iter().all(|at| {
        let (one, other) = (lane(one, at), lane(other, at));
        one == other || number(ty, one).is_nan() && number(ty, other).is_nan()
    })
}

#[test]
fn just_beyond_the_middle_is_not_the_middle() {
    let (one, other) = (number("bf16", 0x17e8), number("bf16", 0x17e9));
    let middle = (one + other) / 2.0;
    let found =
        [middle, middle * (1.0 + f64::EPSILON), middle * (1.0 - f64::EPSILON)].map(|number| bits("bf16", number));
    assert_eq!(found, [0x17e8, 0x17e9, 0x17e8]);
    assert_eq!(
        [bits("f16", 65519.0), bits("f16", 65520.0), bits("f16", -0.0), bits("bf16", f64::INFINITY)],
        [0x7bff, 0x7c00, 0x8000, 0x7f80]
    );
}

fn is_near(ty: &str, one: u64, other: u64) -> bool {
    let (of, at) = lanes(ty);
    at.into_iter().all(|at| {
        let [one, other] = [one, other].map(|value| number(of, low(value >> at, width(of))));
        let within = match of {
            "f16" => 1.0 / 512.0,
            "bf16" => 1.0 / 64.0,
            _ => 1e-5,
        };
        one == other || one.is_nan() && other.is_nan() || (one - other).abs() <= within * other.abs().max(1e-30)
    })
}

/// An expression for the integer type of that name.
macro_rules! by_integer {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            "u8" => {
                type $t = u8;
                $body
            }
            "s8" => {
                type $t = i8;
                $body
            }
            "u16" | "b16" => {
                type $t = u16;
                $body
            }
            "s16" => {
                type $t = i16;
                $body
            }
            "u32" | "b32" => {
                type $t = u32;
                $body
            }
            "s32" => {
                type $t = i32;
                $body
            }
            "u64" | "b64" => {
                type $t = u64;
                $body
            }
            "s64" => {
                type $t = i64;
                $body
            }
            other => panic!("no integer {other}"),
        }
    };
}

fn is_float(ty: &str) -> bool {
    ty.contains('f')
}

/// Of these operands, if it is known.
pub(crate) fn reference(instruction: &Instruction, operands: &[u64; 8]) -> Option<Expected> {
    let words = instruction.words();
    let (name, last) = (words[0], *words.last()?);
    let has = |word: &str| words.contains(&word);
    let s = *operands;
    let [a, b, c] = [s[0], s[1], s[2]];
    match name {
        "setp" | "set" => return compared(&words, &s),
        "cvt" => return converted(&words, &s),
        "prmt" => return Expected::is(permuted(&words, a as u32, b as u32, c as u32).into()),
        "slct" => {
            let first = if last == "f32" {
                let number = f32::from_bits(c as u32);
                number >= 0.0 || has("ftz") && number.is_subnormal()
            } else {
                c as i32 >= 0
            };
            return Expected::is(if first { a } else { b });
        }
        _ => {}
    }
    if is_float(last) && !matches!(name, "mov" | "selp") {
        return of_floats(&words, &s);
    }
    let (of, places) = lanes(last);
    if places.len() == 2 {
        let lane = |at: u32| -> Option<u64> {
            let mut own = s;
            own.iter_mut().for_each(|value| *value = low(*value >> at, width(of)));
            let opcode = instruction.opcode.replace(last, of);
            let single = Instruction { opcode, to: vec![Register::Bits(16)], from: instruction.from.clone() };
            Some(low(reference(&single, &own)?.values[0], 16))
        };
        return Expected::is(lane(0)? | lane(16)? << 16);
    }
    let carry = s[7];
    if has("cc") || name.ends_with('c') && matches!(name, "addc" | "subc" | "madc") {
        return with_carry(&words, a, b, c, carry);
    }
    let word = |value: u64| value as u32;
    let result = match name {
        "add" | "sub" | "mul" if has("sat") || has("hi") || has("lo") || name != "mul" => by_integer!(last, T => {
            let (a, b) = (a as T, b as T);
            (match (name, has("sat"), has("hi")) {
                ("add", false, _) => a.wrapping_add(b),
                ("add", true, _) => a.saturating_add(b),
                ("sub", false, _) => a.wrapping_sub(b),
                ("sub", true, _) => a.saturating_sub(b),
                (_, _, false) => a.wrapping_mul(b),
                _ => upper(last, s[0], s[1]) as T,
            }) as u64
        }),
        "mul" => wide(last, a, b),
        "mad" if has("wide") => wide(last, a, b).wrapping_add(c),
        "mad" => by_integer!(last, T => {
            let part = if has("hi") { upper(last, a, b) as T } else { (a as T).wrapping_mul(b as T) };
            (if has("sat") { part.saturating_add(c as T) } else { part.wrapping_add(c as T) }) as u64
        }),
        "mul24" | "mad24" => {
            let of = |value: u64| {
                if last == "s32" { (((value as i32) << 8) >> 8).into() } else { (value & 0xff_ffff) as i64 }
            };
            let product = of(a) * of(b);
            let part = if has("hi") { product >> 16 } else { product };
            match (name, has("sat")) {
                ("mul24", _) => part as u64,
                (_, true) => (part as i32).saturating_add(c as i32) as u64,
                _ => (part as u64).wrapping_add(c),
            }
        }
        "sad" => by_integer!(last, T => ((a as T).abs_diff(b as T) as u64).wrapping_add(c)),
        "div" | "rem" => by_integer!(last, T => {
            let (a, b) = (a as T, b as T);
            if b == 0 {
                return None;
            }
            (if name == "div" { a.wrapping_div(b) } else { a.wrapping_rem(b) }) as u64
        }),
        "abs" => match last {
            "s16" => (a as i16).wrapping_abs() as u64,
            "s32" => (a as i32).wrapping_abs() as u64,
            _ => (a as i64).wrapping_abs() as u64,
        },
        "neg" => a.wrapping_neg(),
        "min" | "max" => by_integer!(last, T => {
            let (a, b) = (a as T, b as T);
            let one = if name == "min" { a.min(b) } else { a.max(b) };
            (if has("relu") { one.max(T::default()) } else { one }) as u64
        }),
        "dp4a" | "dp2a" => dot(&words, word(a), word(b), word(c)).into(),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "not" => !a,
        "cnot" => by_integer!(last, T => (a as T == 0).into()),
        "lop3" => {
            let table = |bit: u32| 150u64 >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1) & 1;
            let result = (0..32).fold(0, |all, bit| all | table(bit) << bit);
            let (found, other) = (result != 0, s[4] & 0xff != 0);
            let combined = if has("and") { found & other } else { found | other };
            return Expected::both(result, combined.into());
        }
        "shl" => by_integer!(last, T => (a as T).checked_shl(word(b)).unwrap_or(0) as u64),
        "shr" => by_integer!(last, T => {
            let number = a as T;
            let filled = if number < T::default() { u64::MAX } else { 0 };
            number.checked_shr(word(b)).map_or(filled, |shifted| shifted as u64)
        }),
        "shf" => {
            let by = if has("clamp") { word(c).min(32) } else { word(c) % 32 };
            let both = u64::from(word(b)) << 32 | u64::from(word(a));
            if has("l") { (both << by) >> 32 } else { both >> by }
        }
        "popc" => if last == "b32" { word(a).count_ones() } else { a.count_ones() }.into(),
        "clz" => if last == "b32" { word(a).leading_zeros() } else { a.leading_zeros() }.into(),
        "brev" => {
            if last == "b32" {
                word(a).reverse_bits().into()
            } else {
                a.reverse_bits()
            }
        }
        "bfind" => find(&words, a),
        "bfe" => extract(last, a, b, c),
        "bfi" => {
            let (top, at, length) = (width(last), s[2] & 0xff, s[3] & 0xff);
            (0..length.min(64))
                .filter(|bit| at + bit < top.into())
                .fold(b, |all, bit| all & !(1 << (at + bit)) | (a >> bit & 1) << (at + bit))
        }
        "bmsk" => {
            let (at, length) = if has("clamp") { (a, b) } else { (a & 31, b & 31) };
            let (at, length) = (at & 0xffff_ffff, length & 0xffff_ffff);
            (0..32).filter(|bit| *bit >= at && *bit - at < length).fold(0, |all, bit| all | 1 << bit)
        }
        "szext" => {
            let count = if has("clamp") { word(b).min(32) } else { word(b) % 32 };
            let sign = last == "s32" && word(a) >> (count.wrapping_sub(1) % 32) & 1 == 1;
            (0..32).fold(0, |all, bit| all | if bit < count { a & 1 << bit } else { u64::from(sign) << bit })
        }
        "fns" => nth(word(a), b as u32, c as i32).into(),
        "mov" if last == "pred" => (a & 0xff != 0).into(),
        "mov" => a,
        "selp" => {
            if c & 0xff != 0 {
                a
            } else {
                b
            }
        }
        other => panic!("no reference for {other}"),
    };
    if last == "pred" {
        let [a, b] = [a, b].map(|value| value & 0xff != 0);
        return Expected::is(
            match name {
                "and" => a & b,
                "or" => a | b,
                "xor" => a ^ b,
                "not" => !a,
                _ => a,
            }
            .into(),
        );
    }
    Expected::is(result)
}

fn wide(ty: &str, a: u64, b: u64) -> u64 {
    match ty {
        "u16" => u64::from(a as u16) * u64::from(b as u16),
        "s16" => (i64::from(a as i16) * i64::from(b as i16)) as u64,
        "u32" => u64::from(a as u32) * u64::from(b as u32),
        _ => (i64::from(a as i32) * i64::from(b as i32)) as u64,
    }
}

fn upper(ty: &str, a: u64, b: u64) -> u64 {
    match ty {
        "u64" => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        "s64" => ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
        ty if ty.starts_with('s') => ((wide(ty, a, b) as i64) >> width(ty)) as u64,
        ty => wide(ty, a, b) >> width(ty),
    }
}

fn with_carry(words: &[&str], a: u64, b: u64, c: u64, carry: u64) -> Option<Expected> {
    let (name, last) = (words[0], *words.last()?);
    let bits = width(last);
    let incoming = if name.ends_with('c') { carry } else { 0 };
    let (a, b) = if name.starts_with("ma") {
        let part = if words.contains(&"hi") { upper(last, a, b) } else { a.wrapping_mul(b) };
        (low(part, bits), low(c, bits))
    } else {
        (low(a, bits), low(b, bits))
    };
    let (result, outgoing) = if name.starts_with("sub") {
        let difference = i128::from(a) - i128::from(b) - i128::from(incoming);
        (difference as u64, difference < 0)
    } else {
        let sum = u128::from(a) + u128::from(b) + u128::from(incoming);
        (sum as u64, sum >> bits != 0)
    };
    // What goes out is what came in, where the instruction leaves it alone.
    let outgoing = if words.contains(&"cc") { outgoing.into() } else { carry };
    Some(Expected { carry: Some(outgoing), ..Expected::is(result)? })
}

fn dot(words: &[&str], a: u32, b: u32, c: u32) -> u32 {
    let (a_signed, b_signed) = (words[words.len() - 2] == "s32", words[words.len() - 1] == "s32");
    let byte = |value: u32, at: usize, signed: bool| -> i64 {
        let byte = value.to_le_bytes()[at];
        if signed { (byte as i8).into() } else { byte.into() }
    };
    let half = |at: usize| -> i64 {
        let half = (a >> (16 * at)) as u16;
        if a_signed { (half as i16).into() } else { half.into() }
    };
    let sum: i64 = match words[1] {
        "lo" => (0..2).map(|at| half(at) * byte(b, at, b_signed)).sum(),
        "hi" => (0..2).map(|at| half(at) * byte(b, at + 2, b_signed)).sum(),
        _ => (0..4).map(|at| byte(a, at, a_signed) * byte(b, at, b_signed)).sum(),
    };
    (sum + i64::from(c)) as u32
}

/// The tables of the ISA.
fn permuted(words: &[&str], a: u32, b: u32, selector: u32) -> u32 {
    let bytes: Vec<u8> = a.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
    let row = (selector & 3) as usize;
    let table: [[usize; 4]; 4] = match words.get(2) {
        Some(&"f4e") => [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        Some(&"b4e") => [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        Some(&"rc8") => [[0; 4], [1; 4], [2; 4], [3; 4]],
        Some(&"ecl") => [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        Some(&"ecr") => [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        Some(_) => [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
        None => {
            let byte = |at: u32| {
                let nibble = selector >> (4 * at) & 15;
                let byte = bytes[(nibble & 7) as usize];
                if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
            };
            return u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
        }
    };
    u32::from_le_bytes(table[row].map(|at| bytes[at]))
}

fn find(words: &[&str], a: u64) -> u64 {
    let ty = words[words.len() - 1];
    let bits = width(ty);
    let a = low(a, bits);
    let a = if ty.starts_with('s') && a >> (bits - 1) == 1 { low(!a, bits) } else { a };
    let found = (0..bits).rev().find(|bit| a >> bit & 1 == 1);
    let found = found.map(|at| if words.contains(&"shiftamt") { bits - 1 - at } else { at });
    found.map_or(0xffff_ffff, u64::from)
}

fn extract(ty: &str, a: u64, at: u64, length: u64) -> u64 {
    let (at, length, most) = (at & 0xff, length & 0xff, u64::from(width(ty)) - 1);
    let bit = |place: u64| a >> place & 1;
    let sign = if !ty.starts_with('s') || length == 0 { 0 } else { bit((at + length - 1).min(most)) };
    (0..=most)
        .fold(0, |all, place| all | if place < length && at + place <= most { bit(at + place) } else { sign } << place)
}

fn nth(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |at: i64| mask >> at & 1 == 1;
    if offset == 0 {
        return if base < 32 && is_set(base.into()) { base } else { u32::MAX };
    }
    let (mut at, mut count) = (i64::from(base), offset.unsigned_abs() - 1);
    while (0..32).contains(&at) {
        if is_set(at) {
            if count == 0 {
                return at as u32;
            }
            count -= 1;
        }
        at += i64::from(offset.signum());
    }
    u32::MAX
}

fn compared(words: &[&str], s: &[u64; 8]) -> Option<Expected> {
    let (order, last) = (words[1], *words.last()?);
    let (of, places) = lanes(last);
    let flushed = words.contains(&"ftz");
    let with = |found: bool| {
        let third = s[2] & 0xff != 0;
        match words[2] {
            "and" => found & third,
            "or" => found | third,
            "xor" => found ^ third,
            _ => found,
        }
    };
    let test = |at: u32| {
        let [a, b] = [s[0] >> at, s[1] >> at];
        if is_float(of) {
            let [a, b] = [a, b].map(|bits| flush(of, low(bits, width(of)), flushed)).map(|bits| number(of, bits));
            let unordered = a.is_nan() || b.is_nan();
            return match order {
                "num" => !unordered,
                "nan" => unordered,
                "eq" => a == b,
                "ne" => !unordered && a != b,
                "lt" => a < b,
                "le" => a <= b,
                "gt" => a > b,
                "ge" => a >= b,
                "equ" => unordered || a == b,
                "neu" => a != b,
                "ltu" => unordered || a < b,
                "leu" => unordered || a <= b,
                "gtu" => unordered || a > b,
                _ => unordered || a >= b,
            };
        }
        by_integer!(of, T => {
            let (a, b) = (a as T, b as T);
            match order {
                "eq" => a == b,
                "ne" => a != b,
                "lt" | "lo" => a < b,
                "le" | "ls" => a <= b,
                "gt" | "hi" => a > b,
                _ => a >= b,
            }
        })
    };
    let first = test(0);
    if words[0] == "setp" {
        let second = if places.len() == 2 { test(16) } else { !first };
        return Expected::both(with(first).into(), with(second).into());
    }
    let to = words[words.len() - 2];
    let truth = match to {
        "f32" => 0x3f80_0000,
        "f16" | "f16x2" => 0x3c00,
        "bf16" | "bf16x2" => 0x3f80,
        _ if places.len() == 2 || to.ends_with("16") => 0xffff,
        _ => 0xffff_ffff,
    };
    let of = |found: bool| if with(found) { truth } else { 0u64 };
    Expected::is(of(first) | if places.len() == 2 { of(test(16)) << 16 } else { 0 })
}

/// A subnormal number becomes a zero.
fn flush(ty: &str, bits: u64, flushed: bool) -> u64 {
    let (fraction, top) = match ty {
        "f16" => (10, 15),
        "bf16" => (7, 15),
        "f32" => (23, 31),
        _ => (52, 63),
    };
    let exponent = bits >> fraction & ((1 << (top - fraction)) - 1);
    if flushed && exponent == 0 { bits & 1 << top } else { bits }
}

/// The neighbour of a float in a direction.
fn beside(ty: &str, bits_of: u64, up: bool) -> u64 {
    let number = number(ty, bits_of);
    let sign = 1u64 << (width(ty) - 1);
    match (number == 0.0, (number > 0.0) == up) {
        (true, _) => {
            if up {
                1
            } else {
                sign | 1
            }
        }
        (_, true) => bits_of + 1,
        (_, false) => bits_of - 1,
    }
}

/// The nearest float, and how the exact result lies to it, make one rounded in a direction.
fn directed(ty: &str, nearest: u64, exact_is: std::cmp::Ordering, round: &str) -> u64 {
    let negative = number(ty, nearest) < 0.0 || number(ty, nearest) == 0.0 && exact_is.is_lt();
    let wanted = match round {
        "rm" => std::cmp::Ordering::Less,
        "rp" => std::cmp::Ordering::Greater,
        "rz" if negative => std::cmp::Ordering::Greater,
        "rz" => std::cmp::Ordering::Less,
        _ => return nearest,
    };
    if exact_is == wanted { beside(ty, nearest, wanted.is_gt()) } else { nearest }
}

fn of_floats(words: &[&str], s: &[u64; 8]) -> Option<Expected> {
    let (name, last) = (words[0], *words.last()?);
    let (of, places) = lanes(last);
    let has = |word: &str| words.contains(&word);
    let mut whole = 0;
    let mut near = has("approx") || has("full");
    for at in places {
        let operands: Vec<u64> = s[..3].iter().map(|value| low(value >> at, width(of))).collect();
        if name == "copysign" {
            let top = 1 << (width(of) - 1);
            whole = operands[0] & top | operands[1] & !top;
            continue;
        }
        let operands: Vec<u64> = operands.into_iter().map(|bits| flush(of, bits, has("ftz"))).collect();
        let [a, b, c] = [0, 1, 2].map(|at| number(of, operands[at]));
        let round = ["rz", "rm", "rp"].into_iter().find(|word| has(word)).unwrap_or("rn");
        if round != "rn" && ![a, b, c].iter().all(|x| x.is_finite() && (1e-4..1e4).contains(&x.abs())) {
            return None;
        }
        let top = 1u64 << (width(of) - 1);
        let result = match name {
            "testp" => {
                return Expected::is(
                    match words[1] {
                        "finite" => a.is_finite(),
                        "infinite" => a.is_infinite(),
                        "number" => !a.is_nan(),
                        "notanumber" => a.is_nan(),
                        "normal" => a.is_finite() && flush(of, operands[0], true) == operands[0],
                        _ => flush(of, operands[0], true) != operands[0],
                    }
                    .into(),
                );
            }
            "neg" => operands[0] ^ top,
            "abs" => operands[0] & !top,
            "min" | "max" => extreme(words, of, operands[0], operands[1]),
            "add" | "sub" | "mul" | "fma" | "mad" | "div" | "rcp" | "sqrt" => computed(name, of, [a, b, c], round)?,
            _ => {
                near = true;
                bits(
                    of,
                    match name {
                        "rsqrt" => 1.0 / a.sqrt(),
                        "sin" => a.sin(),
                        "cos" => a.cos(),
                        "lg2" => a.log2(),
                        "ex2" => a.exp2(),
                        _ => a.tanh(),
                    },
                )
            }
        };
        let result = flush(of, result, has("ftz"));
        let value = number(of, result);
        let result = match () {
            () if has("sat") && (value.is_nan() || value <= 0.0) => 0,
            () if has("sat") && value > 1.0 => bits(of, 1.0),
            () if has("relu") && value <= 0.0 => 0,
            () => result,
        };
        whole |= result << at;
    }
    let expected = Expected::of_float(whole, last)?;
    Some(if near { Expected { near: Some(last.to_owned()), ..expected } } else { expected })
}

/// The nearest of the exact result, or that in a direction.
fn computed(name: &str, of: &str, [a, b, c]: [f64; 3], round: &str) -> Option<u64> {
    // The error of a sum, a product, a quotient and a root tells how the exact result lies to what was computed.
    let sum = |a: f64, b: f64| {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    };
    let (value, error) = match name {
        "add" => sum(a, b),
        "sub" => sum(a, -b),
        "mul" => (a * b, a.mul_add(b, -(a * b))),
        "fma" | "mad" if of == "f64" && round == "rn" => (a.mul_add(b, c), 0.0),
        "fma" | "mad" if of == "f64" => return None,
        "fma" | "mad" => sum(a * b, c),
        "div" | "rcp" => {
            let (a, b) = if name == "div" { (a, b) } else { (1.0, a) };
            let quotient = a / b;
            let rest = -quotient.mul_add(b, -a);
            (quotient, if b < 0.0 { -rest } else { rest })
        }
        _ => (a.sqrt(), -a.sqrt().mul_add(a.sqrt(), -a)),
    };
    if round == "rm" && (value, error) == (0.0, 0.0) {
        // What cancels out is a zero, and rounded down a negative one.
        return Some(1 << (width(of) - 1));
    }
    let narrow = bits(of, value);
    if !value.is_finite() || !number(of, narrow).is_finite() {
        return (round == "rn").then_some(narrow);
    }
    // Where the first rounding ended halfway between two narrow floats, the second one needs the error.
    let difference =
        value.partial_cmp(&number(of, narrow))?.then(error.partial_cmp(&0.0).unwrap_or(std::cmp::Ordering::Equal));
    if of != "f64" {
        let (above, below) = (beside(of, narrow, true), beside(of, narrow, false));
        let halfway = |other: u64| (number(of, other) + number(of, narrow)) / 2.0 == value;
        if error > 0.0 && halfway(above) {
            return Some(directed(of, above, std::cmp::Ordering::Less, round));
        }
        if error < 0.0 && halfway(below) {
            return Some(directed(of, below, std::cmp::Ordering::Greater, round));
        }
    }
    Some(directed(of, narrow, difference, round))
}

fn extreme(words: &[&str], of: &str, a: u64, b: u64) -> u64 {
    let has = |word: &str| words.contains(&word);
    let top = 1u64 << (width(of) - 1);
    let sign = (a ^ b) & top;
    let (a, b) = if has("xorsign") { (a & !top, b & !top) } else { (a, b) };
    let (x, y) = (number(of, a), number(of, b));
    let nan = bits(of, f64::NAN);
    if x.is_nan() || y.is_nan() {
        let other = if x.is_nan() { b } else { a };
        return if has("NaN") || x.is_nan() && y.is_nan() {
            nan
        } else {
            other & !if has("xorsign") { top } else { 0 } | if has("xorsign") { sign } else { 0 }
        };
    }
    let less = x < y || x == y && a & top != 0;
    let result = if less == (words[0] == "min") { a } else { b };
    if has("xorsign") { result | sign } else { result }
}

fn converted(words: &[&str], s: &[u64; 8]) -> Option<Expected> {
    let has = |word: &str| words.contains(&word);
    let (last, to) = (words[words.len() - 1], words[words.len() - 2]);
    if words[1] == "pack" {
        let to = words[3];
        let bits = width(to);
        let (least, greatest) =
            if to.starts_with('s') { (-1i64 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let part = |value: u64| low(i64::from(value as i32).clamp(least, greatest) as u64, bits);
        let both = part(s[0]) << bits | part(s[1]);
        return Expected::is(if bits == 16 { both } else { (s[2] << (2 * bits) | both) & 0xffff_ffff });
    }
    let round = words[1];
    if to == "tf32" {
        let value = f32::from_bits(s[0] as u32);
        if !value.is_finite() || has("relu") && value.is_sign_negative() {
            return (!value.is_nan())
                .then(|| Expected::is(if has("relu") && value.is_sign_negative() { 0 } else { s[0] }))?;
        }
        // The two neighbours with thirteen zeros at the end.
        let below = s[0] as u32 & !0x1fff;
        let rest = s[0] as u32 & 0x1fff;
        let up = match round {
            "rz" => false,
            "rna" => rest >= 0x1000,
            _ => rest > 0x1000 || rest == 0x1000 && below & 0x2000 != 0,
        };
        return Expected::is((if up { below + 0x2000 } else { below }).into());
    }
    if let Some(of) = to.strip_suffix("x2") {
        let single = |value: u64| {
            let opcode = format!(
                "cvt.{}{of}.f32",
                words[1..words.len() - 2].iter().map(|word| format!("{word}.")).collect::<String>()
            );
            let instruction = Instruction { opcode, to: vec![Register::Bits(16)], from: vec![Register::Bits(32)] };
            let mut operands = *s;
            operands[0] = value;
            Some(low(reference(&instruction, &operands)?.values[0], 16))
        };
        return Expected::of_float(single(s[0])? << 16 | single(s[1])?, to);
    }
    let (saturated, flushed) = (has("sat"), has("ftz"));
    let a = s[0];
    match (is_float(to), is_float(last)) {
        (false, false) => by_integer!(last, F => by_integer!(to, T => {
            let number = i128::from(a as F);
            let clamped = number.clamp(T::MIN.into(), T::MAX.into());
            Expected::is((if saturated { clamped } else { number }) as T as u64)
        })),
        (false, true) => {
            let value = number(last, flush(last, low(a, width(last)), flushed && last == "f32"));
            if value.is_nan() {
                let wide = last == "f64" || width(to) == 64;
                return Expected::is(if wide { 1 << (width(to) - 1) } else { 0 });
            }
            let whole = whole(round, value);
            by_integer!(to, T => Expected::is(whole as T as u64))
        }
        (true, false) => by_integer!(last, F => {
            let value = a as F;
            let nearest = match to {
                "f32" => (value as f32).to_bits().into(),
                "f64" => (value as f64).to_bits(),
                // 53 bits hold every number of 32; a float of 16 bits rounds it once.
                _ if i128::from(value).unsigned_abs() < 1 << 53 => bits(to, value as f64),
                _ => return None,
            };
            if !number(to, nearest).is_finite() {
                return (round == "rn" && !saturated).then(|| Expected::is(nearest)).flatten();
            }
            let exact_is = i128::from(value).cmp(&(number(to, nearest) as i128));
            let result = directed(to, nearest, exact_is, round);
            Expected::is(if saturated { bits(to, number(to, result).clamp(0.0, 1.0)) } else { result })
        }),
        (true, true) => {
            let input = flush(last, low(a, width(last)), flushed && last == "f32");
            let value = number(last, input);
            let is_whole = matches!(round, "rni" | "rzi" | "rmi" | "rpi");
            let value = if is_whole { whole(round, value) } else { value };
            let nearest = bits(to, value);
            if !number(to, nearest).is_finite() && round != "rn" && value.is_finite() {
                return None;
            }
            let exact_is = value.partial_cmp(&number(to, nearest)).unwrap_or(std::cmp::Ordering::Equal);
            let result = directed(to, nearest, exact_is, round);
            let result = flush(to, result, flushed && to == "f32");
            let value = number(to, result);
            let result = match () {
                () if saturated && (value.is_nan() || value <= 0.0) => 0,
                () if saturated && value > 1.0 => bits(to, 1.0),
                () if has("relu") && value <= 0.0 => 0,
                () => result,
            };
            Expected::of_float(result, to)
        }
    }
}

fn whole(round: &str, value: f64) -> f64 {
    match round {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}
