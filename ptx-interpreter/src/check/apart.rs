//! The variables in shared memory are apart, although they are in one piece.

use super::checks::{Checks, Event, Found};
use super::finding::Kind;
use super::together::Together;
use crate::machine::lanes::{each, lanes_of};
use crate::memory::spaces::{Named, Owner, owner};

impl Checks {
    /// Whether it is known in which variables an instruction has to stay.
    #[inline]
    pub(super) fn has_to_stay(&self, site: u32) -> bool {
        !self.sites.within(site).is_empty()
    }

    /// An access through an address that is computed from a variable stays in it.
    #[inline]
    pub(super) fn stays(&mut self, event: Event) {
        if self.has_to_stay(event.site) && event.bytes > 0 {
            self.is_within(event);
        }
    }

    /// The same for threads of a warp. Most of them stay.
    pub(super) fn stay(&mut self, together: &Together<'_>) {
        if !self.has_to_stay(together.site) {
            return;
        }
        let (mut low, mut high) = (u64::MAX, 0);
        each(together.lanes, |lane| {
            low = low.min(together.addresses[lane]);
            high = high.max(together.addresses[lane]);
        });
        let [first, last] = [low, high].map(|address| owner(address, self.cluster as usize));
        let is_in_one = matches!(first.0, Owner::Shared(_)) && first.0 == last.0;
        let end = last.1 + together.bytes as u64;
        let mut within = self.sites.within(together.site).iter();
        if !is_in_one || !within.any(|(begin, own)| *begin <= first.1 && end <= *own) {
            lanes_of(together.lanes).for_each(|lane| self.stays(together.event(lane)));
        }
    }

    fn is_within(&mut self, event: Event) {
        let (Owner::Shared(_), at) = owner(event.address, self.cluster as usize) else { return };
        let within = self.sites.within(event.site);
        let end = at + event.bytes as u64;
        if within.iter().any(|(begin, own)| *begin <= at && end <= *own) {
            return;
        }
        let begin = within[0].0;
        let Some(Named { name, bytes, .. }) = self.variables.iter().find(|variable| variable.at == begin) else {
            return;
        };
        let name = super::whereabouts::plain(name);
        let from = match at.checked_sub(begin) {
            Some(far) => format!("byte {far} of `{name}`, which has {bytes} bytes"),
            None => format!("{} bytes before `{name}`", begin - at),
        };
        let verb = if event.how.writes { "writes" } else { "reads" };
        // The bytes that are beyond the end are those that are somewhere else.
        let inside = (begin..begin + bytes).contains(&at);
        let there = self.place_of(if inside { event.address - at + begin + bytes } else { event.address });
        let what = format!("{verb} {} bytes at {from}: that is {there}", event.bytes);
        self.find(Found {
            kind: Kind::Bounds,
            title: "an access through the address of one variable in shared memory is outside of that variable".into(),
            places: vec![(event.actor, event.site, what)],
            notes: vec![
                "what lies behind a variable is chosen by the assembler, and may be another variable on a GPU".into(),
            ],
            help: format!(
                "keep the index within `{name}`, or make the two one array or structure if the access is meant"
            ),
            times: 1,
        });
    }
}
