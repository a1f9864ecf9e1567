//! Mutation testing: small changes to the source, each of which some test has to notice.
//!
//! [`table`] changes what the crate says: texts, gates, effects, operands, the order of registers. [`judge`] asks
//! [`catalogue`], [`device`] and tests about that, many mutants at a time, and [`run`] tells which of them a failure is
//! about. [`code`] has cargo-mutants change what the crates do on a CPU.

pub mod answer;
mod batches;
pub mod catalogue;
pub mod code;
pub mod device;
pub mod judge;
pub mod report;
pub mod run;
mod shows;
pub mod table;
pub mod tree;

use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What is changed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A letter or a word of a PTX text.
    Text,
    /// An SM or a PTX ISA version, one step up or down.
    Gate,
    /// What an `asm!` states about memory.
    Effect,
    /// Two operands swapped.
    Operand,
    /// Two registers of a vector swapped, or one taken twice.
    Register,
    /// What is done on a CPU: an operator, the value of a function.
    Code,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [Kind::Text, Kind::Gate, Kind::Effect, Kind::Operand, Kind::Register, Kind::Code];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Gate => "gate",
            Kind::Effect => "effect",
            Kind::Operand => "operand",
            Kind::Register => "register",
            Kind::Code => "code",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What is changed.
    pub kind: Kind,
    /// The file, from the root of the repository.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What they are.
    pub gone: String,
    /// What replaces them.
    pub with: String,
    /// The token that holds them, as it is.
    pub before: String,
    /// The token as it becomes.
    pub after: String,
    /// What a failure has to show to be this mutant's, where others are made with it.
    pub sign: Sign,
    /// Of a gate: the numbers that are others.
    pub steps: Vec<Step>,
    /// The function, row or macro around it.
    pub owner: String,
}

/// `sm_` or `ptx`, the number that was, and the one that is.
pub type Step = (&'static str, u32, u32);

/// How a failure is known to be a mutant's. Others that could cause the same are not made with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Another word is in what was found: a word of its own for each mutant of a batch.
    Another,
    /// This word is missing, in a form in whose text the word is because of this place of the source.
    Missing(String),
    /// A gate's step: `sm_` or `ptx`, what it was and what it is.
    Step(&'static str, u32, u32),
    /// A gate is another one: the flags of both.
    Gate(String, String),
    /// The free functions whose calls fail.
    Calls(Vec<String>),
    /// What the calls that fail have in their Rust.
    Said(Vec<String>),
    /// Such values are wrong in one of these lanes.
    Lanes(String, [usize; 2]),
    /// The word whose other names lead nowhere, and the name, where it is one of them.
    Names(String, Option<String>),
    /// None: it is made alone.
    Alone,
}

impl fmt::Display for Mutant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (before, after) = (one_line(&self.before), one_line(&self.after));
        let Mutant { file, line, owner, .. } = self;
        write!(out, "{file}:{line} {} in {owner}: {before} → {after}", self.kind.name())
    }
}

impl Mutant {
    /// The same change with a word of its own, for a batch: what compares texts to the letter notices one as the other.
    /// It is short: a word of the vocabulary has room for few letters.
    fn marked(&self, number: usize) -> Mutant {
        match self.sign {
            Sign::Another => {
                let begin: String = self.with.chars().take(6).collect();
                Mutant { with: begin + &mark(number), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// Whether it changes what the catalogue and `ptx!` are made of.
    fn is_of_vocabulary(&self) -> bool {
        ["isa", "catalogue", "grammar"].iter().any(|layer| self.file.contains(&format!("/src/{layer}/")))
    }

    /// What no other mutant has: of two words alike on a line, the byte tells.
    fn key(&self) -> String {
        format!("{self} at {}", self.range.start)
    }

    /// Its name in lists and results: where it is without the number of the line, which any edit moves.
    pub fn told(&self) -> String {
        self.to_string().replacen(&format!(":{} ", self.line), " ", 1)
    }
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Fate {
    /// A test noticed it; which.
    Killed(String),
    /// It does not compile, so that it cannot be made by mistake. It does not count.
    Refused,
    /// No test noticed it.
    Alive,
}

/// What no other word ends with: a changed letter never becomes this one, so that `.q64` begins no mark.
fn mark(number: usize) -> String {
    format!("g{number}g")
}

/// The numbers of the marks in a text.
fn marks(text: &str) -> impl Iterator<Item = usize> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"g(\d+)g").expect("the pattern is valid"));
    MARK.captures_iter(text).filter_map(|mark| mark[1].parse().ok())
}

/// A text with ranges replaced; they must not overlap.
fn replaced(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let (mut done, mut result) = (0, String::with_capacity(text.len()));
    for (range, with) in changes {
        result += &text[done..range.start];
        result += &with;
        done = range.end;
    }
    result + &text[done..]
}
