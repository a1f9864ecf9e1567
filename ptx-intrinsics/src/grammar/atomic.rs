//! `atom` and `red`: read, change and write in one step. All of it is spelled by [`ptx!`](crate::ptx).

use super::read::{VECTORS, Vocabulary, Word, Wrong, demand_policy, no_qualifier, once, wrong};
use super::stop::{stop, stop_unless_on_target};
pub use crate::isa::atomic::AtomicOperation;
use crate::isa::atomic::TYPES;
use crate::isa::gate::{AtomicScopes, Bits128System, Needs};
use crate::isa::order::OrderWord;
use crate::isa::policy::CachePolicy;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;
use crate::isa::word::{Key, key, key_of};

/// An `atom` or `red` with all its qualifiers and its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// `red`, which gives nothing back.
    pub(crate) red: bool,
    pub(crate) order: Option<OrderWord>,
    pub(crate) scope: Option<ScopeWord>,
    pub(crate) space: Option<SpaceWord>,
    pub(crate) op: Option<AtomicOperation>,
    pub(crate) noftz: bool,
    /// `.L2::cache_hint`, which takes a policy.
    pub(crate) hint: bool,
    /// The row of its type.
    pub(crate) ty: usize,
}

impl Atomic {
    #[inline]
    pub(crate) const fn plain(red: bool) -> Self {
        Self { red, order: None, scope: None, space: None, op: None, noftz: false, hint: false, ty: 0 }
    }

    /// Reads `red.relaxed.gpu.global.add.f32`: the qualifiers in any order, each once, then the type.
    #[inline]
    pub const fn read(text: &str) -> Result<Self, Wrong<'_>> {
        let bytes = text.as_bytes();
        let Word { key: mnemonic, to: mut at, .. } = Word::at(text, 0);
        let mut atomic = Self::plain(mnemonic == const { key_of(b"red") });
        while at < bytes.len() {
            if let Some(ty) = type_of(bytes, at) {
                return Ok(Self { ty, ..atomic });
            }
            let word = Word::at(text, at);
            atomic = match atomic.and(word) {
                Ok(Some(atomic)) => atomic,
                Ok(None) => return no_qualifier(text, at, &VOCABULARY),
                Err(wrong) => return Err(wrong),
            };
            at = word.to;
        }
        wrong(
            "",
            "the type is missing: `.b16` to `.b128`, `.u32`, `.u64`, `.s32`, `.s64`, `.f32`, `.f64`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`",
        )
    }

    /// With one more word, if it is one.
    #[inline]
    const fn and(mut self, this: Word<'_>) -> Result<Option<Self>, Wrong<'_>> {
        take_word! {
            self this
            words [order OrderWord scope ScopeWord space SpaceWord op AtomicOperation]
            flags [noftz b".noftz" hint b".L2::cache_hint"]
        }
        Ok(None)
    }

    /// Whether all its words go together, as `ptxas` judges it, and what they need.
    #[inline]
    pub const fn check(&self) -> Result<Needs, Wrong<'static>> {
        if let Err(wrong) = self.check_place_and_order() {
            return Err(wrong);
        }
        let Some(op) = self.op else {
            return wrong("", "the operation is missing: `.and .or .xor .exch .cas .inc .dec .add .min .max`");
        };
        if self.red && matches!(op, AtomicOperation::Exch | AtomicOperation::Cas) {
            return wrong(op.ptx(), "`red` has no result: write `atom`");
        }
        if self.hint && matches!(op, AtomicOperation::Cas) {
            return wrong(".L2::cache_hint", "`.cas` takes none");
        }
        match (self.takes(op), self.order) {
            (None, _) => wrong(TYPES[self.ty].ptx, self.types_of(op)),
            (Some(_), Some(order)) if self.loses_its_order(op) => wrong(
                order.ptx(),
                "in shared memory this type is a loop, and the assembler loses the loop's order on sm_90 and newer: use `.relaxed` and a fence",
            ),
            (Some(needs), _) => Ok(self.needs(needs)),
        }
    }

    /// In a block's own shared memory the machine compares and swaps what it has no instruction for, and `ptxas` leaves
    /// out what would order that: the fence before a release, and what invalidates L1 after an acquire.
    #[inline]
    const fn loses_its_order(&self, op: AtomicOperation) -> bool {
        let looped = match op {
            AtomicOperation::Exch | AtomicOperation::Cas => false,
            _ => matches!(
                TYPES[self.ty].ptx.as_bytes(),
                b".b64" | b".u64" | b".s64" | b".f64" | b".f32" | b".f16x2" | b".bf16x2"
            ),
        };
        let ordered = match (self.order, self.scope) {
            (Some(OrderWord::Acquire), Some(ScopeWord::Cta)) => false,
            (Some(OrderWord::Acquire | OrderWord::Release | OrderWord::AcqRel), _) => true,
            _ => false,
        };
        looped && ordered && matches!(self.space, Some(SpaceWord::Shared | SpaceWord::SharedCta))
    }

    #[inline]
    const fn check_place_and_order(&self) -> Result<(), Wrong<'static>> {
        let far = matches!(self.space, None | Some(SpaceWord::Global));
        if !far && !SpaceWord::is_shared(self.space) {
            return wrong("", "an atomic takes generic, global and shared addresses");
        }
        match self.order {
            Some(order @ (OrderWord::Weak | OrderWord::Volatile | OrderWord::Mmio)) => {
                return wrong(order.ptx(), "an atomic is `.relaxed`, `.acquire`, `.release` or `.acq_rel`");
            }
            Some(order @ (OrderWord::Acquire | OrderWord::AcqRel)) if self.red => {
                return wrong(
                    order.ptx(),
                    "`red` has no result and cannot acquire: `.relaxed`, `.release`, or write `atom`",
                );
            }
            _ => {}
        }
        if self.hint && !far {
            return wrong(".L2::cache_hint", "it is for generic and global addresses");
        }
        if matches!(TYPES[self.ty].ptx.as_bytes(), [b'.', b'v', ..]) && !far {
            return wrong(TYPES[self.ty].ptx, "only generic and global addresses take vectors");
        }
        Ok(())
    }

    /// What the operation needs for its type, if it takes that.
    #[inline]
    const fn takes(&self, op: AtomicOperation) -> Option<Needs> {
        let takes = TYPES[self.ty].takes;
        let mut at = 0;
        while at < takes.len() {
            let (taken, noftz, needs) = takes[at];
            if taken as u8 == op as u8 && self.noftz == noftz {
                return Some(needs);
            }
            at += 1;
        }
        None
    }

    /// Which types the operation takes, where its own is none.
    #[inline]
    const fn types_of(&self, op: AtomicOperation) -> &'static str {
        let other = Self { noftz: !self.noftz, ..*self };
        match op {
            _ if other.takes(op).is_some() && self.noftz => "leave out `.noftz`: it is for floats",
            _ if other.takes(op).is_some() => "write `.noftz` after the operation: there is no other",
            AtomicOperation::And | AtomicOperation::Or | AtomicOperation::Xor => {
                "`.and .or .xor` take `.b32` and `.b64`"
            }
            AtomicOperation::Exch => "`.exch` takes `.b32`, `.b64` and `.b128`",
            AtomicOperation::Cas => "`.cas` takes `.b16`, `.b32`, `.b64` and `.b128`",
            AtomicOperation::Inc | AtomicOperation::Dec => "`.inc` and `.dec` take `.u32`",
            AtomicOperation::Add => {
                "`.add` takes `.u32`, `.s32`, `.u64` (for `.s64` too), `.f32` (also `.v2`, `.v4`), `.f64`, and with `.noftz` `.f16`, `.bf16` (also `.v2` to `.v8`), `.f16x2`, `.bf16x2` (also `.v2`, `.v4`)"
            }
            AtomicOperation::Min | AtomicOperation::Max => {
                "`.min` and `.max` take `.u32`, `.s32`, `.u64`, `.s64`, and with `.noftz` `.v2` to `.v8` of `.f16` and `.bf16`, `.v2` and `.v4` of `.f16x2` and `.bf16x2`"
            }
        }
    }

    #[inline]
    const fn needs(&self, mut needs: Needs) -> Needs {
        needs_of_words! { self needs [order space op] }
        if let Some(scope) = self.scope {
            // Older than the orders that it goes with elsewhere.
            let own = if matches!(scope, ScopeWord::Cluster) { scope.needs() } else { Needs::of::<AtomicScopes>() };
            needs = needs.and(own);
        }
        let is_b128 = matches!(TYPES[self.ty].ptx.as_bytes(), b".b128");
        let b128_sys = is_b128 && matches!(self.scope, Some(ScopeWord::Sys));
        needs.and_if(self.hint, CachePolicy::NEEDS).and_if(b128_sys, Needs::of::<Bits128System>())
    }
}

#[inline]
const fn type_of(text: &[u8], from: usize) -> Option<usize> {
    // Nothing longer than `.v4.bf16x2` is a type.
    if text.len() - from > 10 {
        return None;
    }
    row_of! { TYPES text from }
}

const TYPE_TEXTS: [&str; TYPES.len()] = texts_of!(TYPES);

const VOCABULARY: Vocabulary = Vocabulary {
    words: &[
        OrderWord::TEXTS,
        ScopeWord::TEXTS,
        SpaceWord::TEXTS,
        AtomicOperation::TEXTS,
        &[".noftz", ".L2::cache_hint"],
        VECTORS,
        &TYPE_TEXTS,
    ],
    types: &TYPE_TEXTS,
    unknown: "`atom` and `red` have no such qualifier or type",
    vectors: "`atom` and `red` have `.v2` and `.v4` of `.f32`, `.f16x2` and `.bf16x2`, and `.v2`, `.v4` and `.v8` of `.f16` and `.bf16`",
};

/// What `ptx!` makes of an atomic: the mnemonic, and whether a policy is after the operands.
#[doc(hidden)]
#[inline]
pub const fn judge_atomic(text: &str, policy: bool) -> Result<(Atomic, Needs), Wrong<'_>> {
    let atomic = match Atomic::read(text) {
        Ok(atomic) => atomic,
        Err(wrong) => return Err(wrong),
    };
    let needs = match atomic.check() {
        Ok(needs) => needs,
        Err(wrong) => return Err(wrong),
    };
    match demand_policy(atomic.hint, policy) {
        Err(wrong) => Err(wrong),
        Ok(()) => Ok((atomic, needs)),
    }
}

/// The atomic that `ptx!` was given; the build stops where it is none, or is not on its target.
#[doc(hidden)]
#[track_caller]
#[inline]
pub const fn demand_atomic(text: &'static str, policy: bool) -> Atomic {
    match judge_atomic(text, policy) {
        Ok((atomic, needs)) => {
            stop_unless_on_target(text, needs);
            atomic
        }
        Err(wrong) => stop(text, wrong),
    }
}
