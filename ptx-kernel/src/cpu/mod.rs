//! Runs kernels on a CPU.
//!
//! The threads of a block take turns on one thread of the machine: each goes on until it waits, at a barrier, for its warp,
//! or in a [`pause`](crate::pause). Blocks run side by side. A thread that forgets to wait is ahead of those that run after it,
//! by all that it has to do. Which ones those are, an [`Order`] says: run a kernel in ascending and in descending order, and a
//! forgotten barrier shows in one of them.
//!
//! `cp.async` copies when the thread waits for it, so a forgotten wait or commit shows too. What no GPU takes is refused: a
//! launch that is too large, more shared memory than there is, threads of a warp that come to different instructions. A thread
//! that looks for five seconds at what does not change, without a `pause`, is told to call it.

mod arrive;
mod dim3;
mod launch;
mod limits;
mod meeting;
mod memory;
mod order;
mod place;
mod shared;
mod spin;
mod stack;
mod turns;

pub(crate) use arrive::meet;
pub use dim3::Dim3;
pub use launch::Launch;
pub use order::Order;
#[doc(hidden)]
pub use place::begin;
pub(crate) use place::{At, Barrier, check_block, check_lanes, exchange, exchange_while, place, wait, wait_lanes};
#[doc(hidden)]
pub use shared::variable;
pub(crate) use shared::{dynamic, of_rank, sizes};
