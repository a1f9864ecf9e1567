//! The orders of a test's threads, one after the other: what the interpreter finds, beside what the model says.

use std::collections::BTreeSet;

use ptx_interpreter::{Choice, Kind, Ready, Report, Trial};

use super::paths::{Path, Turn};
use crate::judge::outcomes;
use crate::races::{Ended, Place, Race, in_order, races};
use crate::{Instruction, Limits, Model, Program, Register, Space, Term, Threads, TooLarge};

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Orders that were run, and those in which something races.
    pub orders: u64,
    /// See there.
    pub racy_orders: u64,
    /// Whether something races in an order.
    pub races: bool,
    /// What was found that races only if `fence.sc` have another order than in its run, and each load returns the same.
    pub other_fences: BTreeSet<Race>,
    /// Whether something races in an execution that the model allows, if it could be asked.
    pub model_races: Option<bool>,
    /// Whether some orders were left out.
    pub cut: bool,
}

/// An order in which the interpreter and the model say different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The threads, in their turns.
    pub order: Vec<usize>,
    /// What they say.
    pub what: String,
}

/// Runs a test in its orders, at most so many, and compares each with the model.
pub fn agree(program: &Program, most: u64, limits: &Limits) -> Result<Agreement, Disagreement> {
    let observed = observed(program);
    let mut agreement = Agreement::default();
    agreement.cut = all_runs(program, (&observed, Space::Global), (false, false), most, &mut |run| {
        let ended = in_order(program, &Model::new(), &run.order);
        let others = run.compare(&ended, &observed);
        agreement.other_fences.extend(others.map_err(|what| Disagreement { order: run.order.clone(), what })?);
        agreement.orders += 1;
        agreement.racy_orders += u64::from(!ended.races.is_empty());
        Ok(())
    })?;
    agreement.races = agreement.racy_orders > 0;
    agreement.model_races = match races(program, &Model::new(), limits) {
        Ok(races) => Some(!races.is_empty()),
        Err(TooLarge::Events(_) | TooLarge::Traces(_) | TooLarge::Candidates(_)) => None,
    };
    if agreement.races && agreement.model_races == Some(false) {
        return Err(refused("an order races, and no execution of the model does"));
    }
    Ok(agreement)
}

/// What the loads of a test may return, if they are weak.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// Runs, in every order and with every value that the interpreter offers.
    pub runs: u64,
    /// Ends that were seen, and those that the model allows.
    pub seen: usize,
    /// See there.
    pub allowed: usize,
    /// Ends that were seen, where each load returns the newest value.
    pub in_order: usize,
    /// Whether something races in an execution that the model allows.
    pub races: bool,
    /// Whether some runs were left out.
    pub cut: bool,
    /// The ends that the model allows and that were not seen, in words.
    pub missing: Vec<String>,
}

/// Runs a test with weak loads, at most so many times. It disagrees if an end or a race is seen that the model forbids. None
/// if the model could not be asked.
pub fn agree_on_values(
    program: &Program,
    space: Space,
    most: u64,
    limits: &Limits,
) -> Result<Option<Values>, Disagreement> {
    let registers = observed(program);
    let terms: Vec<Term> = registers.iter().copied().chain((0..program.initial.len()).map(Term::Memory)).collect();
    let asked = (outcomes(program, &Model::new(), &terms, limits), races(program, &Model::new(), limits));
    let (Ok(allowed), Ok(races)) = asked else { return Ok(None) };
    let mut values = Values { allowed: allowed.len(), races: !races.is_empty(), ..Values::default() };
    for weak in [false, true] {
        let mut seen = BTreeSet::new();
        let cut = all_runs(program, (&registers, space), (weak, true), most, &mut |run| {
            let disagrees = |what: String| Err(Disagreement { order: run.order.clone(), what });
            let end: Vec<i64> = run.left[..registers.len()].iter().chain(&run.memory).copied().collect();
            if !run.is_endless && !allowed.contains(&end) {
                return disagrees(format!("with weak loads {terms:?} end with {end:?}, which the model forbids"));
            }
            let found = match &run.found {
                Ok(found) => found,
                Err(what) => return disagrees(what.clone()),
            };
            if !found.is_subset(&races) {
                return disagrees(format!(
                    "with weak loads {found:?} are found to race, of which the model has {races:?}"
                ));
            }
            seen.insert(end);
            values.runs += u64::from(weak);
            Ok(())
        })?;
        values.cut |= cut;
        *(if weak { &mut values.seen } else { &mut values.in_order }) = seen.len();
        if weak {
            let missing = allowed.iter().filter(|end| !seen.contains(*end));
            values.missing = missing.map(|end| in_words(&terms, end)).collect();
        }
    }
    Ok(Some(values))
}

/// An end: `0:r0=1 x=2`.
fn in_words(terms: &[Term], end: &[i64]) -> String {
    let one = |(term, value): (&Term, &i64)| match term {
        Term::Register(thread, register) => format!("{thread}:{register}={value}"),
        Term::Memory(location) => format!("[{location}]={value}"),
        Term::Constant(_) => String::new(),
    };
    terms.iter().zip(end).map(one).collect::<Vec<_>>().join(" ")
}

fn refused(what: &str) -> Disagreement {
    Disagreement { order: Vec::new(), what: what.to_owned() }
}

/// Runs a test in all ways, at most so many, where loads may be weak, and of runs that are the same one may be enough. Says whether some
/// were left out.
fn all_runs(
    program: &Program,
    (observed, space): (&[Term], Space),
    (weak, sleeps): (bool, bool),
    most: u64,
    each: &mut dyn FnMut(&Run) -> Result<(), Disagreement>,
) -> Result<bool, Disagreement> {
    let kernel = Threads::of(program, observed, space).map_err(refused)?;
    let compiled = ptx_interpreter::Program::parse(&kernel.text);
    let mut path = Path::new(program, sleeps);
    let (mut runs, mut cut) = (0, false);
    loop {
        if let Some(run) = Run::new(program, &kernel, &compiled, observed, weak, &mut path) {
            each(&run)?;
            cut |= run.cut;
        }
        runs += 1;
        match path.next() {
            true if runs < most => {}
            rest => return Ok(cut || rest),
        }
    }
}

/// The registers that the threads load.
pub fn observed(program: &Program) -> Vec<Term> {
    let of_thread = |(at, thread): (usize, &crate::Thread)| {
        let loaded = thread.code.iter().filter_map(move |instruction| match instruction {
            Instruction::Load(register, _) | Instruction::Atomic(Some(register), ..) => Some((at, register.0)),
            _ => None,
        });
        loaded.collect::<Vec<_>>()
    };
    let all: BTreeSet<(usize, u32)> = program.threads.iter().enumerate().flat_map(of_thread).collect();
    all.into_iter().map(|(at, number)| Term::Register(at, Register(number))).collect()
}

/// The ends of a test with weak loads, of so many seeds, as `agree_on_values` has them. None, if one does not end.
pub fn ends_of_seeds(program: &Program, space: Space, seeds: u64) -> Option<BTreeSet<Vec<i64>>> {
    let registers = observed(program);
    let kernel = Threads::of(program, &registers, space).ok()?;
    let compiled = ptx_interpreter::Program::parse(&kernel.text);
    let end = |seed: u64| {
        let mut trial = trial(program, &kernel, &compiled, &registers);
        let report = trial.weak(true).seed(seed).check();
        let left = numbers(trial.content(1)).into_iter().take(registers.len());
        report.stop.is_none().then(|| left.chain(numbers(trial.content(0))).collect())
    };
    (0..seeds).map(end).collect()
}

fn trial<'p>(
    program: &Program,
    kernel: &Threads,
    compiled: &'p ptx_interpreter::Program,
    observed: &[Term],
) -> Trial<'p> {
    let bytes = |values: &[i64]| values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect::<Vec<u8>>();
    let mut trial = Trial::new(compiled, "test");
    trial.grid([kernel.blocks, 1, 1]).block([kernel.threads, 1, 1]).cluster([kernel.cluster, 1, 1]);
    trial.buffer(&bytes(&program.initial)).expect("a little memory");
    trial.buffer(&vec![0; 4 * observed.len().max(1)]).expect("a little memory");
    trial.gpus(kernel.gpus as usize).value(&0u32.to_le_bytes());
    for gpu in 1..kernel.gpus {
        trial.same(0).same(1).value(&gpu.to_le_bytes());
    }
    trial
}

fn numbers(bytes: &[u8]) -> Vec<i64> {
    let words = bytes.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    words.map(i64::from).collect()
}

/// One order.
struct Run {
    order: Vec<usize>,
    found: Result<BTreeSet<Race>, String>,
    memory: Vec<i64>,
    left: Vec<i64>,
    cut: bool,
    is_endless: bool,
}

/// Turns of a run after which the order is not varied any more, and after which it is given up: the test has a loop.
const VARIED: usize = 24;
const ENDLESS: usize = 400;

impl Run {
    /// Follows a path of choices as far as it goes, and adds the ones after it. None, if it is the same as another run.
    fn new(
        program: &Program,
        kernel: &Threads,
        compiled: &ptx_interpreter::Program,
        observed: &[Term],
        weak: bool,
        path: &mut Path<'_>,
    ) -> Option<Run> {
        let mut trial = trial(program, kernel, compiled, observed);
        trial.weak(weak);
        let (mut order, mut cut, mut is_same) = (Vec::new(), false, false);
        path.begin();
        let report = trial.check_in_order(|choice| {
            let is_varied = order.len() < VARIED || !path.is_new();
            cut |= !is_varied;
            let ready = match choice {
                Choice::Way(_) if !is_varied => return 0,
                Choice::Way(others) => return path.way(1 + others),
                Choice::Thread(ready) => ready,
            };
            // What is no part of the test meets nobody, and comes after the thread's loads.
            let turn = |ready: &Ready| kernel.lines.get(&ready.ptx_line).copied();
            let is_last = |one: &Ready| {
                ready.iter().filter(|other| (one.block, one.thread) == (other.block, other.thread)).count() == 1
            };
            if let Some(own) = ready.iter().position(|ready| turn(ready).is_none() && is_last(ready)) {
                return own;
            }
            let (places, turns): (Vec<usize>, Vec<Turn>) =
                ready.iter().enumerate().filter_map(|(place, ready)| Some((place, turn(ready)?))).unzip();
            if order.len() > ENDLESS {
                return usize::MAX;
            }
            let chosen = if is_varied { path.turn(turns.clone()) } else { Some((order.len() + 1) % turns.len()) };
            let Some(chosen) = chosen else {
                is_same = true;
                return usize::MAX;
            };
            order.push(turns[chosen].0);
            places[chosen]
        });
        if is_same {
            return None;
        }
        let (memory, left) = (numbers(trial.content(0)), numbers(trial.content(1)));
        let is_endless = order.len() > ENDLESS;
        Some(Run { order, found: found(kernel, &report), memory, left, cut, is_endless })
    }

    /// Something is found if something races in this order, and what is found races. Gives what races only if `fence.sc` have another
    /// order: theirs counts only where it has to be so.
    fn compare(&self, ended: &Ended, observed: &[Term]) -> Result<Vec<Race>, String> {
        let found = self.found.as_ref().map_err(Clone::clone)?;
        let others: Vec<Race> = found.difference(&ended.races).copied().collect();
        let is_missed = found.is_empty() && !ended.races.is_empty();
        if is_missed || !others.iter().all(|race| ended.other_fences.contains(race)) {
            let Ended { races, other_fences, .. } = ended;
            return Err(format!(
                "the interpreter finds races {found:?}, the model has {races:?}, and {other_fences:?} with other orders of fence.sc"
            ));
        }
        if self.memory != ended.memory {
            return Err(format!("memory has {:?}, and not {:?}", self.memory, ended.memory));
        }
        for (term, value) in observed.iter().zip(&self.left) {
            if let Term::Register(thread, register) = term {
                let expected = ended.register(*thread, *register);
                if expected != *value {
                    return Err(format!("{register} of P{thread} has {value}, and not {expected}"));
                }
            }
        }
        Ok(others)
    }
}

/// The pairs that the interpreter found to race.
fn found(kernel: &Threads, report: &Report) -> Result<BTreeSet<Race>, String> {
    if let Some(stop) = &report.stop {
        return Err(stop.to_string());
    }
    let mut races = BTreeSet::new();
    for finding in &report.findings {
        let at = |place: usize| -> Option<Place> { kernel.lines.get(&finding.places.get(place)?.ptx_line).copied() };
        match (finding.kind, at(0), at(1)) {
            (Kind::Race | Kind::Order, Some(one), Some(other)) => races.insert((one.min(other), one.max(other))),
            _ => return Err(finding.to_string()),
        };
    }
    Ok(races)
}
