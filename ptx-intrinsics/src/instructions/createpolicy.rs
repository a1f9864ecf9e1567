//! `createpolicy`: make a cache policy.

use crate::emit::registers::same_bits;
use crate::isa::caching::*;
use crate::isa::element::B64;
use crate::isa::gate::*;
use crate::isa::policy::CachePolicy;

#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// L2: leave the line's eviction priority as it is. For policies; no load or store takes it by itself.
///
/// PTX: `.L2::evict_unchanged`. Needs sm_80 and ptx74.
#[doc = when_it_pays!(L2EvictUnchanged)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "L2::evict_unchanged")]
pub struct L2EvictUnchanged;

/// What a policy says: a primary priority, or the pair of a primary and a secondary one.
///
/// Primary: `L2EvictLast`, `L2EvictNormal`, `L2EvictFirst`, `L2EvictUnchanged`. Secondary, for the lines that the primary
/// is not for: `L2EvictFirst`, `L2EvictUnchanged`; without one they keep the priority that they have.
#[diagnostic::on_unimplemented(
    message = "`createpolicy` does not take `{Self}`",
    label = "no priorities of a cache policy",
    note = "it takes `L2EvictLast`, `L2EvictNormal`, `L2EvictFirst` or `L2EvictUnchanged`, or a pair of one of these and \
            `L2EvictFirst` or `L2EvictUnchanged`"
)]
pub trait PolicyPriorities: Copy + 'static + sealed::Sealed {
    /// A number of its own, for `match`.
    #[doc(hidden)]
    const ID: u8;
    /// Bits 57 and 58 of a policy.
    #[doc(hidden)]
    const PRIMARY: u64;
    /// Bit 56.
    #[doc(hidden)]
    const SECONDARY: u64;
}

/// Calls `$callback! { $args {(priorities) "text" id primary secondary} … }` with each choice of priorities.
macro_rules! for_each_priorities {
    ($callback:ident $args:tt) => {
        for_each_priorities! { @primary $callback $args
            [L2EvictLast ".L2::evict_last" 0x20 2]
            [L2EvictNormal ".L2::evict_normal" 0x30 3]
            [L2EvictFirst ".L2::evict_first" 0x10 1]
            [L2EvictUnchanged ".L2::evict_unchanged" 0x00 0]
        }
    };
    (@primary $callback:ident $args:tt $([$primary:ident $text:literal $id:literal $bits:literal])*) => {
        $callback! { $args
            $(
                {($primary) ($text) ($id) $bits 0}
                {(($primary, L2EvictFirst)) ($text ".L2::evict_first") ($id + 1) $bits 1}
                {(($primary, L2EvictUnchanged)) ($text ".L2::evict_unchanged") ($id + 2) $bits 0}
            )*
        }
    };
}

macro_rules! impl_priorities {
    (() $({($($priorities:tt)*) ($($text:literal)*) ($id:expr) $primary:literal $secondary:literal})*) => { $(
        impl sealed::Sealed for $($priorities)* {}
        #[diagnostic::do_not_recommend]
        impl PolicyPriorities for $($priorities)* {
            const ID: u8 = $id;
            const PRIMARY: u64 = $primary;
            const SECONDARY: u64 = $secondary;
        }
    )* };
}
for_each_priorities! { impl_priorities () }

/// The instruction on a GPU, its bits elsewhere.
macro_rules! on_gpu_or {
    ($instruction:tt $encoded:expr) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            for_each_priorities! { create $instruction }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $encoded
        }
    }};
}

/// One `createpolicy` for each choice of priorities, and the one of `P`.
#[cfg(target_arch = "nvptx64")]
macro_rules! create {
    (($P:ident $form:literal $operands:literal $list:tt)
        $({($($priorities:tt)*) $text:tt $id:tt $primary:literal $secondary:literal})*) => {{
        let bits: u64;
        match const { $P::ID } {
            $(<$($priorities)* as PolicyPriorities>::ID => create! { @asm bits $form $operands $list $text },)*
            _ => unreachable!(),
        }
        CachePolicy::from_bits(bits)
    }};
    (@asm $bits:ident $form:literal $operands:literal [$($operand:tt)*] ($($text:literal)*)) => {
        compute! {
            ["createpolicy", $form, $($text,)* ".b64 {bits}", $operands, ";"] bits = out(reg64) $bits, $($operand)*
        }
    };
}

impl CachePolicy {
    /// A policy for a fraction of the lines, chosen by their addresses.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// // createpolicy.fractional.L2::evict_last.b64
    /// let policy = CachePolicy::fractional::<L2EvictLast>(0.5);
    /// assert_eq!(policy.bits(), 0x1470_0000_0000_0000);
    /// // createpolicy.fractional.L2::evict_last.L2::evict_first.b64
    /// let policy = CachePolicy::fractional::<(L2EvictLast, L2EvictFirst)>(0.5);
    /// assert_eq!(policy.bits(), 0x1570_0000_0000_0000);
    /// ```
    ///
    /// `fraction` is above 0.0 and at most 1.0, and counts in sixteenths, rounded up (but 0.5003 is still eight); another
    /// one gives a policy for an unspecified fraction, and off the GPU a panic. A policy is a hint: it changes no value.
    ///
    /// PTX: `createpolicy.fractional.L2::primary{.L2::secondary}.b64 policy, fraction;`. Needs sm_80 and ptx74. Of a
    /// constant fraction `ptxas` makes plain moves, and so does [`encode_fractional`](Self::encode_fractional), in a
    /// `const` and on the host. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy")]
    #[doc(alias = "createpolicy.fractional")]
    #[inline(always)]
    pub fn fractional<P>(fraction: f32) -> Self
    where
        P: PolicyPriorities,
        CacheHint: OnTarget<CachePolicy, P>,
    {
        on_gpu_or! {
            (P ".fractional" ", {fraction}" [fraction = in(reg32) fraction,])
            Self::encode_fractional::<P>(fraction)
        }
    }

    /// A policy for all lines.
    ///
    /// PTX: `createpolicy.fractional.L2::primary{.L2::secondary}.b64 policy;`, the fraction left out. Needs sm_80 and
    /// ptx74. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy")]
    #[inline(always)]
    pub fn all<P>() -> Self
    where
        P: PolicyPriorities,
        CacheHint: OnTarget<CachePolicy, P>,
    {
        on_gpu_or! { (P ".fractional" "" []) Self::encode_fractional::<P>(1.0) }
    }

    /// A policy for a range of addresses: the primary priority for the first `primary_size` bytes from `p` on, the
    /// secondary one for those behind, up to `total_size` bytes. For what lies outside nothing is said.
    ///
    /// `p` is a generic address. Nothing is read; `primary_size` is at most `total_size`, off the GPU on pain of a panic.
    /// What the GPU tells apart are blocks of at least 4 KiB and of at least a 128th of `total_size`. A policy is a hint:
    /// it changes no value.
    ///
    /// PTX: `createpolicy.range.L2::primary{.L2::secondary}.b64 policy, [p], primary_size, total_size;`. Needs sm_80 and
    /// ptx74. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy")]
    #[doc(alias = "createpolicy.range")]
    #[inline(always)]
    pub fn range<P>(p: *const impl Sized, primary_size: u32, total_size: u32) -> Self
    where
        P: PolicyPriorities,
        CacheHint: OnTarget<CachePolicy, P>,
    {
        on_gpu_or! {
            (P ".range" ", [{p}], {primary}, {total}" [
                p = in(reg64) p, primary = in(reg32) primary_size, total = in(reg32) total_size,
            ])
            Self::encode_range::<P>(p.addr() as u64, primary_size, total_size)
        }
    }

    /// [`range`](Self::range) of a global address.
    ///
    /// PTX: `createpolicy.range.global.L2::primary{.L2::secondary}.b64 policy, [p], primary_size, total_size;`. Needs
    /// sm_80 and ptx74. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy")]
    #[inline(always)]
    pub fn range_global<P>(p: *const impl Sized, primary_size: u32, total_size: u32) -> Self
    where
        P: PolicyPriorities,
        CacheHint: OnTarget<CachePolicy, P>,
    {
        on_gpu_or! {
            (P ".range.global" ", [{p}], {primary}, {total}" [
                p = in(reg64) p, primary = in(reg32) primary_size, total = in(reg32) total_size,
            ])
            Self::encode_range::<P>(p.addr() as u64, primary_size, total_size)
        }
    }

    /// The policy of an access property, as CUDA's host interface makes it.
    ///
    /// PTX: `createpolicy.cvt.L2.b64 policy, property;`. Needs sm_80 and ptx74. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy.cvt")]
    #[doc(alias = "createpolicy.cvt.L2")]
    #[inline(always)]
    pub fn cvt_l2<A>(property: A) -> Self
    where
        A: AccessProperty,
        CacheHint: OnTarget<CachePolicy, A>,
    {
        let bits: u64 = same_bits(property);
        #[cfg(target_arch = "nvptx64")]
        let bits = {
            let policy: u64;
            compute! {
                ["createpolicy.cvt.L2.b64 {policy}, {bits};"] policy = out(reg64) policy, bits = in(reg64) bits,
            }
            policy
        };
        Self::from_bits(bits)
    }

    /// The bits of [`fractional`](Self::fractional), in a `const` and on the host: a policy that is made on the CPU and
    /// handed to a kernel, or that costs a kernel nothing.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// const HALF: CachePolicy = CachePolicy::encode_fractional::<(L2EvictFirst, L2EvictUnchanged)>(0.5);
    /// assert_eq!(HALF, CachePolicy::fractional::<(L2EvictFirst, L2EvictUnchanged)>(0.5));
    /// ```
    ///
    /// No instruction, and no target needed to make one; what takes it needs sm_80 and ptx74.
    ///
    /// # Panics
    /// Unless `fraction` is above 0.0 and at most 1.0.
    pub const fn encode_fractional<P: PolicyPriorities>(fraction: f32) -> Self {
        assert!(fraction > 0.0 && fraction <= 1.0, "the fraction of a policy is above 0.0 and at most 1.0");
        // What `ptxas` computes: 0.5 is eight sixteenths, and so is 0.5003.
        let sixteenths_less_one = (fraction * 15.99) as u64;
        Self::from_bits(encode::<P>(BY_ADDRESS) | sixteenths_less_one << 52)
    }

    /// The bits of [`range`](Self::range) from a global address on, in a `const` and on the host: a policy that is made
    /// on the CPU for a buffer of the GPU.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// let (buffer, mebibyte) = (0x7f00_0000_0000, 1 << 20);
    /// let policy = CachePolicy::encode_range::<L2EvictLast>(buffer, mebibyte, 2 * mebibyte);
    /// assert_eq!(policy.bits(), 0x1c20_0800_0000_0000);
    /// ```
    ///
    /// # Panics
    /// If `primary_size` is more than `total_size`.
    pub const fn encode_range<P: PolicyPriorities>(address: u64, primary_size: u32, total_size: u32) -> Self {
        assert!(primary_size <= total_size, "the primary size of a policy is at most its total size");
        if total_size == 0 {
            return Self::from_bits(BY_BLOCK << 59);
        }
        let shift = block_shift(total_size);
        // As the GPU adds: sizes in 32 bits, addresses in 64.
        let behind = address.wrapping_add(primary_size.wrapping_sub(1).wrapping_add(1 << shift) as u64) >> shift;
        let first = address >> shift;
        let blocks = behind.wrapping_sub(first);
        let blocks = if blocks < 0x7f { blocks } else { 0x7f };
        let size = (shift - SMALLEST_BLOCK) as u64;
        Self::from_bits(encode::<P>(BY_BLOCK) | size << 52 | (first & 0x7f) << 44 | blocks << 37)
    }
}

/// What [`CachePolicy::cvt_l2`] takes: 64 bits.
pub trait AccessProperty: Copy + sealed::Sealed {}
impl AccessProperty for u64 {}
impl AccessProperty for B64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for crate::isa::element::B64 {}
}

/// Bits 59 and 60: lines are chosen by a hash of their addresses,
const BY_ADDRESS: u64 = 2;
/// or by the block that they lie in.
const BY_BLOCK: u64 = 3;
/// Blocks have at least 2^12 bytes.
const SMALLEST_BLOCK: u32 = 12;

const fn encode<P: PolicyPriorities>(chosen: u64) -> u64 {
    chosen << 59 | P::PRIMARY << 57 | P::SECONDARY << 56
}

/// The exponent of a block's size, of which 128 hold so many bytes.
const fn block_shift(total_size: u32) -> u32 {
    let bits = (total_size as f32).to_bits();
    let (exponent, mantissa) = ((bits >> 23) - 127, bits & 0x7f_ffff);
    // The logarithm is rounded to an `f32` before it is rounded up: a power of two and very little is that power.
    let logarithm = exponent + (mantissa > 5) as u32;
    if logarithm > SMALLEST_BLOCK + 7 { logarithm - 7 } else { SMALLEST_BLOCK }
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! list {
    (() $({$priorities:tt $text:tt $id:tt $primary:literal $secondary:literal})*) => {
        &[
            $(
                list! { @row $priorities $text ".fractional" "fractional" "(fraction)" "fraction: f32" "%, %" },
                list! { @row $priorities $text ".fractional" "all" "()" "" "%" },
                list! { @row $priorities $text ".range" "range" "(p, primary_size, total_size)" RANGE "%, [%], %, %" },
                list! {
                    @row $priorities $text ".range.global" "range_global" "(p, primary_size, total_size)" RANGE "%, [%], %, %"
                },
            )*
            Single::gated::<CacheHint>(
                "createpolicy",
                "CachePolicy::cvt_l2(property)",
                "createpolicy.cvt.L2.b64",
                Signature { parameters: "property: u64", result: Some("CachePolicy"), operands: "%, %" },
            ),
        ]
    };
    (@row ($($priorities:tt)*) ($($text:literal)*) $form:literal $method:literal $arguments:literal
        $parameters:tt $operands:literal) => {
        Single::gated::<CacheHint>(
            "createpolicy",
            concat!("CachePolicy::", $method, "::<", stringify!($($priorities)*), ">", $arguments),
            concat!("createpolicy", $form, $($text,)* ".b64"),
            Signature { parameters: $parameters, result: Some("CachePolicy"), operands: $operands },
        )
    };
}

#[cfg(not(target_arch = "nvptx64"))]
const RANGE: &str = "p: *const u8, primary_size: u32, total_size: u32";

/// Every `createpolicy`.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const SINGLES: &[Single] = for_each_priorities! { list () };
