//! The plan of the whole catalogue, without a GPU.

use std::collections::BTreeSet;
use std::sync::Arc;

use host_tests::check::{forms_check, ledger, only};
use libtest_mimic::Failed;
use ptx_build::error::Result;
use ptx_build::target::{PtxVersion, Sm};
use ptx_intrinsics::catalogue::Form;
use serde_json::json;
use suite::journal::{Event, Found, Item, Machine, Work};
use suite::report::Report;
use suite::versions::Versions;
use suite::{Entry, Kernel, Plan, Room};

/// The GPU that has all forms, and here memory of several GPUs too. An H100 is tried without such memory.
const NEWEST: u32 = 100;

/// Forms that a GPU launches by images of a PTX ISA version: an H100 by both assemblers, and the GPU that has all.
const LAUNCHED: [(u32, PtxVersion); 3] =
    [(90, PtxVersion::OF_EVERY_FORM), (90, PtxVersion::new(9, 0)), (NEWEST, PtxVersion::OF_EVERY_FORM)];

/// Nothing of the catalogue is left out of the plan, and what a GPU does not launch has a reason. Whoever adds an instruction
/// is told here that the suite does not know how to try it.
pub(crate) fn every_form_is_launched_or_has_a_reason() -> Result<(), Failed> {
    let forms = forms_check::every_form();
    let plan = Plan::new(&forms);
    let unchecked: BTreeSet<String> = plan.unchecked.iter().map(ToString::to_string).collect();
    assert!(unchecked.is_empty(), "{}", unchecked.into_iter().collect::<Vec<_>>().join("\n"));
    if only::is_set() {
        return Ok(());
    }
    let trials = plan.kernels.iter().map(|kernel| kernel.trials.len()).sum();
    ledger::compare("FORMS", &[ledger::FORMS], &[forms.len()]);
    ledger::compare("PLAN", &ledger::PLAN, &[plan.kernels.len(), trials]);
    let [older, old, newest] = LAUNCHED.map(|(sm, ptx)| {
        let on = Sm::new(sm);
        let multimem = sm == NEWEST;
        let has = |kernel: &&Kernel| {
            kernel.target(on).is_some()
                && PtxVersion::of_number(kernel.needs.1) <= ptx
                && (multimem || kernel.room != Room::Multimem)
        };
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
    let with = json!({ "set": "13.5", "ptx": ptx, "seed": 7, "part": false, "refused": [], "multimem": sm == NEWEST });
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
