//! The marker types that spell an instruction's qualifiers.

#[macro_use]
pub(crate) mod caching;
pub(crate) mod policy;
pub(crate) mod prefetch_size;
pub mod target;
