//! `isspacep`: whether a generic address is in a state space.

use crate::qualifier::target::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::catalogue::{Signature, Single};

/// Each space: PTX's word, what it is, the function, what it needs, and whether a CPU's addresses are in it.
macro_rules! isspacep {
    ($($word:literal $what:literal $isspacep:ident $sm:ident $isa:ident $host:literal;)*) => {
        gated! { $($isspacep)* }

        $(
            #[doc = concat!("Whether the generic address `p` is in ", $what, ".")]
            ///
            #[doc = concat!("PTX: `isspacep", $word, " is, p;`. Needs ", stringify!($sm), " and ", stringify!($isa), ". Off the GPU all memory counts as global.")]
            ///
            #[doc = isa_link!("isspacep" "data-movement-and-conversion-instructions-isspacep")]
            #[doc(alias = "isspacep")]
            #[inline(always)]
            pub fn $isspacep<T>(p: *const T) -> bool
            where
                $sm: HasSm<$isspacep, T>,
                $isa: HasPtx<$isspacep, T>,
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
            Single::new::<$sm, $isa>(
                "isspacep",
                concat!(stringify!($isspacep), "(p)"),
                concat!("isspacep", $word),
                Signature { parameters: "p: *const u8", result: Some("bool"), operands: "%done, %" },
            ),
        )*];
    };
}
isspacep! {
    ".const" "a constant bank" isspacep_const sm_20 ptx31 false;
    ".global" "global memory" isspacep_global sm_20 ptx20 true;
    ".local" "the thread's own memory" isspacep_local sm_20 ptx20 false;
    ".shared" "this block's shared memory" isspacep_shared sm_20 ptx20 false;
    ".shared::cta" "this block's shared memory" isspacep_shared_cta sm_30 ptx78 false;
    ".shared::cluster" "the cluster's shared memory" isspacep_shared_cluster sm_90 ptx78 false;
    ".param" "the kernel's parameters" isspacep_param sm_70 ptx77 false;
    ".param::entry" "the kernel's parameters" isspacep_param_entry sm_70 ptx83 false;
}
