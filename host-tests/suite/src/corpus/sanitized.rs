//! Each kernel of the corpus under each tool of `compute-sanitizer`: what does it say of the wrong one, and what of its twin?

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::bare::BARE;
use super::case::{Case, SIDES};
use super::launched::{End, Launched};
use super::log::{COMPLAINS, Finding, Log, SANITIZER, text_of};
use super::order::{Ends, tool_for, under_tools};
use super::processes::{Job, Judged, LAUNCH, Pairs, Processes, Ran, Unpacked, nothing};
use crate::journal::{Found, Item, Known, Work};
use crate::stage::{Bench, Facts, Stage};
use launch::child;
use ptx_build::error::{Error, Result};

/// The name of the stage.
pub const SANITIZED: &str = "corpus-sanitizer";

/// The stage.
pub struct Sanitized;

/// The tools.
pub const TOOLS: [&str; 4] = ["racecheck", "memcheck", "initcheck", "synccheck"];

/// Findings that a tool prints of a process: racecheck has one for each byte.
const PRINTED: usize = 20_000;

/// Places that are kept.
const PLACES: usize = 12;

/// Characters of a log that are kept.
const KEPT: usize = 600;

/// The first port of the first place. Each tool looks for a free port among a few, and many run at a time.
const PORT: usize = 49_152;

/// The ports of a place.
const PORTS: usize = 20;

/// What every tool is told, but for its name, ports and log. The process has no children that launch kernels.
const OPTIONS: [&str; 6] =
    ["--target-processes", "application-only", "--launch-timeout", "15", "--show-backtrace", "no"];

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

impl Stage for Sanitized {
    fn facts(&self) -> Facts {
        let about = "Wrong kernels and their twins under compute-sanitizer";
        Facts { name: SANITIZED, about, limit: Duration::from_secs(150) }
    }

    fn launch_limit(&self) -> Duration {
        LAUNCH
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        if child::find(SANITIZER).is_none() {
            return Ok(Work::without(SANITIZER));
        }
        let Some(pairs) = Pairs::of(bench)? else { return nothing(bench) };
        let items = items(&pairs.cases).into_iter().map(|(tool, kernel)| format!("{tool} {kernel}"));
        Ok(Work { with: json!({ "left_out": pairs.left_out }), ..items.collect() })
    }

    fn run(&self, _: &Bench, _: &Item) -> Result<Option<Found>> {
        Err(Error::new("its items are done side by side"))
    }

    fn side_by_side(&self, bench: &Bench, left: &[Item]) -> Option<Result<()>> {
        Some(check(bench, left))
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

fn check(bench: &Bench, left: &[Item]) -> Result<()> {
    let Some(unpacked) = Unpacked::of(bench)? else { return Ok(()) };
    let pairs = &unpacked.pairs;
    let limit = bench.settings.launch_limit.unwrap_or(LAUNCH);
    let left: Vec<(&'static str, String)> = left.iter().filter_map(|item| split(&item.name)).collect();
    let ends = Ends::of(&Known::of(BARE, &bench.journal.events()?).found);
    let jobs = under_tools(left, limit, pairs, &ends, bench.settings.seed);
    let logs = bench.out.join("corpus-logs");
    std::fs::create_dir_all(&logs).map_err(|error| Error::io("create the folder", &logs, error))?;
    let log_of = |place: usize| logs.join(format!("{place}.log"));
    let wrap = |job: &Job, place: usize| Some(command(job.tool, place, &log_of(place)));
    let judge = |job: &Job, ran: &Ran, place: usize| judge(job, ran, &text_of(&log_of(place)), pairs);
    let done = Processes::new(SANITIZED, bench, &unpacked)?.run(jobs, &wrap, &judge);
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
    let mut command = Command::new(SANITIZER);
    command.args(["--tool", tool, "--port", &(PORT + place * PORTS).to_string()]);
    command.args(["--max-connections", &PORTS.to_string()]).args(OPTIONS).args(options(tool));
    command
        .args(["--error-exitcode", &COMPLAINS.to_string(), "--print-limit", &PRINTED.to_string()])
        .arg("--log-file")
        .arg(log);
    command
}

/// What a tool found in each kernel of a job. A call that fails is of the kernel at which the process ended. If several share a process,
/// and it is not known whose a finding is, each has a process of its own.
fn judge(job: &Job, ran: &Ran, text: &str, pairs: &Pairs) -> Result<Judged> {
    let mut log = Log::read(text, &job.kernels);
    let last = ran.launched.last().filter(|one| one.is_last()).map(|one| one.kernel.clone());
    for finding in log.findings.iter_mut().filter(|finding| finding.is_call && finding.kernel.is_none()) {
        finding.kernel.clone_from(&last);
    }
    let is_alone = job.kernels.len() == 1;
    let is_cut_off = log.summary.is_none() || log.findings.len() >= PRINTED;
    if !is_alone && (is_cut_off || log.findings.iter().any(|finding| finding.kernel.is_none())) {
        let alone = |one: &Launched| Job { kernels: vec![one.kernel.clone()], ..job.clone() };
        return Ok(Judged { found: Vec::new(), again: ran.launched.iter().map(alone).collect() });
    }
    let found = ran.launched.iter().map(|one| {
        let findings = log.findings.iter().filter(|finding| is_alone || finding.kernel.as_ref() == Some(&one.kernel));
        // That the kernel failed is what the program itself sees.
        let findings = findings.filter(|finding| !(finding.is_call && one.end == End::Failed));
        let found = found(job.tool, one, &findings.collect::<Vec<_>>(), &log, text, ran, pairs.case(&one.kernel)?);
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
    let places = findings.iter().flat_map(|finding| &finding.places);
    let places: BTreeSet<String> = places.map(|(file, line)| format!("{file}:{line}")).collect();
    let data = json!({
        "kind": case.kind,
        "here": case.here,
        "tool": tool,
        "findings": findings.len(),
        "warnings": findings.iter().filter(|finding| finding.is_warning).count(),
        "line_named": findings.iter().any(|finding| is_named(&finding)),
        "first": first,
        "places": places.into_iter().take(PLACES).collect::<Vec<_>>(),
        "notes": log.notes.iter().take(3).collect::<Vec<_>>(),
        "summary": log.summary,
        "launched": one,
        "seconds": ran.seconds,
        "log": part_of(text, &one.kernel).chars().take(KEPT).collect::<String>(),
    });
    let passed = first.is_some() || log.summary.is_some() || one.end == End::Hung;
    Found { passed, text: format!("{said}; {}; {}", one.text(), ran.ended), data }
}

/// A log from the line above the first one that names a kernel.
fn part_of<'t>(text: &'t str, kernel: &str) -> &'t str {
    let Some(at) = text.find(kernel) else { return text };
    let line = text[..at].rfind('\n').unwrap_or(0);
    &text[text[..line].rfind('\n').map_or(0, |at| at + 1)..]
}
