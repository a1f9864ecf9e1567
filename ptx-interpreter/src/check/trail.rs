//! What a chain of writes would have released, had they been releases. Messages tell it, so it is put together when one is written.

use std::cell::RefCell;
use std::rc::Rc;

use super::actor::Actor;
use super::clock::Clock;

/// Writes of a chain that are kept apart.
const LINKS: usize = 64;

/// The last write of a chain, and those before it.
#[derive(Clone, Default, Debug)]
pub(super) struct Trail {
    last: Option<Link>,
    before: Option<Before>,
}

/// A write: what its thread knew, and in which epoch it was.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) known: Clock,
    pub(super) writer: Actor,
    pub(super) epoch: u32,
}

/// The first so many writes of a list. Longer chains share it.
#[derive(Clone, Default, Debug)]
struct Before {
    links: Rc<RefCell<Vec<Link>>>,
    count: usize,
}

impl Trail {
    /// Of one write.
    pub(super) fn new(link: Link) -> Trail {
        Trail { last: Some(link), before: None }
    }

    /// One more write, by a thread of a block of `threads` threads.
    pub(super) fn push(&mut self, mut link: Link, threads: usize) {
        if self.before.as_ref().is_some_and(|before| before.count == LINKS) {
            let mut known = link.known.clone();
            self.each(|old| link.join(old, &mut known, threads));
            *self = Trail::new(link);
            return;
        }
        // Who knows of a write knows what its thread knew.
        let old = self.last.replace(link);
        let is_known = |old: &Link, new: &Link| new.known.of_thread(old.writer.block, old.writer.number) >= old.epoch;
        if let Some(old) = old.filter(|old| self.last.as_ref().is_some_and(|new| !is_known(old, new))) {
            self.before.get_or_insert_default().push(old);
        }
    }

    /// How far the chain knows a thread to have come.
    pub(super) fn of_thread(&self, actor: Actor) -> u32 {
        let mut most = 0;
        self.each(|link| {
            let own = if link.writer == actor { link.epoch } else { 0 };
            most = most.max(own).max(link.known.of_thread(actor.block, actor.number));
        });
        most
    }

    /// Whether a thread has written one of those that are kept apart.
    pub(super) fn is_by(&self, actor: Actor) -> bool {
        let mut is_by = false;
        self.each(|link| is_by |= link.writer == actor);
        is_by
    }

    fn each(&self, mut then: impl FnMut(&Link)) {
        if let Some(Before { links, count }) = &self.before {
            links.borrow()[..*count].iter().for_each(&mut then);
        }
        self.last.iter().for_each(then);
    }
}

impl Link {
    /// Takes the place of an older write too. Threads often know the same as the one before them, which is `last`.
    fn join(&mut self, old: &Link, last: &mut Clock, threads: usize) {
        if !old.known.is(last) {
            self.known.join(&old.known);
            last.clone_from(&old.known);
        }
        self.known.raise_thread(old.writer.block, old.writer.number, threads, old.epoch);
    }
}

impl Before {
    fn push(&mut self, link: Link) {
        let is_whole = self.links.borrow().len() == self.count;
        if !is_whole {
            let own = self.links.borrow()[..self.count].to_vec();
            self.links = Rc::new(RefCell::new(own));
        }
        self.links.borrow_mut().push(link);
        self.count += 1;
    }
}
