//! Loads and stores: what the tables spell, put together.
//!
//! A method is a `match` on a constant with an arm for each row, `access!`, so that one arm is compiled; an arm is one
//! `__instruction!`. README.md beside this file expands one load step by step.

use crate::isa::caching::*;
use crate::isa::element::*;
use crate::isa::order::OrderRow;
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::PrefetchSize;

/// The load `I` of this type, in every spelling. Callers keep to the ones that are legal.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods of each instruction say it")]
pub trait Load<I>: PtxType {
    unsafe fn load<C: Caching, P: PrefetchSize>(p: *const Self) -> Self;
    unsafe fn load_with<C: Caching, P: PrefetchSize>(p: *const Self, policy: CachePolicy) -> Self;
    unsafe fn load_if<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self) -> Self;
    #[cfg(feature = "l2-combinations")]
    unsafe fn load_if_with<C: Caching, P: PrefetchSize>(
        cond: bool,
        p: *const Self,
        or: Self,
        policy: CachePolicy,
    ) -> Self;
}

/// The store `I` of this type, in every spelling. Callers keep to the ones that are legal.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods of each instruction say it")]
pub trait Store<I>: PtxType {
    unsafe fn store<C: Caching>(p: *mut Self, value: Self);
    unsafe fn store_with<C: Caching>(p: *mut Self, value: Self, policy: CachePolicy);
    unsafe fn store_if<C: Caching>(cond: bool, p: *mut Self, value: Self);
    #[cfg(feature = "l2-combinations")]
    unsafe fn store_if_with<C: Caching>(cond: bool, p: *mut Self, value: Self, policy: CachePolicy);
}

/// The load of this type from the space `S`, in the rows that it has. Callers keep to the ones that are legal.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait LoadIn<S>: PtxType {
    unsafe fn load_in<R: OrderRow>(p: *const Self) -> Self;
}

/// The weak load of this type from the space `S`, under a predicate.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait LoadInIf<S>: PtxType {
    unsafe fn load_in_if(cond: bool, p: *const Self, or: Self) -> Self;
}

/// The store of this type to the space `S`, in the rows that it has. Callers keep to the ones that are legal.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait StoreIn<S>: PtxType {
    unsafe fn store_in<R: OrderRow>(p: *mut Self, value: Self);
}

/// The weak store of this type to the space `S`, under a predicate.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait StoreInIf<S>: PtxType {
    unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self);
}

/// There is a row for each type that the public bounds let through.
#[cfg(all(ptx_device, not(ptx_by_markers)))]
#[cold]
#[inline]
pub(crate) const fn no_row() -> ! {
    panic!("an access without a row")
}

/// Gives a macro the texts around an access under a predicate, which the operand `cond` says.
#[doc(hidden)]
#[macro_export]
macro_rules! __predicate {
    (($($macro:tt)*) $($rest:tt)*) => {
        $($macro)*! { @predicate "{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond " "\n}}" $($rest)* }
    };
}

/// An access of one type: `access! { way [value] (element) [before] (beside) [after] {rows} (operands) }`, and with `@cond` before `way`
/// under a predicate.
///
/// - The way is `out` of a load, `inout` of a load under a predicate, and `in` of a store. The value is what the registers hold first.
/// - The element is its row in the table of types: `([".v2" ".f32"] reg32 f32 {registers})`. Rust has no register of 128 bits: there the
///   block packs and unpacks two of 64.
/// - Beside the value are two texts: in one of them is the address. The texts before and after are those of a conversion. There are few
///   pieces of text: the time that `concat!` takes is that of its pieces.
/// - The rows are `C, [number => [opcode] effect; …]`, of which one is compiled: the one whose number is `C::ID`. `sized P [hint]` before
///   them adds `.L2::…B` where `P` asks for it. `only effect [opcode]` is one row.
#[cfg(ptx_device)]
macro_rules! access {
    (@cond $($access:tt)*) => { __predicate! { (access) $($access)* } };
    (@predicate $open:literal $close:literal $way:ident $value:tt $element:tt [$($before:tt)*] $beside:tt [$($after:tt)*] $($access:tt)*) => {
        access! { $way $value $element [$($before)* $open,] $beside [$close, $($after)*] $($access)* }
    };
    // What holds the value, and what packs it.
    ($way:ident $value:tt ($ty:tt $class:ident $r:ident {$X:ident $text:literal $fields:tt $($packing:literal)*}) $($access:tt)*) => {
        access! { @$way [$($packing)*] (($way $value $class $r $X $fields) $ty $text) $($access)* }
    };
    (@$way:ident [] ($registers:tt [$($ty:tt)*] $text:tt) $before:tt ($left:literal $right:literal) [$($after:tt)*] $rows:tt $operands:tt) => {
        access! { @$way $registers [$rows $before [$($ty,)* $left, $text, $right, $($after)*]] $operands }
    };
    (@out [$open:tt $pack:tt $unpack:tt $close:tt] $value:tt [$($before:tt)*] $beside:tt [$($after:tt)*] $($access:tt)*) => {
        access! { @out [] $value [$open, $($before)*] $beside [$($after)* $unpack, $close,] $($access)* }
    };
    (@inout [$open:tt $pack:tt $unpack:tt $close:tt] $value:tt [$($before:tt)*] $beside:tt [$($after:tt)*] $($access:tt)*) => {
        access! { @inout [] $value [$open, $pack, $($before)*] $beside [$($after)* $unpack, $close,] $($access)* }
    };
    (@in [$open:tt $pack:tt $unpack:tt $close:tt] $value:tt [$($before:tt)*] $beside:tt [$($after:tt)*] $($access:tt)*) => {
        access! { @in [] $value [$open, $pack, $($before)*] $beside [$($after)* $close,] $($access)* }
    };
    (@in (in [$value:expr] $class:ident $r:ident $X:ident [$($d:ident . $i:tt)*]) [$($texts:tt)*] ($($operand:tt)*)) => {
        let d: $X<$r> = $value;
        // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
        unsafe { __instruction! { $($texts)* ($($d = in($class) d.$i,)* $($operand)*) } }
    };
    (@$_way:ident ($way:ident [$value:expr] $class:ident $r:ident $X:ident [$($d:ident . $i:tt)*]) [$($texts:tt)*] ($($operand:tt)*)) => {{
        let mut d: $X<Unset<$r>> = $value;
        // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
        unsafe { __instruction! { $($texts)* ($($d = $way($class) d.$i,)* $($operand)*) } }
        same_bits(d)
    }};
}
