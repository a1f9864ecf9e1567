//! Floats of 32 and 64 bits by the host's own.

use rustc_apfloat::Round;

use super::faster::{Faster, NAN, TOP, bits, extreme, normal, numbers, single, sure};
use super::modifiers::{Modifiers, modifiers};
use super::words::{Alu, Words};

const TOP_OF_LONG: u64 = 1 << 63;

/// What makes an instruction faster.
pub(super) fn find(name: &str, mut words: Words<'_>) -> Option<Faster> {
    match name {
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => approximate(name, words),
        "min" | "max" => {
            let (flushed, nan) = (words.flag("ftz"), words.flag("NaN"));
            let (ty, greatest) = (words.last("f32 f64")?, name == "max");
            Some(match ty.bits {
                32 => sure(move |numbers: [u64; 2]| {
                    let numbers = numbers.map(|bits| single(bits, flushed));
                    let numbers = numbers.map(|number| (number.to_bits().into(), number));
                    extreme(greatest, nan, Some(NAN), numbers, f32::is_nan)
                }),
                _ => sure(move |numbers: [u64; 2]| {
                    let numbers = numbers.map(|bits| (bits, f64::from_bits(bits)));
                    extreme(greatest, nan, None, numbers, f64::is_nan)
                }),
            })
        }
        "neg" | "abs" => {
            let ty = words.last("f32 f64")?;
            let top = if ty.bits == 32 { TOP } else { TOP_OF_LONG };
            let whole = top | (top - 1);
            Some(match name {
                "neg" => sure(move |[a]| a & whole ^ top),
                _ => sure(move |[a]| a & whole & !top),
            })
        }
        _ => arithmetic(name, words),
    }
}

fn arithmetic(name: &str, mut words: Words<'_>) -> Option<Faster> {
    let is_approximate = words.flag("approx");
    if !is_approximate {
        words.flag("full");
    }
    let Modifiers { round, flushed, saturated, relu: false, ty } = modifiers(words, false)? else { return None };
    if round.is_some_and(|round| round != Round::NearestTiesToEven) {
        return None;
    }
    if ty.is("f64") {
        let of = f64::from_bits;
        return Some(match name {
            "add" => numbers(move |[a, b]| (of(a) + of(b)).to_bits()),
            "sub" => numbers(move |[a, b]| (of(a) - of(b)).to_bits()),
            "mul" => numbers(move |[a, b]| (of(a) * of(b)).to_bits()),
            "div" => numbers(move |[a, b]| (of(a) / of(b)).to_bits()),
            "fma" | "mad" => numbers(move |[a, b, c]| of(a).mul_add(of(b), of(c)).to_bits()),
            "rcp" => numbers(move |[a]| (1.0 / of(a)).to_bits()),
            "sqrt" => numbers(move |[a]| of(a).sqrt().to_bits()),
            _ => return None,
        });
    }
    if !ty.is("f32") {
        return None;
    }
    let (of, to) = (move |bits| single(bits, flushed), move |number| bits(number, saturated));
    Some(match name {
        "add" => normal(flushed, move |[a, b]| to(of(a) + of(b))),
        "sub" => normal(flushed, move |[a, b]| to(of(a) - of(b))),
        "mul" => normal(flushed, move |[a, b]| to(of(a) * of(b))),
        "div" if is_approximate => normal(flushed, move |[a, b]| to(quotient(of(a), of(b)))),
        "div" => normal(flushed, move |[a, b]| to(of(a) / of(b))),
        "fma" | "mad" => normal(flushed, move |[a, b, c]| to(of(a).mul_add(of(b), of(c)))),
        "rcp" => normal(flushed, move |[a]| to(1.0 / of(a))),
        "sqrt" => normal(flushed, move |[a]| to(of(a).sqrt())),
        _ => return None,
    })
}

/// `div.approx` multiplies by a reciprocal, which is 0 of a divisor beyond 2^126.
fn quotient(a: f32, b: f32) -> f32 {
    const MOST: f32 = f32::from_bits((126 + 127) << 23);
    if b.abs() > MOST { a * 0f32.copysign(b) } else { a / b }
}

/// What an approximation comes near to.
pub(super) fn function(name: &str) -> fn(f64) -> f64 {
    match name {
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "sin" => f64::sin,
        "cos" => f64::cos,
        "lg2" => f64::log2,
        "ex2" => f64::exp2,
        _ => f64::tanh,
    }
}

fn approximate(name: &str, mut words: Words<'_>) -> Option<Faster> {
    if !words.flag("approx") {
        return None;
    }
    let flushed = words.flag("ftz");
    words.last("f32")?;
    let function = function(name);
    Some(Box::new(move |exact| {
        let of = move |[a]: [u128; 1]| {
            let result = function(single(a as u64, flushed).into()) as f32;
            bits(single(result.to_bits().into(), flushed), false).into()
        };
        Alu::new(exact.to[0], [exact.from[0]], of).unwrap_or(exact)
    }))
}
