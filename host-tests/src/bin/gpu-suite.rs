//! Every form of ptx-intrinsics on the GPU of this machine; see `cargo xtask bundle`.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use host_tests::forms_check::every_form;
use host_tests::suite::program::{self, Options};

/// Runs every form of ptx-intrinsics on the GPU of this machine and compares every byte.
///
/// Ends with 0 if all is right, 1 if something is wrong, 2 if it was called wrongly, 3 if there is no GPU.
#[derive(Parser)]
#[command(name = "run", version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new("."));
    program::main(&arguments.options, folder, every_form).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
