//! Every form of ptx-intrinsics on the GPU of this machine; see `cargo xtask bundle`.

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use host_tests::check::forms_check::every_form;
use lab::program::{Laboratory, first_taken, packed};
use launch::gpu::Gpu;
use launch::no_gpu::without;
use ptx_build::error::Result;
use ptx_build::program::conclude;
use suite::kernels::{sets, versions};
use suite::program::{self, Options};

/// Runs every form of ptx-intrinsics on the GPU of this machine and compares every byte.
///
/// Ends with 0 if all is right, 1 if something is wrong, 2 if it was called wrongly, 3 if there is no GPU.
#[derive(Parser)]
#[command(name = "run", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    alone: Option<Alone>,
}

#[derive(Subcommand)]
enum Alone {
    /// The laboratory alone: what hints do, measured
    Lab(Laboratory),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new("."));
    conclude(match arguments.alone {
        None => program::main(&arguments.options, folder, every_form),
        Some(Alone::Lab(laboratory)) => measure(&laboratory, folder),
    })
}

fn measure(laboratory: &Laboratory, folder: &Path) -> Result<ExitCode> {
    let gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(no_gpu) => return without(&no_gpu),
    };
    let made_with = versions(folder)?.to_string();
    let images = |gpu: &Gpu| {
        let sets = sets(folder, gpu.sm())?;
        let files: Vec<_> = sets.iter().map(|set| packed(folder, &set.name, gpu.sm())).collect();
        first_taken(gpu, &files)
    };
    print!("{}", laboratory.run(gpu, &made_with, &["lab"], images)?);
    Ok(ExitCode::SUCCESS)
}
