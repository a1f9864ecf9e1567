//! A load or store in PTX's own words, as data: which words there are, and which of them go together.
//!
//! [`ptx!`](crate::ptx) asks it about what the author wrote, and the catalogue about everything that could be written.

use super::read::{VECTORS, Vocabulary, Word, Wrong, demand_policy, no_qualifier, once, wrong};
use super::stop::{stop, stop_unless_on_target};
use crate::isa::caching::{L1PriorityWord, L2PriorityWord, OperatorWord};
use crate::isa::element::ELEMENTS;
use crate::isa::gate::{Bits128System, Needs, NonCoherent, VolatileLocal};
use crate::isa::order::OrderWord;
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::PrefetchSizeWord;
pub use crate::isa::row::Operation;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;
use crate::isa::word::{Key, key, key_of};

const INSTRUCTIONS: &str = "`ptx!` has `ld`, `ldu`, `st`, `atom`, `red` and `multimem`; any other instruction is a function with the name of its PTX: `prefetch_global_l2`";

/// A load or store with all its qualifiers and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub(crate) operation: Operation,
    /// `ldu`: a load of what is the same for all threads of a warp.
    pub(crate) uniform: bool,
    pub(crate) order: Option<OrderWord>,
    pub(crate) scope: Option<ScopeWord>,
    pub(crate) space: Option<SpaceWord>,
    pub(crate) nc: bool,
    pub(crate) operator: Option<OperatorWord>,
    pub(crate) l1: Option<L1PriorityWord>,
    pub(crate) l2: Option<L2PriorityWord>,
    /// `.L2::cache_hint`, which takes a policy.
    pub(crate) hint: bool,
    pub(crate) size: Option<PrefetchSizeWord>,
    /// `.unified` after the address.
    pub(crate) unified: bool,
    /// The row of its type.
    pub(crate) element: usize,
}

impl Spelling {
    /// A weak access to a generic address, nothing said.
    #[inline]
    pub(crate) const fn plain(operation: Operation, element: usize) -> Self {
        Self {
            operation,
            uniform: false,
            order: None,
            scope: None,
            space: None,
            nc: false,
            operator: None,
            l1: None,
            l2: None,
            hint: false,
            size: None,
            unified: false,
            element,
        }
    }

    /// Reads `ld.relaxed.gpu.global.L1::no_allocate.f32`: the qualifiers in any order, each once, then the type.
    #[inline]
    pub const fn read(text: &str) -> Result<Self, Wrong<'_>> {
        let bytes = text.as_bytes();
        let Word { to: mut at, .. } = Word::at(text, 0);
        let (operation, uniform) = match bytes.split_at(at).0 {
            b"ld" => (Operation::Load, false),
            b"ldu" => (Operation::Load, true),
            b"st" => (Operation::Store, false),
            _ => return wrong(Word::at(text, 0).text(), INSTRUCTIONS),
        };
        let mut spelling = Self { uniform, ..Self::plain(operation, 0) };
        let mut relaxed = false;
        while at < bytes.len() {
            if let Some(element) = element(bytes, at) {
                spelling.element = element;
                return spelling.with_mmio_relaxed(relaxed);
            }
            let word = Word::at(text, at);
            if word.key == const { key_of(b".relaxed") } {
                if relaxed {
                    return wrong(word.text(), "it is written twice");
                }
                relaxed = true;
            } else {
                spelling = match spelling.and(word) {
                    Ok(Some(spelling)) => spelling,
                    Ok(None) => return no_qualifier(text, at, &VOCABULARY),
                    Err(wrong) => return Err(wrong),
                };
            }
            at = word.to;
        }
        wrong(
            "",
            "the type is missing: `.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32`, `.f64`; before it `.v2` or `.v4` of up to 64 bits, `.v8` of 32 bits",
        )
    }

    /// `.mmio` is written with `.relaxed`; alone, `.relaxed` is an order of its own.
    #[inline]
    const fn with_mmio_relaxed(mut self, relaxed: bool) -> Result<Self, Wrong<'static>> {
        match self.order {
            Some(OrderWord::Mmio) if relaxed => Ok(self),
            Some(OrderWord::Mmio) => wrong(".mmio", "write `.mmio.relaxed.sys`"),
            Some(_) if relaxed => wrong(".relaxed", "an access has one order"),
            None if relaxed => {
                self.order = Some(OrderWord::Relaxed);
                Ok(self)
            }
            _ => Ok(self),
        }
    }

    /// With one more word, if it is one.
    #[inline]
    const fn and(mut self, this: Word<'_>) -> Result<Option<Self>, Wrong<'_>> {
        take_word! {
            self this
            words [order OrderWord scope ScopeWord space SpaceWord operator OperatorWord l1 L1PriorityWord l2 L2PriorityWord size PrefetchSizeWord]
            flags [nc b".nc" hint b".L2::cache_hint"]
        }
        Ok(None)
    }

    #[inline]
    const fn bytes(&self) -> usize {
        ELEMENTS[self.element].bytes
    }

    /// In global memory, or wherever a generic address points.
    #[inline]
    const fn is_far(&self) -> bool {
        matches!(self.space, None | Some(SpaceWord::Global))
    }

    #[inline]
    const fn is_weak(&self) -> bool {
        matches!(self.order, None | Some(OrderWord::Weak))
    }

    /// Whether all its words go together, as `ptxas` judges it, and what they need.
    #[inline]
    pub const fn check(&self) -> Result<Needs, Wrong<'static>> {
        if let Err(wrong) = self.check_uniform() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_place() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_order() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_caching() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_type() {
            return Err(wrong);
        }
        Ok(self.needs())
    }

    /// `ldu` takes nothing but a space and a type.
    #[inline]
    const fn check_uniform(&self) -> Result<(), Wrong<'static>> {
        if !self.uniform {
            return Ok(());
        }
        macro_rules! none_of {
            ($($field:ident)*) => { $(
                if let Some(word) = self.$field {
                    return wrong(word.ptx(), "`ldu` takes a space and a type: `ldu.global.f32`; all other words belong to `ld`");
                }
            )* };
        }
        none_of! { order scope operator l1 l2 size }
        match self {
            Self { nc: true, .. } => wrong(".nc", "write `ldu.global` or `ld.global.nc`"),
            Self { hint: true, .. } => wrong(".L2::cache_hint", "`ldu` takes no policy; `ld` does"),
            Self { space: Some(space), .. } if !self.is_far() => {
                wrong(space.ptx(), "`ldu` takes generic and global addresses")
            }
            _ if self.bytes() == 32 => wrong(ELEMENTS[self.element].ptx, "`ldu` moves up to 128 bits"),
            _ => Ok(()),
        }
    }

    #[inline]
    const fn check_place(&self) -> Result<(), Wrong<'static>> {
        let load = matches!(self.operation, Operation::Load);
        match self.space {
            Some(SpaceWord::Const) if !load => return wrong(".const", "constant memory is read only"),
            Some(SpaceWord::Param | SpaceWord::ParamEntry | SpaceWord::ParamFunc) if !load => {
                return wrong(".param", "the assembler takes no store to a parameter's address in a register");
            }
            _ => {}
        }
        if self.nc && !(load && matches!(self.space, Some(SpaceWord::Global)) && self.order.is_none()) {
            return wrong(".nc", "it is a load from global memory without an order: `ld.global.nc`");
        }
        if self.unified && !(load && self.is_far() && self.is_weak() && !self.nc) {
            return wrong(".unified", "it is for weak loads from generic and global addresses");
        }
        Ok(())
    }

    #[inline]
    const fn check_order(&self) -> Result<(), Wrong<'static>> {
        let shared = SpaceWord::is_shared(self.space);
        let synchronises = self.is_far() || shared;
        match (self.order, self.scope) {
            (None | Some(OrderWord::Weak | OrderWord::Volatile), Some(scope)) => {
                wrong(scope.ptx(), "a scope belongs to `.relaxed`, `.acquire` or `.release`")
            }
            (Some(OrderWord::Relaxed | OrderWord::Acquire | OrderWord::Release), None) => {
                wrong("", "the scope is missing: `.cta`, `.cluster`, `.gpu` or `.sys`")
            }
            (Some(OrderWord::Mmio), scope) if !matches!(scope, Some(ScopeWord::Sys)) => {
                wrong(".mmio", "write `.mmio.relaxed.sys`")
            }
            (Some(OrderWord::Mmio), _) if !self.is_far() => wrong(".mmio", "it is for generic and global addresses"),
            (Some(OrderWord::Volatile), _) if !synchronises && !matches!(self.space, Some(SpaceWord::Local)) => {
                wrong(".volatile", "it is for generic, global, shared and local addresses")
            }
            (Some(order), Some(_)) if !synchronises => {
                wrong(order.ptx(), "it is for generic, global and shared addresses")
            }
            (Some(OrderWord::AcqRel), _) => wrong(".acq_rel", "a load acquires, a store releases; `atom` does both"),
            (Some(OrderWord::Acquire), _) if matches!(self.operation, Operation::Store) => {
                wrong(".acquire", "a load acquires, a store releases: `st.release`")
            }
            (Some(OrderWord::Release), _) if matches!(self.operation, Operation::Load) => {
                wrong(".release", "a store releases, a load acquires: `ld.acquire`")
            }
            _ => Ok(()),
        }
    }

    #[inline]
    const fn check_caching(&self) -> Result<(), Wrong<'static>> {
        let load = matches!(self.operation, Operation::Load);
        if let Some(operator) = self.operator {
            if self.l1.is_some() || self.l2.is_some() {
                return wrong(operator.ptx(), "an instruction has a cache operator or an eviction priority, not both");
            }
            if !self.is_weak() {
                return wrong(
                    operator.ptx(),
                    "cache operators are for weak accesses; an order takes eviction priorities",
                );
            }
            let taken = match operator {
                OperatorWord::Cg | OperatorWord::Cs => true,
                OperatorWord::Ca => load,
                OperatorWord::Lu | OperatorWord::Cv => load && !self.nc,
                OperatorWord::Wb | OperatorWord::Wt => !load,
            };
            if !taken {
                return wrong(
                    operator.ptx(),
                    "`ld` takes `.ca .cg .cs .lu .cv`, `ld.global.nc` `.ca .cg .cs`, `st` `.wb .cg .cs .wt`",
                );
            }
        }
        let prioritised = self.is_far() && !matches!(self.order, Some(OrderWord::Volatile | OrderWord::Mmio));
        let said = match (self.l1, self.l2) {
            (Some(l1), _) => l1.ptx(),
            (None, Some(l2)) => l2.ptx(),
            (None, None) => ".L2::cache_hint",
        };
        if (self.l1.is_some() || self.l2.is_some() || self.hint) && !prioritised {
            return wrong(said, "it is for generic and global addresses, and not with `.volatile` or `.mmio`");
        }
        if let Some(l2) = self.l2
            && self.bytes() != 32
        {
            return wrong(
                l2.ptx(),
                "an L2 eviction priority needs a 256-bit type: `.v8` of 32 bits or `.v4` of 64 bits",
            );
        }
        if let Some(size) = self.size
            && !(load && self.is_far() && !matches!(self.order, Some(OrderWord::Mmio)))
        {
            return wrong(
                size.ptx(),
                "a prefetch size is for loads from generic and global addresses, and not with `.mmio`",
            );
        }
        if load && matches!(self.order, Some(OrderWord::Relaxed)) && matches!(self.l1, Some(L1PriorityWord::EvictFirst))
        {
            return wrong(
                ".L1::evict_first",
                "the assembler makes a weak load of `ld.relaxed` with this priority: use another one, or `.acquire`",
            );
        }
        Ok(())
    }

    #[inline]
    const fn check_type(&self) -> Result<(), Wrong<'static>> {
        let row = &ELEMENTS[self.element];
        if row.bytes == 32 && !self.is_far() {
            return wrong(row.ptx, "only generic and global addresses take 256 bits at a time");
        }
        match self.order {
            Some(OrderWord::Mmio) if !row.scalar => wrong(row.ptx, "`.mmio` moves scalars only"),
            Some(OrderWord::Acquire | OrderWord::Release) if row.bytes == 32 => wrong(
                row.ptx,
                "on 256-bit types the assembler loses `.acquire` and `.release`: move two 128-bit halves, or use `.relaxed` and a fence",
            ),
            _ => Ok(()),
        }
    }

    #[inline]
    const fn needs(&self) -> Needs {
        let row = &ELEMENTS[self.element];
        let b128 = row.bytes == 16 && row.scalar;
        let local_volatile = matches!((self.space, self.order), (Some(SpaceWord::Local), Some(OrderWord::Volatile)));
        let mut needs = row
            .needs
            .and_if(self.nc, Needs::of::<NonCoherent>())
            .and_if(self.hint, CachePolicy::NEEDS)
            .and_if(local_volatile, Needs::of::<VolatileLocal>())
            .and_if(b128 && matches!(self.scope, Some(ScopeWord::Sys)), Needs::of::<Bits128System>());
        needs_of_words! { self needs [order scope space operator l1 l2 size] }
        needs
    }
}

#[inline]
const fn element(text: &[u8], from: usize) -> Option<usize> {
    // Nothing longer than `.v8.f32` is a type: all words before the last are told apart from it at once.
    if text.len() - from > 7 {
        return None;
    }
    row_of! { ELEMENTS text from }
}

const TYPES: [&str; ELEMENTS.len()] = texts_of!(ELEMENTS);

const VOCABULARY: Vocabulary = Vocabulary {
    words: &[
        OrderWord::TEXTS,
        ScopeWord::TEXTS,
        SpaceWord::TEXTS,
        OperatorWord::TEXTS,
        L1PriorityWord::TEXTS,
        L2PriorityWord::TEXTS,
        PrefetchSizeWord::TEXTS,
        &[".nc", ".L2::cache_hint"],
        VECTORS,
        &TYPES,
    ],
    types: &TYPES,
    unknown: "PTX has no such qualifier or type here",
    vectors: "PTX has `.v2` and `.v4` of types of up to 64 bits, and `.v8` of 32-bit types",
};

/// What [`ptx!`](crate::ptx) makes of what it was given: the mnemonic, whether a policy is after the operands and
/// `.unified` after the address, and which lanes are named.
#[inline]
pub const fn judge<'t>(
    text: &'t str,
    policy: bool,
    unified: bool,
    lanes: Lanes<'_>,
) -> Result<(Spelling, Needs), Wrong<'t>> {
    let spelling = match Spelling::read(text) {
        Ok(spelling) => Spelling { unified, ..spelling },
        Err(wrong) => return Err(wrong),
    };
    let needs = match spelling.check() {
        Ok(needs) => needs,
        Err(wrong) => return Err(wrong),
    };
    if let Err(wrong) = demand_policy(spelling.hint, policy) {
        return Err(wrong);
    }
    match lanes {
        Lanes::Some(_) if spelling.bytes() != 32 => wrong("_", "only a 256-bit access can leave lanes out"),
        Lanes::Some(named) if named.len() != ELEMENTS[spelling.element].lanes() || !any(named) => {
            wrong("{…}", "name each lane of the vector, or write `_` for it; name at least one")
        }
        _ => Ok((spelling, needs)),
    }
}

/// The spelling that [`ptx!`](crate::ptx) was given; the build stops where it is none, or is not on its target.
#[doc(hidden)]
#[track_caller]
#[inline]
pub const fn demand(text: &'static str, policy: bool, unified: bool, lanes: Lanes<'_>) -> Spelling {
    match judge(text, policy, unified, lanes) {
        Ok((spelling, needs)) => {
            stop_unless_on_target(text, needs);
            spelling
        }
        Err(wrong) => stop(text, wrong),
    }
}

/// Which lanes of a vector are moved.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Lanes<'l> {
    /// Every one: nothing is said.
    All,
    /// Those that have a name.
    Some(&'l [bool]),
}

#[inline]
const fn any(named: &[bool]) -> bool {
    let mut at = 0;
    while at < named.len() {
        if named[at] {
            return true;
        }
        at += 1;
    }
    false
}
