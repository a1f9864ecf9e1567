//! How a tensor core sums products of floats, as an H100 does it. The ISA leaves it open.
//!
//! The products of a step and what they are added to are aligned to the largest of their exponents. What is below some bits after
//! the point is cut off, the rest is summed exactly. An `f32` is cut off once more, an `f16` is rounded to the nearest.

use super::element::Element;
use crate::cpu::odd::odd_sum;

/// How an instruction sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// The sum is rounded once.
    Exact,
    /// All products in one step, with so many bits after the point. No `f32` keeps more of them.
    One(i32),
    /// `mma.sync` of FP8, for which `ptxas` converts to `f16`: of four neighbours along the depth the first two, in a step with
    /// zero, then the others. What is added comes last, rounded to the nearest.
    Two,
    /// `mma.sync.m8n8k4` of `f16`, for which `ptxas` multiplies and adds `f32`s: to an `f32` all four products, and to an `f16` two
    /// and two, and then adds them to the third matrix.
    Fused,
}

/// Bits after the point that are summed of floats of at least sixteen bits.
const WIDE: i32 = 25;
/// And of FP8.
const NARROW: i32 = 13;
/// Bits after the point of an `f32`.
const FRACTION: i32 = 23;

/// By the type of the factors.
pub(super) fn of_warp(factor: Element) -> Steps {
    match factor {
        Element::Float(16) | Element::Brain | Element::Tf32 => Steps::One(WIDE),
        _ if factor.is_fp8() => Steps::Two,
        _ => Steps::Exact,
    }
}

pub(super) fn of_four_warps(factor: Element) -> Steps {
    if factor.is_fp8() { Steps::One(NARROW) } else { of_warp(factor) }
}

/// What is summed, with the exponents that the tensor core has for it: subnormal numbers have that of the least normal one.
pub(super) struct Terms<'a> {
    pub(super) to: Element,
    pub(super) from: Element,
    pub(super) factors: [Element; 2],
    pub(super) added: f64,
    pub(super) row: &'a [f64],
    pub(super) column: &'a [f64],
}

impl Terms<'_> {
    /// The sum, or nothing where it is exact.
    #[inline]
    pub(super) fn sum(&self, steps: Steps) -> Option<u64> {
        let Terms { to, from, added, .. } = *self;
        Some(match steps {
            Steps::Exact => return None,
            Steps::One(bits) => {
                let first = (added, exponent(from, added));
                let lost = (FRACTION - bits).max(0) as u32;
                result(to, aligned(|| self.products(|_| true).chain([first]), bits), lost)
            }
            Steps::Two => {
                let mut sum = 0.0;
                for part in [0, 1] {
                    let first = (sum, exponent(to, sum));
                    let terms = || self.products(move |at| at / 2 % 2 == part).chain([first]);
                    sum = to.number(result(to, aligned(terms, WIDE), 0));
                }
                to.rounded(added + sum, false)
            }
            Steps::Fused => {
                let each = if to == Element::Float(32) { 4 } else { 2 };
                let parts = (0..4 / each).map(|part| fused(self.products(move |at| at / each == part)));
                to.rounded(f64::from(parts.fold(added as f32, |sum, part| sum + part)), false)
            }
        })
    }

    /// Products of some places along the depth, and their exponents.
    #[inline]
    fn products(&self, has: impl Fn(usize) -> bool) -> impl Iterator<Item = (f64, i32)> {
        let [a, b] = self.factors;
        let pairs = self.row.iter().zip(self.column).enumerate().filter(move |(at, _)| has(*at));
        pairs.map(move |(_, (x, y))| (x * y, exponent(a, *x) + exponent(b, *y)))
    }
}

/// The exponent of a number that is normal as an `f64`, at least that of the least normal number of its type.
#[inline]
fn exponent(element: Element, number: f64) -> i32 {
    ((number.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(element.least_exponent())
}

#[inline]
fn two_to(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A chain of multiply-adds of `f32`, which begins with zero.
fn fused(products: impl Iterator<Item = (f64, i32)>) -> f32 {
    products.fold(0.0, |sum, (product, _)| odd_sum(f64::from(sum), product) as f32)
}

/// The sum of terms after they were aligned.
fn aligned<I: Iterator<Item = (f64, i32)>>(terms: impl Fn() -> I, bits: i32) -> f64 {
    let (mut most, mut is_finite) = (None, true);
    for (number, exponent) in terms().filter(|(number, _)| *number != 0.0) {
        most = most.max(Some(exponent));
        is_finite &= number.is_finite();
    }
    let Some(most) = most else { return 0.0 };
    // An infinity stays one.
    if !is_finite {
        return terms().map(|(number, _)| number).sum();
    }
    let (unit, units) = (two_to(most - bits), two_to(bits - most));
    // The conversion cuts off.
    let sum: i64 = terms().map(|(number, _)| (number * units) as i64).sum();
    sum as f64 * unit
}

/// A zero has no sign.
#[inline]
fn result(to: Element, sum: f64, lost: u32) -> u64 {
    if to != Element::Float(32) {
        let rounded = to.rounded(sum, false);
        return if to.number(rounded) == 0.0 { 0 } else { rounded };
    }
    let nearest = sum as f32;
    let is_beyond = f64::from(nearest).abs() > sum.abs() && sum.abs() < two_to(128);
    let bits = nearest.to_bits() - u32::from(is_beyond);
    match bits >> lost << lost {
        _ if nearest.is_nan() => 0x7fff_ffff,
        bits if bits << 1 == 0 => 0,
        bits => bits.into(),
    }
}
