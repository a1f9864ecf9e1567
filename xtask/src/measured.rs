//! `cargo xtask measured`.

use std::path::{Path, PathBuf};

use host_tests::command::Machine;
use host_tests::error::{Error, Result};
use host_tests::files::write_whole;
use host_tests::suite::report::Report;

#[derive(clap::Args)]
pub(crate) struct Measured {
    /// The reports; all of docs/measured if left out
    #[arg(value_name = "REPORT")]
    reports: Vec<PathBuf>,
}

impl Measured {
    pub(crate) fn run(self) -> Result<()> {
        let reports = if self.reports.is_empty() { committed()? } else { self.reports };
        if reports.is_empty() {
            return Err(Error::new("there is no report")
                .at("docs/measured")
                .fix("run a bundle on a GPU and put its report.json into docs/measured/GPU/"));
        }
        for report in &reports {
            let page = report.with_file_name("README.md");
            write_whole(&page, read(report)?.page())?;
            crate::print(&format!("{}\n", page.display()))?;
        }
        Ok(())
    }
}

/// The reports of `docs/measured`, a folder for each GPU.
fn committed() -> Result<Vec<PathBuf>> {
    let folder = Machine::current().repository.join("docs/measured");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut reports = Vec::new();
    for entry in entries {
        let report = entry.map_err(|error| Error::io("read", &folder, error))?.path().join("report.json");
        reports.extend(report.is_file().then_some(report));
    }
    reports.sort();
    Ok(reports)
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
