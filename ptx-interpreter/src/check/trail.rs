//! What a chain of writes would have released, had they been releases. Messages tell it, so it is put together when one is written.

use std::cell::RefCell;
use std::rc::Rc;

use super::actor::Actor;
use super::clock::Clock;
use crate::machine::lanes::{LANES, lanes_of};

/// Writes of a chain that are kept apart.
const LINKS: usize = 64;

/// The last write of a chain, and those before it.
#[derive(Clone, Default, Debug)]
pub(super) struct Trail {
    last: Option<Link>,
    before: Option<Before>,
}

/// A write: what its thread knew, and in which epoch it was. Of a warp's threads that know the same, those that have written.
#[derive(Clone, Debug)]
pub(super) struct Link {
    known: Clock,
    block: u32,
    /// The thread that is lane 0.
    first: usize,
    lanes: u32,
    epoch: u32,
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

    /// One more write, by a thread that knows so much, if it is as the last one is: most are.
    #[inline]
    pub(super) fn takes(&mut self, known: &Clock, writer: Actor, epoch: u32) -> bool {
        let lane = writer.number % LANES;
        let of = (writer.block, writer.number - lane, epoch);
        let Some(last) = self.last.as_mut().filter(|last| last.is_of(known, of)) else { return false };
        last.lanes |= 1 << lane;
        true
    }

    /// One more write, by a thread of a block of `threads` threads.
    pub(super) fn push(&mut self, link: Link, threads: usize) {
        let Some(last) = &mut self.last else {
            self.last = Some(link);
            return;
        };
        if last.takes(&link) {
            return;
        }
        // Who knows of a write knows what its thread knew.
        if last.is_known(&link) {
            *last = link;
        } else {
            self.keep(link, threads);
        }
    }

    /// The same, of one that knows nothing of the last one.
    fn keep(&mut self, mut link: Link, threads: usize) {
        let before = self.before.get_or_insert_default();
        if before.takes(&link) {
            return;
        }
        if before.count == LINKS {
            let mut known = link.known.clone();
            self.each(|old| link.join(old, &mut known, threads));
            *self = Trail::new(link);
        } else if let Some(old) = self.last.replace(link) {
            before.push(old);
        }
    }

    /// How far the chain knows a thread to have come.
    pub(super) fn of_thread(&self, actor: Actor) -> u32 {
        let mut most = 0;
        self.each(|link| {
            let own = if link.is_by(actor) { link.epoch } else { 0 };
            most = most.max(own).max(link.known.of_thread(actor.block, actor.number));
        });
        most
    }

    /// The same of an engine.
    pub(super) fn of_engine(&self, engine: u32) -> u32 {
        let mut most = 0;
        self.each(|link| most = most.max(link.known.of_engine(engine)));
        most
    }

    /// Whether a thread has written one of those that are kept apart.
    pub(super) fn is_by(&self, actor: Actor) -> bool {
        let mut is_by = false;
        self.each(|link| is_by |= link.is_by(actor));
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
    pub(super) fn new(known: Clock, writer: Actor, epoch: u32) -> Link {
        let lane = writer.number % LANES;
        Link { known, block: writer.block, first: writer.number - lane, lanes: 1 << lane, epoch }
    }

    /// Stands for another one too, if that is by a thread of the warp that knows the same.
    fn takes(&mut self, other: &Link) -> bool {
        let is_beside = self.is_beside(other);
        self.lanes |= if is_beside { other.lanes } else { 0 };
        is_beside
    }

    fn is_beside(&self, other: &Link) -> bool {
        self.is_of(&other.known, (other.block, other.first, other.epoch))
    }

    /// Whether it is by threads that know so much, of the warp of a block that begins with one, in an epoch.
    #[inline]
    fn is_of(&self, known: &Clock, of: (u32, usize, u32)) -> bool {
        (self.block, self.first, self.epoch) == of && self.known.is(known)
    }

    fn is_by(&self, actor: Actor) -> bool {
        let lane = actor.number.wrapping_sub(self.first);
        self.block == actor.block && lane < LANES && self.lanes >> lane & 1 == 1
    }

    /// Whether another one's thread knows of it.
    fn is_known(&self, other: &Link) -> bool {
        other.known.has(self.block, self.first, self.lanes, self.epoch)
    }

    /// Takes the place of an older write too. Threads often know the same as the one before them, which is `last`.
    fn join(&mut self, old: &Link, last: &mut Clock, threads: usize) {
        if !old.known.is(last) {
            self.known.join(&old.known);
            last.clone_from(&old.known);
        }
        lanes_of(old.lanes).for_each(|lane| self.known.raise_thread(old.block, old.first + lane, threads, old.epoch));
    }
}

impl Before {
    /// Whether one of them stands for a write too. What others share is not changed.
    fn takes(&mut self, link: &Link) -> bool {
        let is_own = Rc::strong_count(&self.links) == 1;
        let mut links = self.links.borrow_mut();
        let beside = links[..self.count].iter_mut().find(|own| own.is_beside(link));
        beside.is_some_and(|own| (is_own || own.lanes & link.lanes != 0) && own.takes(link))
    }

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
