//! Whole runs of a bundle, on a GPU with faults.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use launch::gpu::{Argument, Gpu, Launch};
use ptx_build::progress::Progress;
use ptx_driver::DRIVER_VARIABLE;
use suite::bundle::newest_glibc;
use suite::journal::Event;
use suite::kernels::{Kernels, PTX};
use suite::report::Report;
use suite::{Room, Verdict, run};

use crate::bundle::{OF_AN_IMAGE, bundle, hostile, interpreted, left, of_second_image, program, refused};
use crate::forms::{by_verdict, failures};
use crate::slice::{Slice, folder};

/// Every stage that the interpreter can do, in two sets of images.
pub(crate) fn a_whole_run(slice: &Slice) {
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

pub(crate) fn the_second_set(slice: &Slice) {
    let left = hostile(slice, &[("FAKE_REFUSE", "// 13.5=209".into())], &["--only", "forms"]);
    left.only_these_failed(slice, &[]);
    assert_eq!(left.report.forms[0].set, "13.0");
    let images = &left.report.stages[0];
    assert_eq!((images.name.as_str(), images.results.len(), images.lost.len()), ("images", 1, 1));
    assert!(images.lost[0].item == "13.5" && images.lost[0].why.contains("(209)"), "{:?}", images.lost);
}

/// A refused image; errors that stay, and of a launch alone; 712 and 720 are of one call by the manual: where every later call gives them,
/// the GPU is lost nevertheless. A kernel that never ends, a process that disappears, and one that leaves as if it were done.
pub(crate) fn each_fault_is_named(slice: &Slice) {
    let kernels = &slice.plan.kernels;
    let of_first = [1, 3, 5, 8];
    let of_third = [0, 3, 6, 9].map(|at| 2 * OF_AN_IMAGE + at);
    let [leak, alike, cluster, other] = of_first.map(|at| &kernels[at]);
    let [stays, hangs, disappears, leaves] = of_third.map(|at| &kernels[at]);
    let settings = [
        ("FAKE_REFUSE", "13.5 image 1.=997".into()),
        ("FAKE_FAULT", format!("{}=721,{}=712,{}=720", leak.name, alike.name, stays.name)),
        ("FAKE_LAUNCH", format!("{}=912,{}=720", cluster.name, other.name)),
        ("FAKE_HANG", hangs.name.clone()),
        ("FAKE_DISAPPEAR", disappears.name.clone()),
        ("FAKE_LEAVE", leaves.name.clone()),
    ];
    let left = hostile(slice, &settings, &["--only", "forms", "--launch-limit", "4"]);
    let several = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: too many blocks in cooperative launch (720)";
    let running = |error: &str| format!("running the kernels failed with {error}");
    let launching = |error: &str| format!("launching failed with {error}");
    let faults = [
        (leak, running("CUDA_ERROR_TENSOR_MEMORY_LEAK: tensor memory not completely freed (721)")),
        (
            alike,
            running(
                "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: part or all of the requested memory range is already mapped (712)",
            ),
        ),
        (
            cluster,
            launching(
                "CUDA_ERROR_INVALID_CLUSTER_SIZE: a kernel launch error has occurred due to cluster misconfiguration (912)",
            ),
        ),
        (other, launching(several)),
        (stays, running(several)),
        (hangs, "the kernels have not ended after 4s".into()),
        (disappears, "its process ended: signal: 6 (SIGABRT)".into()),
        (leaves, "its process ended: exit status: 0 before the stage was done".into()),
    ];
    let why =
        "its image 1 has no result: loading the kernels failed with an error that the driver has no name for (997)";
    let refused = kernels[OF_AN_IMAGE..2 * OF_AN_IMAGE].iter().map(|kernel| (kernel, why));
    let failed: Vec<_> = faults.iter().map(|(kernel, why)| (*kernel, why.as_str())).chain(refused).collect();
    left.only_these_failed(slice, &failed);
    let images: Vec<_> = left.lost().iter().filter(|lost| lost.part.is_none()).map(|lost| lost.item.as_str()).collect();
    assert_eq!((left.lost().len(), images), (1 + faults.len(), vec!["1"]));
    // Each fault that stays took a process with it, and the kernels before it in its image ran once more.
    assert_eq!(left.text.matches("Every form\n").count(), 7, "{}", left.text);
}

/// A kernel hangs, and the run's time is shorter than the launch's.
pub(crate) fn the_deadline(slice: &Slice) {
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
pub(crate) fn interrupted(slice: &Slice) {
    let kernel = of_second_image(slice);
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
pub(crate) fn an_argument_of_another_size(slice: &Slice) {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(slice.ptx.as_bytes()).unwrap();
    let kernel = slice.plan.kernels.iter().find(|kernel| kernel.room == Room::Global).unwrap();
    let refused = |arguments: Vec<Argument>| {
        let launch = Launch { kernel: kernel.name.clone(), blocks: 1, threads: 32, shared: 0, arguments };
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

/// Where kernels do nothing, no form passes; nor does one that the program of a bundle has no kernel of.
pub(crate) fn a_gpu_that_does_nothing(slice: &Slice) {
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("FAKE_IDLE", "1") };
    // Here the images are cubins, whose kernels and variables the GPU looks up in the texts that were kept.
    let cubins = folder().join("cubins");
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

pub(crate) fn no_gpu(slice: &Slice) {
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
