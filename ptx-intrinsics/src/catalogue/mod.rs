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

use self::atomic::atomics;
pub use self::form::Form;
use crate::grammar::access::Spelling;
use crate::grammar::atomic::Atomic;
use crate::instructions::{
    applypriority, cp_async, cp_async_bulk, createpolicy, cvta, discard, fence, isspacep, mapa, mbarrier, prefetch,
};
use crate::isa::row::Single;
pub use crate::isa::row::{Operation, Signature};

/// Every legal form.
///
/// The words that say what is meant anyway are left out: `.weak`, `::cta` behind `.shared`, and `.param` for
/// `.param::entry`. [`ptx!`](crate::ptx) takes them too.
pub fn forms() -> impl Iterator<Item = Form> {
    access::spellings().filter_map(Spelling::form).chain(
        [
            prefetch::SINGLES,
            applypriority::SINGLES,
            discard::SINGLES,
            createpolicy::SINGLES,
            isspacep::SINGLES,
            cvta::SINGLES,
            mapa::SINGLES,
        ]
        .into_iter()
        .flatten()
        .chain(cp_async::singles())
        .chain(cp_async_bulk::singles())
        .chain(mbarrier::singles())
        .chain(fence::singles())
        .map(Single::form)
        .chain(atomics().filter_map(Atomic::form)),
    )
}
