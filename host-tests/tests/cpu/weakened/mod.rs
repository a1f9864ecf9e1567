//! The worked kernels and those of parity with one fence, order, scope, wait or barrier weakened, one at a time: the checks find it
//! and say what is missing, or a rule says why nothing can go wrong without it.

mod launches;
mod weaken;

use host_tests::check::here::toolchain;
use std::collections::{BTreeMap, BTreeSet};

use host_tests::check::parity::PAIRS;
use host_tests::check::{forms_check, whole};
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::{Finding, Kind, Program};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use weaken::{Change, Weakening, braces, kernel, weakenings};

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

/// What became of a weakened kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// It is found, and a finding says what is missing.
    Named,
    /// It is found.
    Found,
    /// The launch does not come to the statement.
    NotReached,
    /// The barrier guards shared memory against its last use, and there was none.
    NothingBefore,
    /// It is still right.
    Right,
    /// It is not found, and no rule says why.
    Missed,
}

/// Whether a finding says what a change has taken away.
fn is_named(change: Change, finding: &Finding) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| finding.help.contains(word));
    match change {
        Change::NoBarrier => says(&["bar.sync", "bar.warp.sync", "barrier", "arrive"]),
        Change::NoFence | Change::Order => says(&["release", "acquire", "fence.acq_rel"]),
        Change::Scope => says(&[".gpu", ".sys", ".cluster"]),
        Change::Weak => finding.kind == Kind::Race || says(&["release", "acquire"]),
        Change::NoProxyFence => says(&["fence.proxy.async"]),
        Change::Wait | Change::NoCommit => says(&["wait_group", "griddepcontrol.wait"]),
        Change::Phase => says(&["mbarrier"]),
        Change::NoBytes => says(&["expect_tx"]),
    }
}

/// Whether a barrier stands before the first use of the shared variable that it guards, and no branch leads back over it.
fn is_before_the_first_use(text: &str, one: &Weakening) -> bool {
    const SHARED: &str = "ptx_kernel_shared_";
    let lines: Vec<(usize, &str)> = kernel(text).collect();
    let is_label = |line: &str| line.starts_with('$') && line.ends_with(':');
    let before = lines.iter().take_while(|(number, _)| *number < one.line());
    let guarded = before.clone().filter(|(_, line)| line.contains(SHARED)).last();
    let Some((named_at, name)) =
        guarded.and_then(|(at, line)| Some((*at, line.split([' ', ',', ';']).find(|word| word.starts_with(SHARED))?)))
    else {
        return false;
    };
    let labels: Vec<&str> = before.clone().map(|(_, line)| *line).filter(|line| is_label(line)).collect();
    let leads_back = |line: &str| {
        line.contains("bra")
            && labels.iter().any(|label| line.split_whitespace().last() == Some(&label.replace(':', ";")))
    };
    one.change == Change::NoBarrier
        && !before.clone().any(|(at, line)| *at < named_at && line.contains(name))
        && !before.clone().any(|(at, line)| *at > named_at && line.contains(".shared"))
        && !lines.iter().any(|(at, line)| *at > one.line() && leads_back(line))
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

    fn judge(&self, one: &Weakening) -> (Outcome, Vec<Finding>) {
        let program = Program::parse(&one.apply(&self.text));
        let mut all = Vec::new();
        for seed in 0..SEEDS {
            let report = launches::check(&program, self.name, seed, 4 * self.most + 100_000);
            assert!(report.stop.is_none(), "{}, {}: {report}", self.name, one.now);
            all.extend(report.findings);
            if all.iter().any(|finding| is_named(one.change, finding)) {
                return (Outcome::Named, all);
            }
        }
        let reached = || {
            let program = Program::parse(&one.trapped(&self.text));
            (0..2).any(|seed| !launches::check(&program, self.name, seed, 4 * self.most + 100_000).is_clean())
        };
        let outcome = match all.is_empty() {
            false => Outcome::Found,
            true if RIGHT.contains(&(self.name, one.change, one.instruction(), one.number)) => Outcome::Right,
            true if is_before_the_first_use(&self.text, one) => Outcome::NothingBefore,
            true if !reached() => Outcome::NotReached,
            true => Outcome::Missed,
        };
        (outcome, all)
    }
}

/// What stays right: `fence.mbarrier_init.release.cluster` has released all that the cluster has to know, so that its threads may meet by
/// relaxed arrivals.
const RIGHT: [(&str, Change, &str, usize); 1] = [("all_to_all", Change::Order, "barrier.cluster.arrive.aligned", 0)];

/// What is found to be missing by a message that says something else: the kernel, the change, the instruction, and which of these.
const OTHERWISE: [(&str, Change, &str, usize); 13] = [
    // One thread hands over what all threads of its block did. The message names the flag, and not the barrier before or after it.
    ("ring", Change::NoBarrier, "bar.sync", 0),
    ("ring", Change::NoBarrier, "bar.sync", 1),
    ("ring", Change::NoBarrier, "bar.sync", 2),
    ("ring", Change::NoBarrier, "bar.sync", 3),
    ("relay_first", Change::NoBarrier, "bar.sync", 0),
    ("relay_first", Change::NoBarrier, "bar.sync", 1),
    // Without the arrival the wait is illegal, and the launch ends there.
    ("rod", Change::NoBarrier, "barrier.cluster.arrive.aligned", 0),
    ("rod", Change::NoBarrier, "barrier.cluster.arrive.aligned", 1),
    ("column_sums", Change::NoBarrier, "barrier.cluster.arrive.aligned", 0),
    ("column_sums", Change::NoBarrier, "barrier.cluster.arrive.aligned", 1),
    ("all_to_all", Change::NoBarrier, "barrier.cluster.arrive.aligned", 0),
    // The phase that expects no bytes ends before the copy, and the message says that nobody waited for the copy's.
    ("gemm", Change::NoBytes, "mbarrier.arrive.expect_tx.shared.b64", 0),
    ("gemm", Change::NoBytes, "mbarrier.arrive.expect_tx.shared.b64", 1),
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
    let judged: Vec<(Outcome, Vec<Finding>)> = all.par_iter().map(|(at, one)| cases[*at].judge(one)).collect();
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    let mut wrong = String::new();
    for ((at, one), (outcome, findings)) in all.iter().zip(&judged) {
        *counts.entry(*outcome).or_default() += 1;
        let name = cases[*at].name;
        let line = format!("{outcome:?}: {name}, {:?} {}: `{}` becomes `{}`", one.change, one.number, one.was, one.now);
        println!("{line}");
        let key = (name, one.change, one.instruction(), one.number);
        let (is_known, is_right) = (OTHERWISE.contains(&key), RIGHT.contains(&key));
        if *outcome == Outcome::Missed
            || (*outcome == Outcome::Right) != is_right
            || (*outcome == Outcome::Found) != is_known
        {
            wrong += &format!("{line}\n");
            findings.iter().take(2).for_each(|finding| wrong += &format!("{finding}\n"));
        }
    }
    println!("{} weakened kernels: {counts:?}", all.len());
    assert!(wrong.is_empty(), "{wrong}{} weakened kernels: {counts:?}", all.len());
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
