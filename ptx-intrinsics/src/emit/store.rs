//! Stores: the `asm!` of each element type, out of the rows of an instruction.

/// `Store<$instruction>` for every element type. Types of 256 bits have the wide rows, all others the narrow ones.
#[cfg(ptx_device)]
macro_rules! impl_store {
    ({ $instruction:ident narrow $narrow:tt wide $wide:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        const _: () = {
            use $crate::emit::{access::Store, registers::*};
            use $crate::isa::{caching::*, element::*, policy::CachePolicy};

            $(impl_store! { @$width $instruction $narrow $wide ($t) $ty $class $r $registers })*
        };
    };
    (@wide $instruction:ident $narrow:tt $wide:tt $($element:tt)*) => { impl_store! { @one $instruction $wide $($element)* } };
    (@$other:ident $instruction:ident [$($narrow:tt)*] [$($wide:tt)*] $($element:tt)*) => {
        impl_store! { @one $instruction [$($narrow)*] $($element)* }
    };
    (@one $instruction:ident $rows:tt ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl Store<$instruction> for $t {
            #[inline(always)]
            unsafe fn store<C: Caching>(p: *mut Self, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
                unsafe {
                    arms! { C as Caching, $rows [$($open, $pack,)?] [$($ty,)* " [{p}], ", $value, ";", $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg64) p,)
                    }
                }
            }
            #[inline(always)]
            unsafe fn store_with<C: Caching>(p: *mut Self, value: Self, policy: CachePolicy) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: as for `store`; a policy is a hint.
                unsafe {
                    arms! { C as Caching, $rows [$($open, $pack,)?]
                        [".L2::cache_hint", $($ty,)* " [{p}], ", $value, ", {policy};", $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg64) p, policy = in(reg64) policy.bits(),)
                    }
                }
            }
            #[inline(always)]
            unsafe fn store_if<C: Caching>(cond: bool, p: *mut Self, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: as for `store`, where `cond` is true; else nothing is accessed.
                unsafe {
                    arms! { C as Caching, $rows
                        [$($open, $pack,)? __predicate!(before @),]
                        [$($ty,)* " [{p}], ", $value, ";", __predicate!(after @), $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,)
                    }
                }
            }
            #[inline(always)]
            unsafe fn store_if_with<C: Caching>(cond: bool, p: *mut Self, value: Self, policy: CachePolicy) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: as for `store`, where `cond` is true; else nothing is accessed. A policy is a hint.
                unsafe {
                    arms! { C as Caching, $rows
                        [$($open, $pack,)? __predicate!(before @),]
                        [".L2::cache_hint", $($ty,)* " [{p}], ", $value, ", {policy};", __predicate!(after @), $($close,)?]
                        (
                            $($d = in($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,
                            policy = in(reg64) policy.bits(),
                        )
                    }
                }
            }
        }
    };
}

/// `StoreIn<$space>` for every element type that fits into the space; `narrow` ones have no types of 256 bits.
///
/// The address is `"[{p}]"`, or what the texts before make of it, `"[%address]"`.
#[cfg(ptx_device)]
macro_rules! impl_store_in {
    ({ $space:ident $width:ident $address:tt $rows:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $type_width:ident $registers:tt})*) => {
        $(impl_store_in! { @$width $type_width $space $address $rows ($t) $ty $class $r $registers })*
    };
    (@narrow wide $($element:tt)*) => {};
    (@$width:ident $type_width:ident $space:ident [$address:literal [$($convert:literal)*] [$($converted:literal)*]] $rows:tt
        ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl StoreIn<$space> for $t {
            #[inline(always)]
            unsafe fn store_in<R: OrderRow>(p: *mut Self, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
                unsafe {
                    arms! { R as OrderRow, $rows [$($open, $pack,)? $($convert,)*]
                        [$($ty,)* " ", $address, ", ", $value, ";", $($converted,)* $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg64) p,)
                    }
                }
            }
        }
    };
}

/// `StoreInIf<$space>` for every element type that fits: the weak store `opcode` under a predicate.
#[cfg(ptx_device)]
macro_rules! impl_store_in_if {
    ({ $space:ident $width:ident $address:tt $opcode:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $type_width:ident $registers:tt})*) => {
        $(impl_store_in_if! { @$width $type_width $space $address $opcode ($t) $ty $class $r $registers })*
    };
    (@narrow wide $($element:tt)*) => {};
    (@$width:ident $type_width:ident $space:ident [$address:literal [$($convert:literal)*] [$($converted:literal)*]] $opcode:tt
        ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl StoreInIf<$space> for $t {
            #[inline(always)]
            unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: as for `store_in`, where `cond` is true; else nothing is accessed.
                unsafe {
                    __instruction! { memory
                        [$($open, $pack,)? $($convert,)* __predicate!(before @),]
                        $opcode
                        [$($ty,)* " ", $address, ", ", $value, ";", __predicate!(after @), $($converted,)* $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,)
                    }
                }
            }
        }
    };
}
