//! `cvta`: the generic address of one in a state space, and the other way round.

use crate::qualifier::target::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::catalogue::{Signature, Single};

/// Each space: PTX's word, what it is, the functions from it and to it, what they need.
macro_rules! cvta {
    ($($word:literal $what:literal $cvta:ident $cvta_to:ident $sm:ident $isa:ident;)*) => {
        gated! { $($cvta $cvta_to)* }

        $(
            #[doc = concat!("The generic address of `address`, which is one in ", $what, ".")]
            ///
            #[doc = concat!("PTX: `cvta", $word, ".u64 p, address;`. Needs ", stringify!($sm), " and ", stringify!($isa), ". Off the GPU there is one kind of address.")]
            ///
            #[doc = isa_link!("cvta" "data-movement-and-conversion-instructions-cvta")]
            #[doc(alias = "cvta")]
            #[inline(always)]
            pub fn $cvta<T>(address: u64) -> *mut T
            where
                $sm: HasSm<$cvta, T>,
                $isa: HasPtx<$cvta, T>,
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
            #[doc = concat!("PTX: `cvta.to", $word, ".u64 address, p;`. Needs ", stringify!($sm), " and ", stringify!($isa), ". Off the GPU there is one kind of address.")]
            ///
            #[doc = isa_link!("cvta" "data-movement-and-conversion-instructions-cvta")]
            #[doc(alias = "cvta.to")]
            #[inline(always)]
            pub fn $cvta_to<T>(p: *const T) -> u64
            where
                $sm: HasSm<$cvta_to, T>,
                $isa: HasPtx<$cvta_to, T>,
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
            Single::new::<$sm, $isa>(
                "cvta",
                concat!(stringify!($cvta), "::<u8>(address)"),
                concat!("cvta", $word, ".u64"),
                Signature { parameters: "address: u64", result: Some("*mut u8"), operands: "%, %" },
            ),
            Single::new::<$sm, $isa>(
                "cvta",
                concat!(stringify!($cvta_to), "(p)"),
                concat!("cvta.to", $word, ".u64"),
                Signature { parameters: "p: *const u8", result: Some("u64"), operands: "%, %" },
            ),
        )*];
    };
}
cvta! {
    ".const" "a constant bank" cvta_const cvta_to_const sm_20 ptx31;
    ".global" "global memory" cvta_global cvta_to_global sm_20 ptx20;
    ".local" "the thread's own memory" cvta_local cvta_to_local sm_20 ptx20;
    ".shared" "this block's shared memory" cvta_shared cvta_to_shared sm_20 ptx20;
    ".shared::cta" "this block's shared memory" cvta_shared_cta cvta_to_shared_cta sm_30 ptx78;
    ".shared::cluster" "the cluster's shared memory" cvta_shared_cluster cvta_to_shared_cluster sm_90 ptx78;
    ".param" "the kernel's parameters" cvta_param cvta_to_param sm_70 ptx77;
    ".param::entry" "the kernel's parameters" cvta_param_entry cvta_to_param_entry sm_70 ptx83;
}
