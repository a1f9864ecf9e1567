//! Barriers: who meets at one, what that may order, and who waits for ever.

use super::choices::permutations;
use super::execution::Execution;
use super::program::Program;
use super::relation::Relation;
use super::trace::{Arrival, Kind, Trace};

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
pub(super) fn barrier_orders(on: &Execution) -> Vec<Relation> {
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
pub(super) fn at_barriers(program: &Program, mut traces: Vec<Trace>) -> Vec<Trace> {
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
