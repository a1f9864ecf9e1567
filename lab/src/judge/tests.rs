//! Judgements on a simulated clock.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::claims::Expected::{Above, Below, Within};
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
    measure(Plan { seed, ..PLAN }, cases, &mut Lines::new(&mut text), &Progress::kept(), once).expect("it is written");
    Results::of(&read(std::str::from_utf8(&text).expect("JSON is text")).expect("they are lines"))
}

const SLOWER: Claim = Claim {
    metric: "seconds",
    left: &[("hint", "other")],
    right: Some((&[("hint", "none")], Ratio)),
    experiment: 'Z',
    says: "it is slower",
    expected: Above,
    each: &[],
    only: "",
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
        assert_eq!(verdicts(SLOWER, 1.0, noise), BTreeMap::from([("not distinguishable".to_owned(), 25)]), "{noise}");
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
        let ended = measure(PLAN, &cases, &mut Lines::new(&mut text), &Progress::kept(), once).expect("it is written");
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
    results.samples = results.samples.into_iter().map(|((_, case, metric), all)| (('J', case, metric), all)).collect();
    let found: BTreeMap<_, _> = paid(&results).into_iter().map(|row| (row.without, row.verdict)).collect();
    let expected = [
        ("all".to_owned(), Verdict::Proved),
        ("l1".to_owned(), Verdict::Refuted),
        ("stores".to_owned(), Verdict::NotDistinguishable),
    ];
    assert_eq!(found, BTreeMap::from(expected));
}

/// A run without a probe, as that of K, leaves the latencies of the run before it; the next one with probes replaces them.
#[test]
fn latencies_are_those_of_the_last_run_that_has_some() {
    let latencies =
        |place: &str| Line::Latencies { place: place.into(), multiprocessor: 0, bytes: 64, clocks: Vec::new() };
    let run = || Line::Run(Run::default());
    let places = |lines: &[Line]| Results::of(lines).latencies.into_iter().map(|all| all.place).collect::<Vec<_>>();
    assert_eq!(places(&[run(), latencies("l1"), latencies("l2"), run()]), ["l1", "l2"]);
    assert_eq!(places(&[run(), latencies("l1"), run(), latencies("l2"), latencies("memory")]), ["l2", "memory"]);
}
