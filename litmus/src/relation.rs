//! Relations between the events of an execution.

/// The most events of an execution.
pub(super) const EVENTS: usize = 64;

/// Some of the events, a bit for each.
pub(super) type Set = u64;

/// A relation: for each event, the set of those that it is related to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation(Vec<Set>);

impl Relation {
    /// Relates none of so many events.
    pub(super) fn empty(events: usize) -> Relation {
        Relation(vec![0; events])
    }

    /// Relates the pairs for which that holds.
    pub(super) fn of(events: usize, related: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |from| (0..events).filter(|&to| related(from, to)).map(|to| 1 << to).sum();
        Relation((0..events).map(row).collect())
    }

    /// `[set]`: relates each event of the set to itself.
    pub(super) fn identity(events: usize, set: Set) -> Relation {
        Relation((0..events).map(|event| set & 1 << event).collect())
    }

    pub(super) fn insert(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    /// What an event is related to.
    pub(super) fn after(&self, from: usize) -> Set {
        self.0[from]
    }

    /// `self | other`
    pub(super) fn or(mut self, other: &Relation) -> Relation {
        self.0.iter_mut().zip(&other.0).for_each(|(row, other)| *row |= other);
        self
    }

    /// `self & other`
    pub(super) fn and(mut self, other: &Relation) -> Relation {
        self.0.iter_mut().zip(&other.0).for_each(|(row, other)| *row &= other);
        self
    }

    /// `self ; other`
    pub(super) fn then(&self, other: &Relation) -> Relation {
        let row = |&row: &Set| members(row).fold(0, |reached, between| reached | other.0[between]);
        Relation(self.0.iter().map(row).collect())
    }

    /// `[from] ; self ; [to]`
    pub(super) fn between(mut self, from: Set, to: Set) -> Relation {
        for (event, row) in self.0.iter_mut().enumerate() {
            *row = if from >> event & 1 == 1 { *row & to } else { 0 };
        }
        self
    }

    /// `self^-1`
    pub(super) fn inverse(&self) -> Relation {
        Relation::of(self.0.len(), |from, to| self.has(to, from))
    }

    /// `self?`
    pub(super) fn or_same(mut self) -> Relation {
        self.0.iter_mut().enumerate().for_each(|(event, row)| *row |= 1 << event);
        self
    }

    /// `self+`
    pub(super) fn closure(mut self) -> Relation {
        for between in 0..self.0.len() {
            let reached = self.0[between];
            self.0.iter_mut().filter(|row| **row >> between & 1 == 1).for_each(|row| *row |= reached);
        }
        self
    }

    pub(super) fn is_irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(event, row)| row >> event & 1 == 0)
    }

    pub(super) fn is_acyclic(&self) -> bool {
        self.clone().closure().is_irreflexive()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|row| *row == 0)
    }

    /// Whether all of its pairs are related by the other one.
    pub(super) fn is_within(&self, other: &Relation) -> bool {
        self.0.iter().zip(&other.0).all(|(row, other)| row & !other == 0)
    }
}

/// The events of a set.
pub(super) fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}
