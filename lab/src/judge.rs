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
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::claims::Expected::{Below, Within};
    use crate::claims::claim;
    use crate::line::{Lines, read};
    use crate::measure::{Case, Measured, Plan, measure, name};
    use crate::statistics::Compare::Ratio;
    use ptx_build::progress::Progress;

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
