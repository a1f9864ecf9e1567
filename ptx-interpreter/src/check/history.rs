//! What a load may return besides the newest value: older ones, as long as none that the load has to see is newer.
//!
//! Writes of a location are put in the order in which they are executed. A load may return one of them unless a later one
//! comes before the load in causality order. So no axiom of the memory model is broken: the order of writes has causality in
//! it, an atomic reads the newest value, and nobody reads what is not yet written.

use super::actor::Actor;
use super::shadow::QuickMap;

/// Writes that are remembered of 16 bytes, at most. Of more the first ones are forgotten.
const MESSAGES: usize = 64;
/// Bytes that are remembered together.
const PLACE: u64 = 16;

/// A write, or what was there before the first one.
#[derive(Clone, Debug)]
struct Message<R> {
    address: u64,
    bytes: usize,
    /// What it left; of the newest one memory has it.
    value: u64,
    writer: Option<(Actor, u32)>,
    /// The number of a strong one, and what it hands over.
    record: Option<(u32, R)>,
    observers: Vec<(Actor, u32)>,
}

/// The writes of each place, the newest last.
#[derive(Debug)]
pub(super) struct History<R> {
    places: QuickMap<Vec<Message<R>>>,
    /// The next read returns an older value, and that is what it observes.
    chosen: Option<Option<R>>,
}

impl<R> Default for History<R> {
    fn default() -> Self {
        History { places: QuickMap::default(), chosen: None }
    }
}

impl<R> Message<R> {
    fn is(&self, address: u64, bytes: usize) -> bool {
        (self.address, self.bytes) == (address, bytes)
    }

    fn meets(&self, address: u64, bytes: usize) -> bool {
        self.address < address + bytes as u64 && address < self.address + self.bytes as u64
    }

    /// Whether it comes before something in causality order, before which that is known.
    fn is_before(&self, known: &impl Fn((Actor, u32)) -> bool) -> bool {
        self.writer.is_some_and(known) || self.observers.iter().copied().any(known)
    }
}

impl<R: Clone> History<R> {
    /// The older values that a load may return, the newest of them first, by their positions. Of a thread and its epoch it is
    /// known whether that comes before the load.
    pub(super) fn older(&self, known: impl Fn((Actor, u32)) -> bool, address: u64, bytes: usize) -> Vec<usize> {
        let (mut older, mut is_newest) = (Vec::new(), true);
        let Some(messages) = self.places.get(&(address / PLACE)) else { return older };
        for (number, message) in messages.iter().enumerate().rev() {
            if !message.meets(address, bytes) {
                continue;
            }
            if !message.is(address, bytes) {
                break;
            }
            if !is_newest {
                older.push(number);
            }
            is_newest = false;
            if message.is_before(&known) {
                break;
            }
        }
        older
    }

    /// The next read returns the value of such a position.
    pub(super) fn choose(&mut self, address: u64, number: usize) -> Option<u64> {
        let message = self.places.get(&(address / PLACE))?.get(number)?;
        self.chosen = Some(message.record.as_ref().map(|(_, record)| record.clone()));
        Some(message.value)
    }

    /// A thread writes, where memory holds that.
    pub(super) fn write(&mut self, writer: (Actor, u32), address: u64, bytes: usize, old: u64) {
        let messages = self.places.entry(address / PLACE).or_default();
        let message = |writer, value| Message { address, bytes, value, writer, record: None, observers: Vec::new() };
        match messages.iter_mut().rev().find(|message| message.is(address, bytes)) {
            Some(last) => last.value = old,
            None => messages.push(message(None, old)),
        }
        messages.push(message(Some(writer), 0));
        if messages.len() > MESSAGES {
            messages.remove(0);
        }
    }

    /// The newest write of a place is this strong one.
    pub(super) fn hands_over(&mut self, address: u64, number: u32, record: &R) {
        let messages = self.places.get_mut(&(address / PLACE));
        if let Some(last) = messages.and_then(|messages| messages.last_mut()) {
            last.record = Some((number, record.clone()));
        }
    }

    /// A thread observes a strong write.
    pub(super) fn observe(&mut self, address: u64, number: u32, observer: (Actor, u32)) {
        for message in self.places.get_mut(&(address / PLACE)).into_iter().flatten() {
            if message.record.as_ref().is_some_and(|(own, _)| *own == number) {
                message.observers.push(observer);
            }
        }
    }

    /// Forgets what was written to some bytes.
    pub(super) fn forget(&mut self, address: u64, bytes: u64) {
        (address / PLACE..=(address + bytes - 1) / PLACE).for_each(|place| drop(self.places.remove(&place)));
    }

    /// What the read observes, if an older value was chosen for it.
    pub(super) fn chosen(&mut self) -> Option<Option<R>> {
        self.chosen.take()
    }
}
