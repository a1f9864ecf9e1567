//! The registers of a block, which `setmaxnreg` moves from warp to warp.

use crate::ptx::text::Function;

/// Registers of an SM, by the lanes of a warp.
const OF_AN_SM: u32 = 65_536 / 32;
/// Warps of an SM, at most.
const WARPS: u32 = 64;
/// Warps that run at a time on an SM: each takes the next of them.
const SIDE_BY_SIDE: u32 = 4;
/// Registers of a thread, at most.
const MOST: u32 = 255;
/// A thread has a multiple of so many.
const STEP: u32 = 8;

/// What the warps of a block have, once one of them has asked.
#[derive(Default)]
pub(crate) struct Pool {
    /// Registers of a thread of each warp.
    of_warps: Vec<u32>,
    /// Registers for each thread of a warp that takes them.
    pub(crate) free: u32,
}

impl Pool {
    /// The registers of a thread of a warp.
    pub(crate) fn of(&self, warp: usize) -> Option<u32> {
        self.of_warps.get(warp).copied()
    }

    /// All warps have so many, if none has asked before.
    pub(crate) fn begin(&mut self, warps: usize, registers: u32) {
        self.of_warps.resize(warps, registers);
    }

    /// A warp has so many at least from now on, unless too few are free.
    pub(crate) fn take(&mut self, warp: usize, registers: u32) -> bool {
        let own = &mut self.of_warps[warp];
        let more = registers.saturating_sub(*own);
        if more > self.free {
            return false;
        }
        self.free -= more;
        *own += more;
        true
    }

    /// A warp has so many at most from now on.
    pub(crate) fn give(&mut self, warp: usize, registers: u32) {
        let own = &mut self.of_warps[warp];
        let less = own.saturating_sub(registers);
        self.free += less;
        *own -= less;
    }
}

/// Registers of each thread as a kernel begins, as `ptxas` decides it if the kernel has `setmaxnreg`. Without a bound it leaves
/// `setmaxnreg` out.
pub(crate) fn registers_at_entry(function: &Function) -> Option<u32> {
    let asked = |text: &str| text.strip_prefix("setmaxnreg.")?.split_whitespace().nth(1)?.parse::<u32>().ok();
    let largest = function.statements.iter().filter_map(|statement| asked(&statement.text)).max()?;
    let threads = function.exact_threads.or(function.most_threads);
    let by_blocks = threads.zip(function.least_blocks).and_then(|(threads, blocks)| {
        let warps = threads.div_ceil(32).saturating_mul(blocks).next_multiple_of(SIDE_BY_SIDE);
        (1..=WARPS).contains(&warps).then(|| OF_AN_SM / warps / STEP * STEP)
    });
    let stated = function.most_registers.filter(|registers| *registers <= MOST);
    by_blocks.into_iter().chain(stated).min().map(|bound| bound.min(largest))
}
