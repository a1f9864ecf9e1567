//! `createpolicy`: make a cache policy.

use crate::isa::caching::*;
use crate::isa::policy::CachePolicy;

/// L2: leave the line's eviction priority as it is. For policies; no load or store takes it by itself.
///
#[doc = concat!("PTX: `.L2::evict_unchanged`. ", needs!(CacheHint))]
#[doc = when_it_pays!(L2EvictUnchanged)]
#[doc(alias = "L2::evict_unchanged")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2EvictUnchanged;

/// What a policy says: a primary priority, or the pair of a primary and a secondary one.
///
/// Primary: `L2EvictLast`, `L2EvictNormal`, `L2EvictFirst`, `L2EvictUnchanged`. Secondary, for the lines that the primary
/// is not for: `L2EvictFirst`, `L2EvictUnchanged`; without one they keep the priority that they have.
#[diagnostic::on_unimplemented(
    message = "`createpolicy` does not take `{Self}`",
    label = "not the priorities of a cache policy",
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

/// Each choice of priorities: the number of the primary one, what bits 57 and 58 of a policy say, PTX's word, then each secondary
/// one with bit 56. It makes the impls, and the words of `instructions!`: `<P in priorities>`.
macro_rules! priorities {
    ($($primary:ident $id:literal $bits:literal $text:literal;)*) => {
        $(
            priorities! { @impl $primary, $id, $bits, 0 }
            priorities! { @impl ($primary, L2EvictFirst), $id + 1, $bits, 1 }
            priorities! { @impl ($primary, L2EvictUnchanged), $id + 2, $bits, 0 }
        )*

        macro_rules! priorities_of_a_policy {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [PolicyPriorities]
                [$parameter::ID; $(
                    (<$primary as PolicyPriorities>::ID => $text stringify!($primary), Always)
                    (<($primary, L2EvictFirst) as PolicyPriorities>::ID
                        => ($text ".L2::evict_first") stringify!(($primary, L2EvictFirst)), Always)
                    (<($primary, L2EvictUnchanged) as PolicyPriorities>::ID
                        => ($text ".L2::evict_unchanged") stringify!(($primary, L2EvictUnchanged)), Always)
                )* (_ => "" "same", Always)] // There is no other number.
                ".L2::primary{.L2::secondary}" "", $row
            } };
        }
    };
    (@impl $t:ty, $id:expr, $primary:literal, $secondary:literal) => {
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl PolicyPriorities for $t {
            const ID: u8 = $id;
            const PRIMARY: u64 = $primary;
            const SECONDARY: u64 = $secondary;
        }
    };
}
priorities! {
    L2EvictLast 0x20 2 ".L2::evict_last";
    L2EvictNormal 0x30 3 ".L2::evict_normal";
    L2EvictFirst 0x10 1 ".L2::evict_first";
    L2EvictUnchanged 0x00 0 ".L2::evict_unchanged";
}

instructions! { SINGLES:
    instruction "createpolicy", isa "data-movement-and-conversion-instructions-createpolicy", effect compute, T = u8 {
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
        /// `fraction` is above 0.0 and at most 1.0. It counts in sixteenths, rounded up (but 0.5003 is still eight). Any
        /// other value gives a policy for an unspecified fraction, and on a CPU a panic. A policy is a hint: it changes no
        /// value.
        ///
        /// For a constant fraction [`encode_fractional`](Self::encode_fractional) is better: one or two moves, where `ptxas`
        /// makes six instructions of this on sm_90 and newer. On a CPU the bits are the same.
        #[doc(alias = "createpolicy")]
        safe fn [CachePolicy] fractional<P in priorities_of_a_policy>(fraction: f32 as reg32)
            -> (CachePolicy as policy: reg64 => CachePolicy::from_bits(policy))
        {
            ptx: "createpolicy.fractional" P ".b64" -> policy, fraction;
            needs: CacheHint;
            cpu: Self::encode_fractional::<P>(fraction);
        }

        /// A policy for all lines: the fraction is left out. [`EVICT_FIRST`](Self::EVICT_FIRST) and its like are the same
        /// bits as constants, in fewer instructions. On a CPU the bits are the same.
        #[doc(alias = "createpolicy")]
        safe fn [CachePolicy] all<P in priorities_of_a_policy>() -> (CachePolicy as policy: reg64 => CachePolicy::from_bits(policy)) {
            ptx: "createpolicy.fractional" P ".b64" -> policy;
            needs: CacheHint;
            cpu: Self::encode_fractional::<P>(1.0);
        }

        /// A policy for a range of addresses. The primary priority is for the first `primary_size` bytes from `p` on. The
        /// secondary one is for those after them, up to `total_size` bytes. It says nothing about other addresses.
        ///
        /// `p` is a generic address. Nothing is read. `primary_size` is at most `total_size`; on a CPU it panics if it is
        /// not. The GPU tells blocks apart of at least 4 KiB and of at least a 128th of `total_size`. A policy is a hint: it
        /// changes no value. It is some thirty machine instructions; [`encode_range`](Self::encode_range) on the host and a
        /// parameter of the kernel is one. On a CPU the bits are the same. (`ptxas` makes larger blocks of a literal `total_size`
        /// that is a power of two and 6 to 10 of its 2^23rds.)
        #[doc(alias = "createpolicy")]
        safe fn [CachePolicy] range<P in priorities_of_a_policy>(
            p: *const impl Sized as reg64,
            primary_size: u32 as reg32,
            total_size: u32 as reg32,
        ) -> (CachePolicy as policy: reg64 => CachePolicy::from_bits(policy)) {
            ptx: "createpolicy.range" P ".b64" -> policy, [p], primary_size, total_size;
            needs: CacheHint;
            cpu: Self::encode_range::<P>(p.addr() as u64, primary_size, total_size);
        }

        /// [`range`](Self::range) of a global address. On a CPU the bits are the same.
        #[doc(alias = "createpolicy")]
        safe fn [CachePolicy] range_global<P in priorities_of_a_policy>(
            p: *const impl Sized as reg64,
            primary_size: u32 as reg32,
            total_size: u32 as reg32,
        ) -> (CachePolicy as policy: reg64 => CachePolicy::from_bits(policy)) {
            ptx: "createpolicy.range.global" P ".b64" -> policy, [p], primary_size, total_size;
            needs: CacheHint;
            cpu: Self::encode_range::<P>(p.addr() as u64, primary_size, total_size);
        }

        /// The policy of an access property, as CUDA's host interface makes it. On a CPU the bits are the same.
        #[doc(alias = "createpolicy.cvt")]
        #[doc(alias = "createpolicy.cvt.L2")]
        safe fn [CachePolicy] cvt_l2(property: u64 as reg64) -> (CachePolicy as policy: reg64 => CachePolicy::from_bits(policy)) {
            ptx: "createpolicy.cvt.L2.b64" -> policy, property;
            needs: CacheHint;
            cpu: Self::from_bits(property);
        }
    }
}

impl CachePolicy {
    /// The bits of [`fractional`](Self::fractional), in a `const` and on the host. It is the best way to a policy that is
    /// known beforehand: a constant is one or two machine instructions, a parameter one, and `createpolicy` six on sm_90 and
    /// newer.
    ///
    /// ```
    /// use ptx_intrinsics::prelude::*;
    ///
    /// const HALF: CachePolicy = CachePolicy::encode_fractional::<(L2EvictFirst, L2EvictUnchanged)>(0.5);
    /// assert_eq!(HALF, CachePolicy::fractional::<(L2EvictFirst, L2EvictUnchanged)>(0.5));
    /// ```
    ///
    #[doc = concat!("It is no instruction, and needs no target. What takes the policy does: ", needs!(CacheHint))]
    ///
    /// # Panics
    /// Unless `fraction` is above 0.0 and at most 1.0.
    #[inline]
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
    #[inline]
    pub const fn encode_range<P: PolicyPriorities>(address: u64, primary_size: u32, total_size: u32) -> Self {
        assert!(primary_size <= total_size, "the primary size of a policy is at most its total size");
        if total_size == 0 {
            return Self::from_bits(BY_BLOCK << 59);
        }
        let shift = block_shift(total_size);
        // As the GPU adds: sizes in 32 bits, addresses in 64.
        let after = address.wrapping_add(primary_size.wrapping_sub(1).wrapping_add(1 << shift) as u64) >> shift;
        let first = address >> shift;
        let blocks = after.wrapping_sub(first);
        let blocks = if blocks < 0x7f { blocks } else { 0x7f };
        let size = (shift - SMALLEST_BLOCK) as u64;
        Self::from_bits(encode::<P>(BY_BLOCK) | size << 52 | (first & 0x7f) << 44 | blocks << 37)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Bits 59 and 60: lines are chosen by a hash of their addresses,
const BY_ADDRESS: u64 = 2;
/// or by the block that they lie in.
const BY_BLOCK: u64 = 3;
/// Blocks have at least 2^12 bytes.
const SMALLEST_BLOCK: u32 = 12;

#[inline]
const fn encode<P: PolicyPriorities>(chosen: u64) -> u64 {
    chosen << 59 | P::PRIMARY << 57 | P::SECONDARY << 56
}

/// The exponent of the size of a block: 128 blocks hold `total_size` bytes.
#[inline]
const fn block_shift(total_size: u32) -> u32 {
    let bits = (total_size as f32).to_bits();
    let (exponent, mantissa) = ((bits >> 23) - 127, bits & 0x7f_ffff);
    // The GPU's logarithm is an approximation, which is rounded up: that of a power of two and very little is that of the power. An H100
    // has it for 10 of 2^23, and no more for 11.
    let logarithm = exponent + (mantissa > 10) as u32;
    if logarithm > SMALLEST_BLOCK + 7 { logarithm - 7 } else { SMALLEST_BLOCK }
}
