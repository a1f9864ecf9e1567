//! One memory by several virtual addresses: each of them is as a proxy of its own.

use std::rc::Rc;

use super::actor::Actor;
use super::checks::{Checks, Event, Found, State};
use super::mark::Mark;
use crate::machine::lanes::lanes_where;
use crate::memory::alias::{Alias, first_address};
use crate::ptx::access::How;

use super::together::Together;

impl Checks {
    /// The launch has memory with several addresses.
    pub(crate) fn know_aliases(&mut self, aliases: &[Alias]) {
        self.aliases = aliases.into();
    }

    /// An access by the first addresses of its bytes: one event, or several where other memory begins.
    pub(crate) fn by_first_address(&self, mut event: Event) -> impl Iterator<Item = Event> + use<> {
        let aliases = Rc::clone(&self.aliases);
        let mut rest = Some(event.bytes);
        std::iter::from_fn(move || {
            let bytes = rest?;
            let (address, own, alias) = first_address(&aliases, event.address, bytes as u64);
            let part = Event { address, bytes: own as usize, how: How { alias, ..event.how }, ..event };
            rest = Some(bytes - own as usize).filter(|left| *left > 0);
            event.address += own;
            Some(part)
        })
    }

    /// The same, of bytes that are in one memory.
    pub(crate) fn named_first(&self, event: Event) -> Event {
        if !self.has_other_address(event) {
            return event;
        }
        self.by_first_address(event).next().unwrap_or(event)
    }

    /// The first address of a byte.
    pub(super) fn first_address_of(&self, address: u64) -> u64 {
        if self.aliases.is_empty() { address } else { first_address(&self.aliases, address, 1).0 }
    }

    /// `fence.proxy.alias`
    pub(super) fn fence_aliases(&mut self, actor: Actor) {
        if !self.aliases.is_empty() {
            let threads = self.threads;
            let state = self.state(actor);
            let before = state.release(actor, threads);
            state.known.release_aliases(&before.ordered);
        }
    }

    #[inline]
    pub(super) fn has_other_address(&self, event: Event) -> bool {
        !self.aliases.is_empty() && event.how.alias == 0 && self.is_near_alias(event.address, event.bytes as u64)
    }

    #[cold]
    fn is_near_alias(&self, address: u64, bytes: u64) -> bool {
        self.aliases.iter().any(|alias| address < alias.begin + alias.bytes && alias.begin < address + bytes)
    }

    /// Whether some of these threads use memory by another address than its first.
    pub(super) fn have_other_addresses(&self, together: &Together<'_>) -> bool {
        let bytes = together.bytes as u64;
        !self.aliases.is_empty()
            && lanes_where(together.lanes, |lane| self.is_near_alias(together.addresses[lane], bytes)) != 0
    }

    /// The address by which an access names a place, whose first address this is.
    fn named_by(&self, alias: u16, first: u64) -> u64 {
        let alias = usize::from(alias).checked_sub(1).and_then(|place| self.aliases.get(place));
        alias.map_or(first, |alias| first - alias.of + alias.begin)
    }

    /// The place of an access, as its thread names it.
    pub(super) fn place_by(&self, how: How, first: u64) -> String {
        self.place_of(self.named_by(how.alias, first))
    }

    /// The accesses are ordered, or go together, and they name the bytes by different addresses.
    pub(super) fn other_address(&self, old: &Mark, event: Event, at: u64, found: &mut Found) {
        found.title = "bytes are used by two virtual addresses, and no `fence.proxy.alias` is between".into();
        let first = self.place_of(self.named_by(old.alias, at.max(event.address)));
        found.notes.push(format!("the earlier access names them {first}, which is another address of the same memory"));
        found.notes.push("each address is as a proxy of its own: neither barriers, flags nor the order of a thread hold between two of them".into());
        found.help = "execute `fence.proxy.alias` (cuda::ptx::fence_proxy_alias()) after the first access and before the second, in one of \
                      their threads or in one that is ordered between; or use one of the two addresses in this kernel"
            .into();
    }
}

impl State {
    /// Whether a fence is between an access by another address and what the thread does now.
    pub(super) fn has_fenced(&self, old: &Mark, actor: Actor) -> bool {
        self.known.aliased().is_some_and(|aliased| match old.is_engine {
            true => aliased.of_engine(old.who) >= old.epoch,
            false => aliased.of_thread(actor.block, actor.number) >= old.epoch,
        })
    }
}
