//! Every form of the catalogue on a GPU.

pub mod image;
mod plan;
mod policy;
mod run;
mod trial;

pub use plan::{Kernel, Plan, source};
pub use run::{Outcome, Verdict, run};
pub use trial::{NoCheck, Room};
