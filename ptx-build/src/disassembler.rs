//! NVIDIA's disassembler.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use ptx_sass::nvdisasm::{SassFunction, live_registers, parse, target};

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
        Ok(self.disassemble_by(Lines::Ptx, cubin)?.1)
    }

    /// The GPU of a cubin, `sm_90a`, and its functions, with such lines.
    pub fn disassemble_by(&self, lines: Lines, cubin: &Path) -> Result<(String, Vec<SassFunction>)> {
        let lines = match lines {
            Lines::Ptx => "-gp",
            Lines::Source => "-g",
        };
        // Of the data flow, which is a third of its work, it would print the targets of indirect jumps alone.
        let printed = Command::tool(&self.nvdisasm)?.args([lines, "-c", "-ndf"]).arg(cubin).run().map_err(|error| {
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
        Ok((target(&printed.stdout).unwrap_or_default().to_owned(), functions))
    }
}

impl Disassembler {
    /// How many registers are live at each address of each function. Empty if the disassembler cannot tell: it follows no
    /// indirect jump.
    pub fn live_registers(&self, cubin: &Path) -> Result<HashMap<String, BTreeMap<u64, u32>>> {
        let finished = Command::tool(&self.nvdisasm)?.args(["-lrm", "count", "-c"]).arg(cubin).finish()?;
        Ok(live_registers(&finished.stdout))
    }
}

/// What the machine instructions are to say of their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// The lines of PTX.
    Ptx,
    /// The lines of the source.
    Source,
}
