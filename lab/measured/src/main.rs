//! `cargo xtask measured`.

mod corpus;
mod hints;
mod judged;
mod laboratory;
mod pairs;
mod plot;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use host_tests::check::parity::with_times;
use judged::Judged;
use lab::judge::Results;
use lab::program::LINES;
use ptx_build::command::{Machine, catch_interrupts};
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::program::{conclude, print};
use suite::report::Report;

/// Make pages of the reports of GPUs, docs/measured/GPU/report.json
#[derive(Parser)]
#[command(name = "cargo xtask measured", bin_name = "cargo xtask measured")]
struct Measured {
    /// The files report.json and laboratory.jsonl. Without it, all of docs/measured, the page of hints, and the times of parity.md
    #[arg(value_name = "REPORT")]
    reports: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let measured = Measured::parse();
    catch_interrupts();
    conclude(measured.run().map(|()| ExitCode::SUCCESS))
}

impl Measured {
    fn run(self) -> Result<()> {
        let reports = if self.reports.is_empty() { committed()? } else { self.reports.clone() };
        let measured = measured(&reports)?;
        if self.reports.is_empty() {
            let repository = Machine::current().repository;
            let pages = [
                (HINTS, hints::page(&on_gpus(&measured))),
                (PARITY, parity(&repository, &on_gpus(&measured))?),
                (RACES, races(&repository.join(RACES), &reports)?),
            ];
            for (page, text) in pages {
                let page = repository.join(page);
                write_whole(&page, text)?;
                print(&format!("{}\n", page.display()))?;
            }
        }
        for report in &reports {
            let pages = match measured.get(report) {
                Some(judged) => laboratory(judged)?,
                None => of_report(&read(report)?),
            };
            for (name, text) in pages {
                let page = report.with_file_name(name);
                write_whole(&page, text)?;
                print(&format!("{}\n", page.display()))?;
            }
        }
        Ok(())
    }
}

/// The page that tells which hint pays when. It lies in the crate, whose documentation shows it.
const HINTS: &str = "ptx-intrinsics/hints.md";

/// The page that has what NVIDIA's tools see beside what we see.
const RACES: &str = "docs/checker.md";

/// That page, with what these reports say of the corpus.
fn races(page: &Path, reports: &[PathBuf]) -> Result<String> {
    let text = std::fs::read_to_string(page).map_err(|error| Error::io("read", page, error))?;
    let reports = reports.iter().filter(|report| !report.ends_with(LINES)).map(|report| read(report));
    let text = corpus::with_summaries(&text, &reports.collect::<Result<Vec<_>>>()?);
    text.ok_or_else(|| Error::new("the page has no place for the corpus").at(page.display()))
}

/// The pages of a report, by the names of their files.
fn of_report(report: &Report) -> Vec<(String, String)> {
    let corpus = corpus::page(report).map(|text| ("corpus.md".to_owned(), text));
    [("README.md".to_owned(), report.page())].into_iter().chain(corpus).collect()
}

/// The page of the pairs, whose last part has their times.
const PARITY: &str = "docs/parity.md";

/// That page with these times.
fn parity(repository: &Path, on_gpus: &[&Judged]) -> Result<String> {
    let page = repository.join(PARITY);
    let text = std::fs::read_to_string(&page).map_err(|error| Error::io("read", &page, error))?;
    Ok(with_times(&text, &pairs::section(on_gpus.iter().copied())))
}

/// What the laboratory measured, by the files of its lines.
fn measured(reports: &[PathBuf]) -> Result<BTreeMap<&PathBuf, Judged>> {
    let lines = reports.iter().filter(|report| report.extension().is_some_and(|extension| extension == "jsonl"));
    lines.map(|path| Ok((path, Judged::new(results(path)?)))).collect()
}

/// What it found on each GPU. A dry run says nothing.
fn on_gpus<'j>(measured: &'j BTreeMap<&PathBuf, Judged>) -> Vec<&'j Judged> {
    measured.values().filter(|judged| !judged.results.run.quick).collect()
}

fn results(path: &Path) -> Result<Results> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    Ok(Results::of(&lab::line::read(&text).map_err(|error| error.at(path.display()))?))
}

/// The reports of `docs/measured`, a folder for each GPU.
fn committed() -> Result<Vec<PathBuf>> {
    let folder = Machine::current().repository.join("docs/measured");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut reports = Vec::new();
    for entry in entries {
        let gpu = entry.map_err(|error| Error::io("read", &folder, error))?.path();
        let files = ["report.json", LINES].map(|name| gpu.join(name));
        reports.extend(files.into_iter().filter(|file| file.is_file()));
    }
    reports.sort();
    Ok(reports)
}

/// The page and the plots of the laboratory, by the names of their files.
fn laboratory(judged: &Judged) -> Result<Vec<(String, String)>> {
    let page = laboratory::page(judged)?;
    Ok([vec![("laboratory.md".to_owned(), page.text)], page.plots].concat())
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read(path).map_err(|error| Error::io("read", path, error))?;
    serde_json::from_slice(&text).map_err(|error| {
        Error::new("this is no report of the suite")
            .at(path.display())
            .because(error)
            .fix("name a report.json that `run` wrote")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports() -> Vec<PathBuf> {
        committed().expect("docs/measured")
    }

    #[test]
    fn the_page_of_hints_is_what_the_reports_say() {
        let reports = reports();
        let measured = measured(&reports).expect("they are reports");
        let page = hints::page(&on_gpus(&measured));
        let written = std::fs::read_to_string(Machine::current().repository.join(HINTS)).expect("the page");
        assert_eq!(written, page, "write it anew: `cargo xtask measured`");
    }

    #[test]
    fn the_page_of_races_is_what_the_reports_say() {
        let page = Machine::current().repository.join(RACES);
        let written = std::fs::read_to_string(&page).expect("the page");
        let expected = races(&page, &reports()).expect("they are reports");
        assert_eq!(written, expected, "write it anew: `cargo xtask measured`");
    }

    #[test]
    fn the_times_of_parity_are_what_the_reports_say() {
        let repository = Machine::current().repository;
        let reports = reports();
        let measured = measured(&reports).expect("they are reports");
        let page = parity(&repository, &on_gpus(&measured));
        let written = std::fs::read_to_string(repository.join(PARITY)).expect("the page");
        assert_eq!(written, page.expect("the page"), "write it anew: `cargo xtask measured`");
    }
}
