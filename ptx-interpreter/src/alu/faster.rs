//! What the host computes with its own floats, where it comes to the same as LLVM's software floats: many times as fast. Lanes of which
//! that is not sure are computed exactly after that.

use super::words::{Alu, SOURCES, vectors};
use crate::machine::lanes::{LANES, Lanes};

pub(super) const NAN: u64 = 0x7fff_ffff;
pub(super) const TOP: u64 = 1 << 31;

/// Makes an instruction faster.
pub(super) type Faster = Box<dyn FnOnce(Alu) -> Alu>;

/// An instruction, and faster if the host can do it.
pub(super) fn faster(exact: Alu, by: Option<Faster>) -> Alu {
    match by {
        Some(faster) => faster(exact),
        None => exact,
    }
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
        let apply = vectors(move |sources, to, _, lane| to[lane] = of(std::array::from_fn(|at| sources[at][lane])));
        Alu { apply, ..exact }
    })
}

/// It is right if it is a number: which NaN it is depends on more.
pub(super) fn numbers<const N: usize>(of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Faster {
    quick(of, |result| !f64::from_bits(result).is_nan())
}

/// It is right, but for what is flushed: the least normal number and less.
pub(super) fn normal<const N: usize>(flushed: bool, of: impl Fn([u64; N]) -> u64 + Send + Sync + 'static) -> Faster {
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
        let first = vectors(move |sources, to, unsure, lane| {
            let result = of(std::array::from_fn(|at| sources[at][lane]));
            (to[lane], unsure[lane]) = (result, u64::from(!is_sure(result)));
        });
        let then = exact.apply;
        let apply = Box::new(move |sources: &[&Lanes; SOURCES], to: &mut Lanes, unsure: &mut Lanes, mask: u32| {
            first(sources, to, unsure, mask);
            if unsure.iter().fold(0, |any, unsure| any | unsure) != 0 {
                let lanes = (0..LANES).fold(0, |all, lane| all | (unsure[lane] as u32 & 1) << lane);
                then(sources, to, unsure, lanes & mask);
            }
        });
        Alu { apply, ..exact }
    })
}
