//! What a chain of writes would have released, had they been releases. Messages tell it, so it is put together when one is written.

use std::cell::RefCell;
use std::rc::Rc;

use super::actor::Actor;
use super::clock::Clock;

/// Writes of a chain that are kept apart.
const LINKS: usize = 64;

/// The writes of a chain until one of them. Longer chains share the list.
#[derive(Clone, Default, Debug)]
pub(super) struct Trail {
    links: Rc<RefCell<Vec<Link>>>,
    count: usize,
}

/// A write: what its thread knew, and in which epoch it was.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) known: Clock,
    pub(super) writer: Actor,
    pub(super) epoch: u32,
}

impl Trail {
    /// Of one write.
    pub(super) fn new(link: Link) -> Trail {
        Trail { links: Rc::new(RefCell::new(vec![link])), count: 1 }
    }

    /// One more write, by a thread of a block of `threads` threads.
    pub(super) fn push(&mut self, link: Link, threads: usize) {
        self.forget_what_is_known(&link.known);
        if self.count == LINKS {
            let link = self.with_all_before(link, threads);
            *self = Trail::new(link);
            return;
        }
        let is_last = self.links.borrow().len() == self.count;
        if !is_last {
            let own = self.links.borrow()[..self.count].to_vec();
            self.links = Rc::new(RefCell::new(own));
        }
        self.links.borrow_mut().push(link);
        self.count += 1;
    }

    /// Who knows of the last writes knows what their threads knew. They are forgotten, if nobody else has the list.
    fn forget_what_is_known(&mut self, known: &Clock) {
        let Some(links) = Rc::get_mut(&mut self.links).map(RefCell::get_mut) else { return };
        links.truncate(self.count);
        let is_known = |last: &mut Link| known.of_thread(last.writer.block, last.writer.number) >= last.epoch;
        while links.pop_if(is_known).is_some() {}
        self.count = links.len();
    }

    /// One write that knows what all before it knew.
    fn with_all_before(&self, mut link: Link, threads: usize) -> Link {
        let mut last = link.known.clone();
        for old in &self.links.borrow()[..self.count] {
            // Threads often know the same.
            if !old.known.is(&last) {
                link.known.join(&old.known);
                last = old.known.clone();
            }
            link.known.raise_thread(old.writer.block, old.writer.number, threads, old.epoch);
        }
        link
    }

    /// How far the chain knows a thread to have come.
    pub(super) fn of_thread(&self, actor: Actor) -> u32 {
        let own = |link: &Link| if link.writer == actor { link.epoch } else { 0 };
        let of_link = |link: &Link| own(link).max(link.known.of_thread(actor.block, actor.number));
        self.links.borrow()[..self.count].iter().map(of_link).max().unwrap_or(0)
    }
}
