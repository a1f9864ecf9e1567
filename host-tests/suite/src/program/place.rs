//! The files of a run: what earlier runs left, what several runs left, and the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ptx_intrinsics::catalogue::Form;

use crate::journal::{self, Event, Journal, Machine};
use crate::plan::Plan;
use crate::report::Report;
use lab::program::LINES;
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;

/// Where everything lies.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) out: PathBuf,
    pub(super) results: PathBuf,
}

/// Lines, the last of which ends too.
fn ended(mut lines: Vec<u8>) -> Vec<u8> {
    if lines.last().is_some_and(|last| *last != b'\n') {
        lines.push(b'\n');
    }
    lines
}

/// Runs of other machines or by other bundles have nothing to do with each other.
fn same_machine(results: &[u8]) -> Result<()> {
    let events = journal::read(results);
    let gpus = events.iter().filter_map(|event| match event {
        Event::Machine(Machine { gpu, sm, .. }) => Some(format!("{gpu} (sm_{sm})")),
        _ => None,
    });
    let bundles = events.iter().filter_map(|event| match event {
        Event::Run { versions, .. } => Some(versions.to_string()),
        _ => None,
    });
    for different in [gpus.collect::<BTreeSet<_>>(), bundles.collect::<BTreeSet<_>>()] {
        if different.len() > 1 {
            return Err(Error::new("these results do not belong together")
                .at("--render")
                .because(different.into_iter().collect::<Vec<_>>().join("\n"))
                .fix("name the folders of runs of one bundle on one kind of GPU"));
        }
    }
    Ok(())
}

impl Place {
    /// Results of an earlier run are kept under another name.
    pub(super) fn set_aside_older(&self) -> Result<()> {
        for older in [self.results.clone(), self.out.join(LINES)].into_iter().filter(|older| older.exists()) {
            let stem = older.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = |number: u32| older.with_file_name(format!("{stem}-{number}.jsonl"));
            let free = (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0));
            std::fs::rename(&older, &free).map_err(|error| Error::io("rename", &older, error))?;
            eprintln!("older results: {}", free.display());
        }
        Ok(())
    }

    /// Puts the results of several runs, of parts of the plan, one after the other.
    pub(super) fn join(&self, folders: &[PathBuf]) -> Result<()> {
        let read = |file: &Path| std::fs::read(file).map_err(|error| Error::io("read", file, error));
        let (mut results, mut lines) = (Vec::new(), Vec::new());
        for folder in folders {
            results.extend(ended(read(&folder.join("results.jsonl"))?));
            let own = folder.join(LINES);
            lines.extend(if own.is_file() { ended(read(&own)?) } else { Vec::new() });
        }
        same_machine(&results)?;
        self.set_aside_older()?;
        write_whole(&self.results, results)?;
        if lines.is_empty() { Ok(()) } else { write_whole(&self.out.join(LINES), lines) }
    }

    pub(super) fn write_report(&self, report: &Report) -> Result<()> {
        let json = serde_json::to_string_pretty(report).map_err(Error::new)?;
        write_whole(&self.out.join("report.json"), json + "\n")
    }

    /// Makes the report of the results, and tells whether all is right.
    pub(super) fn report(&self, forms: &[Arc<Form>]) -> Result<ExitCode> {
        let report = Report::of(&Journal::open(&self.results)?.events()?, forms, &Plan::new(forms));
        self.write_report(&report)?;
        print!("{}", report.page());
        eprintln!("report: {}", self.out.join("report.json").display());
        Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
