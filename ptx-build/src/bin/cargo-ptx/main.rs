//! `cargo ptx`: begins a project, says what a machine lacks, explains an instruction, runs, checks and audits a kernel.

mod allow;
mod audit;
mod check;
mod counted;
mod doctor;
mod ended;
mod explain;
mod installed;
mod library;
mod names;
mod new;
mod orders;
mod output;
mod run;

use std::process::ExitCode;

use clap::Parser;
use ptx_build::error::Result;
use ptx_build::program::conclude;

/// cargo gives a subcommand its own name as the first argument.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo", disable_help_subcommand = true)]
enum Cargo {
    /// GPU kernels in Rust: make a project, see what a machine lacks, look up an instruction
    #[command(subcommand, version)]
    Ptx(Task),
}

#[derive(clap::Subcommand)]
enum Task {
    /// Make a project: a crate of kernels, and a program that launches them, or runs them on the CPU if there is no GPU
    New(new::New),
    /// Say what kernels need on this machine, what is missing, and the command that installs it
    Doctor(doctor::Doctor),
    /// Explain an instruction: its Rust, its PTX, what it needs, what its words mean
    Explain(explain::Explain),
    /// Run a kernel of a PTX file on the CPU, and find its races and other mistakes. Ends with 0 if there are none, with 1 if
    /// there are, and with 2 if it could not be run
    Run(run::Run),
    /// Run a program as it is, without a GPU, and check every kernel that it launches and the order of its streams. Ends as `cargo ptx
    /// run` does
    Check(check::Check),
    /// Say what became of a kernel's cache hints, orders and vectors in its machine code, and what could be faster. Ends with 1 if a
    /// budget is not kept, and with 2 if a file could not be audited
    Audit(audit::Audit),
}

fn main() -> ExitCode {
    let Cargo::Ptx(task) = Cargo::parse();
    let done: Result<ExitCode> = match task {
        Task::New(new) => new.run().map(|()| ExitCode::SUCCESS),
        Task::Doctor(doctor) => doctor.run(),
        Task::Explain(explain) => explain.run(),
        Task::Run(run) => Ok(run.run()),
        Task::Check(check) => Ok(check.run()),
        Task::Audit(audit) => Ok(audit.run()),
    };
    conclude(done)
}
