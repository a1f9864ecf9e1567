//! Whoever runs a launch may choose whose turn it is, one instruction at a time.

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::lanes_of;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Line, Machine};

/// A thread that can go on: before an instruction that other threads can see, such as an access to memory or a barrier. Under
/// [`Trial::weak`](crate::Trial::weak) also a load that was executed and is not performed yet.
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
    /// How the access of the thread that was chosen last goes. 0 is the usual way: it reads the newest value, and what it stores is
    /// the newest. There are this number of others: the access reads an older value, or comes before what another thread has stored.
    Way(usize),
}

/// What happens next.
#[derive(Clone, Copy)]
enum Turn {
    /// A thread executes an instruction.
    Thread(Thread),
    /// A load of that number is performed.
    Load(u64),
}

/// Chooses.
pub(crate) type Choose<'c> = dyn FnMut(Choice<'_>) -> usize + 'c;

impl Machine<'_> {
    /// All blocks begin, and one thread at a time goes on.
    pub(crate) fn run_in_order(&mut self, choose: &mut Choose<'_>) -> Result<()> {
        let mut live = Vec::new();
        while self.next_cluster < self.clusters.end() {
            live.extend(self.begin_cluster());
        }
        self.weak.by_caller = true;
        loop {
            for warp in &live {
                let lanes = self.warps[*warp].as_ref().map_or(0, |warp| warp.running);
                lanes_of(lanes).try_for_each(|lane| self.on(*warp, lane))?;
            }
            let mut ready: Vec<(Turn, Ready)> = live.iter().flat_map(|warp| self.ready(*warp)).collect();
            let late = self.waiting_loads().into_iter();
            ready.extend(late.map(|(number, thread, site)| (Turn::Load(number), self.told(thread, site))));
            if ready.is_empty() {
                break;
            }
            let told: Vec<Ready> = ready.iter().map(|(_, ready)| *ready).collect();
            let Some((turn, _)) = ready.get(choose(Choice::Thread(&told))) else {
                return stop(Why::Wrong, "the thread that was chosen is not there");
            };
            while let Err(error) = self.take(*turn) {
                match std::mem::take(&mut self.weak.asked) {
                    0 => return Err(error),
                    others => self.weak.chosen = Some(choose(Choice::Way(others)).min(others)),
                }
            }
            self.come(u64::MAX)?;
        }
        live.retain(|warp| self.warps[*warp].as_ref().is_some_and(|warp| warp.live != 0));
        if live.is_empty() { Ok(()) } else { self.stuck(&live) }
    }

    /// The threads of a warp that can go on. One cannot that needs the value of a load that is not performed yet.
    fn ready(&self, warp: usize) -> Vec<(Turn, Ready)> {
        let running = self.warps[warp].as_ref().map_or(0, |warp| warp.running);
        let of = |lane: usize| {
            let (frame, next) = self.warp(warp).at[lane];
            let thread = Thread { warp, frame: frame as usize, lane };
            let line = self.warp(warp).frames[frame as usize].code.lines.get(next as usize);
            let group = Group { warp, frame: frame as usize, mask: 1 << lane };
            if line.is_some_and(|line| self.is_held(group, line)) {
                return None;
            }
            let ready =
                line.map_or_else(|| Ready { ptx_line: 0, ..self.told(thread, 0) }, |line| self.told(thread, line.site));
            Some((Turn::Thread(thread), ready))
        };
        lanes_of(running).filter_map(of).collect()
    }

    fn told(&self, thread: Thread, site: u32) -> Ready {
        let (block, number) = (self.block_of(thread) as u32, self.number_of(thread) as u32);
        Ready { block, thread: number, ptx_line: self.program.sites[site as usize].line }
    }

    fn take(&mut self, turn: Turn) -> Result<()> {
        match turn {
            Turn::Thread(thread) => self.step(thread.warp, thread.lane),
            Turn::Load(number) => self.perform_load(number),
        }
    }

    /// A thread executes one instruction.
    fn step(&mut self, warp: usize, lane: usize) -> Result<()> {
        let (frame, _) = self.warp(warp).at[lane];
        self.go(Group { warp, frame: frame as usize, mask: 1 << lane }, 1)?;
        self.worked(1)
    }

    /// A thread goes on until it is before an instruction that others can see.
    fn on(&mut self, warp: usize, lane: usize) -> Result<()> {
        loop {
            let own = self.warp(warp);
            if own.running >> lane & 1 == 0 {
                return Ok(());
            }
            let (frame, next) = own.at[lane];
            let (line, group) = (
                own.frames[frame as usize].code.lines.get(next as usize),
                Group { warp, frame: frame as usize, mask: 1 << lane },
            );
            let is_seen = |line: &Line| line.is_seen && !self.is_late_load(line) || self.makes_late(group, line);
            if line.is_some_and(|line| is_seen(line) || self.is_held(group, line)) {
                return Ok(());
            }
            self.step(warp, lane)?;
        }
    }
}
