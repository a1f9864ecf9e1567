//! Registers whose bits are undefined: since nobody has written what a load has brought, or a shuffle has read a lane that was not there;
//! and what is computed with such bits.

use std::ops::Range;

use crate::check::Origin;
use crate::machine::lanes::{LANES, Lanes, lanes_where};

/// The undefined bits of a value in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    pub(crate) lanes: Lanes,
    pub(crate) origin: Origin,
}

impl Bits {
    /// The lanes that have some.
    pub(crate) fn mask(&self) -> u32 {
        lanes_where(u32::MAX, |lane| self.lanes[lane] != 0)
    }
}

struct Value {
    frame: usize,
    register: usize,
    bits: Bits,
}

/// Lines of a function that do nothing but compute, and threads for which a value that is undefined has decided whether they execute them.
pub(crate) struct Region {
    pub(crate) frame: usize,
    pub(crate) lines: Range<usize>,
    pub(crate) mask: u32,
    pub(crate) origin: Origin,
}

/// Those of a warp. Mostly there are none.
#[derive(Default)]
pub(crate) struct Undefined {
    values: Vec<Value>,
    /// A bit for each register that has been among them since there were none, in whatever frame.
    registers: Vec<u64>,
    /// Where its threads are.
    pub(crate) regions: Vec<Region>,
}

impl Undefined {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.regions.is_empty()
    }

    /// Whether something of a register is undefined, or of the one behind it.
    pub(crate) fn has(&self, frame: usize, register: usize) -> bool {
        (register..register + 2).any(|register| self.place(frame, register).is_some())
    }

    pub(crate) fn of(&self, frame: usize, register: usize) -> Option<&Bits> {
        Some(&self.values[self.place(frame, register)?].bits)
    }

    fn place(&self, frame: usize, register: usize) -> Option<usize> {
        if self.registers.get(register / 64).is_none_or(|bits| bits >> (register % 64) & 1 == 0) {
            return None;
        }
        self.values.iter().position(|value| value.frame == frame && value.register == register)
    }

    /// A register gets a new value in the lanes of a mask, of which some bits are undefined, or none.
    pub(crate) fn set(&mut self, (frame, register): (usize, usize), mask: u32, new: Option<&Bits>) {
        let place = self.place(frame, register);
        let lane = |lane: usize| if mask >> lane & 1 == 1 { new.map_or(0, |new| new.lanes[lane]) } else { 0 };
        match (place, new) {
            (Some(place), _) => {
                let own = &mut self.values[place].bits;
                let stays = own.mask() & !mask != 0;
                (0..LANES).filter(|lane| mask >> lane & 1 == 1).for_each(|at| own.lanes[at] = lane(at));
                if own.mask() == 0 {
                    self.values.swap_remove(place);
                } else if let Some(new) = new.filter(|new| new.mask() & mask != 0) {
                    let is_computed = new.origin.is_computed || stays && own.origin.is_computed;
                    own.origin = Origin { is_computed, ..if stays { own.origin } else { new.origin } };
                }
            }
            (None, Some(Bits { origin, .. })) => {
                let bits = Bits { lanes: std::array::from_fn(lane), origin: *origin };
                if bits.mask() != 0 {
                    if self.values.is_empty() {
                        self.registers.clear();
                    }
                    self.registers.resize(self.registers.len().max(register / 64 + 1), 0);
                    self.registers[register / 64] |= 1 << (register % 64);
                    self.values.push(Value { frame, register, bits });
                }
            }
            (None, None) => {}
        }
    }

    /// A function begins, and its registers with it.
    pub(crate) fn forget(&mut self, frame: usize) {
        self.values.retain(|value| value.frame != frame);
        self.regions.retain(|region| region.frame != frame);
    }

    /// Threads execute a line, and are in no region that does not have it. Gives those for whom it is in one.
    pub(crate) fn at(&mut self, frame: usize, mask: u32, line: usize) -> Option<(u32, Origin)> {
        let away = |region: &Region| region.frame == frame && !region.lines.contains(&line);
        self.regions.iter_mut().filter(|region| away(region)).for_each(|region| region.mask &= !mask);
        self.regions.retain(|region| region.mask != 0);
        let here = self.regions.iter().find(|region| region.frame == frame && region.mask & mask != 0);
        here.map(|region| (region.mask & mask, region.origin))
    }
}
