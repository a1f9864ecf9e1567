//! What may be said: a load, store or atomic in PTX's own words is read and checked here, while constants are evaluated.

mod near;
#[macro_use]
pub mod read;
pub mod access;
pub mod atomic;
pub mod multimem;
pub(crate) mod stop;
