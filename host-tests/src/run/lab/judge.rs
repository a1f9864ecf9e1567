//! What the lines prove: each expectation is proved, refuted or not decided, with an interval, and an effect counts only
//! beyond what two measurements of the same thing differ by.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::line::{About, Labels, Line, Run};
use super::statistics::{Compare, Estimate, compare, estimate};
use super::thresholds::Thresholds;

/// The results of a run, by case.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The machine and the plan.
    pub run: Run,
    /// The latencies of each place, in the order of the lines.
    pub latencies: Vec<Latencies>,
    /// Where latencies part.
    pub thresholds: Thresholds,
    /// Every case.
    pub cases: Vec<About>,
    /// Every failure: experiment, case, why.
    pub failures: Vec<(char, String, String)>,
    /// Every counter: experiment, case, kernel, metric, unit, value.
    pub counters: Vec<Counter>,
    /// How each experiment ended: whole repetitions, and why it was cut short.
    pub ends: BTreeMap<char, (u32, Option<String>)>,
    samples: BTreeMap<(char, String, String), Vec<f64>>,
    /// What was measured twice, and by how much that may differ, by experiment, metric and way to compare.
    noise: RefCell<BTreeMap<(char, String, Compare), Noise>>,
}

/// The labels of each case that was measured twice, and what the two may differ by.
type Noise = Vec<(Labels, f64)>;

/// The latencies of one probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Where the links were.
    pub place: String,
    /// The multiprocessor that followed them.
    pub multiprocessor: u32,
    /// The bytes that they were spread over.
    pub bytes: u64,
    /// How often each was seen.
    pub clocks: BTreeMap<u32, u32>,
}

/// A counter of the profiler's.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The experiment.
    pub experiment: char,
    /// The case.
    pub case: String,
    /// The kernel.
    pub kernel: String,
    /// The profiler's name for it.
    pub metric: String,
    /// The profiler's unit.
    pub unit: String,
    /// How much it was.
    pub value: f64,
}

impl Results {
    /// Those of some lines.
    pub fn of(lines: &[Line]) -> Results {
        let mut all = Results::default();
        for line in lines.iter().cloned() {
            match line {
                // A run for each experiment, in a bundle: the thresholds are those of the last.
                Line::Run(run) => {
                    all.run = run;
                    all.latencies.clear();
                }
                Line::Latencies { place, multiprocessor, bytes, clocks } => {
                    let clocks = clocks.into_iter().collect();
                    all.latencies.push(Latencies { place, multiprocessor, bytes, clocks });
                }
                Line::Thresholds(found) => all.thresholds = found,
                // One that is measured once more, after it was cut short, is the same case.
                Line::Case(about) => all.cases.extend((!all.cases.contains(&about)).then_some(about)),
                Line::Sample { experiment, case, metric, value, .. } => {
                    all.samples.entry((experiment, case, metric)).or_default().push(value);
                }
                Line::Failed { experiment, case, why } => all.failures.push((experiment, case, why)),
                Line::Launched { .. } => {}
                Line::Counter { experiment, case, kernel, metric, unit, value } => {
                    all.counters.push(Counter { experiment, case, kernel, metric, unit, value });
                }
                Line::Done { experiment, repetitions, why, .. } => {
                    all.ends.insert(experiment, (repetitions, why));
                }
            }
        }
        all
    }

    /// What was measured of a case.
    pub fn samples(&self, case: &About, metric: &str) -> &[f64] {
        let key = (case.experiment, case.case.clone(), metric.to_owned());
        self.samples.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The median of what was measured of a case.
    pub fn estimate(&self, case: &About, metric: &str) -> Option<Estimate> {
        estimate(self.samples(case, metric))
    }

    /// The cases of an experiment that have these labels, twins left out.
    pub fn with<'r>(&'r self, experiment: char, labels: &'r [(&'r str, &'r str)]) -> impl Iterator<Item = &'r About> {
        let own = self.cases.iter().filter(move |case| case.experiment == experiment && case.twin_of.is_none());
        own.filter(|case| has(&case.labels, labels))
    }

    /// How much two measurements of the same thing may differ in an experiment, of the cases with these labels, or of all
    /// if none of these was measured twice.
    pub fn floor(&self, experiment: char, labels: &Labels, metric: &str, by: Compare) -> Option<f64> {
        let mut noise = self.noise.borrow_mut();
        let key = (experiment, metric.to_owned(), by);
        let pairs = noise.entry(key).or_insert_with(|| self.noise(experiment, metric, by));
        let has = |(own, _): &&(Labels, f64)| labels.iter().all(|(label, value)| own.get(label) == Some(value));
        let most = |pairs: &mut dyn Iterator<Item = &(Labels, f64)>| pairs.map(|(_, most)| *most).reduce(f64::max);
        most(&mut pairs.iter().filter(has)).or_else(|| most(&mut pairs.iter()))
    }

    fn noise(&self, experiment: char, metric: &str, by: Compare) -> Noise {
        let twins = self.cases.iter().filter(|case| case.experiment == experiment);
        let pairs = twins.filter_map(|twin| {
            let of = twin.twin_of.as_ref()?;
            let case = self.cases.iter().find(|case| case.experiment == experiment && case.case == *of)?;
            let found = compare(self.samples(case, metric), self.samples(twin, metric), by)?;
            let most = (found.low - by.equal()).abs().max((found.high - by.equal()).abs());
            Some((case.labels.clone(), most))
        });
        pairs.collect()
    }
}

fn has(labels: &Labels, wanted: &[(&str, &str)]) -> bool {
    wanted.iter().all(|(label, value)| labels.get(*label).is_some_and(|has| has == value))
}

/// What is expected of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// More than if there were no effect.
    Above,
    /// Less than if there were no effect.
    Below,
    /// In this range.
    Within(f64, f64),
}

/// Something expected of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The experiment.
    pub experiment: char,
    /// In words.
    pub says: &'static str,
    /// What was measured.
    pub metric: &'static str,
    /// The case that it is about.
    pub left: &'static [(&'static str, &'static str)],
    /// What it is compared with, and how; without, the number itself counts.
    pub right: Option<(&'static [(&'static str, &'static str)], Compare)>,
    /// What is expected.
    pub expected: Expected,
    /// The labels that it is told for each value of.
    pub each: &'static [&'static str],
    /// Only of GPUs with this in their name.
    pub only: &'static str,
}

/// Whether an expectation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of the interval agrees, beyond the noise.
    Proved,
    /// All of the interval disagrees, beyond the noise.
    Refuted,
    /// The effect is no larger than the noise, or the interval is too wide.
    NotDistinguishable,
    /// There are no samples.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Verdict::Proved => "proved",
            Verdict::Refuted => "refuted",
            Verdict::NotDistinguishable => "not distinguishable",
            Verdict::NotMeasured => "not measured",
        })
    }
}

/// What was found of a claim.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The claim.
    pub claim: Claim,
    /// Of which sizes and kernels.
    pub of: Labels,
    /// The number, if there is one.
    pub found: Option<Estimate>,
    /// What two measurements of the same thing may differ by; none where nothing is compared.
    pub floor: Option<f64>,
    /// Whether it holds.
    pub verdict: Verdict,
}

/// Whether an expectation holds of a number. An effect of which nobody knows the noise is not told from it.
fn verdict(expected: Expected, found: Estimate, equal: f64, floor: Option<f64>) -> Verdict {
    let (agrees, disagrees) = match (expected, floor) {
        (Expected::Within(least, most), _) => {
            (found.low >= least && found.high <= most, found.high < least || found.low > most)
        }
        (_, None) => (false, false),
        (Expected::Above, Some(floor)) => (found.low > equal + floor, found.high < equal - floor),
        (Expected::Below, Some(floor)) => (found.high < equal - floor, found.low > equal + floor),
    };
    match (agrees, disagrees) {
        (true, _) => Verdict::Proved,
        (_, true) => Verdict::Refuted,
        _ => Verdict::NotDistinguishable,
    }
}

/// What the results say of a claim: once for each value of its labels, or once that nothing was measured.
pub fn judge(results: &Results, claim: Claim) -> Vec<Finding> {
    if !results.run.gpu.contains(claim.only) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for left in results.with(claim.experiment, claim.left) {
        let each = claim.each.iter().filter_map(|label| left.labels.get_key_value(*label));
        let of: Labels = each.map(|(label, value)| (label.clone(), value.clone())).collect();
        let samples = results.samples(left, claim.metric);
        let (found, equal, floor) = match claim.right {
            None => (estimate(samples), 0.0, None),
            Some((right, by)) => {
                let own: Vec<_> = of.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
                let right = results.with(claim.experiment, right).find(|case| has(&case.labels, &own));
                let right = right.map_or(&[][..], |case| results.samples(case, claim.metric));
                let floor = results.floor(claim.experiment, &of, claim.metric, by);
                (compare(samples, right, by), by.equal(), floor)
            }
        };
        let verdict = found.map_or(Verdict::NotMeasured, |found| verdict(claim.expected, found, equal, floor));
        findings.push(Finding { claim, of, found, floor, verdict });
    }
    if findings.is_empty() {
        let (of, verdict) = (Labels::new(), Verdict::NotMeasured);
        findings.push(Finding { claim, of, found: None, floor: None, verdict });
    }
    findings
}

/// What the results say of every claim of the experiments that were run.
pub fn judge_all(results: &Results) -> Vec<Finding> {
    let run: BTreeSet<char> = results.ends.keys().copied().collect();
    CLAIMS.iter().filter(|claim| run.contains(&claim.experiment)).flat_map(|claim| judge(results, *claim)).collect()
}

/// What taking some hints from a kernel did.
#[derive(Clone, Debug)]
pub struct Paid {
    /// The kernel.
    pub kernel: String,
    /// Its size, in sizes of L2.
    pub size: String,
    /// The hints that were taken away.
    pub without: String,
    /// The time without them by the time with them.
    pub ratio: Estimate,
    /// What two measurements of the same thing may differ by.
    pub floor: f64,
    /// Whether they pay: refuted means that they cost.
    pub verdict: Verdict,
}

/// When hints pay: for each worked kernel, size, and kind of hint.
pub fn paid(results: &Results) -> Vec<Paid> {
    let rows = results.with('J', &[("language", "rust")]).filter_map(|case| {
        let label = |name: &str| case.labels.get(name).cloned();
        let (kernel, size, without) = (label("kernel")?, label("size")?, label("without")?);
        let with = [("kernel", kernel.as_str()), ("size", &size), ("language", "rust"), ("without", "nothing")];
        let with = results.with('J', &with).find(|_| without != "nothing")?;
        let ratio = compare(results.samples(case, "seconds"), results.samples(with, "seconds"), Compare::Ratio)?;
        let of = Labels::from([("kernel".to_owned(), kernel.clone()), ("size".to_owned(), size.clone())]);
        let floor = results.floor('J', &of, "seconds", Compare::Ratio)?;
        let verdict = verdict(Expected::Above, ratio, 1.0, Some(floor));
        Some(Paid { kernel, size, without, ratio, floor, verdict })
    });
    rows.collect()
}

const fn claim(experiment: char, says: &'static str) -> Claim {
    Claim { experiment, says, metric: "hits", left: &[], right: None, expected: Expected::Above, each: &[], only: "" }
}

use Compare::{Difference, Ratio};
use Expected::{Below, Within};

/// Hit rates that are as good as equal.
const ALIKE: Expected = Within(-0.03, 0.03);

/// What is expected, before anything is measured.
pub const CLAIMS: &[Claim] = &[
    Claim {
        metric: "bytes_per_second",
        left: &[("kernel", "memcpy")],
        expected: Within(4.2e12, 4.4e12),
        only: "H200",
        ..claim('A', "the driver's copy moves 4.2 to 4.4 TB/s")
    },
    Claim {
        metric: "bytes_per_second",
        left: &[("kernel", "copy128"), ("language", "rust")],
        right: Some((&[("kernel", "memcpy")], Ratio)),
        expected: Within(0.97, 1.1),
        ..claim('A', "a copy in Rust, 128 bits at a time, is as fast as the driver's")
    },
    Claim {
        metric: "bytes_per_second",
        left: &[("language", "rust")],
        right: Some((&[("language", "cuda")], Ratio)),
        expected: Within(0.99, 1.01),
        each: &["kernel"],
        ..claim('A', "Rust is as fast as nvcc")
    },
    Claim {
        left: &[("hot", "none"), ("stream", "first")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('B', "evict_first on the stream keeps the hot set")
    },
    Claim {
        left: &[("hot", "none"), ("stream", "no_allocate")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        expected: ALIKE,
        each: &["hot_size", "stream_size"],
        ..claim('B', "L1::no_allocate on the stream changes nothing in L2")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        expected: ALIKE,
        each: &["hot_size", "stream_size"],
        ..claim('B', "evict_last keeps nothing where nothing is set aside")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none"), ("aside", "0.5")],
        right: Some((&[("hot", "last"), ("stream", "none"), ("aside", "0")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('C', "evict_last keeps the hot set where half is set aside")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none"), ("aside", "0.5")],
        right: Some((&[("hot", "last"), ("stream", "none"), ("aside", "0.75")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('C', "half set aside is better than three quarters")
    },
    Claim {
        left: &[("policy", "fraction"), ("sixteenths", "16")],
        right: Some((&[("policy", "fraction"), ("sixteenths", "8")], Difference)),
        ..claim('D', "evict_last for all lines keeps more than for half of them")
    },
    Claim {
        left: &[("policy", "fraction"), ("sixteenths", "9")],
        right: Some((&[("policy", "fraction"), ("sixteenths", "8")], Difference)),
        expected: Within(0.02, 0.11),
        ..claim('D', "a sixteenth more keeps a sixteenth more")
    },
    Claim {
        left: &[("policy", "range"), ("block", "3")],
        right: Some((&[("policy", "range"), ("block", "12")], Difference)),
        ..claim('D', "a range keeps its first part, and not its second")
    },
    Claim {
        left: &[("size", "64"), ("sector", "1")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::64B brings the second sector")
    },
    Claim {
        left: &[("size", "64"), ("sector", "2")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::64B brings no third sector")
    },
    Claim {
        left: &[("size", "128"), ("sector", "3")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::128B brings the fourth sector")
    },
    Claim {
        left: &[("size", "128"), ("sector", "4")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::128B brings no fifth sector")
    },
    Claim {
        left: &[("size", "256"), ("sector", "7")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::256B brings the eighth sector")
    },
    Claim {
        left: &[("size", "256"), ("sector", "8")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::256B brings no ninth sector")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "none"), ("stream", "no_allocate"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::no_allocate on the stream keeps the hot set in L1")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "none"), ("stream", "first"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::evict_first on the stream keeps the hot set in L1")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "last"), ("stream", "plain"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::evict_last on the hot set keeps it in L1")
    },
    Claim {
        metric: "clocks",
        left: &[("load", "acquire_gpu"), ("place", "l2")],
        right: Some((&[("load", "relaxed_gpu"), ("place", "l2")], Ratio)),
        expected: Within(0.95, 1.25),
        ..claim('G', "an acquire from L2 takes no longer than a relaxed load")
    },
    Claim {
        metric: "l1_hits",
        left: &[("then", "acquire")],
        expected: Within(0.0, 0.05),
        ..claim('G', "nothing is left of L1 after an acquire")
    },
    Claim {
        metric: "l1_hits",
        left: &[("then", "relaxed")],
        right: Some((&[("then", "nothing")], Difference)),
        expected: ALIKE,
        ..claim('G', "a relaxed load leaves L1 as it is")
    },
    Claim {
        metric: "clocks",
        left: &[("load", "weak"), ("place", "l1")],
        right: Some((&[("load", "relaxed_gpu"), ("place", "l1")], Ratio)),
        expected: Below,
        ..claim('G', "a weak load from L1 is faster than a relaxed one, which goes to L2")
    },
    Claim {
        metric: "clocks",
        left: &[("load", "neighbour")],
        right: Some((&[("load", "shared")], Ratio)),
        ..claim('G', "the neighbour's shared memory is slower than the own")
    },
    Claim {
        metric: "clocks",
        left: &[("load", "neighbour")],
        right: Some((&[("load", "cg"), ("place", "l2")], Ratio)),
        expected: Below,
        ..claim('G', "the neighbour's shared memory is faster than L2")
    },
    Claim {
        metric: "after_seconds",
        left: &[("store", "wb"), ("discarded", "no")],
        right: Some((&[("store", "none"), ("discarded", "no")], Ratio)),
        ..claim('H', "lines that have to be written back slow down what takes their place")
    },
    Claim {
        metric: "after_seconds",
        left: &[("store", "wb"), ("discarded", "yes")],
        right: Some((&[("store", "wb"), ("discarded", "no")], Ratio)),
        expected: Below,
        ..claim('H', "discard saves the write-back")
    },
    Claim {
        metric: "fill_seconds",
        left: &[("store", "cs"), ("discarded", "no")],
        right: Some((&[("store", "wb"), ("discarded", "no")], Ratio)),
        expected: Within(0.97, 1.03),
        ..claim('H', "stores under cs are as fast as plain ones")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "l2")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L2 brings the lines into L2")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "l2_last")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L2::evict_last brings the lines into L2")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "bulk")],
        expected: Within(0.9, 1.0),
        ..claim('I', "cp.async.bulk.prefetch.L2 brings the lines into L2")
    },
    Claim {
        metric: "l1_hits",
        left: &[("prefetch", "l1")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L1 brings the lines into L1")
    },
    Claim {
        metric: "hits",
        left: &[("given_up", "yes")],
        right: Some((&[("given_up", "no")], Difference)),
        expected: Below,
        ..claim('I', "applypriority gives up lines that were kept")
    },
    Claim {
        metric: "seconds",
        left: &[("language", "rust"), ("without", "all")],
        right: Some((&[("language", "rust"), ("without", "nothing")], Ratio)),
        each: &["kernel", "size"],
        ..claim('J', "the kernel is slower without its hints")
    },
    Claim {
        metric: "seconds",
        left: &[("language", "rust"), ("without", "nothing")],
        right: Some((&[("language", "cuda"), ("without", "nothing")], Ratio)),
        expected: Within(0.9, 1.01),
        each: &["kernel", "size"],
        ..claim('J', "Rust is at least as fast as nvcc")
    },
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::run::lab::line::{Lines, read};
    use crate::run::lab::measure::{Case, Measured, Plan, measure, name};
    use crate::tools::progress::Progress;

    /// A case of a clock that is made up: what it takes, and how much that varies.
    struct Fake {
        labels: Labels,
        baseline: bool,
        seconds: f64,
        noise: f64,
    }

    impl Case for Fake {
        fn labels(&self) -> &Labels {
            &self.labels
        }

        fn is_baseline(&self) -> bool {
            self.baseline
        }
    }

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
    }

    fn fake(hint: &str, seconds: f64, noise: f64) -> Fake {
        Fake { labels: labels(&[("hint", hint)]), baseline: hint == "none", seconds, noise }
    }

    const PLAN: Plan = Plan { experiment: 'Z', repetitions: 15, warm_up: Duration::ZERO, seed: 1, deadline: None };

    /// The results of a run on a clock that wanders, as a GPU's does.
    fn run(cases: &[Fake], seed: u64) -> Results {
        let random = RefCell::new(StdRng::seed_from_u64(seed));
        let mut drift = 1.0;
        let once = |case: &Fake| {
            let mut random = random.borrow_mut();
            drift *= 1.0 + 0.001 * (random.random::<f64>() - 0.5);
            let bell = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            Measured::Readings(vec![("seconds", case.seconds * drift * (1.0 + case.noise * bell))])
        };
        let mut text = Vec::new();
        measure(Plan { seed, ..PLAN }, cases, &mut Lines::new(&mut text), &Progress::kept(), once)
            .expect("it is written");
        Results::of(&read(std::str::from_utf8(&text).expect("JSON is text")).expect("they are lines"))
    }

    const SLOWER: Claim = Claim {
        metric: "seconds",
        left: &[("hint", "other")],
        right: Some((&[("hint", "none")], Ratio)),
        ..claim('Z', "it is slower")
    };

    fn verdicts(claim: Claim, other: f64, noise: f64) -> BTreeMap<String, u32> {
        let mut counted = BTreeMap::new();
        for seed in 0..25 {
            let results = run(&[fake("none", 1.0, noise), fake("other", other, noise)], seed);
            let found = judge(&results, claim);
            assert_eq!(found.len(), 1);
            *counted.entry(found[0].verdict.to_string()).or_insert(0) += 1;
        }
        counted
    }

    #[test]
    fn an_effect_beyond_the_noise_is_found() {
        assert_eq!(verdicts(SLOWER, 1.05, 0.005), BTreeMap::from([("proved".to_owned(), 25)]));
        assert_eq!(verdicts(SLOWER, 0.95, 0.005), BTreeMap::from([("refuted".to_owned(), 25)]));
        let faster = Claim { expected: Below, ..SLOWER };
        assert_eq!(verdicts(faster, 0.95, 0.005), BTreeMap::from([("proved".to_owned(), 25)]));
    }

    #[test]
    fn no_effect_is_claimed_where_there_is_none() {
        for noise in [0.001, 0.02, 0.2] {
            assert_eq!(
                verdicts(SLOWER, 1.0, noise),
                BTreeMap::from([("not distinguishable".to_owned(), 25)]),
                "{noise}"
            );
        }
    }

    #[test]
    fn an_effect_within_the_noise_is_not_claimed() {
        assert_eq!(verdicts(SLOWER, 1.005, 0.05), BTreeMap::from([("not distinguishable".to_owned(), 25)]));
    }

    #[test]
    fn equal_is_proved_only_by_a_narrow_interval() {
        let alike = Claim { expected: Within(0.98, 1.02), ..SLOWER };
        assert_eq!(verdicts(alike, 1.0, 0.002), BTreeMap::from([("proved".to_owned(), 25)]));
        assert_eq!(verdicts(alike, 1.0, 0.2).get("proved"), None);
        assert_eq!(verdicts(alike, 1.1, 0.002), BTreeMap::from([("refuted".to_owned(), 25)]));
    }

    #[test]
    fn what_was_measured_twice_differs_by_no_more_than_the_floor() {
        let results = run(&[fake("none", 1.0, 0.01), fake("other", 1.0, 0.01)], 3);
        let floor = results.floor('Z', &Labels::new(), "seconds", Ratio).expect("one case has a twin");
        assert!((0.002..0.05).contains(&floor), "{floor}");
        // Without a twin nothing is told from noise.
        let mut other = fake("none", 1.0, 0.0001);
        other.baseline = false;
        let results = run(&[other, fake("other", 2.0, 0.0001)], 3);
        assert_eq!(results.floor('Z', &Labels::new(), "seconds", Ratio), None);
        assert_eq!(judge(&results, SLOWER)[0].verdict, Verdict::NotDistinguishable);
    }

    #[test]
    fn every_case_is_measured_as_often_in_another_order_each_time() {
        let order = RefCell::new(Vec::new());
        let cases: Vec<Fake> = ["none", "a", "b", "c", "d"].iter().map(|hint| fake(hint, 1.0, 0.0)).collect();
        let mut text = Vec::new();
        let once = |case: &Fake| {
            order.borrow_mut().push(case.labels["hint"].clone());
            Measured::Readings(vec![("seconds", 1.0)])
        };
        let ended = measure(PLAN, &cases, &mut Lines::new(&mut text), &Progress::kept(), once).expect("it is written");
        assert_eq!((ended.repetitions, ended.why, ended.lost), (15, None, false));
        // The twin of `none` is one more, and the first repetition counts for nothing.
        let order = order.into_inner();
        assert_eq!(order.len(), 16 * 6);
        let rounds: BTreeSet<&[String]> = order.chunks(6).collect();
        assert!(rounds.len() > 12, "{} different orders", rounds.len());
        assert!(order.chunks(6).all(|round| round.iter().filter(|hint| *hint == "none").count() == 2));
        let results = Results::of(&read(std::str::from_utf8(&text).expect("JSON is text")).expect("they are lines"));
        assert_eq!(results.cases.len(), 6);
        assert!(results.cases.iter().all(|case| results.samples(case, "seconds").len() == 15));
    }

    #[test]
    fn what_fails_is_a_line_and_the_rest_goes_on() {
        let cases: Vec<Fake> = ["none", "bad", "b"].iter().map(|hint| fake(hint, 1.0, 0.0)).collect();
        let calls = RefCell::new(0);
        let run = |lose: bool| {
            let mut text = Vec::new();
            let once = |case: &Fake| {
                *calls.borrow_mut() += 1;
                match case.labels["hint"].as_str() {
                    "bad" if lose => Measured::Lost("the GPU is gone".into()),
                    "bad" => Measured::Failed("no such kernel".into()),
                    _ => Measured::Readings(vec![("seconds", 1.0)]),
                }
            };
            let ended =
                measure(PLAN, &cases, &mut Lines::new(&mut text), &Progress::kept(), once).expect("it is written");
            (ended, Results::of(&read(std::str::from_utf8(&text).expect("JSON is text")).expect("they are lines")))
        };
        let (ended, results) = run(false);
        assert_eq!((ended.repetitions, ended.why), (15, None));
        assert_eq!(results.failures, [('Z', "hint=bad".to_owned(), "no such kernel".to_owned())]);
        assert_eq!(*calls.borrow(), 16 * 3 + 1);
        let bad = Claim { left: &[("hint", "bad")], ..SLOWER };
        assert_eq!(judge(&results, bad)[0].verdict, Verdict::NotMeasured);
        let (ended, results) = run(true);
        assert!(ended.lost && ended.why.is_some_and(|why| why == "hint=bad: the GPU is gone"));
        assert_eq!(results.failures.len(), 1);
    }

    #[test]
    fn a_claim_is_judged_for_each_of_its_sizes() {
        let case = |hint: &str, size: &str, seconds: f64| Fake {
            labels: labels(&[("hint", hint), ("size", size)]),
            baseline: hint == "none",
            seconds,
            noise: 0.002,
        };
        let cases = [case("none", "1", 1.0), case("other", "1", 1.0), case("none", "8", 2.0), case("other", "8", 2.2)];
        let results = run(&cases, 5);
        let found = judge(&results, Claim { each: &["size"], ..SLOWER });
        let verdicts: Vec<_> = found.iter().map(|found| (found.of["size"].as_str(), found.verdict)).collect();
        assert_eq!(verdicts, [("1", Verdict::NotDistinguishable), ("8", Verdict::Proved)]);
        assert_eq!(judge(&results, Claim { only: "H200", ..SLOWER }).len(), 0);
        assert_eq!(name(&cases[3].labels), "hint=other size=8");
    }

    #[test]
    fn hints_pay_or_cost_or_neither() {
        let case = |without: &str, seconds: f64| Fake {
            labels: labels(&[("kernel", "triad"), ("size", "2"), ("language", "rust"), ("without", without)]),
            baseline: without == "nothing",
            seconds,
            noise: 0.002,
        };
        let cases = [case("nothing", 1.0), case("all", 1.1), case("l1", 0.9), case("stores", 1.0)];
        let mut results = run(&cases, 7);
        results.cases.iter_mut().for_each(|case| case.experiment = 'J');
        results.samples =
            results.samples.into_iter().map(|((_, case, metric), all)| (('J', case, metric), all)).collect();
        let found: BTreeMap<_, _> = paid(&results).into_iter().map(|row| (row.without, row.verdict)).collect();
        let expected = [
            ("all".to_owned(), Verdict::Proved),
            ("l1".to_owned(), Verdict::Refuted),
            ("stores".to_owned(), Verdict::NotDistinguishable),
        ];
        assert_eq!(found, BTreeMap::from(expected));
    }
}
