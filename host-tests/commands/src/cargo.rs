//! How these commands call cargo, and the programs that it makes.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use host_tests::tools::command::Machine;
use host_tests::tools::error::Error;

/// The cargo that runs this command, in a folder, without what it says of this package.
pub(crate) fn plain_cargo(machine: &Machine, folder: &Path) -> Command {
    let mut command = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    for name in machine.vars.keys().filter(|name| name.to_str().is_some_and(of_this_package)) {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Whether cargo sets a variable for the program that it runs.
fn of_this_package(name: &str) -> bool {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR"
}

/// A program in the environment that `cargo` would have.
pub(crate) fn in_the_environment_of(cargo: &Command, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The line that was typed, in short.
pub(crate) fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words: Vec<_> = [program].into_iter().chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// The error of a program that does not start.
pub(crate) fn not_started(command: &Command, error: &std::io::Error) -> Error {
    Error::new(format_args!("could not start {}: {error}", line_of(command)))
        .at(command.get_program().display())
        .fix("put the folder of cargo into PATH")
}
