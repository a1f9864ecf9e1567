//! Loads: the `asm!` of each element type, out of the rows of an instruction.

/// `Load<$instruction>` for every element type. Types of 256 bits have the wide rows, all others the narrow ones.
#[cfg(ptx_device)]
macro_rules! impl_load {
    ({ $instruction:ident narrow $narrow:tt wide $wide:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        const _: () = {
            use $crate::emit::{access::Load, registers::*};
            use $crate::isa::{caching::*, element::*, policy::CachePolicy, prefetch_size::PrefetchSize};

            $(impl_load! { @$width $instruction $narrow $wide ($t) $ty $class $r $registers })*
        };
    };
    (@wide $instruction:ident $narrow:tt $wide:tt $($element:tt)*) => { impl_load! { @one $instruction $wide $($element)* } };
    (@$other:ident $instruction:ident [$($narrow:tt)*] [$($wide:tt)*] $($element:tt)*) => {
        impl_load! { @one $instruction [$($narrow)*] $($element)* }
    };
    (@one $instruction:ident $rows:tt ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl Load<$instruction> for $t {
            #[inline(always)]
            unsafe fn load<C: Caching, P: PrefetchSize>(p: *const Self) -> Self {
                let mut d: $X<Unset<$r>> = uninit();
                // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
                unsafe {
                    arms! { C as Caching, sized P [], $rows [$($open,)?]
                        [$($ty,)* " ", $value, ", [{p}];", $($unpack, $close,)?]
                        ($($d = out($class) d.$i,)* p = in(reg64) p,)
                    }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_with<C: Caching, P: PrefetchSize>(p: *const Self, policy: CachePolicy) -> Self {
                let mut d: $X<Unset<$r>> = uninit();
                // SAFETY: as for `load`; a policy is a hint.
                unsafe {
                    arms! { C as Caching, sized P [".L2::cache_hint"], $rows [$($open,)?]
                        [$($ty,)* " ", $value, ", [{p}], {policy};", $($unpack, $close,)?]
                        ($($d = out($class) d.$i,)* p = in(reg64) p, policy = in(reg64) policy.bits(),)
                    }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_if<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self) -> Self {
                let mut d: $X<Unset<$r>> = same_bits(or);
                // SAFETY: as for `load`, where `cond` is true; else nothing is accessed.
                unsafe {
                    arms! { C as Caching, sized P [], $rows
                        [$($open, $pack,)? __predicate!(before @),]
                        [$($ty,)* " ", $value, ", [{p}];", __predicate!(after @), $($unpack, $close,)?]
                        ($($d = inout($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,)
                    }
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
                let mut d: $X<Unset<$r>> = same_bits(or);
                // SAFETY: as for `load`, where `cond` is true; else nothing is accessed. A policy is a hint.
                unsafe {
                    arms! { C as Caching, sized P [".L2::cache_hint"], $rows
                        [$($open, $pack,)? __predicate!(before @),]
                        [$($ty,)* " ", $value, ", [{p}], {policy};", __predicate!(after @), $($unpack, $close,)?]
                        (
                            $($d = inout($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,
                            policy = in(reg64) policy.bits(),
                        )
                    }
                }
                same_bits(d)
            }
        }
    };
}

/// `LoadIn<$space>` for every element type that fits into the space; `narrow` ones have no types of 256 bits.
///
/// The address is `"[{p}]"`, or what the texts before make of it, `"[%address]"`.
#[cfg(ptx_device)]
macro_rules! impl_load_in {
    ({ $space:ident $width:ident $address:tt $rows:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $type_width:ident $registers:tt})*) => {
        $(impl_load_in! { @$width $type_width $space $address $rows ($t) $ty $class $r $registers })*
    };
    (@narrow wide $($element:tt)*) => {};
    (@$width:ident $type_width:ident $space:ident [$address:literal [$($convert:literal)*] [$($converted:literal)*]] $rows:tt
        ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl LoadIn<$space> for $t {
            #[inline(always)]
            unsafe fn load_in<R: OrderRow>(p: *const Self) -> Self {
                let mut d: $X<Unset<$r>> = uninit();
                // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
                unsafe {
                    arms! { R as OrderRow, $rows [$($open,)? $($convert,)*]
                        [$($ty,)* " ", $value, ", ", $address, ";", $($converted,)* $($unpack, $close,)?]
                        ($($d = out($class) d.$i,)* p = in(reg64) p,)
                    }
                }
                same_bits(d)
            }
        }
    };
}

/// `LoadInIf<$space>` for every element type that fits: the weak load `opcode` under a predicate.
#[cfg(ptx_device)]
macro_rules! impl_load_in_if {
    ({ $space:ident $width:ident $address:tt $opcode:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $type_width:ident $registers:tt})*) => {
        $(impl_load_in_if! { @$width $type_width $space $address $opcode ($t) $ty $class $r $registers })*
    };
    (@narrow wide $($element:tt)*) => {};
    (@$width:ident $type_width:ident $space:ident [$address:literal [$($convert:literal)*] [$($converted:literal)*]] $opcode:tt
        ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl LoadInIf<$space> for $t {
            #[inline(always)]
            unsafe fn load_in_if(cond: bool, p: *const Self, or: Self) -> Self {
                let mut d: $X<Unset<$r>> = same_bits(or);
                // SAFETY: as for `load_in`, where `cond` is true; else nothing is accessed.
                unsafe {
                    __instruction! { pure
                        [$($open, $pack,)? $($convert,)* __predicate!(before @),]
                        $opcode
                        [$($ty,)* " ", $value, ", ", $address, ";", __predicate!(after @), $($converted,)* $($unpack, $close,)?]
                        ($($d = inout($class) d.$i,)* p = in(reg64) p, cond = in(reg32) cond as u32,)
                    }
                }
                same_bits(d)
            }
        }
    };
}
