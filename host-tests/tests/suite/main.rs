//! The suite without a GPU: its kernels are compiled, assembled, and launched through a driver that the test compiles;
//! what they do is what an interpreter of their PTX makes of them. So all but the machine is as it is on a GPU.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

#[path = "../fake_gpu/mod.rs"]
mod fake_gpu;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use fake_gpu::run_with;
use host_tests::cuda_tools::CudaTools;
use host_tests::driver::{self, DRIVER_VARIABLE};
use host_tests::error::{Error, Result};
use host_tests::forms_check;
use host_tests::gpu::{Argument, Gpu, Launch, Target};
use host_tests::nvdisasm::Disassembler;
use host_tests::progress::Progress;
use host_tests::ptx::Module;
use host_tests::ptxas::On;
use host_tests::suite::bundle::{Kernels, newest_glibc};
use host_tests::suite::fault::Fault;
use host_tests::suite::image::{Image, compile, compile_part, parts};
use host_tests::suite::litmus::{self, Litmus};
use host_tests::suite::report::{Report, Versions};
use host_tests::suite::{self, Chosen, Kernel, Outcome, Plan, Room, Verdict, run};
use host_tests::target::{PtxVersion, Sm};
use host_tests::toolchain::{DeviceToolchain, Route};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_interpreter::Program;
use ptx_intrinsics::catalogue::Form;

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
    Scenario { name: "litmus_tests_count_every_pair", sm: "100", run: litmus_tests },
    Scenario { name: "a_lost_store_is_a_violation", sm: "100", run: a_lost_store_is_a_violation },
    Scenario { name: "a_lost_kernel_is_missed", sm: "100", run: a_lost_kernel_is_missed },
    Scenario { name: "faulty_accesses_fail", sm: "100", run: faulty_accesses_fail },
    Scenario { name: "a_gpu_that_does_nothing_fails", sm: "100", run: a_gpu_that_does_nothing },
    Scenario { name: "no_gpu_has_its_own_code", sm: "100", run: no_gpu },
    Scenario { name: "a_fault_is_named", sm: "100", run: a_fault_is_named },
    Scenario { name: "an_argument_of_another_size_is_named", sm: "100", run: an_argument_of_another_size },
    Scenario { name: "a_part_runs_under_each_sanitizer", sm: "100", run: a_part_under_each_sanitizer },
];

/// Set, it tries the whole catalogue, and nothing else: a quarter of an hour to compile, and some minutes to interpret.
const WHOLE_VARIABLE: &str = "SUITE_WHOLE";

const SCENARIO_VARIABLE: &str = "SUITE_SCENARIO";
const FOLDER_VARIABLE: &str = "SUITE_FOLDER";

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).expect("a scenario's name");
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
    let mut trials: Vec<Trial> = SCENARIOS.iter().take(if whole { 1 } else { SCENARIOS.len() }).map(scenario).collect();
    trials.push(Trial::test("a_report_becomes_a_page", || a_report_becomes_a_page().map_err(Failed::from)));
    trials.push(Trial::test("every_instruction_has_a_check", every_instruction_has_a_check));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whoever adds an instruction to the catalogue is told here that the suite does not know how to try it.
fn every_instruction_has_a_check() -> Result<(), Failed> {
    let plan = Plan::new(&forms_check::every_form());
    let unchecked: BTreeSet<String> = plan.unchecked.iter().map(ToString::to_string).collect();
    if unchecked.is_empty() { Ok(()) } else { Err(unchecked.into_iter().collect::<Vec<_>>().join("\n").into()) }
}

/// Compiles the driver and the slice's kernels, assembles them for some GPUs, and leaves what the scenarios need.
fn prepare(folder: &Path) -> Result<()> {
    fake_gpu::compile(&folder.join("libcuda.so.1"));
    let seed = forms_check::seed()?;
    eprintln!("seed {seed}; repeat with {}={seed}", forms_check::SEED_VARIABLE);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a temporary folder takes it");
    let write_ptx = |name: &str, text: &str| {
        write(name, text);
        let gaps = Program::parse(text).gaps();
        let error = || Error::new(format_args!("the interpreter does not know {gaps:?}, which {name} has"));
        if gaps.is_empty() { Ok(()) } else { Err(error().fix("add it to host-tests/interpreter")) }
    };
    write("seed", &seed.to_string());
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    let plan = Plan::new(&drawn(seed));
    if std::env::var_os(WHOLE_VARIABLE).is_some() {
        let (sm, version) = (Sm::new(100), PtxVersion::new(9, 0));
        let text = |(number, kernels): (usize, &[Kernel])| {
            compile_part(number, kernels, &toolchain)?.text(&kernels.iter().collect::<Vec<_>>(), sm, version)
        };
        let parts: Vec<String> = parts(&plan.kernels).into_iter().map(text).collect::<Result<_>>()?;
        return write_ptx("kernels.ptx", &parts.concat());
    }
    let part = compile("slice", 0, &plan.kernels, &toolchain)?;
    let (litmus, faults) = (Litmus::all(), Fault::all());
    let litmus = compile("litmus", 0, &litmus, &toolchain)?;
    let faults = compile("faults", 0, &faults, &toolchain)?;
    for on in On::every(&tools, &progress)?.into_iter().filter(|on| GENERATIONS.contains(&on.sm.number)) {
        let kernels =
            Kernels { forms: part.assemble(&on)?, others: [litmus.assemble(&on)?, faults.assemble(&on)?].concat() };
        let all = || kernels.forms.iter().chain(&kernels.others);
        assert!(all().all(|image| Target::of(&image.cubin).is_ok()), "{} makes no cubins", on.sm);
        if on.sm == Sm::new(100) {
            std::fs::write(folder.join("cubins"), kernels.pack()?).expect("a temporary folder takes it");
            kernels.forms.iter().try_for_each(|image| disassemble(image, &tools, folder))?;
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
    if output.status.code() == Some(fake_gpu::GAP) {
        return Err(
            format!("a gap of the interpreter, not a wrong form: {}", String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    if output.status.success() && stdout.ends_with(&format!("{} done\n", scenario.name)) {
        return Ok(());
    }
    Err(format!("{}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
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
        let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE).expect("the folder"));
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file that was prepared");
        let seed = text("seed").parse().expect("a number");
        let forms = drawn(seed);
        let plan = Plan::new(&forms);
        let [litmus, faults] =
            ["litmus.ptx", "faults.ptx"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap_or_default());
        Slice { seed, forms, plan, ptx: text("kernels.ptx"), litmus, faults }
    }

    /// The image of the kernels that a GPU has.
    fn images(&self, sm: u32, ptx: &str) -> Vec<Image> {
        let kernels = self.plan.kernels.iter().filter(|kernel| kernel.needs.0 <= sm);
        let kernels = kernels.map(|kernel| kernel.name.clone()).collect();
        vec![Image { kernels, cubin: ptx.replace(".target sm_100", &format!(".target sm_{sm}")).into_bytes() }]
    }

    fn chosen(&self) -> Chosen {
        Chosen { seed: self.seed, sample: 1, without: Vec::new() }
    }

    /// Runs it with this PTX.
    fn run(&self, ptx: &str) -> Outcome {
        run_with(ptx);
        let gpu = Gpu::find().unwrap();
        run(&gpu, &self.forms, &self.images(gpu.sm(), ptx), self.chosen(), &Progress::kept()).unwrap()
    }
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
    let live = unsafe { driver::load().unwrap().symbol::<extern "C" fn() -> usize>(c"fake_live_allocations") };
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
    let gpu = Gpu::find().unwrap();
    let mut images = slice.images(100, &slice.ptx);
    let lost = images[0].kernels.pop().unwrap();
    let chosen = slice.chosen();
    let outcome = run(&gpu, &slice.forms, &images, chosen, &Progress::kept()).unwrap();
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
    // The form, a part of its line in the PTX, and what stands there instead.
    let changes = [
        ("cp.async.ca.shared.global.L2::128B [%], [%], 16", " 16;", " 8;"),
        ("cp.async.wait_group 3", " 3;", " 4;"),
        ("cp.async.mbarrier.arrive.shared.b64 [%]", ".arrive", ".arrive.noinc"),
        ("cp.async.bulk.wait_group 3", " 3;", " 4;"),
        ("cp.async.bulk.wait_group.read 3", " 3;", " 4;"),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%], [%], %, %", ".cp_mask", ""),
        ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%], [%], %, [%]", "], [", "+16], ["),
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

/// A form whose address is astray: its kernel's forms fail by name, and those behind it are not said to have passed.
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
    let outcome = slice.run(&ptx);
    let failures = failures(&outcome);
    assert_eq!(failures.len(), slice.forms.len(), "nothing of this module was compared");
    let begins = format!("its kernel {} failed: running the kernels failed with", kernel.name);
    let own: BTreeSet<&str> = kernel.trials.iter().map(|case| case.form.ptx()).collect();
    let named: BTreeSet<&str> =
        failures.iter().filter(|(_, why)| why.starts_with(&begins)).map(|(form, _)| *form).collect();
    assert_eq!(named, own);
    let others = failures.iter().filter(|(_, why)| why.starts_with("not launched")).count();
    assert!(others > 0, "{failures:?}");
    // The next attempt leaves that kernel out, and all else passes.
    let stopped = outcome.stopped.clone().unwrap();
    assert_eq!(stopped.kernel, kernel.name);
    // SAFETY: the fake driver has this function, of this type.
    unsafe { driver::load().unwrap().symbol::<extern "C" fn()>(c"fake_forget_fault") }.unwrap()();
    let images = slice.images(100, &ptx);
    let chosen = Chosen { without: vec![stopped], ..slice.chosen() };
    let outcome = run(&Gpu::find().unwrap(), &slice.forms, &images, chosen, &Progress::kept()).unwrap();
    let failed: BTreeSet<&str> = self::failures(&outcome).iter().map(|(form, _)| *form).collect();
    assert_eq!(failed, own);
    assert_eq!(outcome.stopped, None);
}

/// Memory in order shows nothing that is forbidden, and no pair is lost or counted twice.
fn litmus_tests(slice: &Slice) {
    run_with(&slice.litmus);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(slice.litmus.as_bytes()).unwrap();
    let all = Litmus::all();
    assert_eq!(all.len(), 39);
    for litmus in [&all[1], &all[14 + 4], &all[38]] {
        let counted = litmus::run(litmus, &gpu, &module, 1).unwrap();
        assert_eq!(counted.violations(), 0, "{counted:?}");
        // Four multiprocessors with four blocks of 256 threads, eight rounds.
        assert_eq!(counted.outcomes.iter().sum::<u64>(), 4 * 4 * 256 / 2 * 8, "{counted:?}");
    }
}

/// A message without its data is counted as what it is: a violation.
fn a_lost_store_is_a_violation(slice: &Slice) {
    let name = "message_passing_acquire_release_gpu";
    let litmus = Litmus::all().into_iter().find(|litmus| litmus.name == name).unwrap();
    let (before, behind) = slice.litmus.split_once(&format!(".entry {name}(")).unwrap();
    let (kernel, behind) = behind.split_once(".entry").unwrap();
    let is_data = |line: &str| line.starts_with("st.global.u32");
    assert_eq!(kernel.lines().filter(|line| is_data(line)).count(), 8, "one store of data in each round");
    let kernel: Vec<&str> = kernel.lines().filter(|line| !is_data(line)).collect();
    let ptx = format!("{before}.entry {name}({}\n.entry{behind}", kernel.join("\n"));
    run_with(&ptx);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(ptx.as_bytes()).unwrap();
    let counted = litmus::run(&litmus, &gpu, &module, 1).unwrap();
    let [zeros, lost @ .., other] = counted.outcomes;
    assert_eq!((lost[0], other, zeros + lost[1]), (0, 0, 4 * 4 * 256 / 2 * 8), "{counted:?}");
    assert_eq!(counted.violations(), lost[1], "{counted:?}");
    assert!(counted.violations() > 1000, "{counted:?}");
}

/// Each gives the answer that it should, and is the access that it says.
fn faulty_accesses_fail(slice: &Slice) {
    run_with(&slice.faults);
    let gpu = Gpu::find().unwrap();
    let all = Fault::all();
    assert_eq!(all.len(), 20);
    let kernels = all.iter().map(|fault| fault.name.clone()).collect();
    let images = [Image { kernels, cubin: slice.faults.as_bytes().to_vec() }];
    // SAFETY: the fake driver has this function, of this type.
    let forget = unsafe { driver::load().unwrap().symbol::<extern "C" fn()>(c"fake_forget_fault") }.unwrap();
    for fault in &all {
        assert_eq!(fault.provoke(&gpu, &images).unwrap(), fault.code(), "{}", fault.name);
        forget();
    }
}

/// The folder of a bundle, with the slice's kernels in it.
fn bundle(slice: &Slice) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("kernels")).unwrap();
    let image = |kernels: Vec<String>, ptx: &str| Image { kernels, cubin: ptx.as_bytes().to_vec() };
    let litmus = Litmus::all().into_iter().map(|litmus| litmus.name).collect();
    // The slice's kernels are not those of the whole catalogue, which the program runs.
    let kernels = Kernels { forms: Vec::new(), others: vec![image(litmus, &slice.litmus)] };
    let packed = kernels.pack().unwrap();
    let unpacked = Kernels::unpack(&packed).unwrap();
    assert_eq!((unpacked.forms.len(), unpacked.others.len()), (0, 1));
    assert_eq!(unpacked.others[0].cubin, slice.litmus.as_bytes());
    assert!(Kernels::unpack(&packed[..packed.len() / 2]).is_err());
    std::fs::write(folder.path().join("kernels/sm_100.zst"), packed).unwrap();
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
    let stopped = outcome.stopped.unwrap();
    assert_eq!(stopped.kernel, kernel.name);
    let why = format!("parameter 0 of the kernel has {other} bytes, and is given {size}");
    assert!(stopped.why.contains(&why), "{}", stopped.why);
}

/// Stands for `compute-sanitizer`: writes down what it is told, runs the program, and ends as the test wants.
const SANITIZER: &str = r#"#!/bin/sh
echo "$*" >> "$RECORD"
while [ "$(basename "$1")" != run ]; do shift; done
"$@" > /dev/null 2>&1
echo "the program ended with $?" >> "$RECORD"
exit "$ENDS_WITH"
"#;

fn a_part_under_each_sanitizer(slice: &Slice) {
    let folder = bundle(slice);
    let tools = tempfile::tempdir().unwrap();
    let (sanitizer, record) = (tools.path().join("compute-sanitizer"), tools.path().join("record"));
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let run = |path: &str, ends_with: &str| {
        let mut command = Command::new(folder.path().join("run"));
        command.arg("--sanitize").env("PATH", path).env("RECORD", &record).env("ENDS_WITH", ends_with);
        let output = command.output().unwrap();
        let recorded = std::fs::read_to_string(&record).unwrap_or_default();
        let _ = std::fs::remove_file(&record);
        (output.status.code(), recorded, String::from_utf8(output.stderr).unwrap())
    };
    let (code, recorded, text) = run(&tools.path().display().to_string(), "0");
    assert_eq!((code, recorded.as_str()), (Some(1), ""), "{text}");
    assert!(text.contains("error: could not start compute-sanitizer: "), "{text}");
    assert!(text.contains("put its folder into PATH"), "{text}");
    std::fs::write(&sanitizer, SANITIZER).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&sanitizer, executable).unwrap();
    let (code, recorded, text) = run(&path, "0");
    assert_eq!(code, Some(0), "{text}");
    let lines: Vec<&str> = recorded.lines().collect();
    assert_eq!(lines.len(), 6, "{recorded}");
    for (tool, lines) in ["memcheck", "racecheck", "initcheck"].iter().zip(lines.chunks(2)) {
        let program = folder.path().join("run");
        let begins = format!(
            "--tool {tool} --error-exitcode 1 --target-processes all {} --sample 20 --no-faults --no-litmus --report ",
            program.display()
        );
        assert!(lines[0].starts_with(&begins), "{}", lines[0]);
        // It has no kernels of forms, so none passes.
        assert_eq!(lines[1], "the program ended with 1");
    }
    assert!(!folder.path().join("report.json").exists(), "no report of a part");
    // The first tool that finds something ends it.
    let (code, recorded, _) = run(&path, "7");
    assert_eq!((code, recorded.lines().count()), (Some(7), 2), "{recorded}");
}

/// Where kernels do nothing, no form passes; nor does one that the program of a bundle has no kernel of.
fn a_gpu_that_does_nothing(slice: &Slice) {
    let gpu = Gpu::find().unwrap();
    let chosen = slice.chosen();
    // Here the images are cubins, whose kernels and variables the fake driver looks up.
    let cubins = Path::new(&std::env::var_os(FOLDER_VARIABLE).unwrap()).join("cubins");
    let images = Kernels::unpack(&std::fs::read(cubins).unwrap()).unwrap().forms;
    let outcome = run(&gpu, &slice.forms, &images, chosen, &Progress::kept()).unwrap();
    assert_eq!(by_verdict(&outcome), HashMap::from([("failed", slice.forms.len())]));
    assert_eq!((outcome.launched, outcome.kernels), (slice.forms.len(), slice.plan.kernels.len()));
    assert!(failures(&outcome).iter().all(|(_, why)| why.contains("bytes are wrong")), "{:?}", failures(&outcome));
    assert!(failures(&outcome)[0].1.contains(" is 0xa5 (the poison), expected 0x"), "{:?}", failures(&outcome)[0]);
    let folder = bundle(slice);
    let driver = std::env::var(DRIVER_VARIABLE).unwrap();
    let (code, text) = program(folder.path(), &driver, &["--seed", "7", "--no-litmus"]);
    assert_eq!(code, Some(1), "{text}");
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: Report = serde_json::from_slice(&report).unwrap();
    let forms = report.forms;
    assert_eq!((report.gpu.as_str(), report.sm, report.seed), ("Fake GPU", 100, 7));
    let catalogue = forms_check::every_form().len();
    assert!(catalogue > 80_000, "only {catalogue} forms");
    assert_eq!((forms.catalogue, forms.of_device), (catalogue, catalogue));
    assert_eq!((forms.launched, forms.verified), (0, 0));
    assert_eq!(report.instructions.iter().map(|row| row.failed).sum::<usize>(), catalogue);
    assert_eq!(report.failures.len(), 100);
    // Its faults are launched by processes of their own, whose kernels do nothing either.
    assert_eq!(report.faults.len(), 20);
    assert!(report.faults.iter().all(|fault| fault.found.is_err()), "{:?}", report.faults);
    assert!(text.contains(&format!("{catalogue}  forms in the catalogue for this device\n")), "{text}");
    // What no thread wrote is no outcome of a litmus test.
    let (code, text) = program(folder.path(), &driver, &["--no-faults"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("of which none is 0 or 1"), "{text}");
}

fn no_gpu(slice: &Slice) {
    let folder = bundle(slice);
    let (code, text) = program(folder.path(), "/nonexistent/libcuda.so.1", &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.starts_with("no GPU: no CUDA driver could be opened"), "{text}");
    assert_eq!(program(folder.path(), "", &["--nonsense"]).0, Some(2));
    let driver = std::env::var(DRIVER_VARIABLE).unwrap();
    std::fs::remove_file(folder.path().join("kernels/sm_100.zst")).unwrap();
    let (code, text) = program(folder.path(), &driver, &[]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("error: this bundle has no kernels for sm_100\n"), "{text}");
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
