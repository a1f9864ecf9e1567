//! The bounds of generic kernels: one for each kind of memory.

use super::ld::LdGlobal;
use super::ld_global_nc::LdGlobalNc;
use super::shared_ptr::SharedAccess;
use super::st::StGlobal;
use crate::emit::access::{Load, Store};
use crate::isa::element::{Element, PtxType};
use crate::isa::gate::OnTarget;
use crate::isa::space::{Fits, Shared};

/// A type that this build can load from global memory and store there: the one bound that a generic kernel needs.
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// unsafe fn copy<T: GlobalElement>(from: *const T, to: *mut T) {
///     unsafe { st_global::<Cs>().write(to, ld_global_nc::<EvictFirst, NoPrefetch>().read(from)) }
/// }
///
/// let (from, mut to) = (V4::new([1.0f32, 2.0, 3.0, 4.0]), V4::default());
/// unsafe { copy(&from, &mut to) };
/// assert_eq!(to, from);
/// ```
///
/// Every [`Element`] that the target has is one; the trait cannot be implemented elsewhere.
pub trait GlobalElement:
    Element<Ptx: Load<LdGlobal> + Load<LdGlobalNc> + Store<StGlobal> + PtxType<Gate: OnTarget<Self>>>
{
}
#[diagnostic::do_not_recommend]
impl<T> GlobalElement for T where
    T: Element<Ptx: Load<LdGlobal> + Load<LdGlobalNc> + Store<StGlobal> + PtxType<Gate: OnTarget<T>>>
{
}

/// A type that this build can load from shared memory and store there through a [`SharedPtr`](crate::SharedPtr).
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// unsafe fn swap<T: SharedElement>(a: SharedPtr<T>, b: SharedPtr<T>) {
///     unsafe {
///         let first = a.read();
///         a.write(b.read());
///         b.write(first);
///     }
/// }
///
/// let mut pair = [1u32, 2];
/// let first = SharedPtr::new(pair.as_mut_ptr());
/// unsafe { swap(first, first.add(1)) };
/// assert_eq!(pair, [2, 1]);
/// ```
///
/// Every [`Element`] of up to 128 bits that the target has is one; the trait cannot be implemented elsewhere.
pub trait SharedElement: Element<Ptx: SharedAccess + Fits<Shared> + PtxType<Gate: OnTarget<Self>>> {}
#[diagnostic::do_not_recommend]
impl<T> SharedElement for T where T: Element<Ptx: SharedAccess + Fits<Shared> + PtxType<Gate: OnTarget<T>>> {}
