//! What `ptx!` calls: types of pointers and values are held together, and values become registers.

#[cfg(not(ptx_device))]
use crate::cpu;
use crate::emit::registers::same_bits;
#[cfg(not(ptx_device))]
use crate::grammar::access::Spelling;
use crate::instructions::shared_ptr::{InCluster, InShared, InSharedCluster, SharedClusterPtr, SharedPtr, Writable};
use crate::isa::element::*;
#[cfg(not(ptx_device))]
use crate::isa::order::{Meaning, OrderWord};

/// The source of a load, which points to what is moved as a `P`.
///
/// # Safety
/// As for the instruction that the words spell. It is the one call of [`ptx!`](crate::ptx) that is not in an `unsafe` block of its own.
#[inline(always)]
pub const unsafe fn load_from<T: Element + MovedAs<P>, P>(p: *const T) -> *const T {
    p
}

/// The destination of a store, which points to what is moved as a `P`.
///
/// # Safety
/// As for [`load_from`].
#[inline(always)]
pub const unsafe fn store_to<T: Element + MovedAs<P>, P>(p: *mut T) -> *mut T {
    p
}

/// The source of a load from this block's shared memory.
///
/// # Safety
/// As for [`load_from`].
#[inline(always)]
pub unsafe fn load_from_shared<P: InShared<Of: Element + MovedAs<T>>, T>(p: P) -> SharedPtr<P::Of> {
    p.in_shared()
}

/// The source of a load from the cluster's shared memory.
///
/// # Safety
/// As for [`load_from`].
#[inline(always)]
pub unsafe fn load_from_shared_cluster<P: InSharedCluster<Of: Element + MovedAs<T>>, T>(
    p: P,
) -> SharedClusterPtr<P::Of> {
    p.in_shared_cluster()
}

/// The destination of a store to this block's shared memory, or of an atomic there.
///
/// # Safety
/// As for [`load_from`].
#[inline(always)]
pub unsafe fn store_to_shared<P: InShared<Of: MovedAs<T>> + Writable, T>(p: P) -> SharedPtr<P::Of> {
    p.in_shared()
}

/// The destination of a store to the cluster's shared memory, or of an atomic there.
///
/// # Safety
/// As for [`load_from`].
#[inline(always)]
pub unsafe fn store_to_shared_cluster<P: InSharedCluster<Of: MovedAs<T>> + Writable, T>(
    p: P,
) -> SharedClusterPtr<P::Of> {
    p.in_shared_cluster()
}

/// The place of an access with an illegal spelling, which was rejected before.
///
/// # Safety
/// None is needed. It is unsafe as an access is, so that the author's `unsafe` is not called superfluous.
#[inline]
pub const unsafe fn refused() -> ! {
    panic!("an illegal spelling")
}

/// What the instruction takes as its address in shared memory.
#[cfg(ptx_device)]
#[inline(always)]
pub fn shared_address<T>(p: impl InCluster<T>) -> u32 {
    p.cluster_address()
}

/// On a CPU: the pointer that an address in shared memory is.
#[cfg(not(ptx_device))]
#[inline(always)]
pub fn shared_pointer<T>(p: impl InCluster<T>) -> *mut T {
    p.cluster_address().cast()
}

mod sealed {
    pub trait Sealed {}
}

/// A pointer to a `T`.
pub trait PointsTo<T>: Copy + sealed::Sealed {}
impl<T> sealed::Sealed for *const T {}
impl<T> sealed::Sealed for *mut T {}
impl<T> sealed::Sealed for SharedPtr<T> {}
impl<T> sealed::Sealed for SharedClusterPtr<T> {}
impl<T> PointsTo<T> for *const T {}
impl<T> PointsTo<T> for *mut T {}
impl<T> PointsTo<T> for SharedPtr<T> {}
impl<T> PointsTo<T> for SharedClusterPtr<T> {}

/// A value of the type that `p` points to.
#[inline(always)]
pub const fn like<T>(_: impl PointsTo<T>, value: T) -> T {
    value
}

/// What a load gives that did not happen, where the author said `else _`.
///
/// # Safety
/// Every bit pattern is a `T`, as of all that is moved.
#[cfg(not(ptx_device))]
pub const unsafe fn unset<T: Copy>(_: impl PointsTo<T>) -> T {
    // SAFETY: the caller's promise.
    unsafe { core::mem::zeroed() }
}

/// Registers with nothing in them.
///
/// # Safety
/// `D` need not be initialised.
#[cfg(ptx_device)]
#[inline(always)]
pub const unsafe fn registers<D: Copy>() -> D {
    crate::emit::registers::uninit()
}

/// The registers of a value.
///
/// # Safety
/// Every bit pattern is a `D`.
#[inline(always)]
pub const unsafe fn registers_of<T: Copy, D: Copy>(value: T) -> D {
    same_bits(value)
}

/// The value that was loaded from `p`, out of its registers.
///
/// # Safety
/// The registers are initialised, and hold a `T`.
#[inline(always)]
pub const unsafe fn value<T: Copy, D: Copy>(_: impl PointsTo<T>, registers: D) -> T {
    same_bits(registers)
}

/// The vector of these lanes.
#[inline(always)]
pub const fn vector_of<T: Element, const LANES: usize>(_: impl PointsTo<T>, lanes: [Lane<T>; LANES]) -> T {
    same_bits(lanes)
}

/// A lane of a `T`.
pub type Lane<T> = <<T as Element>::Ptx as PtxType>::Register;

/// A vector, and what its lanes are.
#[diagnostic::on_unimplemented(message = "a `{Self}` has no lanes: only a 256-bit vector leaves some out")]
pub trait Vector: Element {
    /// The type of an element.
    type Element: Copy;
}
impl<T: Scalar> Vector for V4<T>
where
    Self: Element,
{
    type Element = T;
}
impl<T: Scalar> Vector for V8<T>
where
    Self: Element,
{
    type Element = T;
}

/// An element of the vector at `p`, as the register that holds it.
#[inline(always)]
pub const fn lane<T: Vector>(_: impl PointsTo<T>, value: T::Element) -> Lane<T> {
    same_bits(value)
}

/// What the words mean on a CPU; they were checked before.
#[cfg(not(ptx_device))]
pub const fn meaning(text: &'static str) -> Meaning {
    match Spelling::read(text) {
        Ok(spelling) => OrderWord::on_cpu(spelling.order),
        Err(_) => Meaning::Plain,
    }
}

/// On a CPU: a load.
///
/// # Safety
/// As for the instruction that the words spell.
#[cfg(not(ptx_device))]
#[inline]
pub unsafe fn load<T: Element>(meaning: Meaning, p: *const T) -> T {
    // SAFETY: the caller's promise.
    same_bits(unsafe { cpu::load(meaning, p as *const T::Ptx) })
}

/// On a CPU: a load of some lanes; the others are zero.
///
/// # Safety
/// As for the instruction that the words spell.
#[cfg(not(ptx_device))]
pub unsafe fn load_lanes<T: Element>(meaning: Meaning, p: *const T, lanes: &[bool]) -> T
where
    Lane<T>: PtxType,
{
    // SAFETY: all zeroes are a value of every number and vector of numbers.
    let mut value: T = unsafe { core::mem::zeroed() };
    for (at, _) in lanes.iter().enumerate().filter(|(_, named)| **named) {
        // SAFETY: the lane is a part of what the caller promises.
        unsafe { (&raw mut value).cast::<Lane<T>>().add(at).write(cpu::load(meaning, p.cast::<Lane<T>>().add(at))) };
    }
    value
}

/// On a CPU: a store.
///
/// # Safety
/// As for the instruction that the words spell.
#[cfg(not(ptx_device))]
#[inline]
pub unsafe fn store<T: Element>(meaning: Meaning, p: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { cpu::store(meaning, p as *mut T::Ptx, same_bits(value)) };
}

/// On a CPU: a store of some lanes.
///
/// # Safety
/// As for the instruction that the words spell.
#[cfg(not(ptx_device))]
pub unsafe fn store_lanes<T: Element>(meaning: Meaning, p: *mut T, lanes: &[Option<Lane<T>>])
where
    Lane<T>: PtxType,
{
    for (at, lane) in lanes.iter().enumerate() {
        if let Some(value) = lane {
            // SAFETY: the lane is a part of what the caller promises.
            unsafe { cpu::store(meaning, p.cast::<Lane<T>>().add(at), *value) };
        }
    }
}
