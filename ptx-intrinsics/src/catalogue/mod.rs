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
mod multimem;

use alloc::boxed::Box;

use self::atomic::atomics;
pub use self::form::{Family, Form, Signature};
use self::multimem::multimems;
use crate::grammar::access::Spelling;
use crate::grammar::atomic::Atomic;
use crate::grammar::multimem::Multimem;
use crate::instructions::TABLES;
use crate::isa::caching::{L1PriorityWord, L2PriorityWord, OperatorWord};
use crate::isa::prefetch_size::PrefetchSizeWord;
pub use crate::isa::row::Operation;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;

/// What the [expression](Form::rust) of a form needs in scope.
pub const IMPORTS: &str = "use ptx_intrinsics::{clusterlaunchcontrol::*, cp_async::*, cp_async_bulk::*, fence::*, mbarrier::*}; \
     use ptx_intrinsics::{order::*, prelude::*, space::*};";

/// What a word means that says how an access is cached, where it points, or with which threads it synchronises; the word has its dot.
/// A second line is behind a line break.
///
/// ```
/// assert_eq!(ptx_intrinsics::catalogue::meaning(".cg"), Some("cached in L2 and not in L1"));
/// ```
pub fn meaning(word: &str) -> Option<&'static str> {
    fn of<W: Copy>(
        word: &str,
        all: &[W],
        ptx: fn(W) -> &'static str,
        meaning: fn(W) -> Option<&'static str>,
    ) -> Option<&'static str> {
        all.iter().find(|own| ptx(**own) == word).and_then(|own| meaning(*own))
    }
    of(word, OperatorWord::ALL, OperatorWord::ptx, OperatorWord::meaning)
        .or_else(|| of(word, L1PriorityWord::ALL, L1PriorityWord::ptx, L1PriorityWord::meaning))
        .or_else(|| of(word, L2PriorityWord::ALL, L2PriorityWord::ptx, L2PriorityWord::meaning))
        .or_else(|| of(word, PrefetchSizeWord::ALL, PrefetchSizeWord::ptx, PrefetchSizeWord::meaning))
        .or_else(|| of(word, ScopeWord::ALL, ScopeWord::ptx, ScopeWord::meaning))
        .or_else(|| of(word, SpaceWord::ALL, SpaceWord::ptx, SpaceWord::meaning))
}

/// Every legal form.
///
/// Words that say only the default are left out: `.weak`, `::cta` after `.shared`, and `.param` for
/// `.param::entry`. [`ptx!`](crate::ptx) takes them too.
pub fn forms() -> impl Iterator<Item = Form> {
    let tables = TABLES
        .iter()
        .flat_map(|(family, tables)| message::messages(tables).into_iter().map(|message| message.form(*family)));
    let atomics = atomics().filter_map(Atomic::form).chain(multimems().filter_map(Multimem::form));
    let forms = (access::spellings().filter_map(Spelling::form)).chain(tables).chain(atomics);
    // Of the long type that this chain has, each caller would compile all loops anew.
    Box::new(forms) as Box<dyn Iterator<Item = Form>>
}
