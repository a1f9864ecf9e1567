//! Sinks: a 256-bit load that leaves some lanes unread, PTX's `_` in the vector operand.

use crate::element::*;
use crate::spell::same_bits;

/// A vector whose lanes can be left unread.
#[diagnostic::on_unimplemented(
    message = "only a 256-bit load can leave lanes unread, and `{Self}` is not 256 bits wide",
    label = "no sink `_` in a load of `{Self}`",
    note = "use `V8` of a 32-bit type or `V4` of a 64-bit type, or read the lanes with narrower loads"
)]
pub trait Sinks: Element {}

/// A lane of a `T`.
#[doc(hidden)]
pub type Lane<T> = <<T as Element>::Ptx as PtxType>::Register;

macro_rules! sinks {
    (() $({($($t:tt)*) [$($text:literal)*] $shape:ident $class:ident $register:ident $width:ident})*) => {
        $(sinks! { @$width $($t)* })*

        /// The `.vec.type` of an element type, as a literal.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __element_text {
            $(($($t)*) => { concat!($($text),*) };)*
        }
    };
    (@wide $t:ty) => { impl Sinks for $t {} };
    (@$narrow:ident $t:ty) => {};
}
for_each_element! { sinks () }

/// The vector of these lanes.
#[doc(hidden)]
#[inline(always)]
pub const fn vector_of<T: Element, const LANES: usize>(_: *const T, lanes: [Lane<T>; LANES]) -> T {
    same_bits(lanes)
}

/// A lane that is not read.
#[doc(hidden)]
#[inline(always)]
pub const fn unread<T: Element>() -> Lane<T> {
    // SAFETY: a register is an integer or a float.
    unsafe { core::mem::zeroed() }
}

/// Off the GPU: one lane of the vector at `p`.
///
/// # Safety
/// The lane is a readable part of an aligned `T`.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn lane_of<T: Element>(p: *const T, lane: usize) -> Lane<T> {
    // SAFETY: the caller's promise.
    unsafe { p.cast::<Lane<T>>().add(lane).read() }
}

/// Loads some lanes of a 256-bit vector: `_` marks those that are not read, and come out as zero.
///
/// ```
/// # #![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
/// use ptx_intrinsics::*;
///
/// let row = V8::new([0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
/// let policy = CachePolicy::EVICT_LAST;
/// // ld.global.nc.L1::evict_last.L2::evict_first.v8.f32 {d0, _, d2, _, _, _, _, d7}, [p];
/// let v: V8<f32> = unsafe {
///     read_lanes!(ld_global_nc::<(EvictLast, L2EvictFirst), NoPrefetch>, V8<f32> {d, _, d, _, _, _, _, d}, &row)
/// };
/// assert_eq!(v.0, [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
/// // ld.global.L2::cache_hint.L2::64B.v4.u64 {_, d1, d2, d3}, [p], policy;
/// let v = unsafe { read_lanes!(ld_global::<NoHint, Prefetch64>, V4<u64> {_, d, d, d}, (&raw const row).cast(), policy) };
/// assert_eq!(v.0[0], 0);
/// ```
///
/// A macro and not a method, since each of the 254 masks is a spelling of its own: it is put together where it stands.
/// For that reason a crate that uses it for the GPU needs `#![feature(asm_experimental_arch)]`. A plain `read` whose
/// lanes are not all used becomes the same machine instruction, with the same mask of lanes.
///
/// Needs sm_100 and PTX ISA 8.8. PTX ISA:
/// [ld.global.nc](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld-global-nc).
///
/// # Safety
/// As for the `read` of that load: [`LdGlobalNc::read`](crate::LdGlobalNc::read), [`LdGlobal::read`](crate::LdGlobal::read).
#[macro_export]
macro_rules! read_lanes {
    ($load:ident::<$caching:tt, $size:ty>, V8<$t:ident> {$($lane:tt),* $(,)?}, $p:expr $(, $policy:expr)?) => {
        $crate::__read_lanes! { @lanes { ($load $caching $size) (V8<$t>) $p $(, $policy)? } reg32 [] [] [] [$($lane)*] [
            0 "" "{d0}" d0; 1 ", " "{d1}" d1; 2 ", " "{d2}" d2; 3 ", " "{d3}" d3;
            4 ", " "{d4}" d4; 5 ", " "{d5}" d5; 6 ", " "{d6}" d6; 7 ", " "{d7}" d7;
        ] }
    };
    ($load:ident::<$caching:tt, $size:ty>, V4<$t:ident> {$($lane:tt),* $(,)?}, $p:expr $(, $policy:expr)?) => {
        $crate::__read_lanes! { @lanes { ($load $caching $size) (V4<$t>) $p $(, $policy)? } reg64 [] [] [] [$($lane)*] [
            0 "" "{d0}" d0; 1 ", " "{d1}" d1; 2 ", " "{d2}" d2; 3 ", " "{d3}" d3;
        ] }
    };
}

/// The opcode of a load with its caching qualifier: an operator stands before `.nc`.
#[doc(hidden)]
#[macro_export]
macro_rules! __opcode {
    (ld_global_nc Ca) => { concat!("ld.global", $crate::__caching_text!(Ca), ".nc") };
    (ld_global_nc Cg) => { concat!("ld.global", $crate::__caching_text!(Cg), ".nc") };
    (ld_global_nc Cs) => { concat!("ld.global", $crate::__caching_text!(Cs), ".nc") };
    (ld_global_nc $($caching:tt)*) => { concat!("ld.global.nc", $crate::__opcode!(@text $($caching)*)) };
    (ld_global $($caching:tt)*) => { concat!("ld.global", $crate::__opcode!(@text $($caching)*)) };
    (@text ($l1:ident, $l2:ident)) => { concat!($crate::__caching_text!($l1), $crate::__caching_text!($l2)) };
    (@text $caching:ident) => { $crate::__caching_text!($caching) };
}

/// `@lanes` sorts the lanes into texts, operands and values; `@load` is the access.
#[doc(hidden)]
#[macro_export]
macro_rules! __read_lanes {
    (@lanes $load:tt $class:ident $texts:tt $operands:tt $lanes:tt [] []) => {
        $crate::__read_lanes! { @load $load $texts $operands $lanes }
    };
    (@lanes $load:tt $class:ident [$($texts:literal)*] $operands:tt [$($lanes:tt)*] [_ $($rest:tt)*]
        [$at:literal $comma:literal $place:literal $d:ident; $($more:tt)*]) => {
        $crate::__read_lanes! { @lanes $load $class [$($texts)* $comma "_"] $operands [$($lanes)* ($d sink $at)]
            [$($rest)*] [$($more)*] }
    };
    (@lanes $load:tt $class:ident [$($texts:literal)*] [$($operands:tt)*] [$($lanes:tt)*] [$read:ident $($rest:tt)*]
        [$at:literal $comma:literal $place:literal $d:ident; $($more:tt)*]) => {
        $crate::__read_lanes! { @lanes $load $class [$($texts)* $comma $place] [$($operands)* $d = out($class) $d,]
            [$($lanes)* ($d read $at)] [$($rest)*] [$($more)*] }
    };

    (@load { ($load:ident $caching:tt $size:ty) ($($t:tt)*) $p:expr } $texts:tt $operands:tt $lanes:tt) => {{
        let p: *const $($t)* = $p;
        $load::<$caching, $size>().read_lanes(p);
        $crate::__read_lanes! { @access ($load $caching $size) ($($t)*) p $texts $operands $lanes "" "" () }
    }};
    (@load { ($load:ident $caching:tt $size:ty) ($($t:tt)*) $p:expr, $policy:expr } $texts:tt $operands:tt $lanes:tt) => {{
        let (p, policy): (*const $($t)*, $crate::CachePolicy) = ($p, $policy);
        $load::<$caching, $size>().read_lanes_with(p, policy);
        $crate::__read_lanes! { @access ($load $caching $size) ($($t)*) p $texts $operands $lanes
            ".L2::cache_hint" ", {policy}" (policy = in(reg64) policy.bits(),) }
    }};

    (@access ($load:ident $caching:tt $size:ty) $vector:tt $p:ident $texts:tt $operands:tt
        [$(($d:ident $kind:ident $at:literal))*] $hint:literal $policy:literal $policy_operand:tt) => {{
        const _: () = assert!(false $(|| $crate::__read_lanes!(@is $kind))*, "PTX takes no load whose every lane is a sink");
        $($crate::__read_lanes! { @declare $kind $d $p $at $vector })*
        #[cfg(target_arch = "nvptx64")]
        match const { <$size as $crate::PrefetchSize>::BYTES } {
            0 => $crate::__read_lanes! { @asm ($load $caching) $hint "" $vector $texts $p $policy $operands $policy_operand () },
            _ => $crate::__read_lanes! { @asm ($load $caching) $hint ".L2::{bytes}B" $vector $texts $p $policy
                $operands $policy_operand (bytes = const <$size as $crate::PrefetchSize>::BYTES,) },
        }
        $crate::lanes::vector_of($p, [$($d),*])
    }};

    (@is read) => { true };
    (@is sink) => { false };
    (@declare sink $d:ident $p:ident $at:literal ($($t:tt)*)) => {
        let $d = const { $crate::lanes::unread::<$($t)*>() };
    };
    (@declare read $d:ident $p:ident $at:literal ($($t:tt)*)) => {
        #[cfg(target_arch = "nvptx64")]
        let $d: $crate::lanes::Lane<$($t)*>;
        #[cfg(not(target_arch = "nvptx64"))]
        let $d = $crate::lanes::lane_of::<$($t)*>($p, $at);
    };
    (@asm ($load:ident $caching:tt) $hint:literal $size:literal ($($t:tt)*) [$($texts:literal)*] $p:ident $policy:literal
        [$($operands:tt)*] ($($policy_operand:tt)*) ($($size_operand:tt)*)) => {
        ::core::arch::asm!(
            concat!(
                $crate::__opcode!($load $caching), $hint, $size, $crate::__element_text!($($t)*),
                " {{", $($texts,)* "}}, [{p}]", $policy, ";"
            ),
            $($operands)* p = in(reg64) $p, $($policy_operand)* $($size_operand)*
            options(readonly, nostack, preserves_flags)
        )
    };
}
