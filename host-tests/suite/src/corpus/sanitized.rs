//! Each kernel of the corpus under each tool of `compute-sanitizer`: what does it say of the wrong one, and what of its twin?

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::bare::BARE;
use super::case::{Case, SIDES, pair_of};
use super::launched::{End, Launched};
use super::log::{Finding, Log};
use super::processes::{Job, Judged, LAUNCH, Processes, Ran, TOGETHER, Unpacked, nothing};
use crate::journal::{Found, Item, Known, Work};
use crate::stage::{Bench, Facts, Stage};
use launch::child;
use ptx_build::error::{Error, Result};

/// The name of the stage.
pub const SANITIZED: &str = "corpus-sanitizer";

/// The stage.
pub struct Sanitized;

const PROGRAM: &str = "compute-sanitizer";

/// The tools.
pub const TOOLS: [&str; 4] = ["racecheck", "memcheck", "initcheck", "synccheck"];

/// How a tool ends if it has something to complain about.
const COMPLAINS: &str = "86";

/// Characters of a log that are kept.
const KEPT: usize = 600;

/// The first port of the first place. Each tool looks for a free port among a few, and many run at a time.
const PORT: usize = 49_152;

/// The ports of a place.
const PORTS: usize = 20;

/// What every tool is told, but for its name, ports and log. The process has no children that launch kernels.
const OPTIONS: [&str; 10] = [
    "--target-processes",
    "application-only",
    "--launch-timeout",
    "15",
    "--show-backtrace",
    "no",
    "--print-limit",
    "100",
    "--error-exitcode",
    COMPLAINS,
];

/// What a tool is told besides. Only racecheck can be asked for deadlocks, and it does not look for them unless it is.
fn options(tool: &str) -> &'static [&'static str] {
    match tool {
        "racecheck" => &[
            "--racecheck-report",
            "all",
            "--racecheck-deadlock-timeout",
            "1500",
            // Many run at a time.
            "--racecheck-num-workers",
            "2",
        ],
        _ => &[],
    }
}

/// The tool that is to find a kind, if one does.
pub fn tool_for(kind: &str) -> &'static str {
    match kind {
        "bounds" | "misaligned" | "launch" => "memcheck",
        "uninitialised" => "initcheck",
        "deadlock" => "synccheck",
        _ => "racecheck",
    }
}

impl Stage for Sanitized {
    fn facts(&self) -> Facts {
        let about = "Wrong kernels and their twins under compute-sanitizer";
        Facts { name: SANITIZED, about, limit: Duration::from_secs(150) }
    }

    fn launch_limit(&self) -> Duration {
        LAUNCH
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        if child::find(PROGRAM).is_none() {
            return Ok(Work::without(PROGRAM));
        }
        let Some(unpacked) = Unpacked::of(bench)? else { return nothing(bench) };
        let items = items(&unpacked.cases).into_iter().map(|(tool, kernel)| format!("{tool} {kernel}"));
        Ok(Work { with: json!({ "left_out": unpacked.left_out }), ..items.collect() })
    }

    fn run(&self, _: &Bench, _: &Item) -> Result<Option<Found>> {
        Err(Error::new("its items are done side by side"))
    }

    fn side_by_side(&self, bench: &Bench, left: &[Item]) -> Option<Result<()>> {
        (!left.is_empty()).then(|| check(bench, left))
    }
}

/// The tools and kernels, what matters most first: the tool of each kind on its wrong kernels and on their twins, then the others.
fn items(cases: &[Case]) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for is_of_kind in [true, false] {
        let sides = if is_of_kind { SIDES } else { ["right", "wrong"] };
        for side in sides {
            for tool in TOOLS {
                let wanted = cases.iter().filter(|case| (tool_for(&case.kind) == tool) == is_of_kind);
                all.extend(wanted.map(|case| (tool, case.kernel(side))));
            }
        }
    }
    all
}

/// The jobs of what is left, in its order: a wrong kernel has a process of its own, and some right ones share one. What never ended
/// without a tool comes last, if its tool is not the one for it.
fn jobs(left: &[(&'static str, String)], limit: Duration, unpacked: &Unpacked, hung: &[String]) -> Vec<Job> {
    let (mut jobs, mut last): (Vec<Job>, Vec<Job>) = (Vec::new(), Vec::new());
    for (tool, kernel) in left {
        let is_right = pair_of(kernel).0 == "right";
        let is_of_kind = unpacked.case(kernel).is_ok_and(|case| tool_for(&case.kind) == *tool);
        let job = Job { tool, kernels: vec![kernel.clone()], limit, tried: 0 };
        if hung.contains(kernel) && !is_of_kind {
            last.push(Job { limit: (limit / 2).max(Duration::from_secs(1)), ..job });
            continue;
        }
        match jobs.last_mut() {
            Some(before) if is_right && before.tool == *tool && shares(before) => before.kernels.push(kernel.clone()),
            _ => jobs.push(job),
        }
    }
    jobs.extend(last);
    jobs
}

fn shares(job: &Job) -> bool {
    job.kernels.len() < TOGETHER && job.kernels.iter().all(|kernel| pair_of(kernel).0 == "right")
}

fn check(bench: &Bench, left: &[Item]) -> Result<()> {
    let Some(unpacked) = Unpacked::again(bench)? else { return Ok(()) };
    let limit = bench.settings.launch_limit.unwrap_or(LAUNCH);
    let left: Vec<(&str, String)> = left.iter().filter_map(|item| split(&item.name)).collect();
    let bare = Known::of(BARE, &bench.journal.events()?).found;
    let hung = bare.iter().filter(|(_, found)| found.data["launched"]["end"] == json!(End::Hung));
    let hung: Vec<String> = hung.map(|(kernel, _)| kernel.clone()).collect();
    let jobs = jobs(&left, limit, &unpacked, &hung);
    let logs = bench.out.join("corpus-logs");
    std::fs::create_dir_all(&logs).map_err(|error| Error::io("create the folder", &logs, error))?;
    let log_of = |place: usize| logs.join(format!("{place}.log"));
    let wrap = |job: &Job, place: usize| Some(command(job.tool, place, &log_of(place)));
    let judge = |job: &Job, ran: &Ran, place: usize| judge(job, ran, &read(&log_of(place)), &unpacked);
    let done = Processes::new(SANITIZED, bench, &unpacked)?.run(jobs, &wrap, &judge);
    unpacked.remove();
    let _ = std::fs::remove_dir_all(&logs);
    done
}

/// The tool and the kernel of an item.
fn split(item: &str) -> Option<(&'static str, String)> {
    let (name, kernel) = item.split_once(' ')?;
    Some((TOOLS.into_iter().find(|tool| *tool == name)?, kernel.to_owned()))
}

fn command(tool: &str, place: usize, log: &PathBuf) -> Command {
    // What an earlier process wrote is nobody's.
    let _ = std::fs::remove_file(log);
    let mut command = Command::new(PROGRAM);
    command.args(["--tool", tool, "--port", &(PORT + place * PORTS).to_string()]);
    command.args(["--max-connections", &PORTS.to_string()]).args(OPTIONS).args(options(tool));
    command.arg("--log-file").arg(log);
    command
}

fn read(log: &Path) -> String {
    std::fs::read(log).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// What a tool found in each kernel of a job. If several share a process, and a finding names none of them, each has one of its own.
fn judge(job: &Job, ran: &Ran, text: &str, unpacked: &Unpacked) -> Result<Judged> {
    let log = Log::read(text, &job.kernels);
    let is_alone = job.kernels.len() == 1;
    if !is_alone && (log.summary.is_none() || log.findings.iter().any(|finding| finding.kernel.is_none())) {
        let alone = |one: &Launched| Job { kernels: vec![one.kernel.clone()], ..job.clone() };
        return Ok(Judged { found: Vec::new(), again: ran.launched.iter().map(alone).collect() });
    }
    let found = ran.launched.iter().map(|one| {
        let findings = log.findings.iter().filter(|finding| is_alone || finding.kernel.as_ref() == Some(&one.kernel));
        let found = found(job.tool, one, &findings.collect::<Vec<_>>(), &log, text, ran, unpacked.case(&one.kernel)?);
        Ok((format!("{} {}", job.tool, one.kernel), found))
    });
    Ok(Judged { found: found.collect::<Result<_>>()?, again: Vec::new() })
}

/// Nothing that a tool says of a kernel is a failure of ours; that it says nothing at all is one, unless the kernel did not end.
fn found(tool: &str, one: &Launched, findings: &[&Finding], log: &Log, text: &str, ran: &Ran, case: &Case) -> Found {
    let first = findings.first().map(|finding| finding.text.clone());
    let is_named =
        |finding: &&&Finding| finding.places.iter().any(|(file, line)| *file == case.file && case.lines.contains(line));
    let said = match (&first, &log.summary) {
        (Some(first), _) => format!("{} findings: {first}", findings.len()),
        (None, Some(_)) => "no finding".to_owned(),
        (None, None) => format!("no summary: {}", log.notes.first().map_or("the log is empty", String::as_str)),
    };
    let data = json!({
        "kind": case.kind,
        "here": case.here,
        "tool": tool,
        "findings": findings.len(),
        "warnings": findings.iter().filter(|finding| finding.is_warning).count(),
        "line_named": findings.iter().any(|finding| is_named(&finding)),
        "first": first,
        "summary": log.summary,
        "launched": one,
        "seconds": ran.seconds,
        "log": text.chars().take(KEPT).collect::<String>(),
    });
    let passed = first.is_some() || log.summary.is_some() || one.end == End::Hung;
    Found { passed, text: format!("{said}; {}; {}", one.text(), ran.ended), data }
}
