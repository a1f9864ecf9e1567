//! Work that waits for what is done later.

use crate::order::{Point, Turn};
use crate::work::{Kernel, Work};

#[derive(Clone)]
pub(crate) struct Held {
    /// Held work is numbered as it is given.
    pub(crate) number: u64,
    pub(crate) work: Work,
    pub(crate) point: Point,
    pub(crate) turn: Turn,
}

impl Held {
    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        match &self.work {
            Work::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }
}
