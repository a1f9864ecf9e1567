//! What instructions of floats and of conversions give, by Rust's own arithmetic.
#![allow(clippy::unnecessary_cast)]

use super::numbers::*;

/// A subnormal number becomes a zero.
pub(super) fn flush(ty: &str, bits: u64, flushed: bool) -> u64 {
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
pub(super) fn beside(ty: &str, bits_of: u64, up: bool) -> u64 {
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
pub(super) fn directed(ty: &str, nearest: u64, exact_is: std::cmp::Ordering, round: &str) -> u64 {
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

pub(super) fn of_floats(words: &[&str], s: &[u64; 8]) -> Option<Expected> {
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
        // Of 64 bits, one that is approximate and flushes reads the upper half.
        let read = |bits: u64| if of == "f64" && has("approx") && has("ftz") { bits >> 32 << 32 } else { bits };
        // Of 64 bits, only what is approximate flushes.
        let flushes = has("ftz") && (of != "f64" || has("approx"));
        let operands: Vec<u64> = operands.into_iter().map(|bits| flush(of, read(bits), flushes)).collect();
        let [a, b, c] = [0, 1, 2].map(|at| number(of, operands[at]));
        let mut round = ["rz", "rm", "rp"].into_iter().find(|word| has(word)).unwrap_or("rn");
        if name == "fma" && of == "bf16" && round != "rn" {
            if last == of {
                return fused_of_halves(&operands, round);
            }
            round = "rn";
        }
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
            // The ISA: the reciprocal of so great a divisor is 0.
            "div" if has("approx") && b.is_finite() && b.abs() > 2f64.powi(126) => bits(of, a * 0f64.copysign(b)),
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
        let result = flush(of, result, flushes);
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

/// What the machine code of `fma.rz.bf16` does, which the ISA has not: it computes with `f16` and `f32`.
fn fused_of_halves(operands: &[u64], round: &str) -> Option<Expected> {
    let numbers = [0, 1, 2].map(|at| number("f16", operands[at]));
    if !numbers.iter().all(|x| x.is_finite() && (1e-4..1e4).contains(&x.abs())) {
        return None;
    }
    let single = computed("fma", "f32", numbers, round)?;
    Expected::is(bits("f16", number("f32", single)))
}

/// The nearest of the exact result, or that in a direction.
pub(super) fn computed(name: &str, of: &str, [a, b, c]: [f64; 3], round: &str) -> Option<u64> {
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

pub(super) fn extreme(words: &[&str], of: &str, a: u64, b: u64) -> u64 {
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

pub(super) fn converted(words: &[&str], s: &[u64; 8]) -> Option<Expected> {
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
            let cut = s[0] & 0xffff_e000;
            return (!value.is_nan() || round == "rna")
                .then(|| Expected::is(if has("relu") && value.is_sign_negative() { 0 } else { cut }))?;
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
            let words: Vec<&str> = opcode.split('.').collect();
            let mut operands = *s;
            operands[0] = value;
            Some(low(converted(&words, &operands)?.values[0], 16))
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
            let input = flush(last, low(a, width(last)), flushed && last == "f32" && to != "f16");
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

pub(super) fn whole(round: &str, value: f64) -> f64 {
    match round {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}
