//! The table of contents: one file for each mnemonic, with its rows.

#[macro_use]
mod methods;
pub(crate) mod applypriority;
pub(crate) mod cp_async;
pub(crate) mod cp_async_bulk;
pub(crate) mod createpolicy;
pub(crate) mod cuda;
pub(crate) mod cvta;
pub(crate) mod discard;
pub(crate) mod fence;
pub(crate) mod isspacep;
pub(crate) mod ld;
pub(crate) mod ld_global_nc;
pub(crate) mod mapa;
pub(crate) mod mbarrier;
pub(crate) mod prefetch;
pub(crate) mod shared_ptr;
pub(crate) mod slices;
pub(crate) mod st;
