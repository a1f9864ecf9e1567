//! What a latency tells: thresholds between L1, L2 and memory, from probes of this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bench::{Bench, Sweep};
use super::line::{Line, Lines};
use super::statistics::{median, threshold};
use super::thresholds::{Cut, Thresholds};
use crate::device::{Asked, Fault};

/// So many of the samples may be on the wrong side of a threshold.
const WRONG: f64 = 0.05;

/// Two multiprocessors whose latencies, line by line, go against each other so much are near to different parts of L2.
const AGAINST: f64 = -0.3;

/// Warms up, finds the thresholds, and writes what they come from.
pub fn calibrate(bench: &Bench<'_>, lines: &mut Lines<'_>, warm_up: Duration) -> Asked<Thresholds> {
    bench.warm_up(warm_up)?;
    let l2 = bench.about().l2;
    let steps = bench.steps(4096);
    let buffer = bench.device().allocate(8 * l2)?;
    let latencies = |place: &str, multiprocessor: u32, bytes: u64, clocks: &[u32]| Line::Latencies {
        place: place.to_owned(),
        multiprocessor,
        bytes,
        clocks: count(clocks).into_iter().collect(),
    };
    let mut write = |line: Line| lines.write(&line).map_err(Fault::new);

    // L1: the second time through a few lines.
    let few = 64;
    let ring = bench.ring(buffer.address, &bench.places(few, 128))?;
    let twice = bench.chase("chase_weak", 0, ring, 2 * few)?;
    let (first, l1) = twice.split_at(few as usize);
    write(latencies("l1", 0, u64::from(few) * 128, l1))?;
    write(latencies("first", 0, u64::from(few) * 128, first))?;

    // How much L1 there is beside the shared memory: the second time through more and more lines.
    let kibibytes = bench.sizes(&[8u64, 16, 32, 64, 96, 128, 160, 192, 224, 256], &[]);
    for bytes in kibibytes.into_iter().map(|kibibytes| kibibytes << 10).filter(|bytes| *bytes <= buffer.bytes) {
        let count = (bytes / 128) as u32;
        let ring = bench.ring(buffer.address, &bench.places(count, 128))?;
        let second = bench.chase("chase_weak", 0, ring, 2 * count)?.split_off(count as usize);
        write(latencies("l1 sweep", 0, bytes, &second))?;
    }

    // L2: an eighth of it, read before; the memory: eight times as much, of which the newest eighth is elsewhere.
    let eighth = (l2 / 8).max(1024);
    let ring = bench.ring(buffer.address, &bench.spread(eighth, steps))?;
    bench.sweep(Sweep::Plain, buffer.address, eighth)?;
    let near = bench.chase("chase_cg", 0, ring, steps)?;
    write(latencies("l2", 0, eighth, &near))?;
    let ring = bench.ring(buffer.address, &bench.spread(4 * l2, steps))?;
    bench.flush()?;
    let dram = bench.chase("chase_cg", 0, ring, steps)?;
    write(latencies("memory", 0, 4 * l2, &dram))?;

    // The sweep: how much of it is still L2.
    for part in bench.sizes(&[1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24], &[]) {
        let bytes = (l2 * part / 15).max(1024);
        let ring = bench.ring(buffer.address, &bench.spread(bytes, steps))?;
        for _ in 0..2 {
            bench.sweep(Sweep::Plain, buffer.address, bytes)?;
        }
        write(latencies("sweep", 0, bytes, &bench.chase("chase_cg", 0, ring, steps)?))?;
    }

    let found = Thresholds {
        l1: cut(l1, &near),
        l2: cut(&near, &dram),
        multiprocessor: 0,
        other: other_part(bench, buffer.address)?,
        far: None,
    };
    let found = match found.other {
        Some(other) => {
            let places = bench.spread(eighth, steps);
            let ring = bench.ring(buffer.address, &places)?;
            bench.sweep(Sweep::Plain, buffer.address, eighth)?;
            let [own, others] =
                [bench.chase("chase_cg", 0, ring, steps)?, bench.chase("chase_cg", other, ring, steps)?];
            write(latencies("l2", other, eighth, &others))?;
            Thresholds { far: far(&own, &others), ..found }
        }
        None => found,
    };
    write(Line::Thresholds(found.clone()))?;
    Ok(found)
}

/// How often each latency is seen.
fn count(clocks: &[u32]) -> BTreeMap<u32, u32> {
    let mut counted = BTreeMap::new();
    for clock in clocks {
        *counted.entry(*clock).or_insert(0) += 1;
    }
    counted
}

/// The threshold between two sets of latencies, if they can be told apart.
pub fn cut(low: &[u32], high: &[u32]) -> Option<Cut> {
    let of = |clocks: &[u32]| clocks.iter().map(|clock| f64::from(*clock)).collect::<Vec<_>>();
    let (at, wrong) = threshold(&of(low), &of(high))?;
    (wrong <= WRONG).then_some(Cut { at, wrong })
}

/// Lines that the one is nearer to than the other are near to it: these part its latencies.
fn far(own: &[u32], others: &[u32]) -> Option<Cut> {
    let (near, far): (Vec<_>, Vec<_>) = own.iter().zip(others).partition(|(own, others)| own < others);
    let own = |pairs: &[(&u32, &u32)]| pairs.iter().map(|(own, _)| **own).collect::<Vec<_>>();
    cut(&own(&near), &own(&far))
}

/// A multiprocessor that is near to the lines that the first one is far from.
fn other_part(bench: &Bench<'_>, buffer: u64) -> Asked<Option<u32>> {
    let count = bench.steps(512).min(512);
    let ring = bench.ring(buffer, &bench.places(count, 4096))?;
    bench.chase("chase_cg", 0, ring, count)?;
    let own = bench.chase("chase_cg", 0, ring, count)?;
    for other in 1..bench.about().processors {
        let others = bench.chase("chase_cg", other, ring, count)?;
        if correlation(&own, &others).is_some_and(|found| found < AGAINST) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// How two sets of latencies go together: 1 if alike, -1 if against each other; nothing if one never changes. What is
/// further out than twice the median is no latency of L2, and does not count.
fn correlation(one: &[u32], other: &[u32]) -> Option<f64> {
    let of = |clocks: &[u32]| clocks.iter().map(|clock| f64::from(*clock)).collect::<Vec<_>>();
    let (one, other) = (of(one), of(other));
    let most = 2.0 * median(&one)?.max(median(&other)?);
    let pairs: Vec<_> = one.iter().zip(&other).filter(|(one, other)| **one < most && **other < most).collect();
    let mean = |pick: fn(&(&f64, &f64)) -> f64| pairs.iter().map(pick).sum::<f64>() / pairs.len() as f64;
    let (first, second) = (mean(|pair| *pair.0), mean(|pair| *pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(a, b)| of(**a - first, **b - second)).sum::<f64>();
    let found = sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_that_cannot_be_told_apart_have_no_threshold() {
        assert_eq!(cut(&[200, 210, 220], &[500, 520]), Some(Cut { at: 360.0, wrong: 0.0 }));
        assert_eq!(cut(&[200, 510, 220], &[500, 220]), None);
        assert_eq!(cut(&[], &[500]), None);
    }

    #[test]
    fn multiprocessors_of_different_parts_go_against_each_other() {
        let own = [200, 300, 200, 300, 205, 305, 5000];
        assert!(correlation(&own, &[300, 200, 301, 199, 300, 200, 210]).is_some_and(|found| found < -0.9));
        assert!(correlation(&own, &[201, 301, 199, 299, 200, 300, 210]).is_some_and(|found| found > 0.9));
        assert_eq!(correlation(&own, &[200; 7]), None);
    }

    #[test]
    fn near_and_far_are_told_by_the_other_multiprocessor() {
        let (own, others) = ([200, 310, 202, 305], [300, 205, 299, 201]);
        assert_eq!(far(&own, &others), Some(Cut { at: 253.5, wrong: 0.0 }));
        assert_eq!(far(&own, &own), None);
    }
}
