//! Floats: 16, 32 and 64 bits, and `bf16`, by LLVM's own software floats.

use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::faster::faster;
use super::format::{DOUBLE, Format, HALF, ROUNDINGS, SINGLE, by_format, float, round_of};
use super::modifiers::{Modifiers, modifiers};
use super::words::{Alu, Kind, Type, Words, low};
use super::{host, short};

pub(crate) fn alu(name: &str, words: Words<'_>) -> Option<Alu> {
    let exact = exact(name, words.clone())?;
    Some(faster(exact, host::find(name, words.clone()).or_else(|| short::arithmetic(name, words))))
}

pub(super) fn exact(name: &str, words: Words<'_>) -> Option<Alu> {
    match name {
        "add" | "sub" => mixed(name, words.clone()).or_else(|| arithmetic(name, words)),
        "mul" => arithmetic(name, words),
        "fma" => mixed(name, words.clone()).or_else(|| fused(false, words)),
        "mad" => fused(true, words),
        "div" | "rcp" | "sqrt" => divided(name, words),
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => approximate(name, words),
        "min" | "max" => extreme(name == "max", words),
        "neg" | "abs" => sign(name == "neg", words),
        "testp" => test(words),
        "copysign" => {
            let ty = words.last("f32 f64")?;
            let top = 1 << (ty.bits - 1);
            Alu::new(ty, [ty; 2], move |[a, b]| a & top | low(b, ty.bits) & !top)
        }
        _ => None,
    }
}

const NEAREST: Round = Round::NearestTiesToEven;

fn arithmetic(name: &str, words: Words<'_>) -> Option<Alu> {
    let Modifiers { round, flushed, saturated, relu: false, ty } = modifiers(words, false)? else { return None };
    let round = round.unwrap_or(NEAREST);
    let which = name.as_bytes()[0];
    Alu::by_lane(ty, [ty; 2], move |[a, b]| {
        by_format!(ty, F => {
            let (a, b) = (F::input(a, flushed), F::input(b, flushed));
            let result = match which {
                b'a' => a.add_r(b, round).value,
                b's' => a.sub_r(b, round).value,
                _ => flush(flushed, a.mul_r(b, round).value, || twice(a).mul_r(b, round).value),
            };
            result.output(flushed, saturated)
        })
    })
}

fn twice<F: Float>(number: F) -> F {
    number.scalbn(1)
}

/// A result, or a zero, if it is flushed: an H100 flushes what would be less than the least normal number if the exponent had no
/// end. Rounded like that it is half of `of_twice`.
fn flush<F: Format>(flushed: bool, result: F, of_twice: impl FnOnce() -> F) -> F {
    let least = F::smallest_normalized();
    let is_tiny = flushed && result.abs() == least && of_twice().abs() < twice(least);
    if is_tiny { F::ZERO.copy_sign(result) } else { result }
}

fn fused(is_mad: bool, words: Words<'_>) -> Option<Alu> {
    let Modifiers { round, flushed, saturated, relu, ty } = modifiers(words, true)?;
    let legal = if is_mad { ty.bits >= 32 && ty.lanes == 1 } else { true };
    let round = round.filter(|_| legal)?;
    let round = match (ty.kind, ty.lanes) {
        (Kind::Brain, 1) if round != NEAREST => return taken_for_half(ty, round),
        // The ISA has no other mode, and the assemblers ignore one.
        (Kind::Brain, _) => NEAREST,
        _ => round,
    };
    Alu::by_lane(ty, [ty; 3], move |[a, b, c]| {
        by_format!(ty, F => {
            let [a, b, c] = [a, b, c].map(|bits| F::input(bits, flushed));
            let result = flush(flushed, a.mul_add_r(b, c, round).value, || twice(a).mul_add_r(b, twice(c), round).value);
            let result = if relu && !result.is_nan() && result.is_negative() { F::ZERO } else { result };
            result.output(flushed, saturated)
        })
    })
}

/// The ISA has no `fma.rz.bf16`, but the assemblers take it. Their machine code reads three `f16`, makes an `f32` of them, rounds
/// that to an `f16`, and has no `.relu`.
fn taken_for_half(ty: Type, round: Round) -> Option<Alu> {
    Alu::new(ty, [ty; 3], move |numbers| {
        let [a, b, c] = numbers.map(|bits| Single::from_bits(float(HALF, SINGLE, low(bits, 16), NEAREST)));
        let result = float(SINGLE, HALF, a.mul_add_r(b, c, round).value.to_bits(), NEAREST);
        Half::input(result, false).output(false, false)
    })
}

/// `add`, `sub` and `fma` of narrow numbers and an `f32`: `{.rnd}{.sat}.f32.f16`. The last operand is the `f32`.
fn mixed(name: &str, mut words: Words<'_>) -> Option<Alu> {
    let word = words.one_of(&ROUNDINGS);
    let saturated = words.flag("sat");
    if !words.flag("f32") {
        return None;
    }
    let narrow = words.last("f16 bf16")?;
    let round = word.map_or(NEAREST, round_of);
    let exact = move |bits| Single::from_bits(float(narrow, SINGLE, bits, NEAREST));
    let output = move |number: Single| number.output(false, saturated);
    match name {
        "add" => {
            Alu::new(SINGLE, [narrow, SINGLE], move |[a, c]| output(exact(a).add_r(Single::from_bits(c), round).value))
        }
        "sub" => {
            Alu::new(SINGLE, [narrow, SINGLE], move |[a, c]| output(exact(a).sub_r(Single::from_bits(c), round).value))
        }
        _ => Alu::new(SINGLE, [narrow, narrow, SINGLE], move |[a, b, c]| {
            output(exact(a).mul_add_r(exact(b), Single::from_bits(c), round).value)
        })
        .filter(|_| word.is_some()),
    }
}

/// What is only approximate is exact here. But `div.approx` multiplies by a reciprocal, which is 0 of a divisor beyond 2^126.
fn divided(name: &str, mut words: Words<'_>) -> Option<Alu> {
    if let Some(of_long) = reciprocal_of_long(words.clone()).filter(|_| name == "rcp") {
        return Some(of_long);
    }
    let approximate = words.one_of(if name == "div" { &["approx", "full"] } else { &["approx"] });
    let Modifiers { round, flushed, saturated: false, relu: false, ty } = modifiers(words, false)? else { return None };
    let legal = match (ty.bits, approximate.is_some()) {
        (32, approximate) => approximate != round.is_some() && ty.lanes == 1,
        (64, true) => false,
        (64, false) => round.is_some(),
        _ => false,
    };
    if !legal {
        return None;
    }
    let round = round.unwrap_or(NEAREST);
    if name == "div" && approximate == Some("approx") {
        return Alu::new(ty, [ty; 2], move |[a, b]| {
            let (a, b) = (Single::input(a, flushed), Single::input(b, flushed));
            let is_beyond = b.abs() > Single::from_u128(1 << 126).value;
            let quotient = if is_beyond { a.mul_r(Single::ZERO.copy_sign(b), round) } else { a.div_r(b, round) };
            quotient.value.output(flushed, false)
        });
    }
    if name == "div" {
        return Alu::new(
            ty,
            [ty; 2],
            move |[a, b]| by_format!(ty, F => quotient(F::input(a, flushed), F::input(b, flushed), round, flushed)),
        );
    }
    let is_root = name == "sqrt";
    Alu::new(ty, [ty], move |[a]| {
        by_format!(ty, F => {
            let a = F::input(a, flushed);
            if !is_root {
                return quotient(F::from_u128(1).value, a, round, flushed);
            }
            let number = float(ty, DOUBLE, a.to_bits(), NEAREST);
            let root = root(f64::from_bits(number as u64));
            let root: F = FloatConvert::convert_r(root, round, &mut false).value;
            root.output(flushed, false)
        })
    })
}

fn quotient<F: Format>(a: F, b: F, round: Round, flushed: bool) -> u128 {
    flush(flushed, a.div_r(b, round).value, || twice(a).div_r(b, round).value).output(flushed, false)
}

/// `rcp.approx.ftz.f64`, of which the lower half is zero, and `rcp.rn.ftz.f64`, which the ISA has not, and which does not flush.
fn reciprocal_of_long(mut words: Words<'_>) -> Option<Alu> {
    let approximate = words.flag("approx");
    let round = if approximate { NEAREST } else { round_of(words.one_of(&ROUNDINGS)?) };
    if !words.flag("ftz") {
        return None;
    }
    let ty = words.last("f64")?;
    Alu::new(ty, [ty], move |[a]| {
        let one = Double::from_u128(1).value;
        // The approximate one reads the upper half alone.
        let a = if approximate { a & !0xffff_ffff } else { a };
        let result = one.div_r(Double::input(a, approximate), round).value.output(approximate, false);
        if approximate { result & !0xffff_ffff } else { result }
    })
}

/// By whole numbers: the root of many more bits than the format has, and whether anything is left.
fn root(number: f64) -> Quad {
    if number.is_nan() || number < 0.0 {
        return Quad::qnan(None);
    }
    if number == 0.0 || number.is_infinite() {
        return if number == 0.0 {
            Quad::ZERO.copy_sign(Quad::from_i128(if number.is_sign_negative() { -1 } else { 1 }).value)
        } else {
            Quad::INFINITY
        };
    }
    let bits = number.to_bits();
    let fraction = u128::from(bits & ((1 << 52) - 1));
    // The number is `whole` times two to the `exponent`.
    let (whole, exponent) = match (bits >> 52) as i32 {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    };
    let room = whole.leading_zeros() as i32 - 1;
    let shift = room - (exponent - room).rem_euclid(2);
    let whole = whole << shift;
    let root = whole.isqrt();
    let rest = u128::from(root * root != whole);
    Quad::from_u128(root << 1 | rest).value.scalbn((exponent - shift) / 2 - 1)
}

/// As near as the host comes.
fn approximate(name: &str, mut words: Words<'_>) -> Option<Alu> {
    if !words.flag("approx") {
        return None;
    }
    let flushed = words.flag("ftz");
    let ty = words.last(match name {
        "rsqrt" => "f32 f64",
        "tanh" if flushed => return None,
        "tanh" => "f32 f16 f16x2 bf16 bf16x2",
        "ex2" if flushed => "f32 bf16 bf16x2",
        "ex2" => "f32 f16 f16x2",
        _ => "f32",
    })?;
    let function = host::function(name);
    // `rsqrt.approx.ftz.f64` reads and writes the upper half alone.
    let is_upper = flushed && ty.bits == 64;
    Alu::by_lane(ty, [ty], move |[a]| {
        by_format!(ty, F => {
            let a = if is_upper { a & !0xffff_ffff } else { a };
            let a = F::input(a, flushed).output(flushed, false);
            let result = function(f64::from_bits(float(ty, DOUBLE, a, NEAREST) as u64));
            let result = float(DOUBLE, ty, result.to_bits().into(), NEAREST);
            let result = F::input(result, false).output(flushed, false);
            if is_upper { result & !0xffff_ffff } else { result }
        })
    })
}

fn extreme(greatest: bool, mut words: Words<'_>) -> Option<Alu> {
    let (flushed, nan) = (words.flag("ftz"), words.flag("NaN"));
    let xorsign = words.flag("xorsign");
    if xorsign && !words.flag("abs") {
        return None;
    }
    let ty = words.last("f16 f16x2 bf16 bf16x2 f32 f64")?;
    let legal = match ty.bits {
        64 => !flushed && !nan && !xorsign,
        _ => !(flushed && ty.kind == Kind::Brain),
    };
    if !legal {
        return None;
    }
    Alu::by_lane(ty, [ty; 2], move |[a, b]| {
        by_format!(ty, F => {
            let (mut a, mut b) = (F::input(a, flushed), F::input(b, flushed));
            let negative = a.is_negative() != b.is_negative();
            if xorsign {
                (a, b) = (a.abs(), b.abs());
            }
            let result = farther(greatest, nan, a, b);
            let result = if xorsign && negative && !result.is_nan() { -result } else { result };
            result.output(flushed, false)
        })
    })
}

/// The less or the greater of two numbers. Of two zeros the negative one is less.
fn farther<F: Float>(greatest: bool, nan: bool, a: F, b: F) -> F {
    match greatest {
        _ if !nan && a.is_nan() => b,
        _ if !nan && b.is_nan() => a,
        true => a.maximum(b),
        false => a.minimum(b),
    }
}

/// `min` and `max` of three numbers.
pub(crate) fn of_three(name: &str, mut words: Words<'_>) -> Option<Alu> {
    let greatest = match name {
        "min" => false,
        "max" => true,
        _ => return None,
    };
    let (flushed, nan, absolute) = (words.flag("ftz"), words.flag("NaN"), words.flag("abs"));
    let ty = words.last("f32")?;
    Alu::by_lane(ty, [ty; 3], move |numbers| {
        let [a, b, c] = numbers.map(|bits| {
            let number = Single::input(bits, flushed);
            if absolute { number.abs() } else { number }
        });
        farther(greatest, nan, farther(greatest, nan, a, b), c).output(flushed, false)
    })
}

fn sign(negates: bool, mut words: Words<'_>) -> Option<Alu> {
    let flushed = words.flag("ftz");
    let ty = words.last(if flushed { "f32 f16 f16x2" } else { "f16 f16x2 bf16 bf16x2 f32 f64" })?;
    let top = 1 << (ty.bits - 1);
    Alu::by_lane(ty, [ty], move |[a]| {
        let bits = if flushed { by_format!(ty, F => F::input(a, true).to_bits()) } else { low(a, ty.bits) };
        if negates { bits ^ top } else { bits & !top }
    })
}

fn test(mut words: Words<'_>) -> Option<Alu> {
    let which = words.one_of(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"])?;
    let ty = words.last("f32 f64")?;
    Alu::new(Type::PRED, [ty], move |[a]| {
        by_format!(ty, F => {
            let a = F::input(a, false);
            u128::from(match which {
                "finite" => a.is_finite(),
                "infinite" => a.is_infinite(),
                "number" => !a.is_nan(),
                "notanumber" => a.is_nan(),
                // A zero is normal.
                "normal" => a.is_normal() || a.is_zero(),
                _ => a.is_denormal(),
            })
        })
    })
}
