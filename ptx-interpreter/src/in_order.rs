//! Whoever runs a launch may choose whose turn it is, one instruction at a time.

use crate::lanes::lanes_of;
use crate::machine::{Group, Machine, Thread};
use crate::stop::{Result, Why, stop};

/// A thread that can go on: before an instruction that other threads can see, such as an access to memory or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its block, by its number in the grid.
    pub block: u32,
    /// Its number in the block.
    pub thread: u32,
    /// The line of the PTX where it is.
    pub ptx_line: u32,
}

/// What is to be chosen.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'c> {
    /// Which of these threads goes on, by its position among them.
    Thread(&'c [Ready]),
    /// What the load of the thread that was chosen last returns: 0 is the newest value, and so many older ones are after it.
    Value(usize),
}

/// Chooses.
pub(crate) type Choose<'c> = dyn FnMut(Choice<'_>) -> usize + 'c;

impl Machine<'_> {
    /// All blocks begin, and one thread at a time goes on.
    pub(crate) fn run_in_order(&mut self, choose: &mut Choose<'_>) -> Result<()> {
        let mut live = Vec::new();
        while self.next_cluster < self.clusters.len() {
            live.extend(self.begin_cluster());
        }
        self.weak.by_caller = true;
        loop {
            for warp in &live {
                let lanes = self.warps[*warp].as_ref().map_or(0, |warp| warp.running);
                lanes_of(lanes).try_for_each(|lane| self.on(*warp, lane))?;
            }
            let ready: Vec<(Thread, Ready)> = live.iter().flat_map(|warp| self.ready(*warp)).collect();
            if ready.is_empty() {
                break;
            }
            let told: Vec<Ready> = ready.iter().map(|(_, ready)| *ready).collect();
            let Some((thread, _)) = ready.get(choose(Choice::Thread(&told))) else {
                return stop(Why::Wrong, "the thread that was chosen is not there");
            };
            if let Err(error) = self.step(thread.warp, thread.lane) {
                match std::mem::take(&mut self.weak.asked) {
                    0 => return Err(error),
                    older => self.weak.chosen = Some(choose(Choice::Value(older)).min(older)),
                }
                self.step(thread.warp, thread.lane)?;
            }
            self.happen(u64::MAX)?;
        }
        live.retain(|warp| self.warps[*warp].as_ref().is_some_and(|warp| warp.live != 0));
        if live.is_empty() { Ok(()) } else { self.stuck(&live) }
    }

    fn ready(&self, warp: usize) -> Vec<(Thread, Ready)> {
        let running = self.warps[warp].as_ref().map_or(0, |warp| warp.running);
        let of = |lane: usize| {
            let (frame, next) = self.warp(warp).at[lane];
            let thread = Thread { warp, frame: frame as usize, lane };
            let line = self.warp(warp).frames[frame as usize].code.lines.get(next as usize);
            let ptx_line = line.map_or(0, |line| self.program.sites[line.site as usize].line);
            let (block, number) = (self.block_of(thread) as u32, self.number_of(thread) as u32);
            (thread, Ready { block, thread: number, ptx_line })
        };
        lanes_of(running).map(of).collect()
    }

    /// A thread executes one instruction.
    fn step(&mut self, warp: usize, lane: usize) -> Result<()> {
        let (frame, _) = self.warp(warp).at[lane];
        self.go(Group { warp, frame: frame as usize, mask: 1 << lane }, 1).map(drop)
    }

    /// A thread goes on until it is before an instruction that others can see.
    fn on(&mut self, warp: usize, lane: usize) -> Result<()> {
        loop {
            let own = self.warp(warp);
            if own.running >> lane & 1 == 0 {
                return Ok(());
            }
            let (frame, next) = own.at[lane];
            if own.frames[frame as usize].code.lines.get(next as usize).is_some_and(|line| line.is_seen) {
                return Ok(());
            }
            self.step(warp, lane)?;
        }
    }
}
