//! What an assembler says of functions, kept from one run to the next.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::forms::{Case, retarget};
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
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
        let kept = answer(&self.kept, assembler, ("all of it accepted", &text, sm));
        if kept.is_file() {
            return Ok(None);
        }
        match assemble(assembler, &text, sm)? {
            Err(rejected) => Ok(Some(rejected.to_string())),
            Ok(()) => write_whole(&kept, "").map(|()| None),
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
        let kept = answer(&self.kept, assembler, ("all of it refused", &text, sm));
        if kept.is_file() {
            return Ok(Vec::new());
        }
        let Err(rejected) = assemble(assembler, &text, sm)? else { return Ok(cases.to_vec()) };
        let module = Module::parse(&text)?;
        let lines = rejected.messages.iter().filter_map(|message| message.line);
        let refused: HashSet<&str> = lines.filter_map(|line| Some(module.function_at(line)?.name.as_str())).collect();
        let accepted: Vec<&Case> = cases.iter().copied().filter(|case| !refused.contains(case.name.as_str())).collect();
        if accepted.is_empty() {
            write_whole(&kept, "")?;
        }
        Ok(accepted)
    }
}

/// The file of an assembler's answer in that folder: by all that it depends on.
pub(super) fn answer(folder: &Path, assembler: &Assembler, question: impl Hash) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    let size = assembler.path().metadata().map(|file| file.len()).ok();
    (question, assembler.path(), size).hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    folder.join(&name[..2]).join(name)
}

/// Whether all of a text becomes machine code.
pub(super) fn assemble(assembler: &Assembler, text: &str, sm: Sm) -> Result<std::result::Result<(), Rejected>> {
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    // Else functions that no kernel calls are left out.
    let assembler = assembler.clone().option("-c");
    Ok(assembler.assemble_text(text, sm, &scratch.path().join("forms.cubin"))?.map(drop))
}

fn names<'c>(cases: &[&'c Case]) -> Vec<&'c str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}
