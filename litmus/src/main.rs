//! `cargo xtask litmus`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use launch::gpu::Gpu;
use litmus::agreement::compare_all;
use litmus::batch::{self, Question};
use litmus::gpu::kernels::Kernels;
use litmus::gpu::on_gpu::Amount;
use litmus::{Expected, Limits};
use ptx_build::command::catch_interrupts;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::Result;
use ptx_build::program::{conclude, print};
use ptx_build::progress::Progress;
use ptx_build::target::Sm;

/// What the kernels are assembled for.
const ASSEMBLED_FOR: Sm = Sm::new(90);

/// Read litmus tests, say what the memory model allows, and compare with published results
#[derive(Parser)]
#[command(name = "cargo xtask litmus", bin_name = "cargo xtask litmus")]
struct Arguments {
    /// Litmus tests for PTX, `.litmus` files or folders of them
    #[arg(value_name = "FILE", required_unless_present = "drawn")]
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
    /// Draw this number of small programs, and compare the interpreter's races with the model's, in all orders of each and of the files
    #[arg(long, value_name = "N", conflicts_with_all = ["expected", "termination", "assemble"])]
    drawn: Option<u64>,
    /// The first seed of the drawn programs
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "drawn")]
    seed: u64,
    /// How many GPUs the drawn programs' blocks are on
    #[arg(long, value_name = "N", default_value_t = 1, requires = "drawn")]
    gpus: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    catch_interrupts();
    conclude(arguments.run())
}

impl Arguments {
    /// Ends with 1 if a verdict is not the published one, if a file cannot be read, or if a GPU shows what the model forbids.
    fn run(self) -> Result<ExitCode> {
        let files = batch::files(&self.files)?;
        if let Some(drawn) = self.drawn {
            let drawn = (self.seed..self.seed + drawn, self.gpus.max(1));
            let (text, wrong) = compare_all(&files, drawn, &Limits::default(), &Progress::new())?;
            print(&text)?;
            return Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
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
