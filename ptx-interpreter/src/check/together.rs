//! Threads of a warp access memory together. Where they access neighbouring bytes, or the same ones, and know the same, all of them
//! are looked at once.

use super::actor::Actor;
use super::checks::{Checks, Event, State};
use super::mark::{CELL, Mark, Row, WHOLE};
use super::record::Numbers;
use crate::machine::lanes::{LANES, Lanes, lanes_in_row, lanes_of, lanes_where};
use crate::ptx::access::How;

/// Fewer lanes are in a row only if they are neighbours.
const FEW: u32 = 8;

/// A weak access of threads of a warp, or atomics.
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
    /// Whether a lane writes the same as some others of its warp; or if there are none, what is there already.
    pub(crate) rewrites: &'a dyn Fn(usize, u32) -> bool,
}

impl Together<'_> {
    pub(super) fn event(&self, lane: usize) -> Event {
        let actor = Actor { block: self.block, number: self.first + lane };
        let Together { site, bytes, how, .. } = *self;
        Event { actor, site, address: self.addresses[lane], bytes, how, engine: None }
    }

    /// Of some lanes the lowest one, and those whose addresses are as many steps from its own as they are lanes.
    #[inline]
    fn in_step(&self, lanes: u32, stride: u64) -> u32 {
        let lowest = lanes.trailing_zeros() as usize;
        let first = self.addresses[lowest].wrapping_sub(lowest as u64 * stride);
        lanes_in_row(lanes, self.addresses, first, stride)
    }

    /// Of some lanes the lowest one, and those that are in a row with it.
    fn in_row(&self, lanes: u32, row: Row) -> Option<Alike> {
        let lowest = lanes.trailing_zeros() as usize;
        let (begin, stride) = (self.addresses[lowest], u64::from(row.stride));
        if stride < CELL || Row::new(lowest, begin, stride) != row {
            return None;
        }
        let mut own = self.in_step(lanes, stride);
        if own != lanes {
            // Lanes that have gone apart in a loop may be whole rows from each other.
            let all = LANES as u64 * stride;
            let is_in_row = |lane: usize| {
                let distance = self.addresses[lane].wrapping_sub(begin + (lane - lowest) as u64 * stride);
                (distance as i64).unsigned_abs().is_multiple_of(all)
            };
            own |= lanes_where(lanes & !own, is_in_row);
        }
        Some(Alike { lanes: own, row })
    }

    /// Of some lanes the lowest one, and those that are as far from it as the instruction's lanes mostly are: in a loop they may be
    /// some turns behind the others.
    fn behind(&self, lanes: u32, stride: u64) -> Option<Alike> {
        let lowest = lanes.trailing_zeros() as usize;
        let lanes = (stride >= CELL).then(|| self.in_step(lanes, stride));
        let lanes = lanes.filter(|lanes| !lanes.is_power_of_two())?;
        Some(Alike { lanes, row: Row::new(lowest, self.addresses[lowest], stride) })
    }

    /// Of some lanes the lowest one, and those that read the same element.
    fn same(&self, lanes: u32) -> Alike {
        Alike { lanes: self.in_step(lanes, 0), row: Row::default() }
    }

    /// Of some lanes the lowest one, and those that have their elements at equal distances from its own, or the same element.
    #[inline]
    fn alike(&self, lanes: u32) -> Alike {
        let lowest = lanes.trailing_zeros();
        let begin = self.addresses[lowest as usize];
        let rest = lanes & (lanes - 1);
        let next = rest.trailing_zeros();
        let one = Alike { lanes: 1 << lowest, row: Row::default() };
        if rest == 0 {
            return one;
        }
        let (distance, steps) = (self.addresses[next as usize].wrapping_sub(begin), u64::from(next - lowest));
        let (bytes, stride) = (self.bytes as u64, distance / steps);
        let is_row = distance.is_multiple_of(steps)
            && (bytes..Row::STRIDE).contains(&stride)
            && (stride == bytes || stride.is_multiple_of(CELL));
        if !is_row {
            return if self.how.writes { one } else { self.same(lanes) };
        }
        let lanes = self.in_step(lanes, stride);
        let alike = Alike { lanes, row: Row::new(lowest as usize, begin, stride) };
        // Few lanes far apart are in a row by chance.
        if stride > bytes && lanes.count_ones() < FEW {
            return if self.how.writes { one } else { self.same(lanes) };
        }
        let are_whole = |(begin, end): (u64, u64)| begin.is_multiple_of(CELL) && end.is_multiple_of(CELL);
        if stride >= CELL || self.ranges(alike).all(are_whole) { alike } else { one }
    }

    /// The bytes of neighbouring lanes in a row.
    fn ranges(&self, alike: Alike) -> impl Iterator<Item = (u64, u64)> {
        let (mut rest, bytes) = (alike.lanes, self.bytes as u64);
        let is_dense = u64::from(alike.row.stride) == bytes;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros();
            let begin = *self.addresses.get(lowest as usize)?;
            let follow = if is_dense { self.in_step(rest, bytes).checked_shr(lowest)?.trailing_ones() } else { 1 };
            let count = u64::from(follow);
            rest &= !((((1u64 << count) - 1) << lowest) as u32);
            Some((begin, begin + count * bytes))
        })
    }
}

/// Lanes that are looked at together, and the row of their elements; none if they have the same one.
#[derive(Clone, Copy)]
struct Alike {
    lanes: u32,
    row: Row,
}

impl State {
    /// Whether two threads know the same, and are in the same epoch.
    pub(super) fn is_as(&self, other: &State) -> bool {
        self.epoch == other.epoch && self.known.ordered.is(&other.known.ordered)
    }
}

impl Checks {
    /// Checks an access and remembers it.
    pub(crate) fn access_together(&mut self, together: &Together<'_>) {
        if self.have_other_addresses(together) {
            return lanes_of(together.lanes).for_each(|lane| {
                let rewrites = |lanes| together.how.writes && (together.rewrites)(lane, lanes);
                self.access_rewriting(together.event(lane), &rewrites);
            });
        }
        self.stay(together);
        if self.cluster > 1
            || together.event(together.lanes.trailing_zeros() as usize).is_of_other_block()
            || self.may_be_early(together)
            || self.peers.is_some()
            || together.how.writes && self.has_map_reads()
        {
            lanes_of(together.lanes).for_each(|lane| self.visits(together.event(lane)));
        }
        if together.how.scope.is_some() {
            return lanes_of(together.lanes).for_each(|lane| self.compare(together.event(lane), true, &|_| false));
        }
        let mut rest = together.lanes;
        while rest != 0 {
            let warp = together.first / LANES;
            let mut alike = self.threads_of(together.block).alike(warp, rest, State::is_as);
            rest &= !alike;
            let mut may_be_apart = true;
            while alike != 0 {
                let row = self.row_of(together, alike);
                if may_be_apart && row.lanes.is_power_of_two() && self.are_apart(together, alike & !row.lanes) {
                    let rest = self.scattered(together, alike);
                    may_be_apart = rest != alike;
                    alike = rest;
                    continue;
                }
                self.run(together, row);
                alike &= !row.lanes;
            }
        }
    }

    /// The lanes that can be looked at with the lowest of some: in the row of most lanes that executed the instruction before, so
    /// that few of them have the same marks as all.
    fn row_of(&mut self, together: &Together<'_>, lanes: u32) -> Alike {
        let site = self.sites.instruction(together.site) as usize;
        let known = self.rows.get(site).copied().unwrap_or_default();
        let in_row = together.in_row(lanes, known).or_else(|| together.behind(lanes, known.stride.into()));
        if let Some(alike) = in_row {
            return alike;
        }
        let alike = together.alike(lanes);
        if alike.lanes.count_ones() as usize > LANES / 2 && alike.row != Row::default() {
            self.rows.resize(self.rows.len().max(site + 1), Row::default());
            self.rows[site] = alike.row;
        }
        alike
    }

    /// Whether many lanes are in no order: the lowest one is in no row with others.
    fn are_apart(&mut self, together: &Together<'_>, lanes: u32) -> bool {
        lanes.count_ones() >= FEW && self.row_of(together, lanes).lanes.is_power_of_two()
    }

    /// Does it for lanes that can be looked at together.
    fn run(&mut self, together: &Together<'_>, alike: Alike) {
        let event = together.event(alike.lanes.trailing_zeros() as usize);
        let mark = self.mark(event, self.known_state(event.actor).epoch);
        if alike.row == Row::default() {
            for (bytes, begin, end) in event.parts() {
                let mark = Mark { lanes: alike.lanes, bytes, ..mark };
                self.quick(event, &mark, [(begin, end)], &mut |checks, at| checks.one_by_one(together, mark, at));
            }
            return;
        }
        // The same mark for all parts of a row, so that cells have the same sets.
        let row = alike.row;
        let bytes = event.parts().map(|(bytes, ..)| bytes).next();
        let bytes = bytes.filter(|_| u64::from(row.stride) >= CELL).unwrap_or(WHOLE);
        let mark = Mark { lanes: together.all, bytes, row, ..mark };
        let ranges = together.ranges(alike);
        self.quick(event, &mark, ranges, &mut |checks, at| checks.one_by_one(together, mark, at));
    }

    /// Looks closely at what each thread does to a cell.
    #[cold]
    fn one_by_one(&mut self, together: &Together<'_>, mark: Mark, at: u64) {
        for part in mark.at(at) {
            for lane in lanes_of(part.lanes) {
                let rewrites = |lanes| together.how.writes && (together.rewrites)(lane, lanes);
                let mark = Mark { lanes: 1 << lane, ..part };
                self.closely(together.event(lane), mark, (0, &mut Numbers::new()), at, &rewrites);
            }
        }
    }
}
