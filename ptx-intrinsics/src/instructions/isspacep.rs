//! `isspacep`: whether a generic address is in a state space.

use crate::isa::gate::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// Each space: PTX's word, what it is, the function, what it needs, and whether a CPU's addresses are in it.
macro_rules! isspacep {
    ($($word:literal $what:literal $isspacep:ident $gate:ident $host:literal;)*) => {
        gated! { $($isspacep)* }

        $(
            #[doc = concat!("Whether the generic address `p` is in ", $what, ".")]
            ///
            #[doc = concat!("PTX: `isspacep", $word, " is, p;`. ", needs!($gate), " Off the GPU all memory counts as global.")]
            ///
            #[doc = isa_link!("isspacep" "data-movement-and-conversion-instructions-isspacep")]
            #[doc(alias = "isspacep")]
            #[inline(always)]
            pub fn $isspacep<T>(p: *const T) -> bool
            where
                $gate: OnTarget<$isspacep, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                {
                    let is: u32;
                    compute! {
                        ["{{\n.reg .pred %done;\nisspacep", $word, " %done, {p};\nselp.u32 {is}, 1, 0, %done;\n}}"]
                        p = in(reg64) p, is = out(reg32) is,
                    }
                    is != 0
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    let _ = p;
                    $host
                }
            }
        )*

        /// Every `isspacep`.
        #[cfg(not(target_arch = "nvptx64"))]
        pub(crate) const SINGLES: &[Single] = &[$(
            Single::gated::<$gate>(
                "isspacep",
                concat!(stringify!($isspacep), "(p)"),
                concat!("isspacep", $word),
                Signature { parameters: "p: *const u8", result: Some("bool"), operands: "%done, %" },
            ),
        )*];
    };
}
isspacep! {
    ".const" "a constant bank" isspacep_const ConstAddresses false;
    ".global" "global memory" isspacep_global Always true;
    ".local" "the thread's own memory" isspacep_local Always false;
    ".shared" "this block's shared memory" isspacep_shared Always false;
    ".shared::cta" "this block's shared memory" isspacep_shared_cta SharedCta false;
    ".shared::cluster" "the cluster's shared memory" isspacep_shared_cluster Clusters false;
    ".param" "the kernel's parameters" isspacep_param ParamAddresses false;
    ".param::entry" "the kernel's parameters" isspacep_param_entry EntryParams false;
}
