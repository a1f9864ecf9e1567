//! What an assembler says of functions, kept from one run to the next.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::forms::{Case, retarget};
use crate::tools::error::{Error, Result};
use crate::tools::ptx::Module;
use crate::tools::ptxas::{Assembler, Rejected};
use crate::tools::target::{PtxVersion, Sm};

/// How many functions go to the assembler at a time: its time grows faster than a module.
const AT_A_TIME: usize = 500;

/// An assembler's verdicts about functions of one module.
pub struct Verdicts<'a> {
    /// The module that the functions are in.
    pub module: &'a Module,
    /// Where verdicts already given are kept, by what was asked.
    pub kept: PathBuf,
}

impl Verdicts<'_> {
    /// Assembles these functions, and gives the assembler's messages about those that it refuses.
    ///
    /// What was accepted once is not assembled again: the same text, for the same target, by the same assembler.
    pub fn refusals(&self, assembler: &Assembler, cases: &[&Case], sm: Sm, version: PtxVersion) -> Result<Vec<String>> {
        let parts: Vec<&[&Case]> = cases.chunks(AT_A_TIME).collect();
        let refusals: Vec<Option<String>> =
            parts.par_iter().map(|part| self.refusal(assembler, part, sm, version)).collect::<Result<_>>()?;
        Ok(refusals.into_iter().flatten().collect())
    }

    fn refusal(&self, assembler: &Assembler, cases: &[&Case], sm: Sm, version: PtxVersion) -> Result<Option<String>> {
        let text = retarget(self.module, &names(cases), sm, version);
        let kept = self.kept(("all of it accepted", &text), assembler, sm)?;
        if kept.is_file() {
            return Ok(None);
        }
        match assemble(assembler, &text, sm)? {
            Err(rejected) => Ok(Some(rejected.to_string())),
            Ok(()) => keep(&kept).map(|()| None),
        }
    }

    /// Those of these functions about which the assembler has nothing to complain. Where it refused them all once, it
    /// is not asked again.
    pub fn accepted<'c>(
        &self,
        assembler: &Assembler,
        cases: &[&'c Case],
        sm: Sm,
        version: PtxVersion,
    ) -> Result<Vec<&'c Case>> {
        let parts: Vec<&[&'c Case]> = cases.chunks(4 * AT_A_TIME).collect();
        let accepted: Vec<Vec<&'c Case>> =
            parts.par_iter().map(|part| self.accepted_part(assembler, part, sm, version)).collect::<Result<_>>()?;
        Ok(accepted.concat())
    }

    fn accepted_part<'c>(
        &self,
        assembler: &Assembler,
        cases: &[&'c Case],
        sm: Sm,
        version: PtxVersion,
    ) -> Result<Vec<&'c Case>> {
        let text = retarget(self.module, &names(cases), sm, version);
        let kept = self.kept(("all of it refused", &text), assembler, sm)?;
        if kept.is_file() {
            return Ok(Vec::new());
        }
        let Err(rejected) = assemble(assembler, &text, sm)? else { return Ok(cases.to_vec()) };
        let module = Module::parse(&text)?;
        let lines = rejected.messages.iter().filter_map(|message| message.line);
        let refused: HashSet<&str> = lines.filter_map(|line| Some(module.function_at(line)?.name.as_str())).collect();
        let accepted: Vec<&Case> = cases.iter().copied().filter(|case| !refused.contains(case.name.as_str())).collect();
        if accepted.is_empty() {
            keep(&kept)?;
        }
        Ok(accepted)
    }

    /// The file of an answer.
    fn kept(&self, question: (&str, &str), assembler: &Assembler, sm: Sm) -> Result<PathBuf> {
        let size = assembler.path().metadata().map(|file| file.len()).ok();
        let mut hasher = DefaultHasher::new();
        (question, sm, assembler.path(), size).hash(&mut hasher);
        std::fs::create_dir_all(&self.kept).map_err(|error| Error::io("create the folder", &self.kept, error))?;
        Ok(self.kept.join(format!("{:016x}", hasher.finish())))
    }
}

fn keep(answer: &Path) -> Result<()> {
    std::fs::write(answer, "").map_err(|error| Error::io("write", answer, error))
}

fn assemble(assembler: &Assembler, text: &str, sm: Sm) -> Result<std::result::Result<(), Rejected>> {
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    // Else functions that no kernel calls are left out.
    let assembler = assembler.clone().option("-c");
    Ok(assembler.assemble_text(text, sm, &scratch.path().join("forms.cubin"))?.map(drop))
}

fn names<'c>(cases: &[&'c Case]) -> Vec<&'c str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}
