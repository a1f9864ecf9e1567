//! `cargo xtask litmus`.

use std::path::PathBuf;
use std::process::ExitCode;

use host_tests::error::Result;
use host_tests::litmus::batch::{self, Question};
use host_tests::litmus::{Expected, Limits};
use host_tests::progress::Progress;

#[derive(clap::Args)]
pub(crate) struct Litmus {
    /// Litmus tests for PTX, `.litmus` files or folders of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Published results, lines of `FILE,1` where the condition holds and `FILE,0` where not; may be given more than once
    #[arg(long, value_name = "CSV")]
    expected: Vec<PathBuf>,
    /// Ask whether every thread comes to its end, and not for the condition
    #[arg(long)]
    termination: bool,
    /// How often a loop that writes is followed again
    #[arg(long, value_name = "N", default_value_t = Limits::default().turns)]
    turns: usize,
}

impl Litmus {
    /// Ends with 1 if a verdict is not the published one, or if a file cannot be read.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let files = batch::files(&self.files)?;
        let expected = self.expected.iter().map(|path| Expected::read(path)).collect::<Result<Vec<_>>>()?;
        let question = if self.termination { Question::Termination } else { Question::Condition };
        let limits = Limits { turns: self.turns, ..Limits::default() };
        let judged = batch::judge_files(&files, question, &expected, &limits, &Progress::new())?;
        crate::print(&batch::table(&judged, question))?;
        let wrong = judged.iter().any(|judged| judged.disagrees() || judged.is_unread());
        Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
