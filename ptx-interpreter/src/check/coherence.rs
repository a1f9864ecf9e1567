//! The coherence order of one location: which of its writes the memory model has before which.
//!
//! It is a partial order. Causality order is in it, and each two morally strong writes are. A write chooses its place when it is
//! executed, so it may come before writes that were executed earlier. Each choice keeps the axioms:
//!
//! - Coherence: what comes before a write in causality order is before it here.
//! - Atomicity: no morally strong write comes between an atomic and the write that it has read.
//! - Causality: a read returns no write before one that it has to see; and nothing is put after a write that was read, if
//!   that read has to see it.

use super::actor::Actor;
use super::clock::Known;
use crate::ptx::access::Scope;

/// Writes of a location that are remembered, at most. Of more the first ones are forgotten.
const MESSAGES: usize = 64;

/// Writes of a location, by their positions in the order of execution.
pub(super) type Set = u64;

pub(super) fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..MESSAGES).filter(move |at| set >> at & 1 == 1)
}

/// Who wrote, and in which epoch; of a strong write also the scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    pub(super) actor: Actor,
    pub(super) epoch: u32,
    pub(super) scope: Option<Scope>,
}

/// A write, or what was there before the first one.
#[derive(Clone, Debug)]
pub(super) struct Message<R> {
    /// What it left, unless only memory has it.
    value: Option<u64>,
    pub(super) writer: Option<Writer>,
    /// What a strong one hands over.
    pub(super) record: Option<R>,
    pub(super) observers: Vec<(Actor, u32)>,
    /// Those before it.
    pub(super) before: Set,
    /// Those that must not come after it: reads of it have to see them.
    pub(super) never_after: Set,
    /// The morally strong ones.
    pub(super) strong: Set,
    /// Of an atomic what it has read, if that is not forgotten.
    pub(super) source: Source,
    /// Of an exchange whose read is performed later: what that has to see.
    pub(super) open: Option<Set>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    None,
    Message(usize),
    Forgotten,
}

/// A place in the order for a new write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    before: Set,
    after: Set,
    /// Whether memory holds it from now on.
    is_last: bool,
}

/// What is known of an access.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// The writes before it in causality order.
    pub(super) known: Set,
    /// The writes that are morally strong with it.
    pub(super) strong: Set,
    /// Whether those who read what it writes may learn something by that.
    pub(super) hands_over: bool,
    /// The writes of late exchanges that it does not come before: what has come after their reads would race with it.
    pub(super) shut: Set,
}

/// A read that is performed late.
#[derive(Clone, Debug)]
pub(super) struct Late {
    pub(super) number: u32,
    pub(super) by: Writer,
    /// What it has to see.
    pub(super) known: Set,
    /// What its thread knew before what comes after it.
    pub(super) knew: Known,
    /// What comes after it.
    pub(super) after: Vec<After>,
    /// What it writes itself, if it is an exchange.
    pub(super) exchanged: Option<usize>,
    /// Whether it acquires what it observes: by itself or by a later acquire of its location.
    pub(super) acquires: bool,
    /// What it does not return: it would have written then.
    pub(super) but: Option<u64>,
    /// What it returns, if writes were forgotten.
    pub(super) kept: Option<u64>,
}

/// An access of the same location that comes after a late read in causality order.
#[derive(Clone, Copy, Debug)]
pub(super) struct After {
    pub(super) by: Writer,
    /// The write that it is, or that it reads.
    pub(super) at: usize,
    pub(super) writes: bool,
}

/// The writes of a location.
#[derive(Clone, Debug)]
pub(super) struct Location<R> {
    pub(super) address: u64,
    pub(super) bytes: usize,
    pub(super) messages: Vec<Message<R>>,
    /// The one that memory holds: a last one in the order.
    pub(super) last: usize,
    /// Reads that are performed later.
    pub(super) late: Vec<Late>,
}

impl<R: Clone> Location<R> {
    /// A location that nobody has written, where memory holds that.
    pub(super) fn new(address: u64, bytes: usize, now: u64) -> Location<R> {
        let mut location = Location { address, bytes, messages: Vec::new(), last: 0, late: Vec::new() };
        location.messages.push(Message::new(None, 0, 0));
        location.hold(now);
        location
    }

    pub(super) fn is(&self, address: u64, bytes: usize) -> bool {
        (self.address, self.bytes) == (address, bytes)
    }

    pub(super) fn meets(&self, address: u64, bytes: u64) -> bool {
        self.address < address + bytes && address < self.address + self.bytes as u64
    }

    pub(super) fn view(&self, knows: impl Fn(Actor, u32) -> bool, is_strong: impl Fn(&Writer) -> bool) -> View {
        let set = |is: &dyn Fn(&Message<R>) -> bool| {
            self.messages.iter().enumerate().filter(|(_, message)| is(message)).map(|(at, _)| 1 << at).sum()
        };
        let is_known = |message: &Message<R>| {
            let mut observers = message.observers.iter();
            message.writer.is_some_and(|writer| knows(writer.actor, writer.epoch))
                || observers.any(|(actor, epoch)| knows(*actor, *epoch))
        };
        let strong = set(&|message| message.writer.as_ref().is_some_and(&is_strong));
        View { known: set(&is_known), strong, hands_over: true, shut: 0 }
    }

    /// What a write left, if memory has it no longer.
    pub(super) fn value(&self, at: usize) -> Option<u64> {
        if at == self.last { None } else { self.messages[at].value }
    }

    /// The writes that a read may return, the one in memory first, then the newest ones.
    pub(super) fn readable(&self, view: &View) -> impl Iterator<Item = usize> {
        let hidden = self.hidden(view.known);
        let older = (0..self.messages.len()).rev().filter(move |at| *at != self.last && hidden >> at & 1 == 0);
        std::iter::once(self.last).chain(older)
    }

    /// What somebody cannot read who has to see these.
    pub(super) fn hidden(&self, known: Set) -> Set {
        members(known).fold(0, |hidden, at| hidden | self.messages[at].before)
    }

    /// A read returns a write, and has to see these.
    pub(super) fn read(&mut self, at: usize, known: Set) {
        self.messages[at].never_after |= known & !(1 << at);
    }

    /// The places for a new write, at most so many; of an atomic's, which has read `source`. The first one is the last in the
    /// order.
    pub(super) fn positions(&self, view: &View, source: Option<usize>, most: usize) -> Vec<Position> {
        let mut found = Vec::new();
        let read = source.map_or(0, |at| 1 << at);
        let initial = u64::from(self.messages[0].writer.is_none());
        let after = source.map_or(0, |source| self.after(source) & view.strong);
        self.choose(view, (view.known | read & view.strong | initial, after), most, &mut found);
        found
    }

    fn after(&self, at: usize) -> Set {
        let after = self.messages.iter().enumerate().filter(|(_, message)| message.before >> at & 1 == 1);
        after.map(|(at, _)| 1 << at).sum()
    }

    fn choose(&self, view: &View, (before, after): (Set, Set), most: usize, found: &mut Vec<Position>) {
        let Some((before, after)) = self.settled(view, before, after) else { return };
        if found.len() >= most {
            return;
        }
        let open = view.strong & !before & !after;
        if open != 0 {
            let one = 1 << (63 - open.leading_zeros());
            self.choose(view, (before | one, after), most, found);
            self.choose(view, (before, after | one), most, found);
            return;
        }
        let is_behind_last = before >> self.last & 1 == 1;
        match after == 0 {
            true => found.push(Position { before, after, is_last: true }),
            // Another choice made one of those the last.
            false if is_behind_last => return,
            false => {}
        }
        if !is_behind_last && found.len() < most {
            found.push(Position { before, after, is_last: false });
        }
    }

    /// What follows if some writes come before a new one, and others after it. None, if that cannot be.
    fn settled(&self, view: &View, mut before: Set, mut after: Set) -> Option<(Set, Set)> {
        loop {
            let was = (before, after);
            before = members(before).fold(before, |set, at| set | self.messages[at].before);
            for (at, message) in self.messages.iter().enumerate() {
                let is_strong = view.strong >> at & 1 == 1;
                let is_open = message.open.is_some_and(|known| known & after == 0) && view.shut >> at & 1 == 0;
                before |= match message.source {
                    // An exchange that is not over returns what comes between.
                    _ if is_open && !view.hands_over => 0,
                    Source::Message(source) if is_strong => (before >> source & 1) << at,
                    Source::Forgotten if is_strong => 1 << at,
                    _ => 0,
                };
                after |= Set::from(message.before & after != 0) << at;
            }
            if before & after != 0 {
                return None;
            }
            if was == (before, after) {
                break;
            }
        }
        let is_kept = members(before).all(|at| self.messages[at].never_after & after == 0);
        (is_kept && !self.divides(before, after)).then_some((before, after))
    }

    /// Whether one of these writes would come between an atomic and what that has read.
    fn divides(&self, before: Set, after: Set) -> bool {
        members(after).any(|at| {
            let Source::Message(source) = self.messages[at].source else { return false };
            before >> source & 1 == 1 && self.messages[at].before & after & self.messages[at].strong != 0
        })
    }

    /// A write takes its place, or the last one. Gives those that are left, if others were forgotten.
    pub(super) fn write(
        &mut self,
        writer: Writer,
        view: &View,
        source: Option<usize>,
        position: Option<Position>,
    ) -> Option<Vec<usize>> {
        let at = self.messages.len();
        let position = position.unwrap_or(Position { before: (1 << at) - 1, after: 0, is_last: true });
        let mut never_after = 0;
        for message in members(position.after) {
            self.messages[message].before |= position.before | 1 << at;
        }
        for exchange in members(position.after & view.strong) {
            let Message { open: Some(known), source: Source::Message(found), .. } = self.messages[exchange] else {
                continue;
            };
            if position.before >> found & 1 == 1 {
                self.messages[exchange].source = Source::Message(at);
                never_after |= known;
            }
        }
        members(view.strong).for_each(|other| self.messages[other].strong |= 1 << at);
        let mut message = Message::new(Some(writer), position.before, view.strong);
        (message.source, message.never_after) = (source.map_or(Source::None, Source::Message), never_after);
        self.messages.push(message);
        if position.is_last {
            self.last = at;
        }
        (self.messages.len() == MESSAGES).then(|| self.forget_first())
    }

    /// The last write hands something over.
    pub(super) fn hands_over(&mut self, record: R) {
        if let Some(newest) = self.messages.last_mut() {
            newest.record = Some(record);
        }
    }

    /// Memory holds that.
    pub(super) fn hold(&mut self, now: u64) {
        self.messages[self.last].value = Some(now);
    }

    /// What a thread's newest write leaves, and whether memory holds it.
    pub(super) fn leaves(&mut self, actor: Actor, value: u64) -> bool {
        let is_own = |message: &Message<R>| message.writer.is_some_and(|writer| writer.actor == actor);
        let Some(at) = self.messages.iter().rposition(is_own) else { return true };
        self.messages[at].value = Some(value);
        at == self.last
    }

    /// Forgets a write, and those before it. Gives those that are left.
    fn forget_first(&mut self) -> Vec<usize> {
        // Those that are performed later return what they may return in any case.
        for late in std::mem::take(&mut self.late) {
            let source = late.exchanged.map(|own| self.messages[own].source);
            if late.kept.is_some() {
                self.late.push(late);
            } else if let Some(Source::Message(source)) = source {
                let (kept, after) = (self.messages[source].value, Vec::new());
                self.late.push(Late { kept, after, exchanged: None, ..late });
            }
        }
        let first = usize::from(self.last == 0);
        let gone = self.messages[first].before | 1 << first;
        let kept: Vec<usize> = (0..self.messages.len()).filter(|at| gone >> at & 1 == 0).collect();
        let moved = |set: Set| kept.iter().enumerate().map(|(new, old)| (set >> old & 1) << new).sum();
        self.messages = kept
            .iter()
            .map(|at| {
                let old = &self.messages[*at];
                let source = match old.source {
                    Source::Message(source) => kept.binary_search(&source).map_or(Source::Forgotten, Source::Message),
                    source => source,
                };
                let (before, strong, never_after) = (moved(old.before), moved(old.strong), moved(old.never_after));
                Message { before, strong, never_after, source, open: None, ..old.clone() }
            })
            .collect();
        self.last = kept.binary_search(&self.last).unwrap_or_default();
        kept
    }
}

impl<R> Message<R> {
    fn new(writer: Option<Writer>, before: Set, strong: Set) -> Message<R> {
        Message {
            value: None,
            writer,
            record: None,
            observers: Vec::new(),
            before,
            never_after: 0,
            strong,
            source: Source::None,
            open: None,
        }
    }
}
