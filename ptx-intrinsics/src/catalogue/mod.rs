//! Every legal form, from the tables that emit them: for tests, documentation and tools on the host.
//!
//! ```
//! use ptx_intrinsics::catalogue;
//!
//! let form = catalogue::forms().find(|form| form.ptx() == "ld.global.nc.L1::evict_last.L2::256B.f32").unwrap();
//! assert_eq!(form.rust(), "ld_global_nc::<EvictLast, Prefetch256>().read(p as *const f32)");
//! assert_eq!((form.min_sm(), form.min_ptx()), (80, 74));
//! ```

mod access;
mod atomic;
pub mod features;
mod form;
mod message;

use self::atomic::atomics;
pub use self::form::{Family, Form, Signature};
use crate::grammar::access::Spelling;
use crate::grammar::atomic::Atomic;
use crate::instructions::{
    applypriority, cp_async, cp_async_bulk, createpolicy, cvta, discard, fence, isspacep, mapa, mbarrier, prefetch,
};
pub use crate::isa::row::Operation;
use crate::isa::row::{Row, Table};

/// What the [expression](Form::rust) of a form needs in scope.
pub const IMPORTS: &str =
    "use ptx_intrinsics::{cp_async::*, cp_async_bulk::*, fence::*, mbarrier::*, order::*, prelude::*, space::*};";

/// Every legal form.
///
/// The words that say what is meant anyway are left out: `.weak`, `::cta` behind `.shared`, and `.param` for
/// `.param::entry`. [`ptx!`](crate::ptx) takes them too.
pub fn forms() -> impl Iterator<Item = Form> {
    let tables = |family, tables: &'static [Table]| message::rows(tables).filter_map(move |row: &Row| row.form(family));
    let pairs = message::pairs(&[mbarrier::ARRIVALS, mbarrier::COUNTS]);
    (access::spellings().filter_map(Spelling::form))
        .chain(tables(Family::Cache, &[prefetch::SINGLES, applypriority::SINGLES, discard::SINGLES]))
        .chain(tables(Family::Policy, &[createpolicy::SINGLES]))
        .chain(tables(Family::Address, &[isspacep::SINGLES, cvta::SINGLES, mapa::SINGLES]))
        .chain(tables(Family::Copy, &[cp_async::COPIES, cp_async::WAITS]))
        .chain(tables(Family::Copy, &[cp_async_bulk::SINGLES, cp_async_bulk::TENSORS]))
        .chain(tables(Family::Barrier, &[mbarrier::SINGLES]))
        .chain(pairs.filter_map(|row| row.form(Family::Barrier)))
        .chain(tables(Family::Barrier, &[mbarrier::INCOMPLETE, mbarrier::WAITS]))
        .chain(tables(Family::Fence, &[fence::SINGLES]))
        .chain(atomics().filter_map(Atomic::form))
}
