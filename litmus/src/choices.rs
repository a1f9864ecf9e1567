//! What the machine may choose before coherence: the write of each load, and the order of fences.

use super::limits::TooLarge;
use super::model::{Model, Patterns};
use super::program::Semantics;
use super::relation::{Relation, Set, members};
use super::trace::Kind;

/// A load, and the writes that it may return, each with the loads that may not return it as well.
pub(super) struct Source {
    read: usize,
    writes: Vec<(usize, Set)>,
}

/// For each load the writes that it may return. The whole model forbids a load a later write of its own thread, and an
/// atomic the write that another one returned, if all of these are morally strong: a later write through another proxy or
/// to an alias is not.
pub(super) fn sources(model: &Model, on: &Patterns<'_>) -> Vec<Source> {
    let execution = on.execution;
    let write_of = |read: usize| members(execution.rmw.after(read)).next();
    let strong = |a, b| on.morally_strong.has(a, b);
    let of = |read: usize| {
        let fits = |&write: &usize| {
            let later = model.is_whole() && execution.po.has(read, write) && strong(read, write);
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
pub(super) fn reads_from(
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
pub(super) fn fence_sc_orders(on: &Patterns<'_>) -> Vec<Relation> {
    let fences: Vec<usize> =
        members(on.execution.set(|event| event.kind == Kind::Fence && event.semantics == Semantics::Sc)).collect();
    let mut orders = Vec::new();
    for order in permutations(&fences) {
        let relation = in_this_order(on, &order);
        if !orders.contains(&relation) {
            orders.push(relation);
        }
    }
    orders
}

/// The Fence-SC order in which the `fence.sc` come in that order.
pub(super) fn in_this_order(on: &Patterns<'_>, order: &[usize]) -> Relation {
    let place = |fence: usize| order.iter().position(|&at| at == fence);
    Relation::of(on.execution.count(), |a, b| {
        place(a).zip(place(b)).is_some_and(|(first, second)| first < second) && on.morally_strong.has(a, b)
    })
}

pub(super) fn permutations<T: Copy>(of: &[T]) -> Vec<Vec<T>> {
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
