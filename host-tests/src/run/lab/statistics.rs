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
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
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
    bootstrap(|random| median(&resample(samples, random)), median(samples)?)
}

/// How the medians of two sets of samples compare, by a bootstrap.
pub fn compare(left: &[f64], right: &[f64], by: Compare) -> Option<Estimate> {
    let middle = by.of(median(left)?, median(right)?);
    let once = |random: &mut StdRng| {
        let (left, right) = (resample(left, random), resample(right, random));
        Some(by.of(median(&left)?, median(&right)?))
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
}
