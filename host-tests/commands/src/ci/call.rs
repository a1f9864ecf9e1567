//! Calls of cargo's, as somebody would type them.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use console::style;
use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;

use crate::cargo::{in_the_environment_of, plain_cargo};

/// A call of cargo's in a folder, on this terminal, without what the cargo that runs this program says of its package.
pub(super) struct Cargo {
    command: Command,
}

impl Cargo {
    pub(super) fn new(machine: &Machine, folder: &Path) -> Cargo {
        Cargo { command: plain_cargo(machine, folder) }
    }

    /// The cargo of another of rustup's toolchains, in this repository.
    pub(super) fn of(toolchain: &str, machine: &Machine) -> Cargo {
        let mut command = in_the_environment_of(&Cargo::new(machine, &machine.repository).command, "rustup");
        command.args(["run", toolchain, "cargo"]).current_dir(&machine.repository).stdin(Stdio::null());
        Cargo { command }
    }

    /// Adds arguments that have no blanks.
    pub(super) fn words(mut self, words: &str) -> Cargo {
        self.command.args(words.split_whitespace());
        self
    }

    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Cargo {
        self.command.arg(arg.into());
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<OsString>) -> Cargo {
        self.command.env(name, value.into());
        self
    }

    fn line(&self) -> String {
        let program = Path::new(self.command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let words: Vec<_> = self.command.get_args().map(|word| word.to_string_lossy()).collect();
        format!("{program} {}", words.join(" "))
    }

    /// Runs it on this terminal.
    pub(super) fn run(mut self) -> Result<()> {
        self.say();
        let status = self.command.status().map_err(|error| self.not_started(&error))?;
        self.judge(status)
    }

    /// Runs it, and gives what it prints on stdout, which is shown too.
    pub(super) fn printed(mut self) -> Result<String> {
        self.say();
        let text = self.output()?;
        print(&text)?;
        Ok(text)
    }

    /// Runs it, and gives what it prints on stdout.
    pub(super) fn output(&mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output().map_err(|error| self.not_started(&error))?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn say(&self) {
        eprintln!("\n{}", style(self.line()).bold().for_stderr());
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(Error::new(format_args!("`{}`: {status}", self.line()))
            .at(self.command.get_current_dir().unwrap_or(Path::new(".")).display())
            .fix("read what it printed above; it can be typed again by itself"))
    }

    fn not_started(&self, error: &std::io::Error) -> Error {
        Error::new(format_args!("could not start `{}`: {error}", self.line()))
            .at(self.command.get_program().display())
            .fix("put the folder of cargo into PATH")
    }
}
