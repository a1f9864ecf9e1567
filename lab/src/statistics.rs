//! Medians and how sure they are.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// How sure an interval is: ninety-nine of a hundred hold the true value.
pub const CONFIDENCE: f64 = 0.99;

/// Samples of samples that an interval is made from.
const RESAMPLES: usize = 2000;

/// A number and the interval that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The middle: what the samples say.
    pub middle: f64,
    /// The least that it may be.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
}

/// How two medians are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// The first by the second.
    Ratio,
    /// The first less the second.
    Difference,
}

impl Compare {
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Compare::Ratio => left / right,
            Compare::Difference => left - right,
        }
    }

    /// Samples that would be equal to the first ones if these were so much by them.
    pub fn moved(self, second: &[f64], by: f64) -> Vec<f64> {
        let one = |sample: &f64| match self {
            Compare::Ratio => sample * by,
            Compare::Difference => sample + by,
        };
        second.iter().map(one).collect()
    }

    /// What it is of two equal numbers.
    pub fn equal(self) -> f64 {
        match self {
            Compare::Ratio => 1.0,
            Compare::Difference => 0.0,
        }
    }
}

/// The median; of an even number of samples the mean of the middle two.
pub fn median(samples: &[f64]) -> Option<f64> {
    median_of(samples.to_vec())
}

/// The same without a copy. It sorts no more than it has to: an interval takes thousands of medians.
fn median_of(mut samples: Vec<f64>) -> Option<f64> {
    let (middle, is_odd) = (samples.len() / 2, samples.len() % 2 == 1);
    if samples.is_empty() {
        return None;
    }
    let (below, upper, _) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if !is_odd => Some((lower + *upper) / 2.0),
        _ => Some(*upper),
    }
}

/// The sample below which so large a part of them is.
pub fn quantile(samples: &[f64], part: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(at.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
}

/// The median of samples, by a bootstrap.
pub fn estimate(samples: &[f64]) -> Option<Estimate> {
    bootstrap(|random| median_of(resample(samples, random)), median(samples)?)
}

/// How the medians of two sets of samples compare, by a bootstrap.
pub fn compare(left: &[f64], right: &[f64], by: Compare) -> Option<Estimate> {
    let middle = by.of(median(left)?, median(right)?);
    let once = |random: &mut StdRng| {
        let (left, right) = (resample(left, random), resample(right, random));
        Some(by.of(median_of(left)?, median_of(right)?))
    };
    bootstrap(once, middle)
}

fn resample(samples: &[f64], random: &mut StdRng) -> Vec<f64> {
    (0..samples.len()).map(|_| samples[random.random_range(0..samples.len())]).collect()
}

fn bootstrap(mut once: impl FnMut(&mut StdRng) -> Option<f64>, middle: f64) -> Option<Estimate> {
    // The same samples give the same interval, on every machine.
    let mut random = StdRng::seed_from_u64(0x1ab);
    let values: Vec<f64> = (0..RESAMPLES).map(|_| once(&mut random)).collect::<Option<_>>()?;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let (low, high) = (quantile(&values, tail)?, quantile(&values, 1.0 - tail)?);
    (middle.is_finite() && low.is_finite() && high.is_finite()).then_some(Estimate { middle, low, high })
}

/// How likely it is that the first samples are as far above the second ones as they are, or farther, if all are of the same:
/// the rank-sum test of Mann, Whitney and Wilcoxon, by counting, so it is exact for few samples and for equal ones too.
pub fn above(first: &[f64], second: &[f64]) -> f64 {
    if first.iter().chain(second).any(|sample| !sample.is_finite()) || first.is_empty() || second.is_empty() {
        return 1.0;
    }
    let mut all: Vec<f64> = first.iter().chain(second).copied().collect();
    all.sort_by(f64::total_cmp);
    // Twice the rank, which is whole also in the middle of equal ones.
    let rank = |sample: &f64| all.partition_point(|one| one < sample) + all.partition_point(|one| one <= sample) + 1;
    let found: usize = first.iter().map(rank).sum();
    // How many choices of so many samples have that sum of ranks.
    let most: usize = all.iter().map(rank).sum();
    let mut ways = vec![vec![0.0; most + 1]; first.len() + 1];
    ways[0][0] = 1.0;
    for rank in all.iter().map(rank) {
        for chosen in (1..=first.len()).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            more[0][rank..].iter_mut().zip(&fewer[chosen - 1]).for_each(|(ways, others)| *ways += others);
        }
    }
    let of = &ways[first.len()];
    of[found.min(most)..].iter().sum::<f64>() / of.iter().sum::<f64>()
}

/// How likely it is that as many samples are at least that, or more, if half of all are below it: the sign test.
pub fn at_least(samples: &[f64], bound: f64) -> f64 {
    if samples.is_empty() {
        return 1.0;
    }
    let (all, found) = (samples.len(), samples.iter().filter(|sample| **sample >= bound).count());
    let mut ways = vec![1.0];
    for _ in 0..all {
        let more = |at: usize| ways.get(at).unwrap_or(&0.0) + if at > 0 { ways[at - 1] } else { 0.0 };
        ways = (0..=ways.len()).map(more).collect();
    }
    ways[found..].iter().sum::<f64>() / ways.iter().sum::<f64>()
}

/// The chances of several findings, corrected for their number as Holm did: where all that are below a bound are told, the
/// chance that even one of them is wrong is below it too.
pub fn together(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|one, other| chances[*one].total_cmp(&chances[*other]));
    let (mut corrected, mut least) = (vec![1.0; chances.len()], 0.0_f64);
    for (at, one) in order.into_iter().enumerate() {
        least = least.max(chances[one] * (chances.len() - at) as f64).min(1.0);
        corrected[one] = least;
    }
    corrected
}

/// The threshold that parts low samples from high ones best, and the part of them on its wrong side. It is in the middle of
/// the gap, if there is one.
pub fn threshold(low: &[f64], high: &[f64]) -> Option<(f64, f64)> {
    let mut all: Vec<(f64, bool)> =
        low.iter().map(|at| (*at, false)).chain(high.iter().map(|at| (*at, true))).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let total = all.len() as f64;
    // Above everything: each high sample is on the wrong side. Then the threshold moves up from below everything.
    let mut wrong = low.len();
    let mut best: Option<(usize, f64)> = None;
    for pair in all.windows(2) {
        wrong = if pair[0].1 { wrong + 1 } else { wrong - 1 };
        if pair[0].0 < pair[1].0 && best.is_none_or(|(least, _)| wrong < least) {
            best = Some((wrong, f64::midpoint(pair[0].0, pair[1].0)));
        }
    }
    best.filter(|_| !low.is_empty() && !high.is_empty()).map(|(wrong, at)| (at, wrong as f64 / total))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples around a number, of a bell's shape.
    fn samples(middle: f64, noise: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = StdRng::seed_from_u64(seed);
        let mut bell = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (0..count).map(|_| middle + noise * bell()).collect()
    }

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 30.0]), Some(3.0));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 1.0), Some(4.0));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.0), Some(1.0));
    }

    /// Of a hundred sets of samples, nearly all intervals hold the true value, and they are not all of the world.
    #[test]
    fn intervals_hold_the_true_value_as_often_as_they_say() {
        let mut held = 0;
        for seed in 0..100 {
            let found = estimate(&samples(10.0, 1.0, 15, seed)).expect("there are samples");
            assert!(
                found.low <= found.middle && found.middle <= found.high && found.high - found.low < 3.0,
                "{found:?}"
            );
            held += u32::from(found.low <= 10.0 && 10.0 <= found.high);
        }
        assert!(held >= 95, "{held} of 100");
    }

    #[test]
    fn a_ratio_and_a_difference_are_of_the_medians() {
        let (left, right) = (samples(20.0, 0.1, 15, 1), samples(10.0, 0.1, 15, 2));
        let ratio = compare(&left, &right, Compare::Ratio).expect("there are samples");
        assert!(ratio.low < 2.0 && 2.0 < ratio.high && ratio.high - ratio.low < 0.1, "{ratio:?}");
        let difference = compare(&left, &right, Compare::Difference).expect("there are samples");
        assert!(
            difference.low < 10.0 && 10.0 < difference.high && difference.high - difference.low < 1.0,
            "{difference:?}"
        );
        assert_eq!(compare(&left, &[], Compare::Ratio), None);
        assert_eq!(compare(&[1.0], &[0.0], Compare::Ratio), None);
    }

    #[test]
    fn a_threshold_is_in_the_gap_and_says_what_it_gets_wrong() {
        assert_eq!(threshold(&[1.0, 2.0, 3.0], &[7.0, 8.0]), Some((5.0, 0.0)));
        assert_eq!(threshold(&[1.0, 2.0, 9.0, 3.0], &[7.0, 8.0, 7.5, 6.0]), Some((4.5, 0.125)));
        assert_eq!(threshold(&[1.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(threshold(&[], &[1.0, 2.0]), None);
    }

    #[test]
    fn chances_are_those_of_the_tables() {
        // Two of two, of six choices; equal samples say nothing; of fifteen and fifteen one choice is as far.
        assert_eq!(above(&[3.0, 4.0], &[1.0, 2.0]), 1.0 / 6.0);
        assert_eq!(above(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(above(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(above(&[], &[1.0]), 1.0);
        // As in a table of Mann and Whitney: U = 5 of 5 and 5 samples.
        assert!((above(&[3.0, 5.0, 8.0, 9.0, 10.0], &[1.0, 2.0, 4.0, 6.0, 7.0]) - 19.0 / 252.0).abs() < 1e-12);
        let fifteen = |from: u32| (from..from + 15).map(f64::from).collect::<Vec<_>>();
        assert!((above(&fifteen(15), &fifteen(0)) - 1.0 / 155_117_520.0).abs() < 1e-15);
        assert_eq!(at_least(&[1.0, 1.0, 0.0], 1.0), 0.5);
        assert_eq!(at_least(&[1.0; 10], 0.9), 1.0 / 1024.0);
    }

    #[test]
    fn holm_corrects_each_chance_by_those_that_are_left() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert!(found.len() == expected.len());
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
        };
        close(together(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(together(&[0.5, 0.9]), &[1.0, 1.0]);
        close(together(&[0.004]), &[0.004]);
        assert_eq!(together(&[]), [0.0; 0]);
    }

    /// Twenty comparisons of samples of the same: alone some are told every fifth time or so, together hardly ever; and one
    /// that differs is told among them.
    #[test]
    fn of_many_comparisons_none_is_told_by_chance() {
        let (mut alone, mut corrected, mut told) = (0, 0, 0);
        for family in 0..60 {
            let pair = |at: u64, middle: f64| {
                let seed = family * 1000 + 2 * at;
                let (one, other) = (samples(middle, 1.0, 10, seed), samples(10.0, 1.0, 10, seed + 1));
                2.0 * above(&one, &other).min(above(&other, &one))
            };
            let mut chances: Vec<f64> = (0..20).map(|at| pair(at, 10.0)).collect();
            let some = |chances: &[f64]| chances.iter().any(|chance| *chance < 1.0 - CONFIDENCE);
            alone += u32::from(some(&chances));
            corrected += u32::from(some(&together(&chances)));
            chances.push(pair(20, 14.0));
            told += u32::from(together(&chances)[20] < 1.0 - CONFIDENCE);
        }
        assert!(alone > 4 && corrected <= 2 && told == 60, "{alone}, {corrected}, {told} of 60");
    }
}
