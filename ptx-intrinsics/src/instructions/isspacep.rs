//! `isspacep`: whether a generic address is in a state space.

#[cfg(ptx_device)]
use crate::emit::registers::is_set;

/// Each space: what it is, what it needs, the function, PTX, and whether a CPU's addresses are in it.
macro_rules! isspacep {
    ($($what:literal $gate:ident: $isspacep:ident $ptx:literal $on_cpu:literal;)*) => {
        instructions! { SINGLES:
            instruction "isspacep", isa "data-movement-and-conversion-instructions-isspacep", effect compute, T = u8 { $(
                #[doc = concat!("Whether the generic address `p` is in ", $what, ". On a CPU all memory counts as global.")]
                #[doc(alias = "isspacep")]
                safe fn $isspacep<T>(p: *const T as reg64) -> (bool as is: reg32 => is_set(is)) {
                    ptx: $ptx -> "%done", p;
                    block: (done is);
                    needs: $gate;
                    cpu: $on_cpu;
                }
            )* }
        }
    };
}
isspacep! {
    "a constant bank" ConstAddresses: isspacep_const "isspacep.const" false;
    "global memory" Always: isspacep_global "isspacep.global" true;
    "the thread's own memory" Always: isspacep_local "isspacep.local" false;
    "this block's shared memory" Always: isspacep_shared "isspacep.shared" false;
    "this block's shared memory" SharedCta: isspacep_shared_cta "isspacep.shared::cta" false;
    "the cluster's shared memory" Clusters: isspacep_shared_cluster "isspacep.shared::cluster" false;
    "the kernel's parameters" ParamAddresses: isspacep_param "isspacep.param" false;
    "the kernel's parameters" EntryParams: isspacep_param_entry "isspacep.param::entry" false;
}
