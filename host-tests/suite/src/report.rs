//! What a run showed, for programs and as a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use host_tests::{check::sass::on_gpu, tools::target::Sm};
use ptx_intrinsics::catalogue::Form;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::corpus::{bare::BARE, sanitized::SANITIZED};
use super::date::date;
use super::journal::{Event, Known, Machine};
use super::kernels::PTX;
use super::observed::unseen;
use super::plan::Plan;
pub use super::rows::{Failure, Row};
use super::rows::{one_line, shown, wrong_forms};
use super::run::{self, OF_SEVERAL, Outcome, REFUSED, Verdict, With};
use super::stages::PLAN;
use super::versions::Versions;

/// A whole run, or as much of it as there is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// What it ran on.
    pub machine: Machine,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What made the data.
    pub seed: u64,
    /// What it was made with.
    pub versions: Versions,
    /// Whether it came to its end.
    pub complete: bool,
    /// Whether it was a dry run, which says nothing of orders and speed.
    #[serde(default)]
    pub quick: bool,
    /// Stages of the plan that are not in it.
    #[serde(default)]
    pub not_in_it: Vec<String>,
    /// The forms, each time that they were tried.
    pub forms: Vec<Tried>,
    /// The stages, in their order.
    pub stages: Vec<StageReport>,
    /// How long it took.
    pub seconds: f64,
}

/// The forms, tried once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tried {
    /// The stage that did it.
    pub stage: String,
    /// The assembler of the images.
    pub set: String,
    /// What made the data.
    pub seed: u64,
    /// Whether it was a part of the kernels only.
    pub part: bool,
    /// Counts.
    pub counts: Forms,
    /// By instruction, in the catalogue's order.
    pub instructions: Vec<Instruction>,
    /// What failed: all of it.
    pub failures: Vec<Failure>,
    /// What is wrong as it is known of this GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Failure>,
}

/// Counts of forms: on a GPU that has all that it should, the last three numbers are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forms {
    /// In the catalogue.
    pub catalogue: usize,
    /// In the catalogue, for this device.
    pub of_device: usize,
    /// Of these, in the PTX ISA version of the images, and taken by their assembler.
    pub of_images: usize,
    /// Launched on it.
    pub launched: usize,
    /// Not launched, by reason. With those that were launched these are all.
    #[serde(default)]
    pub not_launched: BTreeMap<String, usize>,
    /// Launched, and every byte was right.
    #[serde(alias = "verified")]
    pub bytes_right: usize,
    /// Of these, those with a word whose effect is on no byte, by that word: nothing was seen of it.
    #[serde(default)]
    pub unseen: BTreeMap<String, usize>,
    /// Kernels compared.
    pub kernels: usize,
    /// Trials: forms as they are, under a predicate, with choices of lanes.
    pub trials: usize,
    /// Bytes compared.
    pub bytes: usize,
}

/// The forms of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// Forms whose every byte was right.
    pub passed: usize,
    /// Forms that are wrong as it is known of this GPU.
    #[serde(default, skip_serializing_if = "is_none")]
    pub known: usize,
    /// Forms that failed.
    pub failed: usize,
    /// Forms that were not run, by reason.
    pub not_run: BTreeMap<String, usize>,
}

/// A stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StageReport {
    /// Its name.
    pub name: String,
    /// Why it ended early, or did not end.
    pub early: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// How many items it has.
    pub items: usize,
    /// What else it says of its work.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub with: Value,
    /// What came of them.
    pub results: Vec<Row>,
    /// What has no result.
    pub lost: Vec<Lost>,
    /// Items of which nothing is known: the stage ended before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_done: Vec<String>,
    /// The program that it needs, if that was not on the machine: then nothing of it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What has no result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The item.
    pub item: String,
    /// The part of it that it went on without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// What went wrong.
    pub why: String,
}

impl Tried {
    fn of(stage: &str, with: With, outcome: &Outcome, sm: u32) -> Tried {
        let count = |wanted: &dyn Fn(&Form, &Verdict) -> bool| {
            outcome.verdicts.iter().filter(|(form, verdict)| wanted(form, verdict)).count()
        };
        let is_there = |form: &Form| on_gpu(form, Sm::new(sm)).is_some();
        let counts = Forms {
            catalogue: outcome.verdicts.len(),
            of_device: count(&|form, _| is_there(form)),
            of_images: count(&|form, verdict| {
                let left_out = [REFUSED, OF_SEVERAL].iter().any(|why| *verdict == Verdict::NotRun((*why).into()));
                is_there(form) && form.min_ptx() <= with.ptx.number() && !left_out
            }),
            launched: outcome.launched.len(),
            not_launched: outcome.not_launched(),
            bytes_right: count(&|_, verdict| *verdict == Verdict::Passed),
            unseen: unseen_of(outcome),
            kernels: outcome.kernels,
            trials: outcome.trials,
            bytes: outcome.bytes,
        };
        let (mut failures, mut known) = (Vec::new(), Vec::new());
        for (form, verdict) in &outcome.verdicts {
            let of = |failure: &run::Failure| Failure { ptx: form.full_ptx(), failure: failure.clone() };
            match verdict {
                Verdict::Failed(failure) => failures.push(of(failure)),
                Verdict::Known(failure) => known.push(of(failure)),
                Verdict::Passed | Verdict::NotRun(_) => {}
            }
        }
        let With { set, seed, part, .. } = with;
        Tried { stage: stage.into(), set, seed, part, counts, instructions: instructions(outcome), failures, known }
    }

    fn passed(&self) -> bool {
        let Forms { catalogue, of_images, launched, not_launched, bytes_right, .. } = &self.counts;
        // A part without a form proves nothing.
        let as_known = bytes_right + self.known.len();
        let complete = *launched > 0 && *launched == as_known && (self.part || of_images == launched);
        complete && launched + not_launched.values().sum::<usize>() == *catalogue && self.failures.is_empty()
    }

    fn counts(&self) -> Vec<(usize, &'static str)> {
        let counts = &self.counts;
        let known = (self.known.len(), "launched, and wrong as it is known of this GPU");
        let mut all = vec![
            (counts.catalogue, "forms in the catalogue"),
            (counts.of_device, "forms in the catalogue for this device"),
            (counts.of_images, "of these that the images have"),
            (counts.launched, "launched"),
            (counts.not_launched.values().sum(), "not launched"),
            (counts.bytes_right, "launched, and every byte right"),
            (counts.kernels, "kernels"),
            (counts.trials, "trials: forms as they are, under a predicate, with choices of lanes"),
            (counts.bytes, "bytes compared"),
        ];
        if known.0 > 0 {
            all.insert(6, known);
        }
        all
    }
}

/// Of the forms whose bytes were right, those with each word that bytes do not show.
fn unseen_of(outcome: &Outcome) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let right = outcome.verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Passed);
    for word in right.flat_map(|(form, _)| unseen(form)) {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

/// By instruction, in the catalogue's order.
fn instructions(outcome: &Outcome) -> Vec<Instruction> {
    let mut rows: Vec<Instruction> = Vec::new();
    for (form, verdict) in &outcome.verdicts {
        let at = rows.iter().position(|row| row.name == form.instruction()).unwrap_or_else(|| {
            rows.push(Instruction { name: form.instruction().to_owned(), ..Instruction::default() });
            rows.len() - 1
        });
        match verdict {
            Verdict::Passed => rows[at].passed += 1,
            Verdict::Known(_) => rows[at].known += 1,
            Verdict::Failed(_) => rows[at].failed += 1,
            Verdict::NotRun(why) => *rows[at].not_run.entry(why.clone()).or_default() += 1,
        }
    }
    rows
}

impl StageReport {
    fn of(name: &str, known: Known, has_forms: bool) -> StageReport {
        let not_done = known.left().map(str::to_owned).collect();
        let (early, seconds) = known.ended.unwrap_or((Some("it has not ended".into()), 0.0));
        let early = early.or_else(|| known.work.is_none().then(|| "it did not say what it does".into()));
        let row = |(item, found)| Row::of(item, found, has_forms);
        let work = known.work.unwrap_or_default();
        StageReport {
            name: name.into(),
            early,
            seconds,
            items: work.items.len(),
            with: if has_forms { Value::Null } else { work.with },
            not_done,
            missing: work.missing,
            results: known.found.into_iter().map(row).collect(),
            lost: known.lost.into_iter().map(|(item, part, why)| Lost { item, part, why }).collect(),
        }
    }

    fn passed(&self) -> bool {
        // That one set of images does not load is no failure: another one runs then, and the report says which.
        let lost = if self.name == super::stage::IMAGES { self.results.is_empty() } else { !self.lost.is_empty() };
        let complete = self.early.is_none() && !lost && self.not_done.is_empty();
        complete && (self.items > 0 || self.missing.is_some()) && self.results.iter().all(|row| row.passed)
    }

    fn in_a_line(&self) -> String {
        if let Some(program) = &self.missing {
            return format!("not run: there is no {program} here");
        }
        let failed = self.results.iter().filter(|row| !row.passed).count();
        let early = self.early.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let done = self.results.iter().map(|row| &row.item).collect::<BTreeSet<_>>().len();
        let (items, lost) = (self.items, self.lost.len());
        let rest = if self.not_done.is_empty() { String::new() } else { format!(", {} not done", self.not_done.len()) };
        format!("{done} of {items} items done, {failed} failed, {lost} lost{rest}, {:.1} s{early}", self.seconds)
    }
}

impl Lost {
    fn name(&self) -> String {
        self.part.as_ref().map_or_else(|| self.item.clone(), |part| format!("{}, {part}", self.item))
    }
}

impl Report {
    /// What the results of a run say about these forms.
    pub fn of(events: &[Event], forms: &[Arc<Form>], plan: &Plan) -> Report {
        let mut report = Report::default();
        let (mut names, mut runs, mut ended): (Vec<String>, _, _) = (Vec::new(), 0, 0);
        for event in events {
            match event {
                // Several, if they are the parts of a plan, joined.
                Event::Run { began, seed, versions, stages, quick } => {
                    runs += 1;
                    if runs == 1 {
                        (report.began, report.seed, report.versions) = (*began, *seed, versions.clone());
                    }
                    report.quick |= quick;
                    names.extend(stages.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
                }
                Event::Machine(machine) => report.machine = machine.clone(),
                Event::Complete { seconds } => {
                    ended += 1;
                    report.seconds += seconds;
                }
                _ => {}
            }
        }
        report.complete = runs > 0 && runs == ended;
        let planned = PLAN.iter().flat_map(|part| part.stages).map(|name| (*name).to_owned());
        report.not_in_it = planned.filter(|name| !names.contains(name)).collect();
        for name in names {
            let known = Known::of(&name, events).abandoned();
            let with = known.work.as_ref().and_then(|work| serde_json::from_value::<With>(work.with.clone()).ok());
            let has_forms = with.is_some();
            if let Some(with) = with {
                let outcome = Outcome::of(forms, plan, report.machine.sm, &known);
                report.forms.push(Tried::of(&name, with, &outcome, report.machine.sm));
            }
            report.stages.push(StageReport::of(&name, known, has_forms));
        }
        report
    }

    /// Whether all is as it should be.
    pub fn passed(&self) -> bool {
        self.complete && self.forms.iter().all(Tried::passed) && self.stages.iter().all(StageReport::passed)
    }

    /// Whether a stage has a table of its own, which shows more than its results.
    fn has_table(&self, stage: &str) -> bool {
        self.forms.iter().any(|tried| tried.stage == stage) || [BARE, SANITIZED].contains(&stage)
    }

    fn in_a_line(&self) -> String {
        let ended = if self.complete { format!("{:.1} seconds", self.seconds) } else { "INCOMPLETE".into() };
        let missing: Vec<&str> =
            self.stages.iter().filter(|stage| stage.missing.is_some()).map(|stage| stage.name.as_str()).collect();
        let but = if missing.is_empty() { String::new() } else { format!(", but {} not run", missing.join(" and ")) };
        format!("{}{but}, {ended}", if self.passed() { "all is right" } else { "NOT ALL IS RIGHT" })
    }

    /// A page of Markdown, which the terminal shows too.
    pub fn page(&self) -> String {
        let Versions { ptx_intrinsics, commit, rustc, ptxas } = &self.versions;
        let Machine { gpu, sm, driver, .. } = &self.machine;
        let mut page = format!("# {gpu}\n\n");
        let mut line = |text: &str| writeln!(page, "{text}").expect("a string takes all");
        line("Made of `report.json`.\n");
        line("| | |\n| --- | --- |");
        line(&format!("| GPU | {gpu} (sm_{sm}) |\n| driver | {driver} |\n| date | {} |", date(self.began)));
        line(&format!("| commit | {commit} |\n| crate | {ptx_intrinsics} |\n| kernels compiled by | {rustc} |"));
        line(&format!("| assembled by | ptxas {} |\n| seed | {} |", ptxas.join(", "), self.seed));
        line(&format!("| result | {} |", self.in_a_line()));
        if !self.not_in_it.is_empty() {
            line(&format!("| stages of the plan that are not in it | {} |", self.not_in_it.join(", ")));
        }
        if self.quick {
            line(&format!("\n**{}**", DRY));
        }
        for tried in &self.forms {
            let Tried { stage, set, seed, .. } = tried;
            line(&format!("\n## Forms ({stage})\n\n| | |\n| --- | ---: |"));
            line(&format!("| images | {} |\n| seed | {seed} |", images(set)));
            tried.counts().iter().for_each(|(count, what)| line(&format!("| {what} | {count} |")));
            for (why, count) in &tried.counts.not_launched {
                line(&format!("| … {why} | {count} |"));
            }
            for (word, count) in &tried.counts.unseen {
                line(&format!("| {UNSEEN} {word} | {count} |"));
            }
            line("\n| Instruction | Bytes right | Failed | Not run |\n| --- | ---: | ---: | --- |");
            for row in &tried.instructions {
                let why = reasons(&row.not_run);
                line(&format!("| `{}` | {} | {} | {why} |", row.name, row.passed, row.failed));
            }
            for (form, what, all) in [
                ("Form that is wrong, as is known", "What is wrong", &tried.known),
                ("Form that failed", "What was wrong", &tried.failures),
            ] {
                wrong_forms(form, what, all).iter().for_each(|text| line(text));
            }
        }
        for stage in &self.stages {
            line(&format!("\n## Stage {}\n\n{}.", stage.name, stage.in_a_line()));
            let rows = shown(&stage.results, self.has_table(&stage.name));
            if !rows.is_empty() || !stage.lost.is_empty() {
                line("\n| Item | | Result |\n| --- | --- | --- |");
            }
            for row in rows {
                let mark = if row.passed { "" } else { "**failed**" };
                line(&format!("| {} | {mark} | {} |", row.item, one_line(&row.text)));
            }
            for lost in &stage.lost {
                line(&format!("| {} | **lost** | {} |", lost.name(), one_line(&lost.why)));
            }
            if !stage.not_done.is_empty() {
                line(&format!("\nNot done: {}.", some(&stage.not_done)));
            }
        }
        page
    }
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// What is said of a form's word that no byte shows.
const UNSEEN: &str = "bytes right, but no byte shows what it does:";

/// What is said of a dry run.
const DRY: &str = "A dry run: small sizes and few rounds, which say nothing of orders and speed.";

/// The first of some names.
fn some(names: &[String]) -> String {
    let hidden = names.len().saturating_sub(NAMED);
    let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
    names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ") + &more
}

/// Names of a list that are shown; the results have all.
const NAMED: usize = 100;

/// Who made machine code of the kernels.
fn images(set: &str) -> String {
    if set == PTX { "by the driver, from PTX".into() } else { format!("by ptxas {set}") }
}

fn reasons(reasons: &BTreeMap<String, usize>) -> String {
    reasons.iter().map(|(why, count)| format!("{count} {why}")).collect::<Vec<_>>().join("; ")
}
