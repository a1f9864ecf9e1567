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

/// What is around an access under a predicate, `@`, which the operand `cond` says.
#[doc(hidden)]
#[macro_export]
macro_rules! __predicate {
    (before @) => {
        "{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond "
    };
    (after @) => {
        "\n}}"
    };
}

/// An access of one type: `access! { way [value] (element) [before] (address) [after] {rows} (operands) }`.
///
/// - The way is `out` of a load, `inout` of a load under a predicate, and `in` of a store. The value is what the registers hold first.
/// - The element is its row in the table of types: `([".v2" ".f32"] reg32 f32 {registers})`.
/// - The address is its text, and that of a cache policy. The texts before and after are those of a conversion and of a predicate.
/// - The rows are `C as Caching, [marker [opcode] effect; …]`: a `match` on a constant, so that one arm is compiled. `sized P [hint]`
///   before them adds `.L2::…B` where `P` asks for it. `only effect [opcode]` is one row.
#[cfg(ptx_device)]
macro_rules! access {
    // The texts around the access. Rust has no register of 128 bits: the block packs and unpacks two of 64.
    ($way:ident $value:tt ($ty:tt $class:ident $r:ident {$X:ident $text:literal $fields:tt $($packing:literal)*}) $($access:tt)*) => {
        access! { @packing $way [$($packing)*] ($way $value $class $r $X $fields) ($ty $text) $($access)* }
    };
    (@packing $way:ident [] $registers:tt $texts:tt $($access:tt)*) => { access! { @around [] [] $registers $texts $($access)* } };
    (@packing out [$open:literal $pack:literal $unpack:literal $close:literal] $($access:tt)*) => {
        access! { @around [$open,] [$unpack, $close,] $($access)* }
    };
    (@packing inout [$open:literal $pack:literal $unpack:literal $close:literal] $($access:tt)*) => {
        access! { @around [$open, $pack,] [$unpack, $close,] $($access)* }
    };
    (@packing in [$open:literal $pack:literal $unpack:literal $close:literal] $($access:tt)*) => {
        access! { @around [$open, $pack,] [$close,] $($access)* }
    };
    (@around [$($open:tt)*] [$($close:tt)*] $registers:tt $texts:tt [$($before:tt)*] $address:tt [$($after:tt)*] $($access:tt)*) => {
        access! { @text $registers $texts $address [$($open)* $($before)*] [$($after)* $($close)*] $($access)* }
    };
    // The operands in PTX's order: the address of a store comes first.
    (@text (in $($registers:tt)*) ([$($ty:literal)*] $value:literal) ($address:literal $($policy:literal)?)
        $before:tt [$($after:tt)*] {$($rows:tt)*} $operands:tt) => {
        access! { @store $($registers)* $operands
            { $($rows)* $before [$($ty,)* " ", $address, ", ", $value, $($policy,)? ";", $($after)*] } }
    };
    (@text ($way:ident $($registers:tt)*) ([$($ty:literal)*] $value:literal) ($address:literal $($policy:literal)?)
        $before:tt [$($after:tt)*] {$($rows:tt)*} $operands:tt) => {
        access! { @load $way $($registers)* $operands
            { $($rows)* $before [$($ty,)* " ", $value, ", ", $address, $($policy,)? ";", $($after)*] } }
    };
    (@store [$value:expr] $class:ident $r:ident $X:ident [$($d:ident . $i:tt)*] ($($operands:tt)*) {$($rows:tt)*}) => {
        let d: $X<$r> = $value;
        // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
        unsafe { access! { @rows $($rows)* ($($d = in($class) d.$i,)* $($operands)*) } }
    };
    (@load $way:ident [$value:expr] $class:ident $r:ident $X:ident [$($d:ident . $i:tt)*] ($($operands:tt)*) {$($rows:tt)*}) => {{
        let mut d: $X<Unset<$r>> = $value;
        // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
        unsafe { access! { @rows $($rows)* ($($d = $way($class) d.$i,)* $($operands)*) } }
        same_bits(d)
    }};
    (@rows only $effect:ident $opcode:tt $before:tt $after:tt $operands:tt) => {
        __instruction! { $effect $before $opcode $after $operands }
    };
    (@rows $C:ident as $Kind:ident, sized $P:ident [$($hint:literal)?], $rows:tt $before:tt [$($after:tt)*] ($($operands:tt)*)) => {{
        #[cfg(ptx_by_markers)]
        access_by_marker! { $C as $Kind, $P::BYTES, [$($hint)?], $rows $before [$($after)*] ($($operands)*) }
        #[cfg(not(ptx_by_markers))]
        match const { $P::BYTES } {
            0 => access! { @rows $C as $Kind, $rows $before [$($hint,)? $($after)*] ($($operands)*) },
            _ => access! { @rows $C as $Kind, $rows $before [$($hint,)? ".L2::{bytes}B", $($after)*]
                ($($operands)* bytes = const $P::BYTES,) },
        }
    }};
    (@rows $C:ident as $Kind:ident, hint $hint:literal, $rows:tt $before:tt [$($after:tt)*] $operands:tt) => {
        access! { @rows $C as $Kind, $rows $before [$hint, $($after)*] $operands }
    };
    (@rows $C:ident as $Kind:ident, [$($marker:tt $opcode:tt $effect:ident;)*] $before:tt $after:tt $operands:tt) => {{
        #[cfg(ptx_by_markers)]
        access_by_marker! { $C as $Kind, 0, [], [$($marker $opcode $effect;)*] $before $after $operands }
        #[cfg(not(ptx_by_markers))]
        match const { $C::ID } {
            $(<$marker as $Kind>::ID => __instruction! { $effect $before $opcode $after $operands },)*
            _ => unreachable!(),
        }
    }};
}
