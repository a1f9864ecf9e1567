//! The ground: PTX's words and types, the targets, and the gates between them. It imports nothing above it.

#[macro_use]
pub(crate) mod word;
#[macro_use]
pub mod gate;
#[macro_use]
mod page;
#[macro_use]
pub(crate) mod element;
#[macro_use]
pub(crate) mod caching;
#[macro_use]
pub(crate) mod atomic;
pub(crate) mod collective;
#[macro_use]
pub(crate) mod multimem;
pub(crate) mod order;
pub(crate) mod policy;
#[macro_use]
pub(crate) mod prefetch_size;
pub(crate) mod row;
#[macro_use]
pub(crate) mod scope;
pub(crate) mod space;
pub mod specific;
pub mod target;
