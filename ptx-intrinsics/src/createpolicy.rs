//! `createpolicy`: make a cache policy.

use crate::qualifier::caching::*;
use crate::qualifier::policy::CachePolicy;
use crate::qualifier::target::*;

/// What a policy says of the lines that it is about: `L2EvictLast`, `L2EvictNormal` or `L2EvictFirst`.
#[diagnostic::on_unimplemented(
    message = "`createpolicy` does not take `{Self}`",
    label = "not a priority of a cache policy",
    note = "it takes one of: `L2EvictLast`, `L2EvictNormal`, `L2EvictFirst`"
)]
pub trait PolicyPriority: Caching {
    /// Bits 57 and 58 of a policy.
    #[doc(hidden)]
    const BITS: u64;
}

macro_rules! policy_priorities {
    ($($name:ident $bits:literal)*) => { $(
        #[diagnostic::do_not_recommend]
        impl PolicyPriority for $name {
            const BITS: u64 = $bits;
        }
    )* };
}
policy_priorities! { L2EvictFirst 1 L2EvictLast 2 L2EvictNormal 3 }

impl CachePolicy {
    /// A policy for a fraction of the lines, chosen by their addresses; the others keep the priority that they have.
    ///
    /// ```
    /// use ptx_intrinsics::*;
    ///
    /// // createpolicy.fractional.L2::evict_last.b64
    /// let policy = CachePolicy::fractional::<L2EvictLast>(0.5);
    /// assert_eq!(policy.bits(), 0x1470_0000_0000_0000);
    /// ```
    ///
    /// `fraction` is above 0.0 and at most 1.0, and counts in sixteenths, rounded up (but 0.5003 is still eight); another
    /// one gives a policy for an unspecified fraction. A policy is a hint: it changes no value.
    ///
    /// PTX: `createpolicy.fractional.L2::priority.b64 policy, fraction;`. Needs sm_80 and ptx74. Of a constant fraction
    /// `ptxas` makes plain moves. Off the GPU the bits are the same.
    ///
    /// PTX ISA: [createpolicy](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-createpolicy).
    #[doc(alias = "createpolicy")]
    #[inline(always)]
    pub fn fractional<P>(fraction: f32) -> Self
    where
        P: PolicyPriority,
        sm_80: HasSm<CachePolicy, P>,
        ptx74: HasPtx<CachePolicy, P>,
    {
        Self::from_bits(fractional::<P>(fraction))
    }
}

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn fractional<P: PolicyPriority>(fraction: f32) -> u64 {
    macro_rules! create {
        ($($name:ident)*) => {
            match const { P::ID } {
                $($name::ID => {
                    let bits: u64;
                    // SAFETY: it makes a number of a number.
                    unsafe {
                        core::arch::asm!(
                            concat!("createpolicy.fractional", __caching_text!($name), ".b64 {bits}, {fraction};"),
                            bits = out(reg64) bits, fraction = in(reg32) fraction,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    bits
                })*
                _ => unreachable!(),
            }
        };
    }
    create! { L2EvictFirst L2EvictLast L2EvictNormal }
}

/// The bits as the instruction makes them: the fraction in sixteenths less one, the priority, and that addresses choose.
#[cfg(not(target_arch = "nvptx64"))]
fn fractional<P: PolicyPriority>(fraction: f32) -> u64 {
    const BY_ADDRESS: u64 = 2 << 59;
    // What `ptxas` computes: 0.5 is eight sixteenths, and so is 0.5003.
    let sixteenths_less_one = (fraction * 15.99) as u64;
    BY_ADDRESS | P::BITS << 57 | sixteenths_less_one.min(15) << 52
}
