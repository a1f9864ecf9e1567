//! A launch while it runs: its blocks, warps and threads, whose turn it is, and what they wait for.

pub(crate) mod barriers;
pub(crate) mod calls;
pub(crate) mod deadline;
pub(crate) mod deadlock;
pub(crate) mod exchange;
pub(crate) mod grid;
pub(crate) mod group;
pub(crate) mod in_order;
pub(crate) mod lanes;
pub(crate) mod launch;
pub(crate) mod meeting;
pub(crate) mod numbered;
pub(crate) mod polls;
pub(crate) mod reading;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod special;
pub(crate) mod state;
pub(crate) mod stop;
pub(crate) mod turns;
pub(crate) mod undefined;

pub use state::Program;
pub(crate) use state::{Action, Cluster, Code, Event, Frame, Late, Line, Machine, Step, Warp};
