//! How it is measured: what a profiler gets to see, what comes before anything counts, and what is written beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use fake_gpu_client::calls;
use lab::Options;
use lab::calibrate::calibrate;
use lab::judge::Results;
use lab::line::{Line, Lines, read};
use lab::profile::own_cases;
use launch::gpu::Gpu;
use ptx_build::progress::Progress;

use crate::{bench, image, run};

/// How the names of the laboratory's own kernels begin; the rest are pairs of `cargo xtask parity`.
pub(crate) const OWN: [&str; 9] =
    ["chase_", "touch_", "hot_", "announce_", "keep", "sweep_", "fill_", "discard", "link"];

/// The kernels that were launched since this was last asked, in their order.
pub(crate) fn launched() -> Vec<String> {
    let kernel = |call: &String| Some(call.strip_prefix("cuLaunchKernel ")?.split(' ').next()?.to_owned());
    calls().iter().filter_map(kernel).collect()
}

/// Under a profiler each experiment has cases, of the sizes that they are measured with.
pub(crate) fn every_experiment_has_cases_to_count(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let cases_of = |letter: char| {
        let options = Options { experiments: letter.into(), once: true, ..Options::default() };
        let (mut text, images) = (Vec::new(), [image(ptx)]);
        let summary = lab::run(&gpu, &images, &options, "a test", &mut text, &Progress::kept()).unwrap();
        assert_eq!(summary.done, [letter]);
        let unexpected = summary.failures.iter().find(|(_, case, _)| !case.contains("language=cuda"));
        assert_eq!(unexpected, None);
        own_cases(&read(std::str::from_utf8(&text).unwrap()).unwrap())
    };
    let cases: BTreeMap<char, BTreeSet<String>> = ('A'..='J').map(|letter| (letter, cases_of(letter))).collect();
    let counts: Vec<(char, usize)> = cases.iter().map(|(letter, cases)| (*letter, cases.len())).collect();
    let expected =
        [('A', 4), ('B', 9), ('C', 8), ('D', 5), ('E', 4), ('F', 7), ('G', 6), ('H', 10), ('I', 7), ('J', 6)];
    assert_eq!(counts, expected);
    let all = |letter: char| cases[&letter].iter().map(String::as_str).collect::<Vec<_>>();
    let of_d = [
        "block=12 policy=range",
        "block=3 policy=range",
        "policy=fraction sixteenths=1",
        "policy=fraction sixteenths=16",
        "policy=fraction sixteenths=8",
    ];
    assert_eq!(all('D'), of_d);
    assert_eq!(all('E'), ["128", "256", "64", "plain"].map(|size| format!("sector=0 size={size}")));
    assert!(all('J').iter().all(|case| case.ends_with("language=rust size=2 without=nothing")), "{:?}", all('J'));
}

/// The GPU has been busy before the first latency is taken.
pub(crate) fn calibration_begins_warm(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let bench = bench(&gpu, ptx);
    for warm_up in [Duration::ZERO, Duration::from_millis(20)] {
        launched();
        let mut text = Vec::new();
        calibrate(&bench, &mut Lines::new(&mut text), warm_up).unwrap();
        let before = launched().iter().take_while(|kernel| *kernel == "sweep_plain").count();
        assert_eq!(before > 0, !warm_up.is_zero());
        let lines = read(std::str::from_utf8(&text).unwrap()).unwrap();
        let l1 = lines.iter().filter(|line| matches!(line, Line::Latencies { place, .. } if place == "l1 sweep"));
        assert_eq!(l1.count(), 1);
    }
}

/// Stands for `nvidia-smi` of an older driver, and writes down what it was told, and who it is.
const SMI: &str = r#"#!/bin/sh
case "$*" in *event_reasons*)
    echo 'Field "clocks_event_reasons.active" is not a valid field to query.'
    exit 2
esac
answer='2026/11/24 02:09:43.123, 1980, 2619, 34, 120.51, 0x0000000000000004'
echo "$answer"
case "$*" in *-lms*)
    echo "$*" > "$(dirname "$0")/told"
    echo $$ > "$(dirname "$0")/process"
    while :; do echo "$answer"; sleep 0.001; done
esac
"#;

fn look_for_programs_in(folder: &Path, and: &str) {
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("PATH", format!("{}:{and}", folder.display())) };
}

/// Clocks, temperature and power are beside each experiment; if nobody can tell them, that is said.
pub(crate) fn the_machine_is_watched(ptx: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    look_for_programs_in(folder.path(), "");
    let (_, lines) = run(ptx, "E");
    let results = Results::of(&lines);
    assert_eq!(results.machine(Some('E')), "nothing is known of the clocks: there is no nvidia-smi here");
    assert_eq!(results.states, BTreeMap::new());

    std::fs::write(file("nvidia-smi"), SMI).unwrap();
    std::fs::set_permissions(file("nvidia-smi"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    look_for_programs_in(folder.path(), "/usr/bin:/bin");
    let said = "1980 MHz, 2619 MHz (memory), 34 °C, 121 W, slowed down by: software power cap";
    let told = || {
        let (summary, lines) = run(ptx, "EG");
        assert_eq!(summary.done, ['E', 'G']);
        let results = Results::of(&lines);
        [None, Some('E'), Some('G')].map(|of| results.machine(of))
    };
    // An experiment lasts milliseconds here, in which a busy machine may not let the program answer at all.
    let last = (0..20).map(|_| told()).find(|told| *told == [said; 3]);
    assert!(last.is_some(), "of twenty runs none has all three: {:?}", told());
    let told = "-i 0000:00:06.0 --query-gpu=timestamp,clocks.sm,clocks.mem,temperature.gpu,power.draw,\
                clocks_throttle_reasons.active --format=csv,noheader,nounits -lms 200\n";
    assert_eq!(std::fs::read_to_string(file("told")).unwrap(), told);
    let process = std::fs::read_to_string(file("process")).unwrap();
    assert!(!Path::new("/proc").join(process.trim()).exists(), "it ends with the run");
}

/// A copies what is not zeros, so a copy that copies nothing is not fast but wrong.
pub(crate) fn a_copy_that_copies_nothing_is_named(ptx: &str) {
    let (before, kernel) = ptx.split_once(".entry copy64(").unwrap();
    let ptx = format!("{before}.entry copy64({}", kernel.replacen("{\n", "{\n\tret;\n", 1));
    let (summary, lines) = run(&ptx, "A");
    let rust: Vec<_> = summary.failures.iter().filter(|(_, case, _)| case.contains("language=rust")).collect();
    assert_eq!(rust.len(), 2, "{rust:?}");
    for (_, case, why) in rust {
        assert!(case.contains("kernel=copy64 ") && why.starts_with("it wrote 0 and not 1."), "{case}: {why}");
    }
    assert!(lines.iter().any(|line| matches!(line, Line::Sample { case, .. } if case.contains("kernel=copy32 "))));
}

/// A driver that keeps its own carve-out: what needs the L1 is not measured, and the rest is.
pub(crate) fn without_its_l1_an_experiment_fails(ptx: &str) {
    let (summary, lines) = run(ptx, "EFG");
    assert_eq!(summary.done, ['E', 'G']);
    let why = "15% of the shared memory were asked for, so that the rest is L1, and the driver has -1%";
    assert_eq!(summary.cut_short, [('F', why.to_owned())]);
    assert_eq!(Results::of(&lines).run.carve_out, BTreeMap::new());
}

/// What is timed of a worked kernel lasts a hundred microseconds or more; a launch takes sixty here.
pub(crate) fn launches_fill_what_is_timed(ptx: &str) {
    let options = Options { experiments: "J".into(), quick: true, repetitions: 1, ..Options::default() };
    let (gpu, mut text, images) = (Gpu::find().unwrap(), Vec::new(), [image(ptx)]);
    let summary = lab::run(&gpu, &images, &options, "a test", &mut text, &Progress::kept()).unwrap();
    assert_eq!(summary.done, ['J']);
    let results = Results::of(&read(std::str::from_utf8(&text).unwrap()).unwrap());
    assert_eq!(results.cases.len(), 12);
    for case in &results.cases {
        assert_eq!(results.samples(case, "launches"), [2.0], "{case:?}");
        assert!(results.samples(case, "seconds").iter().all(|seconds| (seconds - 60e-6).abs() < 1e-9), "{case:?}");
    }
}
