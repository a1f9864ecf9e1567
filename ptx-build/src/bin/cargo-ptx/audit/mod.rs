//! `cargo ptx audit`: what became of the hints, orders and vectors of a kernel in its machine code.

mod input;
mod make;
mod output;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use make::Maker;
use ptx_audit::budget::{Budget, records, worse};
use ptx_audit::page::{Sheet, page};
use ptx_audit::report::Record;
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::program::print;
use ptx_build::progress::Progress;
use ptx_build::target::Sm;

use crate::ended::ended;

/// Something is not as the budget wants it.
const DIFFERS: u8 = 1;

#[derive(clap::Args)]
pub(crate) struct Audit {
    /// PTX, a cubin, an object or a program with a fat binary in it, or a folder of these, such as Triton's cache
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Assemble PTX for these GPUs, `80,90`; otherwise for the one that it names
    #[arg(long, value_delimiter = ',', value_parser = gpu)]
    sm: Vec<Sm>,
    /// Assemble PTX by these releases of CUDA, `13.0,13.5`; otherwise by the newest
    #[arg(long, value_delimiter = ',', value_name = "RELEASE")]
    assembler: Vec<String>,
    /// Print a line of JSON for each kernel, GPU and assembler
    #[arg(long)]
    json: bool,
    /// Write a page of HTML with source, PTX and machine code beside each other
    #[arg(long, value_name = "OUT.HTML")]
    html: Option<PathBuf>,
    /// End with 1 if a kernel is not as this file wants it
    #[arg(long, value_name = "AUDIT.TOML")]
    budget: Option<PathBuf>,
    /// End with 1 if a kernel is worse than in this file, which `--json` printed
    #[arg(long, value_name = "JSON")]
    baseline: Option<PathBuf>,
}

impl Audit {
    /// Ends with 0, with 1 if the budget or the baseline is not kept, and with 2 if the files could not be audited.
    pub(crate) fn run(self) -> ExitCode {
        ended(self.all())
    }

    fn all(&self) -> Result<u8> {
        // What is asked for is read before anything is assembled.
        let budget = self.budget.as_deref().map(|path| read(path, Budget::read)).transpose()?;
        let baseline = self.baseline.as_deref().map(|path| read(path, records)).transpose()?;
        let files = input::files(&self.files)?;
        let parts = files.iter().map(|file| Ok((file, input::read(file)?))).collect::<Result<Vec<_>>>()?;
        ptx_build::command::catch_interrupts();
        let progress = Progress::new();
        let maker = Maker::new(&self.assembler, self.sm.clone(), self.html.is_some(), &progress)?;
        let mut sheets: Vec<Sheet> = Vec::new();
        for (file, parts) in &parts {
            for part in parts {
                sheets.extend(maker.sheets(file, part, &progress)?);
            }
        }
        if let Some(html) = &self.html {
            write_whole(html, page(&self.title(), &sheets, |name| self.source(name)))?;
        }
        let all: Vec<Record> = sheets.into_iter().map(|sheet| sheet.record).collect();
        if self.json {
            let lines = all.iter().map(|record| serde_json::to_string(record).map(|line| line + "\n"));
            print(&lines.collect::<Result<String, _>>().map_err(Error::new)?)?;
        } else {
            print(&output::page(&all))?;
        }
        let over = budget.map(|budget| budget.check(&all)).unwrap_or_default();
        let fallen = baseline.map(|before| worse(&before, &all)).unwrap_or_default();
        for (title, differences) in [("The budget is not kept:", &over), ("Worse than the baseline:", &fallen)] {
            if !differences.is_empty() {
                eprint!("\n{}", output::differences(title, differences));
            }
        }
        Ok(if over.is_empty() && fallen.is_empty() { 0 } else { DIFFERS })
    }
}

impl Audit {
    fn title(&self) -> String {
        let names = self.files.iter().map(|file| file.file_name().unwrap_or_default().to_string_lossy());
        format!("Audit of {}", names.collect::<Vec<_>>().join(", "))
    }

    /// The text of a source file, whose name is that of its compiler: from here, or from a file that is audited.
    fn source(&self, name: &str) -> Option<String> {
        let beside = self.files.iter().filter_map(|file| Some(file.parent()?.join(name)));
        let mut places = std::iter::once(PathBuf::from(name)).chain(beside);
        places.find_map(|place| fs::read_to_string(place).ok())
    }
}

fn read<T>(path: &Path, parse: impl Fn(&str) -> std::result::Result<T, String>) -> Result<T> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    parse(&text).map_err(|error| Error::new("this file cannot be read").at(path.display()).because(error))
}

/// `90`, `90a` or `sm_90a`.
fn gpu(text: &str) -> std::result::Result<Sm, String> {
    let name = if text.starts_with("sm_") { text.to_owned() } else { format!("sm_{text}") };
    name.parse::<Sm>().map_err(|error| error.to_string())
}
