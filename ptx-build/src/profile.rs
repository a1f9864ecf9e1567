//! What every build for the GPU has in common: target, profile and linker.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use crate::command::{Command, Finished, tail};
use crate::error::{Error, Result};
use crate::files::write_whole;

pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// What the system says of a disk without room, and of a user's quota.
pub(crate) const NO_SPACE: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// Nothing has to be linked, but cargo rebuilds a crate whose output is missing: leave an empty one.
const LINKER: &str = "#!/bin/sh
while [ $# -gt 0 ]; do
  if [ \"$1\" = -o ]; then : > \"$2\"; fi
  shift
done
";

/// Which of cargo's profiles to compile with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arguments", derive(clap::ValueEnum))]
pub enum Profile {
    /// Without optimisation, with overflow and debug assertions.
    Dev,
    /// Optimised, with link-time optimisation.
    Release,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Dev => "dev",
            Profile::Release => "release",
        }
    }

    /// The flags of rustc for every crate of a build.
    pub(crate) fn flags(self) -> Vec<String> {
        match self {
            // A panic with a message brings so much of core along, once per kernel, that the assembler and
            // the disassembler take half a minute.
            Profile::Dev => ["-Zunstable-options", "-Cpanic=immediate-abort"].map(str::to_owned).into(),
            Profile::Release => Vec::new(),
        }
    }

    /// This cargo with the profile, and with the lines of the source in what it makes.
    pub(crate) fn cargo(self, cargo: Command, lines: bool) -> Command {
        let setting = |name: &str| format!("CARGO_PROFILE_{}_{name}", self.name().to_uppercase());
        let cargo = cargo.args((self == Profile::Release).then_some("--release"));
        // The whole module in one file.
        let cargo = cargo.env(setting("LTO"), "fat").env(setting("CODEGEN_UNITS"), "1");
        // `line-tables-only` does not say where functions are declared.
        cargo.env(setting("DEBUG"), if lines { "limited" } else { "false" })
    }
}

pub(crate) fn linker(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("no-linker");
    if std::fs::read_to_string(&path).is_ok_and(|text| text == LINKER) {
        return Ok(path);
    }
    write_whole(&path, LINKER)?;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, executable).map_err(|error| Error::io("make executable", &path, error))?;
    Ok(path)
}

/// Words of a failure for want of a network. cargo's, curl's, git's.
const OF_A_NETWORK: [&str; 8] = [
    "network",
    "offline",
    "download",
    "Could not resolve host",
    "Could not connect",
    "failed to fetch",
    "spurious",
    "registry",
];

/// The error of a cargo that failed before any compiler said why: what it said, and what helps.
pub(crate) fn failed_cargo(what: impl fmt::Display, place: impl fmt::Display, finished: &Finished) -> Error {
    let said = &finished.stderr;
    let error = |why: &str| Error::new(format_args!("{what}{why}")).at(&place).because(tail(said));
    // Only cargo reports a compiler that was ended like this.
    if finished.was_interrupted() || said.contains("(signal: 2, ") {
        return error(": it was interrupted").fix("build again: what is done already is kept");
    }
    if finished.status.signal().is_some() || said.contains("(signal: 9, ") {
        return error(": it was killed")
            .fix("build again; if it is killed again, see whether the machine has enough memory");
    }
    if NO_SPACE.iter().any(|words| said.contains(words)) {
        return error(": the disk is full").fix("make room on the disk");
    }
    if OF_A_NETWORK.iter().any(|word| said.contains(word)) {
        return error("")
            .fix("check the network: the first build fetches what the kernels and Rust's `core` depend on");
    }
    error("").fix("if it names a file or a folder: make sure that it may be written to")
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn only_a_missing_network_is_blamed_on_the_network() {
        let failed = |status: i32, said: &str| {
            let status = ExitStatus::from_raw(status);
            let finished = Finished { line: "cargo".into(), status, stdout: String::new(), stderr: said.to_owned() };
            let error = failed_cargo("cargo could not compile it", "here", &finished).to_string();
            let (first, last) = (error.lines().next().unwrap_or_default(), error.lines().last().unwrap_or_default());
            (first.to_owned(), last.split([':', ';', ',']).next().unwrap_or_default().trim().to_owned())
        };
        let exit = 101 << 8;
        let full = "error: failed to write `/t/registry/x`: No space left on device (os error 28)";
        let killed = "process didn't exit successfully: `rustc` (signal: 9, SIGKILL: kill)";
        let cases = [
            (2, "Downloading crates ...", ": it was interrupted", "→ build again"),
            (130 << 8, "", ": it was interrupted", "→ build again"),
            (exit, "`rustc` (signal: 2, SIGINT: terminal interrupt signal)", ": it was interrupted", "→ build again"),
            (9, "", ": it was killed", "→ build again"),
            (exit, killed, ": it was killed", "→ build again"),
            (exit, full, ": the disk is full", "→ make room on the disk"),
            (exit, "[6] Could not resolve host: index.crates.io", "", "→ check the network"),
            (exit, "attempting to make an HTTP request, but --offline was specified", "", "→ check the network"),
            (exit, "error: could not create `/t`: Not a directory", "", "→ if it names a file or a folder"),
        ];
        for (status, said, why, advice) in cases {
            let expected = (format!("cargo could not compile it{why}"), advice.to_owned());
            assert_eq!(failed(status, said), expected, "{status} {said}");
        }
    }
}
