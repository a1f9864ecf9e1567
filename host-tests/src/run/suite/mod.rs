//! Every form of the catalogue on a GPU.

mod asynchronous;
mod atomic;
pub mod bundle;
pub(crate) mod child;
pub mod fault;
pub mod image;
pub mod journal;
pub mod litmus;
mod plan;
mod policy;
pub mod program;
pub mod report;
mod run;
mod sanitizer;
mod sizes;
pub mod stage;
pub mod stages;
mod trial;

pub use plan::{Kernel, Plan, slice};
pub use run::{Failure, Forms, Outcome, Slot, Verdict, run};
pub use trial::{NoCheck, Room};
