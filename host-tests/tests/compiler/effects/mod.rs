//! The compiler merges, moves, drops or keeps each access as the PTX ISA allows it, and no more: the optimised PTX of a
//! function with plain accesses around each form, by its method and by `ptx!`, is held against [`ledger`].
//!
//! The test takes a form for each word of each instruction in each syntax, and a slice that it draws.
//! `cargo xtask test --whole effects` takes every form in every syntax.

mod situation;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::forms_check;
use host_tests::check::ledger;
use host_tests::check::only;
use host_tests::check::whole;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, Route};
use ptx_intrinsics::catalogue::Form;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use situation::Situation;

/// How many functions are compiled at a time.
const AT_A_TIME: usize = 6_000;
/// Forms that are drawn.
const DRAWN: usize = 200;
/// Functions that are looked at where not all are, at least.
const LOOKED_AT: usize = 1_000;

static FORMS: LazyLock<Vec<Arc<Form>>> = LazyLock::new(forms_check::every_form);

/// The cases to look at.
fn cases() -> Result<Vec<Case>> {
    let all = forms::cases(&FORMS);
    if whole::is_set() {
        return Ok(all);
    }
    let seed = forms_check::seed()?;
    println!("the slice of forms is drawn by {}={seed}", forms_check::SEED_VARIABLE);
    let drawn: BTreeSet<&str> =
        all.sample(&mut StdRng::seed_from_u64(seed), DRAWN).map(|case| case.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut is_new = |case: &Case| {
        let before = seen.len();
        seen.extend(kinds(case));
        seen.len() > before
    };
    Ok(all.iter().filter(|case| is_new(case) || drawn.contains(case.name.as_str())).cloned().collect())
}

/// What a case is one of: what decides its `asm!`, one by one.
fn kinds(case: &Case) -> Vec<[String; 3]> {
    let form = &case.form;
    if form.signature().is_some() && !form.is_atomic() && !form.is_multimem() {
        return vec![[form.full_ptx(), String::new(), String::new()]];
    }
    // All operations of an atomic are one `asm!`.
    let instruction =
        if form.is_atomic() { form.ptx().split('.').next().unwrap_or_default() } else { form.instruction() };
    let syntax = if let Syntax::Lanes(_) = case.syntax { "Lanes".to_owned() } else { format!("{:?}", case.syntax) };
    let mut words: Vec<&str> = form.ptx().split('.').collect();
    // Of types only those of 128 and of 8 bits are another `asm!`.
    words.pop_if(|ty| !["b128", "e4m3", "e5m2"].contains(ty));
    words.into_iter().map(|word| [instruction, &syntax, word].map(str::to_owned)).collect()
}

#[test]
fn the_ledger_has_every_form() {
    let mut lacks = FORMS.iter().filter(|form| ledger::effect(form.ptx()).is_none());
    assert_eq!(lacks.next().map(|form| form.ptx()), None, "say its effect in {}", ledger::TABLE);
    if only::is_set() {
        return;
    }
    let unused = ledger::unused(FORMS.iter().map(|form| form.ptx()));
    assert_eq!(unused, [""; 0], "rows for no form, {}", ledger::TABLE);
    let shared = ledger::shared(FORMS.iter().map(|form| &**form));
    assert_eq!(shared, [""; 0], "rows for several families: an instruction needs a row of its own, {}", ledger::TABLE);
    assert_eq!(forms_of(&forms::cases(&FORMS)), FORMS.len(), "a whole run would miss forms");
}

/// How many forms these cases are of. Some forms have the same text and differ in their Rust.
fn forms_of(cases: &[Case]) -> usize {
    cases.iter().map(|case| Arc::as_ptr(&case.form)).collect::<BTreeSet<_>>().len()
}

#[test]
fn each_call_has_its_effect() {
    let looked_at = look().unwrap_or_else(|error| panic!("{error}"));
    println!("{looked_at}");
}

fn look() -> Result<String> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let cases = cases()?;
    let forms = forms_of(&cases);
    let situations: Vec<Situation> = cases.iter().map(Situation::of).chain(situation::beyond()).collect();
    let mut wrong = Vec::new();
    let parts = situations.len().div_ceil(AT_A_TIME);
    for (number, part) in situations.chunks(AT_A_TIME).enumerate() {
        let _step = progress.step(format!("Effects: part {} of {parts}", number + 1));
        wrong.extend(situation::look(&toolchain, number, part)?);
    }
    let counts = ledger::Effect::ALL.map(|effect| {
        let of = situations.iter().filter(|situation| situation.effect == effect);
        format!("{} {effect:?}", of.count())
    });
    let looked_at = format!(
        "effects: {forms} of {} forms, in {} functions ({}), {} wrong",
        FORMS.len(),
        situations.len(),
        counts.join(", "),
        wrong.len()
    );
    let enough = only::is_set() || if whole::is_set() { forms == FORMS.len() } else { situations.len() >= LOOKED_AT };
    match (wrong.is_empty(), enough) {
        (true, true) => Ok(looked_at),
        (true, false) => Err(Error::new(format_args!("{looked_at}: too few"))),
        (false, _) => Err(Error::new(&looked_at).because(wrong[..wrong.len().min(20)].join("\n"))),
    }
}
