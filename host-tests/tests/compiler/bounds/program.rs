//! Calls, a line each, and what `cargo check` says about them for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;

use host_tests::check::forms::Case;
use host_tests::check::here::or_panic;
use host_tests::check::refused::refused_lines;
use host_tests::tools::toolchain::DeviceToolchain;
use ptx_intrinsics::catalogue::IMPORTS;
use regex::Regex;

/// How many calls are compiled at a time.
const AT_A_TIME: usize = 6_000;
const HEAD: [&str; 3] = ["#![no_std]", "#![allow(warnings)]", IMPORTS];

/// An SM and a PTX ISA version: 80 and 74.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) sm: u32,
    pub(crate) ptx: u32,
}

impl Target {
    /// Newer than everything.
    pub(crate) const NEWEST: Target = Target { sm: 999, ptx: 999 };
}

/// Which part of a target is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Sm,
    Ptx,
}

impl Axis {
    pub(crate) fn of(self, target: Target) -> u32 {
        if self == Axis::Sm { target.sm } else { target.ptx }
    }

    pub(crate) fn with(self, target: Target, number: u32) -> Target {
        if self == Axis::Sm { Target { sm: number, ..target } } else { Target { ptx: number, ..target } }
    }

    /// The flag, as error messages name it.
    pub(crate) fn flag(self, number: u32) -> String {
        format!("{}{number}", if self == Axis::Sm { "sm_" } else { "ptx" })
    }
}

/// A call, and its gate.
#[derive(Debug)]
pub(crate) struct Call {
    /// The expression.
    pub(crate) rust: String,
    /// The parameters and the body of a function that holds it.
    function: String,
    pub(crate) needs: Target,
    /// The targets of which it needs one, where the number of an SM is not enough.
    pub(crate) named: &'static [&'static str],
}

impl Call {
    pub(crate) fn of(case: &Case) -> Call {
        let (sm, ptx) = case.needs();
        Call {
            rust: case.rust(),
            function: case.parameters_and_body(),
            needs: Target { sm, ptx },
            named: case.form.targets(),
        }
    }

    pub(crate) fn new(parameters: &str, rust: &str, (sm, ptx): (u32, u32)) -> Call {
        let function = format!("({parameters}) {{ unsafe {{ let _ = {rust}; }} }}");
        Call { rust: rust.to_owned(), function, needs: Target { sm, ptx }, named: &[] }
    }
}

/// A crate of calls.
pub(crate) struct Program {
    toolchain: DeviceToolchain,
    axis: Axis,
    folder: PathBuf,
}

impl Program {
    /// Along that axis: both are walked at the same time.
    pub(crate) fn new(toolchain: DeviceToolchain, axis: Axis) -> Program {
        let folder = toolchain.machine().target().join("bounds").join(axis.flag(0));
        Program { toolchain, axis, folder }
    }

    /// Compiles these calls for a target that has the gates of the first and lacks that of each of the others; what is
    /// wrong, a line each.
    pub(crate) fn check(&self, target: Target, taken: &[&Call], refused: &[&Call]) -> Vec<String> {
        let mut wrong = Vec::new();
        let all: Vec<(&Call, bool)> =
            taken.iter().map(|call| (*call, true)).chain(refused.iter().map(|call| (*call, false))).collect();
        for part in all.chunks(AT_A_TIME) {
            wrong.extend(self.part(target, part));
        }
        wrong
    }

    fn part(&self, target: Target, calls: &[(&Call, bool)]) -> Vec<String> {
        // With a suffix, a target has what it has without one, and what only such targets have.
        let suffix = if [90, 100].contains(&target.sm) { "a" } else { "" };
        let on = format!("sm_{}{suffix},ptx{}", target.sm, target.ptx);
        let target = self.folder.with_extension("target");
        let cargo = || self.toolchain.cargo().env("PTX_INTRINSICS_TARGET", &on).env("CARGO_TARGET_DIR", &target);
        let function = |(at, (call, _)): (usize, &(&Call, bool))| format!("pub unsafe fn f{at}{}", call.function);
        let lines: Vec<String> = calls.iter().enumerate().map(function).collect();
        let as_expected = |refused: &BTreeMap<usize, Vec<String>>| {
            (0..calls.len()).all(|at| calls[at].1 != refused.contains_key(&at))
        };
        let complaints = or_panic(refused_lines(&self.folder, cargo, &HEAD, &lines, as_expected));
        let judged = calls.iter().enumerate().filter_map(|(at, (call, is_taken))| {
            let flag = self.axis.flag(self.axis.of(call.needs));
            match (complaints.get(&at), is_taken) {
                (None, true) => None,
                (None, false) => Some(format!("{} is taken for {on}, and needs {flag}", call.rust)),
                (Some(said), true) => Some(format!("{} is refused for {on}: {}", call.rust, said.join("; "))),
                (Some(said), false) => self.unclear(call, said).map(|why| format!("{} for {on}: {why}", call.rust)),
            }
        });
        judged.collect()
    }

    /// What is wrong with a refusal: it names the gate's flag, and what it names beside is no newer.
    fn unclear(&self, call: &Call, said: &[String]) -> Option<String> {
        static NEEDS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"needs (?:PTX ISA )?(sm_|ptx)(\d+) or newer").expect("the pattern is valid"));
        let gate = self.axis.of(call.needs);
        let mut named = BTreeSet::new();
        for message in said {
            if let (Axis::Sm, [first, ..]) = (self.axis, call.named) {
                let is_right =
                    call.named.iter().all(|name| message.contains(name)) && message.contains("needs the target");
                if !is_right {
                    return Some(format!("says {message}, and not {first}"));
                }
                named.insert(gate);
                continue;
            }
            let Some(needs) = NEEDS.captures(message) else { return Some(format!("says {message}")) };
            if &needs[1] != self.axis.flag(0).trim_end_matches('0') {
                return Some(format!("says {message}"));
            }
            named.extend(needs[2].parse::<u32>());
        }
        (named.last() != Some(&gate)).then(|| format!("names {named:?} and not {}", self.axis.flag(gate)))
    }
}
