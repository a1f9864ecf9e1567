//! A command that is a program of its own: `cargo xtask` compiles less to start it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use host_tests::tools::error::{Error, Result};

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Elsewhere {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

impl Elsewhere {
    pub(crate) fn run(self, task: &str) -> Result<ExitCode> {
        let status = Command::new("cargo").args(["xtask", task]).args(self.arguments).status();
        let status = status.map_err(|error| Error::new(format_args!("could not start cargo: {error}")))?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
