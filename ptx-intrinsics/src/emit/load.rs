//! Loads: the `asm!` of each element type, out of the rows of an instruction.

/// `Load<$instruction>` for every element type. Types of 256 bits have the wide rows, all others the narrow ones.
#[cfg(ptx_device)]
macro_rules! impl_load {
    ({ $instruction:ident narrow $narrow:tt wide $wide:tt } $($elements:tt)*) => {
        const _: () = {
            use $crate::emit::{access::Load, registers::*};
            use $crate::isa::{caching::*, element::*, policy::CachePolicy, prefetch_size::PrefetchSize};

            #[cfg(feature = "l2-combinations")]
            impl_load! { @each { $instruction [sized P [".L2::cache_hint"]] $narrow $wide $wide } $($elements)* }
            // Combined with a policy or a condition, there are fewer rows, and no prefetch size beside a policy.
            #[cfg(not(feature = "l2-combinations"))]
            impl_load! { @each { $instruction [hint ".L2::cache_hint"] $narrow $wide $narrow } $($elements)* }
        };
    };
    (@each $rows:tt $({$t:tt $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_load! { @$width $rows $t ($ty $class $r $registers) })*
    };
    (@wide { $instruction:ident $policy:tt $narrow:tt $wide:tt $combined:tt } $($element:tt)*) => {
        #[cfg(ptx_sm = "100")]
        impl_load! { @one $instruction $policy $wide $combined $($element)* }
        // The gate refuses these types, so that rustc need not read their rows.
        #[cfg(not(ptx_sm = "100"))]
        impl_load! { @one $instruction $policy $narrow $narrow $($element)* }
    };
    (@one $instruction:ident [$($policy:tt)*] $rows:tt $combined:tt ($t:ty) $element:tt) => {
        impl Load<$instruction> for $t {
            #[inline(always)]
            unsafe fn load<C: Caching, P: PrefetchSize>(p: *const Self) -> Self {
                access! { out [uninit()] $element [] (" " ", [{p}];") []
                    { C, sized P [], $rows } (p = in(reg64) p,) }
            }
            #[inline(always)]
            unsafe fn load_with<C: Caching, P: PrefetchSize>(p: *const Self, policy: CachePolicy) -> Self {
                access! { out [uninit()] $element [] (" " ", [{p}], {policy};") []
                    { C, $($policy)*, $combined } (p = in(reg64) p, policy = in(reg64) policy.bits(),) }
            }
            #[inline(always)]
            unsafe fn load_if<C: Caching, P: PrefetchSize>(cond: bool, p: *const Self, or: Self) -> Self {
                access! { @cond inout [same_bits(or)] $element [] (" " ", [{p}];") []
                    { C, sized P [], $combined } (p = in(reg64) p, cond = in(reg32) cond as u32,) }
            }
            #[cfg(feature = "l2-combinations")]
            #[inline(always)]
            unsafe fn load_if_with<C: Caching, P: PrefetchSize>(
                cond: bool,
                p: *const Self,
                or: Self,
                policy: CachePolicy,
            ) -> Self {
                access! { @cond inout [same_bits(or)] $element [] (" " ", [{p}], {policy};") []
                    { C, $($policy)*, $combined }
                    (p = in(reg64) p, cond = in(reg32) cond as u32, policy = in(reg64) policy.bits(),) }
            }
        }
    };
    (@$other:ident { $instruction:ident $policy:tt $narrow:tt $wide:tt $combined:tt } $($element:tt)*) => {
        impl_load! { @one $instruction $policy $narrow $narrow $($element)* }
    };
}

/// `LoadIn<$space>` for every element type that fits into the space; `narrow` ones have no types of 256 bits.
///
/// The address is that of a load and that of a store: `[{p}]`, or what the texts before make of it, `[%address]`.
#[cfg(ptx_device)]
macro_rules! impl_load_in {
    ($of_space:tt $({$t:tt $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_load_in! { @$width $of_space $t ($ty $class $r $registers) })*
    };
    (@wide { $space:ident narrow $($rest:tt)* } $($element:tt)*) => {};
    (@wide { $space:ident $types:ident $address:tt $_rows:tt $wide_rows:tt } $($element:tt)*) => {
        impl_load_in! { @one { $space $address $wide_rows } $($element)* }
    };
    (@one { $space:ident [($address:literal $_store:literal) [$($convert:literal)*] [$($converted:literal)*]] $rows:tt }
        ($t:ty) $element:tt) => {
        impl LoadIn<$space> for $t {
            #[inline(always)]
            unsafe fn load_in<R: OrderRow>(p: *const Self) -> Self {
                access! { out [uninit()] $element [$($convert,)*] (" " $address) [$($converted,)*]
                    { R, $rows } (p = in(reg64) p,) }
            }
        }
    };
    (@$width:ident { $space:ident $types:ident $address:tt $rows:tt $_wide_rows:tt } $($element:tt)*) => {
        impl_load_in! { @one { $space $address $rows } $($element)* }
    };
}

/// `LoadInIf<$space>` for every element type that fits: the weak load `opcode` under a predicate.
#[cfg(ptx_device)]
macro_rules! impl_load_in_if {
    ($of_space:tt $({$t:tt $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_load_in_if! { @$width $of_space $t ($ty $class $r $registers) })*
    };
    (@wide { $space:ident narrow $($rest:tt)* } $($element:tt)*) => {};
    (@$width:ident { $space:ident $types:ident [($address:literal $_store:literal) [$($convert:literal)*] [$($converted:literal)*]] $opcode:tt }
        ($t:ty) $element:tt) => {
        impl LoadInIf<$space> for $t {
            #[inline(always)]
            unsafe fn load_in_if(cond: bool, p: *const Self, or: Self) -> Self {
                access! { @cond inout [same_bits(or)] $element [$($convert,)*] (" " $address) [$($converted,)*]
                    { only pure $opcode } (p = in(reg64) p, cond = in(reg32) cond as u32,) }
            }
        }
    };
}
