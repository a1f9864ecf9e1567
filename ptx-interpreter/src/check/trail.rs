//! What a chain of writes would have released, had they been releases. Messages tell it, so it is put together when one is written.

use std::rc::Rc;

use super::actor::Actor;
use super::clock::Clock;

/// Writes of a chain that are kept apart.
const LINKS: usize = 64;

/// The last write of a chain.
#[derive(Clone, Debug)]
pub(super) struct Trail(Rc<Link>);

#[derive(Debug)]
struct Link {
    /// What its thread knew, and in which epoch it was.
    known: Clock,
    writer: (Actor, u32),
    before: Option<Trail>,
    /// How many writes are before it.
    count: usize,
}

impl Trail {
    /// A write by a thread of a block of `threads` threads. It may continue another one.
    pub(super) fn new(known: &Clock, writer: (Actor, u32), threads: usize, before: Option<Trail>) -> Trail {
        let count = before.as_ref().map_or(0, |before| 1 + before.0.count);
        let mut link = Link { known: known.clone(), writer, before, count };
        if count == LINKS {
            let (before, mut last) = (link.before.take(), known);
            for old in links(before.as_ref()) {
                let (actor, epoch) = old.writer;
                // Threads often know the same.
                if !old.known.is(last) {
                    link.known.join(&old.known);
                    last = &old.known;
                }
                link.known.raise_thread(actor.block, actor.number, threads, epoch);
            }
            link.count = 0;
        }
        Trail(Rc::new(link))
    }

    /// How far the chain knows a thread to have come.
    pub(super) fn of_thread(&self, actor: Actor) -> u32 {
        let own = |link: &Link| if link.writer.0 == actor { link.writer.1 } else { 0 };
        links(Some(self)).map(|link| own(link).max(link.known.of_thread(actor.block, actor.number))).max().unwrap_or(0)
    }
}

fn links(last: Option<&Trail>) -> impl Iterator<Item = &Link> {
    std::iter::successors(last.map(|trail| &*trail.0), |link| link.before.as_ref().map(|before| &*before.0))
}
