//! Accesses to shared memory at an address in it.

#[cfg(ptx_device)]
use super::registers::*;
use crate::isa::element::*;

/// What the instruction takes: on the GPU an address in the space.
#[cfg(ptx_device)]
pub(crate) type Address = u32;
#[cfg(not(ptx_device))]
pub(crate) type Address = *mut ();

/// The weak accesses to shared memory of this type, at an address in it.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, reason = "the public methods say it")]
pub trait SharedAccess: PtxType {
    unsafe fn load_shared(p: Address) -> Self;
    unsafe fn load_shared_if(cond: bool, p: Address, or: Self) -> Self;
    unsafe fn store_shared(p: Address, value: Self);
    unsafe fn store_shared_if(cond: bool, p: Address, value: Self);
}

/// `SharedAccess` for every element type of up to 128 bits.
#[cfg(ptx_device)]
macro_rules! impl_shared_access {
    (() $({($t:ty) $words:tt $ty:tt $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(impl_shared_access! { @$width ($t) ($ty $class $r $registers) })*
    };
    (@wide $($element:tt)*) => {};
    (@$width:ident ($t:ty) $element:tt) => {
        impl SharedAccess for $t {
            #[inline(always)]
            unsafe fn load_shared(p: Address) -> Self {
                access! { out [uninit()] $element [] (" " ", [{p}];") [] { only pure ["ld.shared"] } (p = in(reg32) p,) }
            }
            #[inline(always)]
            unsafe fn load_shared_if(cond: bool, p: Address, or: Self) -> Self {
                access! { @cond inout [same_bits(or)] $element [] (" " ", [{p}];") []
                    { only pure ["ld.shared"] } (p = in(reg32) p, cond = in(reg32) cond as u32,) }
            }
            #[inline(always)]
            unsafe fn store_shared(p: Address, value: Self) {
                access! { in [same_bits(value)] $element [] (" [{p}], " ";") [] { only memory ["st.shared"] } (p = in(reg32) p,) }
            }
            #[inline(always)]
            unsafe fn store_shared_if(cond: bool, p: Address, value: Self) {
                access! { @cond in [same_bits(value)] $element [] (" [{p}], " ";") []
                    { only memory ["st.shared"] } (p = in(reg32) p, cond = in(reg32) cond as u32,) }
            }
        }
    };
}

#[cfg(ptx_device)]
for_each_element! { impl_shared_access () }
