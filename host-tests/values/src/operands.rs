//! The operands of a kernel: edge values crossed with each other, then random ones.

use crate::case::{BLOCK, Case, Judge};
use crate::float::{Format, mask, two_to};
use crate::matrices;
use crate::random::Random;
use crate::types::{Class, Kind, Type};
use crate::wgmma;

/// Tuples of operands of a kernel.
const TUPLES: usize = 1 << 14;

/// Threads of a kernel of matrices, each of which has many sums.
const OF_MATRICES: usize = 1 << 12;

/// Of them in a dry run.
const FEW: usize = 1 << 10;

/// How many tuples of edge values there are at most.
const CROSSED: usize = 10_000;

impl Case {
    /// What each thread reads, one after the other: whole blocks.
    pub fn input(&self, seed: u64, quick: bool) -> Vec<u64> {
        let random = &mut Random::of(seed, &self.name);
        let tuples = match &self.judge {
            _ if quick => FEW,
            Judge::Products(_) => OF_MATRICES,
            _ => TUPLES,
        };
        match &self.judge {
            Judge::Products(product) if self.is_specific => wgmma::input(self, product, tuples, random),
            Judge::Products(product) => matrices::input(product, tuples, random),
            _ => self.tuples(tuples, random),
        }
    }

    fn tuples(&self, tuples: usize, random: &mut Random) -> Vec<u64> {
        if let [one] = self.operands[..]
            && one.bits == 16
            && one.class == Class::Usual
        {
            return every_short(one, tuples);
        }
        let edges: Vec<Vec<u64>> = self.operands.iter().map(|ty| edges(*ty)).collect();
        let each = (CROSSED as f64).powf(1.0 / edges.len().max(1) as f64) as usize;
        let each: Vec<usize> = edges.iter().map(|edges| edges.len().min(each.max(3))).collect();
        let crossed: usize = each.iter().product::<usize>().min(CROSSED);
        // In a dry run, some of all.
        let step = (crossed * 2 / tuples).max(1);
        let mut input = Vec::with_capacity(tuples * self.reads());
        for at in 0..tuples {
            let at = at * step;
            if at < crossed {
                crossing(&self.operands, &edges, &each, at, crossed, &mut input);
            } else {
                drawn(&self.operands, &edges, random, &mut input);
            }
        }
        debug_assert!(input.len() % (BLOCK * self.reads()) == 0, "whole blocks");
        input
    }
}

/// All numbers of 16 bits; beside each in a pair another one.
fn every_short(ty: Type, tuples: usize) -> Vec<u64> {
    let (count, step) = if tuples < TUPLES { (tuples, (1 << 16) / tuples) } else { (1 << 16, 1) };
    let pair = |at: u64| at | if ty.lanes == 2 { ((at * 40_503 + 12_345) & 0xffff) << 16 } else { 0 };
    (0..count).map(|at| pair((at * step) as u64)).collect()
}

/// The tuple of edge values with that number. The second number of a pair has another number.
fn crossing(types: &[Type], edges: &[Vec<u64>], each: &[usize], at: usize, all: usize, input: &mut Vec<u64>) {
    let (mut first, mut second) = (at, (at * 7_919 + 13) % all);
    for ((ty, edges), each) in types.iter().zip(edges).zip(each) {
        let low = edges[first % each];
        let high = edges[second % each];
        put(*ty, [low, high], input);
        (first, second) = (first / each, second / each);
    }
}

fn put(ty: Type, [low, high]: [u64; 2], input: &mut Vec<u64>) {
    match (ty.width(), ty.lanes) {
        (128, _) => input.extend([low, high]),
        (_, 2) => input.push(low | high << ty.bits),
        // What is above a number in its register is of no meaning.
        (32, _) if ty.bits == 8 => input.push(low & 0xff | high.wrapping_mul(0x9e37_79b1) << 8 & 0xffff_ff00),
        _ => input.push(low),
    }
}

fn drawn(types: &[Type], edges: &[Vec<u64>], random: &mut Random, input: &mut Vec<u64>) {
    let mut before = [0; 2];
    for (ty, edges) in types.iter().zip(edges) {
        let mut one = |before: u64| match random.below(8) {
            0 => random.one_of(edges),
            _ => number(*ty, before, random),
        };
        before = [one(before[0]), one(before[1])];
        put(*ty, before, input);
    }
}

/// A number that is drawn, perhaps near another one.
fn number(ty: Type, before: u64, random: &mut Random) -> u64 {
    match (ty.class, ty.kind) {
        (Class::Shift, _) => random.below(72),
        (Class::Lane, _) => random.below(32),
        (Class::Clamp, _) => {
            let any = random.below(32);
            random.one_of(&[0, 16, 24, 28, 30, 31]) << 8 | random.one_of(&[0, 0, 31, 31, any])
        }
        (Class::Few, _) => random.below(3),
        (Class::Small, _) => random.between(-35, 35) as u64 & mask(ty.bits),
        (Class::UpTo(most), Kind::Float(format)) => {
            let all = f64::from(most) * (2.0 * random.unit() - 1.0);
            format.rounded(all * random.one_of(&[1.0, 1.0, 0.1, 0.02, 1e-4]))
        }
        (_, Kind::Float(format)) => float(format, before, random),
        (_, Kind::Predicate) => random.below(2),
        _ => whole(ty.bits, before, random),
    }
}

fn whole(bits: u32, before: u64, random: &mut Random) -> u64 {
    let number = match random.below(4) {
        0 => random.bits(),
        1 => before.wrapping_add(random.between(-3, 3) as u64),
        2 => random.bits() >> random.below(64),
        _ => (random.bits() >> random.below(64)).wrapping_neg(),
    };
    number & mask(bits)
}

fn float(format: Format, before: u64, random: &mut Random) -> u64 {
    let fraction = random.bits() & mask(format.fraction);
    let sign = random.bits() & format.sign();
    let power = match random.below(5) {
        0 => return random.bits() & mask(format.bits()),
        // Near the number before, so that much of a sum cancels, or all of it.
        1 => {
            let near = (before >> format.fraction & mask(format.exponent)) as i64 + random.between(-2, 2);
            if random.below(3) == 0 {
                return before & mask(format.bits()) ^ sign ^ random.below(3);
            }
            near
        }
        2 => (before >> format.fraction & mask(format.exponent)) as i64 + random.between(-70, 70),
        _ => (format.one() >> format.fraction) as i64 + random.between(-35, 35),
    };
    let power = power.clamp(0, mask(format.exponent) as i64 - 1) as u64;
    // A tie of a rounding to fewer bits, or what is next to one.
    let fraction = match random.below(2) {
        0 => {
            let below = random.below(u64::from(format.fraction));
            let tie = fraction >> below << below | (1 << below) >> 1;
            (tie as i64 + random.between(-1, 1)) as u64 & mask(format.fraction)
        }
        _ => fraction,
    };
    sign | power << format.fraction | fraction
}

/// Edge values, the most important first.
fn edges(ty: Type) -> Vec<u64> {
    let all: Vec<u64> = match (ty.class, ty.kind) {
        (Class::Shift, _) => {
            vec![0, 1, 31, 32, 8, 16, 33, 63, 64, 65, 255, 256, 0xffff_ffff, 15, 17, 0x8000_0000, 257, 0x100 + 31]
        }
        (Class::Lane, _) => vec![0, 1, 31, 30, 16, 15, 17, 5],
        (Class::Clamp, _) => vec![31, 0, 0x1c1f, 0x1800, 0x1f1f, 0x100f],
        (Class::Few, _) => vec![0, 1, 2],
        (Class::Small, _) => vec![0, 1, 0xffff_ffff, 2, 0xffff_fffe, 32, 33, 0x7fff_ffff, 0x8000_0000],
        (_, Kind::Predicate) => vec![0, 1],
        (_, Kind::Float(format)) => floats(format),
        _ => wholes(ty.bits),
    };
    all.into_iter().map(|value| value & mask(ty.bits.clamp(32, 64))).collect()
}

fn wholes(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits.min(64) - 1);
    let mut all = vec![
        0,
        1,
        u64::MAX,
        top,
        top - 1,
        2,
        3,
        top + 1,
        top - 2,
        u64::MAX - 1,
        0x5555_5555_5555_5555,
        0xaaaa_aaaa_aaaa_aaaa,
    ];
    all.extend([10, 7, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
    for power in [7, 8, 15, 16, 24, 31, 32, 33, 53, 62, 63].into_iter().filter(|power| *power < bits) {
        let one = 1u64 << power;
        all.extend([one, one - 1, one + 1, one.wrapping_neg(), one.wrapping_neg() - 1]);
    }
    // What is rounded to an f32, an f64, an f16: ties, and beside them.
    for (power, below) in
        [(31, 7), (24, 0), (60, 36), (62, 9), (12, 0)].into_iter().filter(|(power, _)| power + 1 < bits)
    {
        let tie = 1u64 << power | 1 << below;
        all.extend([tie, tie - 1, tie + 1, tie + (2 << below), tie.wrapping_neg()]);
    }
    distinct(all, mask(bits))
}

fn floats(format: Format) -> Vec<u64> {
    let (infinity, one) = (format.infinity(), format.one());
    let quiet = 1 << (format.fraction - 1);
    let magnitudes = [
        0,
        one,
        infinity,
        infinity | quiet,
        infinity - 1,
        1,
        format.least_normal(),
        format.least_normal() - 1,
        infinity | 1,
    ];
    let mut all: Vec<u64> = magnitudes.iter().flat_map(|bits| [*bits, bits | format.sign()]).collect();
    all.extend([
        infinity | quiet | 5,
        format.sign() | infinity | mask(format.fraction),
        one + 1,
        one - 1,
        infinity | (quiet - 1),
    ]);
    let mut numbers =
        vec![0.5, 2.0, 1.5, 2.5, 3.0, 0.25, 0.75, 3.5, 1e-3, 10.0, std::f64::consts::PI, std::f64::consts::FRAC_PI_2];
    for power in [7, 8, 15, 16, 31, 32, 63, 64, 10, 11, 23, 24, 52, 53, 126, 127] {
        let limit = two_to(power);
        numbers.extend([limit, limit - 0.5, limit - 1.0, limit + 0.5, limit + 1.0]);
    }
    // Limits of shorter floats.
    numbers.extend([
        65_504.0, 65_519.0, 65_520.0, 448.0, 464.0, 465.0, 57_344.0, 61_440.0, 61_441.0, 6e-8, 3e-8, 2.9e-8, 6.1e-5,
    ]);
    numbers.extend([
        two_to(-6),
        two_to(-9),
        two_to(-10),
        1.5 * two_to(-10),
        two_to(-14),
        two_to(-16),
        two_to(-17),
        two_to(-24),
        two_to(-25),
        two_to(-149),
        two_to(-150),
    ]);
    for number in numbers {
        let bits = format.rounded(number);
        all.extend([bits, bits | format.sign(), bits + 1, bits.wrapping_sub(1)]);
    }
    distinct(all, mask(format.bits()))
}

fn distinct(all: Vec<u64>, mask: u64) -> Vec<u64> {
    let mut seen = std::collections::BTreeSet::new();
    all.into_iter().map(|bits| bits & mask).filter(|bits| seen.insert(*bits)).collect()
}
