//! Conversions.

use rustc_apfloat::{Float, Round};

use super::faster::faster;
use super::format::{Format, ROUNDINGS, by_format, float, round_of};
use super::words::{Alu, Kind, Type, Words, by_sign, by_width, low};
use super::{short, small};

const TO_INTEGERS: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

pub(crate) fn alu(name: &str, words: Words<'_>) -> Option<Alu> {
    let exact = exact(name, words.clone())?;
    Some(faster(exact, short::conversion(words)))
}

pub(super) fn exact(name: &str, mut words: Words<'_>) -> Option<Alu> {
    if name != "cvt" {
        return None;
    }
    if words.flag("pack") {
        return packed(words);
    }
    if let Some(alu) = small::alu(words.clone()) {
        return Some(alu);
    }
    let round = words.one_of(&["rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"]);
    let first_finite = words.flag("satfinite");
    let relu = words.flag("relu");
    let (flushed, saturated) = (words.flag("ftz"), words.flag("sat"));
    let finite = words.flag("satfinite") || first_finite;
    if words.flag("tf32") {
        let legal = matches!(round, Some("rn" | "rz")) || round == Some("rna") && !relu;
        return (legal && !flushed && !saturated)
            .then(|| words.last("f32"))?
            .and_then(|from| tf32(from, round, relu, finite));
    }
    let to = words.of_type()?;
    let from = words.last("u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64")?;
    if to.kind == Kind::Bits || round == Some("rna") {
        return None;
    }
    if to.lanes == 2 || finite {
        let legal = from.is("f32") && to.is("f16 bf16 f16x2 bf16x2") && !flushed && !saturated;
        return legal.then(|| halves(to, from, round, relu, finite))?;
    }
    let has_brain = from.kind == Kind::Brain || to.kind == Kind::Brain;
    // Bytes are not in the ISA here. The assembler knows them, and CUDA's headers have `cvt.rzi.u8.bf16`.
    if has_brain && saturated || relu && (flushed || saturated) {
        return None;
    }
    let has_single = from.is("f32") || to.is("f32");
    if flushed && !has_single || flushed && !from.is_float() && !to.is("f32") {
        return None;
    }
    match (to.is_float(), from.is_float()) {
        _ if relu && !(from.is("f32") && to.is("f16 bf16") && matches!(round, Some("rn" | "rz"))) => None,
        (false, false) => (round.is_none() && !flushed).then(|| integers(to, from, saturated))?,
        (false, true) => {
            let word = round.filter(|word| TO_INTEGERS.contains(word))?;
            let round = round_of(word);
            Alu::new(to, [from], move |[a]| by_format!(from, F => to_integer(to, from, F::input(a, flushed), round)))
        }
        (true, false) => {
            let word = round.filter(|word| ROUNDINGS.contains(word))?;
            if word == "rn" && !saturated && to.is("f32 f64") {
                return by_sign!(from, S, _U => match to.bits {
                    32 => Alu::native(to, [from], |[a]| (a as S as f32).to_bits().into()),
                    _ => Alu::native(to, [from], |[a]| (a as S as f64).to_bits()),
                });
            }
            let round = round_of(word);
            Alu::new(
                to,
                [from],
                move |[a]| by_format!(to, F => F::from_i128_r(from.number(a), round).value.output(false, saturated)),
            )
        }
        (true, true) => floats(to, from, round, flushed, saturated, relu),
    }
}

fn integers(to: Type, from: Type, saturated: bool) -> Option<Alu> {
    let (least, greatest) = to.range();
    let fits = from.range().0 >= least && from.range().1 <= greatest;
    if saturated && fits {
        return None;
    }
    if !saturated {
        return by_sign!(from, S, _U => by_width!(to, T => Alu::native(to, [from], |[a]| (a as S as T).into())));
    }
    Alu::new(to, [from], move |[a]| {
        let number = from.number(a);
        low(if saturated { number.clamp(least, greatest) } else { number } as u128, to.bits)
    })
}

/// What is too great is the greatest; what is no number is 0, or the least of 64 bits.
fn to_integer<F: Float>(to: Type, from: Type, number: F, round: Round) -> u128 {
    if number.is_nan() {
        return if from.bits == 64 || to.bits == 64 { 1 << (to.bits - 1) } else { 0 };
    }
    let exact = &mut false;
    if to.is_signed() {
        return low(number.to_i128_r(to.bits as usize, round, exact).value as u128, to.bits);
    }
    number.to_u128_r(to.bits as usize, round, exact).value
}

fn floats(
    to: Type,
    from: Type,
    round: Option<&'static str>,
    flushed: bool,
    saturated: bool,
    relu: bool,
) -> Option<Alu> {
    let whole = round.is_some_and(|word| TO_INTEGERS.contains(&word));
    let legal = if from == to {
        round.is_none() || whole
    } else {
        let widens = to.bits > from.bits;
        !whole && (round.is_none() == widens || from.bits == to.bits || from.kind == Kind::Brain)
    };
    if !legal {
        return None;
    }
    let round = round_of(round.unwrap_or("rn"));
    // To an `f16` an H100 flushes nothing, and so the least number may come of a subnormal one.
    let flushes_input = flushed && from.bits == 32 && !to.is("f16");
    Alu::new(to, [from], move |[a]| {
        let input = by_format!(from, F => {
            let number = F::input(a, flushes_input);
            if whole { number.round_to_integral(round).value } else { number }.to_bits()
        });
        let result = if from == to { input } else { float(from, to, input, round) };
        by_format!(to, F => {
            let number = F::input(result, flushed && to.bits == 32);
            let number = if relu && !number.is_nan() && number.is_negative() { F::ZERO } else { number };
            number.output(flushed && to.bits == 32, saturated)
        })
    })
}

/// Two numbers become one register: the first is its upper half. One may be rounded so, too.
fn halves(to: Type, from: Type, round: Option<&'static str>, relu: bool, finite: bool) -> Option<Alu> {
    let round = round_of(round.filter(|word| matches!(*word, "rn" | "rz"))?);
    let half = Type { lanes: 1, ..to };
    let of = move |bits: u128| {
        by_format!(half, F => {
            let number = F::input(float(from, half, low(bits, 32), round), false);
            let number = if relu && !number.is_nan() && number.is_negative() { F::ZERO } else { number };
            let number = if finite && number.is_infinite() { F::largest().copy_sign(number) } else { number };
            number.output(false, false)
        })
    };
    match to.lanes {
        1 => Alu::new(to, [from], move |[a]| of(a)),
        _ => Alu::new(to, [from; 2], move |[a, b]| of(a) << 16 | of(b)),
    }
}

/// Thirteen bits fewer.
fn tf32(from: Type, round: Option<&'static str>, relu: bool, saturates: bool) -> Option<Alu> {
    Alu::new(Type::bits(32), [from], move |[a]| {
        let bits = low(a, 32);
        let (sign, magnitude) = (bits & 0x8000_0000, bits & 0x7fff_ffff);
        if magnitude > 0x7f80_0000 && round != Some("rna") {
            return 0x7fff_ffff;
        }
        if relu && sign != 0 {
            return 0;
        }
        let more = match round {
            Some("rz") => 0,
            Some("rn") => 0xfff + (magnitude >> 13 & 1),
            _ => 0x1000,
        };
        // `rna` cuts the bits of a NaN off: an infinity can be left.
        let finite = magnitude < 0x7f80_0000;
        let rounded = (magnitude + if finite { more } else { 0 }) & !0x1fff;
        sign | if saturates && rounded == 0x7f80_0000 { 0x7f7f_e000 } else { rounded }
    })
}

/// `cvt.pack.sat`: two numbers, and what was packed before them where they are short.
fn packed(mut words: Words<'_>) -> Option<Alu> {
    if !words.flag("sat") {
        return None;
    }
    let word = words.one_of(&["u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"])?;
    let bits: u32 = word[1..].parse().ok()?;
    let to = Type { kind: if word.starts_with('s') { Kind::Signed } else { Kind::Unsigned }, bits, lanes: 1 };
    let s32 = words.of_type().filter(|ty| ty.is("s32"))?;
    let b32 = Type::bits(32);
    let both = move |a: u128, b: u128| {
        let (least, greatest) = to.range();
        let of = |value: u128| low(s32.number(value).clamp(least, greatest) as u128, bits);
        of(a) << bits | of(b)
    };
    if bits == 16 {
        words.end()?;
        return Alu::new(b32, [s32; 2], move |[a, b]| both(a, b));
    }
    words.last("b32")?;
    Alu::new(b32, [s32, s32, b32], move |[a, b, c]| low(c << (2 * bits) | both(a, b), 32))
}
