//! Integer arithmetic.

use super::words::{Alu, CARRY, Kind, Type, Words, by_sign, by_width, lanewise, low, signed};

const ALL: &str = "u16 u32 u64 s16 s32 s64";
const LONG: &str = "u32 u64 s32 s64";

pub(crate) fn alu(name: &str, words: Words<'_>) -> Option<Alu> {
    match name {
        "add" | "sub" => sum(name == "sub", words),
        "addc" | "subc" => sum_with_carry(name == "subc", words),
        "mul" => product(words),
        "mad" | "madc" => product_and_sum(name == "madc", words),
        "mul24" | "mad24" => of_24_bits(name == "mad24", words),
        "sad" => {
            let ty = words.last(ALL)?;
            Alu::new(ty, [ty; 3], move |[a, b, c]| {
                low((ty.number(a) - ty.number(b)).unsigned_abs().wrapping_add(c), ty.bits)
            })
        }
        "div" | "rem" => quotient(name == "rem", words.last(ALL)?),
        "abs" => {
            let ty = words.last("s16 s32 s64")?;
            Alu::new(ty, [ty], move |[a]| low(ty.number(a).unsigned_abs(), ty.bits))
        }
        "neg" => {
            let ty = words.last("s16 s32 s64")?;
            Alu::new(ty, [ty], move |[a]| low(0u128.wrapping_sub(a), ty.bits))
        }
        "min" | "max" => extreme(name == "max", words),
        "dp4a" | "dp2a" => dot_product(name == "dp4a", words),
        _ => None,
    }
}

fn sum(is_sub: bool, mut words: Words<'_>) -> Option<Alu> {
    if words.flag("cc") {
        return carrying(is_sub, false, true, words.last(LONG)?);
    }
    let saturated = words.flag("sat");
    let ty = words.last(if saturated { "s32" } else { "u16 u32 u64 s16 s32 s64 u16x2 s16x2" })?;
    if is_sub && ty.lanes == 2 {
        return None;
    }
    if ty.lanes == 1 && !saturated {
        return by_width!(ty, T => match is_sub {
            false => Alu::native(ty, [ty; 2], |[a, b]| (a as T).wrapping_add(b as T).into()),
            true => Alu::native(ty, [ty; 2], |[a, b]| (a as T).wrapping_sub(b as T).into()),
        });
    }
    Alu::by_lane(ty, [ty; 2], move |[a, b]| {
        let (a, b) = (ty.number(a), ty.number(b));
        let sum = if is_sub { a - b } else { a + b };
        let (least, greatest) = ty.range();
        low(if saturated { sum.clamp(least, greatest) } else { sum } as u128, ty.bits)
    })
}

fn sum_with_carry(is_sub: bool, mut words: Words<'_>) -> Option<Alu> {
    let carries = words.flag("cc");
    carrying(is_sub, true, carries, words.last(if carries { LONG } else { ALL })?)
}

/// A difference is the sum of a, of all bits of b the other way round, and of one. What it leaves is the carry of that sum, the
/// inverse of a borrow, as an H100 has it. So an `addc` after a `sub.cc` adds one where nothing was borrowed; the ISA speaks of a
/// borrow, and leaves such a chain open.
fn carrying(is_sub: bool, takes: bool, carries: bool, ty: Type) -> Option<Alu> {
    let apply = move |sources: &[u128; 6]| {
        let (a, b) = (low(sources[0], ty.bits), low(sources[1], ty.bits));
        let carry = if takes { sources[CARRY] } else { is_sub.into() };
        let sum = a + if is_sub { low(!b, ty.bits) } else { b } + carry;
        [low(sum, ty.bits), sum >> ty.bits & 1]
    };
    Some(Alu { to: vec![ty], from: vec![ty; 2], carries, apply: lanewise(apply) })
}

/// The product of two numbers, twice as wide; of 64 bits it has 128.
fn wide(ty: Type, a: u128, b: u128) -> u128 {
    (ty.number(a) as u128).wrapping_mul(ty.number(b) as u128)
}

fn twice(ty: Type) -> Type {
    Type { bits: 2 * ty.bits, ..ty }
}

fn product(mut words: Words<'_>) -> Option<Alu> {
    match words.one_of(&["hi", "lo", "wide"])? {
        "wide" => {
            let ty = words.last("u16 u32 s16 s32")?;
            by_sign!(ty, S, _U => by_width!(twice(ty), W => {
                Alu::native(twice(ty), [ty; 2], |[a, b]| (a as S as W).wrapping_mul(b as S as W).into())
            }))
        }
        half => {
            let (ty, shift) = (words.last(ALL)?, half == "hi");
            if !shift {
                return by_width!(ty, T => Alu::native(ty, [ty; 2], |[a, b]| (a as T).wrapping_mul(b as T).into()));
            }
            Alu::new(ty, [ty; 2], move |[a, b]| low(wide(ty, a, b) >> if shift { ty.bits } else { 0 }, ty.bits))
        }
    }
}

fn product_and_sum(takes: bool, mut words: Words<'_>) -> Option<Alu> {
    let half = words.one_of(if takes { &["hi", "lo"] } else { &["hi", "lo", "wide"] })?;
    let carries = half != "wide" && words.flag("cc");
    if takes || carries {
        let (ty, shift) = (words.last(if carries { LONG } else { ALL })?, half == "hi");
        // The ISA has no `madc` of 16 bits. The assembler takes it, and makes one of 32 bits of it: an H100 adds the upper half of
        // 64 bits, which is no more than the sign.
        let upper = ty.bits.max(32);
        let apply = move |sources: &[u128; 6]| {
            let part = low(wide(ty, sources[0], sources[1]) >> if shift { upper } else { 0 }, ty.bits);
            let sum = part + low(sources[2], ty.bits) + if takes { sources[CARRY] } else { 0 };
            [low(sum, ty.bits), sum >> ty.bits & 1]
        };
        return Some(Alu { to: vec![ty], from: vec![ty; 3], carries, apply: lanewise(apply) });
    }
    if half == "wide" {
        let ty = words.last("u16 u32 s16 s32")?;
        let to = twice(ty);
        return by_sign!(ty, S, _U => by_width!(to, W => Alu::native(to, [ty, ty, to], |[a, b, c]| {
            (a as S as W).wrapping_mul(b as S as W).wrapping_add(c as W).into()
        })));
    }
    let saturated = half == "hi" && words.flag("sat");
    let (ty, shift) = (words.last(if saturated { "s32" } else { ALL })?, half == "hi");
    if !shift {
        return by_width!(ty, T => Alu::native(ty, [ty; 3], |[a, b, c]| {
            (a as T).wrapping_mul(b as T).wrapping_add(c as T).into()
        }));
    }
    Alu::new(ty, [ty; 3], move |[a, b, c]| {
        let part = wide(ty, a, b) >> if shift { ty.bits } else { 0 };
        if saturated {
            let (least, greatest) = ty.range();
            let sum = ty.number(part) + ty.number(c);
            return low(sum.clamp(least, greatest) as u128, ty.bits);
        }
        low(part.wrapping_add(c), ty.bits)
    })
}

/// Of the 48 bits of a product of 24 bits the upper or the lower 32.
fn of_24_bits(adds: bool, mut words: Words<'_>) -> Option<Alu> {
    let upper = words.one_of(&["hi", "lo"])? == "hi";
    let saturated = adds && upper && words.flag("sat");
    let ty = words.last(if saturated { "s32" } else { "u32 s32" })?;
    let part = move |a: u128, b: u128| {
        let of = |value: u128| if ty.is_signed() { signed(value, 24) } else { low(value, 24) as i128 };
        (of(a) * of(b)) >> if upper { 16 } else { 0 }
    };
    if !adds {
        return Alu::new(ty, [ty; 2], move |[a, b]| low(part(a, b) as u128, 32));
    }
    Alu::new(ty, [ty; 3], move |[a, b, c]| {
        let sum = ty.number(part(a, b) as u128) + ty.number(c);
        let (least, greatest) = ty.range();
        low(if saturated { sum.clamp(least, greatest) } else { sum } as u128, 32)
    })
}

/// By zero the ISA leaves both open; on an H100 both are all ones.
fn quotient(rest: bool, ty: Type) -> Option<Alu> {
    Alu::new(ty, [ty; 2], move |[a, b]| {
        let (a, b) = (ty.number(a), ty.number(b));
        let result = match (b, rest) {
            (0, _) => -1,
            (_, false) => a / b,
            (_, true) => a % b,
        };
        low(result as u128, ty.bits)
    })
}

fn extreme(greatest: bool, mut words: Words<'_>) -> Option<Alu> {
    let first = words.flag("relu");
    let ty = words.of_type()?;
    // The ISA has it before the type, and CUDA's headers behind it.
    let relu = first || words.flag("relu");
    words.end().filter(|()| ty.is(if relu { "s32 s16x2" } else { "u16 u32 u64 s16 s32 s64 u16x2 s16x2" }))?;
    if ty.lanes == 1 && !relu {
        return by_sign!(ty, S, U => match greatest {
            true => Alu::native(ty, [ty; 2], |[a, b]| ((a as S).max(b as S) as U).into()),
            false => Alu::native(ty, [ty; 2], |[a, b]| ((a as S).min(b as S) as U).into()),
        });
    }
    Alu::by_lane(ty, [ty; 2], move |[a, b]| {
        let (a, b) = (ty.number(a), ty.number(b));
        let one = if greatest { a.max(b) } else { a.min(b) };
        low(if relu { one.max(0) } else { one } as u128, ty.bits)
    })
}

/// Four products of bytes, or two of halves and bytes, and a sum.
fn dot_product(of_four: bool, mut words: Words<'_>) -> Option<Alu> {
    let upper = if of_four { false } else { words.one_of(&["lo", "hi"])? == "hi" };
    let (a_type, b_type) = (words.of_type()?, words.last("u32 s32")?);
    if !a_type.is("u32 s32") {
        return None;
    }
    let part = |ty: Type, value: u128, bits: u32, at: u32| {
        let value = value >> (bits * at);
        if ty.is_signed() { signed(value, bits) } else { low(value, bits) as i128 }
    };
    let kind = if a_type.is_signed() || b_type.is_signed() { Kind::Signed } else { Kind::Unsigned };
    let to = Type { kind, ..a_type };
    Alu::new(to, [a_type, b_type, to], move |[a, b, c]| {
        let (count, bits, skipped) = if of_four { (4, 8, 0) } else { (2, 16, if upper { 2 } else { 0 }) };
        let products = (0..count).map(|at| part(a_type, a, bits, at) * part(b_type, b, 8, at + skipped));
        low((products.sum::<i128>() + to.number(c)) as u128, 32)
    })
}
