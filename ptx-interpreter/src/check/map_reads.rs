//! Copies that read tensor maps in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::actor::Actor;

/// A copy that reads a map, and its number among the copies of its thread.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) actor: Actor,
    pub(super) site: u32,
    pub(super) number: u32,
}

/// The last copies that read maps.
#[derive(Default)]
pub(super) struct MapReads {
    /// By the map, the last copy of each thread.
    pub(super) last: BTreeMap<u64, Vec<Reader>>,
    /// What threads have begun.
    begun: HashMap<Actor, Begun>,
}

/// The copies that a thread has begun, and how many of them came before its groups of bulk copies.
#[derive(Default)]
struct Begun {
    copies: u32,
    before: VecDeque<(u32, u32)>,
}

impl MapReads {
    /// A copy begins. Gives its number among the copies of its thread.
    pub(super) fn begin(&mut self, actor: Actor, site: u32, map: u64) -> u32 {
        let begun = self.begun.entry(actor).or_default();
        begun.copies += 1;
        let readers = self.last.entry(map).or_default();
        readers.retain(|reader| reader.actor != actor);
        readers.push(Reader { actor, site, number: begun.copies });
        begun.copies
    }

    /// A thread commits a group, which has this number.
    pub(super) fn commit(&mut self, actor: Actor, group: u32) {
        if let Some(begun) = self.begun.get_mut(&actor) {
            begun.before.push_back((group, begun.copies));
        }
    }

    /// How many copies came before groups that are done, up to one.
    pub(super) fn before(&mut self, actor: Actor, done: u32) -> Option<u32> {
        let before = &mut self.begun.get_mut(&actor)?.before;
        let count = before.partition_point(|(group, _)| *group <= done);
        before.drain(..count).next_back().map(|(_, copies)| copies)
    }
}
