//! Logic, shifts, fields of bits, and moves.

use super::words::{Alu, Type, Words, by_sign, by_width, lanewise, low};

const B32: Type = Type::bits(32);

pub(crate) fn alu(name: &str, mut words: Words<'_>) -> Option<Alu> {
    match name {
        "and" | "or" | "xor" => {
            let ty = words.last("pred b16 b32 b64")?;
            by_width!(ty, T => match name {
                "and" => Alu::native(ty, [ty; 2], |[a, b]| (a as T & b as T).into()),
                "or" => Alu::native(ty, [ty; 2], |[a, b]| (a as T | b as T).into()),
                _ => Alu::native(ty, [ty; 2], |[a, b]| (a as T ^ b as T).into()),
            })
        }
        "not" => {
            let ty = words.last("pred b16 b32 b64")?;
            if ty == Type::PRED {
                return Alu::native(ty, [ty], |[a]| !a & 1);
            }
            by_width!(ty, T => Alu::native(ty, [ty], |[a]| (!(a as T)).into()))
        }
        "cnot" => {
            let ty = words.last("b16 b32 b64")?;
            Alu::new(ty, [ty], move |[a]| u128::from(low(a, ty.bits) == 0))
        }
        "lop3" => lop3(words),
        "shl" | "shr" => shift(name == "shl", words),
        "shf" => funnel(words),
        "prmt" => permute(words),
        "popc" | "clz" => {
            let ty = words.last("b32 b64")?;
            let to = Type::parse("u32")?;
            by_width!(ty, T => match name {
                "clz" => Alu::native(to, [ty], |[a]| (a as T).leading_zeros().into()),
                _ => Alu::native(to, [ty], |[a]| (a as T).count_ones().into()),
            })
        }
        "bfind" => find(words),
        "brev" => {
            let ty = words.last("b32 b64")?;
            Alu::new(ty, [ty], move |[a]| a.reverse_bits() >> (128 - ty.bits))
        }
        "bfe" => extract(words.last("u32 u64 s32 s64")?),
        "bfi" => {
            let ty = words.last("b32 b64")?;
            Alu::new(ty, [ty, ty, B32, B32], move |[a, b, at, length]| {
                let (at, length) = (counted(ty, at), counted(ty, length));
                let field = low(low(u128::MAX, length.min(ty.bits)) << at.min(64), ty.bits);
                b & !field | a << at.min(64) & field
            })
        }
        "bmsk" => {
            let clamped = words.one_of(&["clamp", "wrap"])? == "clamp";
            words.last("b32")?;
            Alu::new(B32, [B32; 2], move |[at, length]| mask(clamped, low(at, 32), low(length, 32)))
        }
        "szext" => extend(words),
        "fns" => {
            words.last("b32")?;
            Alu::new(B32, [B32, B32, Type::parse("s32")?], |[bits, from, number]| {
                nth(bits as u32, from as u32, number as i32)
            })
        }
        "mov" => {
            let ty = words.last("pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128")?;
            if ty == Type::PRED {
                return Alu::native(ty, [ty], |[a]| a & 1);
            }
            by_width!(ty, T => Alu::native(ty, [ty], |[a]| (a as T).into()))
        }
        "selp" => {
            let ty = words.last("b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64")?;
            by_width!(ty, T => Alu::native(ty, [ty, ty, Type::PRED], |[a, b, c]| {
                (if c & 1 == 1 { a as T } else { b as T }).into()
            }))
        }
        "slct" => select(words),
        _ => None,
    }
}

pub(crate) fn combination(name: &str) -> Option<fn(u128, u128) -> u128> {
    Some(match name {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return None,
    })
}

/// Any function of three bits, by the table of its values; of the result a predicate can be made.
fn lop3(mut words: Words<'_>) -> Option<Alu> {
    let combine = words.one_of(&["and", "or"]);
    words.last("b32")?;
    let table = |[a, b, c, table]: [u128; 4]| {
        (0..8).filter(|row| table >> row & 1 == 1).fold(0, |all, row| {
            let term = |value: u128, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
            all | low(term(a, 2) & term(b, 1) & term(c, 0), 32)
        })
    };
    let Some(combine) = combine else { return Alu::new(B32, [B32; 4], table) };
    let combine = combination(combine)?;
    let apply = move |s: &[u128; 6]| {
        let result = table([s[0], s[1], s[2], s[3]]);
        [result, combine(u128::from(result != 0), s[4])]
    };
    let from = vec![B32, B32, B32, B32, Type::PRED];
    Some(Alu { to: vec![B32, Type::PRED], from, carries: false, apply: lanewise(apply) })
}

/// By more bits than there are, it is by all of them.
fn shift(left: bool, words: Words<'_>) -> Option<Alu> {
    let ty = words.last(if left { "b16 b32 b64" } else { "b16 b32 b64 u16 u32 u64 s16 s32 s64" })?;
    if left {
        return by_width!(ty, T => Alu::native(ty, [ty, B32], |[a, by]| {
            (a as T).checked_shl(by as u32).unwrap_or_default().into()
        }));
    }
    let most = ty.bits - 1;
    by_sign!(ty, S, U => Alu::native(ty, [ty, B32], move |[a, by]| {
        let (number, by) = (a as S, by as u32);
        // Once more by one, so that nothing but the sign is left of a number that is shifted out.
        let shifted = if by > most { number >> most >> 1 } else { number >> by };
        (shifted as U).into()
    }))
}

fn funnel(mut words: Words<'_>) -> Option<Alu> {
    let left = words.one_of(&["l", "r"])? == "l";
    let clamped = words.one_of(&["clamp", "wrap"])? == "clamp";
    words.last("b32")?;
    Alu::new(B32, [B32; 3], move |[a, b, by]| {
        let both = low(b, 32) << 32 | low(a, 32);
        let by = if clamped { low(by, 32).min(32) } else { low(by, 5) };
        low(if left { both << by >> 32 } else { both >> by }, 32)
    })
}

/// `prmt.b32` and its modes.
fn permute(mut words: Words<'_>) -> Option<Alu> {
    words.of_type().filter(|ty| *ty == B32)?;
    let mode = words.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    words.end()?;
    Alu::new(B32, [B32; 3], move |[a, b, selector]| {
        let both = low(b, 32) << 32 | low(a, 32);
        let n = low(selector, 2) as u32;
        (0..4u32).fold(0, |all, at| {
            let (from, sign) = match mode {
                None => {
                    let nibble = low(selector >> (4 * at), 4) as u32;
                    (nibble & 7, nibble & 8 != 0)
                }
                Some("f4e") => (n + at, false),
                Some("b4e") => ((8 + n - at) & 7, false),
                Some("rc8") => (n, false),
                Some("ecl") => (n.max(at), false),
                Some("ecr") => (n.min(at), false),
                Some(_) => ((n & 1) * 2 + (at & 1), false),
            };
            let byte = low(both >> (8 * from), 8);
            let byte = if sign { 0xff * (byte >> 7) } else { byte };
            all | byte << (8 * at)
        })
    })
}

/// The highest bit that is set, or differs from the sign; or how far it is from the top.
fn find(mut words: Words<'_>) -> Option<Alu> {
    let from_the_top = words.flag("shiftamt");
    let ty = words.last("u32 u64 s32 s64")?;
    Alu::new(Type::parse("u32")?, [ty], move |[a]| {
        let number = ty.number(a);
        let bits = if number < 0 { !number } else { number };
        match bits {
            0 => 0xffff_ffff,
            bits if from_the_top => u128::from(ty.bits - 1 - bits.ilog2()),
            bits => bits.ilog2().into(),
        }
    })
}

/// Where a field begins, or how long it is. The ISA wants no more than 255; of a greater number an H100 takes the last eight bits for
/// a field of 32 bits, and all bits for one of 64.
fn counted(of: Type, number: u128) -> u32 {
    low(number, if of.bits == 64 { 32 } else { 8 }) as u32
}

fn extract(ty: Type) -> Option<Alu> {
    Alu::new(ty, [ty, B32, B32], move |[a, at, length]| {
        let (at, length) = (counted(ty, at), counted(ty, length));
        let top = at.saturating_add(length).saturating_sub(1).min(ty.bits - 1);
        let sign = ty.is_signed() && length > 0 && a >> top & 1 == 1;
        let field = if at < ty.bits { low(low(a, ty.bits) >> at, length.min(ty.bits)) } else { 0 };
        // Beyond the number, and beyond the field, is its sign.
        let within = length.min(ty.bits.saturating_sub(at));
        low(if sign { field | u128::MAX << within } else { field }, ty.bits)
    })
}

fn mask(clamped: bool, at: u128, length: u128) -> u128 {
    let (at, length) = if clamped { (at.min(32), length.min(32)) } else { (low(at, 5), low(length, 5)) };
    low(low(u128::MAX, length as u32) << at, 32)
}

fn extend(mut words: Words<'_>) -> Option<Alu> {
    let clamped = words.one_of(&["clamp", "wrap"])? == "clamp";
    let ty = words.last("u32 s32")?;
    Alu::new(ty, [ty, Type::parse("u32")?], move |[a, width]| {
        let whole = clamped && low(width, 32) >= 32;
        let width = low(width, 5) as u32;
        let upper = if whole { 0 } else { low(u128::MAX << width, 32) };
        // A number without a bit has no sign.
        let sign = ty.is_signed() && width > 0 && a >> (width - 1) & 1 == 1;
        low(a & !upper | if sign { upper } else { 0 }, 32)
    })
}

/// The place of the n-th bit that is set, from one on upwards or downwards; of the 0th, that one itself.
fn nth(bits: u32, from: u32, number: i32) -> u128 {
    // What an H100 gives where there is no number of the other sign: the assembler compares with it as with a negative one.
    if number == i32::MIN {
        return 0;
    }
    let is_set = |at: i64| (0..32).contains(&at) && bits >> at & 1 == 1;
    let step = i64::from(number.signum());
    let mut left = number.unsigned_abs();
    let mut at = i64::from(from);
    if left == 0 {
        return if is_set(at) { at as u128 } else { 0xffff_ffff };
    }
    while (0..32).contains(&at) {
        left -= u32::from(is_set(at));
        if left == 0 {
            return at as u128;
        }
        at += step;
    }
    0xffff_ffff
}

/// One of two, by the sign of the third.
fn select(mut words: Words<'_>) -> Option<Alu> {
    let flushed = words.flag("ftz");
    let ty = words.of_type().filter(|ty| ty.is("b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"))?;
    let by = words.last(if flushed { "f32" } else { "s32 f32" })?;
    Alu::new(ty, [ty, ty, by], move |[a, b, c]| {
        let first = if by.is_float() {
            let number = f32::from_bits(c as u32);
            number >= 0.0 || flushed && number.is_subnormal()
        } else {
            by.number(c) >= 0
        };
        low(if first { a } else { b }, ty.bits)
    })
}
