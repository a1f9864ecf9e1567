//! What the parts of a launch know of each other while they run.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::parts::later::Later;
use crate::parts::overlay::Overlay;

/// How the blocks of a kernel may run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocks {
    /// All of them together.
    Together,
    /// Some without the others. Whether it has loops.
    Apart { loops: bool },
}

/// What all parts have done.
#[derive(Default)]
pub(crate) struct Joint {
    /// Whether it is known that the parts are in vain.
    is_over: AtomicBool,
    steps: AtomicU64,
    blocks: AtomicU64,
}

/// A part of a launch: some of its clusters.
pub(crate) struct Part<'a> {
    pub(crate) clusters: Range<usize>,
    pub(crate) joint: &'a Joint,
    pub(crate) overlay: Overlay,
    pub(crate) later: Later,
    /// The instructions that the other parts know of.
    pub(crate) told: u64,
}

impl Joint {
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Instructions of all parts, and blocks that have ended, with these.
    pub(crate) fn add(&self, steps: u64, blocks: u64) -> (u64, u64) {
        let steps = self.steps.fetch_add(steps, Ordering::Relaxed) + steps;
        (steps, self.blocks.fetch_add(blocks, Ordering::Relaxed) + blocks)
    }
}
