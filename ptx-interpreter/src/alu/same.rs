//! The host's floats make the same as LLVM's.

use super::faster::TOP;
use super::words::{SOURCES, Words};
use super::{convert, float};
use crate::machine::lanes::{LANES, Lanes};

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

const SINGLES: [u64; 15] = [
    0,
    TOP,
    1,
    TOP | 1,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    // By the least normal number it is rounded to that, and flushed all the same.
    0x3f7f_ffff,
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
        let [mut quickly, mut exactly, mut also] = [[7; LANES]; 3];
        (fast.apply)(&sources, &mut quickly, &mut also, mask);
        (exact.apply)(&sources, &mut exactly, &mut also, mask);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let of: Vec<u64> = sources[..count].iter().map(|source| source[lane]).collect();
            assert_eq!(quickly[lane], exactly[lane], "{opcode} of {of:x?}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn the_host_makes_the_same_of_numbers() {
    let of_two =
        ["add", "sub", "mul"].map(|name| ["", ".ftz", ".sat", ".ftz.sat"].map(|with| format!("{name}{with}.f32")));
    let of_one =
        ["rcp", "sqrt"].map(|name| ["rn", "rn.ftz", "approx", "approx.ftz"].map(|with| format!("{name}.{with}.f32")));
    let division = ["rn", "rn.ftz", "approx", "approx.ftz", "full", "full.ftz"].map(|with| format!("div.{with}.f32"));
    let fused = ["rn", "rn.ftz", "rn.sat", "rn.ftz.sat"].map(|with| format!("fma.{with}.f32"));
    let extreme = ["min", "max"].map(|name| ["", ".ftz", ".NaN", ".ftz.NaN"].map(|with| format!("{name}{with}.f32")));
    let near =
        ["rsqrt", "sin", "cos", "lg2", "ex2"].map(|name| ["", ".ftz"].map(|with| format!("{name}.approx{with}.f32")));
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
        let of =
            "f32.f32 f64.f64 s32.f32 u32.f32 s64.f32 u64.f32 s32.f64 u32.f64 s64.f64 u64.f64 ftz.s32.f32 ftz.u64.f32";
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
        let (third, [mut result, mut also]) = ([third; LANES], [[0; LANES]; 2]);
        (fused.apply)(&[&seven, &others, &third, &third, &third, &third], &mut result, &mut also, u32::MAX);
        assert_eq!(result, [expected; LANES]);
    }
}
