//! Stores: the `asm!` of each element type, out of the rows of an instruction.

/// `Store<$instruction>` for every element type. Types of 256 bits have the wide rows, all others the narrow ones.
#[cfg(ptx_device)]
macro_rules! impl_store {
    ({ $instruction:ident narrow $narrow:tt wide $wide:tt }
        $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        const _: () = {
            use $crate::emit::{access::Store, registers::*};
            use $crate::isa::{caching::*, element::*, policy::CachePolicy};

            $(impl_store! { @$width $instruction $narrow $wide ($t) ($ty $class $r $registers) })*
        };
    };
    (@wide $instruction:ident $narrow:tt $wide:tt $($element:tt)*) => {
        #[cfg(all(ptx_sm = "100", feature = "l2-combinations"))]
        impl_store! { @one $instruction $wide $wide $($element)* }
        #[cfg(all(ptx_sm = "100", not(feature = "l2-combinations")))]
        impl_store! { @one $instruction $wide $narrow $($element)* }
        // The gate refuses these types, so that rustc need not read their rows.
        #[cfg(not(ptx_sm = "100"))]
        impl_store! { @one $instruction $narrow $narrow $($element)* }
    };
    // Combined with a policy or a condition, there may be fewer rows.
    (@one $instruction:ident $rows:tt $combined:tt ($t:ty) $element:tt) => {
        impl Store<$instruction> for $t {
            #[inline(always)]
            unsafe fn store<C: Caching>(p: *mut Self, value: Self) {
                access! { in [same_bits(value)] $element [] (" [{p}], " ";") [] { C, $rows } (p = in(reg64) p,) }
            }
            #[inline(always)]
            unsafe fn store_with<C: Caching>(p: *mut Self, value: Self, policy: CachePolicy) {
                access! { in [same_bits(value)] $element [] (" [{p}], " ", {policy};") []
                    { C, hint ".L2::cache_hint", $combined } (p = in(reg64) p, policy = in(reg64) policy.bits(),) }
            }
            #[inline(always)]
            unsafe fn store_if<C: Caching>(cond: bool, p: *mut Self, value: Self) {
                access! { @cond in [same_bits(value)] $element [] (" [{p}], " ";") []
                    { C, $combined } (p = in(reg64) p, cond = in(reg32) cond as u32,) }
            }
            #[cfg(feature = "l2-combinations")]
            #[inline(always)]
            unsafe fn store_if_with<C: Caching>(cond: bool, p: *mut Self, value: Self, policy: CachePolicy) {
                access! { @cond in [same_bits(value)] $element [] (" [{p}], " ", {policy};") []
                    { C, hint ".L2::cache_hint", $combined }
                    (p = in(reg64) p, cond = in(reg32) cond as u32, policy = in(reg64) policy.bits(),) }
            }
        }
    };
    (@$other:ident $instruction:ident $narrow:tt $wide:tt $($element:tt)*) => {
        impl_store! { @one $instruction $narrow $narrow $($element)* }
    };
}

/// `StoreIn<$space>` for every element type that fits into the space; `narrow` ones have no types of 256 bits.
///
/// The address is as in `impl_load_in!`.
#[cfg(ptx_device)]
macro_rules! impl_store_in {
    ($of_space:tt $({$t:tt $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_store_in! { @$width $of_space $t ($ty $class $r $registers) })*
    };
    (@wide { $space:ident narrow $($rest:tt)* } $($element:tt)*) => {};
    (@wide { $space:ident $types:ident $address:tt $_rows:tt $wide_rows:tt } $($element:tt)*) => {
        impl_store_in! { @one { $space $address $wide_rows } $($element)* }
    };
    (@one { $space:ident [($_load:literal $address:literal) [$($convert:literal)*] [$($converted:literal)*]] $rows:tt }
        ($t:ty) $element:tt) => {
        impl StoreIn<$space> for $t {
            #[inline(always)]
            unsafe fn store_in<R: OrderRow>(p: *mut Self, value: Self) {
                access! { in [same_bits(value)] $element [$($convert,)*] ($address ";") [$($converted,)*]
                    { R, $rows } (p = in(reg64) p,) }
            }
        }
    };
    (@$width:ident { $space:ident $types:ident $address:tt $rows:tt $_wide_rows:tt } $($element:tt)*) => {
        impl_store_in! { @one { $space $address $rows } $($element)* }
    };
}

/// `StoreInIf<$space>` for every element type that fits: the weak store `opcode` under a predicate.
#[cfg(ptx_device)]
macro_rules! impl_store_in_if {
    ($of_space:tt $({$t:tt $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_store_in_if! { @$width $of_space $t ($ty $class $r $registers) })*
    };
    (@wide { $space:ident narrow $($rest:tt)* } $($element:tt)*) => {};
    (@$width:ident { $space:ident $types:ident [($_load:literal $address:literal) [$($convert:literal)*] [$($converted:literal)*]] $opcode:tt }
        ($t:ty) $element:tt) => {
        impl StoreInIf<$space> for $t {
            #[inline(always)]
            unsafe fn store_in_if(cond: bool, p: *mut Self, value: Self) {
                access! { @cond in [same_bits(value)] $element [$($convert,)*] ($address ";") [$($converted,)*]
                    { only memory $opcode } (p = in(reg64) p, cond = in(reg32) cond as u32,) }
            }
        }
    };
}
