//! NVIDIA's compiler of CUDA C++.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::command::Machine;
use crate::error::{Error, Result};
use crate::target::{Release, Sm};

/// An `nvcc`, found and known to run.
#[derive(Clone, Debug)]
pub struct Nvcc {
    /// The program.
    pub path: PathBuf,
    /// Its release.
    pub release: Release,
    /// The machine it runs on.
    pub machine: Machine,
}

impl Nvcc {
    /// Compiles a file to PTX in the file `out`, optimised, for that architecture. `out` is not touched unless it succeeds.
    pub fn ptx(&self, source: &Path, sm: Sm, out: &Path) -> Result<()> {
        self.ptx_with(source, sm, &[], out)
    }

    /// The same for a GPU whose name may have a suffix, with more options: `-lineinfo`.
    pub fn ptx_with(&self, source: &Path, gpu: impl fmt::Display, options: &[&str], out: &Path) -> Result<()> {
        let folder = out.parent().unwrap_or(Path::new("."));
        // nvcc's own temporaries go there too, so that one that is interrupted leaves none.
        let scratch = tempfile::tempdir_in(folder).map_err(|error| Error::io("create a folder in", folder, error))?;
        let new = scratch.path().join("new.ptx");
        let command = self.machine.command(&self.path).args(["-O3", "--ptx", "-o"]).arg(&new);
        let command = command
            .args(options)
            .arg(format!("-arch=compute_{}", gpu.to_string().trim_start_matches("sm_")))
            .arg(source);
        command.env("TMPDIR", scratch.path()).run().map_err(|error| error.fix("correct what nvcc points at"))?;
        std::fs::rename(&new, out).map_err(|error| Error::io("rename the new file to", out, error))
    }
}
