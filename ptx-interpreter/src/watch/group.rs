//! Tells the checks what the threads of a group do at one time.

use crate::check::Together;
use crate::machine::Machine;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each, lanes_of, lanes_where};
use crate::machine::stop::Result;
use crate::memory::spaces::{MODULE, PARAMETERS};
use crate::ptx::access::How;

/// What the lanes of a warp store.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    /// Whether a lane stores what is at its place.
    pub(crate) is_there: &'a dyn Fn(usize, &[u8]) -> bool,
    /// Whether two lanes store the same.
    pub(crate) is_same: &'a dyn Fn(usize, usize) -> bool,
}

impl Machine<'_> {
    /// Each thread of a group loads `bytes` bytes.
    #[inline]
    pub(crate) fn watch(&mut self, group: Group, addresses: &Lanes, bytes: usize, how: How) -> Result<()> {
        self.watch_store(group, addresses, bytes, how, None)
    }

    /// Each thread of a group stores `bytes` bytes, or loads them if nothing is `written`.
    #[inline]
    pub(crate) fn watch_store(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        how: How,
        written: Option<Written<'_>>,
    ) -> Result<()> {
        let Some(checks) = &self.checks else { return Ok(()) };
        let one_by_one = how.scope.is_some() || how.discards || checks.remembers_values();
        if !one_by_one && self.is_own(group, addresses, bytes, how.writes) {
            return Ok(());
        }
        let has_shadow = has_shadow(group, addresses);
        let weakly = written.filter(|_| how.scope.is_none());
        let places = if has_shadow && (weakly.is_some() || !one_by_one) {
            Some(self.places(group, addresses, bytes, how.writes)?)
        } else {
            None
        };
        let rewrites = |lane: usize, stored: u32| {
            let Some((Written { is_there, is_same }, places)) = weakly.zip(places.as_ref()) else {
                return false;
            };
            let now = lanes_where(stored & group.mask, |other| addresses[other] == addresses[lane]);
            // SAFETY: `places` checked that `bytes` bytes are there, and nobody writes them now.
            let is_rewritten =
                || is_there(lane, unsafe { std::slice::from_raw_parts(places.of(lane, addresses), bytes) });
            lanes_of(now).all(|other| is_same(other, lane)) && (now != 0 && now == stored || is_rewritten())
        };
        if one_by_one || !has_shadow {
            return group.threads().try_for_each(|thread| {
                let (lane, address) = (thread.lane, addresses[thread.lane]);
                if written.is_some() {
                    self.choose_place(thread, address, bytes, how)?;
                }
                self.watch_rewrite(thread, address, bytes, how, &|stored| rewrites(lane, stored))
            });
        }
        self.tell_together(group, addresses, bytes, how, &rewrites);
        Ok(())
    }

    /// Each thread of a group changes `bytes` bytes by an atomic, that are there. Gives whether the checks have been told.
    pub(crate) fn watch_changes(&mut self, group: Group, addresses: &Lanes, bytes: usize, how: How) -> bool {
        let Some(checks) = &mut self.checks else { return true };
        if !has_shadow(group, addresses) {
            return false;
        }
        each(group.mask, |lane| checks.has_values_now(addresses[lane], bytes));
        self.tell_together(group, addresses, bytes, how, &|_, _| false);
        true
    }

    /// The threads of a group access `bytes` bytes each, at one time.
    pub(crate) fn tell_together(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        how: How,
        rewrites: &dyn Fn(usize, u32) -> bool,
    ) {
        let first = self.number_of(group.thread(0));
        let (block, site) = (self.block_of(group.thread(0)) as u32, self.site);
        let lanes = group.mask;
        let all = u32::MAX >> (LANES - LANES.min(self.threads - first));
        self.tell(|checks, _| {
            checks.access_together(&Together { block, first, lanes, all, addresses, bytes, how, site, rewrites });
        });
    }
}

/// Whether all addresses of a group are of memory that other threads may use.
fn has_shadow(group: Group, addresses: &Lanes) -> bool {
    let mut has = true;
    each(group.mask, |lane| has &= !(PARAMETERS..MODULE).contains(&addresses[lane]));
    has
}
