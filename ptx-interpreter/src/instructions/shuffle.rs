//! `shfl.sync`: the value of another lane, and whether there is such a lane.

use super::together::{Together, collective, give, mask_of, values};
use crate::group::Thread;
use crate::lanes::LANES;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::Result;

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

impl Together for Shuffle {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let own = values(machine, all, &self.value)?;
        let (by, control) = (values(machine, all, &self.by)?, values(machine, all, &self.control)?);
        let present = mask_of(all);
        let (mut results, mut found) = ([0; LANES], [0; LANES]);
        for thread in all {
            let (from, exists) = self.source(thread.lane as i64, (by[thread.lane] & 31) as i64, control[thread.lane]);
            // What a lane has that is not here is undefined; here it is the thread's own.
            let known = exists && present >> from & 1 == 1;
            let from = if known { from as usize } else { thread.lane };
            (results[thread.lane], found[thread.lane]) = (own[from] & 0xffff_ffff, exists.into());
        }
        give(machine, all, &self.to, &results)?;
        self.exists.as_ref().map_or(Ok(()), |to| give(machine, all, to, &found))
    }
}

impl Shuffle {
    fn source(&self, lane: i64, by: i64, control: u64) -> (i64, bool) {
        let (clamp, segment) = ((control & 31) as i64, (control >> 8 & 31) as i64);
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
