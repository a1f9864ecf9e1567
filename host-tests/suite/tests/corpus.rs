//! The stages of the corpus without a GPU: some of its kernels are launched on `fake-gpu`, and a program stands for
//! `compute-sanitizer`. Some kernels and tools fail, and every other result is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use fake_gpu_client::{SM_VARIABLE, library};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::program::conclude;
use ptx_build::target::{PtxVersion, Sm};
use ptx_driver::DRIVER_VARIABLE;
use suite::corpus::case::{self, CORPUS, SIDES};
use suite::corpus::make::{cases, text_of};
use suite::kernels::{FAULTS, Kernels};
use suite::program::{self, Options};
use suite::report::{Report, Row, StageReport};
use suite::versions::Versions;
use workloads::image::Image;

/// Set to the folder of a bundle, it makes this the bundle's program.
const BUNDLE_VARIABLE: &str = "CORPUS_BUNDLE";

const PAIRS: [&str; 6] = ["broadcast", "two_phases", "transpose", "zeroed_late", "counter", "unwritten"];

/// Stands for `compute-sanitizer`. What it says of a kernel depends on the tool.
const SANITIZER: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo "Version 0" && exit
echo "$*" >> "$RECORD"
tool=$2
while [ "$1" != --log-file ]; do shift; done
log=$2
shift 2
echo "========= COMPUTE-SANITIZER" > "$log"
sleep "${SLOW:-0}"
"$@"
case "$tool $*" in
  racecheck*wrong_broadcast*)
    echo "========= Error: Race reported between Write access at wrong_broadcast+0x40 in shared.cu:$LINE"
    echo "=========     and Read access at wrong_broadcast+0x90 in shared.cu:9999 [32 hazards]" ;;
  synccheck*right_two_phases*)
    echo "========= Barrier error detected. Divergent thread(s) in block"
    echo "=========     at right_two_phases+0x40 in shared.cu:1" ;;
  initcheck*right_zeroed_late*)
    echo "========= Program hit CUDA_ERROR_UNKNOWN (error 999) on CUDA API call to cuCtxSynchronize" ;;
  memcheck*wrong_counter*) sleep 1000 & wait ;;
esac >> "$log"
echo "========= ERROR SUMMARY: as it is" >> "$log"
"#;

#[derive(clap::Parser)]
struct ProgramArguments {
    #[command(flatten)]
    options: Options,
}

fn as_program(folder: &Path) -> ExitCode {
    let arguments = <ProgramArguments as clap::Parser>::parse();
    conclude(program::main(&arguments.options, folder, Vec::new))
}

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(BUNDLE_VARIABLE) {
        return as_program(Path::new(&folder));
    }
    let arguments = Arguments::from_args();
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    let trials = vec![
        trial("each_kernel_and_each_tool_has_its_result", each_has_its_result),
        trial("the_limit_of_the_stage_cuts_off_what_matters_least", the_limit_cuts_off),
        trial("what_the_bundle_or_the_machine_lacks_is_said", what_is_missing),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A bundle with the pairs, as text.
fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (gpu, version) = (Sm::new(90), PtxVersion::new(9, 0));
    let image = |kernel: String| {
        let cubin = text_of(&kernel, gpu, version).expect("the corpus has it").into_bytes();
        Image { kernels: vec![kernel], cubin }
    };
    let cases = cases(&|name| PAIRS.contains(&name) || name == "tensor_proxy").expect("the interpreter runs them");
    let kernels = SIDES.iter().flat_map(|side| PAIRS.iter().map(move |pair| format!("{side}_{pair}")));
    let images: Vec<Image> = kernels.map(image).collect();
    let first = images[..1].to_vec();
    let older = first[0].cubin.clone();
    let older = String::from_utf8(older).expect("a text").replace(".target sm_90", ".target sm_80").into_bytes();
    let older = vec![Image { cubin: older, ..first[0].clone() }];
    for (place, section, images) in [
        (folder.path().join("kernels/13.5/sm_80.zst"), FAULTS, older),
        (folder.path().join("kernels/13.5/sm_90.zst"), FAULTS, first),
        (case::place(folder.path(), "13.5", gpu), CORPUS, images),
    ] {
        let sections = BTreeMap::from([(section.to_owned(), images)]);
        let refused = Default::default();
        let kernels = Kernels { set: "13.5".into(), ptx: version, sections, refused, part: false };
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("it can be made");
        std::fs::write(place, kernels.pack().expect("they are packed")).expect("it can be written");
    }
    case::write(folder.path(), &cases).expect("it can be written");
    let versions = serde_json::to_string(&Versions::default()).expect("a text");
    std::fs::write(folder.path().join("versions.json"), versions).expect("it can be written");
    folder
}

/// A run of a bundle.
struct Left {
    code: Option<i32>,
    text: String,
    report: Report,
    /// What each tool was told.
    told: Vec<String>,
    took: Duration,
}

impl Left {
    fn stage(&self, name: &str) -> &StageReport {
        self.report.stages.iter().find(|stage| stage.name == name).expect("the stage is in the report")
    }

    fn row(&self, stage: &str, item: &str) -> &Row {
        let found = self.stage(stage).results.iter().find(|row| row.item == item);
        found.unwrap_or_else(|| panic!("{item} has a result\n{}", self.text))
    }
}

fn tools(folder: &Path) -> PathBuf {
    let tools = folder.join("tools");
    std::fs::create_dir_all(&tools).expect("it can be made");
    let program = tools.join("compute-sanitizer");
    std::fs::write(&program, SANITIZER).expect("it can be written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("it is executable");
    tools
}

fn run(settings: &[(&str, &str)], arguments: &[&str]) -> Left {
    let folder = bundle();
    let record = folder.path().join("record");
    let path = format!("{}:{}", tools(folder.path()).display(), std::env::var("PATH").expect("a PATH"));
    let line = cases(&|name| name == "broadcast").expect("it runs")[0].lines.first().expect("a line").to_string();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--seed", "7", "--launch-limit", "1"]).args(arguments).env(BUNDLE_VARIABLE, folder.path());
    command.env(DRIVER_VARIABLE, library()).env(SM_VARIABLE, "90");
    command.env("PATH", path).env("RECORD", &record).env("LINE", line).envs(settings.iter().copied());
    let began = Instant::now();
    let output = command.output().expect("it starts");
    let took = began.elapsed();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("a text")).concat();
    let report = std::fs::read(folder.path().join("report.json")).unwrap_or_else(|error| panic!("{error}: {text}"));
    let report = serde_json::from_slice(&report).expect("a report");
    let told = std::fs::read_to_string(&record).unwrap_or_default().lines().map(str::to_owned).collect();
    let scratch = ["corpus-kernels", "corpus-logs"].map(|name| folder.path().join(name));
    assert!(scratch.iter().all(|file| !file.exists()), "{scratch:?} are left");
    Left { code: output.status.code(), text, report, told, took }
}

fn each_has_its_result() {
    let settings = [("FAKE_HANG", "wrong_transpose"), ("FAKE_FAULT", "right_counter=700")];
    let left = run(&settings, &["--only", "corpus,corpus-sanitizer"]);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let bare = left.stage("corpus");
    assert_eq!((bare.results.len(), bare.items, bare.lost.len()), (12, 12, 0), "{}", left.text);
    for row in &bare.results {
        assert_eq!(row.passed, row.item != "right_counter", "{}: {}", row.item, row.text);
    }
    let text = |item: &str| left.row("corpus", item).text.as_str();
    assert_eq!((text("wrong_transpose"), text("right_counter")), ("does not end", "error 700"));
    // It is behind the one that failed in the same process.
    assert_eq!(
        (text("right_unwritten"), text("right_broadcast")),
        ("all 256 bytes as the interpreter's", "all 512 bytes as the interpreter's")
    );
    assert!(text("wrong_unwritten").contains(" bytes differ: byte "), "{}", text("wrong_unwritten"));
    let tools = left.stage("corpus-sanitizer");
    assert_eq!((tools.results.len(), tools.items, tools.lost.len()), (48, 48, 0), "{}", left.text);
    let data = |item: &str| &left.row("corpus-sanitizer", item).data;
    let race = data("racecheck wrong_broadcast");
    assert_eq!((&race["findings"], &race["line_named"]), (&1.into(), &true.into()), "{race}");
    assert!(race["log"].as_str().is_some_and(|log| log.contains("[32 hazards]")), "{race}");
    assert_eq!(data("synccheck right_two_phases")["findings"], 1);
    // One of several kernels, and the log does not say which: each ran again alone.
    assert_eq!(data("initcheck right_zeroed_late")["findings"], 1);
    let found = tools.results.iter().filter(|row| row.data["findings"] != 0).count();
    assert_eq!(found, 3, "{}", left.text);
    // One that never ends is cut off.
    let failed: Vec<&Row> = tools.results.iter().filter(|row| !row.passed).collect();
    assert_eq!(
        failed.iter().map(|row| row.item.as_str()).collect::<Vec<_>>(),
        ["memcheck wrong_counter"],
        "{}",
        left.text
    );
    assert!(failed[0].text.ends_with("stopped: its time was over"), "{}", failed[0].text);
    assert!(left.took < Duration::from_secs(60), "{:?}", left.took);
    let of = |tool: &str| left.told.iter().filter(|line| line.starts_with(&format!("--tool {tool} --port 49"))).count();
    let together =
        |tool: &str| left.told.iter().any(|line| line.contains(tool) && line.contains("right_broadcast,right_"));
    assert!(together("racecheck") && together("synccheck") && of("initcheck") == 10, "{:?}", left.told);
    // One that never ended without a tool is alone, and behind what its tool is also for.
    let with =
        |tool: &str, kernel: &str| left.told.iter().position(|line| line.contains(tool) && line.contains(kernel));
    assert!(
        left.told
            .iter()
            .any(|line| line.ends_with("--kernels wrong_transpose") || line.contains("--kernels wrong_transpose --")),
        "{:?}",
        left.told
    );
    assert!(with("racecheck", "right_broadcast") < with("racecheck", "wrong_transpose"), "{:?}", left.told);
    assert!(with("synccheck", "wrong_broadcast") < with("synccheck", "wrong_transpose"), "{:?}", left.told);
    assert_eq!(tools.with["left_out"].as_array().map(Vec::len), Some(1), "{}", tools.with);
}

fn the_limit_cuts_off() {
    let arguments = ["--only", "corpus-sanitizer", "--limit", "corpus-sanitizer=5"];
    let left = run(&[("SLOW", "1")], &arguments);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let tools = left.stage("corpus-sanitizer");
    let (done, missing) = (tools.results.len(), tools.not_done.len());
    assert!(done > 0 && missing > 0 && done + missing == 48, "{done} done, {missing} missing\n{}", left.text);
    assert!(
        left.text.contains(&format!("{done} of 48 items done, 0 failed, 0 lost, {missing} not done")),
        "{}",
        left.text
    );
    // Each tool first for its own kind: four processes.
    let of_kind = |line: &String| match line.contains("_unwritten ") {
        true => line.starts_with("--tool initcheck "),
        false => line.starts_with("--tool racecheck "),
    };
    assert!(left.told.len() >= 4 && left.told.iter().take(4).all(of_kind), "{:?}", left.told);
    assert!(left.took < Duration::from_secs(20), "{:?}", left.took);
}

fn what_is_missing() {
    let left = run(&[("PATH", "/nonexistent")], &["--only", "corpus-sanitizer"]);
    assert_eq!(left.stage("corpus-sanitizer").missing.as_deref(), Some("compute-sanitizer"), "{}", left.text);
    assert!(left.told.is_empty());
    let left = run(&[(SM_VARIABLE, "80")], &["--only", "corpus"]);
    assert_eq!(left.stage("corpus").missing.as_deref(), Some("kernel of the corpus for sm_80"), "{}", left.text);
    assert_eq!(left.code, Some(0), "{}", left.text);
}
