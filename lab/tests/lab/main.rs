//! The laboratory without a GPU: its kernels in Rust run on `fake-gpu`.
//! So values and control flow are those of a real run; times are not.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

mod beside;
mod measuring;
mod profiler;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use fake_gpu_client::{SM_VARIABLE, library};
use lab::bench::{Bench, LINE, Places};
use lab::device::Argument;
use lab::images::{About, Image, Language, Without, in_rust, pack};
use lab::judge::{Results, Verdict, judge_all};
use lab::line::{Line, Run, read};
use lab::{Options, Summary};
use launch::gpu::Gpu;
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::error::Result;
use ptx_build::program::conclude;
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_driver::DRIVER_VARIABLE;
use ptx_interpreter::Program;
use suite::kernels::Kernels;
use suite::program;
use suite::report::{Report, Row};
use suite::versions::Versions;
use workloads::image as kernel_image;

struct Scenario {
    name: &'static str,
    run: fn(&str),
    /// The faults of the GPU.
    driver: Option<(&'static str, &'static str)>,
}

const fn scenario(name: &'static str, run: fn(&str)) -> Scenario {
    Scenario { name, run, driver: None }
}

const SCENARIOS: &[Scenario] = &[
    scenario("every_experiment_runs", every_experiment_runs),
    scenario("sweeps_read_every_quad", sweeps_read_every_quad),
    scenario("fills_write_every_quad_and_no_other", fills_write_every_quad),
    scenario("a_ring_goes_through_every_place_once", a_ring_goes_through_every_place),
    scenario("a_probe_is_pinned_and_timed", a_probe_is_pinned_and_timed),
    Scenario { driver: LATE_COPIES, ..scenario("late_copies_are_waited_for", late_copies_are_waited_for) },
    Scenario { driver: LATE_COPIES, ..scenario("a_late_copy_is_late", a_late_copy_is_late) },
    scenario("every_experiment_has_cases_to_count", measuring::every_experiment_has_cases_to_count),
    scenario("a_profiler_is_not_asked", beside::a_profiler_is_not_asked),
    scenario("calibration_begins_warm", measuring::calibration_begins_warm),
    scenario("the_machine_is_watched", measuring::the_machine_is_watched),
    scenario("a_copy_that_copies_nothing_is_named", measuring::a_copy_that_copies_nothing_is_named),
    Scenario {
        driver: Some(("FAKE_CARVE_OUT", "0")),
        ..scenario("without_its_l1_an_experiment_fails", measuring::without_its_l1_an_experiment_fails)
    },
    Scenario {
        driver: Some(("FAKE_MICROSECONDS", "60")),
        ..scenario("launches_fill_what_is_timed", measuring::launches_fill_what_is_timed)
    },
    scenario("a_lost_gpu_leaves_lines_behind", a_lost_gpu_leaves_lines_behind),
    scenario("a_missing_kernel_is_a_line", a_missing_kernel_is_a_line),
    scenario("the_stages_name_the_experiments_that_fail", stages_name_what_fails),
];

/// Scenarios with the kernels in CUDA C++, which take a minute to compile.
const BESIDE: &[Scenario] = &[
    scenario("every_pair_gives_the_same", beside::every_pair_gives_the_same),
    scenario("a_pair_that_differs_is_named", beside::a_pair_that_differs_is_named),
    scenario("it_ends_when_its_time_is_over", beside::it_ends_when_its_time_is_over),
];

const LATE_COPIES: Option<(&str, &str)> = Some(("FAKE_LATE", "1"));

const SCENARIO_VARIABLE: &str = "LAB_SCENARIO";
const PTX_VARIABLE: &str = "LAB_PTX";

/// Set to the folder of a bundle, it makes this the bundle's program.
const BUNDLE_VARIABLE: &str = "LAB_BUNDLE";

#[derive(clap::Parser)]
struct ProgramArguments {
    #[command(flatten)]
    options: program::Options,
}

/// What `run` of a bundle does.
fn as_program(folder: &Path) -> ExitCode {
    let arguments = <ProgramArguments as clap::Parser>::parse();
    conclude(program::main(&arguments.options, folder, Vec::new))
}

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(BUNDLE_VARIABLE) {
        return as_program(Path::new(&folder));
    }
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS.iter().chain(BESIDE).find(|scenario| scenario.name == name);
        let scenario = scenario.expect("a scenario's name");
        let ptx = std::fs::read_to_string(std::env::var_os(PTX_VARIABLE).expect("the file")).expect("it was prepared");
        (scenario.run)(&ptx);
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
    let mut trials: Vec<Trial> = SCENARIOS.iter().map(scenario).collect();
    let beside: Arc<LazyLock<_, _>> = Arc::new(LazyLock::new({
        let folder = folder.path().to_owned();
        move || beside::prepare(&folder).map_err(|error| error.to_string())
    }));
    trials.extend(BESIDE.iter().map(|scenario| {
        let (folder, prepared, beside) = (folder.path().to_owned(), prepared.clone(), Arc::clone(&beside));
        Trial::test(scenario.name, move || {
            prepared.and_then(|()| (**beside).clone()).map_err(Failed::from)?;
            in_a_process(scenario, &folder)
        })
    }));
    trials.push(Trial::test("a_profiler_counts_each_launch", profiler::a_profiler_counts_each_launch));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Compiles the kernels.
fn prepare(folder: &Path) -> Result<()> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let rust = in_rust(Sm::new(90), &toolchain, &progress)?;
    std::fs::write(folder.join("lab.ptx"), &rust.ptx).expect("a temporary folder takes it");
    Ok(())
}

fn in_a_process(scenario: &Scenario, folder: &Path) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?)
        .env(SCENARIO_VARIABLE, scenario.name)
        .env(PTX_VARIABLE, folder.join("lab.ptx"))
        .env(DRIVER_VARIABLE, library())
        .env(SM_VARIABLE, "90")
        .envs(scenario.driver)
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && stdout.ends_with(&format!("{} done\n", scenario.name)) {
        return Ok(());
    }
    Err(format!("{}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// The kernels in Rust, as an image.
fn image(ptx: &str) -> Image {
    let kernels = ptx.lines().filter_map(|line| line.split_once(".entry ")?.1.strip_suffix('(')).map(str::to_owned);
    let about = About { language: Language::Rust, without: Without::Nothing, kernels: kernels.collect() };
    Image { about, cubin: ptx.as_bytes().to_vec() }
}

fn bench<'g>(gpu: &'g Gpu, ptx: &str) -> Bench<'g> {
    let about = Run { seed: 7, quick: true, ..Run::default() };
    Bench::new(gpu, &[image(ptx)], about, Duration::from_secs(60)).expect("the fake GPU has all that it needs")
}

/// The lines of a dry run, and what it came to.
fn run(ptx: &str, experiments: &str) -> (Summary, Vec<Line>) {
    let options = Options { experiments: experiments.into(), seed: Some(7), quick: true, ..Options::default() };
    let (gpu, mut text) = (Gpu::find().expect("there is a fake one"), Vec::new());
    let images = [image(ptx)];
    let summary = lab::run(&gpu, &images, &options, "a test", &mut text, &Progress::kept());
    let lines = read(std::str::from_utf8(&text).expect("JSON is text")).expect("they are lines");
    (summary.unwrap_or_else(|error| panic!("{error}")), lines)
}

/// All of it, in small: nothing fails but what is in CUDA C++, which the interpreter has no kernels of.
fn every_experiment_runs(ptx: &str) {
    let gaps = Program::parse(ptx).gaps();
    assert_eq!(gaps.len(), 0, "the interpreter does not know {gaps:?}");
    let (summary, lines) = run(ptx, "ABCDEFGHIJ");
    assert_eq!((summary.done, summary.cut_short, summary.lost), (('A'..='J').collect(), Vec::new(), false));
    let results = Results::of(&lines);
    assert_eq!(results.failures, summary.failures);
    assert_eq!((results.run.gpu.as_str(), results.run.sm, results.run.l2), ("Fake GPU", 90, 1 << 14));
    let unexpected: Vec<_> = results.failures.iter().filter(|(_, case, _)| !case.contains("language=cuda")).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(results.failures.len(), 4);
    // Cases by experiment, twins among them; a change of these numbers is a change of what is measured.
    let mut cases: BTreeMap<char, usize> = BTreeMap::new();
    for case in &results.cases {
        *cases.entry(case.experiment).or_default() += 1;
    }
    let expected =
        [('A', 14), ('B', 37), ('C', 17), ('D', 18), ('E', 4), ('F', 16), ('G', 40), ('H', 14), ('I', 9), ('J', 12)];
    assert_eq!(cases, BTreeMap::from(expected));
    // Every kernel of the laboratory's own is launched by some experiment, in small too.
    let launched: BTreeSet<String> = measuring::launched().into_iter().collect();
    let own = |kernel: &&String| measuring::OWN.iter().any(|begins| kernel.starts_with(begins));
    let Image { about, .. } = image(ptx);
    let idle: Vec<_> = about.kernels.iter().filter(own).filter(|kernel| !launched.contains(*kernel)).collect();
    assert!(idle.is_empty(), "no experiment launches {idle:?}");
    assert_eq!(
        results.run.carve_out.get("chase_weak"),
        Some(&15),
        "33 KiB of 228 are shared memory, and the rest is L1"
    );
    assert_eq!(results.run.carve_out.len(), 36);
    let metrics = ["bytes_per_second", "clocks", "after_seconds", "seconds"];
    for case in results.cases.iter().filter(|case| !case.case.contains("language=cuda")) {
        let samples: Vec<_> = metrics.iter().map(|metric| results.samples(case, metric).len()).collect();
        assert_eq!(samples.iter().sum::<usize>(), 2, "{case:?}");
    }
    // No time is real here, and so nothing may be told from the noise but by chance; every claim finds its cases.
    let findings = judge_all(&results);
    assert!(findings.len() > 30, "{}", findings.len());
    let told: BTreeSet<char> = findings.iter().map(|finding| finding.claim.experiment).collect();
    assert_eq!(told, ('A'..='J').collect());
    assert!(findings.iter().any(|finding| finding.verdict != Verdict::NotMeasured));
}

/// A driver comes back from a copy before the GPU has the bytes: what reads them waits for them, in the calibration, for the
/// links, and for the data of the worked kernels.
fn late_copies_are_waited_for(ptx: &str) {
    let (summary, lines) = run(ptx, "AEGJ");
    assert_eq!((summary.done, summary.cut_short, summary.lost), ("AEGJ".chars().collect(), Vec::new(), false));
    let unexpected: Vec<_> = summary.failures.iter().filter(|(_, case, _)| !case.contains("language=cuda")).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert!(lines.iter().filter(|line| matches!(line, Line::Sample { .. })).count() > 100);
}

/// What the driver of the scenario above does: a copy is there after what waits for it, and not before.
fn a_late_copy_is_late(_: &str) {
    let gpu = Gpu::find().unwrap();
    let driver = gpu.driver();
    type Make = unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> u32;
    type Allocate = unsafe extern "C" fn(*mut u64, usize) -> u32;
    type Copy = unsafe extern "C" fn(u64, *const u8, usize) -> u32;
    type Wait = unsafe extern "C" fn(*mut c_void) -> u32;
    // SAFETY: these are the functions' types; device memory is the host's.
    unsafe {
        let make = driver.symbol::<Make>(c"cuStreamCreateWithPriority").unwrap();
        let mut streams = [std::ptr::null_mut(); 2];
        for (flags, stream) in streams.iter_mut().enumerate() {
            make(stream, flags as u32, 0);
        }
        let mut memory = 0;
        driver.symbol::<Allocate>(c"cuMemAlloc_v2").unwrap()(&mut memory, 4);
        let found = || (memory as *const [u8; 4]).read();
        let (copy, wait) =
            (driver.symbol::<Copy>(c"cuMemcpyHtoD_v2").unwrap(), driver.symbol::<Wait>(c"cuStreamQuery").unwrap());
        let [blocking, other] = streams;
        for (bytes, waits) in [([1; 4], blocking), ([2; 4], std::ptr::null_mut())] {
            let before = found();
            copy(memory, bytes.as_ptr(), 4);
            wait(other);
            assert_eq!(found(), before, "the other stream waits for nothing");
            wait(waits);
            assert_eq!(found(), bytes);
        }
    }
}

/// One thread reads them all, and finds their sum.
fn sweeps_read_every_quad(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let bench = bench(&gpu, ptx);
    for quads in [1u32, 3, 4, 37] {
        let words: Vec<u32> = (0..4 * quads).map(|at| at.wrapping_mul(0x9e37_79b9) ^ at << 7).collect();
        let sum = words.iter().fold(0, |sum, word| sum ^ word);
        let memory = bench.device().upload(bytemuck::cast_slice(&words)).unwrap();
        let out = bench.device().upload(&[0; 4]).unwrap();
        for kernel in ["sweep_plain", "sweep_no_allocate", "sweep_policy"] {
            for told in [sum, !sum] {
                bench.device().write(out.address, &[0; 4]).unwrap();
                let mut arguments = vec![
                    Argument::U64(out.address),
                    Argument::U32(told),
                    Argument::U64(memory.address),
                    Argument::U32(quads),
                ];
                arguments.extend((kernel == "sweep_policy").then_some(Argument::U64(0x14f0 << 48)));
                // SAFETY: the memory has so many quads.
                unsafe { bench.launch((Language::Rust, Without::Nothing), kernel, (1, 1), &arguments) }.unwrap();
                bench.device().wait().unwrap();
                let found = bench.device().read(out.address, 4).unwrap();
                let expected = if told == sum { sum } else { 0 };
                assert_eq!(found, expected.to_le_bytes(), "{kernel} of {quads}");
            }
        }
    }
}

fn fills_write_every_quad(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let bench = bench(&gpu, ptx);
    let bytes = 300 * 16;
    let memory = bench.device().allocate(bytes + 64).unwrap();
    for kind in ["wb", "cg", "cs", "wt"] {
        bench.device().fill(memory.address, 0x11, memory.bytes).unwrap();
        bench.fill(kind, memory.address, bytes).unwrap();
        bench.device().wait().unwrap();
        let found = bench.device().read(memory.address, memory.bytes as usize).unwrap();
        let (written, rest) = found.split_at(bytes as usize);
        assert!(written.chunks(4).all(|word| word == 0x0bad_cafe_u32.to_le_bytes()), "{kind}");
        assert_eq!(rest, [0x11; 64], "{kind}");
    }
}

fn a_ring_goes_through_every_place(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let bench = bench(&gpu, ptx);
    let memory = bench.device().allocate(64 * LINE).unwrap();
    let places = bench.places(64, LINE as u32);
    assert_ne!(places, (0..64).map(|at| at * LINE as u32).collect::<Vec<_>>(), "they are shuffled");
    let start = bench.ring(memory.address, &places).unwrap();
    let (mut at, mut seen) = (start, BTreeSet::new());
    for _ in 0..64 {
        assert!(seen.insert(at) && (at - memory.address).is_multiple_of(LINE), "{at:#x}");
        let link = bench.device().read(at, 8).unwrap();
        at = u64::from_le_bytes(link.try_into().unwrap());
    }
    assert_eq!((at, seen.len()), (start, 64));
    let spread = bench.spread(1 << 20, 100);
    let different: BTreeSet<_> = spread.iter().collect();
    assert_eq!((spread.len(), different.len()), (100, 100));
    assert!(spread.iter().all(|at| at.is_multiple_of(LINE as u32) && *at < 1 << 20));
    assert_eq!(bench.spread(8 * LINE, 100).len(), 8);
}

/// Every kernel of probes writes as many times as it was told to, none of them 0, on the multiprocessor that was named.
fn a_probe_is_pinned_and_timed(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let bench = bench(&gpu, ptx);
    let memory = bench.device().allocate(16 * LINE).unwrap();
    let start = bench.ring(memory.address, &bench.places(16, LINE as u32)).unwrap();
    let Image { about, .. } = image(ptx);
    let chases: Vec<_> = about.kernels.iter().filter(|kernel| kernel.starts_with("chase_")).collect();
    let lines = Places { at: memory.address, count: 11, step: LINE as u32 };
    let stages: Vec<_> = ["touch_", "hot_", "announce_", "keep"].to_vec();
    let stages: Vec<_> =
        about.kernels.iter().filter(|kernel| stages.iter().any(|begins| kernel.starts_with(begins))).collect();
    assert_eq!((chases.len(), stages.len()), (13, 23));
    for kernel in chases {
        let clocks = match kernel.as_str() {
            "chase_shared" | "chase_shared_empty" | "chase_neighbour" => bench.chase_cluster(kernel, 40),
            _ => bench.chase(kernel, 2, start, 40),
        };
        let clocks = clocks.unwrap_or_else(|fault| panic!("{kernel}: {fault:?}"));
        assert!(clocks.len() == 40 && clocks.iter().all(|clock| *clock > 0), "{kernel}: {clocks:?}");
    }
    for kernel in stages {
        let clocks = bench.stage(kernel, 3, [lines, lines], 100, start, 16);
        let clocks = clocks.unwrap_or_else(|fault| panic!("{kernel}: {fault:?}"));
        assert!(clocks.len() == 16 && clocks.iter().all(|clock| *clock > 0), "{kernel}: {clocks:?}");
    }
    let none = bench.chase("chase_cg", 99, start, 4).expect_err("there are four multiprocessors");
    assert_eq!((none.what.as_str(), none.lost), ("no block of chase_cg came to multiprocessor 99", false));
    let long = bench.chase("chase_cg", 0, start, 16385).expect_err("there is no room for so many").what;
    assert_eq!(long, "a probe has at most 16384 steps, not 16385");
}

/// A kernel that stops the GPU ends the run; what was measured before is there, and what was not is said.
fn a_lost_gpu_leaves_lines_behind(ptx: &str) {
    let (before, kernel) = ptx.split_once(".entry hot_stream_last(").unwrap();
    let ptx = format!("{before}.entry hot_stream_last({}", kernel.replacen("ret;", "trap;", 1));
    let (summary, lines) = run(&ptx, "EFG");
    assert_eq!((&summary.done[..], summary.lost), (&['E'][..], true));
    let results = Results::of(&lines);
    let [(experiment, case, why)] = &results.failures[..] else { panic!("{:?}", results.failures) };
    assert_eq!((*experiment, case.contains("stream=last")), ('F', true), "{case}");
    assert!(why.starts_with("running the kernels failed with ") && why.ends_with("(719)"), "{why}");
    assert_eq!(results.ends[&'E'], (2, None));
    assert!(results.ends[&'F'].1.as_ref().is_some_and(|why| why.contains("(719)")), "{:?}", results.ends);
    assert_eq!(results.ends[&'G'], (0, Some("the GPU was lost in experiment F".into())));
}

fn a_missing_kernel_is_a_line(ptx: &str) {
    let ptx = ptx.replace(".entry fill_cs(", ".entry fill_other(");
    let (summary, lines) = run(&ptx, "H");
    assert_eq!(summary.done, ['H']);
    let results = Results::of(&lines);
    assert_eq!(results.failures.len(), 2, "{:?}", results.failures);
    for (experiment, case, why) in &results.failures {
        assert_eq!((*experiment, case.contains("store=cs")), ('H', true));
        assert_eq!(why, "there is no kernel fill_cs in Rust without nothing for this GPU");
    }
}

/// One experiment has no kernel of a case, and one ends the process: both stages fail and say which, and the others pass.
fn stages_name_what_fails(ptx: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(file("kernels/13.5")).unwrap();
    let ptx = ptx.replace(".entry fill_cs(", ".entry fill_other(");
    std::fs::write(file("kernels/13.5/laboratory-sm_90.zst"), pack(&[image(&ptx)]).unwrap()).unwrap();
    let images = kernel_image::Image { kernels: Vec::new(), cubin: ptx.into_bytes() };
    let sections = [("faults".to_owned(), vec![images])].into();
    let (set, ptx) = ("13.5".into(), PtxVersion::OF_EVERY_FORM);
    let kernels = Kernels { set, ptx, sections, refused: [].into(), part: false };
    std::fs::write(file("kernels/13.5/sm_90.zst"), kernels.pack().unwrap()).unwrap();
    std::fs::write(file("versions.json"), serde_json::to_string(&Versions::default()).unwrap()).unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--quick", "--seed", "7", "--only", "bandwidth,laboratory"]).env(BUNDLE_VARIABLE, folder.path());
    let output = program.env("FAKE_DISAPPEAR", "hot_stream_last").output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report: Report = serde_json::from_slice(&std::fs::read(file("report.json")).unwrap()).unwrap();
    assert!(report.complete && report.quick && !report.passed());
    let [_, _, bandwidth, laboratory] = &report.stages[..] else { panic!("{text}") };
    // The bundle has no kernels in CUDA C++.
    let only = |row: &Row| (row.item.clone(), row.passed);
    assert_eq!(bandwidth.results.iter().map(only).collect::<Vec<_>>(), [("A".to_owned(), false)]);
    let why = &bandwidth.results[0].text;
    assert!(why.starts_with("14 cases; 4 failed, the first bytes=") && why.contains("there is no kernel "), "{why}");
    let expected = ["B", "C", "D", "E", "G", "H", "I", "J"].map(|letter| (letter.to_owned(), letter != "H"));
    assert_eq!(laboratory.results.iter().map(only).collect::<Vec<_>>(), expected, "{text}");
    let why = &laboratory.results[5].text;
    assert!(why.ends_with("there is no kernel fill_cs in Rust without nothing for this GPU"), "{why}");
    let [lost] = &laboratory.lost[..] else { panic!("{:?}", laboratory.lost) };
    assert_eq!(
        (lost.item.as_str(), lost.why.as_str()),
        ("F", "its process ended: signal: 6 (SIGABRT) before the stage was done")
    );
    // Their lines are in one file, those before the process ended too.
    let lines = read(&std::fs::read_to_string(file("laboratory.jsonl")).unwrap()).unwrap();
    let letters: BTreeSet<char> = lines.iter().filter_map(Line::experiment).collect();
    assert_eq!(letters, ('A'..='J').collect());
    // The folder of another run is joined: the last of each stage counts.
    let joined = tempfile::tempdir().unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.arg("--render").args([folder.path(), folder.path()]).arg("--out").arg(joined.path());
    program.env(BUNDLE_VARIABLE, folder.path()).output().unwrap();
    let twice: Report = serde_json::from_slice(&std::fs::read(joined.path().join("report.json")).unwrap()).unwrap();
    let names = |report: &Report| {
        report.stages.iter().map(|stage| (stage.name.clone(), stage.results.len())).collect::<Vec<_>>()
    };
    assert_eq!((twice.complete, names(&twice)), (true, names(&report)));
    let others = ["values", "counters", "workloads", "forms-again", "pairs", "corpus", "corpus-sanitizer", "faults"];
    assert_eq!(twice.not_in_it, ["forms", "litmus"].into_iter().chain(others).collect::<Vec<_>>());
}
