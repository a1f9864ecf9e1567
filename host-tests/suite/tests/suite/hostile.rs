//! What a driver or the system does to a run, and what the report says then. Nothing of it may look as if all were right.

use std::process::Stdio;
use std::time::Duration;

use suite::Plan;
use suite::journal::{Event, Found, Item, Journal, Machine, Work};
use suite::report::Report;
use suite::versions::Versions;

use crate::Scenario;
use crate::bundle::{OF_AN_IMAGE, bundle, hostile, interpreted, left, of_second_image};
use crate::slice::Slice;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "calls_that_do_not_end_are_named", sm: "100", run: calls_stall },
    Scenario { name: "late_copies_come_in_time", sm: "100", run: late_copies },
    Scenario { name: "a_killed_run_names_what_was_under_way", sm: "100", run: a_killed_run },
    Scenario { name: "an_unknown_gpu_runs_what_the_driver_makes_of_ptx", sm: "130", run: an_unknown_gpu },
    Scenario { name: "a_gpu_without_kernels_has_a_report", sm: "75", run: a_gpu_without_kernels },
];

/// The process that waits for ever ends, and says in which call; the next one goes on after that image.
fn calls_stall(slice: &Slice) {
    let kernels = &slice.plan.kernels;
    let last = &kernels[3 * OF_AN_IMAGE - 1].name;
    let settings = [("FAKE_STALL", format!("cuModuleLoadDataEx=13.5 image 1.,cuMemcpyDtoH={last}"))];
    let left = hostile(slice, &settings, &["--only", "forms", "--launch-limit", "4"]);
    let why = |image: usize| match image {
        1 => "its image 1 has no result: its process ended: loading the kernels has not ended after 4s",
        _ => "its image 2 has no result: its process ended: copying from the GPU has not ended after 4s",
    };
    let lost = (OF_AN_IMAGE..3 * OF_AN_IMAGE).map(|at| (&kernels[at], why(at / OF_AN_IMAGE)));
    left.only_these_failed(slice, &lost.collect::<Vec<_>>());
}

/// A copy returns before its bytes are there, and the driver does not know the parameters of kernels.
fn late_copies(slice: &Slice) {
    let settings = [("FAKE_LATE", "1".into()), ("FAKE_FAIL", "cuFuncGetParamInfo=1".into())];
    hostile(slice, &settings, &["--only", "forms"]).only_these_failed(slice, &[]);
}

/// Whoever kills the first process kills all, and nobody writes a line any more. The report is made again of those there are.
fn a_killed_run(slice: &Slice) {
    let kernel = of_second_image(slice);
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
    assert!(left.text.contains("\n| images | by the driver, from PTX |\n"), "{}", left.text);
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
    assert!(all.passed(), "{}", all.page());
    let two = report_of(&["a", "b", "c"], &["a", "a", "b"]);
    assert!(!two.passed());
    assert_eq!(two.stages[0].not_done, ["c"]);
    let page = two.page();
    assert!(page.contains("\n2 of 3 items done, 0 failed, 0 lost, 1 not done, 1.0 s.\n"), "{page}");
    assert!(page.contains("\nNot done: c.\n") && page.contains("NOT ALL IS RIGHT"), "{page}");
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
    let page = report.page();
    assert!(page.contains("\n| a, kernel_1 | **lost** | under way when the run was ended |\n"), "{page}");
    assert!(page.contains("\nNot done: a, b, c.\n") && !report.passed(), "{page}");
    Ok(())
}
