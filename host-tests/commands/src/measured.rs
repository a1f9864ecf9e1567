//! `cargo xtask measured`.

mod hints;
mod laboratory;
mod plot;

use std::path::{Path, PathBuf};

use host_tests::run::lab;
use host_tests::run::lab::judge::Results;
use host_tests::run::lab::program::LINES;
use host_tests::run::suite::report::Report;
use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::files::write_whole;
use host_tests::tools::program::print;

#[derive(clap::Args)]
pub(crate) struct Measured {
    /// The files report.json and laboratory.jsonl. Without it, all of docs/measured, and the page of hints too
    #[arg(value_name = "REPORT")]
    reports: Vec<PathBuf>,
}

impl Measured {
    pub(crate) fn run(self) -> Result<()> {
        let reports = if self.reports.is_empty() { committed()? } else { self.reports.clone() };
        if self.reports.is_empty() {
            let page = Machine::current().repository.join(HINTS);
            write_whole(&page, hints::page(&on_gpus(&reports)?))?;
            print(&format!("{}\n", page.display()))?;
        }
        for report in &reports {
            let pages = match report.extension().and_then(|extension| extension.to_str()) {
                Some("jsonl") => laboratory(report)?,
                _ => vec![("README.md".to_owned(), read(report)?.page())],
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

/// What the laboratory found on each GPU. A dry run says nothing.
fn on_gpus(reports: &[PathBuf]) -> Result<Vec<hints::OnGpu>> {
    let lines = reports.iter().filter(|report| report.ends_with(LINES));
    let all: Vec<Results> = lines.map(|path| results(path)).collect::<Result<_>>()?;
    Ok(all.into_iter().filter(|results| !results.run.quick).map(|results| (results.run.gpu.clone(), results)).collect())
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
fn laboratory(path: &Path) -> Result<Vec<(String, String)>> {
    let page = laboratory::page(&results(path)?)?;
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

    #[test]
    fn the_page_of_hints_is_what_the_reports_say() {
        let page = hints::page(&on_gpus(&committed().expect("docs/measured")).expect("they are reports"));
        let written = std::fs::read_to_string(Machine::current().repository.join(HINTS)).expect("the page");
        assert_eq!(written, page, "write it anew: `cargo xtask measured`");
    }
}
