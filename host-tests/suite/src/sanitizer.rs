//! Kernels under each tool of `compute-sanitizer`, by kind of memory: of each kind as few as have every instruction.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::journal::{Event, Found, Item, Journal, Known, Work};
use super::run::Forms;
use super::stage::{Bench, Facts, Stage};
use launch::child;
use ptx_build::error::{Error, Result};

/// The stage.
pub(super) struct Sanitizer;

const PROGRAM: &str = "compute-sanitizer";

const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// Kinds of memory.
const KINDS: [&str; 6] = ["cluster", "shared", "constant", "global", "host", "tensor-map"];

/// How it ends if it has something to complain about.
const COMPLAINS: u8 = 86;

/// How long one tool may take for one kind.
const LIMIT: Duration = Duration::from_secs(90);

/// Characters of a log that the report keeps; the whole one lies beside it.
const KEPT: usize = 8000;

impl Stage for Sanitizer {
    fn facts(&self) -> Facts {
        Facts { name: "sanitizer", about: "Kernels under compute-sanitizer", limit: Duration::from_secs(240) }
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        if child::find(PROGRAM).is_none() {
            return Ok(Work::without(PROGRAM));
        }
        Ok(TOOLS.into_iter().flat_map(|tool| KINDS.into_iter().map(move |kind| format!("{tool} {kind}"))).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let (tool, kind) = item.name.split_once(' ').unwrap_or_default();
        let folder = bench.out.join("sanitizer");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
        let [log, results] = ["log", "jsonl"].map(|kind_of_file| folder.join(format!("{tool}-{kind}.{kind_of_file}")));
        let _ = std::fs::remove_file(&results);
        // What loads has been found out.
        let journal = Journal::open(&results)?;
        let known = bench.journal.events()?;
        known.into_iter().filter(is_of_images).try_for_each(|event| journal.write(event))?;
        let program = std::env::current_exe()
            .map_err(|error| Error::new(format_args!("could not find this program: {error}")))?;
        let mut command = Command::new(PROGRAM);
        // This program asks for one parameter more than a kernel has, and takes the driver's refusal for the end.
        command.args(["--tool", tool, "--report-api-errors", "no", "--error-exitcode", &COMPLAINS.to_string()]);
        command.arg("--log-file").arg(&log);
        command.arg(program).args(["--work", Forms { again: false }.name(), "--kind", kind, "--launch-limit", "60"]);
        command.args(["--seed", &bench.settings.seed.to_string()]).arg("--results").arg(&results);
        let ended = child::run(&mut command, LIMIT, true, || false).map_err(|error| {
            error.fix("install compute-sanitizer (it comes with the CUDA toolkit) and put its folder into PATH")
        })?;
        let said = std::fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
        let kernels = Known::of("forms", &journal.events()?);
        let (done, lost) = (kernels.found.len(), kernels.lost.len());
        let wrong = kernels.found.iter().filter(|(_, found)| !found.passed).count();
        let summary =
            said.lines().rfind(|line| line.contains("SUMMARY")).unwrap_or("no summary").trim_matches(['=', ' ']);
        let text = format!("{}: {summary}; {done} images, {wrong} wrong, {lost} kernels lost", ended.in_words());
        // racecheck does not follow bulk copies and barriers of its own kind of proxy, and warns of what they order.
        let only_warns = ended.code() == Some(i32::from(COMPLAINS)) && summary.contains("(0 errors");
        let passed = (ended.code() == Some(0) || only_warns) && done > 0 && wrong + lost == 0;
        let printed = ended.stdout.chars().take(KEPT).collect::<String>();
        let data = json!({ "log": said.chars().take(KEPT).collect::<String>(), "printed": printed });
        Ok(Some(Found { passed, text, data }))
    }
}

fn is_of_images(event: &Event) -> bool {
    let of = |stage: &str| stage == super::stage::IMAGES;
    match event {
        Event::Stage { stage, .. } | Event::Found { stage, .. } | Event::Lost { stage, .. } => of(stage),
        _ => false,
    }
}
