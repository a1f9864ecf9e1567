//! Threads of a warp access memory together. Where they access neighbouring bytes, or the same ones, and know the same, all of them
//! are looked at once.

use super::actor::Actor;
use super::checks::{Checks, Event, State};
use super::mark::{CELL, Mark, Row, WHOLE};
use crate::access::How;
use crate::lanes::{Lanes, lanes_of};

/// A weak access of threads of a warp.
#[derive(Clone, Copy)]
pub(crate) struct Together<'a> {
    pub(crate) block: u32,
    /// The thread in the block that is lane 0.
    pub(crate) first: usize,
    pub(crate) lanes: u32,
    /// All lanes of the warp.
    pub(crate) all: u32,
    pub(crate) addresses: &'a Lanes,
    /// Bytes of each thread.
    pub(crate) bytes: usize,
    pub(crate) how: How,
    pub(crate) site: u32,
    /// Whether a lane writes what is there already.
    pub(crate) rewrites: &'a dyn Fn(usize) -> bool,
}

impl Together<'_> {
    fn event(&self, lane: usize) -> Event {
        let actor = Actor { block: self.block, number: self.first + lane };
        let Together { site, bytes, how, .. } = *self;
        Event { actor, site, address: self.addresses[lane], bytes, how, engine: None }
    }

    /// Of some lanes the lowest one, and those that have their elements at equal distances from its own, or the same element.
    #[inline]
    fn alike(&self, lanes: u32) -> Alike {
        let lowest = lanes.trailing_zeros();
        let begin = self.addresses[lowest as usize];
        let rest = lanes & (lanes - 1);
        let next = rest.trailing_zeros();
        let one = Alike { lanes: 1 << lowest, stride: 0 };
        if rest == 0 {
            return one;
        }
        let (distance, steps) = (self.addresses[next as usize].wrapping_sub(begin), u64::from(next - lowest));
        let (bytes, stride) = (self.bytes as u64, distance / steps);
        let is_row = distance.is_multiple_of(steps)
            && (bytes..Row::STRIDE).contains(&stride)
            && (stride == bytes || stride.is_multiple_of(CELL));
        if !is_row && (distance != 0 || self.how.writes) {
            return one;
        }
        let at = |lane: u32| begin.wrapping_add(u64::from(lane - lowest) * stride);
        let follows = |lane: &usize| self.addresses[*lane] == at(*lane as u32);
        let lanes = lanes_of(lanes).filter(follows).fold(0, |set, lane| set | 1 << lane);
        let alike = Alike { lanes, stride };
        let are_whole = |(begin, end): (u64, u64)| begin.is_multiple_of(CELL) && end.is_multiple_of(CELL);
        if stride >= CELL || stride == 0 || self.ranges(alike).all(are_whole) { alike } else { one }
    }

    /// The bytes of neighbouring lanes in a row.
    fn ranges(&self, alike: Alike) -> impl Iterator<Item = (u64, u64)> {
        let (mut rest, bytes) = (alike.lanes, self.bytes as u64);
        let is_dense = alike.stride == bytes;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros();
            let count = if is_dense { (rest.checked_shr(lowest)?).trailing_ones() } else { 1 };
            let begin = self.addresses.get(lowest as usize)?;
            rest &= !((((1u64 << count) - 1) << lowest) as u32);
            Some((*begin, begin + u64::from(count) * bytes))
        })
    }
}

/// Lanes that are looked at together, and the distance of their elements; 0 if they have the same one.
#[derive(Clone, Copy)]
struct Alike {
    lanes: u32,
    stride: u64,
}

impl State {
    /// Whether two threads know the same, and are in the same epoch.
    fn is_as(&self, other: &State) -> bool {
        self.epoch == other.epoch && self.known.ordered.is(&other.known.ordered)
    }
}

impl Checks {
    /// Checks an access and remembers it.
    pub(crate) fn access_together(&mut self, together: &Together<'_>) {
        if self.cluster > 1 || self.has_grid_before {
            lanes_of(together.lanes).for_each(|lane| self.visits(together.event(lane)));
        }
        let mut rest = together.lanes;
        while rest != 0 {
            let warp = together.first / crate::lanes::LANES;
            let mut alike = self.threads_of(together.block).alike(warp, rest, State::is_as);
            rest &= !alike;
            while alike != 0 {
                alike &= !self.run(together, alike);
            }
        }
    }

    /// Does it for the lowest of some lanes, and those that can be looked at with it. Gives these.
    fn run(&mut self, together: &Together<'_>, lanes: u32) -> u32 {
        let lowest = lanes.trailing_zeros() as usize;
        let event = together.event(lowest);
        let alike = together.alike(lanes);
        let mark = self.mark(event, self.known_state(event.actor).epoch);
        let mut quick = |mark: Mark, begin: u64, end: u64| {
            self.quick(event, &mark, (begin, end), &mut |checks, at| checks.one_by_one(together, mark, at));
        };
        if alike.stride == 0 {
            for (bytes, begin, end) in event.parts() {
                quick(Mark { lanes: alike.lanes, bytes, ..mark }, begin, end);
            }
            return alike.lanes;
        }
        // The same mark for all parts of a row, so that cells have the same sets.
        let row = Row::new(lowest, event.address, alike.stride);
        let bytes = event.parts().map(|(bytes, ..)| bytes).next().filter(|_| alike.stride >= CELL).unwrap_or(WHOLE);
        let mark = Mark { lanes: together.all, bytes, row, ..mark };
        for (begin, end) in together.ranges(alike) {
            quick(mark, begin, end);
        }
        alike.lanes
    }

    /// Looks closely at what each thread does to a cell.
    #[cold]
    fn one_by_one(&mut self, together: &Together<'_>, mark: Mark, at: u64) {
        for part in mark.at(at) {
            for lane in lanes_of(part.lanes) {
                let rewrites = together.how.writes && (together.rewrites)(lane);
                let mark = Mark { lanes: 1 << lane, ..part };
                self.closely(together.event(lane), mark, (0, &mut Vec::new()), at, rewrites);
            }
        }
    }
}
