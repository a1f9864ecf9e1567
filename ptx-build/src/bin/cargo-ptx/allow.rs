//! Findings that a file allows, or a comment beside the line.

use std::fs;
use std::path::PathBuf;

use ptx_build::error::{Error, Result};
use ptx_interpreter::{Allowed, Record};

use crate::names::readable;
use crate::output;

#[derive(clap::Args)]
pub(crate) struct Allow {
    /// Silence findings: in each line of the file a kind, a kernel or FILE:LINE, and a reason
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
}

impl Allow {
    /// Reads the file.
    pub(crate) fn read(&self) -> Result<Allowed> {
        let Some(path) = &self.allow else { return Ok(Allowed::default()) };
        let here = |error: Error| error.at(path.display()).fix("write in each line: KIND PLACE REASON");
        let text = fs::read_to_string(path).map_err(|error| here(Error::new(error)))?;
        Allowed::parse(&text).map_err(|error| here(Error::new(error)))
    }

    /// Takes the findings away that are allowed.
    pub(crate) fn silence(&self, allowed: &mut Allowed, records: &mut [Record]) {
        for record in records {
            allowed.silence(&record.kernel, &mut record.findings);
            let printed = readable(&record.kernel);
            if printed != record.kernel {
                allowed.silence(&printed, &mut record.findings);
            }
        }
    }

    /// Says how many findings were silenced, and what silenced none.
    pub(crate) fn tell(&self, allowed: &Allowed, as_json: bool) -> Result<()> {
        for warning in allowed.warnings() {
            let file =
                self.allow.iter().filter(|_| warning.starts_with("line ")).map(|path| format!("{}: ", path.display()));
            let file: String = file.collect();
            output::warn(&format!("{file}{warning}"));
        }
        let said = match allowed.silenced() {
            0 => return Ok(()),
            1 => "1 finding is silenced, with a reason\n".to_owned(),
            count => format!("{count} findings are silenced, each with a reason\n"),
        };
        output::printed(&said, as_json)
    }
}
