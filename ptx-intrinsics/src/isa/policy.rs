//! Cache policies: the operand of `.L2::cache_hint`.

use super::gate::{CacheHint, Needs};

/// A cache policy, the 64-bit operand that `.L2::cache_hint` takes: how L2 treats the lines that an access touches.
///
/// The bits are what the instruction `createpolicy` makes, and are opaque to PTX. A policy is a hint: it changes no value.
///
/// A policy that is known beforehand is best one of the constants here, or encoded:
/// [`encode_fractional`](Self::encode_fractional) in a `const`, [`encode_range`](Self::encode_range) on the host for a
/// parameter of the kernel.
///
#[doc = needs!(CacheHint)]
#[doc = when_it_pays!(CachePolicy)]
#[doc(alias = "L2::cache_hint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct CachePolicy(u64);

impl CachePolicy {
    /// What `.L2::cache_hint` needs.
    pub(crate) const NEEDS: Needs = Needs::of::<CacheHint>();

    /// Every line evicted normally: `createpolicy.fractional.L2::evict_normal.b64 d, 1.0`.
    pub const EVICT_NORMAL: Self = Self(0x16f0_0000_0000_0000);
    /// Every line first to be evicted: `createpolicy.fractional.L2::evict_first.b64 d, 1.0`.
    pub const EVICT_FIRST: Self = Self(0x12f0_0000_0000_0000);
    /// Every line last to be evicted: `createpolicy.fractional.L2::evict_last.b64 d, 1.0`.
    pub const EVICT_LAST: Self = Self(0x14f0_0000_0000_0000);

    /// Every line's priority left as it is: `createpolicy.fractional.L2::evict_unchanged.b64 d, 1.0`.
    pub const EVICT_UNCHANGED: Self = Self(0x10f0_0000_0000_0000);

    /// The policy of these bits, as `createpolicy` gave them.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// An access that takes a policy under a condition without the feature `l2-combinations`. There is none.
#[cfg(not(feature = "l2-combinations"))]
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the methods `read_if_with` and `write_if_with` need the cargo feature `l2-combinations` of ptx-intrinsics",
    label = "a cache policy under a condition",
    note = "enable it: `cargo add ptx-intrinsics --features l2-combinations`",
    note = "or write the instruction with `ptx!`, which needs no feature: `ptx!(@cond ld.global.L2::cache_hint.f32 [p], policy, else 0.0)`"
)]
pub trait PolicyUnderCondition {
    #[doc(hidden)]
    fn never<T>() -> T;
}
