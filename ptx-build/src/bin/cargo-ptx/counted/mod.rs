//! How often the instructions of kernels were executed, and what their accesses of memory took.

mod accesses;
mod coverage;

use std::env;
use std::path::{Path, PathBuf};

use ptx_build::error::Result;
use ptx_interpreter::{Counting, Counts, Program, Record};

#[derive(clap::Args)]
pub(crate) struct Counted {
    /// Write which lines of the kernels' source threads have executed, and how many threads, as LCOV's trace file: editors and `genhtml` show it
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Say which loads, stores and copies take more sectors of global memory, or more passes over the banks of shared memory, than their
    /// bytes need. The threads of a warp then stay together where the kernel lets them, so look for races without it
    #[arg(long)]
    accesses: bool,
}

impl Counted {
    pub(crate) fn counting(&self) -> Counting {
        match (self.accesses, &self.coverage) {
            (true, _) => Counting::Accesses,
            (false, Some(_)) => Counting::Instructions,
            (false, None) => Counting::Nothing,
        }
    }

    /// Adds what was counted of a launch. Lines are those of the source, or of the PTX if that names none.
    pub(crate) fn add(&self, record: &mut Record, program: &Program, counts: &Counts, ptx: &Path) {
        record.accesses = program.accesses(counts);
        if self.coverage.is_some() {
            record.lines = program.lines(counts);
            if record.lines.is_empty() {
                record.lines = program.ptx_lines(counts, &ptx.display().to_string());
            }
        }
    }

    /// Says what was asked for; beside JSON, to standard error.
    pub(crate) fn tell(&self, records: &[Record], as_json: bool) -> Result<()> {
        if self.accesses {
            accesses::tell(records, as_json)?;
        }
        self.coverage.as_ref().map_or(Ok(()), |path| coverage::tell(path, records, as_json))
    }
}

/// Where a file is in the folder that the command was typed in, or below.
fn within(file: &str) -> Option<&Path> {
    let path = Path::new(file);
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).ok().or_else(|| path.is_relative().then_some(path))
}
