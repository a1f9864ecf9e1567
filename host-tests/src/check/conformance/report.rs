//! What the comparison showed.

use std::collections::BTreeSet;

use crate::check::conformance::compiler::Compiled;
use crate::check::conformance::known::REASONS;
use crate::tools::error::{Error, Result};
use crate::tools::target::{PtxVersion, Sm};

const LIST: &str = "correct the tables of ptx-intrinsics; what is refused on purpose is with its reason in \
                    host-tests/src/check/conformance/ptxas-alone.txt";
/// How many complaints an error shows.
const SHOWN: usize = 10;

/// What the comparison showed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The walk, by each assembler's parser.
    pub walked: Vec<Walked>,
    /// Spellings that the types or an assembler accept, with every type and everything that operands may say.
    pub live: usize,
    /// The verdicts about those, GPU by GPU.
    pub gpus: Vec<OnGpu>,
    /// Oldest targets and smallest versions found.
    pub gates: usize,
    /// What is wrong with those.
    pub wrong: Vec<String>,
    /// What the assembler alone accepts, reason by reason.
    pub alone: Vec<Alone>,
    /// What it accepts, and no reason is given to refuse it.
    pub unexplained: Vec<String>,
    /// What the compiler makes of expressions, target by target.
    pub compiled: Vec<Compiled>,
    /// How long it took.
    pub seconds: f64,
}

/// A walk through every spelling.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The assembler's newest PTX ISA version.
    pub ptx: PtxVersion,
    /// Spellings asked.
    pub spellings: usize,
    /// Those that it accepts.
    pub accepted: usize,
}

/// The verdicts about one GPU.
#[derive(Clone, Debug)]
pub struct OnGpu {
    /// The GPU.
    pub sm: Sm,
    /// Accepted by the types and by the assembler.
    pub accepted: usize,
    /// Those of them that had to become machine code.
    pub assembled: usize,
    /// Refused by both.
    pub refused: usize,
    /// Accepted by the assembler alone.
    pub alone: usize,
    /// Refused by both, of a sample of what is refused for the newest GPU.
    pub sampled: usize,
    /// Accepted by the types and refused by the assembler, or not as the walk has it.
    pub wrong: Vec<String>,
}

/// What the assembler alone accepts, for one reason.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// Why the types refuse it.
    pub why: String,
    /// Spellings.
    pub spellings: usize,
    /// Of a few on the newest GPU: how many became machine code,
    pub machine_code: usize,
    /// how many the code generator refused,
    pub refusals: usize,
    /// and on how many it crashed.
    pub crashes: usize,
}

impl Report {
    /// The questions that the assembler was asked about spellings, one for each GPU.
    pub fn asked(&self) -> usize {
        let walked: usize = self.walked.iter().map(|walked| walked.spellings).sum();
        walked + self.gpus.iter().map(OnGpu::asked).sum::<usize>()
    }

    /// The numbers, for people.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for Walked { ptx, spellings, accepted } in &self.walked {
            table += &format!(
                "{spellings:>11}  spellings, legal and illegal; the parser of PTX ISA {ptx} accepts {accepted}\n"
            );
        }
        table += &format!(
            "{:>11}  accepted by it or by the types, with every type and what operands may say\n\n",
            self.live
        );
        table += &format!(
            "{:<8}{:>12}{:>12}{:>21}{:>24}\n",
            "", "both accept", "both refuse", "ptxas alone accepts", "the types alone accept"
        );
        for gpu in &self.gpus {
            let OnGpu { sm, accepted, refused, alone, sampled, wrong, .. } = gpu;
            let refused = refused + sampled;
            table += &format!("{:<8}{accepted:>12}{refused:>12}{alone:>21}{:>24}\n", sm.to_string(), wrong.len());
        }
        table += "\nWhat ptxas alone accepts, and what the newest GPU's code generator makes of a few:\n";
        for Alone { why, spellings, machine_code, refusals, crashes } in &self.alone {
            let fates = [(machine_code, "become machine code"), (refusals, "are refused"), (crashes, "crash it")];
            let fates: Vec<String> =
                fates.iter().filter(|(count, _)| **count > 0).map(|(count, fate)| format!("{count} {fate}")).collect();
            table += &format!("{spellings:>11}  {why} ({})\n", fates.join(", "));
        }
        table += "\nExpressions under `cargo check`:\n";
        for Compiled { target, accepted, refused, wrong } in &self.compiled {
            table += &format!("{target:<20}{accepted:>8} accepted {refused:>8} refused {:>6} wrong\n", wrong.len());
        }
        let lines = [
            (self.asked(), "spellings × GPUs asked"),
            (self.gates, "oldest targets and smallest PTX ISA versions found by assembling"),
            (self.wrong.len(), "of them not as the types have them"),
            (self.gpus.iter().map(|gpu| gpu.wrong.len()).sum(), "accepted by the types, refused by ptxas"),
            (self.unexplained.len(), "accepted by ptxas, refused by the types, and not listed with a reason"),
        ];
        table.push('\n');
        for (count, what) in lines {
            table += &format!("{count:>11}  {what}\n");
        }
        table + &format!("{:>11.0}  seconds\n", self.seconds)
    }

    /// An error that names the reasons for which nothing was found, if there is one: after a whole comparison.
    pub fn no_reason_is_idle(&self) -> Result<()> {
        let idle = REASONS.iter().filter(|reason| self.alone.iter().all(|alone| alone.why != reason.why));
        let idle: Vec<&str> = idle.map(|reason| reason.why.as_str()).collect();
        if idle.is_empty() {
            return Ok(());
        }
        Err(Error::new("ptxas accepts nothing for some reasons to refuse it").because(idle.join("\n")).fix(LIST))
    }

    /// What the assembler alone accepts without a reason, as patterns for ptxas-alone.txt.
    fn patterns(&self) -> Vec<String> {
        let spellings: BTreeSet<&str> = self.unexplained.iter().map(String::as_str).collect();
        spellings.into_iter().map(|spelling| format!("  ^{}$", regex::escape(spelling))).collect()
    }

    /// An error that names the first disagreements, if there is one.
    pub fn verify(&self) -> Result<()> {
        let on_gpus =
            self.gpus.iter().flat_map(|gpu| gpu.wrong.iter().map(move |wrong| format!("{}: {wrong}", gpu.sm)));
        let compiled = self.compiled.iter().flat_map(|compiled| compiled.wrong.iter().cloned());
        let all: Vec<String> = on_gpus.chain(self.wrong.iter().cloned()).chain(compiled).collect();
        let patterns = self.patterns();
        if all.is_empty() && patterns.is_empty() {
            return Ok(());
        }
        let disagree = Error::new(format_args!("the types and ptxas disagree {} times", all.len() + patterns.len()));
        let mut shown: Vec<&str> = all.iter().take(SHOWN).map(String::as_str).collect();
        if !patterns.is_empty() {
            shown.push("ptxas alone accepts these; as lines for ptxas-alone.txt:");
            shown.extend(patterns.iter().map(String::as_str));
        }
        Err(disagree.because(shown.join("\n")).fix(LIST))
    }
}

impl OnGpu {
    /// Nothing asked yet.
    pub fn new(sm: Sm) -> Self {
        OnGpu { sm, accepted: 0, assembled: 0, refused: 0, alone: 0, sampled: 0, wrong: Vec::new() }
    }

    fn asked(&self) -> usize {
        self.accepted + self.refused + self.alone + self.sampled + self.wrong.len()
    }
}
