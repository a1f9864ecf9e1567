//! The assembler's verdicts about spellings, thousands at a time.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::check::conformance::grammar::{REGISTERS, Spelling};
use crate::check::verdicts::{answer, assemble};
use crate::tools::command::Machine;
use crate::tools::error::Result;
use crate::tools::files::write_whole;
use crate::tools::ptxas::{Assembler, On, Rejected};
use crate::tools::target::{PtxVersion, Sm};

/// How many spellings share a function of a module that becomes machine code: the assembler's time grows faster than
/// a function.
const IN_A_FUNCTION: usize = 50;

/// An assembler, and where its answers are kept: what was asked before is not asked again.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The assembler.
    pub assembler: Assembler,
    /// The folder of its answers.
    pub kept: PathBuf,
}

/// What the code generator made of a spelling that it did not turn into machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The spelling's place among those that were asked.
    pub at: usize,
    /// The assembler's words, or the way it died.
    pub words: String,
    /// Whether it died.
    pub crashed: bool,
}

impl Asked {
    /// The assembler of that GPU, and the folder for all answers.
    pub fn new(on: &On) -> Self {
        Asked { assembler: on.assembler.clone(), kept: Machine::current().target().join("conformance") }
    }

    /// Which of these spellings the parser accepts for a target and a PTX ISA version.
    pub fn parsed(&self, spellings: &[Spelling], target: Sm, version: PtxVersion) -> Result<Vec<bool>> {
        let (text, lines) = parsed_module(spellings, target, version);
        let file = answer(&self.kept, &self.assembler, ("parsed", &text));
        if let Some(letters) = fs::read(&file).ok().filter(|letters| letters.len() == spellings.len()) {
            return Ok(letters.into_iter().map(|letter| letter == b'a').collect());
        }
        let mut accepted = vec![true; spellings.len()];
        for line in self.assembler.refused_lines(&text)? {
            if let Some(&Some(at)) = lines.get(line as usize - 1) {
                accepted[at] = false;
            }
        }
        let letters: Vec<u8> = accepted.iter().map(|&accepted| if accepted { b'a' } else { b'r' }).collect();
        write_whole(&file, letters)?;
        Ok(accepted)
    }

    /// Those of these spellings that do not become machine code.
    pub fn failures(&self, spellings: &[Spelling], sm: Sm, version: PtxVersion) -> Result<Vec<Failure>> {
        let question = ("machine code of all", machine_code_module(spellings, sm, version), sm);
        let file = answer(&self.kept, &self.assembler, question);
        if file.is_file() {
            return Ok(Vec::new());
        }
        let failures = self.failing_part(spellings, 0, sm, version)?;
        if failures.is_empty() {
            write_whole(&file, b"")?;
        }
        Ok(failures)
    }

    /// Halves what fails until each failure is alone.
    fn failing_part(&self, part: &[Spelling], from: usize, sm: Sm, version: PtxVersion) -> Result<Vec<Failure>> {
        let text = machine_code_module(part, sm, version);
        let Err(rejected) = assemble(&self.assembler, &text, sm)? else { return Ok(Vec::new()) };
        if let [_] = part {
            return Ok(vec![failure(from, &rejected)]);
        }
        let (first, second) = part.split_at(part.len() / 2);
        let mut failures = self.failing_part(first, from, sm, version)?;
        failures.extend(self.failing_part(second, from + first.len(), sm, version)?);
        Ok(failures)
    }
}

fn failure(at: usize, rejected: &Rejected) -> Failure {
    let words = rejected.messages.first().map_or_else(String::new, |message| message.text.clone());
    let crashed = rejected.crashed || words.contains("Internal compiler error");
    Failure { at, words, crashed }
}

/// A function's parameters are only in a function, and not in a kernel.
fn in_function(spelling: &Spelling) -> bool {
    spelling.ptx.contains(".param::func")
}

/// A module of these spellings for the parser alone, and the spelling of each of its lines.
fn parsed_module(spellings: &[Spelling], target: Sm, version: PtxVersion) -> (String, Vec<Option<usize>>) {
    let mut text = header(target, version);
    let mut lines = vec![None; 3];
    text.reserve(spellings.len() * 100);
    for (of_a_function, kind) in [(false, "entry"), (true, "func")] {
        writeln!(text, ".visible .{kind} {kind}_of_all() {{ .reg .u64 %p, %policy; {REGISTERS} .reg .b128 %q<24>;")
            .expect("a string takes all");
        lines.push(None);
        for (at, spelling) in
            spellings.iter().enumerate().filter(|(_, spelling)| in_function(spelling) == of_a_function)
        {
            text += &spelling.instruction(0);
            text.push('\n');
            lines.push(Some(at));
        }
        text += "ret; }\n";
        lines.push(None);
    }
    (text, lines)
}

/// A module of these spellings with everything that makes each of them an instruction of its own.
fn machine_code_module(spellings: &[Spelling], sm: Sm, version: PtxVersion) -> String {
    let mut text = header(sm, version);
    let (in_functions, in_kernels): (Vec<_>, Vec<_>) = spellings.iter().partition(|spelling| in_function(spelling));
    for (number, part) in in_kernels.chunks(IN_A_FUNCTION).enumerate() {
        let name = format!("entry k{number}(.param .u64 p, .param .u64 policy)");
        function(&mut text, &name, "ld.param.u64 %p, [p]", part);
    }
    for (number, part) in in_functions.chunks(IN_A_FUNCTION).enumerate() {
        let name = format!("func f{number}(.param .align 32 .b8 p[2048], .param .u64 policy)");
        function(&mut text, &name, "mov.b64 %p, p", part);
    }
    text
}

fn function(text: &mut String, name: &str, address: &str, spellings: &[&Spelling]) {
    // Older targets have no such registers.
    let wide = if spellings.iter().any(|spelling| spelling.ptx.contains(".b128")) { ".reg .b128 %q<24>;" } else { "" };
    writeln!(text, ".visible .{name} {{ .reg .u64 %p, %policy; {REGISTERS} {wide}").expect("a string takes all");
    writeln!(text, "{address}; ld.param.u64 %policy, [policy];").expect("a string takes all");
    for (place, spelling) in spellings.iter().enumerate() {
        // No two at one address, so that none makes another needless.
        writeln!(text, "{}{}", spelling.instruction(32 * place), spelling.kept()).expect("a string takes all");
    }
    *text += "ret; }\n";
}

fn header(target: Sm, version: PtxVersion) -> String {
    format!(".version {version}\n.target {target}\n.address_size 64\n")
}
