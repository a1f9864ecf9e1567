//! `cvta`: the generic address of an address in a state space, and the opposite.

use super::shared_ptr::SharedPtr;

/// Each space: what it is, what it needs, and the function and PTX from it and to it.
macro_rules! cvta {
    ($($what:literal $gate:ident: $cvta:ident $ptx:literal, $cvta_to:ident $ptx_to:literal;)*) => {
        instructions! { SINGLES:
            instruction "cvta", isa "data-movement-and-conversion-instructions-cvta", effect compute, T = u8 { $(
                #[doc = concat!("The generic address of `address`, which is one in ", $what, ".")]
                /// On a CPU there is one kind of address.
                #[doc(alias = "cvta")]
                safe fn $cvta<T>(address: u64 as reg64) -> (*mut T as p: reg64) {
                    ptx: $ptx -> p, address;
                    needs: $gate;
                    cpu: core::ptr::with_exposed_provenance_mut(address as usize);
                }

                #[doc = concat!("The address in ", $what, " of `p`, a generic address of something there.")]
                /// On a CPU there is one kind of address.
                #[doc(alias = "cvta.to")]
                safe fn $cvta_to<T>(p: *const T as reg64) -> (u64 as address: reg64) {
                    ptx: $ptx_to -> address, p;
                    needs: $gate;
                    cpu: p.expose_provenance() as u64;
                }
            )* }
        }
    };
}
cvta! {
    "a constant bank" ConstAddresses: cvta_const "cvta.const.u64", cvta_to_const "cvta.to.const.u64";
    "global memory" Always: cvta_global "cvta.global.u64", cvta_to_global "cvta.to.global.u64";
    "the thread's own memory" Always: cvta_local "cvta.local.u64", cvta_to_local "cvta.to.local.u64";
    "this block's shared memory" Always: cvta_shared "cvta.shared.u64", cvta_to_shared "cvta.to.shared.u64";
    "this block's shared memory" SharedCta:
        cvta_shared_cta "cvta.shared::cta.u64", cvta_to_shared_cta "cvta.to.shared::cta.u64";
    "the cluster's shared memory" Clusters:
        cvta_shared_cluster "cvta.shared::cluster.u64", cvta_to_shared_cluster "cvta.to.shared::cluster.u64";
    "the kernel's parameters" ParamAddresses: cvta_param "cvta.param.u64", cvta_to_param "cvta.to.param.u64";
    "the kernel's parameters" EntryParams:
        cvta_param_entry "cvta.param::entry.u64", cvta_to_param_entry "cvta.to.param::entry.u64";
}

impl<T> SharedPtr<T> {
    /// The generic address of this place, which is a pointer as all others: `cvta.shared.u64`.
    ///
    /// ```
    /// use ptx_intrinsics::SharedPtr;
    ///
    /// let mut tile = [0.0f32; 4];
    /// let own = SharedPtr::new(tile.as_mut_ptr());
    /// assert_eq!(own.as_generic(), tile.as_mut_ptr());
    /// ```
    #[doc(alias = "cvta.shared")]
    #[inline(always)]
    pub fn as_generic(self) -> *mut T {
        #[cfg(ptx_device)]
        {
            cvta_shared(self.address().into())
        }
        #[cfg(not(ptx_device))]
        {
            self.address().cast()
        }
    }
}
