//! Every form of the catalogue: legal by the ISA's own syntax, spelled to the letter in both profiles, and taken by
//! the assembler on every GPU that the catalogue names, and on none that it does not.

mod grammar;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use host_tests::cuda_tools::CudaTools;
use host_tests::device_build::{DeviceBuild, Profile};
use host_tests::error::{Error, Result};
use host_tests::forms::{self, Case, Manner, Verdicts};
use host_tests::progress::Progress;
use host_tests::ptx::Module;
use host_tests::ptxas::Assembler;
use host_tests::target::{PtxVersion, Sm};
use host_tests::toolchain::{DeviceToolchain, Route};
use libtest_mimic::{Arguments, Failed, Trial};

/// The newest PTX ISA version that both assemblers read, and the newest that any form needs.
const VERSION: PtxVersion = PtxVersion::new(8, 8);

/// Choices of lanes: all but none and all, of four `.v8` types and four `.v4` types, for two loads.
const LANES: usize = (254 * 4 + 14 * 4) * 2;

/// Six loads and four stores with the names of CUDA C++, of each type.
const CUDA: usize = 10 * 47;

/// What one form more or less would change: forms by instruction.
const FORMS: [(&str, usize); 4] = [("ld.global.nc", 4536), ("ld.global", 5288), ("st.global", 1228), ("prefetch", 12)];

static PROGRESS: LazyLock<Progress> = LazyLock::new(Progress::new);
static CASES: LazyLock<Vec<Case>> = LazyLock::new(forms::cases);
static TOOLS: LazyLock<Result<CudaTools>> = LazyLock::new(|| CudaTools::find(&PROGRESS));
static TOOLCHAIN: LazyLock<Result<DeviceToolchain>> =
    LazyLock::new(|| DeviceToolchain::find(Route::chosen(None)?, &PROGRESS));
static DEV: LazyLock<Result<Module>> = LazyLock::new(|| build(Profile::Dev));
static RELEASE: LazyLock<Result<Module>> = LazyLock::new(|| build(Profile::Release));

static COMPARED: AtomicUsize = AtomicUsize::new(0);
static ASSEMBLED: AtomicUsize = AtomicUsize::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("catalogue_counts", counts),
        Trial::test("catalogue_is_the_isa", grammar::agrees),
        Trial::test("rust_says_what_ptx_says", grammar::names_agree),
        Trial::test("ptx_isa_versions", versions),
    ];
    for (profile, module) in [("dev", &DEV), ("release", &RELEASE)] {
        for (instruction, _) in FORMS {
            let name = format!("text_{profile}_{instruction}");
            trials.push(Trial::test(name, move || text(module, profile, instruction)));
        }
    }
    match assemblers() {
        Ok(assemblers) => trials.extend(assemblers.into_iter().flat_map(|(sm, assembler)| on(sm, assembler))),
        Err(error) => trials.push(Trial::test("assemblers", move || fail(error))),
    }
    let all = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !all || conclusion.has_failed() {
        return conclusion.exit_code();
    }
    total()
}

/// The numbers that have to be equal: forms in the catalogue, compared and assembled.
fn total() -> ExitCode {
    let catalogue = plain(|_| true).len();
    let (compared, assembled) = (COMPARED.load(Ordering::Relaxed), ASSEMBLED.load(Ordering::Relaxed));
    println!("forms: {catalogue} in the catalogue, {compared} compiled and compared, {assembled} assembled\n");
    if [compared, assembled] == [catalogue; 2] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn fail<T>(why: impl std::fmt::Display) -> std::result::Result<T, Failed> {
    Err(why.to_string().into())
}

fn target() -> PathBuf {
    host_tests::command::Machine::current().target().join("forms")
}

fn build(profile: Profile) -> Result<Module> {
    let toolchain = TOOLCHAIN.as_ref().map_err(Error::new)?;
    let folder = forms::write_crate(&target().join("crate"), &CASES)?;
    let mut build = DeviceBuild::new(folder, "forms", Sm::new(100));
    (build.ptx, build.profile) = (Some(VERSION), profile);
    Module::read(&build.build(toolchain)?)
}

fn counts() -> std::result::Result<(), Failed> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for case in plain(|_| true) {
        *found.entry(case.form.instruction()).or_default() += 1;
    }
    found.insert("lanes", CASES.iter().filter(|case| matches!(case.manner, Manner::Lanes(_))).count());
    found.insert("CUDA", CASES.iter().filter(|case| matches!(case.manner, Manner::Cuda(_))).count());
    let expected = BTreeMap::from_iter(FORMS.into_iter().chain([("lanes", LANES), ("CUDA", CUDA)]));
    if found == expected { Ok(()) } else { fail(format!("expected {expected:?}, found {found:?}")) }
}

fn text(module: &Result<Module>, profile: &str, instruction: &str) -> std::result::Result<(), Failed> {
    let module = module.as_ref().map_err(Failed::from)?;
    let cases: Vec<Case> = CASES.iter().filter(|case| case.form.instruction() == instruction).cloned().collect();
    let wrong = forms::differences(module, &cases);
    if profile == "release" {
        COMPARED.fetch_add(cases.iter().filter(|case| case.manner == Manner::Plain).count(), Ordering::Relaxed);
    }
    report(wrong, cases.len())
}

/// The first few of many complaints.
fn report(wrong: Vec<String>, of: usize) -> std::result::Result<(), Failed> {
    if wrong.is_empty() {
        return Ok(());
    }
    let shown = wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    fail(format!("{} of {of} are wrong:\n{shown}", wrong.len()))
}

/// Every GPU and its assembler: today's, and CUDA 12's for those that it dropped. One of each number: `sm_90a` takes
/// what `sm_90` takes.
fn assemblers() -> Result<Vec<(Sm, Assembler)>> {
    let tools = TOOLS.as_ref().map_err(Error::new)?;
    let (now, before) = (Assembler::new(&tools.ptxas), Assembler::new(tools.ptxas12(&PROGRESS)?));
    let (new, old) = (now.supported_sms()?, before.supported_sms()?);
    let dropped: BTreeSet<Sm> = old.into_iter().filter(|sm| Some(sm) < new.first()).collect();
    let plain = |sm: &Sm| sm.suffix.is_none();
    let new = new.into_iter().filter(plain).map(|sm| (sm, now.clone()));
    Ok(dropped.into_iter().filter(plain).map(|sm| (sm, before.clone())).chain(new).collect())
}

fn on(sm: Sm, assembler: Assembler) -> [Trial; 2] {
    let other = assembler.clone();
    [
        Trial::test(format!("accepted_{sm}"), move || accepted(sm, &assembler)),
        Trial::test(format!("refused_{sm}"), move || refused(sm, &other)),
    ]
}

fn verdicts() -> std::result::Result<Verdicts<'static>, Failed> {
    static KEPT: LazyLock<PathBuf> = LazyLock::new(|| target().join("accepted"));
    Ok(Verdicts { module: RELEASE.as_ref().map_err(Failed::from)?, kept: &KEPT })
}

/// What the catalogue says that this GPU has, the assembler takes; the predicated forms on one GPU, since the
/// predicate is the same everywhere.
fn accepted(sm: Sm, assembler: &Assembler) -> std::result::Result<(), Failed> {
    let newest = sm.number == 100;
    let has = |case: &&Case| case.form.min_sm() <= sm.number && (newest || case.manner == Manner::Plain);
    let cases: Vec<&Case> = CASES.iter().filter(has).collect();
    let version = VERSION.max(PtxVersion::default_for(sm));
    let wrong = verdicts()?.refusals(assembler, &cases, sm, version)?;
    if newest {
        ASSEMBLED.fetch_add(cases.iter().filter(|case| case.manner == Manner::Plain).count(), Ordering::Relaxed);
    }
    report(wrong, cases.len())
}

/// What the catalogue says that this GPU has not, the assembler refuses.
fn refused(sm: Sm, assembler: &Assembler) -> std::result::Result<(), Failed> {
    let newer: Vec<&Case> = plain(|case| case.form.min_sm() > sm.number);
    let version = VERSION.max(PtxVersion::default_for(sm));
    let wrong = verdicts()?.accepted(assembler, &newer, sm, version)?;
    report(wrong.iter().map(|case| format!("{} is accepted", case.form.ptx())).collect(), newer.len())
}

/// Where a PTX ISA version brings something: a GPU that has it, the version before, and the version.
const GATES: [(u32, u32, u32); 4] = [(80, 73, 74), (90, 78, 80), (80, 82, 83), (100, 87, 88)];

/// What the catalogue says that a PTX ISA version brings, the assembler refuses one version earlier and takes then.
fn versions() -> std::result::Result<(), Failed> {
    let tools = TOOLS.as_ref().map_err(Failed::from)?;
    let assembler = Assembler::new(&tools.ptxas);
    let version = |number: u32| PtxVersion::new(number / 10, number % 10);
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (number, before, gate) in GATES {
        let sm = Sm::new(number);
        let cases = plain(|case| case.form.min_ptx() == gate && case.form.min_sm() <= number);
        asked += cases.len();
        let early = verdicts()?.accepted(&assembler, &cases, sm, version(before))?;
        wrong
            .extend(early.iter().map(|case| format!("{} is accepted in PTX ISA {}", case.form.ptx(), version(before))));
        wrong.extend(verdicts()?.refusals(&assembler, &cases, sm, version(gate))?);
    }
    let gated = plain(|case| case.form.min_ptx() > 31).len();
    if asked != gated {
        wrong.push(format!("{gated} forms need a PTX ISA version above 3.1, and {asked} were asked about"));
    }
    report(wrong, asked)
}

fn plain(wanted: impl Fn(&Case) -> bool) -> Vec<&'static Case> {
    CASES.iter().filter(|case| case.manner == Manner::Plain && wanted(case)).collect()
}
