//! What a GPU shows of a litmus test: each outcome, counted.

use std::collections::{BTreeMap, BTreeSet};

use launch::gpu::{Argument, Gpu, Launch, Module};
use litmus::{Outcome, Term};
use ptx_build::error::Result;

use super::litmus::*;

/// What was seen of a test.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Counted {
    /// The test.
    pub test: String,
    /// What was looked at.
    pub observed: Vec<String>,
    /// What the model forbids.
    pub forbidden: Vec<String>,
    /// What was seen.
    pub seen: Seen,
    /// The test's mutants, and what was seen of them.
    pub mutants: Vec<CountedMutant>,
    /// Why a GPU shows what the model forbids, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

/// What was seen of a kernel.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    /// How often each outcome came.
    pub outcomes: BTreeMap<String, u64>,
    /// How often one came that the model forbids the test.
    pub forbidden: u64,
    /// How often a value was none of the test's.
    pub strange: u64,
    /// How often the threads did not meet, so that there is no outcome.
    pub apart: u64,
}

/// What was seen of a mutant.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CountedMutant {
    /// What the test lacks in it.
    pub lacks: String,
    /// What was seen.
    pub seen: Seen,
}

impl Counted {
    /// How often a forbidden outcome came.
    pub fn violations(&self) -> u64 {
        self.seen.forbidden
    }

    /// Whether a mutant showed what the test may not.
    pub fn is_sensitive(&self) -> bool {
        self.mutants.iter().any(|mutant| mutant.seen.forbidden > 0)
    }

    /// Whether nothing was seen that may not be, and something was.
    pub fn nothing_is_wrong(&self) -> bool {
        let strange = self.seen.strange + self.mutants.iter().map(|mutant| mutant.seen.strange).sum::<u64>();
        (self.violations() == 0 || self.known.is_some()) && strange == 0 && !self.seen.outcomes.is_empty()
    }

    /// Whether nothing is wrong, and would have been seen if it were.
    pub fn passed(&self) -> bool {
        self.nothing_is_wrong() && self.is_sensitive()
    }

    /// How often the test came to an outcome.
    pub fn runs(&self) -> u64 {
        self.seen.outcomes.values().sum()
    }

    /// What was found, in words.
    pub fn verdict(&self) -> String {
        let mutants = self.mutants.iter().filter(|mutant| mutant.seen.forbidden > 0).count();
        let strange = self.seen.strange + self.mutants.iter().map(|mutant| mutant.seen.strange).sum::<u64>();
        match (self.violations(), strange, self.runs()) {
            (_, 1.., _) => format!("WRONG: {strange} values that nobody wrote"),
            (times @ 1.., ..) => match &self.known {
                None => format!("FORBIDDEN {times} times"),
                Some(why) => format!("FORBIDDEN {times} times, as is known: {why}"),
            },
            (.., 0) => "nothing was seen: the threads never met".into(),
            _ if self.is_sensitive() => format!("0; {mutants} of {} mutants show it", self.mutants.len()),
            _ => format!("not sensitive: none of {} mutants shows it", self.mutants.len()),
        }
    }

    /// What was found, in one line.
    pub fn text(&self) -> String {
        let outcomes: Vec<String> =
            self.seen.outcomes.iter().map(|(outcome, times)| format!("{outcome}: {times}")).collect();
        format!("{}; seen of {}: {}", self.verdict(), self.observed.join(" "), outcomes.join(", "))
    }
}

/// Runs a test and its mutants on a GPU.
pub fn run(litmus: &Litmus, gpu: &Gpu, module: &Module, amount: Amount) -> Result<Counted> {
    let forbidden = litmus.forbidden();
    let count = |name: &str| count(litmus, name, gpu, module, amount);
    let mutants = litmus
        .mutants
        .iter()
        .map(|mutant| Ok(CountedMutant { lacks: mutant.lacks.clone(), seen: count(&mutant.name)? }));
    Ok(Counted {
        test: litmus.name.clone(),
        observed: litmus.observed.iter().map(|term| word(litmus, *term)).collect(),
        forbidden: forbidden.iter().map(in_words).collect(),
        mutants: mutants.collect::<Result<_>>()?,
        seen: count(&litmus.name)?,
        known: litmus.known().map(str::to_owned),
    })
}

fn in_words(outcome: &Outcome) -> String {
    outcome.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

fn word(litmus: &Litmus, term: Term) -> String {
    match term {
        Term::Register(thread, register) => format!("P{thread}:{register}"),
        Term::Memory(at) => {
            let address = litmus.program.addresses.iter().find(|address| address.physical == at);
            address.map_or_else(String::new, |address| address.name.clone())
        }
        Term::Constant(value) => value.to_string(),
    }
}

fn count(litmus: &Litmus, kernel: &str, gpu: &Gpu, module: &Module, amount: Amount) -> Result<Seen> {
    let forbidden = litmus.forbidden();
    let groups = ((gpu.processors() * amount.blocks) as usize / litmus.blocks()).max(1);
    let stress = (gpu.processors() as usize).next_multiple_of(litmus.blocks());
    let tests = groups * litmus.tests();
    let places = (tests * litmus.program.initial.len()).next_power_of_two();
    let mut seen = Seen::default();
    let line = 128;
    // Made once: a round's values are not those of another round, but those of another launch are.
    let (lines, control) = (vec![0; places * line], vec![0; tests * line]);
    let (mut memory, mut meeting) = (gpu.upload(&lines)?, gpu.upload(&control)?);
    let scratch = gpu.upload(&lines)?;
    let mut counts = gpu.upload(&[0; COUNTS * 4])?;
    for launch in 0..amount.launches {
        gpu.refill(&mut memory, &lines)?;
        gpu.refill(&mut meeting, &control)?;
        gpu.refill(&mut counts, &[0; COUNTS * 4])?;
        let addresses = [&memory, &meeting, &counts, &scratch].map(|buffer| Argument::U64(buffer.address()));
        let numbers = [groups as u32, places as u32 - 1, amount.rounds, 1 + launch].map(Argument::U32);
        let blocks = (groups * litmus.blocks() + stress) as u32;
        let arguments = addresses.into_iter().chain(numbers).collect();
        let launch = Launch { kernel: kernel.to_owned(), blocks, threads: THREADS as u32, shared: 0, arguments };
        // SAFETY: there is a line for each place and for each test, and a count for each outcome.
        unsafe { gpu.launch(module, &launch) }?;
        gpu.wait()?;
        seen.add(&gpu.download(&counts)?, litmus, &forbidden);
    }
    Ok(seen)
}

impl Seen {
    fn add(&mut self, counts: &[u8], litmus: &Litmus, forbidden: &BTreeSet<Outcome>) {
        let counts =
            counts.chunks_exact(4).map(|count| u64::from(u32::from_le_bytes(count.try_into().expect("four bytes"))));
        for (at, count) in counts.enumerate().filter(|(_, count)| *count > 0) {
            let outcome: Outcome = (0..litmus.observed.len()).map(|term| (at >> (2 * term) & 3) as i64).collect();
            match at {
                APART => self.apart += count,
                STRANGE => self.strange += count,
                // It has a value that the test does not write.
                _ if !litmus.allowed.contains(&outcome) && !forbidden.contains(&outcome) => self.strange += count,
                _ => {
                    *self.outcomes.entry(in_words(&outcome)).or_default() += count;
                    self.forbidden += if forbidden.contains(&outcome) { count } else { 0 };
                }
            }
        }
    }
}
