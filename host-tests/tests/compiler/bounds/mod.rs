//! Each function, each method and each spelling of `ptx!` is there from its gate on, and not one step before: `cargo check`
//! takes its call where the target is the gate, and refuses it one SM or one PTX ISA version below, and names the flag.
//!
//! The gates are those of the catalogue, which the assembler confirms elsewhere; what is no form has its gate in `beyond.rs`.
//!
//! The test takes one call for each function, marker and gate: all of them for a target that has everything, and for one that has
//! nothing. One step below their gate it asks about those of some gates, drawn by the seed. `cargo xtask test --whole bounds` asks about
//! every form in every syntax at each gate, which takes an hour.

mod beyond;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::forms_check;
use host_tests::check::here::toolchain;
use host_tests::check::ledger;
use host_tests::check::only;
use host_tests::check::whole;
use host_tests::tools::progress::Progress;
use ptx_intrinsics::catalogue;
use rand::seq::IndexedRandom;

use program::{Axis, Call, Program, Target};

/// What is called where not all of them are, at least.
const DRAWN: usize = 1_000;
/// Where something begins: SMs and PTX ISA versions.
const STEPS: [usize; 2] = [9, 24];
/// Targets that are drawn of each axis.
const TARGETS: usize = 1;

/// What is called: from the catalogue, and beyond it.
static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let cases = forms::cases(&forms_check::every_form());
    let drawn = one_of_each(&cases);
    let asked = cases.iter().filter(|case| whole::is_set() || drawn.contains(case.name.as_str()));
    let beyond = if only::is_set() { Vec::new() } else { beyond::calls().collect() };
    asked.map(Call::of).chain(beyond).collect()
});

/// One case for each function, marker and gate, by name; of `ptx!`, for each word and gate.
fn one_of_each(cases: &[Case]) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let mut is_new = |case: &&Case| {
        let before = seen.len();
        seen.extend(kinds(case));
        seen.len() > before
    };
    cases.iter().filter(|case| is_new(case)).map(|case| case.name.as_str()).collect()
}

/// What a case is one of: syntax and function, marker or word, gate.
fn kinds(case: &Case) -> Vec<(String, String, (u32, u32))> {
    let syntax = if let Syntax::Lanes(_) = case.syntax { "Lanes".to_owned() } else { format!("{:?}", case.syntax) };
    let rust = case.rust();
    let spelled = rust.starts_with("ptx!");
    let text = if spelled { case.form.ptx() } else { rust.split(" as ").next().unwrap_or_default() };
    // What begins with a capital is a marker; the rest is what is called.
    let (markers, called): (Vec<&str>, Vec<&str>) = text
        .split(['.', '<', '>', ',', ' ', '(', ')'])
        .partition(|word| spelled || word.starts_with(char::is_uppercase));
    let called = if spelled { case.form.ptx()[..2].to_owned() } else { called.concat() };
    let said = markers.into_iter().map(|marker| (called.clone(), marker.to_owned()));
    said.chain([(called.clone(), syntax)]).map(|(called, said)| (called, said, case.needs())).collect()
}

/// What a target is asked: the calls that it takes, and those that it refuses.
#[derive(Default)]
struct Asked {
    taken: Vec<&'static Call>,
    refused: Vec<&'static Call>,
}

/// Whether each gate is asked about, or some of them.
fn every_gate() -> bool {
    whole::is_set() || only::is_set()
}

/// Along one axis: at the gate, and one step below it. The other axis is as far as there is, or in a whole run at the
/// call's own gate.
fn asked(axis: Axis, steps: &BTreeSet<u32>) -> BTreeMap<Target, Asked> {
    let mut asked: BTreeMap<Target, Asked> = BTreeMap::new();
    let is_whole = whole::is_set();
    for call in CALLS.iter() {
        let other = if is_whole || !call.named.is_empty() { call.needs } else { Target::NEWEST };
        let gate = axis.of(call.needs);
        asked.entry(axis.with(other, gate)).or_default().taken.push(call);
        if let Some(&below) = steps.range(..gate).next_back() {
            asked.entry(axis.with(other, below)).or_default().refused.push(call);
        }
    }
    if !every_gate() {
        draw(&mut asked, axis, steps);
    }
    asked
}

/// Keeps some of the targets at which a call begins, and asks about every call where nothing is there, and once where all is. What names targets is not there by
/// the number of an SM.
fn draw(asked: &mut BTreeMap<Target, Asked>, axis: Axis, steps: &BTreeSet<u32>) {
    let mut random = forms_check::random("the gates are");
    let begins = asked.iter().filter(|(_, asked)| !asked.taken.is_empty());
    let targets: Vec<Target> = begins.map(|(target, _)| *target).collect();
    let kept: BTreeSet<Target> = targets.sample(&mut random, TARGETS).copied().collect();
    asked.retain(|target, _| kept.contains(target));
    let Some(&oldest) = steps.first() else { return };
    let plain = || CALLS.iter().filter(|call| call.named.is_empty());
    if axis == Axis::Sm {
        asked.entry(Target::NEWEST).or_default().taken = plain().collect();
    }
    let nothing = asked.entry(axis.with(Target::NEWEST, oldest)).or_default();
    nothing.refused = plain().filter(|call| axis.of(call.needs) > oldest).collect();
}

fn holds(axis: Axis, expected_steps: usize) {
    let of_forms = catalogue::forms().map(|form| Target { sm: form.min_sm(), ptx: form.min_ptx() });
    let gates = of_forms.chain(CALLS.iter().map(|call| call.needs));
    let steps: BTreeSet<u32> = gates.map(|gate| axis.of(gate)).collect();
    assert_eq!(steps.len(), expected_steps, "{steps:?}");
    let program = Program::new(toolchain(), axis);
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    let (asked, progress) = (asked(axis, &steps), Progress::new());
    let targets = asked.len();
    for (number, (target, Asked { taken: ours, refused: theirs })) in asked.into_iter().enumerate() {
        let _step = progress.step(format!("Bounds: target {} of {targets}", number + 1));
        wrong.extend(program.check(target, &ours, &theirs));
        (taken, refused) = (taken + ours.len(), refused + theirs.len());
    }
    println!(
        "{axis:?}: {taken} calls are taken at their gate, {refused} refused one step below; {} wrong",
        wrong.len()
    );
    let shown = wrong.len().min(20);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..shown].join("\n"));
    let all = || CALLS.iter().filter(|call| every_gate() || call.named.is_empty());
    let gated = all().filter(|call| axis.of(call.needs) > 20).count();
    let taken_at_least = if every_gate() || axis == Axis::Sm { all().count() } else { 1 };
    assert!(taken >= taken_at_least && refused >= gated, "{taken} taken, {refused} refused");
    assert!(only::is_set() || all().count() >= DRAWN, "{}", all().count());
}

/// The gates themselves are the ISA's.
#[test]
fn functions_are_counted() {
    ledger::compare("FUNCTIONS", &[ledger::FUNCTIONS], &[forms::cases(&forms_check::every_form()).len()]);
}

#[test]
fn each_form_begins_where_the_isa_has_it_begin() {
    let forms = forms_check::every_form();
    let wrong = forms.iter().filter_map(|form| {
        let found = (form.min_sm(), form.min_ptx(), form.targets());
        let (sm, ptx) = ledger::begins(form);
        let expected = (sm, ptx, ledger::named(form));
        (found != expected).then(|| format!("{}: {found:?}, and by the ISA {expected:?}", form.full_ptx()))
    });
    let wrong: Vec<String> = wrong.collect();
    let shown = wrong[..wrong.len().min(20)].join("\n");
    assert!(wrong.is_empty(), "{} wrong: the gate, or `begins` in {}\n{shown}", wrong.len(), ledger::FILE);
}

#[test]
fn each_call_is_there_from_its_sm_on() {
    holds(Axis::Sm, STEPS[0]);
}

#[test]
fn each_call_is_there_from_its_ptx_isa_version_on() {
    holds(Axis::Ptx, STEPS[1]);
}
