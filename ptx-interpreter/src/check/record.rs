//! What strong writes leave in memory.

use std::rc::Rc;

use smallvec::SmallVec;

use super::actor::Actor;
use super::heads::Heads;
use super::trail::Trail;
use crate::ptx::access::Scope;

/// Numbers of strong writes: mostly of one or two.
pub(super) type Numbers = SmallVec<[u32; 4]>;
/// The records of writes that begin in a cell: mostly of one.
pub(super) type Records = SmallVec<[Rc<Record>; 1]>;

/// What the last strong write of an address hands over.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) number: u32,
    pub(super) address: u64,
    pub(super) bytes: usize,
    pub(super) writer: Actor,
    pub(super) scope: Scope,
    pub(super) site: u32,
    pub(super) heads: Heads,
    /// The writes that an atomic's write continues.
    pub(super) continues: Numbers,
    /// What it would have released, had it been a release.
    pub(super) full: Trail,
    /// The newest of the writes that it continues, or itself, that released nothing, and the newest one by another thread.
    pub(super) relaxed: [Option<(Actor, u32)>; 2],
}

impl Record {
    /// Of a write that continues no other one.
    pub(super) fn new((address, bytes): (u64, usize), writer: Actor, site: u32, scope: Scope) -> Record {
        Record {
            number: 0,
            address,
            bytes,
            writer,
            scope,
            site,
            heads: Heads::default(),
            continues: Numbers::new(),
            full: Trail::default(),
            relaxed: [None; 2],
        }
    }

    /// One more write goes on.
    pub(super) fn follow(&mut self, number: u32, scope: Scope, (writer, site): (Actor, u32)) {
        (self.number, self.scope, self.writer, self.site) = (number, scope, writer, site);
    }

    /// The write of it has released nothing.
    pub(super) fn releases_nothing(&mut self) {
        let others = self.relaxed[0].filter(|(other, _)| *other != self.writer).or(self.relaxed[1]);
        self.relaxed = [Some((self.writer, self.site)), others];
    }

    /// The newest write that released nothing, by another thread than this one.
    pub(super) fn relaxed_by_others(&self, than: Actor) -> Option<(Actor, u32)> {
        self.relaxed.into_iter().flatten().find(|(writer, _)| *writer != than)
    }
}
