//! Asking the model: every candidate execution of a test, and what those that it allows leave.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::{Quantifier, Term, Test};
use super::execution::Execution;
use super::limits::{Limits, TooLarge};
use super::model::{Communication, Model, Part, Patterns};
use super::program::{Program, Semantics};
use super::relation::{Relation, Set, members};
use super::trace::{Arrival, End, Kind, Trace, traces};

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
            search.allowed(chosen, &asked, &mut |search, finals| {
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
        search.allowed(chosen, observed, &mut |search, finals| {
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
            search.allowed(chosen, &[], &mut |_, _| {
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
    fn is_finished(self) -> bool {
        self == End::Finished
    }
}

/// Of each location the values that it may hold at the end.
type Finals = Vec<BTreeSet<i64>>;

struct Search<'s> {
    program: &'s Program,
    model: &'s Model,
    limits: &'s Limits,
    traces: Vec<Vec<Trace>>,
    cut: bool,
    candidates: u64,
}

/// What happens to a choice of ways through the first threads; whether to leave it and those that begin with it.
type Visit<'v> = dyn FnMut(&mut Search<'_>, &[&Trace]) -> Result<bool, TooLarge> + 'v;

/// What happens to an execution that the model allows; whether to go on.
type Allowed<'v> = dyn FnMut(&Search<'_>, &Finals) -> bool + 'v;

impl<'s> Search<'s> {
    fn new(program: &'s Program, model: &'s Model, limits: &'s Limits) -> Result<Self, TooLarge> {
        let traces = traces(program, limits, !model.has(Part::NoThinAir))?;
        let cut = traces.iter().flatten().any(|trace| trace.end == End::Cut);
        Ok(Search { program, model, limits, traces, cut, candidates: 0 })
    }

    fn walked(&self, ends: impl Fn(End) -> bool) -> Vec<Vec<Trace>> {
        self.traces.iter().map(|of_one| of_one.iter().filter(|trace| ends(trace.end)).cloned().collect()).collect()
    }

    /// Every choice of a way through each thread, and the shorter ones before it.
    fn combine<'t>(
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
    fn allowed(&mut self, chosen: &[&Trace], asked: &[Term], visit: &mut Allowed<'_>) -> Result<(), TooLarge> {
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
                going = going && finals.is_none_or(|finals| visit(self, &finals));
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
            self.allowed(&stuck, &[], &mut |_, _| {
                found = true;
                false
            })?;
        }
        Ok(found)
    }
}

/// What is asked of coherence order.
struct Asked {
    /// The locations whose last values matter.
    memory: BTreeSet<usize>,
    /// The loads that return the last value.
    last: Set,
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

/// A load, and the writes that it may return, each with the loads that may not return it as well.
struct Source {
    read: usize,
    writes: Vec<(usize, Set)>,
}

/// For each load the writes that it may return. The whole model forbids it a later write of its own thread, and the write
/// that another atomic returned, if all of these are morally strong.
fn sources(model: &Model, on: &Patterns<'_>) -> Vec<Source> {
    let execution = on.execution;
    let write_of = |read: usize| members(execution.rmw.after(read)).next();
    let strong = |a, b| on.morally_strong.has(a, b);
    let of = |read: usize| {
        let fits = |&write: &usize| {
            let later = model.is_whole() && execution.po.has(read, write);
            execution.loc.has(write, read) && execution.value(write) == execution.value(read) && !later
        };
        let before = |write: usize, atomic: usize, its: usize| {
            execution.events[write].thread.is_none() || strong(write, atomic) && strong(write, its)
        };
        let is_rival = |write: usize, other: usize| {
            let writes = write_of(read).zip(write_of(other)).filter(|_| other != read && model.is_whole());
            writes.is_some_and(|(own, others)| {
                let each_other = strong(own, others) && strong(read, others) && strong(other, own);
                each_other && before(write, read, own) && before(write, other, others)
            })
        };
        let rivals =
            |write| members(execution.reads).filter(|&other| is_rival(write, other)).map(|other| 1 << other).sum();
        Source { read, writes: members(execution.writes).filter(fits).map(|write| (write, rivals(write))).collect() }
    };
    members(execution.reads).map(of).collect()
}

/// Every choice of a write for each load, until one says to stop; whether none did.
fn reads_from(
    sources: &[Source],
    rf: &Relation,
    visit: &mut dyn FnMut(&Relation) -> Result<bool, TooLarge>,
) -> Result<bool, TooLarge> {
    let Some((source, rest)) = sources.split_first() else { return visit(rf) };
    for &(write, rivals) in &source.writes {
        if rf.after(write) & rivals != 0 {
            continue;
        }
        let mut rf = rf.clone();
        rf.insert(write, source.read);
        if !reads_from(rest, &rf, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every Fence-SC order: an acyclic order that relates each two morally strong `fence.sc`.
fn fence_sc_orders(on: &Patterns<'_>) -> Vec<Relation> {
    let fences: Vec<usize> =
        members(on.execution.set(|event| event.kind == Kind::Fence && event.semantics == Semantics::Sc)).collect();
    let mut orders = Vec::new();
    for order in permutations(&fences) {
        let before = |a: usize, b: usize| order.iter().position(|&at| at == a) < order.iter().position(|&at| at == b);
        let is_fence = |event: usize| fences.contains(&event);
        let relation = Relation::of(on.execution.count(), |a, b| {
            is_fence(a) && is_fence(b) && on.morally_strong.has(a, b) && before(a, b)
        });
        if !orders.contains(&relation) {
            orders.push(relation);
        }
    }
    orders
}

fn permutations<T: Copy>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = of.to_vec();
        let first = rest.remove(at);
        permutations(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..of.len()).flat_map(first).collect()
}

/// The arrivals at one barrier: in one block, of one instance and resource, at the same turn.
fn meetings(on: &Execution) -> Vec<Vec<(usize, Arrival)>> {
    let mut meetings: Vec<Vec<(usize, Arrival)>> = Vec::new();
    for event in 0..on.count() {
        let Kind::Barrier(arrival) = on.events[event].kind else { continue };
        let same = |(other, with): &(usize, Arrival)| {
            (with.instance, with.resource, with.turn) == (arrival.instance, arrival.resource, arrival.turn)
                && on.same_cta.has(*other, event)
        };
        match meetings.iter_mut().find(|meeting| same(&meeting[0])) {
            Some(meeting) => meeting.push((event, arrival)),
            None => meetings.push(vec![(event, arrival)]),
        }
    }
    meetings
}

/// How many open a barrier, if the test says so.
fn quorum(meeting: &[(usize, Arrival)]) -> Option<usize> {
    meeting.iter().filter_map(|(_, arrival)| arrival.quorum).max().map(|quorum| quorum.max(0) as usize)
}

/// What barriers may order: those who wait come after all who were there before. A barrier with a quorum opens when so many
/// are there, and stays open. None if one never opens.
fn barrier_orders(on: &Execution) -> Vec<Relation> {
    let mut orders = vec![Relation::empty(on.count())];
    for meeting in meetings(on) {
        let needed = quorum(&meeting).unwrap_or(meeting.len());
        if needed > meeting.len() && meeting.iter().any(|(_, arrival)| arrival.waits) {
            return Vec::new();
        }
        let mut of_this: Vec<Relation> = Vec::new();
        let arrivals = if needed == meeting.len() { vec![meeting.clone()] } else { permutations(&meeting) };
        for arrivals in arrivals {
            let mut relation = Relation::empty(on.count());
            for (at, (event, arrival)) in arrivals.iter().enumerate().filter(|(_, (_, arrival))| arrival.waits) {
                let there =
                    arrivals[..needed.max(at + 1).min(arrivals.len())].iter().filter(|(other, _)| other != event);
                there.for_each(|(other, _)| relation.insert(*other, *event));
                debug_assert!(arrival.waits);
            }
            if !of_this.contains(&relation) {
                of_this.push(relation);
            }
        }
        orders = orders.iter().flat_map(|order| of_this.iter().map(|more| order.clone().or(more))).collect();
    }
    orders
}

/// The ways as far as they come: threads that wait at a barrier that never opens stop there.
fn at_barriers(program: &Program, mut traces: Vec<Trace>) -> Vec<Trace> {
    loop {
        let execution = Execution::new(program, &traces.iter().collect::<Vec<_>>());
        let closed = |meeting: &Vec<(usize, Arrival)>| quorum(meeting).is_some_and(|needed| needed > meeting.len());
        let mut waits = meetings(&execution).into_iter().filter(closed).flatten().filter(|(_, arrival)| arrival.waits);
        let stop = waits.find_map(|(event, _)| {
            let thread = execution.events[event].thread?;
            let first = execution.events.iter().position(|event| event.thread == Some(thread))?;
            Some((thread, event - first))
        });
        let Some((thread, at)) = stop else { return traces };
        traces[thread].events.truncate(at);
    }
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

/// What each location may hold at the end of this candidate, if the model allows it.
///
/// Each axiom that names coherence order is about one location at a time, so that locations are looked at one by one.
fn consistent(
    model: &Model,
    on: &Communication<'_>,
    fence_sc: &Relation,
    barriers: &Relation,
    asked: &Asked,
) -> Option<Finals> {
    let base = model.base_causality(on, fence_sc, barriers);
    if !model.fence_sc(fence_sc, &base) {
        return None;
    }
    let causality = model.causality(on, &base);
    let locations =
        members(on.execution.writes).filter_map(|write| on.execution.physical(write)).max().map_or(0, |last| last + 1);
    (0..locations).map(|location| finals(model, on, &causality, location, asked)).collect()
}

/// What a location may hold at the end. Nothing more has to be known if nobody asks for it.
fn finals(
    model: &Model,
    on: &Communication<'_>,
    causality: &Relation,
    location: usize,
    asked: &Asked,
) -> Option<BTreeSet<i64>> {
    let execution = on.execution;
    let here: Set = (0..execution.count())
        .filter(|&event| execution.physical(event) == Some(location))
        .map(|event| 1 << event)
        .sum();
    let writes = here & execution.writes;
    let initial = writes & execution.set(|event| event.thread.is_none());
    let first = Relation::of(execution.count(), |a, b| initial >> a & 1 == 1 && (writes & !initial) >> b & 1 == 1);
    let co = if model.has(Part::Coherence) { first.or(&causality.clone().between(writes, writes)) } else { first };
    let mut finals = BTreeSet::new();
    let mut asks = |co: &Relation| {
        let fr = on.rf.inverse().then(co).between(here, writes);
        let last = |write: usize| co.after(write) == 0;
        let allowed = model.coherence(execution, &causality.clone().between(writes, writes), co)
            && model.atomicity(on, co, &fr)
            && model.sc_per_location(on, co, &fr, here)
            && model.causality_holds(on, causality, &fr, here)
            && members(here & asked.last)
                .all(|read| members(writes).any(|write| on.rf.has(write, read) && last(write)));
        if allowed {
            finals.extend(members(writes).filter(|&write| last(write)).filter_map(|write| execution.value(write)));
        }
        // One is enough where nobody asks for the last value.
        allowed && !asked.memory.contains(&location)
    };
    coherence_orders(model, on, co, writes, &mut asks);
    (!finals.is_empty()).then_some(finals)
}

/// Every coherence order of one location that has these pairs: a partial order that relates each two morally strong writes.
/// More pairs than it needs only forbid more.
fn coherence_orders(
    model: &Model,
    on: &Communication<'_>,
    co: Relation,
    writes: Set,
    visit: &mut dyn FnMut(&Relation) -> bool,
) -> bool {
    let co = co.closure();
    if !co.is_irreflexive() {
        return false;
    }
    let open = |&(a, b): &(usize, usize)| on.is_morally_strong(a, b) && !co.has(a, b) && !co.has(b, a);
    let pairs = members(writes).flat_map(|a| members(writes).filter(move |b| a < *b).map(move |b| (a, b)));
    let undecided = if model.has(Part::MorallyStrongCoherence) { pairs.into_iter().find(open) } else { None };
    let Some((a, b)) = undecided else { return visit(&co) };
    [(a, b), (b, a)].into_iter().any(|(first, second)| {
        let mut more = co.clone();
        more.insert(first, second);
        coherence_orders(model, on, more, writes, visit)
    })
}
