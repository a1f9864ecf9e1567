//! Loads and stores: what the tables spell, put together.
//!
//! A method is a `match` on a constant with an arm for each row, `arms!`, so that one arm is compiled; an arm is one
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

/// The `match` over the rows of an instruction: `arms! { C as Caching, [rows] [before] [after] (operands) }`.
///
/// With `sized P` between, the text after the opcode has `.L2::…B` where `P` asks for it.
#[cfg(all(ptx_device, not(ptx_by_markers)))]
macro_rules! arms {
    ($C:ident as $Kind:ident, [$($marker:tt $opcode:tt $effect:ident;)*] $before:tt $after:tt $operands:tt) => {
        match const { $C::ID } {
            $(<$marker as $Kind>::ID => __instruction! { $effect $before $opcode $after $operands },)*
            _ => unreachable!(),
        }
    };
    ($C:ident as $Kind:ident, sized $P:ident [$($hint:literal)?], $rows:tt $before:tt [$($after:tt)*] ($($operands:tt)*)) => {
        match const { $P::BYTES } {
            0 => arms! { $C as $Kind, $rows $before [$($hint,)? $($after)*] ($($operands)*) },
            _ => arms! {
                $C as $Kind, $rows $before [$($hint,)? ".L2::{bytes}B", $($after)*]
                ($($operands)* bytes = const $P::BYTES,)
            },
        }
    };
}
