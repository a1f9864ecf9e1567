//! `multimem`: accesses to the copies that several GPUs have of one memory. All of it is spelled by [`ptx!`](crate::ptx).

use super::read::{VECTORS, Vocabulary, Word, Wrong, no_qualifier, once, unknown, wrong};
use super::stop::{stop, stop_unless_on_target};
use crate::isa::atomic::AtomicOperation;
use crate::isa::gate::Needs;
use crate::isa::multimem::TYPES;
pub use crate::isa::multimem::{AccumulationWord, MultimemWord};
use crate::isa::order::OrderWord;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;
use crate::isa::word::{Key, key, key_of};

/// A `multimem` with all its qualifiers and its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multimem {
    pub(crate) word: MultimemWord,
    pub(crate) order: Option<OrderWord>,
    pub(crate) scope: Option<ScopeWord>,
    pub(crate) space: Option<SpaceWord>,
    pub(crate) op: Option<AtomicOperation>,
    pub(crate) accumulation: Option<AccumulationWord>,
    /// The row of its type.
    pub(crate) ty: usize,
}

impl Multimem {
    #[inline]
    pub(crate) const fn plain(word: MultimemWord) -> Self {
        Self { word, order: None, scope: None, space: None, op: None, accumulation: None, ty: 0 }
    }

    /// Reads `multimem.ld_reduce.relaxed.sys.global.add.f32`: the qualifiers in any order, each once, then the type.
    #[inline]
    pub const fn read(text: &str) -> Result<Self, Wrong<'_>> {
        let bytes = text.as_bytes();
        let first = Word::at(text, Word::at(text, 0).to);
        let Some(word) = MultimemWord::read(first.key) else {
            return Err(unknown(first.text(), "`multimem` is `.ld_reduce`, `.st` or `.red`", &[MultimemWord::TEXTS]));
        };
        let (mut multimem, mut at) = (Self::plain(word), first.to);
        while at < bytes.len() {
            if let Some(ty) = type_of(bytes, at) {
                return Ok(Self { ty, ..multimem });
            }
            let word = Word::at(text, at);
            if word.key == const { key_of(b".async") } {
                return wrong(
                    word.text(),
                    "it is a function: `multimem_st_async_release`, `multimem_red_async_release_add`",
                );
            }
            multimem = match multimem.and(word) {
                Ok(Some(multimem)) => multimem,
                Ok(None) => return no_qualifier(text, at, &VOCABULARY),
                Err(wrong) => return Err(wrong),
            };
            at = word.to;
        }
        wrong("", "the type is missing, which ends the words: `.u32`, `.f32`, `.f16x2`, `.v4.f32`")
    }

    /// With one more word, if it is one.
    #[inline]
    const fn and(mut self, this: Word<'_>) -> Result<Option<Self>, Wrong<'_>> {
        take_word! {
            self this
            words [order OrderWord scope ScopeWord space SpaceWord op AtomicOperation accumulation AccumulationWord]
            flags []
        }
        Ok(None)
    }

    /// Whether all its words go together, as `ptxas` judges it, and what they need.
    #[inline]
    pub const fn check(&self) -> Result<Needs, Wrong<'static>> {
        if !matches!(self.space, None | Some(SpaceWord::Global)) {
            return wrong("", "a multimem address is generic, or in `.global`");
        }
        if let Err(wrong) = self.check_order() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_operation() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_accumulation() {
            return Err(wrong);
        }
        let mut needs = self.word.needs().and(TYPES[self.ty].group.needs());
        needs_of_words! { self needs [order scope space accumulation] }
        Ok(needs)
    }

    #[inline]
    const fn check_order(&self) -> Result<(), Wrong<'static>> {
        use MultimemWord::{LdReduce, Red, St};
        use OrderWord::{Acquire, Relaxed, Release, Weak};
        match (self.word, self.order) {
            (LdReduce, None | Some(Weak | Relaxed | Acquire))
            | (St, None | Some(Weak | Relaxed | Release))
            | (Red, None | Some(Relaxed | Release)) => {}
            (word, Some(order)) => {
                return wrong(
                    order.ptx(),
                    match word {
                        LdReduce => "`multimem.ld_reduce` is `.weak`, `.relaxed` or `.acquire`",
                        St => "`multimem.st` is `.weak`, `.relaxed` or `.release`",
                        Red => "`multimem.red` is `.relaxed` or `.release`",
                    },
                );
            }
        }
        match (self.order, self.scope) {
            (Some(order @ (Relaxed | Acquire | Release)), None) => wrong(
                order.ptx(),
                "its scope is missing: `.sys` for the threads of all GPUs, `.gpu`, `.cluster` or `.cta`",
            ),
            (None | Some(Weak), Some(scope)) => wrong(scope.ptx(), "the order is missing before the scope: `.relaxed`"),
            _ => Ok(()),
        }
    }

    #[inline]
    const fn check_operation(&self) -> Result<(), Wrong<'static>> {
        use AtomicOperation::{Add, And, Max, Min, Or, Xor};
        let Some(op) = self.op else {
            return match self.word {
                MultimemWord::St => Ok(()),
                _ => wrong("", "the operation is missing: `.add .min .max .and .or .xor`"),
            };
        };
        if matches!(self.word, MultimemWord::St) {
            return wrong(op.ptx(), "a store has no operation: `multimem.red` has");
        }
        if TYPES[self.ty].group.takes(self.word, op) {
            return Ok(());
        }
        if !matches!(op, Add | And | Max | Min | Or | Xor) {
            return wrong(op.ptx(), "the operations are `.add .min .max .and .or .xor`");
        }
        wrong(TYPES[self.ty].ptx, types_of(self.word, op))
    }

    #[inline]
    const fn check_accumulation(&self) -> Result<(), Wrong<'static>> {
        let Some(own) = self.accumulation else { return Ok(()) };
        if !matches!((self.word, self.op), (MultimemWord::LdReduce, Some(AtomicOperation::Add))) {
            return wrong(own.ptx(), "it is for the sums of `multimem.ld_reduce`");
        }
        match (TYPES[self.ty].group.accumulates(), own) {
            (Some(AccumulationWord::F32), AccumulationWord::F32)
            | (Some(AccumulationWord::F16), AccumulationWord::F16) => Ok(()),
            _ => wrong(own.ptx(), "`.acc::f32` is for floats of 16 bits, `.acc::f16` for those of 8 bits"),
        }
    }
}

/// Which types an operation takes.
#[inline]
const fn types_of(word: MultimemWord, op: AtomicOperation) -> &'static str {
    use AtomicOperation::{Add, And, Max, Min, Or, Xor};
    match (word, op) {
        (_, And | Or | Xor) => "`.and .or .xor` take `.b32` and `.b64`",
        (MultimemWord::LdReduce, Add) => {
            "`.add` takes `.u32`, `.s32`, `.u64`, `.f32`, `.f64`, `.f16x2`, `.bf16x2`, `.e4m3x4`, `.e5m2x4`, and vectors of floats"
        }
        (_, Add) => {
            "`.add` takes `.u32`, `.s32`, `.u64`, `.f32`, `.f64`, `.f16x2`, `.bf16x2`, and vectors of floats of 16 and 32 bits"
        }
        (MultimemWord::LdReduce, Min | Max) => {
            "`.min` and `.max` take `.u32`, `.s32`, `.u64`, `.s64`, `.f16x2`, `.bf16x2`, `.e4m3x4`, `.e5m2x4`, and vectors of floats of 8 and 16 bits"
        }
        (_, Min | Max) => "`.min` and `.max` take `.u32`, `.s32`, `.u64` and `.s64`",
        _ => "",
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
        AccumulationWord::TEXTS,
        VECTORS,
        &TYPE_TEXTS,
    ],
    types: &TYPE_TEXTS,
    unknown: "`multimem` has no such qualifier or type",
    vectors: "`multimem` has vectors of floats, of 32 to 128 bits: `.v2.f32`, `.v4.f16x2`, `.v8.bf16`",
};

/// What `ptx!` makes of a `multimem`.
#[doc(hidden)]
#[inline]
pub const fn judge_multimem(text: &str) -> Result<(Multimem, Needs), Wrong<'_>> {
    let multimem = match Multimem::read(text) {
        Ok(multimem) => multimem,
        Err(wrong) => return Err(wrong),
    };
    match multimem.check() {
        Ok(needs) => Ok((multimem, needs)),
        Err(wrong) => Err(wrong),
    }
}

/// The `multimem` that `ptx!` was given; the build stops where it is none, or is not on its target.
#[doc(hidden)]
#[track_caller]
#[inline]
pub const fn demand_multimem(text: &'static str) -> Multimem {
    match judge_multimem(text) {
        Ok((multimem, needs)) => {
            stop_unless_on_target(text, needs);
            multimem
        }
        Err(wrong) => stop(text, wrong),
    }
}
