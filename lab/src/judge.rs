//! What the lines prove: each expectation is proved, refuted or not decided, with an interval, and an effect counts only
//! beyond what two measurements of the same thing differ by.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use super::claims::{CLAIMS, Claim, Expected};
use super::line::{About, Labels, Line, Run, State};
use super::statistics::{CONFIDENCE, Compare, Estimate, above, at_least, compare, estimate, together};
use super::thresholds::Thresholds;
use super::watch::in_short;

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
    /// The machine during each experiment, and while the thresholds were found.
    pub states: BTreeMap<Option<char>, Vec<State>>,
    /// Why nobody looked at the machine, if so.
    pub unwatched: Option<String>,
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
        let (mut all, mut is_new) = (Results::default(), false);
        for line in lines.iter().cloned() {
            match line {
                // A run for each experiment, in a bundle: the thresholds are those of the last that has some.
                Line::Run(run) => (all.run, is_new) = (run, true),
                Line::Latencies { place, multiprocessor, bytes, clocks } => {
                    if std::mem::take(&mut is_new) {
                        all.latencies.clear();
                    }
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
                Line::Machine { experiment, state } => all.states.entry(experiment).or_default().push(state),
                Line::Unwatched { why } => all.unwatched = Some(why),
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

    /// Clocks, temperature and power during an experiment, or while the thresholds were found.
    pub fn machine(&self, experiment: Option<char>) -> String {
        match (self.states.get(&experiment), &self.unwatched) {
            (Some(states), _) => in_short(states),
            (None, Some(why)) => format!("nothing is known of the clocks: {}", why.lines().next().unwrap_or_default()),
            (None, None) => "nothing is known of the clocks".into(),
        }
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
    /// How likely samples like these are where nothing is so, of all that the experiment is asked together: see [`together`].
    pub chance: f64,
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

/// How likely samples like these are where the number is at the edge of what is expected, or of what is not: twice the
/// smaller of the two, since either would be told.
fn chance(expected: Expected, left: &[f64], right: Option<(&[f64], Compare)>, floor: Option<f64>) -> f64 {
    let equal = right.map_or(0.0, |(_, by)| by.equal());
    let floor = floor.unwrap_or(f64::INFINITY);
    // That the number is above this, and that it is below.
    let above_it = |edge: f64| match right {
        Some((right, by)) => above(left, &by.moved(right, edge)),
        None => at_least(left, edge),
    };
    let below_it = |edge: f64| match right {
        Some((right, by)) => above(&by.moved(right, edge), left),
        None => at_least(&negative(left), -edge),
    };
    let (agrees, disagrees) = match expected {
        Expected::Within(least, most) => (above_it(least).max(below_it(most)), below_it(least).min(above_it(most))),
        Expected::Above => (above_it(equal + floor), below_it(equal - floor)),
        Expected::Below => (below_it(equal - floor), above_it(equal + floor)),
    };
    (2.0 * agrees.min(disagrees)).min(1.0)
}

fn negative(samples: &[f64]) -> Vec<f64> {
    samples.iter().map(|sample| -sample).collect()
}

/// What the results say of a claim, as if nothing else were asked: once for each value of its labels, or once that nothing was measured.
pub fn judge(results: &Results, claim: Claim) -> Vec<Finding> {
    if !results.run.gpu.contains(claim.only) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for left in results.with(claim.experiment, claim.left) {
        let each = claim.each.iter().filter_map(|label| left.labels.get_key_value(*label));
        let of: Labels = each.map(|(label, value)| (label.clone(), value.clone())).collect();
        let samples = results.samples(left, claim.metric);
        let (found, equal, floor, chance) = match claim.right {
            None => (estimate(samples), 0.0, None, chance(claim.expected, samples, None, None)),
            Some((right, by)) => {
                let own: Vec<_> = of.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
                let right = results.with(claim.experiment, right).find(|case| has(&case.labels, &own));
                let right = right.map_or(&[][..], |case| results.samples(case, claim.metric));
                let floor = results.floor(claim.experiment, &of, claim.metric, by);
                let chance = chance(claim.expected, samples, Some((right, by)), floor);
                (compare(samples, right, by), by.equal(), floor, chance)
            }
        };
        let verdict = found.map_or(Verdict::NotMeasured, |found| verdict(claim.expected, found, equal, floor));
        findings.push(Finding { claim, of, found, floor, chance, verdict });
    }
    if findings.is_empty() {
        let (of, verdict) = (Labels::new(), Verdict::NotMeasured);
        findings.push(Finding { claim, of, found: None, floor: None, chance: 1.0, verdict });
    }
    findings
}

/// What the results say of every claim of the experiments that were run. All that an experiment is asked is judged together:
/// of hundreds of true intervals of 99 percent some miss.
pub fn judge_all(results: &Results) -> Vec<Finding> {
    let of = |experiment: &char| {
        let claims = CLAIMS.iter().filter(move |claim| claim.experiment == *experiment);
        let mut findings: Vec<Finding> = claims.flat_map(|claim| judge(results, *claim)).collect();
        correct(findings.iter_mut().map(|finding| (&mut finding.chance, &mut finding.verdict)));
        findings
    };
    results.ends.keys().flat_map(of).collect()
}

/// Corrects chances for their number; what may well be chance is no finding.
fn correct<'f>(all: impl Iterator<Item = (&'f mut f64, &'f mut Verdict)>) {
    let all = all.filter(|(_, verdict)| **verdict != Verdict::NotMeasured);
    let (mut chances, verdicts): (Vec<_>, Vec<_>) = all.unzip();
    let corrected = together(&chances.iter().map(|chance| **chance).collect::<Vec<_>>());
    for ((chance, verdict), corrected) in chances.iter_mut().zip(verdicts).zip(corrected) {
        **chance = corrected;
        if corrected > 1.0 - CONFIDENCE {
            *verdict = Verdict::NotDistinguishable;
        }
    }
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
    /// How likely samples like these are where they do nothing, of all of these together: see [`together`].
    pub chance: f64,
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
        let [without_them, with] = [case, with].map(|case| results.samples(case, "seconds"));
        let ratio = compare(without_them, with, Compare::Ratio)?;
        let of = Labels::from([("kernel".to_owned(), kernel.clone()), ("size".to_owned(), size.clone())]);
        let floor = results.floor('J', &of, "seconds", Compare::Ratio)?;
        let verdict = verdict(Expected::Above, ratio, 1.0, Some(floor));
        let chance = chance(Expected::Above, without_them, Some((with, Compare::Ratio)), Some(floor));
        Some(Paid { kernel, size, without, ratio, floor, chance, verdict })
    });
    let mut rows: Vec<Paid> = rows.collect();
    correct(rows.iter_mut().map(|row| (&mut row.chance, &mut row.verdict)));
    rows
}

#[cfg(test)]
mod tests;
