//! The marker types that spell an instruction's qualifiers.

#[macro_use]
pub(crate) mod caching;
#[macro_use]
pub(crate) mod order;
pub(crate) mod policy;
pub(crate) mod prefetch_size;
pub(crate) mod space;
pub mod target;
