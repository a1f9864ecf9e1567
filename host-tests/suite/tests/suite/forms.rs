//! The forms of the slice in this process: what passes, and what is named when it is wrong.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fake_gpu_client::{CHECKS_VARIABLE, REPORT_VARIABLE, bytes_in_use, findings, forget_fault};
use host_tests::check::forms_check;
use host_tests::check::only;
use launch::gpu::Gpu;
use ptx_build::progress::Progress;
use ptx_build::ptx::Module;
use ptx_build::target::PtxVersion;
use ptx_interpreter::Kind;
use ptx_intrinsics::catalogue::{Form, Operation};
use suite::fault::Fault;
use suite::journal::Event;
use suite::kernels::FAULTS;
use suite::{Kernel, Outcome, Room, Verdict, run};
use workloads::image::Image;

use crate::bundle::forms_of;
use crate::slice::{Slice, folder, is_packed, kernels};

pub(crate) fn by_verdict(outcome: &Outcome) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for (_, verdict) in &outcome.verdicts {
        let word = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::NotRun(_) => "not run",
            Verdict::Known(_) => "known",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The forms that failed, and why.
pub(crate) fn failures(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome.verdicts.iter().filter_map(|(form, verdict)| Some((form.ptx(), verdict.failure()?))).collect()
}

/// The kernels are checked too. What an H100 does otherwise is known of some.
pub(crate) fn every_form_passes(slice: &Slice) {
    // SAFETY: this process has one thread.
    unsafe {
        std::env::set_var(CHECKS_VARIABLE, "1");
        std::env::set_var(REPORT_VARIABLE, folder().join("findings"));
    }
    let outcome = slice.run(&slice.ptx);
    let failed = failures(&outcome);
    assert_eq!(failed.iter().take(20).collect::<Vec<_>>(), [&("", ""); 0], "{} with seed {}", failed.len(), slice.seed);
    assert_eq!(by_verdict(&outcome), HashMap::from([("passed", slice.forms.len())]));
    assert_eq!(outcome.kernels, slice.plan.kernels.len());
    assert_eq!(outcome.trials, slice.plan.kernels.iter().map(|kernel| kernel.trials.len()).sum::<usize>());
    assert!(only::is_set() || outcome.verdicts.len() > 280, "only {} forms", outcome.verdicts.len());
    assert_eq!(bytes_in_use(), 0, "everything is freed");
    let (known, found): (Vec<_>, Vec<_>) = findings().into_iter().partition(|finding| finding.kind == Kind::Gpu);
    assert!(only::is_set() || !known.is_empty(), "nothing was checked");
    let found: BTreeSet<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "with seed {}:\n{}", slice.seed, found.into_iter().collect::<Vec<_>>().join("\n\n"));
}

pub(crate) fn an_older_gpu(slice: &Slice) {
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
pub(crate) fn a_lost_kernel_is_missed(slice: &Slice) {
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
pub(crate) fn a_wrong_form_is_named(slice: &Slice) {
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
    // Not each instruction has a form among those drawn that can be made wrong so.
    assert!(wrong.len() > 12, "only {wrong:?}");
    let outcome = slice.run(&ptx);
    let named: BTreeSet<String> = failures(&outcome).into_iter().map(|(form, _)| form.to_owned()).collect();
    assert_eq!(named, wrong);
    let (form, why) = failures(&outcome)[0];
    let form = slice.forms.iter().find(|one| one.ptx() == form).unwrap();
    assert!(why.starts_with(form.rust()) && why.contains(" of thread 0 is 0x"), "{why}");
}

/// As an H100 does it: packed floats in another block's shared memory are added as integers. That is known, and no more: if the memory
/// becomes something else, the form has failed.
pub(crate) fn a_known_fault_is_told_from_others(slice: &Slice) {
    let packed: Vec<&Arc<Form>> = slice.forms.iter().filter(|form| is_packed(form)).collect();
    assert!(packed.len() >= 2, "{} forms", packed.len());
    println!("{} forms", packed.len());
    let with = |operation: &str| {
        let instead = |ptx: String, form: &&Arc<Form>| {
            let (before, _) = form.ptx().split_once(".add.").expect("it adds");
            ptx.replace(&format!("{} ", form.ptx()), &format!("{before}.{operation} "))
        };
        let ptx = packed.iter().fold(slice.ptx.clone(), instead);
        assert_ne!(ptx, slice.ptx);
        slice.run(&ptx)
    };
    let own: BTreeSet<&str> = packed.iter().map(|form| form.ptx()).collect();
    let integers = with("add.u32");
    assert_eq!(failures(&integers), []);
    let known = |(form, verdict): &(Arc<Form>, Verdict)| match verdict {
        Verdict::Known(failure) => {
            assert!(failure.what.contains("; known: in another block's shared memory"), "{}", failure.what);
            Some(form.ptx().to_owned())
        }
        _ => None,
    };
    let found: BTreeSet<String> = integers.verdicts.iter().filter_map(known).collect();
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), own);
    let others = with("and.b32");
    assert_eq!(failures(&others).iter().map(|(form, _)| *form).collect::<BTreeSet<_>>(), own);
    assert_eq!(by_verdict(&others).get("known"), None);
}

/// A copy of too few bytes, a wait for too few groups, an arrival of another kind: each fails, and no other form.
pub(crate) fn a_wrong_copy_is_named(slice: &Slice) {
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
        let form = slice.forms.iter().find(|form| form.full_ptx() == told).unwrap_or_else(|| panic!("no form {told}"));
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
    assert_eq!(failed.map(|(form, _)| form.full_ptx()).collect::<BTreeSet<_>>(), wrong);
}

/// A form whose address is astray: its kernel's forms fail by name, and those after it are not said to have passed.
pub(crate) fn a_fault_is_named(slice: &Slice) {
    // Elsewhere there is memory at a small address too.
    let has_address = |kernel: &&Kernel| kernel.trials[0].form.operation() != Operation::Other;
    let kernel = slice.plan.kernels.iter().filter(has_address).rfind(|kernel| kernel.room == Room::Global).unwrap();
    let form = &kernel.trials[0].form;
    let module = Module::parse(&slice.ptx).unwrap();
    let access = module.function(&kernel.name).unwrap().body.iter().find(|line| line.text.starts_with(form.ptx()));
    let access = &access.expect("the form is in its kernel").text;
    let (head, rest) = access.split_once('[').unwrap();
    let astray = format!("{head}[16{}", &rest[rest.find(']').unwrap()..]);
    let (before, behind) = slice.ptx.split_once(&format!(".entry {}(", kernel.name)).unwrap();
    let ptx = format!("{before}.entry {}({}", kernel.name, behind.replacen(access.as_str(), &astray, 1));
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
    forget_fault();
    let outcome = run(&mut bench, &Progress::kept()).unwrap();
    let failed: BTreeSet<&str> = failures(&outcome).iter().map(|(form, _)| *form).collect();
    assert_eq!(failed, own);
    assert_eq!(by_verdict(&outcome).get("not run"), None);
}

/// A kernel that writes to what it should only read, and one that writes outside of its buffer.
pub(crate) fn a_stray_write(slice: &Slice) {
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
            own.contains(&form.full_ptx()).then(|| why.to_owned())
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
pub(crate) fn faulty_accesses_fail(slice: &Slice) {
    let gpu = Gpu::find().unwrap();
    let all = Fault::all();
    assert_eq!(all.len(), 4);
    let names = all.iter().map(|fault| fault.name.clone()).collect();
    let image = Image { kernels: names, cubin: slice.faults.as_bytes().to_vec() };
    let kernels = kernels(PtxVersion::OF_EVERY_FORM, [(FAULTS, vec![image])]);
    for fault in &all {
        assert_eq!(fault.provoke(&gpu, &kernels).unwrap(), fault.code(), "{}", fault.name);
        forget_fault();
    }
}
