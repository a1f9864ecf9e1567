//! A candidate execution: the events of one way through each thread, and what relates them before the model is asked.

use super::program::{Placement, Program, Proxy, Scope, Semantics};
use super::relation::{Relation, Set};
use super::trace::{Event, Kind, Trace};

/// Events and the relations that the program itself gives.
pub(super) struct Execution {
    pub(super) events: Vec<Event>,
    pub(super) reads: Set,
    pub(super) writes: Set,
    /// Program order.
    pub(super) po: Relation,
    /// From an event to what depends on it: address, data and control dependencies.
    pub(super) dep: Relation,
    /// From an atomic's read to its write.
    pub(super) rmw: Relation,
    /// The same physical location.
    pub(super) loc: Relation,
    /// The same virtual address.
    pub(super) vloc: Relation,
    /// The same proxy.
    pub(super) same_proxy: Relation,
    /// The same block.
    pub(super) same_cta: Relation,
    /// Each names a scope that has the other's thread.
    pub(super) scopes_include: Relation,
    physical: Vec<Option<usize>>,
}

impl Execution {
    /// The execution of these ways: first an initial write of each location, then the threads' events.
    pub(super) fn new(program: &Program, traces: &[&Trace]) -> Execution {
        let initial =
            program.initial.iter().enumerate().map(|(physical, &value)| initial_write(program, physical, value));
        let mut events: Vec<Event> = initial.collect();
        let mut firsts = Vec::new();
        for trace in traces {
            firsts.push(events.len());
            events.extend(trace.events.iter().cloned());
        }
        let count = events.len();
        let place = |event: usize| events[event].thread.map(|thread| program.threads[thread].placement);
        let set =
            |is: &dyn Fn(&Event) -> bool| (0..count).filter(|&event| is(&events[event])).map(|event| 1 << event).sum();
        let of_address = |event: usize| events[event].address().map(|address| &program.addresses[address]);
        let both = |a, b, same: &dyn Fn(usize, usize) -> bool| match (of_address(a), of_address(b)) {
            (Some(_), Some(_)) => same(a, b),
            _ => false,
        };
        let physical = |event| of_address(event).map(|address| address.physical);
        let virtual_address = |event| of_address(event).map(|address| address.virtual_address);
        let in_order = |a: usize, b: usize| events[a].thread.is_some() && events[a].thread == events[b].thread && a < b;
        let first_of = |event: usize| events[event].thread.map(|thread| firsts[thread]);
        let depends = |a: usize, b: usize| {
            in_order(a, b) && first_of(b).is_some_and(|first| events[b].depends >> (a - first) & 1 == 1)
        };
        let is_rmw = |a: usize, b: usize| {
            in_order(a, b) && events[b].read.is_some() && events[b].read == first_of(b).map(|first| a - first)
        };
        let includes = |a: usize, b: usize| match (place(a), place(b)) {
            (Some(of), Some(other)) => includes(events[a].scope, of, other),
            _ => false,
        };
        Execution {
            reads: set(&|event| matches!(event.kind, Kind::Read { .. })),
            writes: set(&|event| matches!(event.kind, Kind::Write { .. })),
            po: Relation::of(count, in_order),
            dep: Relation::of(count, depends),
            rmw: Relation::of(count, is_rmw),
            loc: Relation::of(count, |a, b| both(a, b, &|a, b| physical(a) == physical(b))),
            vloc: Relation::of(count, |a, b| both(a, b, &|a, b| virtual_address(a) == virtual_address(b))),
            same_proxy: Relation::of(count, |a, b| events[a].proxy == events[b].proxy),
            same_cta: Relation::of(count, |a, b| {
                place(a).zip(place(b)).is_some_and(|(a, b)| (a.cta, a.gpu) == (b.cta, b.gpu))
            }),
            scopes_include: Relation::of(count, |a, b| includes(a, b) && includes(b, a)),
            physical: (0..count).map(physical).collect(),
            events,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    /// The events for which that holds.
    pub(super) fn set(&self, is: impl Fn(&Event) -> bool) -> Set {
        (0..self.count()).filter(|&event| is(&self.events[event])).map(|event| 1 << event).sum()
    }

    /// The physical location that an event reads or writes.
    pub(super) fn physical(&self, event: usize) -> Option<usize> {
        self.physical[event]
    }

    /// The value that it reads or writes.
    pub(super) fn value(&self, event: usize) -> Option<i64> {
        match self.events[event].kind {
            Kind::Read { value, .. } | Kind::Write { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl Event {
    pub(super) fn address(&self) -> Option<usize> {
        match self.kind {
            Kind::Read { address, .. } | Kind::Write { address, .. } => Some(address),
            _ => None,
        }
    }
}

fn initial_write(program: &Program, physical: usize, value: i64) -> Event {
    let address = program.addresses.iter().position(|address| address.physical == physical);
    Event {
        thread: None,
        kind: Kind::Write { address: address.expect("a location has a name"), value },
        semantics: Semantics::Weak,
        scope: Scope::Sys,
        proxy: Proxy::Generic,
        depends: 0,
        read: None,
        at: 0,
    }
}

/// Whether a thread's scope has another's thread.
fn includes(scope: Scope, of: Placement, other: Placement) -> bool {
    let same_gpu = of.gpu == other.gpu;
    let same_cta = same_gpu && of.cta == other.cta;
    match scope {
        Scope::Cta => same_cta,
        Scope::Cluster => same_cta || same_gpu && of.cluster.is_some() && of.cluster == other.cluster,
        Scope::Gpu => same_gpu,
        Scope::Sys => true,
    }
}
