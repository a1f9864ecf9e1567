//! Where the threads of a warp are, and when they last had a turn.

use crate::machine::lanes::each;
use crate::machine::polls::Polls;
use crate::machine::{Machine, Warp};

/// One turn of so many goes on after a `fence.sc`. The others end there: such fences have an order among themselves, and what it
/// orders by chance must not hide that nothing else does.
const STAY: u64 = 4;
/// How many lengths of rests a warp may take then: less than 1, 2, 4, … rounds. Others may come to their fences before it goes on.
const RESTS: u64 = 7;

impl Machine<'_> {
    /// A group looks at what other threads do. Where it does so twice in a turn, it waits for them.
    pub(crate) fn polls(&mut self) {
        self.gives_way |= self.polled == self.site;
        self.polled = self.site;
        let (progress, number) = (self.progress, self.current.warp);
        let site = self.site;
        let polls = &mut self.warp_mut(number).polls;
        let count = if polls.progress == progress { polls.count + 1 } else { 1 };
        *polls = Polls { progress, count, site };
    }

    /// A warp has executed a `fence.sc`.
    pub(crate) fn fenced(&mut self, number: usize) {
        if self.checks.is_none() || self.draw(STAY) == 0 {
            return;
        }
        self.gives_way = true;
        let longest = 1 << self.draw(RESTS);
        self.warp_mut(number).rests = self.round + 1 + self.draw(longest);
    }
}

impl Warp<'_> {
    /// Threads have a turn; where all have it together, it makes no difference.
    pub(crate) fn had_turn(&mut self, mask: u32, now: u64) {
        if mask != self.running {
            let last = &mut self.last;
            each(mask, |lane| last[lane] = now);
        }
    }

    /// Where the threads may be that run apart from a group: the lowest six bits of their places, each as a bit.
    #[inline]
    pub(crate) fn others(&self, mask: u32) -> u64 {
        let mut others = 0;
        each(self.running & !mask, |lane| others |= 1 << (self.at[lane].1 % 64));
        others
    }

    /// Where the running threads are that are farthest behind. Deep in its calls is farther behind.
    pub(crate) fn farthest_behind(&self) -> (u32, u32) {
        let mut least = u64::MAX;
        each(self.running, |lane| {
            let (frame, line) = self.at[lane];
            least = least.min(u64::from(u32::MAX - frame) << 32 | u64::from(line));
        });
        (u32::MAX - (least >> 32) as u32, least as u32)
    }

    /// The threads before an instruction.
    #[inline]
    pub(crate) fn here(&self, at: (u32, u32)) -> u32 {
        self.at.iter().enumerate().fold(0, |here, (lane, own)| here | (u32::from(*own == at) << lane))
    }
}
