//! NVIDIA's disassembler.

use std::path::{Path, PathBuf};

use ptx_sass::nvdisasm::{SassFunction, parse};

use crate::command::Command;
use crate::error::{Error, Result};

/// An `nvdisasm`.
#[derive(Clone, Debug)]
pub struct Disassembler {
    nvdisasm: PathBuf,
}

impl Disassembler {
    /// The disassembler at that path.
    pub fn new(nvdisasm: impl Into<PathBuf>) -> Self {
        Disassembler { nvdisasm: nvdisasm.into() }
    }

    /// Disassembles every function of a cubin.
    pub fn disassemble(&self, cubin: &Path) -> Result<Vec<SassFunction>> {
        // Of the data flow, which is a third of its work, it would print the targets of indirect jumps alone.
        let printed = Command::tool(&self.nvdisasm)?.args(["-gp", "-c", "-ndf"]).arg(cubin).run().map_err(|error| {
            if error.to_string().contains("deprecated") {
                error.fix("CUDA 13 disassembles sm_75 and later only: assemble for one of these")
            } else {
                error
            }
        })?;
        let functions = parse(&printed.stdout);
        if functions.is_empty() {
            return Err(Error::new("nvdisasm printed no function")
                .at(cubin.display())
                .fix("give it a cubin with code in it"));
        }
        Ok(functions)
    }
}
