//! A call of the library.

use std::fmt;

use super::kind::Wide;
use super::operand::{Operand, View};
use crate::caller::Caller;

/// `alpha` and its like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar {
    Value(Wide),
    /// In device memory, from which it is taken when the call is done.
    Device(Operand),
}

pub(super) type Compute = Box<dyn Fn(&[Wide], &[View]) + Send + Sync>;

pub(crate) struct Routine {
    pub(crate) call: &'static str,
    pub(crate) caller: Caller,
    pub(super) scalars: Vec<Scalar>,
    pub(super) operands: Vec<Operand>,
    /// How many times it is done, with other matrices each time.
    pub(super) batch: usize,
    /// Is given the scalars, and the operands of one member of the batch.
    pub(super) compute: Compute,
}

impl fmt::Debug for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routine").field("call", &self.call).field("operands", &self.operands).finish_non_exhaustive()
    }
}
