//! What every build for the GPU has in common: target, profile and linker.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::command::Command;
use crate::error::{Error, Result};
use crate::files::write_whole;

pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

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

    /// What rustc is told for every crate of a build.
    pub(crate) fn flags(self) -> Vec<String> {
        match self {
            // A panic with a message brings so much of core along, once per kernel, that the assembler and
            // the disassembler take half a minute.
            Profile::Dev => ["-Zunstable-options", "-Cpanic=immediate-abort"].map(str::to_owned).into(),
            Profile::Release => Vec::new(),
        }
    }

    /// This cargo with the profile.
    pub(crate) fn cargo(self, cargo: Command) -> Command {
        let setting = |name: &str| format!("CARGO_PROFILE_{}_{name}", self.name().to_uppercase());
        let cargo = cargo.args((self == Profile::Release).then_some("--release"));
        // The whole module in one file; and no debug sections, which ptxas cannot parse as LLVM writes them.
        cargo.env(setting("LTO"), "fat").env(setting("CODEGEN_UNITS"), "1").env(setting("DEBUG"), "false")
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

/// What helps if cargo fails before any compiler says why.
pub(crate) fn fixes_of_cargo(error: Error) -> Error {
    error.fix("if it is a file or a folder: make sure that it may be written, and that the disk is not full").fix(
        "if it is a download: check the network; the first build fetches what the kernels and Rust's `core` depend on",
    )
}
