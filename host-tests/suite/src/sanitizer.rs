//! Kernels under each tool of `compute-sanitizer`, by kind of memory: of each kind as few as have every instruction.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::complaints::Complaints;
use super::corpus::log::{COMPLAINS, SANITIZER, text_of};
use super::journal::{Event, Found, Item, Journal, Known, Work};
use super::plan::Kernel;
use super::stage::{Bench, Facts, Stage};
use launch::child;
use ptx_build::error::{Error, Result};

/// The stage.
pub(super) struct Sanitizer;

const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// Kinds of memory.
const KINDS: [&str; 6] = ["cluster", "shared", "constant", "global", "host", "tensor-map"];

/// How long one tool may take for one kind.
const LIMIT: Duration = Duration::from_secs(90);

/// Processes that one tool has for one kind at most.
const PROCESSES: usize = 3;

/// The stage whose kernels run.
const FORMS: &str = "forms";

/// Characters of a log that the report keeps; the whole one lies beside it.
const KEPT: usize = 8000;

impl Stage for Sanitizer {
    fn facts(&self) -> Facts {
        Facts { name: "sanitizer", about: "Kernels under compute-sanitizer", limit: Duration::from_secs(240) }
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        if child::find(SANITIZER).is_none() {
            return Ok(Work::without(SANITIZER));
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
        let mut under_tool = UnderTool { bench, tool, kind, log, results, journal, complaints: Complaints::default() };
        let mut ended = under_tool.once()?;
        // A tool may end a kernel for what is known: the others go on without it.
        for _ in 1..PROCESSES {
            if under_tool.forms()?.left().next().is_none() || !under_tool.lost_are_known()? {
                break;
            }
            ended = under_tool.once()?;
        }
        under_tool.found(&ended).map(Some)
    }
}

/// A kind of memory under a tool.
struct UnderTool<'a> {
    bench: &'a Bench,
    tool: &'a str,
    kind: &'a str,
    log: PathBuf,
    results: PathBuf,
    journal: Journal,
    complaints: Complaints,
}

impl UnderTool<'_> {
    /// A process, which goes on where the one before ended.
    fn once(&mut self) -> Result<child::Ended> {
        let program = child::itself()?;
        let mut command = Command::new(SANITIZER);
        // This program asks for one parameter more than a kernel has, and takes the driver's refusal for the end.
        command.args(["--tool", self.tool, "--report-api-errors", "no", "--error-exitcode", &COMPLAINS.to_string()]);
        command.arg("--log-file").arg(&self.log);
        command.arg(program).args(["--work", FORMS, "--kind", self.kind, "--launch-limit", "60"]);
        command.args(["--seed", &self.bench.settings.seed.to_string()]).arg("--results").arg(&self.results);
        let ended = child::run(&mut command, LIMIT, true, || false).map_err(|error| {
            error.fix("install compute-sanitizer (it comes with the CUDA toolkit) and put its folder into PATH")
        })?;
        let forms = self.forms()?;
        let parts: HashSet<&str> =
            forms.work.iter().flat_map(|work| &work.items).flat_map(|item| &item.parts).map(String::as_str).collect();
        let kernels: Vec<&Kernel> =
            self.bench.plan().kernels.iter().filter(|kernel| parts.contains(&*kernel.name)).collect();
        let complaints = Complaints::of(self.tool, &text_of(&self.log), &kernels);
        self.complaints.extend(complaints);
        Ok(ended)
    }

    fn forms(&self) -> Result<Known> {
        Ok(Known::of(FORMS, &self.journal.events()?))
    }

    /// Whether each lost kernel was ended by the tool, for what is known.
    fn lost_are_known(&self) -> Result<bool> {
        let is_known = |(_, part, _): &(String, Option<String>, String)| {
            part.as_ref().is_some_and(|kernel| self.complaints.ended(kernel))
        };
        Ok(self.forms()?.lost.iter().all(is_known))
    }

    fn found(&self, ended: &child::Ended) -> Result<Found> {
        let (said, kernels) = (text_of(&self.log), self.forms()?);
        let (done, lost, left) = (kernels.found.len(), kernels.lost.len(), kernels.left().count());
        let wrong = kernels.found.iter().filter(|(_, found)| !found.passed).count();
        let summary =
            said.lines().rfind(|line| line.contains("SUMMARY")).unwrap_or("no summary").trim_matches(['=', ' ']);
        let told = self.complaints.text().map(|text| format!("; {text}")).unwrap_or_default();
        let text = format!("{}: {summary}; {done} images, {wrong} wrong, {lost} kernels lost{told}", ended.in_words());
        let complains = ended.code() == Some(i32::from(COMPLAINS)) && !self.complaints.known.is_empty();
        let is_whole = done > 0 && wrong + left == 0 && self.lost_are_known()?;
        let passed = (ended.code() == Some(0) || complains) && is_whole && self.complaints.new.is_empty();
        let printed = ended.stdout.chars().take(KEPT).collect::<String>();
        let data = json!({ "log": said.chars().take(KEPT).collect::<String>(), "printed": printed });
        Ok(Found { passed, text, data })
    }
}

fn is_of_images(event: &Event) -> bool {
    let of = |stage: &str| stage == super::stage::IMAGES;
    match event {
        Event::Stage { stage, .. } | Event::Found { stage, .. } | Event::Lost { stage, .. } => of(stage),
        _ => false,
    }
}
