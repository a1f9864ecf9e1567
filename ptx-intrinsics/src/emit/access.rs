//! The only `asm!` of loads and stores: what the tables spell, put together.
//!
//! `spell!` takes the rows of an instruction from `caching_rows!` and brings the element types, `spell_in!` those of a
//! state space from `order_rows!`. A method is a `match` on a constant with an arm for each row, so that one arm is
//! compiled; an arm is one `emit!`. What `ptx!` spells goes through the same macros, from `__with_shape!` on.

#[cfg(target_arch = "nvptx64")]
pub(crate) use core::mem::MaybeUninit;

use crate::isa::caching::*;
use crate::isa::element::*;
use crate::isa::order::Row;
#[cfg(target_arch = "nvptx64")]
use crate::isa::order::Weak;
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
    unsafe fn load_in<R: Row>(p: *const Self) -> Self;
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
    unsafe fn store_in<R: Row>(p: *mut Self, value: Self);
}

/// The weak store of this type to the space `S`, under a predicate.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait StoreInIf<S>: PtxType {
    unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self);
}

/// The row of a weak access without a hint.
#[cfg(target_arch = "nvptx64")]
pub(crate) type WeakRow = (Weak, NoHint);

/// One access, the texts before and after its opcode apart. `pure` ones may be merged, moved and dropped where the
/// value is not used; `memory` ones stay where they are, and no other access moves across them.
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(asm_experimental_arch))]
macro_rules! __emit {
    (pure [$($before:literal)*] [$($opcode:expr),*] [$($after:literal)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(
            ::core::concat!($($before,)* $($opcode,)* $($after),*),
            $($operands)* options(pure, readonly, nostack, preserves_flags)
        )
    };
    (memory [$($before:literal)*] [$($opcode:expr),*] [$($after:literal)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(
            ::core::concat!($($before,)* $($opcode,)* $($after),*),
            $($operands)* options(nostack, preserves_flags)
        )
    };
}

/// The `match` over the rows of an instruction.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_row {
    ([$($marker:tt $opcode:tt $effect:ident;)*] $C:ident as $Kind:ident $before:tt $after:tt $operands:tt) => {
        match const { $C::ID } {
            $(<$marker as $Kind>::ID => __emit! { $effect $before $opcode $after $operands },)*
            _ => unreachable!(),
        }
    };
}

/// A load, with and without a prefetch size: `opcode.hint.size.type value, [p], policy;`.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_load {
    ({ $rows:tt $C:ident $P:ident [$($ty:literal)*] [$($hint:literal $policy:literal)?] [$($guard:literal $end:literal)?] }
        $value:literal [$($before:literal)?] [$($after:literal)?] ($($operands:tt)*)) => {
        match const { $P::BYTES } {
            0 => emit_row! { $rows $C as Caching [$($before)? $($guard)?]
                [$($hint)? $($ty)* " " $value ", [{p}]" $($policy)? ";" $($end)? $($after)?]
                ($($operands)*)
            },
            _ => emit_row! { $rows $C as Caching [$($before)? $($guard)?]
                [$($hint)? ".L2::{bytes}B" $($ty)* " " $value ", [{p}]" $($policy)? ";" $($end)? $($after)?]
                ($($operands)* bytes = const $P::BYTES,)
            },
        }
    };
}

/// A store: `opcode.hint.type [p], value, policy;`.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_store {
    ({ $rows:tt $C:ident [$($ty:literal)*] [$($hint:literal $policy:literal)?] [$($guard:literal $end:literal)?] }
        $value:literal [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        emit_row! { $rows $C as Caching [$($before)? $($guard)?]
            [$($hint)? $($ty)* " [{p}], " $value $($policy)? ";" $($end)? $($after)?] $operands
        }
    };
}

/// Calls `$($emit)*! { $spelling "value" [before] [after] (operands) }` with the registers of a shape among the operands.
/// `$way` is `in`, `out`, or `inout` where a predicate may leave them as they are.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_shape {
    (x1 $way:ident $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "{d0}" [] [] (d0 = $way($class) $d.0, $($operands)*) }
    };
    (x2 $way:ident $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "{{{d0}, {d1}}}" [] [] (d0 = $way($class) $d.0, d1 = $way($class) $d.1, $($operands)*) }
    };
    (x4 $way:ident $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "{{{d0}, {d1}, {d2}, {d3}}}" [] [] (
            d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,
            $($operands)*
        ) }
    };
    (x8 $way:ident $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}" [] [] (
            d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,
            d4 = $way($class) $d.4, d5 = $way($class) $d.5, d6 = $way($class) $d.6, d7 = $way($class) $d.7,
            $($operands)*
        ) }
    };
    // Rust has no register of 128 bits: the block packs and unpacks two of 64.
    (b128 out $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "%value" ["{{\n.reg .b128 %value;\n"] ["\nmov.b128 {{{d0}, {d1}}}, %value;\n}}"] (
            d0 = out($class) $d.0, d1 = out($class) $d.1, $($operands)*
        ) }
    };
    (b128 inout $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "%value"
            ["{{\n.reg .b128 %value;\nmov.b128 %value, {{{d0}, {d1}}};\n"] ["\nmov.b128 {{{d0}, {d1}}}, %value;\n}}"] (
            d0 = inout($class) $d.0, d1 = inout($class) $d.1, $($operands)*
        ) }
    };
    (b128 in $class:ident $d:ident, [$($emit:tt)*] $spelling:tt ($($operands:tt)*)) => {
        $($emit)*! { $spelling "%value" ["{{\n.reg .b128 %value;\nmov.b128 %value, {{{d0}, {d1}}};\n"] ["\n}}"] (
            d0 = in($class) $d.0, d1 = in($class) $d.1, $($operands)*
        ) }
    };
}

/// An access of one shape: `access! { shape way registers emit { rows C P [type] } plain|hinted always|guarded (operands) }`.
/// `hinted` takes a cache policy; `guarded` stands under the predicate `cond`.
#[cfg(target_arch = "nvptx64")]
macro_rules! access {
    ($shape:ident $way:ident $class:ident $d:ident $emit:ident {$($s:tt)*} plain $when:ident ($($o:tt)*)) => {
        access! { @guard $shape $way $class $d $emit {$($s)* []} $when ($($o)*) }
    };
    ($shape:ident $way:ident $class:ident $d:ident $emit:ident {$($s:tt)*} hinted $when:ident ($($o:tt)*)) => {
        access! { @guard $shape $way $class $d $emit {$($s)* [".L2::cache_hint" ", {policy}"]} $when ($($o)*) }
    };
    (@guard $shape:ident $way:ident $class:ident $d:ident $emit:ident {$($s:tt)*} always $o:tt) => {
        __with_shape! { $shape $way $class $d, [$emit] {$($s)* []} $o }
    };
    (@guard $shape:ident $way:ident $class:ident $d:ident $emit:ident {$($s:tt)*} guarded $o:tt) => {
        __with_shape! { $shape $way $class $d, [$emit] {
            $($s)* ["{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond " "\n}}"]
        } $o }
    };
}

/// Calls `$impl! { $instruction rows element… }` with each element type and the rows for its width.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_by_width {
    ({ $impl:ident $instruction:tt narrow $narrow:tt wide $wide:tt }
        $({($t:ty) $words:tt $ty:tt $shape:ident $class:ident $r:ident $width:ident})*) => {
        $(impl_by_width! { @$width $impl $instruction $narrow $wide ($t) $ty $shape $class $r })*
    };
    (@wide $impl:ident $instruction:tt $narrow:tt none $($element:tt)*) => {};
    (@wide $impl:ident $instruction:tt $narrow:tt $wide:tt $($element:tt)*) => {
        $impl! { $instruction $wide $($element)* }
    };
    (@narrow $impl:ident $instruction:tt $narrow:tt $wide:tt $($element:tt)*) => {
        $impl! { $instruction $narrow $($element)* }
    };
    (@quad $impl:ident $instruction:tt $narrow:tt $wide:tt $($element:tt)*) => {
        $impl! { $instruction $narrow $($element)* }
    };
}

/// `Load<$instruction>` for one element type.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_load {
    ($instruction:ident $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl Load<$instruction> for $t {
            #[inline(always)]
            unsafe fn load<C: Caching, P: PrefetchSize>(p: *const Self) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = uninit();
                // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
                unsafe { access! { $shape out $class d emit_load { $rows C P $ty } plain always (p = in(reg64) p,) } }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_with<C: Caching, P: PrefetchSize>(p: *const Self, policy: CachePolicy) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = uninit();
                // SAFETY: as for `load`; a policy is a hint.
                unsafe {
                    access! { $shape out $class d emit_load { $rows C P $ty } hinted always (
                        p = in(reg64) p, policy = in(reg64) policy.bits(),
                    ) }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_if<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = same_bits(or);
                // SAFETY: as for `load`, where `cond` is true; else nothing is accessed.
                unsafe {
                    access! { $shape inout $class d emit_load { $rows C P $ty } plain guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32,
                    ) }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_if_with<C: Caching, P: PrefetchSize>(
                cond: bool,
                p: *const Self,
                or: Self,
                policy: CachePolicy,
            ) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = same_bits(or);
                // SAFETY: as for `load`, where `cond` is true; else nothing is accessed. A policy is a hint.
                unsafe {
                    access! { $shape inout $class d emit_load { $rows C P $ty } hinted guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32, policy = in(reg64) policy.bits(),
                    ) }
                }
                same_bits(d)
            }
        }
    };
}

/// `Store<$instruction>` for one element type.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_store {
    ($instruction:ident $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl Store<$instruction> for $t {
            #[inline(always)]
            unsafe fn store<C: Caching>(p: *mut Self, value: Self) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
                unsafe { access! { $shape in $class d emit_store { $rows C $ty } plain always (p = in(reg64) p,) } }
            }
            #[inline(always)]
            unsafe fn store_with<C: Caching>(p: *mut Self, value: Self, policy: CachePolicy) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: as for `store`; a policy is a hint.
                unsafe {
                    access! { $shape in $class d emit_store { $rows C $ty } hinted always (
                        p = in(reg64) p, policy = in(reg64) policy.bits(),
                    ) }
                }
            }
            #[inline(always)]
            unsafe fn store_if<C: Caching>(cond: bool, p: *mut Self, value: Self) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: as for `store`, where `cond` is true; else nothing is accessed.
                unsafe {
                    access! { $shape in $class d emit_store { $rows C $ty } plain guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32,
                    ) }
                }
            }
            #[inline(always)]
            unsafe fn store_if_with<C: Caching>(cond: bool, p: *mut Self, value: Self, policy: CachePolicy) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: as for `store`, where `cond` is true; else nothing is accessed. A policy is a hint.
                unsafe {
                    access! { $shape in $class d emit_store { $rows C $ty } hinted guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32, policy = in(reg64) policy.bits(),
                    ) }
                }
            }
        }
    };
}

/// A load from a space, whose address the block may convert: `[before] "[address]" [after]` are the texts for that.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_load_in {
    ({ $rows:tt $R:ident [$($ty:literal)*] [$($convert:literal)?] $address:literal [$($converted:literal)?] [$($guard:literal $end:literal)?] }
        $value:literal [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        emit_row! { $rows $R as Row [$($before)? $($convert)? $($guard)?]
            [$($ty)* " " $value ", " $address ";" $($end)? $($converted)? $($after)?] $operands
        }
    };
}

/// A store to a space, likewise.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_store_in {
    ({ $rows:tt $R:ident [$($ty:literal)*] [$($convert:literal)?] $address:literal [$($converted:literal)?] [$($guard:literal $end:literal)?] }
        $value:literal [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        emit_row! { $rows $R as Row [$($before)? $($convert)? $($guard)?]
            [$($ty)* " " $address ", " $value ";" $($end)? $($converted)? $($after)?] $operands
        }
    };
}

/// `LoadIn<$space>` for one element type.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_load_in {
    (($space:ident $($address:tt)*) $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl LoadIn<$space> for $t {
            #[inline(always)]
            unsafe fn load_in<R: Row>(p: *const Self) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = uninit();
                // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
                unsafe {
                    access! { @guard $shape out $class d emit_load_in { $rows R $ty $($address)* } always (p = in(reg64) p,) }
                }
                same_bits(d)
            }
        }
    };
}

/// `LoadInIf<$space>` for one element type, out of the weak row alone.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_load_in_if {
    (($space:ident $($address:tt)*) $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl LoadInIf<$space> for $t {
            #[inline(always)]
            unsafe fn load_in_if(cond: bool, p: *const Self, or: Self) -> Self {
                let mut d: __registers!($shape MaybeUninit<$r>) = same_bits(or);
                // SAFETY: as for `load_in`, where `cond` is true; else nothing is accessed.
                unsafe {
                    access! { @guard $shape inout $class d emit_load_in { $rows WeakRow $ty $($address)* } guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32,
                    ) }
                }
                same_bits(d)
            }
        }
    };
}

/// `StoreIn<$space>` for one element type.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_store_in {
    (($space:ident $($address:tt)*) $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl StoreIn<$space> for $t {
            #[inline(always)]
            unsafe fn store_in<R: Row>(p: *mut Self, value: Self) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
                unsafe {
                    access! { @guard $shape in $class d emit_store_in { $rows R $ty $($address)* } always (p = in(reg64) p,) }
                }
            }
        }
    };
}

/// `StoreInIf<$space>` for one element type, out of the weak row alone.
#[cfg(target_arch = "nvptx64")]
macro_rules! impl_store_in_if {
    (($space:ident $($address:tt)*) $rows:tt ($t:ty) $ty:tt $shape:ident $class:ident $r:ident) => {
        impl StoreInIf<$space> for $t {
            #[inline(always)]
            unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self) {
                let d: __registers!($shape $r) = same_bits(value);
                // SAFETY: as for `store_in`, where `cond` is true; else nothing is accessed.
                unsafe {
                    access! { @guard $shape in $class d emit_store_in { $rows WeakRow $ty $($address)* } guarded (
                        p = in(reg64) p, cond = in(reg32) cond as u32,
                    ) }
                }
            }
        }
    };
}

/// Calls `emit! { args [before] "[address]" [after] }` with the texts that convert a generic address for a space.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_address {
    ([$($emit:tt)*] $args:tt shared) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.shared.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt shared_cluster) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.shared::cluster.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt const) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.const.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt local) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.local.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt param_entry) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.param.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    // Generic and global addresses are the same, and `cvta` knows no parameter of a function.
    ([$($emit:tt)*] $args:tt $same:ident) => { $($emit)*! { $args [] "[{p}]" [] } };
}

/// A state space, out of its rows: `$impl!`, which is `impl_load_in!` or `impl_store_in!`, for every element type that
/// fits. `all` spaces take 256-bit types, `narrow` ones do not.
#[cfg(target_arch = "nvptx64")]
macro_rules! spell_in {
    ($impl:ident $space:ident $address:tt $width:ident $rows:tt) => {
        __with_address! { [spell_in] { $impl $space $width $rows } $address }
    };
    ({ $impl:ident $space:ident all $rows:tt } $($address:tt)*) => {
        for_each_element! { impl_by_width { $impl ($space $($address)*) narrow $rows wide $rows } }
    };
    ({ $impl:ident $space:ident narrow $rows:tt } $($address:tt)*) => {
        for_each_element! { impl_by_width { $impl ($space $($address)*) narrow $rows wide none } }
    };
}

/// Calls `$callback! { $args [rows] }` with a row `(Order, Caching) [opcode] effect;` for each order in the list.
/// `$sync` is the order beside `Relaxed`: `Acquire` or `Release`.
#[cfg(target_arch = "nvptx64")]
macro_rules! order_rows {
    ($op:literal $space:literal $sync:ident $sync_text:literal [$($rows:tt)*] [] $callback:ident $($args:tt)*) => {
        $callback! { $($args)* [$($rows)*] }
    };
    ($op:literal $space:literal $sync:ident $sync_text:literal [$($rows:tt)*] [weak $effect:ident $($more:tt)*] $($then:tt)*) => {
        order_rows! { $op $space $sync $sync_text
            [$($rows)* (Weak, NoHint) [$op, $space] $effect;] [$($more)*] $($then)* }
    };
    ($op:literal $space:literal $sync:ident $sync_text:literal [$($rows:tt)*] [volatile $($more:tt)*] $($then:tt)*) => {
        order_rows! { $op $space $sync $sync_text
            [$($rows)* (Volatile, NoHint) [$op, ".volatile", $space] memory;] [$($more)*] $($then)* }
    };
    ($op:literal $space:literal $sync:ident $sync_text:literal [$($rows:tt)*] [mmio $($more:tt)*] $($then:tt)*) => {
        order_rows! { $op $space $sync $sync_text
            [$($rows)* (Mmio, NoHint) [$op, ".mmio.relaxed.sys", $space] memory;] [$($more)*] $($then)* }
    };
    ($op:literal $space:literal $sync:ident $sync_text:literal [$($rows:tt)*] [ordered $caching:ident $text:literal $($more:tt)*] $($then:tt)*) => {
        order_rows! { $op $space $sync $sync_text [
            $($rows)*
            (Relaxed<Cta>, $caching) [$op, ".relaxed.cta", $space, $text] memory;
            (Relaxed<Cluster>, $caching) [$op, ".relaxed.cluster", $space, $text] memory;
            (Relaxed<Gpu>, $caching) [$op, ".relaxed.gpu", $space, $text] memory;
            (Relaxed<Sys>, $caching) [$op, ".relaxed.sys", $space, $text] memory;
            ($sync<Cta>, $caching) [$op, $sync_text, ".cta", $space, $text] memory;
            ($sync<Cluster>, $caching) [$op, $sync_text, ".cluster", $space, $text] memory;
            ($sync<Gpu>, $caching) [$op, $sync_text, ".gpu", $space, $text] memory;
            ($sync<Sys>, $caching) [$op, $sync_text, ".sys", $space, $text] memory;
        ] [$($more)*] $($then)* }
    };
}

/// An instruction, out of its rows: `$impl!`, which is `impl_load!` or `impl_store!`, for every element type, and its
/// table.
macro_rules! spell {
    ({ $impl:ident $instruction:ident $caching:ident } narrow $narrow:tt wide $wide:tt) => {
        #[cfg(target_arch = "nvptx64")]
        for_each_element! { impl_by_width { $impl $instruction narrow $narrow wide $wide } }
        spell_table! { $caching $narrow $wide }
    };
}

/// Which caching qualifiers are legal, as impls for the compiler.
macro_rules! spell_table {
    ($caching:ident [$($narrow:tt $narrow_opcode:tt $narrow_effect:ident;)*] [$($wide:tt $opcode:tt $effect:ident;)*]) => {
        $(
            #[diagnostic::do_not_recommend]
            impl $caching for $wide {}
        )*
    };
}
