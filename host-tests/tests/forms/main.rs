//! The catalogue is the ISA's own syntax, and a slice of it, drawn anew each time, is spelled to the letter in both
//! profiles, taken by the assembler on every GPU that the catalogue names, and on none that it does not.
//!
//! `cargo xtask forms --check` does the same with all of it.

mod grammar;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use host_tests::check::forms::Syntax;
use host_tests::check::forms_check::{self, Check, Looked, Part};
use host_tests::check::only;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::device_build::Profile;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::On;
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::{DeviceToolchain, Route};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_intrinsics::catalogue::Form;

/// Forms of each instruction in the slice, and choices of lanes.
const OF_EACH: usize = 4;

/// How many forms the slice has: some instructions have fewer than that.
static SLICE: LazyLock<usize> = LazyLock::new(|| {
    if only::is_set() {
        return forms_check::by_instruction(&ALL).iter().map(|(_, own)| OF_EACH.min(own.len())).sum();
    }
    grammar::counts().into_iter().map(|(_, count)| OF_EACH.min(count)).sum()
});

static PROGRESS: LazyLock<Progress> = LazyLock::new(Progress::new);
static ALL: LazyLock<Vec<Arc<Form>>> = LazyLock::new(forms_check::every_form);
static SEED: LazyLock<Result<u64>> = LazyLock::new(forms_check::seed);
static TOOLCHAIN: LazyLock<Result<DeviceToolchain>> =
    LazyLock::new(|| DeviceToolchain::find(Route::chosen(None)?, &PROGRESS));
static CHECK: LazyLock<Result<Check>> = LazyLock::new(|| {
    let tools = CudaTools::find(&PROGRESS)?;
    Check::new(TOOLCHAIN.as_ref().map_err(Error::new)?, &tools, &PROGRESS)
});
static PART: LazyLock<Result<Part>> = LazyLock::new(|| {
    let seed = *SEED.as_ref().map_err(Error::new)?;
    Ok(CHECK.as_ref().map_err(Error::new)?.part("slice", forms_check::slice(&ALL, OF_EACH, seed)))
});

static COMPARED: AtomicUsize = AtomicUsize::new(0);
static ASSEMBLED: AtomicUsize = AtomicUsize::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("catalogue_counts", counts),
        Trial::test("catalogue_is_the_isa", grammar::agrees),
        Trial::test("rust_says_what_ptx_says", grammar::names_agree),
        Trial::test("ptx_isa_versions", || report(part()?.versions()?)),
        Trial::test("text_dev", || text(Profile::Dev)),
        Trial::test("text_release", || text(Profile::Release)),
    ];
    match CHECK.as_ref() {
        Ok(check) => trials.extend(check.assemblers.iter().flat_map(on)),
        Err(error) => trials.push(Trial::test("assemblers", move || Err(error.into()))),
    }
    if let Ok(seed) = SEED.as_ref() {
        println!("the slice of forms is drawn by {}={seed}", forms_check::SEED_VARIABLE);
    }
    let all = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !all || conclusion.has_failed() {
        return conclusion.exit_code();
    }
    total()
}

/// The numbers that have to be equal: forms in the slice, compared and assembled.
fn total() -> ExitCode {
    let (compared, assembled) = (COMPARED.load(Ordering::Relaxed), ASSEMBLED.load(Ordering::Relaxed));
    let drawn = *SLICE;
    println!(
        "forms: {} in the catalogue, {drawn} drawn, {compared} compiled and compared, {assembled} assembled\n",
        ALL.len()
    );
    if [compared, assembled] == [drawn; 2] {
        return ExitCode::SUCCESS;
    }
    println!("error: each form that is drawn is compared and assembled once");
    ExitCode::FAILURE
}

fn part() -> std::result::Result<&'static Part<'static>, Failed> {
    PART.as_ref().map_err(Failed::from)
}

fn plain(part: &Part<'_>) -> usize {
    part.cases.iter().filter(|case| case.syntax == Syntax::Plain).count()
}

fn counts() -> std::result::Result<(), Failed> {
    let found: BTreeMap<String, usize> =
        forms_check::by_instruction(&ALL).into_iter().map(|(name, own)| (name, own.len())).collect();
    let expected: BTreeMap<String, usize> =
        grammar::counts().into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    let differ: Vec<String> = (found.keys().chain(expected.keys()).collect::<BTreeSet<_>>().into_iter())
        .filter(|name| only::names(name, "") && found.get(*name) != expected.get(*name))
        .map(|name| format!("{name}: {}, not {}", count(&found, name), count(&expected, name)))
        .collect();
    if differ.is_empty() {
        return Ok(());
    }
    Err(format!("if this is meant, correct host-tests/tests/forms/grammar/counts.txt: {}", differ.join("; ")).into())
}

fn count(of: &BTreeMap<String, usize>, name: &str) -> usize {
    of.get(name).copied().unwrap_or_default()
}

fn text(profile: Profile) -> std::result::Result<(), Failed> {
    let part = part()?;
    let looked = part.compare(profile)?;
    if profile == Profile::Release {
        COMPARED.fetch_add(plain(part), Ordering::Relaxed);
    }
    report(looked)
}

/// The first few of many complaints.
fn report(looked: Looked) -> std::result::Result<(), Failed> {
    if looked.wrong.is_empty() {
        return Ok(());
    }
    let shown = looked.wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    Err(format!("{} complaints about {}:\n{shown}", looked.wrong.len(), looked.at).into())
}

fn on(on: &'static On) -> [Trial; 2] {
    [
        Trial::test(format!("accepted_{}", on.sm), move || accepted(on)),
        Trial::test(format!("refused_{}", on.sm), move || report(part()?.refused(on)?)),
    ]
}

fn accepted(on: &On) -> std::result::Result<(), Failed> {
    let part = part()?;
    let looked = part.accepted(on)?;
    if on.sm == Sm::OF_EVERY_FORM {
        ASSEMBLED.fetch_add(plain(part), Ordering::Relaxed);
    }
    report(looked)
}
