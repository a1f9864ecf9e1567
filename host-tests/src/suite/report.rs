//! What a run showed: as JSON, as a table on the terminal, and as a page.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_intrinsics::catalogue::Form;
use serde::{Deserialize, Serialize};

use super::litmus::Counted;
use super::run::{Outcome, Verdict};

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The device's name.
    pub gpu: String,
    /// Its SM: 90.
    pub sm: u32,
    /// The driver's file, and the CUDA version that it serves.
    pub driver: String,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What made the data.
    pub seed: u64,
    /// What it was made with.
    pub versions: Versions,
    /// Of every N modules one was run; 1 if all were.
    pub sample: usize,
    /// The forms.
    pub forms: Forms,
    /// By instruction, in the catalogue's order.
    pub instructions: Vec<Instruction>,
    /// What failed, the first hundred.
    pub failures: Vec<Failure>,
    /// Accesses that have to fail.
    pub faults: Vec<Faulted>,
    /// Whether orders order.
    pub litmus: Vec<Counted>,
    /// How long it took.
    pub seconds: f64,
}

/// What the program and its kernels were made from and with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The crate.
    pub ptx_intrinsics: String,
    /// The commit; with `-changed` if files differed from it.
    pub commit: String,
    /// The compiler of the kernels.
    pub rustc: String,
    /// The assembler.
    pub ptxas: String,
}

/// Counts of forms: on a GPU that has all that it should, three equal numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forms {
    /// In the catalogue.
    pub catalogue: usize,
    /// In the catalogue, for this device.
    pub of_device: usize,
    /// Launched on it.
    pub launched: usize,
    /// Launched, and every byte was right.
    pub verified: usize,
    /// Kernels launched.
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
    /// Forms that failed.
    pub failed: usize,
    /// Forms that were not run, by reason.
    pub not_run: BTreeMap<String, usize>,
}

/// A form that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its PTX.
    pub ptx: String,
    /// What was wrong.
    pub what: String,
}

/// An access that has to fail, and how it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faulted {
    /// The access.
    pub name: String,
    /// The driver's answer that it should give.
    pub expected: u32,
    /// The answer, or why there is none.
    pub found: Result<u32, String>,
}

const SHOWN: usize = 100;

impl Forms {
    /// Counts.
    pub fn of(outcome: &Outcome, sm: u32) -> Forms {
        let count = |wanted: &dyn Fn(&Form, &Verdict) -> bool| {
            outcome.verdicts.iter().filter(|(form, verdict)| wanted(form, verdict)).count()
        };
        Forms {
            catalogue: outcome.verdicts.len(),
            of_device: count(&|form, _| form.min_sm() <= sm),
            launched: outcome.launched,
            verified: count(&|_, verdict| *verdict == Verdict::Passed),
            kernels: outcome.kernels,
            trials: outcome.trials,
            bytes: outcome.bytes,
        }
    }
}

/// By instruction, in the catalogue's order.
pub fn instructions(outcome: &Outcome) -> Vec<Instruction> {
    let mut rows: Vec<Instruction> = Vec::new();
    for (form, verdict) in &outcome.verdicts {
        let at = rows.iter().position(|row| row.name == form.instruction()).unwrap_or_else(|| {
            rows.push(Instruction { name: form.instruction().to_owned(), ..Instruction::default() });
            rows.len() - 1
        });
        match verdict {
            Verdict::Passed => rows[at].passed += 1,
            Verdict::Failed(_) => rows[at].failed += 1,
            Verdict::NotRun(why) => *rows[at].not_run.entry(why.clone()).or_default() += 1,
        }
    }
    rows
}

/// The first failures.
pub fn failures(outcome: &Outcome) -> Vec<Failure> {
    let failed = outcome.verdicts.iter().filter_map(|(form, verdict)| Some((form, verdict.failure()?)));
    failed.map(|(form, what)| Failure { ptx: form.ptx().to_owned(), what: what.to_owned() }).take(SHOWN).collect()
}

impl Report {
    /// Whether all is as it should be.
    pub fn passed(&self) -> bool {
        let Forms { of_device, launched, verified, .. } = self.forms;
        // A part without a form proves nothing.
        let complete = launched > 0 && launched == verified && (self.sample > 1 || of_device == launched);
        let failed = self.instructions.iter().any(|row| row.failed > 0);
        let faults = self.faults.iter().all(|fault| fault.found == Ok(fault.expected));
        complete && !failed && faults && self.litmus.iter().all(|counted| counted.violations() == 0)
    }

    /// For the terminal.
    pub fn table(&self) -> String {
        let mut table = format!("{} (sm_{}), {}, seed {}\n\n", self.gpu, self.sm, self.driver, self.seed);
        table += &format!("{:<22}{:>9}{:>9}  not run\n", "instruction", "passed", "failed");
        for row in &self.instructions {
            table += &format!("{:<22}{:>9}{:>9}  {}\n", row.name, row.passed, row.failed, reasons(&row.not_run, ", "));
        }
        for Failure { ptx, what } in self.failures.iter().take(20) {
            table += &format!("\nFAILED {ptx}\n  {what}\n");
        }
        table += "\nlitmus test                              0 0       0 1       1 0       1 1  forbidden\n";
        for counted in &self.litmus {
            let [a, b, c, d] = counted.outcomes;
            table += &format!("{:<34}{a:>10}{b:>10}{c:>10}{d:>10}  {}\n", counted.test, forbidden(counted));
        }
        let right = self.faults.iter().filter(|fault| fault.found == Ok(fault.expected)).count();
        table += &format!("\n{:>9}  of {} faulty accesses gave the error that they should\n", right, self.faults.len());
        for fault in self.faults.iter().filter(|fault| fault.found != Ok(fault.expected)) {
            table += &format!("FAILED {}: expected {}, found {:?}\n", fault.name, fault.expected, fault.found);
        }
        for (count, what) in self.counts() {
            table += &format!("{count:>9}  {what}\n");
        }
        table + &format!("{:>9.1}  seconds\n", self.seconds)
    }

    fn counts(&self) -> [(usize, &'static str); 7] {
        let forms = &self.forms;
        [
            (forms.catalogue, "forms in the catalogue"),
            (forms.of_device, "forms in the catalogue for this device"),
            (forms.launched, "launched"),
            (forms.verified, "verified"),
            (forms.kernels, "kernels"),
            (forms.trials, "trials: forms as they are, under a predicate, with choices of lanes"),
            (forms.bytes, "bytes compared"),
        ]
    }

    /// A page of Markdown.
    pub fn page(&self) -> String {
        let Versions { ptx_intrinsics, commit, rustc, ptxas } = &self.versions;
        let mut page = format!("# {}\n\n", self.gpu);
        let mut line = |text: &str| writeln!(page, "{text}").expect("a string takes all");
        line("Written by `cargo xtask measured` from `report.json`.\n");
        line("| | |\n| --- | --- |");
        line(&format!(
            "| GPU | {} (sm_{}) |\n| driver | {} |\n| date | {} |",
            self.gpu,
            self.sm,
            self.driver,
            date(self.began)
        ));
        line(&format!(
            "| commit | {commit} |\n| crate | {ptx_intrinsics} |\n| kernels compiled by | {rustc} |\n| assembled by | {ptxas} |"
        ));
        line(&format!("| seed | {} |\n| seconds | {:.1} |", self.seed, self.seconds));
        self.counts().iter().for_each(|(count, what)| line(&format!("| {what} | {count} |")));
        line("\n| Instruction | Passed | Failed | Not run |\n| --- | ---: | ---: | --- |");
        for row in &self.instructions {
            line(&format!("| `{}` | {} | {} | {} |", row.name, row.passed, row.failed, reasons(&row.not_run, "; ")));
        }
        line(
            "\n## Orders\n\nWhat two threads saw of each other; forbidden by the memory model is the outcome in the last column.\n",
        );
        line("| Test | 0 0 | 0 1 | 1 0 | 1 1 | Forbidden |\n| --- | ---: | ---: | ---: | ---: | --- |");
        for counted in &self.litmus {
            let [a, b, c, d] = counted.outcomes;
            line(&format!("| `{}` | {a} | {b} | {c} | {d} | {} |", counted.test, forbidden(counted)));
        }
        line("\n## Faults\n\n| Access | Expected | Found |\n| --- | ---: | ---: |");
        for fault in &self.faults {
            let found = fault.found.as_ref().map_or_else(String::clone, u32::to_string);
            line(&format!("| `{}` | {} | {found} |", fault.name, fault.expected));
        }
        if !self.failures.is_empty() {
            line("\n## Failed\n\n| Form | What was wrong |\n| --- | --- |");
        }
        for Failure { ptx, what } in &self.failures {
            line(&format!("| `{ptx}` | {} |", what.replace('\n', " ")));
        }
        page
    }
}

fn reasons(reasons: &BTreeMap<String, usize>, between: &str) -> String {
    reasons.iter().map(|(why, count)| format!("{count} {why}")).collect::<Vec<_>>().join(between)
}

fn forbidden(counted: &Counted) -> String {
    let outcome = |at: usize| ["0 0", "0 1", "1 0", "1 1"][at];
    counted.forbidden.map_or("nothing".into(), |at| format!("{}: {} times", outcome(at), counted.violations()))
}

/// The day of a time, as 2026-11-21 (Howard Hinnant's `civil_from_days`).
fn date(seconds: u64) -> String {
    let days = seconds / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    format!("{}-{month:02}-{day:02}", year + era * 400 + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_have_their_dates() {
        let dates = [0, 951_782_400, 1_795_219_200].map(super::date);
        assert_eq!(dates, ["1970-01-01", "2000-02-29", "2026-11-21"]);
    }
}
