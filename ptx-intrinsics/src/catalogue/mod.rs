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

use alloc::boxed::Box;

use self::atomic::atomics;
pub use self::form::{Family, Form, Signature};
use crate::grammar::access::Spelling;
use crate::grammar::atomic::Atomic;
use crate::instructions::TABLES;
pub use crate::isa::row::Operation;

/// What the [expression](Form::rust) of a form needs in scope.
pub const IMPORTS: &str =
    "use ptx_intrinsics::{cp_async::*, cp_async_bulk::*, fence::*, mbarrier::*, order::*, prelude::*, space::*};";

/// Every legal form.
///
/// Words that say only the default are left out: `.weak`, `::cta` after `.shared`, and `.param` for
/// `.param::entry`. [`ptx!`](crate::ptx) takes them too.
pub fn forms() -> impl Iterator<Item = Form> {
    let tables = TABLES
        .iter()
        .flat_map(|(family, tables)| message::messages(tables).into_iter().map(|message| message.form(*family)));
    let forms =
        (access::spellings().filter_map(Spelling::form)).chain(tables).chain(atomics().filter_map(Atomic::form));
    // Of the long type that this chain has, each caller would compile all loops anew.
    Box::new(forms) as Box<dyn Iterator<Item = Form>>
}
