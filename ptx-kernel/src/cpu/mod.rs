//! Runs kernels on a CPU.
//!
//! The threads of a block take turns on one thread of the machine: each goes on until it waits, at a barrier, for its warp,
//! or in a [`pause`](crate::pause). Blocks run side by side. A thread that forgets to wait is ahead of the others by all
//! that it has to do, every time: the mistake shows.

mod launch;
mod memory;
mod place;

pub use launch::{Dim3, Launch};
#[doc(hidden)]
pub use memory::variable;
pub(crate) use memory::{dynamic, of_rank};
pub(crate) use place::{Wait, exchange, place, wait};
