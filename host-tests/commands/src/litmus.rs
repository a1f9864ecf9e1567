//! `cargo xtask litmus`.

use std::path::PathBuf;
use std::process::ExitCode;

use host_tests::check::litmus::batch::{self, Question};
use host_tests::check::litmus::{Expected, Limits};
use host_tests::run::litmus::kernels::Kernels;
use host_tests::run::litmus::on_gpu::Amount;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use launch::gpu::Gpu;

/// What the kernels are assembled for.
const ASSEMBLED_FOR: Sm = Sm::new(90);

#[derive(clap::Args)]
pub(crate) struct Litmus {
    /// Litmus tests for PTX, `.litmus` files or folders of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Published results: lines of `FILE,1` if the condition holds, and `FILE,0` if not. May be given more than once
    #[arg(long, value_name = "CSV")]
    expected: Vec<PathBuf>,
    /// Ask whether every thread terminates, and not about the condition. Nothing is run then
    #[arg(long)]
    termination: bool,
    /// How many turns of a loop that writes are followed
    #[arg(long, value_name = "N", default_value_t = Limits::default().turns)]
    turns: usize,
    /// Assemble the tests' kernels with ptxas, and count them
    #[arg(long, conflicts_with = "termination")]
    assemble: bool,
}

impl Litmus {
    /// Ends with 1 if a verdict is not the published one, if a file cannot be read, or if a GPU shows what the model forbids.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let files = batch::files(&self.files)?;
        let expected = self.expected.iter().map(|path| Expected::read(path)).collect::<Result<Vec<_>>>()?;
        let question = if self.termination { Question::Termination } else { Question::Condition };
        let limits = Limits { turns: self.turns, ..Limits::default() };
        let progress = Progress::new();
        let judged = batch::judge_files(&files, question, &expected, &limits, &progress)?;
        print(&batch::table(&judged, question))?;
        let mut wrong = judged.iter().any(|judged| judged.disagrees() || judged.is_unread());
        if question == Question::Condition {
            wrong |= self.kernels(&Kernels::of(&judged), &progress)?;
        }
        Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// Assembles the kernels if that is wanted, and runs them if there is a GPU; whether one showed what is forbidden.
    fn kernels(&self, kernels: &Kernels<'_>, progress: &Progress) -> Result<bool> {
        print(&kernels.counts())?;
        if self.assemble {
            let assembler = CudaTools::find(progress)?.assembler(ASSEMBLED_FOR, progress)?;
            let accepted = kernels.assemble(&assembler, ASSEMBLED_FOR, progress)?;
            print(&format!("ptxas accepts {accepted} of them for {ASSEMBLED_FOR}\n"))?;
        }
        match Gpu::find() {
            Ok(gpu) => {
                let (text, wrong) = kernels.run(&gpu, Amount::default(), progress)?;
                print(&text)?;
                Ok(wrong)
            }
            Err(no_gpu) => {
                eprintln!("{no_gpu}\nso the verdicts are the model's alone");
                Ok(false)
            }
        }
    }
}
