//! The table of contents: one file for each mnemonic, with its rows.

#[cfg(not(ptx_device))]
use crate::isa::row::{Family, Table};

/// The files whose functions have a row each: what kind of instruction they have, and their tables of rows. Each table is in the
/// catalogue.
macro_rules! contents {
    ($($family:ident { $($file:ident: $($table:ident)*;)* })*) => {
        $($(pub(crate) mod $file;)*)*

        #[cfg(not(ptx_device))]
        pub(crate) const TABLES: &[(Family, &[Table])] = &[$((Family::$family, &[$($($file::$table,)*)*])),*];
    };
}

#[macro_use]
mod notation;
#[macro_use]
mod methods;
#[macro_use]
pub(crate) mod coordinates;
#[macro_use]
pub(crate) mod cta_group;
pub(crate) mod bounds;
pub(crate) mod cuda;
pub(crate) mod ld;
pub(crate) mod ld_global_nc;
pub(crate) mod no_method;
pub(crate) mod shared_ptr;
pub(crate) mod slices;
pub(crate) mod st;

contents! {
    Cache { applypriority: SINGLES; discard: SINGLES; prefetch: SINGLES; }
    Fill { st_bulk: SINGLES; }
    TensorMap { tensormap_replace: FIELDS; }
    Policy { createpolicy: SINGLES; }
    Address { cvta: SINGLES; isspacep: SINGLES; mapa: SINGLES; }
    Copy { cp_async: COPIES WAITS; cp_async_bulk: SINGLES TENSORS; cp_async_bulk_tensor: LOADS ROWS COLUMNS WIDTH WIDTH_128 STORES REDUCTIONS COLUMN_REDUCTIONS; cp_reduce_async_bulk: SHARED GLOBAL FLOATS; }
    Asynchronous { red_async: SHARED GLOBAL; st_async: SINGLES; }
    Barrier { mbarrier: SINGLES ARRIVALS; }
    Block { bar: SINGLES; barrier_cluster: SINGLES; }
    Fence { fence: SINGLES; }
    Warp { elect_sync: SINGLES; match_sync: SINGLES; redux_sync: SINGLES FLOATS; }
    Control { clusterlaunchcontrol: REQUESTS QUERIES; control: SINGLES; setmaxnreg: SINGLES; }
}

/// The names at the root of the crate: the functions of instructions that are not asynchronous, and the types that hold an access.
pub(crate) mod root {
    pub use super::applypriority::*;
    pub use super::bar::*;
    pub use super::barrier_cluster::*;
    pub use super::control::*;
    pub use super::cuda::*;
    pub use super::cvta::*;
    pub use super::discard::*;
    pub use super::elect_sync::*;
    pub use super::isspacep::*;
    pub use super::ld::{
        Ld, LdGlobal, ld, ld_const, ld_global, ld_local, ld_param_entry, ld_param_func, ld_shared, ld_shared_cluster,
    };
    pub use super::ld_global_nc::{LdGlobalNc, ld_global_nc};
    pub use super::mapa::*;
    pub use super::match_sync::*;
    pub use super::prefetch::{
        prefetch_const_tensormap, prefetch_global_l1, prefetch_global_l2, prefetch_l1, prefetch_l2, prefetch_local_l1,
        prefetch_local_l2, prefetch_param_tensormap, prefetch_tensormap, prefetchu_l1,
    };
    pub use super::red_async::*;
    pub use super::redux_sync::*;
    pub use super::setmaxnreg::*;
    pub use super::shared_ptr::{SharedClusterPtr, SharedPtr};
    pub use super::slices::*;
    pub use super::st::{St, StGlobal, st, st_global, st_local, st_shared, st_shared_cluster};
    pub use super::st_async::*;
    pub use super::st_bulk::*;
    pub use crate::isa::policy::CachePolicy;
}
