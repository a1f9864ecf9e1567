//! Reads that are performed late: after accesses that come after them in causality order.
//!
//! What a thread has to see is what it had to see where the read is in its program. And what the read returns must not come after
//! it: neither is it written by somebody who knows of the read, nor does it hand anything over that its thread would have known
//! since.

use std::iter::once;
use std::rc::Rc;

use super::actor::Actor;
use super::checks::{Checks, Event};
use super::coherence::{After, Late, Location, Message, Set, Source, Writer, members};
use super::marks::happened;
use super::record::{Numbers, Record};
use super::values::Way;
use crate::ptx::access::{How, Scope};

impl<R: Clone> Location<R> {
    /// Whether a late read may return a write.
    fn may_be_late(&self, late: &Late, at: usize, is_strong: &dyn Fn(&Writer, &Writer) -> bool) -> bool {
        if self.hidden(late.known) >> at & 1 == 1 || late.after.iter().any(|after| after.writes && after.at == at) {
            return false;
        }
        let message = &self.messages[at];
        let writer = message.writer.filter(|writer| is_strong(writer, &late.by));
        if let Some(own) = late.exchanged {
            // What it would observe comes before what it has written. No morally strong write comes between the two.
            let is_between = |at: usize| self.messages[own].before >> at & 1 == 1;
            let mut strong = members(self.messages[own].strong);
            return writer.is_none()
                && !strong.any(|other| self.messages[other].before >> at & 1 == 1 && is_between(other));
        }
        let Some(writer) = writer else { return true };
        // The read observes the write, which comes before all that comes after the read.
        late.after.iter().all(|after| {
            let is_in_order = match after.writes {
                true => self.messages[after.at].before >> at & 1 == 1,
                false => message.before >> after.at & 1 == 0,
            };
            is_in_order && (late.known >> at & 1 == 1 || is_strong(&writer, &after.by))
        })
    }
}

impl<R: Clone> Location<R> {
    /// The late reads that come after one and do not have to see something newer than a write.
    fn would_see<'l>(&'l self, first: &'l Late, at: usize) -> impl Iterator<Item = &'l Late> {
        let later = self.late.iter().filter(|late| late.comes_after(first));
        later.filter(move |late| self.hidden(late.known) >> at & 1 == 0)
    }
}

impl Late {
    fn comes_after(&self, first: &Late) -> bool {
        let Actor { block, number } = first.by.actor;
        match self.by.actor == first.by.actor {
            true => self.number > first.number,
            false => self.knew.ordered.of_thread(block, number) >= first.by.epoch,
        }
    }
}

impl Checks {
    /// A read that was executed is not performed before an access or a fence that comes after it. Gives its number, and a value that
    /// it may return in any case, but for one. None, if it has to be performed now.
    pub(crate) fn begins_late(&mut self, event: Event, now: u64, but: Option<u64>) -> Option<(u32, u64)> {
        self.threads_of(event.actor.block);
        if let Some(scope) = event.how.scope.filter(|_| event.how.acquires) {
            self.acquires_what_was_observed(event, scope);
        }
        let number = self.parts(event, now, but)?;
        let location = self.history.as_ref().and_then(|history| history.location(event.address, event.bytes))?;
        let late = location.late.last()?;
        let known = &late.known;
        let initial = Set::from(*known == 0 && location.messages[0].writer.is_none());
        let mut sure = members(known & !location.hidden(*known) | initial);
        let value = |at: usize| location.value(at).unwrap_or(now);
        let is_sure = |at: &usize| Some(value(*at)) != but && self.hands_over_nothing(late, location, *at);
        let Some(value) = sure.find(is_sure).map(value) else {
            self.performs_late(event, number, None, now);
            return None;
        };
        self.compare(event, false, &|_| false);
        Some((number, value))
    }

    /// An atomic that is performed later releases what came before it. Gives its epoch, if it does.
    pub(crate) fn releases_early(&mut self, event: Event) -> Option<u32> {
        let scope = event.how.scope.filter(|_| event.how.releases)?;
        let epoch = self.state(event.actor).epoch;
        self.history.as_mut()?.begins(event.actor, epoch);
        self.releases_at(event, scope);
        Some(epoch)
    }

    /// Gives the epoch in which a thread was.
    pub(crate) fn change_epoch(&mut self, actor: Actor, epoch: u32) -> u32 {
        std::mem::replace(&mut self.state(actor).epoch, epoch)
    }

    /// An exchange writes, and its read may be performed later. Gives the number of that.
    pub(crate) fn exchanges(&mut self, event: Event, now: u64) -> Option<u32> {
        let number = self.parts(event, now, None);
        self.history.as_mut()?.exchange = number;
        number
    }

    /// The read of an access may be performed later, and does not return a value. Gives its number.
    fn parts(&mut self, event: Event, now: u64, but: Option<u64>) -> Option<u32> {
        self.threads_of(event.actor.block);
        let mut history = self.history.take()?;
        history.begins(event.actor, self.known_state(event.actor).epoch);
        let fits = history.fits(event.address, event.bytes);
        if fits {
            history.open(event.address, event.bytes, now);
            history.late += 1;
        }
        let number = history.late;
        if let Some(location) = history.change(event.address, event.bytes).filter(|_| fits) {
            let known = self.view(event, location).known;
            let by = self.writer(event);
            self.follows_acquire(location, event);
            let knew = self.known_state(event.actor).known.clone();
            let (acquires, after) = (event.how.acquires, Vec::new());
            location.late.push(Late { number, by, known, knew, after, exchanged: None, acquires, but, kept: None });
        }
        self.history = Some(history);
        fits.then_some(number)
    }

    /// The same of the newest write, which is that of an exchange if its late read has a number. What an atomic has acquired comes before
    /// its write.
    pub(super) fn write_follows_late<R>(&self, location: &mut Location<R>, by: Writer, exchange: Option<u32>) {
        let newest = location.messages.len() - 1;
        self.follows_late(location, by, (newest, true), exchange.unwrap_or(u32::MAX));
        let own = location.late.iter_mut().find(|late| Some(late.number) == exchange);
        if let Some(late) = own {
            late.exchanged = Some(newest);
            location.messages[newest].open = Some(late.known);
        }
    }

    /// What an acquire acquires, earlier reads of its location acquire by it.
    pub(super) fn follows_acquire<R>(&self, location: &mut Location<R>, event: Event) {
        let own = location.late.iter_mut().filter(|late| event.how.acquires && late.by.actor == event.actor);
        own.for_each(|late| late.acquires = true);
    }

    /// Whether a late read acquires what it observes.
    fn acquires_late(&self, late: &Late) -> bool {
        let fence = self.history.as_ref().and_then(|history| history.fences.get(&late.by.actor));
        late.acquires || fence.is_some_and(|last| late.number <= *last)
    }

    /// Whether a late read observes a write, if it returns it.
    fn observes_late<R>(&self, late: &Late, message: &Message<R>) -> bool {
        message.writer.is_some_and(|writer| self.is_strong(&writer, &late.by))
    }

    /// Whether a write hands nothing over to a read that its thread did not know.
    fn hands_over_nothing(&self, late: &Late, location: &Location<Rc<Record>>, at: usize) -> bool {
        let (message, actor) = (&location.messages[at], late.by.actor);
        let Some(record) = message.record.as_ref().filter(|_| self.observes_late(late, message)) else { return true };
        let first = |actor| self.history.as_ref().and_then(|history| history.first.get(&actor)).copied();
        // What somebody did who has accessed nothing yet matters to nobody, and what a thread did itself it knows.
        let is_idle = |other, epoch| other == actor || first(other).is_none_or(|first| epoch < first);
        record.heads.are_known(self.reach(actor, Scope::System), &late.knew, &is_idle)
    }

    /// The late reads that have to see what one observes, if they did not have to see something newer, and what each returns then if nothing
    /// else. None, if there is nothing for one of them.
    fn would_return(
        &self,
        location: &Location<Rc<Record>>,
        (first, at): (&Late, usize),
        now: u64,
    ) -> Option<Vec<(u32, u64)>> {
        let value = |at: usize| location.value(at).unwrap_or(now);
        let returns = |late: &Late| {
            let known = late.known | 1 << at;
            let is_sure = |other: &usize| self.hands_over_nothing(late, location, *other);
            let others = members(known & !location.hidden(known)).filter(is_sure);
            let mut all = once(at).chain(others).map(value);
            all.find(|value| Some(*value) != late.but).map(|value| (late.number, value))
        };
        location.would_see(first, at).map(returns).collect()
    }

    /// An access of a location comes after the late reads of which its thread knows. Of its own thread's it comes before those that
    /// have a higher number.
    pub(super) fn follows_late<R>(
        &self,
        location: &mut Location<R>,
        by: Writer,
        (at, writes): (usize, bool),
        number: u32,
    ) {
        let state = self.known_state(by.actor);
        let knows = |late: &&mut Late| match late.by.actor == by.actor {
            true => late.number < number,
            false => happened(state, late.by.epoch, late.by.actor),
        };
        for late in location.late.iter_mut().filter(knows) {
            late.after.push(After { by, at, writes });
        }
    }

    /// Whether a write comes before an access, if a late exchange that comes before the access returns it.
    pub(super) fn comes_by_late(&self, event: Event, (actor, epoch): (Actor, u32)) -> bool {
        let location = self.history.as_ref().and_then(|history| history.location(event.address, event.bytes));
        let Some(location) = location else { return false };
        let is_known =
            |by: &Writer| by.actor == event.actor || happened(self.known_state(event.actor), by.epoch, by.actor);
        location.late.iter().filter(|late| is_known(&late.by)).any(|late| {
            let Some(Source::Message(at)) = late.exchanged.map(|own| location.messages[own].source) else {
                return false;
            };
            let message = &location.messages[at];
            let is_it = message.writer.is_some_and(|writer| (writer.actor, writer.epoch) == (actor, epoch));
            is_it && self.observes_late(late, message)
        })
    }

    /// The ways in which a late read may go. If it acquires, it is handed over nothing that is not known: something after it would have
    /// to know that.
    pub(crate) fn late_ways(&self, event: Event, number: u32, now: u64) -> Vec<Option<Way>> {
        let location = self.history.as_ref().and_then(|history| history.location(event.address, event.bytes));
        let Some(location) = location else { return Vec::new() };
        let Some(late) = location.late.iter().find(|late| late.number == number) else { return Vec::new() };
        if late.kept.is_some() {
            return vec![Some(Way { value: late.kept, ..Way::default() })];
        }
        let (acquires, is_strong) =
            (self.acquires_late(late), |one: &Writer, other: &Writer| self.is_strong(one, other));
        let all = (0..location.messages.len()).rev();
        let observes = |at: usize| self.observes_late(late, &location.messages[at]);
        let may_be = |at: &usize| {
            late.but != Some(location.value(*at).unwrap_or(now))
                && location.may_be_late(late, *at, &is_strong)
                && !(observes(*at) && self.would_return(location, (late, *at), now).is_none())
                && (late.exchanged.is_some() || !acquires || self.hands_over_nothing(late, location, *at))
        };
        let way = |at| Some(Way { source: Some(at), value: location.value(at), ..Way::default() });
        // An exchange may keep what it has found, or what came between.
        let found = late.exchanged.map(|own| match location.messages[own].source {
            Source::Message(at) => way(at),
            _ => None,
        });
        found.into_iter().chain(all.filter(may_be).map(way)).collect()
    }

    /// What the others return then that come after a late read, if it observes what it returns.
    fn others_return(&self, event: Event, number: u32, way: Option<Way>, now: u64) -> Option<Vec<(u32, u64)>> {
        let location = self.history.as_ref()?.location(event.address, event.bytes)?;
        let (late, at) = (location.late.iter().find(|late| late.number == number)?, way?.source?);
        self.observes_late(late, &location.messages[at]).then(|| self.would_return(location, (late, at), now))?
    }

    /// A late read is performed. Gives the later ones of its location that have to see what it observes, and what they return if nothing
    /// else.
    pub(crate) fn performs_late(&mut self, event: Event, number: u32, way: Option<Way>, now: u64) -> Vec<(u32, u64)> {
        let later = self.others_return(event, number, way, now).unwrap_or_default();
        let Some(mut history) = self.history.take() else { return later };
        let mut observed = Numbers::new();
        let mut observer = (event.actor, self.known_state(event.actor).epoch);
        let mut seen = None;
        if let Some(location) = history.change(event.address, event.bytes)
            && let Some(place) = location.late.iter().position(|late| late.number == number)
        {
            let late = location.late.remove(place);
            observer.1 = late.by.epoch;
            late.exchanged.into_iter().for_each(|own| location.messages[own].open = None);
            if let Some(at) = way.and_then(|way| way.source) {
                self.follows_late(location, self.writer(event), (at, false), number);
                location.read(at, late.known);
                if let Some(own) = late.exchanged {
                    location.messages[own].source = Source::Message(at);
                }
                let message = &mut location.messages[at];
                if self.observes_late(&late, message) {
                    message.observers.push(observer);
                    if let Some(record) = &message.record {
                        observed.clone_from(&record.continues);
                        observed.push(record.number);
                        seen = Some(record.clone());
                    }
                    for after in late.after.iter().filter(|after| !after.writes) {
                        location.read(after.at, 1 << at);
                    }
                    let later = location.late.iter_mut().filter(|other| other.comes_after(&late));
                    later.for_each(|other| other.known |= 1 << at);
                }
            }
        }
        self.history = Some(history);
        if let (Some(record), Some(scope)) = (seen, event.how.scope) {
            self.sees_late(event, &record, scope);
        }
        self.shadow.observe((event.address, event.bytes), &observed, observer);
        later
    }

    /// A late read sees what was handed over, and has acquired nothing else.
    fn sees_late(&mut self, event: Event, record: &Record, scope: Scope) {
        let reach = self.reach(event.actor, scope);
        let event = Event { how: How { acquires: false, ..event.how }, ..event };
        let widest = self.widest();
        self.state(event.actor).observe(event, &record.heads, reach, widest);
    }
}
