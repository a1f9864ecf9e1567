//! Data races: two accesses of one location, of which one writes, that are not morally strong, and that causality order
//! does not relate.

use std::collections::BTreeSet;

use crate::barriers::barrier_orders;
use crate::choices::{fence_sc_orders, in_this_order};
use crate::coherence::{Asked, consistent};
use crate::execution::Execution;
use crate::judge::{Candidate, Search};
use crate::limits::{Limits, TooLarge};
use crate::model::{Communication, Model};
use crate::program::{Program, Semantics};
use crate::relation::Relation;
use crate::steps::Steps;
use crate::trace::{End, Kind, Trace};
use crate::value::Register;

/// An instruction of a thread, by their positions.
pub type Place = (usize, usize);

/// Two instructions that race, the one of the first thread first.
pub type Race = (Place, Place);

/// What comes of threads that go on one after the other.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What races in this execution.
    pub races: BTreeSet<Race>,
    /// What races besides, if each load returns the same and the `fence.sc` have another order that the model allows.
    pub other_fences: BTreeSet<Race>,
    /// What each location holds.
    pub memory: Vec<i64>,
    registers: Vec<std::collections::BTreeMap<Register, i64>>,
}

impl Ended {
    /// What a thread's register holds.
    pub fn register(&self, thread: usize, register: Register) -> i64 {
        self.registers[thread].get(&register).copied().unwrap_or_default()
    }
}

/// What races in the executions that the model allows.
pub fn races(program: &Program, model: &Model, limits: &Limits) -> Result<BTreeSet<Race>, TooLarge> {
    let mut search = Search::new(program, model, limits)?;
    let mut all = BTreeSet::new();
    let walked = search.walked(End::is_finished);
    search.combine(&walked, &mut Vec::new(), &mut |search, chosen| {
        if chosen.len() == program.threads.len() {
            search.allowed(chosen, &[], &mut |_, _, Candidate { communication, fence_sc, barriers }| {
                all.extend(of_execution(model, communication, fence_sc, barriers));
                true
            })?;
        }
        Ok(false)
    })?;
    Ok(all)
}

/// The execution in which the threads have their turns in that order, each load returns the newest value, and what races
/// in it. In a turn a thread goes through one access, barrier or `fence.sc`.
///
/// # Panics
/// A thread has no more turns.
pub fn in_order(program: &Program, model: &Model, order: &[usize]) -> Ended {
    let mut steps: Vec<Steps<'_>> = (0..program.threads.len()).map(|thread| Steps::new(program, thread)).collect();
    let mut memory = program.initial.clone();
    // By thread and position in it, what was written last where, and what each read returned.
    let mut last: Vec<Option<Place>> = vec![None; memory.len()];
    let (mut returned, mut fences) = (Vec::new(), Vec::new());
    for thread in order {
        for event in steps[*thread].turn(&mut memory) {
            let place = (*thread, event);
            let event = &steps[*thread].events()[event];
            let at = event.address().map(|address| program.addresses[address].physical);
            match (event.kind, at) {
                (Kind::Read { .. }, Some(at)) => returned.push((last[at], at, place)),
                (Kind::Write { .. }, Some(at)) => last[at] = Some(place),
                (Kind::Fence, _) if event.semantics == Semantics::Sc => fences.push(place),
                _ => {}
            }
        }
    }
    let traces: Vec<Trace> = steps.into_iter().map(Steps::end).collect();
    let chosen: Vec<&Trace> = traces.iter().collect();
    let execution = Execution::new(program, &chosen);
    let first =
        |thread: usize| program.initial.len() + traces[..thread].iter().map(|trace| trace.events.len()).sum::<usize>();
    let number = |(thread, event): Place| first(thread) + event;
    let mut rf = Relation::empty(execution.count());
    for (write, at, read) in returned {
        rf.insert(write.map_or(at, number), number(read));
    }
    let patterns = model.patterns(&execution);
    let fences: Vec<usize> = fences.into_iter().map(number).collect();
    let fence_sc = in_this_order(&patterns, &fences);
    let communication = model.communication(&patterns, rf);
    let barriers = barrier_orders(&execution).into_iter().next().unwrap_or_else(|| Relation::empty(execution.count()));
    let races = of_execution(model, &communication, &fence_sc, &barriers);
    let nothing = Asked { memory: BTreeSet::new(), last: 0 };
    let is_allowed = |other: &Relation| consistent(model, &communication, other, &barriers, &nothing).is_some();
    let others = fence_sc_orders(&patterns).into_iter().filter(|other| *other != fence_sc && is_allowed(other));
    let other_fences = others.flat_map(|other| of_execution(model, &communication, &other, &barriers));
    let other_fences = other_fences.filter(|race| !races.contains(race)).collect();
    Ended { races, other_fences, memory, registers: traces.into_iter().map(|trace| trace.registers).collect() }
}

/// The accesses: an atomic is one, with its read and its write.
fn of_execution(model: &Model, on: &Communication<'_>, fence_sc: &Relation, barriers: &Relation) -> BTreeSet<Race> {
    let execution = on.execution;
    let causality = model.causality(on, &model.base_causality(on, fence_sc, barriers));
    let is_access = |event: usize| (execution.reads | execution.writes) >> event & 1 == 1;
    let its_write = |event: usize| (0..execution.count()).find(|write| execution.rmw.has(event, *write));
    let is_second = |event: usize| (0..event).any(|read| execution.rmw.has(read, event));
    let accesses: Vec<(usize, usize)> = (0..execution.count())
        .filter(|event| is_access(*event) && execution.events[*event].thread.is_some() && !is_second(*event))
        .map(|event| (event, its_write(event).unwrap_or(event)))
        .collect();
    let ordered = |a: (usize, usize), b: (usize, usize)| causality.has(a.0, b.0) || causality.has(a.1, b.0);
    let writes = |access: (usize, usize)| execution.writes >> access.1 & 1 == 1;
    let mut races = BTreeSet::new();
    for (number, &a) in accesses.iter().enumerate() {
        for &b in &accesses[number + 1..] {
            let same_thread = execution.events[a.0].thread == execution.events[b.0].thread;
            if same_thread
                || !execution.loc.has(a.0, b.0)
                || !writes(a) && !writes(b)
                || on.is_morally_strong(a.0, b.0)
                || ordered(a, b)
                || ordered(b, a)
            {
                continue;
            }
            let place = |event: usize| {
                let event = &execution.events[event];
                (event.thread.unwrap_or_default(), event.at)
            };
            races.insert((place(a.0), place(b.0)));
        }
    }
    races
}
