//! The suite without a GPU: its kernels are compiled, assembled, and launched through a driver that the test compiles;
//! what they do is what an interpreter of their PTX makes of them. So all but the machine is as it is on a GPU.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

mod hostile;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use fake_driver::run_with;
use host_tests::check::forms_check;
use host_tests::check::ledger;
use launch::gpu::{Argument, Gpu, Launch, Target};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::disassembler::Disassembler;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::Module;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_driver::DRIVER_VARIABLE;
use ptx_interpreter::Program;
use ptx_intrinsics::catalogue::Form;
use serde_json::json;
use suite::bundle::newest_glibc;
use suite::fault::Fault;
use suite::image::{compile, parts};
use suite::journal::{Event, Found, Item, Journal, Machine, Work};
use suite::kernels::{FAULTS, FORMS, Kernels, LITMUS, PTX};
use suite::litmus::Litmus;
use suite::program::{self, Options};
use suite::report::{Lost, Report};
use suite::stage::{Bench, Told};
use suite::versions::Versions;
use suite::{Entry, Kernel, Outcome, Plan, Room, Verdict, run};
use workloads::image::Image;

/// Forms of each instruction in the slice, drawn by the seed.
const OF_EACH: usize = 8;

/// The GPUs that its kernels are assembled for: one of each generation. A bundle is for more.
const GENERATIONS: [u32; 5] = [75, 80, 90, 100, 120];

struct Scenario {
    name: &'static str,
    sm: &'static str,
    run: fn(&Slice),
}

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "every_form_passes", sm: "100", run: every_form_passes },
    Scenario { name: "an_older_gpu_says_what_it_lacks", sm: "80", run: an_older_gpu },
    Scenario { name: "a_wrong_form_is_named", sm: "100", run: a_wrong_form_is_named },
    Scenario { name: "a_wrong_copy_is_named", sm: "100", run: a_wrong_copy_is_named },
    Scenario { name: "a_lost_kernel_is_missed", sm: "100", run: a_lost_kernel_is_missed },
    Scenario { name: "faulty_accesses_fail", sm: "100", run: faulty_accesses_fail },
    Scenario { name: "a_gpu_that_does_nothing_fails", sm: "100", run: a_gpu_that_does_nothing },
    Scenario { name: "no_gpu_has_its_own_code", sm: "100", run: no_gpu },
    Scenario { name: "a_fault_is_named", sm: "100", run: a_fault_is_named },
    Scenario { name: "an_argument_of_another_size_is_named", sm: "100", run: an_argument_of_another_size },
    Scenario { name: "a_part_runs_under_each_sanitizer", sm: "100", run: a_part_under_each_sanitizer },
    Scenario { name: "a_stray_write_is_seen", sm: "100", run: a_stray_write },
    Scenario { name: "a_whole_run_is_complete", sm: "100", run: a_whole_run },
    Scenario { name: "an_image_that_is_refused_is_named", sm: "100", run: a_refused_image },
    Scenario { name: "the_second_set_runs_if_the_first_is_refused", sm: "100", run: the_second_set },
    Scenario { name: "a_driver_that_names_no_parameters_is_no_failure", sm: "100", run: no_parameters },
    Scenario { name: "a_kernel_that_hangs_is_named", sm: "100", run: a_kernel_hangs },
    Scenario { name: "errors_that_cust_does_not_know_are_named", sm: "100", run: unknown_errors },
    Scenario { name: "a_process_that_disappears_is_missed", sm: "100", run: a_process_disappears },
    Scenario { name: "the_deadline_ends_everything", sm: "100", run: the_deadline },
    Scenario { name: "an_interrupted_run_keeps_what_it_found", sm: "100", run: interrupted },
];

/// Set, it tries the whole catalogue, and nothing else: a quarter of an hour to compile, and some minutes to interpret.
const WHOLE_VARIABLE: &str = "SUITE_WHOLE";

const SCENARIO_VARIABLE: &str = "SUITE_SCENARIO";
const FOLDER_VARIABLE: &str = "SUITE_FOLDER";

/// Set to the folder of a bundle, it makes this the bundle's program, whose kernels the interpreter runs.
const BUNDLE_VARIABLE: &str = "SUITE_BUNDLE";

#[derive(clap::Parser)]
struct ProgramArguments {
    #[command(flatten)]
    options: Options,
}

/// What `run` of a bundle does, with the slice in the catalogue's place.
fn as_program(folder: &Path) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(stage) = arguments.iter().skip_while(|argument| *argument != "--work").nth(1) {
        let text = match stage.as_str() {
            "forms" | "forms-again" => prepared("kernels.ptx"),
            stage => prepared(&format!("{stage}.ptx")),
        };
        run_with(&text);
    }
    let arguments = <ProgramArguments as clap::Parser>::parse();
    program::main(&arguments.options, folder, || drawn(seed())).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(BUNDLE_VARIABLE) {
        return as_program(Path::new(&folder));
    }
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS
            .iter()
            .chain(hostile::SCENARIOS)
            .find(|scenario| scenario.name == name)
            .expect("a scenario's name");
        (scenario.run)(&Slice::read());
        println!("{name} done");
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prepared = if arguments.list { Ok(()) } else { prepare(folder.path()).map_err(|error| error.to_string()) };
    let scenario = |scenario: &'static Scenario| {
        let (folder, prepared) = (folder.path().to_owned(), prepared.clone());
        Trial::test(scenario.name, move || {
            prepared.map_err(Failed::from).and_then(|()| in_a_process(scenario, &folder))
        })
    };
    let whole = std::env::var_os(WHOLE_VARIABLE).is_some();
    let scenarios = SCENARIOS.iter().chain(hostile::SCENARIOS).take(if whole { 1 } else { usize::MAX });
    let mut trials: Vec<Trial> = scenarios.map(scenario).collect();
    trials.push(Trial::test("items_are_counted", || hostile::items_are_counted().map_err(Failed::from)));
    trials.push(Trial::test("what_was_under_way_is_named", || {
        hostile::what_was_under_way_is_named().map_err(Failed::from)
    }));
    trials.push(Trial::test("a_report_becomes_a_page", || a_report_becomes_a_page().map_err(Failed::from)));
    trials.push(Trial::test("every_form_is_launched_or_has_a_reason", every_form_is_launched_or_has_a_reason));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Forms that a GPU launches by images of a PTX ISA version: an H100 by both assemblers, and the GPU that has all.
const LAUNCHED: [(u32, PtxVersion); 3] =
    [(90, PtxVersion::OF_EVERY_FORM), (90, PtxVersion::new(9, 0)), (100, PtxVersion::OF_EVERY_FORM)];

/// Nothing of the catalogue is left out of the plan, and what a GPU does not launch has a reason. Whoever adds an instruction
/// is told here that the suite does not know how to try it.
fn every_form_is_launched_or_has_a_reason() -> Result<(), Failed> {
    let forms = forms_check::every_form();
    let plan = Plan::new(&forms);
    let unchecked: BTreeSet<String> = plan.unchecked.iter().map(ToString::to_string).collect();
    assert!(unchecked.is_empty(), "{}", unchecked.into_iter().collect::<Vec<_>>().join("\n"));
    let trials = plan.kernels.iter().map(|kernel| kernel.trials.len()).sum();
    ledger::compare("FORMS", &[ledger::FORMS], &[forms.len()]);
    ledger::compare("PLAN", &ledger::PLAN, &[plan.kernels.len(), trials]);
    let [older, old, newest] = LAUNCHED.map(|(sm, ptx)| {
        let has = |kernel: &&Kernel| kernel.needs.0 <= sm && PtxVersion::of_number(kernel.needs.1) <= ptx;
        let mut parts: Vec<&str> = plan.kernels.iter().filter(has).map(|kernel| kernel.name.as_str()).collect();
        let report = of_a_run(sm, ptx, &parts, &forms, &plan);
        let counts = &report.forms[0].counts;
        assert!(report.passed(), "{:?}", report.forms[0].failures);
        assert_eq!(
            (counts.catalogue, counts.launched, counts.bytes_right),
            (forms.len(), counts.of_images, counts.launched)
        );
        assert_eq!(counts.launched + counts.not_launched.values().sum::<usize>(), counts.catalogue);
        assert!(counts.not_launched.keys().all(|why| why.starts_with("needs ")), "{:?}", counts.not_launched);
        // A kernel that is in no image is no reason.
        parts.pop();
        let report = of_a_run(sm, ptx, &parts, &forms, &plan);
        assert!(!report.passed() && report.forms[0].failures[0].failure.what.contains("no image has its kernel"));
        counts.launched
    });
    assert_eq!(newest, forms.len(), "the newest GPU launches all");
    ledger::compare("LAUNCHED", &ledger::LAUNCHED, &[older, old]);
    Ok(())
}

/// The report of a run in which all of these kernels did what they should.
fn of_a_run(sm: u32, ptx: PtxVersion, parts: &[&str], forms: &[Arc<Form>], plan: &Plan) -> Report {
    let with = json!({ "set": "13.5", "ptx": ptx, "seed": 7, "part": false, "refused": [] });
    let item = Item { name: "0".into(), parts: parts.iter().map(|part| (*part).to_owned()).collect() };
    let data = json!({ "kernels": parts.len(), "trials": 0, "bytes": 0, "wrong": [], "troubles": [] });
    let stage = || "forms".to_owned();
    let events = [
        Event::Run { began: 0, seed: 7, versions: Versions::default(), stages: vec![stage()], quick: false },
        Event::Machine(Machine { sm, ..Machine::default() }),
        Event::Stage { stage: stage(), work: Work { items: vec![item], with, missing: None } },
        Event::Found { stage: stage(), item: "0".into(), found: Found { passed: true, text: String::new(), data } },
        Event::Ended { stage: stage(), early: None, seconds: 1.0 },
        Event::Complete { seconds: 1.0 },
    ];
    Report::of(&events, forms, plan)
}

/// Compiles the driver and the slice's kernels, assembles them for some GPUs, and leaves what the scenarios need.
fn prepare(folder: &Path) -> Result<()> {
    fake_driver::compile(&folder.join("libcuda.so.1"));
    let seed = forms_check::seed()?;
    println!("seed {seed}; repeat with {}={seed}", forms_check::SEED_VARIABLE);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a temporary folder takes it");
    let write_ptx = |name: &str, text: &str| {
        write(name, text);
        let gaps = Program::parse(text).gaps();
        let error = || Error::new(format_args!("the interpreter does not know {gaps:?}, which {name} has"));
        if gaps.is_empty() { Ok(()) } else { Err(error().fix("add it to ptx-interpreter")) }
    };
    write("seed", &seed.to_string());
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    let plan = Plan::new(&drawn(seed));
    if std::env::var_os(WHOLE_VARIABLE).is_some() {
        let (sm, version) = (Sm::new(100), PtxVersion::new(9, 0));
        let text = |(number, kernels): (usize, &[Kernel])| {
            let part = compile(&format!("part-{number}"), 0, kernels, &toolchain)?;
            part.text(&kernels.iter().collect::<Vec<_>>(), sm, version)
        };
        let parts: Vec<String> = parts(&plan.kernels).into_iter().map(text).collect::<Result<_>>()?;
        return write_ptx("kernels.ptx", &parts.concat());
    }
    let part = compile("slice", 0, &plan.kernels, &toolchain)?;
    let (litmus, faults) = (Litmus::all(), Fault::all());
    let litmus = compile("litmus", 0, &litmus, &toolchain)?;
    let faults = compile("faults", 0, &faults, &toolchain)?;
    for on in tools.every_gpu(&progress)?.into_iter().filter(|on| GENERATIONS.contains(&on.sm.number)) {
        // tests/orders assembles the litmus tests for all of them.
        let kernels = kernels(on.version, [(FORMS, part.assemble(&on)?), (FAULTS, faults.assemble(&on)?)]);
        let mut all = kernels.sections.values().flatten();
        assert!(all.all(|image| Target::of(&image.cubin).is_ok()), "{} makes no cubins", on.sm);
        if on.sm == Sm::new(100) {
            std::fs::write(folder.join("cubins"), kernels.pack()?).expect("a temporary folder takes it");
            kernels.forms().iter().try_for_each(|image| disassemble(image, &tools, folder))?;
        }
    }
    write_ptx(
        "faults.ptx",
        &faults.text(&faults.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?,
    )?;
    write_ptx(
        "litmus.ptx",
        &litmus.text(&litmus.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?,
    )?;
    write_ptx("kernels.ptx", &part.text(&plan.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?)
}

/// A set of kernels.
fn kernels<const N: usize>(ptx: PtxVersion, sections: [(&str, Vec<Image>); N]) -> Kernels {
    let sections = sections.into_iter().map(|(name, images)| (name.to_owned(), images)).collect();
    Kernels { set: "13.5".into(), ptx, sections, refused: [].into(), part: false }
}

/// The disassembler finds code for each kernel that the image lists, and no other kernel.
fn disassemble(image: &Image, tools: &CudaTools, folder: &Path) -> Result<()> {
    let cubin = folder.join("image.cubin");
    std::fs::write(&cubin, &image.cubin).expect("a temporary folder takes it");
    let found = Disassembler::new(&tools.nvdisasm).disassemble(&cubin)?;
    assert!(found.iter().all(|function| !function.instructions.is_empty()), "a function without code");
    // Functions that a kernel calls have names that begin with a dollar.
    let found: BTreeSet<&str> =
        found.iter().map(|function| function.name.as_str()).filter(|name| !name.starts_with('$')).collect();
    let listed: BTreeSet<&str> = image.kernels.iter().map(String::as_str).collect();
    let missing: Vec<_> = listed.difference(&found).collect();
    assert!(!listed.is_empty() && missing.is_empty(), "nvdisasm sees no {missing:?}");
    let others: Vec<_> = found.difference(&listed).collect();
    assert!(others.is_empty(), "nvdisasm sees {others:?} too");
    Ok(())
}

/// The forms of the slice, in the catalogue's order.
fn drawn(seed: u64) -> Vec<Arc<Form>> {
    if std::env::var_os(WHOLE_VARIABLE).is_some() {
        return forms_check::every_form();
    }
    suite::slice(&forms_check::every_form(), OF_EACH, seed)
}

fn in_a_process(scenario: &Scenario, folder: &Path) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?)
        .env(SCENARIO_VARIABLE, scenario.name)
        .env(FOLDER_VARIABLE, folder)
        .env(DRIVER_VARIABLE, folder.join("libcuda.so.1"))
        .env("FAKE_SM", scenario.sm)
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(fake_driver::GAP) {
        return Err(format!(
            "a gap of the interpreter, ptx-interpreter/src, and not a wrong form: {}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    if output.status.success() && stdout.ends_with(&format!("{} done\n", scenario.name)) {
        return Ok(());
    }
    Err(format!("{}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// A file that was prepared; of the whole catalogue there are fewer.
fn prepared(name: &str) -> String {
    let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE).expect("the folder"));
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}

fn seed() -> u64 {
    prepared("seed").parse().expect("a number")
}

/// What the scenarios share.
struct Slice {
    seed: u64,
    forms: Vec<Arc<Form>>,
    plan: Plan,
    ptx: String,
    litmus: String,
    faults: String,
}

impl Slice {
    fn read() -> Slice {
        let forms = drawn(seed());
        let plan = Plan::new(&forms);
        let [ptx, litmus, faults] = ["kernels.ptx", "litmus.ptx", "faults.ptx"].map(prepared);
        Slice { seed: seed(), forms, plan, ptx, litmus, faults }
    }

    /// The image of the kernels that a GPU has.
    fn images(&self, sm: u32, ptx: &str) -> Vec<Image> {
        let kernels = self.plan.kernels.iter().filter(|kernel| kernel.needs.0 <= sm);
        let kernels = kernels.map(|kernel| kernel.name.clone()).collect();
        vec![Image { kernels, cubin: ptx.replace(".target sm_100", &format!(".target sm_{sm}")).into_bytes() }]
    }

    fn bench(&self, images: Vec<Image>) -> Bench {
        let told = Told { seed: self.seed, ..Told::default() };
        Bench::kept(self.forms.clone(), kernels(PtxVersion::OF_EVERY_FORM, [(FORMS, images)]), told)
    }

    /// Runs it with this PTX.
    fn run(&self, ptx: &str) -> Outcome {
        run_with(ptx);
        run(&mut self.bench(self.images(sm(), ptx)), &Progress::kept()).unwrap()
    }
}

/// The SM that the fake driver says.
fn sm() -> u32 {
    std::env::var("FAKE_SM").unwrap().parse().unwrap()
}

fn by_verdict(outcome: &Outcome) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for (_, verdict) in &outcome.verdicts {
        let word = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::NotRun(_) => "not run",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The forms that failed, and why.
fn failures(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome.verdicts.iter().filter_map(|(form, verdict)| Some((form.ptx(), verdict.failure()?))).collect()
}

fn every_form_passes(slice: &Slice) {
    let outcome = slice.run(&slice.ptx);
    let failed = failures(&outcome);
    assert_eq!(failed.iter().take(20).collect::<Vec<_>>(), [&("", ""); 0], "{} with seed {}", failed.len(), slice.seed);
    assert_eq!(by_verdict(&outcome), HashMap::from([("passed", slice.forms.len())]));
    assert_eq!(outcome.kernels, slice.plan.kernels.len());
    assert_eq!(outcome.trials, slice.plan.kernels.iter().map(|kernel| kernel.trials.len()).sum::<usize>());
    assert!(outcome.verdicts.len() > 280, "only {} forms", outcome.verdicts.len());
    // SAFETY: the fake driver has this function, of this type.
    let live = unsafe { ptx_driver::load().unwrap().symbol::<extern "C" fn() -> usize>(c"fake_live_allocations") };
    assert!(live.unwrap()() <= 2, "everything but the variables of the last module is freed");
}

fn an_older_gpu(slice: &Slice) {
    let outcome = slice.run(&slice.ptx);
    assert_eq!(failures(&outcome), []);
    for (form, verdict) in &outcome.verdicts {
        let expected = match form.min_sm() {
            ..=80 => Verdict::Passed,
            sm => Verdict::NotRun(format!("needs sm_{sm}")),
        };
        assert_eq!(*verdict, expected, "{}", form.ptx());
    }
    assert!(by_verdict(&outcome)["not run"] > 20);
}

/// A form passes only if all of its trials ran.
fn a_lost_kernel_is_missed(slice: &Slice) {
    run_with(&slice.ptx);
    let mut images = slice.images(100, &slice.ptx);
    let lost = images[0].kernels.pop().unwrap();
    let outcome = run(&mut slice.bench(images), &Progress::kept()).unwrap();
    let lost = slice.plan.kernels.iter().find(|kernel| kernel.name == lost).unwrap();
    let expected: BTreeSet<&str> = lost.trials.iter().map(|case| case.form.rust()).collect();
    let failed = outcome.verdicts.iter().filter(|(_, verdict)| verdict.failure().is_some());
    assert_eq!(failed.map(|(form, _)| form.rust()).collect::<BTreeSet<_>>(), expected);
}

/// As if a row of a table were wrong in every load and store, and in some atomics: one form of each instruction moves half
/// of its bytes, or does something else with them.
fn a_wrong_form_is_named(slice: &Slice) {
    let halves =
        [(".u64", ".u32"), (".f64", ".f32"), (".s64", ".s32"), (".u32", ".u16"), (".s32", ".s16"), (".u16", ".u8")];
    let operations = [(".min", ".max"), (".and", ".or"), (".inc", ".dec")];
    let (mut ptx, mut wrong) = (slice.ptx.clone(), BTreeSet::new());
    for (_, own) in forms_check::by_instruction(&slice.forms) {
        let half = |form: &Arc<Form>| {
            if form.element().is_none() {
                let (of, instead) = operations.iter().find(|(of, _)| form.instruction().ends_with(of))?;
                return Some((form.clone(), form.ptx().replacen(of, instead, 1)));
            }
            let (of, instead) = halves.iter().find(|(of, _)| form.ptx().ends_with(of))?;
            Some((form.clone(), form.ptx().strip_suffix(of)?.to_owned() + instead))
        };
        let Some((form, instead)) = own.iter().find_map(half) else { continue };
        // As a whole word: `st.cg.u16` is also how `ld.const.cg.u16` ends.
        let changed = [" ", "\t", "\n"].iter().fold(ptx.clone(), |ptx, before| {
            ptx.replace(&format!("{before}{} ", form.ptx()), &format!("{before}{instead} "))
        });
        assert_ne!(changed, ptx, "{} is not in the PTX", form.ptx());
        ptx = changed;
        wrong.insert(form.ptx().to_owned());
    }
    assert!(wrong.len() > 20, "only {wrong:?}");
    let outcome = slice.run(&ptx);
    let named: BTreeSet<String> = failures(&outcome).into_iter().map(|(form, _)| form.to_owned()).collect();
    assert_eq!(named, wrong);
    let (form, why) = failures(&outcome)[0];
    let form = slice.forms.iter().find(|one| one.ptx() == form).unwrap();
    assert!(why.starts_with(form.rust()) && why.contains(" of thread 0 is 0x"), "{why}");
}

/// A copy of too few bytes, a wait for too few groups, an arrival of another kind: each fails, and no other form.
fn a_wrong_copy_is_named(slice: &Slice) {
    // The form, a part of its line in the PTX, and what is there instead.
    let changes = [
        ("cp.async.ca.shared.global.L2::128B [%], [%], 16", " 16;", " 8;"),
        ("cp.async.wait_group 3", " 3;", " 4;"),
        ("cp.async.mbarrier.arrive.shared.b64 [%]", ".arrive", ".arrive.noinc"),
        ("cp.async.bulk.wait_group 3", " 3;", " 4;"),
        ("cp.async.bulk.wait_group.read 3", " 3;", " 4;"),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%], [%], %, %", ".cp_mask", ""),
        ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%], [%], %, [%]", "], [", "+16], ["),
        ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%], [%], %, [%]", "], [", "+16], ["),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%], [%], %, [%], %",
            "], [",
            "+16], [",
        ),
        ("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%], %", "complete_tx", "expect_tx"),
        ("mbarrier.arrive_drop.release.cluster.shared.b64 %, [%]", "_drop", ""),
        ("mbarrier.arrive_drop.relaxed.cta.shared::cluster.b64 _, [%], %", "_drop", ""),
        ("mbarrier.expect_tx.relaxed.cluster.shared.b64 [%], %", "expect_tx", "complete_tx"),
        ("mbarrier.try_wait.relaxed.cta.shared.b64 %done, [%], %", "try_wait", "try_wait.parity"),
    ];
    let mut lines: Vec<String> = slice.ptx.lines().map(str::to_owned).collect();
    for (told, part, instead) in changes {
        let form = slice.forms.iter().find(|form| form.told() == told).unwrap_or_else(|| panic!("no form {told}"));
        let mnemonic = format!("{} ", form.ptx());
        let is_it = |line: &&mut String| {
            let line = line.trim();
            let operands = |text: &str| text.matches(", ").count();
            line.starts_with(&mnemonic) && line.contains(part) && operands(line) == operands(told)
        };
        let line = lines.iter_mut().find(is_it).unwrap_or_else(|| panic!("{told} is not in the PTX"));
        *line = line.replacen(part, instead, 1);
    }
    let wrong: BTreeSet<String> = changes.iter().map(|(told, ..)| told.to_string()).collect();
    let outcome = slice.run(&lines.join("\n"));
    let failed = outcome.verdicts.iter().filter(|(_, verdict)| verdict.failure().is_some());
    assert_eq!(failed.map(|(form, _)| form.told()).collect::<BTreeSet<_>>(), wrong);
}

/// A form whose address is astray: its kernel's forms fail by name, and those after it are not said to have passed.
fn a_fault_is_named(slice: &Slice) {
    // Elsewhere there is memory at a small address too.
    let kernel = slice.plan.kernels.iter().rfind(|kernel| kernel.room == Room::Global).unwrap();
    let form = &kernel.trials[0].form;
    let module = Module::parse(&slice.ptx).unwrap();
    let access = module.function(&kernel.name).unwrap().body.iter().find(|line| line.text.starts_with(form.ptx()));
    let access = &access.expect("the form is in its kernel").text;
    let (head, rest) = access.split_once('[').unwrap();
    let astray = format!("{head}[16{}", &rest[rest.find(']').unwrap()..]);
    let (before, behind) = slice.ptx.split_once(&format!(".entry {}(", kernel.name)).unwrap();
    let ptx = format!("{before}.entry {}({}", kernel.name, behind.replacen(access.as_str(), &astray, 1));
    run_with(&ptx);
    let mut bench = slice.bench(slice.images(100, &ptx));
    let outcome = run(&mut bench, &Progress::kept()).unwrap();
    let own: BTreeSet<&str> = kernel.trials.iter().map(|case| case.form.ptx()).collect();
    let begins = format!("its kernel {} failed: running the kernels failed with", kernel.name);
    assert!(failures(&outcome).iter().all(|(form, why)| own.contains(form) && why.starts_with(&begins)));
    assert_eq!(failures(&outcome).iter().map(|(form, _)| *form).collect::<BTreeSet<_>>(), own);
    let others = || outcome.verdicts.iter().filter(|(form, _)| !own.contains(form.ptx()));
    let ended = Verdict::NotRun("the stage ended before it".into());
    assert!(others().count() > 0 && others().all(|(_, verdict)| *verdict == ended));
    // The next process goes on without that kernel, and all else passes.
    // SAFETY: the fake driver has this function, of this type.
    unsafe { ptx_driver::load().unwrap().symbol::<extern "C" fn()>(c"fake_forget_fault") }.unwrap()();
    let outcome = run(&mut bench, &Progress::kept()).unwrap();
    let failed: BTreeSet<&str> = failures(&outcome).iter().map(|(form, _)| *form).collect();
    assert_eq!(failed, own);
    assert_eq!(by_verdict(&outcome).get("not run"), None);
}

/// A kernel that writes to what it should only read, and one that writes outside of its buffer.
fn a_stray_write(slice: &Slice) {
    let is_first = |kernel: &&Kernel| matches!(kernel.room, Room::Global | Room::Shared | Room::Local);
    let kernel = slice.plan.kernels.iter().find(is_first).unwrap();
    let with = |parameter: usize, offset: i32| {
        let (before, behind) = slice.ptx.split_once(&format!(".entry {}(", kernel.name)).unwrap();
        let (head, body) = behind.split_once("\n{\n").unwrap();
        let name = &kernel.name;
        let store = format!(
            ".reg .b64 %stray;\n.reg .b32 %value;\nld.param.b64 %stray, [{name}_param_{parameter}];\n\
             mov.b32 %value, 85;\nst.global.u8 [%stray+{offset}], %value;"
        );
        let ptx = format!("{before}.entry {name}({head}\n{{\n{store}\n{body}");
        run_with(&ptx);
        // Alone, so that its buffers begin where the whole ones do.
        let mut bench = slice.bench(vec![Image { kernels: vec![name.clone()], cubin: ptx.into_bytes() }]);
        let outcome = run(&mut bench, &Progress::kept()).unwrap();
        let found = bench.journal.events().unwrap().into_iter().find_map(|event| match event {
            Event::Found { found, .. } => Some(found),
            _ => None,
        });
        (outcome, found.unwrap())
    };
    let own: BTreeSet<String> = forms_of(kernel).into_iter().collect();
    let changed = format!("its kernel {} failed: it changed what it should only read: byte 3 of its own", kernel.name);
    let (outcome, _) = with(0, 3);
    let why = |outcome: &Outcome| -> BTreeSet<String> {
        let of = |(form, verdict): &(Arc<Form>, Verdict)| {
            let why = verdict.failure()?;
            own.contains(&form.told()).then(|| why.to_owned())
        };
        outcome.verdicts.iter().filter_map(of).filter(|why| !why.contains("no image has its kernel")).collect()
    };
    assert_eq!(why(&outcome), [changed].into());
    let (outcome, found) = with(2, -1);
    assert_eq!(why(&outcome), [].into(), "the forms' own bytes are right");
    let outside = format!("a kernel wrote outside of its buffer: byte -1 of {}", kernel.bytes());
    assert!(!found.passed && found.text.ends_with(&outside), "{}", found.text);
}

/// Each gives the answer that it should, and is the access that it says.
fn faulty_accesses_fail(slice: &Slice) {
    run_with(&slice.faults);
    let gpu = Gpu::find().unwrap();
    let all = Fault::all();
    assert_eq!(all.len(), 4);
    let names = all.iter().map(|fault| fault.name.clone()).collect();
    let image = Image { kernels: names, cubin: slice.faults.as_bytes().to_vec() };
    let kernels = kernels(PtxVersion::OF_EVERY_FORM, [(FAULTS, vec![image])]);
    // SAFETY: the fake driver has this function, of this type.
    let forget = unsafe { ptx_driver::load().unwrap().symbol::<extern "C" fn()>(c"fake_forget_fault") }.unwrap();
    for fault in &all {
        assert_eq!(fault.provoke(&gpu, &kernels).unwrap(), fault.code(), "{}", fault.name);
        forget();
    }
}

/// Kernels of an image in the bundles here.
const OF_AN_IMAGE: usize = 10;

/// A module's version, target and buffers, and the parameters of each of its kernels.
struct Declared<'a> {
    head: String,
    parameters: HashMap<&'a str, &'a str>,
}

impl<'a> Declared<'a> {
    fn of(ptx: &'a str) -> Declared<'a> {
        let is_kept =
            |line: &&str| line.starts_with(".version") || line.starts_with(".target") || line.contains(".b8 suite_");
        let before = ptx.lines().take_while(|line| !line.contains(".entry "));
        let entry = |text: &'a str| {
            let (name, behind) = text.split_once('(')?;
            Some((name, behind.split_once(')')?.0))
        };
        Declared {
            head: before.filter(is_kept).map(|line| format!("{line}\n")).collect(),
            parameters: ptx.split(".entry ").skip(1).filter_map(entry).collect(),
        }
    }

    /// The module with these kernels. What they do, the interpreter is told.
    fn with(&self, kernels: &[String]) -> String {
        let entry = |name: &String| {
            let parameters = self.parameters.get(name.as_str()).expect("the kernel is there");
            format!(".visible .entry {name}({parameters})\n")
        };
        self.head.clone() + &kernels.iter().map(entry).collect::<String>()
    }
}

/// The folder of a bundle: the slice's kernels in images of a few, by two assemblers and as text. What they make differs in nothing
/// but a mark, and the older one has refused the last kernel.
fn bundle(slice: &Slice) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let [of_forms, of_litmus, of_faults] = [&slice.ptx, &slice.litmus, &slice.faults].map(|ptx| Declared::of(ptx));
    for set in ["13.5", "13.0", PTX] {
        let image = |names: Vec<String>, declared: &Declared<'_>, mark: &str| Image {
            cubin: format!("// {set} {mark}.\n{}", declared.with(&names)).into_bytes(),
            kernels: names,
        };
        let mut names: Vec<String> = slice.plan.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let refused: BTreeSet<String> = if set == "13.0" { names.pop().into_iter().collect() } else { [].into() };
        let forms = names.chunks(OF_AN_IMAGE).enumerate();
        let forms = forms.map(|(number, names)| image(names.to_vec(), &of_forms, &format!("image {number}"))).collect();
        let litmus = Litmus::all().iter().flat_map(Entry::functions).collect();
        let faults = Fault::all().into_iter().map(|fault| fault.name).collect();
        let litmus = vec![image(litmus, &of_litmus, "litmus")];
        let faults = vec![image(faults, &of_faults, "faults")];
        let sections = [(FORMS, forms), (LITMUS, litmus), (FAULTS, faults)];
        let kernels = Kernels { set: set.into(), refused, ..kernels(PtxVersion::OF_EVERY_FORM, sections) };
        let packed = kernels.pack().unwrap();
        let unpacked = Kernels::unpack(&packed).unwrap();
        assert_eq!((&unpacked.set, unpacked.ptx), (&kernels.set, kernels.ptx));
        assert_eq!(unpacked.refused, kernels.refused);
        assert_eq!(unpacked.sections.keys().collect::<Vec<_>>(), [FAULTS, FORMS, LITMUS]);
        assert_eq!(unpacked.section(LITMUS)[0].cubin, kernels.section(LITMUS)[0].cubin);
        assert!(Kernels::unpack(&packed[..packed.len() / 2]).is_err());
        let file = folder.path().join("kernels").join(set).join("sm_100.zst");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, packed).unwrap();
    }
    let versions = serde_json::to_string(&Versions::default()).unwrap();
    std::fs::write(folder.path().join("versions.json"), versions).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_gpu-suite"), folder.path().join("run")).unwrap();
    folder
}

/// Runs the program of a bundle; its exit code, and what it printed.
fn program(folder: &Path, driver: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(folder.join("run")).args(arguments).env(DRIVER_VARIABLE, driver).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.code(), text)
}

/// The program of a bundle, its kernels run by the interpreter, with a driver that is told to misbehave.
fn interpreted(bundle: &Path, settings: &[(&str, String)], arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--seed", "7"]).args(arguments).env(BUNDLE_VARIABLE, bundle).envs(settings.iter().cloned());
    command
}

/// What a run left.
struct Left {
    _folder: tempfile::TempDir,
    code: Option<i32>,
    text: String,
    report: Report,
    events: Vec<Event>,
}

fn left(folder: tempfile::TempDir, output: std::process::Output) -> Left {
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    let report = std::fs::read(folder.path().join("report.json")).unwrap_or_else(|error| panic!("{error}: {text}"));
    let report = serde_json::from_slice(&report).unwrap();
    let events = Journal::open(&folder.path().join("results.jsonl")).unwrap().events().unwrap();
    Left { _folder: folder, code: output.status.code(), text, report, events }
}

fn hostile(slice: &Slice, settings: &[(&str, String)], arguments: &[&str]) -> Left {
    let folder = bundle(slice);
    let output = interpreted(folder.path(), settings, arguments).output().unwrap();
    left(folder, output)
}

impl Left {
    /// The forms that failed, by their PTX, and why.
    fn failures(&self) -> Vec<(&str, &str)> {
        let failures = &self.report.forms[0].failures;
        failures.iter().map(|failure| (failure.ptx.as_str(), failure.failure.what.as_str())).collect()
    }

    /// What has no result in the stage of forms.
    fn lost(&self) -> &[Lost] {
        &self.report.stages.iter().find(|stage| stage.name == "forms").unwrap().lost
    }

    /// Nothing is lost but these kernels: each of their forms failed and says why, and every other one passed.
    fn only_these_failed(&self, slice: &Slice, kernels: &[(&Kernel, &str)]) {
        let text = &self.text;
        assert_eq!(self.code, Some(if kernels.is_empty() { 0 } else { 1 }), "{text}");
        assert!(self.report.complete, "{text}");
        let wrong: BTreeSet<String> = kernels.iter().flat_map(|(kernel, _)| forms_of(kernel)).collect();
        let named: BTreeSet<String> = self.failures().iter().map(|(form, _)| (*form).to_owned()).collect();
        assert_eq!(named, wrong, "{text}");
        for (kernel, why) in kernels {
            let own: BTreeSet<String> = forms_of(kernel).into_iter().collect();
            let said = || self.failures().into_iter().filter(|(form, _)| own.contains(*form));
            assert!(said().any(|(_, what)| what.contains(why)), "{} {why}: {:?}", kernel.name, said().next());
        }
        let counts = &self.report.forms[0].counts;
        assert_eq!(counts.catalogue, slice.forms.len());
        let of_older = self.report.forms[0].set == "13.0";
        let refused = if of_older { refused(slice) } else { [].into() };
        let right = |told: String| !wrong.contains(&told) && !refused.contains(&told);
        assert_eq!(counts.bytes_right, slice.forms.iter().filter(|form| right(form.told())).count());
    }
}

/// The forms that the older assembler of a bundle here refused.
fn refused(slice: &Slice) -> BTreeSet<String> {
    slice.plan.kernels.last().into_iter().flat_map(forms_of).collect()
}

fn forms_of(kernel: &Kernel) -> Vec<String> {
    kernel.trials.iter().map(|case| case.form.told()).collect()
}

/// Kernels of the slice, of different images.
fn some_kernels(slice: &Slice) -> [&Kernel; 3] {
    let kernels = &slice.plan.kernels;
    assert!(kernels.len() > 3 * OF_AN_IMAGE, "only {} kernels", kernels.len());
    [&kernels[1], &kernels[OF_AN_IMAGE], &kernels[2 * OF_AN_IMAGE + 3]]
}

/// Every stage that the interpreter can do, in two sets of images.
fn a_whole_run(slice: &Slice) {
    let left = hostile(slice, &[], &["--only", "forms,forms-again,faults"]);
    left.only_these_failed(slice, &[]);
    assert_eq!(left.lost(), []);
    let Report { machine, seed, forms, stages, .. } = &left.report;
    assert_eq!((machine.gpu.as_str(), machine.sm, machine.processors, *seed), ("Fake GPU", 100, 4, 7));
    let tried: Vec<_> = forms.iter().map(|tried| (tried.stage.as_str(), tried.set.as_str(), tried.seed)).collect();
    assert_eq!(tried, [("forms", "13.5", 7), ("forms-again", "13.0", 8)]);
    let right: Vec<usize> = forms.iter().map(|tried| tried.counts.bytes_right).collect();
    assert_eq!(right, [slice.forms.len(), slice.forms.len() - refused(slice).len()]);
    assert!(forms.iter().all(|tried| tried.failures.is_empty()));
    let kernels = slice.plan.kernels.len();
    let [images, again] = [kernels, kernels - 1].map(|kernels| kernels.div_ceil(OF_AN_IMAGE));
    let done: Vec<_> = stages.iter().map(|stage| (stage.name.as_str(), stage.items, stage.results.len())).collect();
    let expected =
        [("images", 2, 2), ("tools", 4, 4), ("forms", images, images), ("forms-again", again, again), ("faults", 4, 4)];
    assert_eq!(done, expected);
    let launched = |event: &&Event| matches!(event, Event::Begun { stage, part: Some(_), .. } if stage == "forms");
    assert_eq!(left.events.iter().filter(launched).count(), slice.plan.kernels.len(), "each kernel once");
}

fn a_refused_image(slice: &Slice) {
    let left = hostile(slice, &[("FAKE_REFUSE", "13.5 image 1.=222".into())], &["--only", "forms"]);
    let why = "its image 1 has no result: loading the kernels failed with said by the fake driver (222)";
    let kernels: Vec<_> = slice.plan.kernels[OF_AN_IMAGE..2 * OF_AN_IMAGE].iter().map(|kernel| (kernel, why)).collect();
    left.only_these_failed(slice, &kernels);
    assert_eq!(left.lost().len(), 1);
    assert_eq!((left.lost()[0].item.as_str(), &left.lost()[0].part), ("1", &None));
}

fn the_second_set(slice: &Slice) {
    let left = hostile(slice, &[("FAKE_REFUSE", "// 13.5=209".into())], &["--only", "forms"]);
    left.only_these_failed(slice, &[]);
    assert_eq!(left.report.forms[0].set, "13.0");
    let images = &left.report.stages[0];
    assert_eq!((images.name.as_str(), images.results.len(), images.lost.len()), ("images", 1, 1));
    assert!(images.lost[0].item == "13.5" && images.lost[0].why.contains("(209)"), "{:?}", images.lost);
}

fn no_parameters(slice: &Slice) {
    hostile(slice, &[("FAKE_PARAMETERS", "0".into())], &["--only", "forms"]).only_these_failed(slice, &[]);
}

fn a_kernel_hangs(slice: &Slice) {
    let [_, kernel, _] = some_kernels(slice);
    let settings = [("FAKE_HANG", kernel.name.clone())];
    let left = hostile(slice, &settings, &["--only", "forms", "--launch-limit", "1"]);
    left.only_these_failed(slice, &[(kernel, "the kernels have not ended after 1s")]);
    assert_eq!(left.lost().len(), 1);
    assert_eq!(left.lost()[0].part.as_deref(), Some(&kernel.name[..]));
}

/// Two errors that stay, and one of a launch alone.
fn unknown_errors(slice: &Slice) {
    let [one, two, three] = some_kernels(slice);
    let settings =
        [("FAKE_FAULT", format!("{}=721,{}=719", one.name, three.name)), ("FAKE_LAUNCH", format!("{}=912", two.name))];
    let left = hostile(slice, &settings, &["--only", "forms"]);
    let running = |code| format!("running the kernels failed with said by the fake driver ({code})");
    let launching = "launching failed with said by the fake driver (912)";
    left.only_these_failed(slice, &[(one, &running(721)), (two, launching), (three, &running(719))]);
    // Each of the two that stay took a process with it, and the kernels before it in its image ran once more.
    let machines = left.text.matches("Every form\n").count();
    assert_eq!(machines, 3, "{}", left.text);
}

fn a_process_disappears(slice: &Slice) {
    let [kernel, ..] = some_kernels(slice);
    let left = hostile(slice, &[("FAKE_DISAPPEAR", kernel.name.clone())], &["--only", "forms"]);
    left.only_these_failed(slice, &[(kernel, "its process ended: signal: 6 (SIGABRT)")]);
}

/// A kernel hangs, and the run's time is shorter than the launch's.
fn the_deadline(slice: &Slice) {
    let settings = [("FAKE_HANG", slice.plan.kernels[0].name.clone())];
    let arguments = ["--only", "forms,faults", "--launch-limit", "1000", "--deadline", "4"];
    let left = hostile(slice, &settings, &arguments);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let stage = |name: &str| left.report.stages.iter().find(|stage| stage.name == name).unwrap();
    // How far it came depends on the machine; that it says so does not.
    for name in ["forms", "faults"] {
        let early = stage(name).early.clone().unwrap_or_default();
        assert!(early.starts_with("the time of the run was over after "), "{name}: {early}");
    }
    assert!(left.report.complete && !left.report.passed());
}

/// As a `timeout` before the program would do it.
fn interrupted(slice: &Slice) {
    let [_, kernel, _] = some_kernels(slice);
    let folder = bundle(slice);
    let settings = [("FAKE_HANG", kernel.name.clone())];
    let mut command = interpreted(folder.path(), &settings, &["--only", "forms,faults", "--launch-limit", "1000"]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let results = folder.path().join("results.jsonl");
    let hangs = format!("\"part\":\"{}\"", kernel.name);
    while !std::fs::read_to_string(&results).is_ok_and(|text| text.contains(&hangs)) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let left = left(folder, child.wait_with_output().unwrap());
    assert_eq!(left.code, Some(1), "{}", left.text);
    let early: Vec<_> = left.report.stages.iter().filter_map(|stage| stage.early.as_deref()).collect();
    assert_eq!(early, ["interrupted", "interrupted"]);
    assert!(left.report.forms[0].counts.bytes_right > 0);
    assert_eq!(left.lost()[0].part.as_deref(), Some(&kernel.name[..]));
}

/// What a kernel declares in its PTX is held against what the program passes, before it is launched.
fn an_argument_of_another_size(slice: &Slice) {
    run_with(&slice.ptx);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(slice.ptx.as_bytes()).unwrap();
    let kernel = slice.plan.kernels.iter().find(|kernel| kernel.room == Room::Global).unwrap();
    let refused = |arguments: Vec<Argument>| {
        let launch = Launch { kernel: kernel.name.clone(), blocks: 1, threads: 32, arguments };
        // SAFETY: it is refused before anything is launched.
        unsafe { gpu.launch(&module, &launch) }.unwrap_err().to_string()
    };
    let long = Argument::U64(0);
    let text = refused(vec![long.clone(), Argument::U32(0), long.clone()]);
    assert!(text.contains("parameter 1 of the kernel has 8 bytes, and is given 4"), "{text}");
    assert!(text.contains(&kernel.name), "{text}");
    let text = refused(vec![long.clone(), long.clone()]);
    assert!(text.contains("the kernel takes 3 parameters, and is given 2"), "{text}");
    // A parameter by value that the kernel has longer than the plan does, in a whole run.
    let kernel = slice.plan.kernels.iter().find(|kernel| kernel.room == Room::EntryTensorMap).unwrap();
    let (before, behind) = slice.ptx.split_once(&format!(".entry {}(", kernel.name)).unwrap();
    let (list, rest) = behind.split_once(')').unwrap();
    let (front, size) = list.split_once('[').unwrap();
    let (size, back) = size.split_once(']').unwrap();
    let other = size.parse::<usize>().unwrap() + 16;
    let ptx = format!("{before}.entry {}({front}[{other}]{back}){rest}", kernel.name);
    let outcome = slice.run(&ptx);
    let why = format!("parameter 0 of the kernel has {other} bytes, and is given {size}");
    let own: BTreeSet<&str> = kernel.trials.iter().map(|case| case.form.ptx()).collect();
    assert_eq!(failures(&outcome).iter().map(|(form, _)| *form).collect::<BTreeSet<_>>(), own);
    assert!(failures(&outcome).iter().all(|(_, said)| said.contains(&why)), "{:?}", failures(&outcome)[0]);
}

/// Stands for `compute-sanitizer`: writes down what it is told, runs the program, and complains if the test wants it.
const SANITIZER: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Compute Sanitizer, Version 0" && exit
echo "$*" >> "$RECORD"
while [ "$1" != --log-file ]; do shift; done
echo "========= ERROR SUMMARY: 0 errors" > "$2"
shift 2
"$@" || exit
case "$*" in *"$COMPLAINS"*) exit 86;; esac
"#;

fn a_part_under_each_sanitizer(slice: &Slice) {
    let tools = tempfile::tempdir().unwrap();
    let (sanitizer, record) = (tools.path().join("compute-sanitizer"), tools.path().join("record"));
    std::fs::write(&sanitizer, SANITIZER).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&sanitizer, executable).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let record_path = record.display().to_string();
    let settings = [("PATH", path), ("RECORD", record_path), ("COMPLAINS", "--kind host".into())];
    let left = hostile(slice, &settings, &["--only", "sanitizer"]);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let stage = left.report.stages.iter().find(|stage| stage.name == "sanitizer").unwrap();
    let recorded = std::fs::read_to_string(&record).unwrap();
    // One complaint ends nothing.
    assert_eq!((stage.results.len(), stage.lost.len(), recorded.lines().count()), (24, 0, 24), "{}", left.text);
    for (row, line) in stage.results.iter().zip(recorded.lines()) {
        let (tool, kind) = row.item.split_once(' ').unwrap();
        assert!(line.starts_with(&format!("--tool {tool} --error-exitcode 86 --log-file ")), "{line}");
        assert!(line.contains(&format!(" --work forms --kind {kind} --launch-limit 60 --seed 7 --results ")), "{line}");
        assert_eq!(row.passed, kind != "host", "{}: {}", row.item, row.text);
        let ending = if kind == "host" { "exit status: 86: " } else { "exit status: 0: " };
        assert!(row.text.starts_with(&format!("{ending}ERROR SUMMARY: 0 errors; ")), "{}", row.text);
        assert_eq!(row.data["log"], "========= ERROR SUMMARY: 0 errors\n");
    }
    // Clusters, bulk copies and constants are among what ran.
    let ran = |kind: &str| {
        let results = left._folder.path().join(format!("sanitizer/memcheck-{kind}.jsonl"));
        let events = Journal::open(&results).unwrap().events().unwrap();
        let kernels = events.into_iter().filter_map(|event| match event {
            Event::Begun { part, .. } => part,
            _ => None,
        });
        let kernels: BTreeSet<String> = kernels.collect();
        let planned = slice.plan.kernels.iter().filter(|kernel| kernels.contains(&kernel.name));
        planned.flat_map(forms_of).collect::<Vec<_>>()
    };
    assert!(ran("cluster").iter().any(|form| form.contains(".shared::cluster")));
    assert!(ran("shared").iter().any(|form| form.starts_with("cp.async.bulk.")));
    assert!(ran("constant").iter().any(|form| form.starts_with("ld.const")));
    // Without the program the stage is not run, which the report says, and all else is right.
    let settings = [("PATH", tools.path().join("nothing").display().to_string())];
    let left = hostile(slice, &settings, &["--only", "sanitizer"]);
    let stage = left.report.stages.iter().find(|stage| stage.name == "sanitizer").unwrap();
    assert_eq!((left.code, stage.items, stage.lost.len()), (Some(0), 0, 0), "{}", left.text);
    assert_eq!(stage.missing.as_deref(), Some("compute-sanitizer"));
    assert!(left.text.contains("sanitizer: not run: there is no compute-sanitizer here"), "{}", left.text);
    assert!(left.text.contains("all is right, but sanitizer not run, "), "{}", left.text);
}

/// Where kernels do nothing, no form passes; nor does one that the program of a bundle has no kernel of.
fn a_gpu_that_does_nothing(slice: &Slice) {
    // Here the images are cubins, whose kernels and variables the fake driver looks up.
    let cubins = Path::new(&std::env::var_os(FOLDER_VARIABLE).unwrap()).join("cubins");
    let images = Kernels::unpack(&std::fs::read(cubins).unwrap()).unwrap().forms().to_vec();
    let outcome = run(&mut slice.bench(images), &Progress::kept()).unwrap();
    assert_eq!(by_verdict(&outcome), HashMap::from([("failed", slice.forms.len())]));
    assert_eq!((outcome.launched.len(), outcome.kernels), (slice.forms.len(), slice.plan.kernels.len()));
    assert!(failures(&outcome).iter().all(|(_, why)| why.contains("bytes are wrong")), "{:?}", failures(&outcome));
    assert!(failures(&outcome)[0].1.contains(" is 0xa5 (the poison), expected 0x"), "{:?}", failures(&outcome)[0]);
    let slots = |verdict: &Verdict| match verdict {
        Verdict::Failed(failure) => failure.slots.len(),
        _ => 0,
    };
    assert!(outcome.verdicts.iter().all(|(_, verdict)| slots(verdict) > 0), "each shows what was expected and found");
    // The program that is in a bundle has the whole catalogue, whose kernels this bundle lacks.
    let folder = bundle(slice);
    let driver = std::env::var(DRIVER_VARIABLE).unwrap();
    let (code, text) = program(folder.path(), &driver, &["--seed", "7", "--only", "litmus,faults"]);
    assert_eq!(code, Some(1), "{text}");
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: Report = serde_json::from_slice(&report).unwrap();
    let [.., litmus, faults] = &report.stages[..] else { panic!("{:?}", report.stages) };
    // Where no thread counted, nothing was seen of a litmus test, and an access that was not made does not fail.
    let unseen = "nothing was seen: the threads never met";
    assert!(litmus.results.iter().all(|row| !row.passed && row.text.starts_with(unseen)), "{litmus:?}");
    assert!(litmus.results.len() == litmus.items && litmus.items > 0, "{litmus:?}");
    assert!(faults.results.iter().all(|row| !row.passed) && faults.results.len() == 4, "{faults:?}");
    assert!(report.complete && !report.passed());
}

fn no_gpu(slice: &Slice) {
    let folder = bundle(slice);
    let (code, text) = program(folder.path(), "/nonexistent/libcuda.so.1", &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.starts_with("no GPU: no CUDA driver could be opened"), "{text}");
    assert!(!folder.path().join("results.jsonl").exists(), "no results of nothing");
    assert_eq!(program(folder.path(), "", &["--nonsense"]).0, Some(2));
    let (code, text) = program(folder.path(), "", &["--only", "nonsense"]);
    assert_eq!((code, text.contains("there is no stage nonsense")), (Some(1), true), "{text}");
    let driver = std::env::var(DRIVER_VARIABLE).unwrap();
    for set in ["13.5", "13.0", PTX] {
        std::fs::remove_file(folder.path().join("kernels").join(set).join("sm_100.zst")).unwrap();
    }
    let (code, text) = program(folder.path(), &driver, &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("this bundle has no kernels for sm_100"), "{text}");
    // The laboratory alone and litmus files end with the same code where there is no GPU.
    for arguments in [
        &["lab"][..],
        &["--litmus", concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus/tests/litmus/MP-release-acquire.litmus")],
    ] {
        let (code, text) = program(folder.path(), "/nonexistent/libcuda.so.1", arguments);
        assert!(code == Some(3) && text.contains("no GPU: no CUDA driver could be opened"), "{code:?} {text}");
    }
    let run = std::fs::read(folder.path().join("run")).unwrap();
    assert_eq!(newest_glibc(b"GLIBC_2.9 GLIBC_2.34 GLIBC_2.2.5"), (2, 34));
    assert!(newest_glibc(&run) > (2, 0), "the program names the C library");
}

/// The page of a report, to the letter. The report is made up; it is nobody's measurement.
fn a_report_becomes_a_page() -> Result<(), String> {
    let report: Report = serde_json::from_str(include_str!("report.json")).map_err(|error| error.to_string())?;
    assert!(!report.passed());
    let page = report.page();
    if page == include_str!("report.md") { Ok(()) } else { Err(format!("the page is now:\n{page}")) }
}
