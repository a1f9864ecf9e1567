//! The PTX memory model as a small axiomatic checker, and the field's own format for asking it: `.litmus` files.
//!
//! [`parse`] reads a file, [`judge`] enumerates its candidate executions and says what [`Model`] allows, and [`races`] which of
//! its accesses race. [`gpu`] makes kernels of the tests, and runs them; [`Threads`] are kernels for an interpreter.

pub mod agreement;
mod barriers;
pub mod batch;
mod choices;
mod coherence;
mod condition;
mod execution;
mod expected;
pub mod gpu;
mod judge;
mod limits;
mod model;
mod parse;
mod program;
mod ptx;
mod races;
mod relation;
mod steps;
mod threads;
mod trace;
mod value;

pub use condition::{Condition, Quantifier, Term, Test};
pub use expected::Expected;
pub use judge::{Judgement, Outcome, executions, judge, outcomes, terminates};
pub use limits::{Limits, TooLarge};
pub use model::{Model, Part};
pub use parse::{Unread, parse};
pub use program::{Address, Barrier, Fence, Instruction, Memory, Placement, Program, Proxy, Scope, Semantics, Thread};
pub use races::{Ended, Place, Race, in_order, races};
pub use threads::{Space, Threads};
pub use value::{Compare, Operation, Register, Value};
