//! `cvta`: the generic address of one in a state space, and the other way round.

use crate::isa::gate::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// Each space: PTX's word, what it is, the functions from it and to it, what they need.
macro_rules! cvta {
    ($($word:literal $what:literal $cvta:ident $cvta_to:ident $gate:ident;)*) => {
        gated! { $($cvta $cvta_to)* }

        $(
            #[doc = concat!("The generic address of `address`, which is one in ", $what, ".")]
            ///
            #[doc = concat!("PTX: `cvta", $word, ".u64 p, address;`. ", needs!($gate), " Off the GPU there is one kind of address.")]
            ///
            #[doc = isa_link!("cvta" "data-movement-and-conversion-instructions-cvta")]
            #[doc(alias = "cvta")]
            #[inline(always)]
            pub fn $cvta<T>(address: u64) -> *mut T
            where
                $gate: OnTarget<$cvta, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                {
                    let p: *mut T;
                    compute! { ["cvta", $word, ".u64 {p}, {address};"] p = out(reg64) p, address = in(reg64) address, }
                    p
                }
                #[cfg(not(target_arch = "nvptx64"))]
                core::ptr::with_exposed_provenance_mut(address as usize)
            }

            #[doc = concat!("The address in ", $what, " of `p`, a generic address of something there.")]
            ///
            #[doc = concat!("PTX: `cvta.to", $word, ".u64 address, p;`. ", needs!($gate), " Off the GPU there is one kind of address.")]
            ///
            #[doc = isa_link!("cvta" "data-movement-and-conversion-instructions-cvta")]
            #[doc(alias = "cvta.to")]
            #[inline(always)]
            pub fn $cvta_to<T>(p: *const T) -> u64
            where
                $gate: OnTarget<$cvta_to, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                {
                    let address: u64;
                    compute! { ["cvta.to", $word, ".u64 {address}, {p};"] p = in(reg64) p, address = out(reg64) address, }
                    address
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    p.expose_provenance() as u64
                }
            }
        )*

        /// Every `cvta`.
        #[cfg(not(target_arch = "nvptx64"))]
        pub(crate) const SINGLES: &[Single] = &[$(
            Single::gated::<$gate>(
                "cvta",
                concat!(stringify!($cvta), "::<u8>(address)"),
                concat!("cvta", $word, ".u64"),
                Signature { parameters: "address: u64", result: Some("*mut u8"), operands: "%, %" },
            ),
            Single::gated::<$gate>(
                "cvta",
                concat!(stringify!($cvta_to), "(p)"),
                concat!("cvta.to", $word, ".u64"),
                Signature { parameters: "p: *const u8", result: Some("u64"), operands: "%, %" },
            ),
        )*];
    };
}
cvta! {
    ".const" "a constant bank" cvta_const cvta_to_const ConstAddresses;
    ".global" "global memory" cvta_global cvta_to_global Always;
    ".local" "the thread's own memory" cvta_local cvta_to_local Always;
    ".shared" "this block's shared memory" cvta_shared cvta_to_shared Always;
    ".shared::cta" "this block's shared memory" cvta_shared_cta cvta_to_shared_cta SharedCta;
    ".shared::cluster" "the cluster's shared memory" cvta_shared_cluster cvta_to_shared_cluster Clusters;
    ".param" "the kernel's parameters" cvta_param cvta_to_param ParamAddresses;
    ".param::entry" "the kernel's parameters" cvta_param_entry cvta_to_param_entry EntryParams;
}
