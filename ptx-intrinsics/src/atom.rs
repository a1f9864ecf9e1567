//! `atom` and `red`: read, change and write in one step. All of it is spelled by [`ptx!`](crate::ptx).

#[cfg(not(target_arch = "nvptx64"))]
mod forms;
#[cfg(not(target_arch = "nvptx64"))]
mod host;

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use forms::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::catalogue::Signature;
use crate::element::*;
use crate::ptx::PointsTo;
use crate::qualifier::policy::CachePolicy;
use crate::qualifier::target::*;
use crate::spell::same_bits;
use crate::spelling::{
    Needs, Ordering, Place, Threads, Wrong, demand_policy, end_of_word, once, same, stop, stop_unless_on_target, word,
    wrong,
};

words! {
    /// What an atomic does with the value in memory.
    Reduction {
        And ".and" "" [sm_20, ptx20];
        Or ".or" "" [sm_20, ptx20];
        Xor ".xor" "" [sm_20, ptx20];
        Exch ".exch" "" [sm_20, ptx20];
        Cas ".cas" "" [sm_20, ptx20];
        Inc ".inc" "" [sm_20, ptx20];
        Dec ".dec" "" [sm_20, ptx20];
        Add ".add" "" [sm_20, ptx20];
        Min ".min" "" [sm_20, ptx20];
        Max ".max" "" [sm_20, ptx20];
    }
}

/// Calls `$callback! { $args {AtomKind same (Rust type) (words) [text] shape class register number [what it takes]} … }` with every
/// type of an atomic.
///
/// `Kind` names the type where the macros need a path: the `same` as the Rust type, or `marked` by a type of its own, where
/// others count as it too. What it takes are groups of operations that begin at one target,
/// with `.noftz` behind them or without; `number` is what one element counts as.
macro_rules! for_each_atomic {
    ($callback:ident $args:tt) => {
        $callback! { $args
            {AtomB16 marked (B16) (b16) [".b16"] x1 reg16 u16 U16 [sm_70 ptx63 "" Cas;]}
            {AtomB32 marked (B32) (b32) [".b32"] x1 reg32 u32 U32 [sm_20 ptx20 "" And Or Xor Exch Cas;]}
            {AtomB64 marked (B64) (b64) [".b64"] x1 reg64 u64 U64 [sm_20 ptx20 "" Exch Cas; sm_32 ptx31 "" And Or Xor;]}
            {AtomB128 same (B128) (b128) [".b128"] b128 reg64 u64 U128 [sm_90 ptx83 "" Exch Cas;]}
            {AtomU32 same (u32) (u32) [".u32"] x1 reg32 u32 U32 [sm_20 ptx20 "" Inc Dec Add Min Max;]}
            {AtomU64 same (u64) (u64) [".u64"] x1 reg64 u64 U64 [sm_20 ptx20 "" Add; sm_32 ptx31 "" Min Max;]}
            {AtomS32 same (i32) (s32) [".s32"] x1 reg32 u32 S32 [sm_20 ptx20 "" Add Min Max;]}
            {AtomS64 same (i64) (s64) [".s64"] x1 reg64 u64 S64 [sm_32 ptx31 "" Min Max;]}
            {AtomF32 same (f32) (f32) [".f32"] x1 reg32 f32 F32 [sm_20 ptx20 "" Add; sm_90 ptx94 ".noftz" Add;]}
            {AtomF32x2 same (V2<f32>) (v2 f32) [".v2.f32"] x2 reg32 f32 F32 [sm_90 ptx81 "" Add; sm_90 ptx94 ".noftz" Add;]}
            {AtomF32x4 same (V4<f32>) (v4 f32) [".v4.f32"] x4 reg32 f32 F32 [sm_90 ptx81 "" Add; sm_90 ptx94 ".noftz" Add;]}
            {AtomF64 same (f64) (f64) [".f64"] x1 reg64 f64 F64 [sm_60 ptx50 "" Add;]}
            {AtomF16 marked (B16) (f16) [".f16"] x1 reg16 u16 F16 [sm_70 ptx63 ".noftz" Add;]}
            {AtomF16v2 marked (V2<B16>) (v2 f16) [".v2.f16"] x2 reg16 u16 F16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomF16v4 marked (V4<B16>) (v4 f16) [".v4.f16"] x4 reg16 u16 F16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomF16v8 marked (V8<B16>) (v8 f16) [".v8.f16"] x8 reg16 u16 F16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomF16x2 marked (B32) (f16x2) [".f16x2"] x1 reg32 u32 F16 [sm_60 ptx62 ".noftz" Add;]}
            {AtomF16x2v2 marked (V2<B32>) (v2 f16x2) [".v2.f16x2"] x2 reg32 u32 F16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomF16x2v4 marked (V4<B32>) (v4 f16x2) [".v4.f16x2"] x4 reg32 u32 F16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomBf16 marked (B16) (bf16) [".bf16"] x1 reg16 u16 Bf16 [sm_90 ptx78 ".noftz" Add;]}
            {AtomBf16v2 marked (V2<B16>) (v2 bf16) [".v2.bf16"] x2 reg16 u16 Bf16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomBf16v4 marked (V4<B16>) (v4 bf16) [".v4.bf16"] x4 reg16 u16 Bf16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomBf16v8 marked (V8<B16>) (v8 bf16) [".v8.bf16"] x8 reg16 u16 Bf16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomBf16x2 marked (B32) (bf16x2) [".bf16x2"] x1 reg32 u32 Bf16 [sm_90 ptx78 ".noftz" Add;]}
            {AtomBf16x2v2 marked (V2<B32>) (v2 bf16x2) [".v2.bf16x2"] x2 reg32 u32 Bf16 [sm_90 ptx81 ".noftz" Add Min Max;]}
            {AtomBf16x2v4 marked (V4<B32>) (v4 bf16x2) [".v4.bf16x2"] x4 reg32 u32 Bf16 [sm_90 ptx81 ".noftz" Add Min Max;]}
        }
    };
}

mod emit;

/// What an element counts as; the number of its bits decides what is one atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a variant is the type that it is named after")]
pub enum Number {
    U16,
    U32,
    U64,
    U128,
    S32,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

/// A type's row.
#[derive(Debug)]
struct TypeRow {
    ptx: &'static str,
    takes: &'static [(Reduction, &'static str, Needs)],
    #[cfg(not(target_arch = "nvptx64"))]
    bytes: usize,
    #[cfg(not(target_arch = "nvptx64"))]
    number: Number,
    #[cfg(not(target_arch = "nvptx64"))]
    catalogue: CatalogueRow,
}

macro_rules! type_rows {
    (() $({$kind:ident $same:ident ($($t:tt)*) $words:tt [$text:literal] $shape:ident $class:ident $r:ident $number:ident
        [$($sm:ident $isa:ident $noftz:literal $($op:ident)*;)*]})*) => {
        const TYPES: &[TypeRow] = &[$(TypeRow {
            ptx: $text,
            takes: &[$($((Reduction::$op, $noftz, Needs::of::<$sm, $isa>()),)*)*],
            #[cfg(not(target_arch = "nvptx64"))]
            bytes: size_of::<$($t)*>(),
            #[cfg(not(target_arch = "nvptx64"))]
            number: Number::$number,
            #[cfg(not(target_arch = "nvptx64"))]
            catalogue: catalogue_row! { $shape $($t)* },
        }),*];

        /// Each type, where the macros need a path.
        #[doc(hidden)]
        pub mod kinds {
            use super::*;
            $(type_rows! { @$same $kind ($($t)*) })*
        }
    };
    (@same $kind:ident ($($t:tt)*)) => {
        #[allow(missing_docs, reason = "only the macros see it")]
        pub type $kind = $($t)*;
        impl sealed::Kind for $kind {}
        impl Kind for $kind {
            type Rust = Self;
        }
    };
    (@marked $kind:ident ($($t:tt)*)) => {
        #[allow(missing_docs, reason = "only the macros and error messages show it")]
        #[derive(Clone, Copy, Debug)]
        pub enum $kind {}
        impl sealed::Kind for $kind {}
        impl Kind for $kind {
            type Rust = $($t)*;
        }
        impl sealed::MovedAs<$kind> for $($t)* {}
        #[diagnostic::do_not_recommend]
        impl MovedAs<$kind> for $($t)* {}
    };
}

/// A type as PTX's words name it.
#[doc(hidden)]
pub trait Kind: sealed::Kind {
    /// The type that stands for it.
    type Rust: Copy;
}

/// The texts of a type's forms: at a pointer, a `SharedPtr`, a `SharedClusterPtr`.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
struct CatalogueRow {
    rust: &'static str,
    red: [Signature; 3],
    atom: [Signature; 3],
    cas: [Signature; 3],
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! catalogue_row {
    ($shape:ident $scalar:ident) => {
        catalogue_row! { @value $shape stringify!($scalar) }
    };
    ($shape:ident $vector:ident<$scalar:ident>) => {
        catalogue_row! { @value $shape concat!(stringify!($vector), "<", stringify!($scalar), ">") }
    };
    (@value x1 $t:expr) => {
        catalogue_row! { @row $t, "%" "%" "%" }
    };
    (@value x2 $t:expr) => {
        catalogue_row! { @row $t, "{%, %}" "{%, %}" "" }
    };
    (@value x4 $t:expr) => {
        catalogue_row! { @row $t, "{%, %, %, %}" "{%, %, %, %}" "" }
    };
    (@value x8 $t:expr) => {
        catalogue_row! { @row $t, "{%, %, %, %, %, %, %, %}" "{%, %, %, %, %, %, %, %}" "" }
    };
    (@value b128 $t:expr) => {
        catalogue_row! { @row $t, "%old" "%value" "%compare" }
    };
    (@row $t:expr, $old:literal $value:literal $compare:literal) => {
        CatalogueRow {
            rust: $t,
            red: catalogue_row! { @places concat!("v: ", $t), None, concat!("[%], ", $value) },
            atom: catalogue_row! { @places concat!("v: ", $t), Some($t), concat!($old, ", [%], ", $value) },
            cas: catalogue_row! {
                @places concat!("compare: ", $t, ", v: ", $t), Some($t), concat!($old, ", [%], ", $compare, ", ", $value)
            },
        }
    };
    (@places $values:expr, $result:expr, $operands:expr) => {[
        Signature { parameters: concat!("p: *mut u8, ", $values), result: $result, operands: $operands },
        Signature { parameters: concat!("p: SharedPtr<u8>, ", $values), result: $result, operands: $operands },
        Signature { parameters: concat!("p: SharedClusterPtr<u8>, ", $values), result: $result, operands: $operands },
    ]};
}

for_each_atomic! { type_rows () }

/// Other types that are the same bits.
macro_rules! counts_as {
    ($($t:ty => $($kind:ident)*),* $(,)?) => { $($(
        #[diagnostic::do_not_recommend]
        impl MovedAs<kinds::$kind> for $t {}
        impl sealed::MovedAs<kinds::$kind> for $t {}
        const _: () = {
            assert!(size_of::<$t>() == size_of::<<kinds::$kind as Kind>::Rust>());
            assert!(align_of::<$t>() == align_of::<<kinds::$kind as Kind>::Rust>());
        };
    )*)* };
}
counts_as! { u16 => AtomB16, u32 => AtomB32, u64 => AtomB64, i32 => AtomB32, i64 => AtomB64 }

#[cfg(feature = "half")]
mod half_types {
    use super::*;
    use half::{bf16, f16};

    counts_as! {
        f16 => AtomF16, V2<f16> => AtomF16v2 AtomF16x2, V4<f16> => AtomF16v4 AtomF16x2v2, V8<f16> => AtomF16v8 AtomF16x2v4,
        bf16 => AtomBf16, V2<bf16> => AtomBf16v2 AtomBf16x2, V4<bf16> => AtomBf16v4 AtomBf16x2v2, V8<bf16> => AtomBf16v8 AtomBf16x2v4,
    }
}

/// An `atom` or `red` with all its qualifiers and its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// `red`, which gives nothing back.
    red: bool,
    order: Option<Ordering>,
    scope: Option<Threads>,
    place: Option<Place>,
    op: Option<Reduction>,
    noftz: bool,
    /// `.L2::cache_hint`, which takes a policy.
    hint: bool,
    /// The row of its type.
    ty: usize,
}

impl Atomic {
    const fn plain(red: bool) -> Self {
        Self { red, order: None, scope: None, place: None, op: None, noftz: false, hint: false, ty: 0 }
    }

    /// Reads `red.relaxed.gpu.global.add.f32`: the qualifiers in any order, each once, then the type.
    pub const fn read(text: &str) -> Result<Self, Wrong<'_>> {
        let bytes = text.as_bytes();
        let mut at = end_of_word(bytes, 0);
        let mut atomic = Self::plain(same(bytes.split_at(at).0, b"red"));
        while at < bytes.len() {
            if let Some(ty) = type_of(bytes.split_at(at).1) {
                return Ok(Self { ty, ..atomic });
            }
            let end = end_of_word(bytes, at);
            atomic = match atomic.and(word(text, at, end)) {
                Ok(atomic) => atomic,
                Err(wrong) => return Err(wrong),
            };
            at = end;
        }
        wrong(
            "",
            "the type is missing: `.b16` to `.b128`, `.u32`, `.u64`, `.s32`, `.s64`, `.f32`, `.f64`, `.f16`, `.f16x2`, `.bf16`, `.bf16x2`",
        )
    }

    /// With one more word.
    const fn and(mut self, this: &str) -> Result<Self, Wrong<'_>> {
        take_word! {
            self this
            words [order Ordering scope Threads place Place op Reduction]
            flags [noftz b".noftz" hint b".L2::cache_hint"]
        }
        wrong(this, "`atom` and `red` have no such qualifier or type")
    }

    /// Whether all its words go together, as `ptxas` judges it, and what they need.
    pub const fn check(&self) -> Result<Needs, Wrong<'static>> {
        if let Err(wrong) = self.check_place_and_order() {
            return Err(wrong);
        }
        let Some(op) = self.op else {
            return wrong("", "the operation is missing: `.and .or .xor .exch .cas .inc .dec .add .min .max`");
        };
        if self.red && matches!(op, Reduction::Exch | Reduction::Cas) {
            return wrong(op.ptx(), "`red` gives nothing back: write `atom`");
        }
        if self.hint && matches!(op, Reduction::Cas) {
            return wrong(".L2::cache_hint", "`.cas` takes none");
        }
        match (self.takes(op), self.order) {
            (None, _) => wrong(TYPES[self.ty].ptx, self.types_of(op)),
            (Some(_), Some(order)) if self.loses_its_order(op) => wrong(
                order.ptx(),
                "in shared memory this type is a loop, and the assembler forgets the loop's order on sm_90 and newer: use `.relaxed` and a fence",
            ),
            (Some(needs), _) => Ok(self.needs(needs)),
        }
    }

    /// In a block's own shared memory the machine compares and swaps what it has no instruction for, and `ptxas` leaves
    /// out what would order that: the fence before a release, and what invalidates L1 behind an acquire.
    const fn loses_its_order(&self, op: Reduction) -> bool {
        let looped = match op {
            Reduction::Exch | Reduction::Cas => false,
            _ => matches!(
                TYPES[self.ty].ptx.as_bytes(),
                b".b64" | b".u64" | b".s64" | b".f64" | b".f32" | b".f16x2" | b".bf16x2"
            ),
        };
        let ordered = match (self.order, self.scope) {
            (Some(Ordering::Acquire), Some(Threads::Cta)) => false,
            (Some(Ordering::Acquire | Ordering::Release | Ordering::AcqRel), _) => true,
            _ => false,
        };
        looped && ordered && matches!(self.place, Some(Place::Shared | Place::SharedCta))
    }

    const fn check_place_and_order(&self) -> Result<(), Wrong<'static>> {
        let far = matches!(self.place, None | Some(Place::Global));
        if !far && !Place::is_shared(self.place) {
            return wrong("", "an atomic stands on generic, global and shared addresses");
        }
        match self.order {
            Some(order @ (Ordering::Weak | Ordering::Volatile | Ordering::Mmio)) => {
                return wrong(order.ptx(), "an atomic is `.relaxed`, `.acquire`, `.release` or `.acq_rel`");
            }
            Some(order @ (Ordering::Acquire | Ordering::AcqRel)) if self.red => {
                return wrong(
                    order.ptx(),
                    "`red` gives nothing back and cannot acquire: `.relaxed`, `.release`, or write `atom`",
                );
            }
            _ => {}
        }
        if self.hint && !far {
            return wrong(".L2::cache_hint", "it stands on generic and global addresses");
        }
        if matches!(TYPES[self.ty].ptx.as_bytes(), [b'.', b'v', ..]) && !far {
            return wrong(TYPES[self.ty].ptx, "vectors go only to generic and global addresses");
        }
        Ok(())
    }

    /// What the operation needs for its type, if it takes that.
    const fn takes(&self, op: Reduction) -> Option<Needs> {
        let takes = TYPES[self.ty].takes;
        let mut at = 0;
        while at < takes.len() {
            let (taken, noftz, needs) = takes[at];
            if taken as u8 == op as u8 && self.noftz == !noftz.is_empty() {
                return Some(needs);
            }
            at += 1;
        }
        None
    }

    /// Which types the operation takes, where its own is none.
    const fn types_of(&self, op: Reduction) -> &'static str {
        let other = Self { noftz: !self.noftz, ..*self };
        match op {
            _ if other.takes(op).is_some() && self.noftz => "leave out `.noftz`: it is for floats",
            _ if other.takes(op).is_some() => "write `.noftz` behind the operation: there is no other",
            Reduction::And | Reduction::Or | Reduction::Xor => "`.and .or .xor` take `.b32` and `.b64`",
            Reduction::Exch => "`.exch` takes `.b32`, `.b64` and `.b128`",
            Reduction::Cas => "`.cas` takes `.b16`, `.b32`, `.b64` and `.b128`",
            Reduction::Inc | Reduction::Dec => "`.inc` and `.dec` take `.u32`",
            Reduction::Add => {
                "`.add` takes `.u32`, `.s32`, `.u64` (for `.s64` too), `.f32` (also `.v2`, `.v4`), `.f64`, and with `.noftz` `.f16`, `.bf16` (also `.v2` to `.v8`), `.f16x2`, `.bf16x2` (also `.v2`, `.v4`)"
            }
            Reduction::Min | Reduction::Max => {
                "`.min` and `.max` take `.u32`, `.s32`, `.u64`, `.s64`, and with `.noftz` `.v2` to `.v8` of `.f16` and `.bf16`, `.v2` and `.v4` of `.f16x2` and `.bf16x2`"
            }
        }
    }

    const fn needs(&self, mut needs: Needs) -> Needs {
        needs_of_words! { self needs [order place op] }
        if let Some(scope) = self.scope {
            // Older than the orders that it goes with elsewhere.
            let own = if matches!(scope, Threads::Cluster) { scope.needs() } else { Needs::of::<sm_60, ptx50>() };
            needs = needs.and(own);
        }
        let b128_sys = same(TYPES[self.ty].ptx.as_bytes(), b".b128") && matches!(self.scope, Some(Threads::Sys));
        needs.and_if(self.hint, CachePolicy::NEEDS).and_if(b128_sys, Needs::of::<sm_20, ptx84>())
    }
}

const fn type_of(rest: &[u8]) -> Option<usize> {
    row_of! { TYPES rest }
}

/// What `ptx!` makes of an atomic: the mnemonic, and whether a policy stands behind the operands.
#[doc(hidden)]
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
pub const fn demand_atomic(text: &'static str, policy: bool) -> Atomic {
    match judge_atomic(text, policy) {
        Ok((atomic, needs)) => {
            stop_unless_on_target(text, needs);
            atomic
        }
        Err(wrong) => stop(text, wrong),
    }
}

/// The address of an atomic on what counts as a `K`.
#[doc(hidden)]
#[inline(always)]
pub const fn at<T: MovedAs<K>, K>(p: *mut T) -> *mut T {
    p
}

/// The registers of a value.
///
/// # Safety
/// Every bit pattern is a `D`.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn registers<T: Copy, D: Copy>(value: T) -> D {
    same_bits(value)
}

/// What stood at `p`, out of its registers.
///
/// # Safety
/// The registers are initialised, and hold a `T`.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn value<T: Copy, D: Copy>(_: impl PointsTo<T>, registers: D) -> T {
    same_bits(registers)
}
