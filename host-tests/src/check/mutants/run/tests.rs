//! The list of mutants, and whose failure it is.

use super::super::answer::BEYOND;
use super::super::report::listed;
use super::super::shows::is_call;
use super::super::{Step, catalogue};
use super::*;

/// How many there are at least.
const MUTANTS: usize = 2_550;

#[test]
fn each_reason_is_about_some_mutant_and_about_few() {
    let machine = Machine::current();
    let mut mutants = every(&machine, &Kind::ALL).unwrap();
    assert!(mutants.len() >= MUTANTS, "{}", mutants.len());
    // Which mutants of Rust code there are, cargo-mutants alone knows.
    let knows_code = code::is_installed(&machine);
    if knows_code {
        mutants.extend(code::every(&machine).unwrap());
    }
    let keys: BTreeSet<String> = mutants.iter().map(Mutant::key).collect();
    assert_eq!(keys.len(), mutants.len(), "two mutants share their fate");
    let told: Vec<String> = mutants.iter().map(Mutant::told).collect();
    for (reason, pattern) in listed().into_iter().filter(|(_, of)| knows_code || !of.as_str().contains(" code in ")) {
        assert!(told.iter().any(|told| pattern.is_match(told)), "idle: {reason}: {pattern}");
    }
    let listed = mutants.iter().filter(|mutant| reason(mutant).is_some()).count();
    assert!(listed < 60, "{listed} mutants are listed");
    let adds = |mutant: &&Mutant| {
        ["nomem", "readonly"].iter().any(|word| mutant.after.contains(word) && !mutant.before.contains(word))
    };
    let excused = mutants.iter().filter(adds).filter(|mutant| reason(mutant).is_some());
    assert_eq!(excused.map(Mutant::told).collect::<Vec<_>>(), [""; 0]);
}

fn mutant(sign: Sign, at: usize) -> Mutant {
    Mutant {
        kind: Kind::Text,
        file: "f.rs".to_owned(),
        line: at,
        range: at * 10..at * 10 + 1,
        gone: "a".to_owned(),
        with: "b".to_owned(),
        before: "a".to_owned(),
        after: "b".to_owned(),
        sign,
        steps: Vec::new(),
        owner: "rows".to_owned(),
    }
}

#[test]
fn a_failure_is_its_own_mutants() {
    let missing = |word: &str| mutant(Sign::Missing(word.to_owned()), 1);
    let place = |number: usize| format!("case {number}");
    let cover = BTreeSet::from([place(7)]);
    let failure = |expected, found, case| Failure { place: Some(place(case)), ..Failure::new("f()", expected, found) };
    let is = |word, expected, found, case| shows(&missing(word), Some(&cover), &failure(expected, found, case));
    assert!(is(".proxy", "fence.proxy.async", "fence.async", 7));
    assert!(!is(".proxy", "fence.proxy.async", "fence.async", 8));
    assert!(!is(".proxy", "fence.proxy.async", "", 7));
    assert!(!is(".shared", "ld.shared::cta.u32", "ld.u32", 7));
    assert!(is(".u64", "cvta.u64 ld.u64", "cvta.u64 ld", 7));
    let names = |name: Option<&str>| mutant(Sign::Names(".s8".to_owned(), name.map(str::to_owned)), 1);
    let of = |word: &str| Failure { place: Some(catalogue::names_of(word)), ..Failure::new(".i8", word, "") };
    assert!(shows(&names(None), None, &of(".s8")) && !shows(&names(None), None, &of(".s32")));
    assert!(shows(&names(Some(".i8")), None, &of(".s8")) && !shows(&names(Some(".int8")), None, &of(".s8")));
    let lanes = |one, other| mutant(Sign::Lanes("V4 word".to_owned(), [one, other]), 1);
    let of = |shape: &str| Failure { place: Some(shape.to_owned()), ..Failure::new(shape, "", "1 2") };
    assert!(shows(&lanes(0, 1), None, &of("V4 word")) && !shows(&lanes(0, 3), None, &of("V4 word")));
    assert!(!shows(&lanes(0, 1), None, &of("V4 long")));
    assert!(is_call("mapa(p)", "mapa") && is_call("mapa::<Cta>(p)", "mapa") && !is_call("mapa_shared(p)", "mapa"));
    assert!(is_call("CachePolicy::range(p)", "range"));
}

/// A gate that becomes another one.
fn gate(sign: Sign, step: Step, at: usize) -> Mutant {
    Mutant { steps: vec![step], ..mutant(sign, at) }
}

#[test]
fn a_failure_is_its_own_gates() {
    let step = |from, to| Failure { steps: vec![("sm_", from, to)], ..Failure::default() };
    let of = |step: Step| gate(Sign::Step(step.0, step.1, step.2), step, 1);
    let [lower, higher] = [("sm_", 80, 75), ("sm_", 80, 90)].map(of);
    let is = |mutant: &Mutant, from, to| shows(mutant, None, &step(from, to));
    assert!(is(&lower, 80, 70) && is(&lower, BEYOND, 75) && is(&higher, 75, 90) && is(&higher, 80, BEYOND));
    assert!(!is(&lower, 90, 75) && !is(&lower, BEYOND, 70) && !is(&lower, 75, BEYOND));
    assert!(!is(&higher, 90, 80) && !is(&higher, 80, 100) && !is(&higher, BEYOND, 80) && !is(&higher, 75, BEYOND));
    assert!(!shows(&of(("ptx", 80, 75)), None, &step(80, 75)));
    let named = |was: &str, is: &str, step| gate(Sign::Gate(was.to_owned(), is.to_owned()), step, 1);
    let moved = Failure { gates: ["WAS", "IS"].map(|flag| BTreeSet::from([flag.to_owned()])), ..Failure::default() };
    let far = ("sm_", 90, 70);
    assert!(shows(&named("WAS", "IS", far), None, &moved));
    assert!(!shows(&named("WAS", "OTHER", far), None, &moved) && !shows(&named("OTHER", "IS", far), None, &moved));
    assert!(is(&named("WAS", "IS", far), BEYOND, 80) && is(&named("WAS", "IS", far), BEYOND, 70));
    assert!(!is(&named("WAS", "IS", far), BEYOND, 90) && !is(&named("WAS", "IS", far), 90, BEYOND));
    let of = |(at, (from, to))| gate(Sign::Gate("WAS".to_owned(), "IS".to_owned()), ("sm_", from, to), at);
    let all: Vec<Mutant> = [(90, 70), (80, 75), (75, 80), (100, 90)].into_iter().enumerate().map(of).collect();
    let open: Vec<&Mutant> = all.iter().collect();
    assert_eq!(steps(&open, &Kept::default()), [vec![open[0], open[2], open[3]]]);
}

#[test]
fn what_is_made_together_can_be_told_apart() {
    let [a, b] = [mutant(Sign::Step("sm_", 80, 75), 1), mutant(Sign::Step("sm_", 80, 90), 2)];
    let [c, d] = [mutant(Sign::Step("sm_", 80, 75), 3), mutant(Sign::Step("sm_", 90, 80), 2)];
    let open = [&a, &b, &c, &d];
    let made = gates(&open, &Kept::default());
    assert_eq!(made, [vec![&a, &b], vec![&c, &d]]);
    let marked = Mutant { with: "bg4g".to_owned(), ..mutant(Sign::Another, 1) };
    assert_eq!(mutant(Sign::Another, 1).marked(4), marked);
    for mutant in every(&Machine::current(), &[Kind::Text]).unwrap().iter().filter(|one| one.sign == Sign::Another) {
        assert_eq!(marks(&mutant.marked(4).with).collect::<Vec<_>>(), [4], "{mutant}");
    }
}
