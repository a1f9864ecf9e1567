//! What the host computes with its own floats, where it comes to the same as LLVM's software floats: many times as fast. Lanes of which
//! that is not sure are computed exactly after that.

use rustc_apfloat::Round;

use super::float::{Modifiers, modifiers};
use super::short;
use super::words::{Alu, SOURCES, Words, vectors};
use crate::machine::lanes::{LANES, Lanes};

const NAN: u64 = 0x7fff_ffff;
const TOP: u64 = 1 << 31;
const TOP_OF_LONG: u64 = 1 << 63;

/// The same instruction as a faster one, if the host can do it.
pub(super) fn faster(name: &str, words: Words<'_>, exact: Alu) -> Alu {
    match find(name, words.clone()).or_else(|| short::arithmetic(name, words)) {
        Some(of) => of(exact),
        None => exact,
    }
}

/// Makes an instruction faster.
pub(super) type Faster = Box<dyn FnOnce(Alu) -> Alu>;

fn find(name: &str, mut words: Words<'_>) -> Option<Faster> {
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

fn approximate(name: &str, mut words: Words<'_>) -> Option<Faster> {
    if !words.flag("approx") {
        return None;
    }
    let flushed = words.flag("ftz");
    words.last("f32")?;
    let function: fn(f64) -> f64 = match name {
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "sin" => f64::sin,
        "cos" => f64::cos,
        "lg2" => f64::log2,
        "ex2" => f64::exp2,
        _ => f64::tanh,
    };
    Some(Box::new(move |exact| {
        let of = move |[a]: [u128; 1]| {
            let result = function(single(a as u64, flushed).into()) as f32;
            bits(single(result.to_bits().into(), flushed), false).into()
        };
        Alu::new(exact.to[0], [exact.from[0]], of).unwrap_or(exact)
    }))
}

/// A subnormal number is taken for a zero, if it has to be.
#[inline(always)]
pub(super) fn single(bits: u64, flushed: bool) -> f32 {
    let (number, least) = (f32::from_bits(bits as u32), if flushed { f32::MIN_POSITIVE } else { 0.0 });
    if number.abs() < least { 0f32.copysign(number) } else { number }
}

/// There is one NaN.
#[inline(always)]
pub(super) fn bits(number: f32, saturated: bool) -> u64 {
    match saturated {
        true if number > 0.0 => number.min(1.0).to_bits().into(),
        true => 0,
        false if number.is_nan() => NAN,
        false => number.to_bits().into(),
    }
}

/// The less or the greater of two numbers, which are there with their bits. Of two zeros the negative one is less. `only` is the NaN of
/// formats that give one.
#[inline(always)]
pub(super) fn extreme<N: PartialOrd + Copy>(
    greatest: bool,
    nan: bool,
    only: Option<u64>,
    [(a, first), (b, second)]: [(u64, N); 2],
    is_nan: impl Fn(N) -> bool,
) -> u64 {
    let (no_first, no_second) = (is_nan(first), is_nan(second));
    // All are computed, so that the host's vectors are used.
    let both = if greatest { a & b } else { a | b };
    let found = if (first > second) == greatest { a } else { b };
    let found = if first == second { both } else { found };
    let found = if no_second { a } else { found };
    let found = if no_first { b } else { found };
    let is_none = (no_first & no_second) | (nan & (no_first | no_second));
    only.filter(|_| is_none).unwrap_or(found)
}

/// What the host computes is right.
pub(super) fn sure<const N: usize>(of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Faster {
    Box::new(move |exact| {
        let apply = vectors(move |sources, to, lane| to[0][lane] = of(std::array::from_fn(|at| sources[at][lane])));
        Alu { apply, ..exact }
    })
}

/// It is right if it is a number: which NaN it is depends on more.
pub(super) fn numbers<const N: usize>(of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Faster {
    quick(of, |result| !f64::from_bits(result).is_nan())
}

/// It is right, but for what is flushed: the least normal number and less.
fn normal<const N: usize>(flushed: bool, of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Faster {
    let least = u64::from(f32::MIN_POSITIVE.to_bits());
    match flushed {
        false => sure(of),
        true => quick(of, move |result| (result & !TOP).wrapping_sub(1) >= least),
    }
}

/// What the host computes, and exactly what is not sure then.
fn quick<const N: usize>(
    of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static,
    is_sure: impl Fn(u64) -> bool + Send + Sync + 'static,
) -> Faster {
    Box::new(move |exact| {
        // There is no second result.
        let first = vectors(move |sources, to, lane| {
            let result = of(std::array::from_fn(|at| sources[at][lane]));
            (to[0][lane], to[1][lane]) = (result, u64::from(!is_sure(result)));
        });
        let then = exact.apply;
        let apply = Box::new(move |sources: &[&Lanes; SOURCES], to: &mut [Lanes; 2], mask: u32| {
            first(sources, to, mask);
            if to[1].iter().fold(0, |any, unsure| any | unsure) != 0 {
                let unsure = (0..LANES).fold(0, |all, lane| all | (to[1][lane] as u32 & 1) << lane);
                then(sources, to, unsure & mask);
            }
        });
        Alu { apply, ..exact }
    })
}

#[cfg(test)]
mod tests {
    use super::super::{convert, float};
    use super::*;

    /// A number that is drawn: bits as they come, near the least normal number, or with few bits.
    fn drawn(random: &mut u64, long: bool) -> u64 {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        let (bits, which) = (*random >> 8, *random % 8);
        let near = |least: u64, of: u64| least.wrapping_add(of % 65).wrapping_sub(32) | bits << 31 & TOP;
        match (long, which) {
            (false, 0 | 1) => bits & 0xffff_ffff,
            (false, 3) => near(f32::MIN_POSITIVE.to_bits().into(), bits),
            (false, 4) => near(f32::INFINITY.to_bits().into(), bits),
            (false, 2) => {
                // Halves near the ends of their formats.
                let of = |bits: u64| [0, 0x400, 0x7c00, 0x80, 0x7f80, 0x3c00, 0x3f80][bits as usize % 7] + bits / 7 % 5;
                (of(bits) | of(bits >> 20) << 16) ^ (bits >> 40 & 0x8000_8000)
            }
            (false, 5) => ((bits % 1000) as f32 / 8.0 - 50.0).to_bits().into(),
            (false, 6) => near(f32::from_bits((126 + 127) << 23).to_bits().into(), bits),
            (false, _) => (f32::from_bits(bits as u32 & 0x007f_ffff | 0x1f80_0000)).to_bits().into(),
            (true, 0..=2) => bits.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            (true, 3) => (f64::MIN_POSITIVE.to_bits() + bits % 65 - 32) | bits << 63,
            (true, 4) => (f64::INFINITY.to_bits() + bits % 65 - 32) | bits << 63,
            (true, _) => ((bits % 1000) as f64 / 8.0 - 50.0).to_bits(),
        }
    }

    const SINGLES: [u64; 14] = [
        0,
        TOP,
        1,
        TOP | 1,
        0x007f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xff80_0001,
    ];

    fn special(at: usize, long: bool) -> u64 {
        let single = SINGLES[at % SINGLES.len()];
        if !long {
            return single;
        }
        // Of the same kind, with a payload of its own where it is no number.
        let (sign, exponent, fraction) = (single >> 31, single >> 23 & 0xff, single & 0x7f_ffff);
        let exponent = match exponent {
            0 => 0,
            0xff => 0x7ff,
            other => other + 1023 - 127,
        };
        sign << 63 | exponent << 52 | fraction << 29 | u64::from(fraction & 1 == 1)
    }

    /// Both make the same of all pairs of special numbers and of many drawn ones, in all lanes and in some.
    fn is_same(opcode: &str) -> usize {
        let (name, words) = Words::of(opcode);
        let both = match name {
            "cvt" => convert::alu(name, words.clone()).zip(convert::exact(name, words)),
            _ => float::alu(name, words.clone()).zip(float::exact(name, words)),
        };
        let (fast, exact) = both.unwrap_or_else(|| panic!("{opcode} is not known"));
        let (count, long) = (fast.from.len(), fast.from[0].bits == 64);
        let (mut random, mut compared) = (0x1234_5678_9abc_def1_u64, 0);
        for round in 0..400 {
            let sources: Vec<Lanes> = (0..SOURCES)
                .map(|source| {
                    std::array::from_fn(|lane| match (round * LANES + lane, round % 2) {
                        (at, 0) => special(at / SINGLES.len().pow(source as u32), long),
                        _ => drawn(&mut random, long),
                    })
                })
                .collect();
            let sources: [&Lanes; SOURCES] = std::array::from_fn(|at| &sources[at]);
            let mask = [u32::MAX, 0x8001_0004, 0xffff_0f0f][round % 3];
            let mut results = [[[7; LANES]; 2]; 2];
            (fast.apply)(&sources, &mut results[0], mask);
            (exact.apply)(&sources, &mut results[1], mask);
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                let of: Vec<u64> = sources[..count].iter().map(|source| source[lane]).collect();
                assert_eq!(results[0][0][lane], results[1][0][lane], "{opcode} of {of:x?}");
                compared += 1;
            }
        }
        compared
    }

    #[test]
    fn the_host_makes_the_same_of_numbers() {
        let of_two =
            ["add", "sub", "mul"].map(|name| ["", ".ftz", ".sat", ".ftz.sat"].map(|with| format!("{name}{with}.f32")));
        let of_one = ["rcp", "sqrt"]
            .map(|name| ["rn", "rn.ftz", "approx", "approx.ftz"].map(|with| format!("{name}.{with}.f32")));
        let division =
            ["rn", "rn.ftz", "approx", "approx.ftz", "full", "full.ftz"].map(|with| format!("div.{with}.f32"));
        let fused = ["rn", "rn.ftz", "rn.sat", "rn.ftz.sat"].map(|with| format!("fma.{with}.f32"));
        let extreme =
            ["min", "max"].map(|name| ["", ".ftz", ".NaN", ".ftz.NaN"].map(|with| format!("{name}{with}.f32")));
        let near = ["rsqrt", "sin", "cos", "lg2", "ex2"]
            .map(|name| ["", ".ftz"].map(|with| format!("{name}.approx{with}.f32")));
        let long = "add.f64 sub.f64 mul.f64 add.rn.f64 mul.rn.f64 div.rn.f64 rcp.rn.f64 sqrt.rn.f64 fma.rn.f64 min.f64 max.f64 neg.f64 abs.f64";
        let others = "neg.f32 abs.f32 tanh.approx.f32 add.rn.f32 mul.rn.f32 add.rz.f32 fma.rm.f64";
        let words = long.split(' ').chain(others.split(' ')).map(str::to_owned);
        let all = of_two.into_iter().flatten().chain(of_one.into_iter().flatten()).chain(division).chain(fused);
        let short = ["f16", "f16x2", "bf16", "bf16x2"].map(|ty| {
            let names = "add add.rn sub mul mul.rn fma.rn fma.rn.relu min max min.NaN max.NaN neg abs";
            names.split(' ').map(move |name| format!("{name}.{ty}"))
        });
        let conversions =
            "rn.f16.f32 rn.bf16.f32 rn.f16x2.f32 rn.bf16x2.f32 f32.f16 f32.bf16 rn.f32.f64 f64.f32 sat.f32.f32";
        let whole = ["rni", "rzi", "rmi", "rpi"].map(|round| {
            let of = "f32.f32 f64.f64 s32.f32 u32.f32 s64.f32 u64.f32 s32.f64 u32.f64 s64.f64 u64.f64 ftz.s32.f32 ftz.u64.f32";
            of.split(' ').map(move |types| format!("cvt.{round}.{types}"))
        });
        let conversions = conversions.split(' ').map(|types| format!("cvt.{types}")).chain(whole.into_iter().flatten());
        let all = all.chain(short.into_iter().flatten()).chain(conversions);
        let all = all.chain(extreme.into_iter().flatten()).chain(near.into_iter().flatten()).chain(words);
        let compared: Vec<usize> = all.map(|opcode| is_same(&opcode)).collect();
        assert_eq!((compared.len(), compared.iter().sum::<usize>()), (177, 1_394_583));
    }

    /// 7 by 37 is between two numbers of eight bits, and what is added is less than an `f64` has beside it.
    #[test]
    fn a_sum_is_rounded_once() {
        let fused = float::alu("fma", Words::of("fma.rn.bf16").1).expect("it is known");
        for (third, expected) in [(0x8d80, 0x4381), (0x0d80, 0x4382), (0, 0x4382)] {
            let (seven, others): (Lanes, Lanes) = ([0x40e0; LANES], [0x4214; LANES]);
            let (third, mut results) = ([third; LANES], [[0; LANES]; 2]);
            (fused.apply)(&[&seven, &others, &third, &third, &third, &third], &mut results, u32::MAX);
            assert_eq!(results[0], [expected; LANES]);
        }
    }
}
