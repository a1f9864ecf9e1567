//! Which values a load may return, and where a store may be put among the others of its location.

use std::rc::Rc;

use super::actor::Actor;
use super::checks::{Checks, Event};
use super::coherence::{Late, Location, Position, View, Writer};
use super::history::{History, Observed};
use super::marks::happened;
use super::record::Record;

/// A way in which an access may go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    /// The write that it reads.
    pub(super) source: Option<usize>,
    /// What that left, if memory holds something else.
    pub(crate) value: Option<u64>,
    /// Where it is put, if it writes.
    pub(super) position: Option<Position>,
}

impl Checks {
    /// From now on, what loads may return is remembered.
    pub(crate) fn remember_values(&mut self) {
        self.history = Some(History::default());
    }

    pub(crate) fn remembers_values(&self) -> bool {
        self.history.is_some()
    }

    pub(super) fn view<R: Clone>(&self, event: Event, location: &Location<R>) -> View {
        let (actor, state) = (event.actor, self.known_state(event.actor));
        let knows = |other: Actor, epoch: u32| other == actor || happened(state, epoch, other);
        let own = self.writer(event);
        let view = location.view(knows, |writer| self.is_strong(writer, &own));
        let races = |late: &&Late| late.after.iter().any(|after| !self.is_strong(&own, &after.by));
        let shut = location.late.iter().filter(races).filter_map(|late| late.exchanged).map(|at| 1 << at).sum();
        View { hands_over: self.releases_something(event), shut, ..view }
    }

    /// Whether a write releases something, or comes after what does.
    fn releases_something(&self, event: Event) -> bool {
        let strong = self.known_state(event.actor).strong.as_ref();
        let released = strong.into_iter().flat_map(|strong| {
            strong.fenced.iter().chain(strong.released.get(&(event.address, event.bytes)).into_iter().flatten())
        });
        event.how.releases || released.flatten().next().is_some()
    }

    /// Who accesses, as if it wrote.
    pub(super) fn writer(&self, event: Event) -> Writer {
        Writer { actor: event.actor, epoch: self.known_state(event.actor).epoch, scope: event.how.scope }
    }

    /// Whether accesses of the same bytes are morally strong, if they are of two threads.
    pub(super) fn is_strong(&self, one: &Writer, other: &Writer) -> bool {
        let scope = one.scope.zip(other.scope).map(|(one, other)| one.min(other));
        scope.is_some_and(|scope| self.level(scope) >= self.distance(one.actor.block, other.actor.block))
    }

    /// The ways in which an access may go, at most so many. The first one is the usual one: it reads what memory holds, and what
    /// it writes is there from now on. An atomic writes if it finds a value that it `changes`.
    pub(crate) fn ways(&mut self, event: Event, changes: &dyn Fn(Option<u64>) -> bool, most: usize) -> Vec<Way> {
        self.threads_of(event.actor.block);
        let location = self.history.as_ref().and_then(|history| history.location(event.address, event.bytes));
        let Some(location) = location else { return vec![Way::default()] };
        let view = self.view(event, location);
        let mut ways = Vec::new();
        if !event.how.reads {
            let all = location.positions(&view, None, most);
            ways.extend(all.into_iter().map(|position| Way { position: Some(position), ..Way::default() }));
            return ways;
        }
        for source in location.readable(&view) {
            let way = Way { source: Some(source), value: location.value(source), position: None };
            if event.how.writes && changes(way.value) {
                // An atomic hands over what it has read.
                let record = location.messages[source].record.as_ref();
                let hands_over = view.hands_over || record.is_some_and(|record| !record.heads.is_empty());
                let view = View { hands_over, ..view };
                let all = location.positions(&view, Some(source), most - ways.len());
                ways.extend(all.into_iter().map(|position| Way { position: Some(position), ..way }));
            } else {
                ways.push(way);
            }
            if ways.len() >= most {
                break;
            }
        }
        ways
    }

    /// An access begins, where memory holds that, and goes a way. Where many bytes are written, nothing is remembered any longer.
    pub(crate) fn remember(&mut self, event: Event, now: Option<u64>, way: Option<Way>) {
        if self.has_other_address(event) && self.history.is_some() {
            return self.by_first_address(event).for_each(|event| self.remember_named(event, now, way));
        }
        self.remember_named(event, now, way);
    }

    fn remember_named(&mut self, event: Event, now: Option<u64>, way: Option<Way>) {
        let Some(mut history) = self.history.take() else { return };
        self.threads_of(event.actor.block);
        history.begins(event.actor, self.known_state(event.actor).epoch);
        match now {
            Some(now) if event.how.writes => history.open(event.address, event.bytes, now),
            None if event.how.writes => history.forget(event.address, event.bytes as u64),
            _ => {}
        }
        let (mut observed, exchange) = (None, history.exchange);
        if let Some(location) = history.change(event.address, event.bytes) {
            let view = self.view(event, location);
            let source = way.and_then(|way| way.source).unwrap_or(location.last);
            observed = event.how.reads.then(|| {
                location.read(source, view.known);
                let message = &location.messages[source];
                let is_own_weak = message.writer.is_some_and(|by| by.actor == event.actor && by.scope.is_none());
                Observed { at: Some(source), record: message.record.clone(), is_own_weak }
            });
            let by = self.writer(event);
            self.follows_acquire(location, event);
            if event.how.reads {
                self.follows_late(location, by, (source, false), exchange.unwrap_or(u32::MAX));
            }
            if event.how.writes {
                let source = event.how.reads.then_some(source);
                let left = location.write(by, &view, source, way.and_then(|way| way.position));
                if let (Some(left), Some(observed)) = (left, &mut observed) {
                    observed.at = left.iter().position(|at| Some(*at) == observed.at);
                }
                if !event.how.reads {
                    self.write_follows_late(location, by, exchange);
                }
            }
        }
        history.observed = observed;
        self.history = Some(history);
    }

    /// The newest write hands something over.
    pub(super) fn hands_over(&mut self, event: Event, record: &Rc<Record>) {
        let Some(mut history) = self.history.take() else { return };
        let exchange = history.exchange.take();
        if let Some(location) = history.change(event.address, event.bytes) {
            location.hands_over(record.clone());
            if event.how.reads {
                self.write_follows_late(location, self.writer(event), exchange);
            }
        }
        self.history = Some(history);
    }

    /// A strong read observes what it reads.
    pub(super) fn observes(&mut self, event: Event) {
        let observer = (event.actor, self.known_state(event.actor).epoch);
        let Some(history) = &mut self.history else { return };
        let Some(at) = history.observed.as_ref().and_then(|observed| observed.at) else { return };
        if let Some(location) = history.change(event.address, event.bytes) {
            location.messages[at].observers.push(observer);
        }
    }

    /// Whether an atomic has read the last weak write of its own thread, if that is remembered.
    pub(super) fn reads_own(&self) -> Option<bool> {
        let observed = self.history.as_ref().and_then(|history| history.observed.as_ref());
        observed.map(|observed| observed.is_own_weak)
    }

    /// What a thread's write leaves, and whether memory holds it.
    pub(crate) fn leaves(&mut self, actor: Actor, address: u64, bytes: usize, value: u64) -> bool {
        let location = self.history.as_mut().and_then(|history| history.change(address, bytes));
        location.is_none_or(|location| location.leaves(actor, value))
    }
}
