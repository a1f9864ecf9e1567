//! Work that waits for what is done later.

use std::sync::Condvar;

use crate::called::Called;
use crate::order::{Point, Turn};
use crate::work::{Host, Kernel, Work};

/// Something is held that was not, or was done, or can be done now.
pub(crate) static COME: Condvar = Condvar::new();

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

    /// A function of the host that was called.
    pub(crate) fn called(&self) -> Option<&Called> {
        match &self.work {
            Work::Host(Host { called, .. }) => called.as_ref(),
            _ => None,
        }
    }

    /// A function of the host that was called, and has not ended.
    pub(crate) fn runs(&self) -> bool {
        self.called().is_some_and(|called| !called.has_ended())
    }
}
