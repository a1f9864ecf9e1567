//! How a command ends that finds what is wrong: with 0 if that is nothing, with 1, or with 2 if it could not be run.

use std::process::ExitCode;

use ptx_build::error::Result;

/// The exit code of a command that could not be run.
pub(crate) const NOT_RUN: u8 = 2;

/// Its exit code; an error is printed.
pub(crate) fn ended(done: Result<u8>) -> ExitCode {
    ExitCode::from(done.unwrap_or_else(|error| {
        eprintln!("{} {error}", console::style("error:").red().bold().for_stderr());
        NOT_RUN
    }))
}
