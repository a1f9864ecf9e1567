//! What each instruction has to give, by Rust's own types and, where the ISA has a loop, by that loop.

// A cast is unnecessary for one of the types that a macro's expression is for.
#![allow(clippy::unnecessary_cast)]

use super::floats::*;
use super::numbers::*;
use crate::interpreter::patterns::{Instruction, Register};

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
                // As an H100 has it; the ISA leaves it open.
                return Expected::is(u64::MAX);
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
            let (top, at, length) = (width(last), counted(last, s[2]), counted(last, s[3]));
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
            let sign = last == "s32" && count > 0 && word(a) >> (count.wrapping_sub(1) % 32) & 1 == 1;
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
        let part = match (words.contains(&"hi"), last) {
            // Of 16 bits the ISA has none, and an H100 takes the upper half of 64.
            (true, "u16") => 0,
            (true, "s16") => ((a as i16).signum() * (b as i16).signum()).min(0) as u64,
            (true, _) => upper(last, a, b),
            (false, _) => a.wrapping_mul(b),
        };
        (low(part, bits), low(c, bits))
    } else {
        (low(a, bits), low(b, bits))
    };
    let (result, outgoing) = if name.starts_with("sub") {
        // The flag says that nothing was borrowed.
        let borrowed = i128::from(name == "subc" && incoming == 0);
        let difference = i128::from(a) - i128::from(b) - borrowed;
        (difference as u64, difference >= 0)
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

/// A position or a length: beyond 255 the ISA leaves it open, and this is how an H100 takes it.
fn counted(ty: &str, number: u64) -> u64 {
    number & if width(ty) == 64 { 0xffff_ffff } else { 0xff }
}

fn extract(ty: &str, a: u64, at: u64, length: u64) -> u64 {
    let (at, length, most) = (counted(ty, at), counted(ty, length), u64::from(width(ty)) - 1);
    let bit = |place: u64| a >> place & 1;
    let sign = if !ty.starts_with('s') || length == 0 { 0 } else { bit((at + length - 1).min(most)) };
    (0..=most)
        .fold(0, |all, place| all | if place < length && at + place <= most { bit(at + place) } else { sign } << place)
}

fn nth(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |at: i64| mask >> at & 1 == 1;
    if offset == i32::MIN {
        // So an H100.
        return 0;
    }
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
