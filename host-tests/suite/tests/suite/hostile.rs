//! What a driver or the system does to a run, and what the report says then. Nothing of it may look as if all were right.

use std::process::Stdio;
use std::time::Duration;

use suite::Plan;
use suite::journal::{Event, Found, Item, Journal, Machine, Work};
use suite::report::Report;
use suite::versions::Versions;

use crate::Scenario;
use crate::bundle::{OF_AN_IMAGE, bundle, hostile, interpreted, left, some_kernels};
use crate::slice::Slice;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "a_process_that_leaves_as_if_it_were_done_is_missed", sm: "100", run: a_process_leaves },
    Scenario { name: "a_load_that_does_not_end_is_named", sm: "100", run: a_load_stalls },
    Scenario { name: "a_copy_that_does_not_end_is_named", sm: "100", run: a_copy_stalls },
    Scenario { name: "late_copies_come_in_time", sm: "100", run: late_copies },
    Scenario { name: "errors_that_look_alike_are_told_apart_by_asking", sm: "100", run: alike_errors },
    Scenario { name: "a_killed_run_names_what_was_under_way", sm: "100", run: a_killed_run },
    Scenario { name: "an_unknown_gpu_runs_what_the_driver_makes_of_ptx", sm: "130", run: an_unknown_gpu },
    Scenario { name: "a_gpu_without_kernels_has_a_report", sm: "75", run: a_gpu_without_kernels },
];

fn a_process_leaves(slice: &Slice) {
    let [kernel, ..] = some_kernels(slice);
    let left = hostile(slice, &[("FAKE_LEAVE", kernel.name.clone())], &["--only", "forms"]);
    left.only_these_failed(slice, &[(kernel, "its process ended: exit status: 0 before the stage was done")]);
}

/// The process that waits for ever ends, and says in which call; the next one goes on after that image.
fn a_load_stalls(slice: &Slice) {
    let settings = [("FAKE_STALL", "cuModuleLoadDataEx=13.5 image 1.".into())];
    let left = hostile(slice, &settings, &["--only", "forms", "--launch-limit", "4"]);
    let why = "its image 1 has no result: its process ended: loading the kernels has not ended after 4s";
    let kernels = &slice.plan.kernels[OF_AN_IMAGE..2 * OF_AN_IMAGE];
    left.only_these_failed(slice, &kernels.iter().map(|kernel| (kernel, why)).collect::<Vec<_>>());
}

fn a_copy_stalls(slice: &Slice) {
    let last = &slice.plan.kernels[2 * OF_AN_IMAGE - 1];
    let settings = [("FAKE_STALL", format!("cuMemcpyDtoH={}", last.name))];
    let left = hostile(slice, &settings, &["--only", "forms", "--launch-limit", "4"]);
    let why = "its image 1 has no result: its process ended: copying from the GPU has not ended after 4s";
    let kernels = &slice.plan.kernels[OF_AN_IMAGE..2 * OF_AN_IMAGE];
    left.only_these_failed(slice, &kernels.iter().map(|kernel| (kernel, why)).collect::<Vec<_>>());
}

/// A copy returns before its bytes are there.
fn late_copies(slice: &Slice) {
    hostile(slice, &[("FAKE_LATE", "1".into())], &["--only", "forms"]).only_these_failed(slice, &[]);
}

/// 712 and 720 are of one call by the manual. Where every later call gives them, the GPU is lost nevertheless.
fn alike_errors(slice: &Slice) {
    let [one, two, three] = some_kernels(slice);
    let settings =
        [("FAKE_FAULT", format!("{}=712,{}=720", one.name, three.name)), ("FAKE_LAUNCH", format!("{}=720", two.name))];
    let left = hostile(slice, &settings, &["--only", "forms"]);
    let alike =
        "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: part or all of the requested memory range is already mapped (712)";
    let other = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: too many blocks in cooperative launch (720)";
    let running = |error| format!("running the kernels failed with {error}");
    let launching = format!("launching failed with {other}");
    left.only_these_failed(slice, &[(one, &running(alike)), (two, &launching), (three, &running(other))]);
    assert_eq!(left.text.matches("Every form\n").count(), 3, "{}", left.text);
}

/// Whoever kills the first process kills all, and nobody writes a line any more. The report is made again of those there are.
fn a_killed_run(slice: &Slice) {
    let [_, kernel, _] = some_kernels(slice);
    let folder = bundle(slice);
    let settings = [("FAKE_HANG", kernel.name.clone())];
    let mut command = interpreted(folder.path(), &settings, &["--only", "forms,faults", "--launch-limit", "1000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let hangs = format!("\"part\":\"{}\"", kernel.name);
    while !std::fs::read_to_string(folder.path().join("results.jsonl")).is_ok_and(|text| text.contains(&hangs)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = interpreted(folder.path(), &[], &["--render"]).output().unwrap();
    let left = left(folder, output);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let lost = &left.lost()[0];
    assert_eq!((left.lost().len(), lost.part.as_deref()), (1, Some(&kernel.name[..])), "{}", left.text);
    assert_eq!(lost.why, "under way when the run was ended");
    let forms = left.report.stages.iter().find(|stage| stage.name == "forms").unwrap();
    assert_eq!(forms.early.as_deref(), Some("it has not ended"));
    assert!(!forms.not_done.is_empty() && !left.report.complete, "{}", left.text);
    let failed: Vec<&str> = left.failures().into_iter().map(|(_, why)| why).collect();
    assert!(failed.iter().any(|why| why.contains(&format!("its kernel {} failed", kernel.name))), "{failed:?}");
}

/// No assembler here knows it. A newer driver makes code for it.
fn an_unknown_gpu(slice: &Slice) {
    let left = hostile(slice, &[], &["--only", "forms"]);
    left.only_these_failed(slice, &[]);
    let set = &left.report.forms[0].set;
    assert_eq!((left.report.machine.sm, &set[..]), (130, "ptx"), "{}", left.text);
    assert!(left.text.contains("\nforms, by the driver, from PTX\n"), "{}", left.text);
}

/// It is older than every GPU of the bundle. The report says so of each stage, and which GPU it is.
fn a_gpu_without_kernels(slice: &Slice) {
    let left = hostile(slice, &[], &["--only", "forms,litmus"]);
    assert_eq!((left.code, left.report.machine.sm), (Some(1), 75), "{}", left.text);
    let early: Vec<_> = left.report.stages.iter().map(|stage| (&*stage.name, stage.early.clone())).collect();
    let [images, tools, forms, litmus] = &early[..] else { panic!("{early:?}") };
    assert_eq!(*tools, ("tools", None));
    assert_eq!((images.0, forms.0, litmus.0), ("images", "forms", "litmus"));
    for (stage, early) in [images, forms] {
        let early = early.clone().unwrap_or_default();
        assert!(early.contains("this bundle has no kernels for sm_75"), "{stage}: {early}");
    }
    assert!(left.report.complete && !left.report.passed());
}

/// The report of a run of one stage with three items, of which these have a result.
fn report_of(items: &[&str], found: &[&str]) -> Report {
    let stage = || "litmus".to_owned();
    let work = Work {
        items: items.iter().map(|name| Item { name: (*name).into(), ..Item::default() }).collect(),
        ..Work::default()
    };
    let run = Event::Run { began: 0, seed: 7, versions: Versions::default(), stages: vec![stage()], quick: false };
    let mut events = vec![run, Event::Machine(Machine::default()), Event::Stage { stage: stage(), work }];
    for item in found {
        let found = Found { passed: true, ..Found::default() };
        events.push(Event::Found { stage: stage(), item: (*item).into(), found });
    }
    events.push(Event::Ended { stage: stage(), early: None, seconds: 1.0 });
    events.push(Event::Complete { seconds: 1.0 });
    Report::of(&events, &[], &Plan::new(&[]))
}

/// What is done and what is lost is held against the items, whatever a process says when it ends.
pub(crate) fn items_are_counted() -> Result<(), String> {
    let all = report_of(&["a", "b", "c"], &["a", "b", "c"]);
    assert!(all.passed(), "{}", all.table());
    let two = report_of(&["a", "b", "c"], &["a", "a", "b"]);
    assert!(!two.passed());
    assert_eq!(two.stages[0].not_done, ["c"]);
    let table = two.table();
    assert!(table.contains("litmus: 2 of 3 items done, 0 failed, 0 lost, 1 not done, 1.0 s\n"), "{table}");
    assert!(table.contains("  NOT DONE c\n") && table.contains("NOT ALL IS RIGHT"), "{table}");
    assert!(two.page().contains("\nNot done: c.\n"), "{}", two.page());
    assert!(!report_of(&[], &[]).passed(), "a stage without an item has proved nothing");
    Ok(())
}

/// A process that was killed with everything that it had started left no line about it.
pub(crate) fn what_was_under_way_is_named() -> Result<(), String> {
    let stage = || "litmus".to_owned();
    let work = ["a", "b", "c"].into_iter().collect();
    let events = [
        Event::Run { began: 0, seed: 7, versions: Versions::default(), stages: vec![stage()], quick: false },
        Event::Stage { stage: stage(), work },
        Event::Begun { stage: stage(), item: "a".into(), part: Some("kernel_1".into()) },
    ];
    let kept = Journal::kept();
    events.into_iter().for_each(|event| kept.write(event).unwrap());
    let report = Report::of(&kept.events().unwrap(), &[], &Plan::new(&[]));
    let table = report.table();
    assert!(table.contains("  LOST a, kernel_1: under way when the run was ended\n"), "{table}");
    assert!(table.contains("  NOT DONE a, b, c\n") && !report.passed(), "{table}");
    Ok(())
}
