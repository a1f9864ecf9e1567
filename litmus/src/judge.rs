//! Asking the model: every candidate execution of a test, and what those that it allows leave.

use std::collections::{BTreeMap, BTreeSet};

use super::barriers::{at_barriers, barrier_orders};
use super::choices::{fence_sc_orders, reads_from, sources};
use super::coherence::{Asked, Finals, consistent};
use super::condition::{Quantifier, Term, Test};
use super::execution::Execution;
use super::limits::{Limits, TooLarge};
use super::model::{Communication, Model, Part};
use super::program::Program;
use super::relation::{Relation, Set};
use super::trace::{End, Kind, Trace, traces};

/// What the model says about a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether its condition holds: `exists` of some end, `~exists` of none, `forall` of each.
    pub holds: bool,
    /// Whether loops were cut and a longer run of them might say otherwise.
    pub bounded: bool,
    /// How many candidate executions were looked at.
    pub candidates: u64,
}

/// What the observed terms hold at an end.
pub type Outcome = Vec<i64>;

/// Says whether a test's condition holds.
pub fn judge(program: &Program, model: &Model, limits: &Limits) -> Result<Judgement, TooLarge> {
    let condition = &program.condition;
    let wanted = match condition.quantifier {
        Quantifier::Exists | Quantifier::NotExists => condition.test.clone(),
        Quantifier::Forall => Test::Not(Box::new(condition.test.clone())),
    };
    let mut search = Search::new(program, model, limits)?;
    let mut found = false;
    let walked = search.walked(End::is_finished);
    search.combine(&walked, &mut Vec::new(), &mut |search, chosen| {
        if search.decide(&wanted, chosen, None) == Some(false) {
            return Ok(true);
        }
        let asked = wanted.terms();
        if chosen.len() == program.threads.len() {
            search.allowed(chosen, &asked, &mut |search, finals, _| {
                found |= search.reaches(&wanted, chosen, finals);
                !found
            })?;
        }
        Ok(found)
    })?;
    let holds = (condition.quantifier == Quantifier::Exists) == found;
    Ok(Judgement { holds, bounded: search.cut && !found, candidates: search.candidates })
}

/// All ends that the model allows, seen through these terms.
pub fn outcomes(
    program: &Program,
    model: &Model,
    observed: &[Term],
    limits: &Limits,
) -> Result<BTreeSet<Outcome>, TooLarge> {
    let mut search = Search::new(program, model, limits)?;
    let mut all = BTreeSet::new();
    let walked = search.walked(End::is_finished);
    search.combine(&walked, &mut Vec::new(), &mut |search, chosen| {
        if chosen.len() < program.threads.len() {
            return Ok(false);
        }
        search.allowed(chosen, observed, &mut |search, finals, _| {
            let possible = |term: &Term| match *term {
                Term::Memory(at) => finals[at].iter().copied().collect(),
                term => Vec::from_iter(search.value(term, chosen)),
            };
            all.extend(products(&observed.iter().map(possible).collect::<Vec<_>>()));
            true
        })?;
        Ok(false)
    })?;
    Ok(all)
}

/// How many candidate executions the model allows that end, one for each choice of loads' writes and of the orders of
/// fences and barriers.
pub fn executions(program: &Program, model: &Model, limits: &Limits) -> Result<u64, TooLarge> {
    let mut search = Search::new(program, model, limits)?;
    let mut allowed = 0;
    let walked = search.walked(End::is_finished);
    search.combine(&walked, &mut Vec::new(), &mut |search, chosen| {
        if chosen.len() == program.threads.len() {
            search.allowed(chosen, &[], &mut |_, _, _| {
                allowed += 1;
                true
            })?;
        }
        Ok(false)
    })?;
    Ok(allowed)
}

/// Whether the model lets no thread wait for ever, if each thread goes on and each write comes to be seen: a thread that
/// spins reads the last write of each location.
pub fn terminates(program: &Program, model: &Model, limits: &Limits) -> Result<Judgement, TooLarge> {
    let mut search = Search::new(program, model, limits)?;
    let mut found = false;
    let walked = search.walked(|end| end != End::Cut);
    search.combine(&walked, &mut Vec::new(), &mut |search, chosen| {
        if chosen.len() == program.threads.len() {
            found |= search.waits_for_ever(chosen)?;
        }
        Ok(found)
    })?;
    Ok(Judgement { holds: !found, bounded: search.cut && !found, candidates: search.candidates })
}

impl End {
    pub(super) fn is_finished(self) -> bool {
        self == End::Finished
    }
}

pub(super) struct Search<'s> {
    program: &'s Program,
    model: &'s Model,
    limits: &'s Limits,
    traces: Vec<Vec<Trace>>,
    cut: bool,
    candidates: u64,
}

/// What happens to a choice of ways through the first threads; whether to leave it and those that begin with it.
pub(super) type Visit<'v> = dyn FnMut(&mut Search<'_>, &[&Trace]) -> Result<bool, TooLarge> + 'v;

/// What happens to an execution that the model allows; whether to go on.
pub(super) type Allowed<'v> = dyn FnMut(&Search<'_>, &Finals, Candidate<'_>) -> bool + 'v;

/// An execution, but for its coherence order.
pub(super) struct Candidate<'c> {
    pub(super) communication: &'c Communication<'c>,
    pub(super) fence_sc: &'c Relation,
    pub(super) barriers: &'c Relation,
}

impl<'s> Search<'s> {
    pub(super) fn new(program: &'s Program, model: &'s Model, limits: &'s Limits) -> Result<Self, TooLarge> {
        let traces = traces(program, limits, !model.has(Part::NoThinAir))?;
        let cut = traces.iter().flatten().any(|trace| trace.end == End::Cut);
        Ok(Search { program, model, limits, traces, cut, candidates: 0 })
    }

    pub(super) fn walked(&self, ends: impl Fn(End) -> bool) -> Vec<Vec<Trace>> {
        self.traces.iter().map(|of_one| of_one.iter().filter(|trace| ends(trace.end)).cloned().collect()).collect()
    }

    /// Every choice of a way through each thread, and the shorter ones before it.
    pub(super) fn combine<'t>(
        &mut self,
        walked: &'t [Vec<Trace>],
        chosen: &mut Vec<&'t Trace>,
        visit: &mut Visit<'_>,
    ) -> Result<bool, TooLarge> {
        if visit(self, chosen)? {
            return Ok(chosen.is_empty());
        }
        let Some(of_next) = walked.get(chosen.len()) else { return Ok(false) };
        for trace in of_next {
            chosen.push(trace);
            self.combine(walked, chosen, visit)?;
            chosen.pop();
        }
        Ok(false)
    }

    fn value(&self, term: Term, chosen: &[&Trace]) -> Option<i64> {
        match term {
            Term::Constant(value) => Some(value),
            Term::Register(thread, register) => {
                chosen.get(thread).map(|trace| trace.registers.get(&register).copied().unwrap_or_default())
            }
            Term::Memory(_) => None,
        }
    }

    /// Whether that holds of ways through some of the threads, if that is known already.
    fn decide(&self, test: &Test, chosen: &[&Trace], finals: Option<&BTreeMap<usize, i64>>) -> Option<bool> {
        test.holds(&|term| match (term, finals) {
            (Term::Memory(at), Some(finals)) => finals.get(&at).copied(),
            _ => self.value(term, chosen),
        })
    }

    /// Whether that holds of some final values.
    fn reaches(&self, test: &Test, chosen: &[&Trace], finals: &Finals) -> bool {
        let mut asked: Vec<usize> =
            test.terms().iter().filter_map(|term| if let Term::Memory(at) = term { Some(*at) } else { None }).collect();
        asked.sort_unstable();
        asked.dedup();
        let possible: Vec<Vec<i64>> = asked.iter().map(|&at| finals[at].iter().copied().collect()).collect();
        products(&possible).iter().any(|values| {
            let values = asked.iter().copied().zip(values.iter().copied()).collect();
            self.decide(test, chosen, Some(&values)) == Some(true)
        })
    }

    /// The executions of these ways that the model allows.
    pub(super) fn allowed(
        &mut self,
        chosen: &[&Trace],
        asked: &[Term],
        visit: &mut Allowed<'_>,
    ) -> Result<(), TooLarge> {
        let events = self.program.initial.len() + chosen.iter().map(|trace| trace.events.len()).sum::<usize>();
        if events > super::relation::EVENTS {
            return Err(TooLarge::Events(super::relation::EVENTS));
        }
        if !each_load_has_a_write(self.program, chosen) {
            return Ok(());
        }
        let execution = Execution::new(self.program, chosen);
        let barriers = barrier_orders(&execution);
        let model = self.model;
        let patterns = model.patterns(&execution);
        let sources = sources(model, &patterns);
        let fences = fence_sc_orders(&patterns);
        let last = spun(self.program, chosen);
        let memory =
            asked.iter().filter_map(|term| if let Term::Memory(at) = term { Some(*at) } else { None }).collect();
        let asked = Asked { memory, last };
        let mut going = true;
        reads_from(&sources, &Relation::empty(execution.count()), &mut |rf| {
            self.candidates += 1;
            if self.candidates > self.limits.candidates {
                return Err(TooLarge::Candidates(self.limits.candidates));
            }
            if !model.no_thin_air(&execution, rf) {
                return Ok(going);
            }
            let communication = model.communication(&patterns, rf.clone());
            for (barriers, fences) in
                barriers.iter().flat_map(|barriers| fences.iter().map(move |fences| (barriers, fences)))
            {
                let finals = consistent(model, &communication, fences, barriers, &asked);
                let candidate = Candidate { communication: &communication, fence_sc: fences, barriers };
                going = going && finals.is_none_or(|finals| visit(self, &finals, candidate));
            }
            Ok(going)
        })
        .map(drop)
    }

    /// Whether these ways are an end at which a thread spins, or waits at a barrier.
    fn waits_for_ever(&mut self, chosen: &[&Trace]) -> Result<bool, TooLarge> {
        let stuck: Vec<Trace> = chosen.iter().map(|trace| (*trace).clone()).collect();
        let stuck = at_barriers(self.program, stuck);
        let waits = stuck
            .iter()
            .zip(chosen)
            .any(|(stuck, whole)| stuck.events.len() < whole.events.len() || stuck.end != End::Finished);
        let mut found = false;
        if waits {
            let stuck: Vec<&Trace> = stuck.iter().collect();
            self.allowed(&stuck, &[], &mut |_, _, _| {
                found = true;
                false
            })?;
        }
        Ok(found)
    }
}

/// Every choice of one of each.
fn products(possible: &[Vec<i64>]) -> Vec<Vec<i64>> {
    possible.iter().fold(vec![Vec::new()], |products, values| {
        let longer = |product: &Vec<i64>| {
            values.iter().map(|value| [product.as_slice(), &[*value]].concat()).collect::<Vec<_>>()
        };
        products.iter().flat_map(longer).collect()
    })
}

/// Whether each load's value is written somewhere: most choices end here.
fn each_load_has_a_write(program: &Program, chosen: &[&Trace]) -> bool {
    let at = |address: usize| program.addresses[address].physical;
    let events = || chosen.iter().flat_map(|trace| &trace.events);
    let mut written: Vec<(usize, i64)> = program.initial.iter().copied().enumerate().collect();
    written.extend(events().filter_map(|event| match event.kind {
        Kind::Write { address, value } => Some((at(address), value)),
        _ => None,
    }));
    events().all(|event| match event.kind {
        Kind::Read { address, value } => written.contains(&(at(address), value)),
        _ => true,
    })
}

/// The loads of threads that spin, in their last turn.
fn spun(program: &Program, chosen: &[&Trace]) -> Set {
    let mut first = program.initial.len();
    let mut spun = 0;
    for trace in chosen {
        if let End::Spins(from) = trace.end {
            (from..trace.events.len())
                .filter(|&at| matches!(trace.events[at].kind, Kind::Read { .. }))
                .for_each(|at| spun |= 1 << (first + at));
        }
        first += trace.events.len();
    }
    spun
}
