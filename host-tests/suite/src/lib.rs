//! Every form of the catalogue on a GPU.

mod asynchronous;
mod atomic;
mod batch;
pub mod bundle;
pub mod counted;
mod entry;
pub mod fault;
pub mod image;
pub mod journal;
pub mod kernels;
mod later;
pub mod litmus;
mod observed;
mod other;
mod plan;
mod policy;
pub mod program;
mod reduced;
pub mod report;
pub mod room;
mod run;
mod sanitizer;
mod shapes;
mod sizes;
pub mod stage;
pub mod stages;
mod tensor;
mod trial;
pub mod versions;
mod warp;

pub use batch::Slot;
pub use entry::Entry;
pub use plan::{Kernel, Plan, slice};
pub use room::Room;
pub use run::{Failure, Forms, Outcome, Verdict, run};
pub use trial::NoCheck;
