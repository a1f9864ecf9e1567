//! `shfl.sync`: the value of another lane, and whether there is such a lane.

use super::together::collective;
use crate::machine::Step;
use crate::machine::exchange::Exchange;
use crate::machine::lanes::{LANES, Lanes, each};
use crate::ptx::operand::Operand;

enum How {
    Up,
    Down,
    Butterfly,
    Index,
}

struct Shuffle {
    how: How,
    to: Operand,
    exists: Option<Operand>,
    value: Operand,
    by: Operand,
    control: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let how = match words {
        ["shfl", "sync", "up", "b32"] => How::Up,
        ["shfl", "sync", "down", "b32"] => How::Down,
        ["shfl", "sync", "bfly", "b32"] => How::Butterfly,
        ["shfl", "sync", "idx", "b32"] => How::Index,
        _ => return None,
    };
    let [to, value, by, control, mask] = operands.try_into().ok()?;
    let (to, exists) = match to {
        Operand::Pair(to, exists) => (*to, Some(*exists)),
        to => (to, None),
    };
    collective(mask, Shuffle { how, to, exists, value, by, control })
}

impl Exchange for Shuffle {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [&self.value, &self.by, &self.control].map(Some)
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [Some(&self.to), self.exists.as_ref()]
    }

    fn exchange(&self, [own, by, control]: &[Lanes; 3], here: u32, _: u32) -> [Lanes; 2] {
        let (mut results, mut found) = ([0; LANES], [0; LANES]);
        each(here, |lane| {
            let (from, exists) = self.source(lane as i32, (by[lane] & 31) as i32, control[lane]);
            // What a lane has that is not here is undefined; here it is the thread's own.
            let known = exists && here >> from & 1 == 1;
            let from = if known { from as usize } else { lane };
            (results[lane], found[lane]) = (own[from % LANES] & 0xffff_ffff, exists.into());
        });
        [results, found]
    }

    fn sources(&self, [_, by, control]: &[Lanes; 3]) -> Option<[usize; LANES]> {
        Some(std::array::from_fn(|lane| match self.source(lane as i32, (by[lane] & 31) as i32, control[lane]) {
            (from, true) => from as usize,
            (_, false) => lane,
        }))
    }
}

impl Shuffle {
    fn source(&self, lane: i32, by: i32, control: u64) -> (i32, bool) {
        let (clamp, segment) = ((control & 31) as i32, (control >> 8 & 31) as i32);
        let most = (lane & segment) | (clamp & !segment);
        let least = lane & segment;
        match self.how {
            How::Up => (lane - by, lane - by >= most),
            How::Down => (lane + by, lane + by <= most),
            How::Butterfly => (lane ^ by, (lane ^ by) <= most),
            How::Index => (least | by & !segment, (least | by & !segment) <= most),
        }
    }
}
