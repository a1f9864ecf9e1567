//! The command line of ptx-intrinsics.

mod cargo;
mod conformance;
mod corpus;
mod elsewhere;
mod explain;
mod forms;
mod parity;
mod sass;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use host_tests::tools::command::catch_interrupts;
use host_tests::tools::program::conclude;

/// The commands of ptx-intrinsics, whose functions emit exactly one PTX instruction each: show them, test them, list them.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Show each hint of four kernels in Rust, in PTX and in machine code, then run the kernels and check every value
    Demo(elsewhere::Elsewhere),
    /// Run all tests. Tests that the optimiser can change run in a release build too
    Test(test::Test),
    /// List every legal form: its Rust, its PTX and what it needs. Or check all forms
    Forms(forms::Forms),
    /// Ask the assembler about every spelling, legal or illegal, and compare its answers with the types
    Conformance(conformance::Conformance),
    /// Show the machine instruction of each form on each GPU. Or compare docs/sass with it, or write docs/sass again
    Sass(sass::Sass),
    /// Explain a form: its Rust, its PTX, what it needs, its machine code on every GPU, what its words mean
    Explain(explain::Explain),
    /// Run every form on the GPU of this machine and compare every byte
    Gpu(elsewhere::Elsewhere),
    /// Make a folder with a program and kernels, which does what `gpu` does on a machine with only a driver
    Bundle(elsewhere::Elsewhere),
    /// Run a bundle without a GPU: with an interpreter of PTX in its place, and small sizes
    Rehearse(elsewhere::Elsewhere),
    /// Read litmus tests, say what the memory model allows, and compare with published results
    Litmus(elsewhere::Elsewhere),
    /// Measure what the hints do on the GPU of this machine: experiments A to K
    Lab(elsewhere::Elsewhere),
    /// Make pages of the reports of GPUs, docs/measured/GPU/report.json
    Measured(elsewhere::Elsewhere),
    /// Compile the wrong kernels and their twins anew, and compare with the PTX that the tests run. Or write it
    Corpus(corpus::Corpus),
    /// Compare kernels in Rust with the same kernels in CUDA C++, by their machine code
    Parity(parity::Parity),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    catch_interrupts();
    let done = match arguments.task {
        Task::Demo(demo) => demo.run("demo"),
        Task::Test(test) => test.run().map(|()| ExitCode::SUCCESS),
        Task::Forms(forms) => forms.run().map(|()| ExitCode::SUCCESS),
        Task::Conformance(conformance) => conformance.run().map(|()| ExitCode::SUCCESS),
        Task::Sass(sass) => sass.run().map(|()| ExitCode::SUCCESS),
        Task::Explain(explain) => explain.run(),
        Task::Corpus(corpus) => corpus.run().map(|()| ExitCode::SUCCESS),
        Task::Parity(parity) => parity.run().map(|()| ExitCode::SUCCESS),
        Task::Gpu(gpu) => gpu.run("gpu"),
        Task::Bundle(bundle) => bundle.run("bundle"),
        Task::Rehearse(rehearse) => rehearse.run("rehearse"),
        Task::Litmus(litmus) => litmus.run("litmus"),
        Task::Lab(lab) => lab.run("lab"),
        Task::Measured(measured) => measured.run("measured"),
    };
    conclude(done)
}
