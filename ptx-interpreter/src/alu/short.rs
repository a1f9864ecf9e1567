//! Floats of 16 bits, and conversions from one format to another, by the host's own numbers: see [`faster`](super::faster).

use super::faster::{Faster, bits, extreme, numbers, single, sure};
use super::format::{DOUBLE, SINGLE};
use super::words::{Alu, Kind, SOURCES, Type, Words, vectors};
use crate::machine::lanes::Lanes;

const NAN: u32 = 0x7fff;
const TOP: u32 = 0x8000;

/// `add`, `sub`, `mul`, `fma`, `min`, `max`, `neg` and `abs` of one or two numbers.
pub(super) fn arithmetic(name: &str, mut words: Words<'_>) -> Option<Faster> {
    let is_extreme = matches!(name, "min" | "max");
    let is_nearest = words.flag("rn");
    let (nan, relu) = (is_extreme && words.flag("NaN"), name == "fma" && words.flag("relu"));
    let ty = words.last("f16 f16x2 bf16 bf16x2")?;
    match ty.kind {
        Kind::Brain => arithmetic_of::<true>(name, is_nearest, nan, relu, ty),
        _ => arithmetic_of::<false>(name, is_nearest, nan, relu, ty),
    }
}

fn arithmetic_of<const BRAIN: bool>(name: &str, is_nearest: bool, nan: bool, relu: bool, ty: Type) -> Option<Faster> {
    let (wide, narrow) = (widened::<BRAIN>, narrowed::<BRAIN>);
    Some(match name {
        "add" => each(ty, move |[a, b]| narrow(wide(a) + wide(b))),
        "sub" => each(ty, move |[a, b]| narrow(wide(a) - wide(b))),
        // A product of two `bf16` may be less than an `f32` has.
        "mul" if !BRAIN => each(ty, move |[a, b]| narrow(wide(a) * wide(b))),
        "mul" => each(ty, move |[a, b]| narrow(to_odd(f64::from(wide(a)) * f64::from(wide(b)), 0.0))),
        "fma" if is_nearest => each(ty, move |numbers| {
            let [a, b, c] = numbers.map(|bits| f64::from(wide(bits)));
            let result = narrow(sum(a * b, c));
            // A NaN has no sign.
            if relu && result & TOP != 0 { 0 } else { result }
        }),
        "min" | "max" => {
            let greatest = name == "max";
            each(ty, move |[a, b]| {
                let numbers = [(a.into(), wide(a)), (b.into(), wide(b))];
                extreme(greatest, nan, Some(NAN.into()), numbers, f32::is_nan) as u32
            })
        }
        "neg" => each(ty, |[a]| a ^ TOP),
        "abs" => each(ty, |[a]| a & !TOP),
        _ => return None,
    })
}

/// `cvt` between floats, and to integers.
pub(super) fn conversion(mut words: Words<'_>) -> Option<Faster> {
    let round = words.one_of(&["rn", "rni", "rzi", "rmi", "rpi"]);
    let (flushed, saturated) = (words.flag("ftz"), words.flag("sat"));
    let to = words.of_type()?;
    let from = words.last("f16 bf16 f32 f64")?;
    if to.is("s32 u32 s64 u64") && from.is("f32 f64") {
        return (!saturated).then(|| to_integer(round?, to, from, flushed))?;
    }
    if flushed {
        return None;
    }
    if saturated {
        return (round.is_none() && to == SINGLE && from == SINGLE).then(|| sure(|[a]| bits(single(a, false), true)));
    }
    if to == from {
        return whole(round?, to);
    }
    Some(match (round, to.bits, from.bits) {
        (Some("rn"), 16, 32) if to.kind == Kind::Brain => narrowing::<true>(to),
        (Some("rn"), 16, 32) => narrowing::<false>(to),
        (None, 32, 16) if from.kind == Kind::Brain => sure(|[a]| bits(widened::<true>(a as u32), false)),
        (None, 32, 16) => sure(|[a]| bits(widened::<false>(a as u32), false)),
        (Some("rn"), 32, 64) => sure(|[a]| bits(f64::from_bits(a) as f32, false)),
        (None, 64, 32) => numbers(|[a]| f64::from(single(a, false)).to_bits()),
        _ => return None,
    })
}

fn rounding(word: &str) -> Option<fn(f64) -> f64> {
    Some(match word {
        "rni" => f64::round_ties_even,
        "rzi" => f64::trunc,
        "rmi" => f64::floor,
        "rpi" => f64::ceil,
        _ => return None,
    })
}

/// What is too great is the greatest; what is no number is 0, or the least of 64 bits.
fn to_integer(round: &str, to: Type, from: Type, flushed: bool) -> Option<Faster> {
    let of = rounding(round)?;
    let nan = if from.bits == 64 || to.bits == 64 { 1 << (to.bits - 1) } else { 0 };
    let number = move |bits| if from.bits == 32 { single(bits, flushed).into() } else { f64::from_bits(bits) };
    Some(sure(move |[a]| {
        let number = of(number(a));
        match (to.is_signed(), to.bits) {
            _ if number.is_nan() => nan,
            (true, 32) => u64::from(number as i32 as u32),
            (true, _) => number as i64 as u64,
            (false, 32) => u64::from(number as u32),
            (false, _) => number as u64,
        }
    }))
}

/// A whole number near one.
fn whole(round: &str, ty: Type) -> Option<Faster> {
    let of = rounding(round)?;
    match ty {
        SINGLE => Some(sure(move |[a]| bits(of(single(a, false).into()) as f32, false))),
        DOUBLE => Some(numbers(move |[a]| of(f64::from_bits(a)).to_bits())),
        _ => None,
    }
}

/// Of one number, or of two: the first is the upper half.
fn narrowing<const BRAIN: bool>(to: Type) -> Faster {
    let narrow = |a: u64| u64::from(narrowed::<BRAIN>(single(a, false)));
    match to.lanes {
        1 => sure(move |[a]| narrow(a)),
        _ => sure(move |[a, b]| narrow(a) << 16 | narrow(b)),
    }
}

/// For both numbers, if there are two: first for the lower halves of all lanes.
fn each<const N: usize>(ty: Type, of: impl Fn([u32; N]) -> u32 + Copy + Send + Sync + 'static) -> Faster {
    let half = move |sources: &[&Lanes; SOURCES], lane: usize, shift: u32| {
        u64::from(of(std::array::from_fn(|at| (sources[at][lane] >> shift) as u32 & 0xffff)))
    };
    let low = vectors(move |sources, to, _, lane| to[lane] = half(sources, lane, 0));
    let high = vectors(move |sources, to, _, lane| to[lane] |= half(sources, lane, 16) << 16);
    Box::new(move |exact| match ty.lanes {
        1 => Alu { apply: low, ..exact },
        _ => {
            let apply = Box::new(move |sources: &[&Lanes; SOURCES], to: &mut Lanes, also: &mut Lanes, mask: u32| {
                low(sources, to, also, mask);
                high(sources, to, also, mask);
            });
            Alu { apply, ..exact }
        }
    })
}

/// From 16 bits to an `f32`, which has all of them.
#[inline(always)]
fn widened<const BRAIN: bool>(number: u32) -> f32 {
    if BRAIN { f32::from_bits(number << 16) } else { of_half(number) }
}

/// From an `f32` to 16 bits, to the nearest one; of two the even one.
#[inline(always)]
fn narrowed<const BRAIN: bool>(number: f32) -> u32 {
    let bits = number.to_bits();
    let near = if BRAIN { bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16 } else { to_half(number) };
    if number.is_nan() { NAN } else { near }
}

#[inline(always)]
fn of_half(number: u32) -> f32 {
    const LEAST: f32 = f32::from_bits((127 - 24) << 23);
    const BIAS: u32 = (127 - 15) << 23;
    let (sign, exponent) = ((number & TOP) << 16, number >> 10 & 0x1f);
    // All are computed, so that the host's vectors are used.
    let normal = ((number & 0x7fff) << 13) + BIAS;
    let small = ((number & 0x3ff) as f32 * LEAST).to_bits();
    let bits = if exponent == 0x1f { normal + BIAS } else { normal };
    f32::from_bits(sign | if exponent == 0 { small } else { bits })
}

#[inline(always)]
fn to_half(number: f32) -> u32 {
    /// What has no place in an `f16` begins here, and what is less than its least normal number ends there.
    const BEYOND: u32 = 0x477f_f000;
    const NORMAL: u32 = (127 - 14) << 23;
    let (sign, own) = (number.to_bits() >> 16 & TOP, number.to_bits() & 0x7fff_ffff);
    // The last bit of a half is that of the least number.
    let small = (f32::from_bits(own) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let normal = own.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + (own >> 13 & 1)) >> 13;
    let bits = if own < NORMAL { small } else { normal };
    sign | if own >= BEYOND { 0x7c00 } else { bits }
}

/// A sum of two numbers, for what is rounded again.
#[inline(always)]
fn sum(a: f64, b: f64) -> f32 {
    let sum = a + b;
    let of_b = sum - a;
    to_odd(sum, (a - (sum - of_b)) + (b - of_b))
}

/// An `f32` that is not exact has an odd last bit, so that it is rounded again as if it were. `rest` is less than what the number has.
#[inline(always)]
fn to_odd(number: f64, rest: f64) -> f32 {
    let near = number as f32;
    let far = number - f64::from(near);
    let (far, bits) = (if far == 0.0 { rest } else { far }, near.to_bits());
    let is_done = !number.is_finite() | (far == 0.0) | (bits & 1 == 1);
    let is_beyond = (far > 0.0) != near.is_sign_negative();
    let odd = if is_beyond { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f32::from_bits(if is_done { bits } else { odd })
}
