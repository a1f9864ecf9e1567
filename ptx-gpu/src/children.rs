//! What kernels launch: dynamic parallelism. It runs after the kernel that launches it, one after the other.

use std::collections::VecDeque;

use ptx_interpreter::{DeviceLaunch, Place};

use crate::order::Turn;

/// A kernel that launches another one.
pub(crate) struct Parent {
    /// Which one it is, if it goes on while the other one runs.
    pub(crate) running: Option<Turn>,
    /// Where it does so.
    pub(crate) place: Place,
}

/// Kernels that were launched and have not run.
#[derive(Default)]
pub(crate) struct Children {
    first: VecDeque<(DeviceLaunch, Option<Turn>)>,
    /// These begin when all others have ended.
    tails: VecDeque<DeviceLaunch>,
}

impl Children {
    /// A kernel has launched others.
    pub(crate) fn add(&mut self, launched: Vec<DeviceLaunch>, by: Option<Turn>) {
        let (tails, first): (Vec<_>, Vec<_>) = launched.into_iter().partition(|child| child.is_tail);
        self.first.extend(first.into_iter().map(|child| (child, by)));
        self.tails.extend(tails);
    }

    pub(crate) fn next(&mut self) -> Option<(DeviceLaunch, Parent)> {
        let (child, running) = self.first.pop_front().or_else(|| Some((self.tails.pop_front()?, None)))?;
        let place = child.place.clone();
        Some((child, Parent { running, place }))
    }
}
