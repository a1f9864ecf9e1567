//! How a program of ours writes and ends.

use std::io::{self, Write};
use std::process::ExitCode;

use console::style;

use crate::command::interrupted;
use crate::error::{Error, Result};

/// Writes to stdout. A closed pipe ends the process, and is no error: the reader has seen enough.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.map_err(|error| {
            Error::new(format_args!("could not write: {error}"))
                .at("stdout")
                .fix("see whether the disk is full, if stdout is a file")
        }),
    }
}

/// The exit code of a program: 130 after Ctrl-C; 1 after an error, which is printed.
pub fn conclude(done: Result<ExitCode>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(_) if interrupted() => ExitCode::from(130),
        Err(error) => {
            eprintln!("{} {error}", style("error:").red().bold().for_stderr());
            ExitCode::FAILURE
        }
    }
}
