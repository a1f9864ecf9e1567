//! Every form of the catalogue on a GPU.

mod asynchronous;
mod atomic;
pub mod bundle;
pub mod fault;
pub mod image;
pub mod litmus;
mod plan;
mod policy;
pub mod program;
pub mod report;
mod run;
mod trial;

pub use plan::{Kernel, Plan, slice};
pub use run::{Chosen, Outcome, Stopped, Verdict, run};
pub use trial::{NoCheck, Room};
