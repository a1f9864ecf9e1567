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
        $(impl_shared_access! { @$width ($t) $ty $class $r $registers })*
    };
    (@wide $($element:tt)*) => {};
    (@$width:ident ($t:ty) [$($ty:literal)*] $class:ident $r:ident
        {$X:ident $value:literal [$($d:ident . $i:tt)*] $($open:literal $pack:literal $unpack:literal $close:literal)?}) => {
        impl SharedAccess for $t {
            #[inline(always)]
            unsafe fn load_shared(p: Address) -> Self {
                let mut d: $X<Unset<$r>> = uninit();
                // SAFETY: the caller promises a readable, aligned address; the registers hold the whole value.
                unsafe {
                    __instruction! { pure [$($open,)?] ["ld.shared"] [$($ty,)* " ", $value, ", [{p}];", $($unpack, $close,)?]
                        ($($d = out($class) d.$i,)* p = in(reg32) p,)
                    }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn load_shared_if(cond: bool, p: Address, or: Self) -> Self {
                let mut d: $X<Unset<$r>> = same_bits(or);
                // SAFETY: as for `load_shared`, where `cond` is true; else nothing is accessed.
                unsafe {
                    __instruction! { pure
                        [$($open, $pack,)? __predicate!(before @),]
                        ["ld.shared"] [$($ty,)* " ", $value, ", [{p}];", __predicate!(after @), $($unpack, $close,)?]
                        ($($d = inout($class) d.$i,)* p = in(reg32) p, cond = in(reg32) cond as u32,)
                    }
                }
                same_bits(d)
            }
            #[inline(always)]
            unsafe fn store_shared(p: Address, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: the caller promises a writable, aligned address; the registers hold the whole value.
                unsafe {
                    __instruction! { memory [$($open, $pack,)?] ["st.shared"] [$($ty,)* " [{p}], ", $value, ";", $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg32) p,)
                    }
                }
            }
            #[inline(always)]
            unsafe fn store_shared_if(cond: bool, p: Address, value: Self) {
                let d: $X<$r> = same_bits(value);
                // SAFETY: as for `store_shared`, where `cond` is true; else nothing is accessed.
                unsafe {
                    __instruction! { memory
                        [$($open, $pack,)? __predicate!(before @),]
                        ["st.shared"] [$($ty,)* " [{p}], ", $value, ";", __predicate!(after @), $($close,)?]
                        ($($d = in($class) d.$i,)* p = in(reg32) p, cond = in(reg32) cond as u32,)
                    }
                }
            }
        }
    };
}

#[cfg(ptx_device)]
for_each_element! { impl_shared_access () }
