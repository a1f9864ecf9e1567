//! The worked kernels and those of parity with one fence, order, scope, wait or barrier weakened, one at a time: the checks find it.

mod launches;
mod weaken;

use host_tests::check::here::toolchain;
use std::collections::BTreeSet;

use host_tests::check::parity::PAIRS;
use host_tests::check::{forms_check, whole};
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::Program;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use weaken::{Change, Weakening, braces, weakenings};

/// Orders of the threads in which each kernel runs.
const SEEDS: u64 = 8;

/// Orders in which a kernel runs as it is.
const SILENT: u64 = 3;

/// Those that are weakened: one for each kernel, and one for each change of each instruction, drawn by the seed.
fn drawn(cases: &[Case], mut all: Vec<(usize, Weakening)>) -> Vec<(usize, Weakening)> {
    if whole::is_set() {
        return all;
    }
    let mut random = forms_check::random("the weakenings are");
    all.shuffle(&mut random);
    let (mut kernels, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    all.retain(|(at, one)| {
        let is_new = kinds.insert((one.change, one.instruction().to_owned()));
        kernels.insert(cases[*at].name) || is_new
    });
    all
}

/// The module that has the kernels of parity, and the worked kernels, of a GPU.
fn module(sm: Sm, ptx: PtxVersion, features: &[&str]) -> String {
    let toolchain = toolchain();
    let mut build = DeviceBuild::new(PAIRS, "parity", sm);
    build.ptx = Some(ptx);
    build.features.extend(features.iter().map(|feature| (*feature).to_owned()));
    std::fs::read_to_string(build.build(&toolchain).unwrap()).unwrap()
}

/// All kernels, each of the oldest of two GPUs that has it.
fn cases() -> Vec<Case> {
    let older = module(Sm::new(90), PtxVersion::new(8, 1), &["bulk"]);
    let newer = module(Sm::new(100), PtxVersion::new(8, 8), &["bulk", "wide"]);
    let is_older = |name: &str| older.contains(&format!(".entry {name}("));
    launches::names().map(|name| Case::new(if is_older(name) { &older } else { &newer }, name)).collect()
}

/// The module with this kernel alone.
fn alone(module: &str, kernel: &str) -> String {
    let (mut left_out, mut depth) = (false, 0);
    let mut kept = String::new();
    for line in module.lines() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            left_out = rest.split('(').next() != Some(kernel);
        }
        let before = depth;
        depth += braces(line);
        if !left_out {
            kept += line;
            kept.push('\n');
        }
        left_out &= !(before > 0 && depth == 0);
    }
    kept
}

/// A kernel, alone in its module, and how many instructions a launch takes.
struct Case {
    name: &'static str,
    text: String,
    most: u64,
}

impl Case {
    fn new(module: &str, name: &'static str) -> Case {
        Case { name, text: alone(module, name), most: 0 }
    }

    /// As it is, it has no finding.
    fn is_silent(&mut self, seeds: u64) {
        let program = Program::parse(&self.text);
        for seed in 0..seeds {
            let report = launches::check(&program, self.name, seed, 1 << 30);
            assert!(report.is_clean(), "{}, seed {seed}: {report}", self.name);
            self.most = self.most.max(report.instructions);
        }
    }

    /// Whether a check finds it in one of the orders.
    fn finds(&self, one: &Weakening) -> bool {
        let program = Program::parse(&one.apply(&self.text));
        (0..SEEDS).any(|seed| {
            let report = launches::check(&program, self.name, seed, 4 * self.most + 100_000);
            assert!(report.stop.is_none(), "{}, {}: {report}", self.name, one.now);
            !report.findings.is_empty()
        })
    }
}

/// What is not found: the kernel, the change, the instruction, and which of these. Nothing goes wrong without it.
const NOT_FOUND: [(&str, Change, &str, usize); 17] = [
    // Barriers before the first use of the shared memory that they guard.
    ("add_rms_norm", Change::NoBarrier, "bar.sync", 0),
    ("rms_norm", Change::NoBarrier, "bar.sync", 0),
    ("softmax", Change::NoBarrier, "bar.sync", 0),
    ("attention", Change::NoBarrier, "bar.sync", 0),
    ("reduce", Change::NoBarrier, "bar.sync", 0),
    ("layer_norm_first", Change::NoBarrier, "bar.sync", 0),
    ("layer_norm_first", Change::NoBarrier, "bar.sync", 2),
    ("layer_norm", Change::NoBarrier, "bar.sync", 0),
    ("layer_norm", Change::NoBarrier, "bar.sync", 2),
    // Statements that the launch does not come to.
    ("matmul", Change::NoCommit, "cp.async.commit_group", 0),
    ("gemm", Change::Phase, "mbarrier.try_wait.parity.shared.b64", 3),
    ("gemm", Change::NoProxyFence, "fence.proxy.async.shared::cta", 3),
    ("gemm", Change::NoBytes, "mbarrier.arrive.expect_tx.shared.b64", 2),
    // The barriers that are initialised before it are known by `bar.sync`, or by a release at the cluster's barrier.
    ("stages", Change::NoProxyFence, "fence.proxy.async.shared::cta", 0),
    ("gather_rows", Change::NoProxyFence, "fence.mbarrier_init.release.cluster", 0),
    ("all_to_all", Change::NoProxyFence, "fence.mbarrier_init.release.cluster", 0),
    // `fence.mbarrier_init.release.cluster` has released all that the cluster has to know, so its threads may meet by relaxed arrivals.
    ("all_to_all", Change::Order, "barrier.cluster.arrive.aligned", 0),
];

/// Weakenings that are drawn, at least.
const LEAST: usize = 40;

#[test]
fn a_weakened_kernel_is_found() {
    let mut cases = cases();
    let all: Vec<(usize, Weakening)> = cases
        .iter()
        .enumerate()
        .flat_map(|(at, case)| weakenings(&case.text).into_iter().map(move |one| (at, one)))
        .collect();
    assert!(all.len() >= 180, "{} weakenings are fewer than there were", all.len());
    let all = drawn(&cases, all);
    assert!(all.len() >= LEAST, "{} weakenings", all.len());
    cases.par_iter_mut().for_each(|case| case.is_silent(SILENT));
    let found: Vec<bool> = all.par_iter().map(|(at, one)| cases[*at].finds(one)).collect();
    let mut wrong = Vec::new();
    for ((at, one), found) in all.iter().zip(&found) {
        let key = (cases[*at].name, one.change, one.instruction(), one.number);
        if NOT_FOUND.contains(&key) == *found {
            let word = if *found { "found" } else { "not found" };
            wrong.push(format!("{word}: {key:?}: `{}` becomes `{}`", one.was, one.now));
        }
    }
    println!("{} weakened kernels, {} found", all.len(), found.iter().filter(|found| **found).count());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As they are, the kernels have no finding in a thousand orders, of which half have weak loads.
#[test]
#[ignore = "takes about 20 minutes: cargo test -p host-tests --test cpu -- --ignored a_thousand_orders"]
fn a_thousand_orders_have_no_finding() {
    const ORDERS: u64 = 1000;
    let mut cases = cases();
    cases.par_iter_mut().for_each(|case| case.is_silent(ORDERS));
    println!("{} kernels, {ORDERS} orders of each: no finding", cases.len());
}

/// What a statement becomes, and what it does not.
#[test]
fn a_statement_is_weakened_in_each_way() {
    let of = |statement: &str| -> Vec<String> {
        let text = format!(".visible .entry k(\n)\n{{\n\t{{ {statement}; }}\n\tret;\n}}\n");
        weakenings(&text).into_iter().map(|one| one.now).collect()
    };
    assert_eq!(of("bar.sync \t0"), [""]);
    assert_eq!(
        of("@%p st.release.gpu.global.u32 [%rd1], %r1"),
        ["@%p st.relaxed.gpu.global.u32 [%rd1], %r1", "@%p st.release.cta.global.u32 [%rd1], %r1"]
    );
    assert_eq!(
        of("ld.relaxed.sys.global.u32 %r1, [%rd1]"),
        ["ld.relaxed.gpu.global.u32 %r1, [%rd1]", "ld.global.u32 %r1, [%rd1]"]
    );
    assert_eq!(of("fence.sc.gpu"), ["", "fence.acq_rel.gpu", "fence.sc.cta"]);
    assert_eq!(of("cp.async.wait_group 1"), ["", "cp.async.wait_group 2"]);
    assert_eq!(of("mbarrier.try_wait.parity.shared.b64 %done, [%r1], %r2"), ["setp.eq.u32 %done, 0, 0"]);
    assert_eq!(of("barrier.cluster.arrive.aligned"), ["", "barrier.cluster.arrive.relaxed.aligned"]);
    assert_eq!(of("ld.shared.u32 %r1, [%r2]"), Vec::<String>::new());
    let text = ".visible .entry k(\n)\n{\n\t{ bar.sync 0; ret; }\n}\n";
    assert_eq!(weakenings(text)[0].apply(text), ".visible .entry k(\n)\n{\n\t{  ret; }\n}\n");
}
