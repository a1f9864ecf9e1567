//! The coherence orders of a candidate, location by location, and the values that they leave in memory.

use std::collections::BTreeSet;

use super::model::{Communication, Model, Part};
use super::relation::{Relation, Set, members};

/// Of each location the values that it may hold at the end.
pub(super) type Finals = Vec<BTreeSet<i64>>;

/// What is asked of coherence order.
pub(super) struct Asked {
    /// The locations whose last values matter.
    pub(super) memory: BTreeSet<usize>,
    /// The loads that return the last value.
    pub(super) last: Set,
}

/// What each location may hold at the end of this candidate, if the model allows it.
///
/// Each axiom that names coherence order is about one location at a time, so that locations are looked at one by one.
pub(super) fn consistent(
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
