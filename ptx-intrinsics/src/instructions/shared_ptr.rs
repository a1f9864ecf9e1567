//! [`SharedPtr`]: a pointer to shared memory as the instruction takes it.

use core::fmt;
use core::marker::PhantomData;

use crate::emit::registers::same_bits;
pub(crate) use crate::emit::shared::Address;
use crate::emit::shared::SharedAccess;
use crate::instructions::bounds::SharedElement;
use crate::isa::gate::*;

/// A pointer to shared memory of this block, converted once: 32 bits.
///
/// [`ld_shared`](crate::ld_shared) and [`st_shared`](crate::st_shared) take Rust's own pointers, and convert one at each
/// access. From sm_90 on this is not free: `ptxas` keeps every `p.add(4)` as a 64-bit addition. Here additions have 32 bits,
/// and constants go into the instruction: `LDS R0, [R1+0x10]`.
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// let mut tile = [0.0f32, 1.0, 2.0, 3.0];
/// let tile = SharedPtr::new(tile.as_mut_ptr());
/// // ld.shared.f32 and st.shared.f32
/// let sum = unsafe { tile.read() + tile.add(3).read() };
/// unsafe { tile.add(1).write(sum) };
/// assert_eq!(unsafe { tile.add(1).read() }, 3.0);
/// ```
///
/// Its accesses are weak. Minimum target: sm_20 and PTX ISA 2.0; more for some types.
#[repr(transparent)]
pub struct SharedPtr<T> {
    address: Address,
    of: PhantomData<*mut T>,
}

#[allow(clippy::should_implement_trait, reason = "`add` and `sub` are named as those of Rust's pointers")]
impl<T> SharedPtr<T> {
    /// The place in shared memory that `p` points at: `cvta.to.shared.u64`.
    ///
    /// `p` is a pointer to shared memory of this block, generic as all Rust pointers; of another one nothing can be read.
    #[doc(alias = "cvta.to.shared")]
    #[inline(always)]
    pub fn new(p: *mut T) -> Self {
        Self::at(address(p))
    }

    /// The place at an address in shared memory, such as `mov.u32 address, variable;` gives. On the GPU alone.
    #[cfg(ptx_device)]
    #[inline(always)]
    pub const fn from_address(address: u32) -> Self {
        Self::at(address)
    }

    /// The place `count` elements further on. It may lie outside of what is shared, but then nothing is read there.
    #[inline(always)]
    pub fn add(self, count: impl Elements) -> Self {
        Self::at(forward(self.address, count.number().wrapping_mul(size_of::<T>() as u32)))
    }

    /// The place `count` elements before.
    #[inline(always)]
    pub fn sub(self, count: impl Elements) -> Self {
        Self::at(backward(self.address, count.number().wrapping_mul(size_of::<T>() as u32)))
    }

    /// The same place as one of another type.
    #[inline(always)]
    pub const fn cast<U>(self) -> SharedPtr<U> {
        SharedPtr::at(self.address)
    }

    #[inline(always)]
    const fn at(address: Address) -> Self {
        SharedPtr { address, of: PhantomData }
    }

    /// What the instruction takes.
    #[inline(always)]
    pub(crate) const fn address(self) -> Address {
        self.address
    }
}

/// How many elements [`SharedPtr::add`] and [`SharedPtr::sub`] count: a `u32`, since an address in shared memory has 32 bits.
#[diagnostic::on_unimplemented(
    message = "a `SharedPtr` counts its elements in `u32`, and this is a `{Self}`",
    label = "expected `u32`",
    note = "write `count as u32`: an address in shared memory has 32 bits"
)]
pub trait Elements: sealed::Counts {
    #[doc(hidden)]
    fn number(self) -> u32;
}
#[diagnostic::do_not_recommend]
impl Elements for u32 {
    #[inline(always)]
    fn number(self) -> u32 {
        self
    }
}

/// A pointer to shared memory of a block of this cluster, converted once: 32 bits.
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// let mut tile = [0.0f32; 4];
/// let own = SharedPtr::new(tile.as_mut_ptr());
/// // This block is one of the cluster's too.
/// let theirs = SharedClusterPtr::of(own);
/// # let _ = theirs;
/// ```
///
/// What copies between blocks and signals barriers of others takes it; [`ld_shared_cluster`](crate::ld_shared_cluster) and
/// [`st_shared_cluster`](crate::st_shared_cluster) read and write through pointers.
///
#[doc = needs!(Clusters)]
#[repr(transparent)]
pub struct SharedClusterPtr<T> {
    address: Address,
    of: PhantomData<*mut T>,
}

impl<T> SharedClusterPtr<T> {
    /// The place in the cluster's shared memory that `p` points at: `cvta.to.shared::cluster.u64`.
    ///
    /// `p` is a generic pointer to shared memory of a block of this cluster, such as [`mapa`](crate::mapa()) gives.
    #[doc(alias = "cvta.to.shared::cluster")]
    #[inline(always)]
    pub fn new(p: *mut T) -> Self
    where
        Clusters: OnTarget<SharedClusterPtr<T>, T>,
    {
        Self { address: cluster_address(p), of: PhantomData }
    }

    /// The place in this block's shared memory, seen as one of the cluster's: the same address.
    #[inline(always)]
    pub const fn of(own: SharedPtr<T>) -> Self
    where
        Clusters: OnTarget<SharedClusterPtr<T>, T>,
    {
        Self { address: own.address, of: PhantomData }
    }

    /// The place at an address in the cluster's shared memory. On the GPU alone.
    #[cfg(ptx_device)]
    #[inline(always)]
    pub const fn from_address(address: u32) -> Self {
        Self { address, of: PhantomData }
    }

    /// Without the gate, on a CPU: for what has one of its own.
    #[cfg(not(ptx_device))]
    #[inline(always)]
    pub(crate) const fn at(address: Address) -> Self {
        Self { address, of: PhantomData }
    }

    /// The same place as one of another type.
    #[inline(always)]
    pub const fn cast<U>(self) -> SharedClusterPtr<U> {
        SharedClusterPtr { address: self.address, of: PhantomData }
    }
}

/// A place in the shared memory of a block of this cluster: [`SharedClusterPtr`], or [`SharedPtr`], which points into
/// this block's.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address in the shared memory of a cluster",
    label = "takes a `SharedClusterPtr` or a `SharedPtr`",
    note = "`SharedPtr::new(p)` makes one from a pointer to this block's shared memory, `SharedClusterPtr::new(p)` from a pointer to another block's"
)]
pub trait InCluster<T>: Copy + sealed::Sealed {
    /// What the instruction takes.
    #[doc(hidden)]
    fn cluster_address(self) -> Address;
}

/// What [`ptx!`](crate::ptx) takes as an address in this block's shared memory: a [`SharedPtr`], or a pointer, which is
/// converted.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address in this block's shared memory",
    label = "takes a `SharedPtr`, or a pointer to shared memory",
    note = "`SharedPtr::new(p)` makes one from a pointer to this block's shared memory"
)]
pub trait InShared: sealed::Sealed {
    /// What is there.
    type Of;
    #[doc(hidden)]
    fn in_shared(self) -> SharedPtr<Self::Of>;
}

/// What [`ptx!`](crate::ptx) takes as an address in the cluster's shared memory: a [`SharedClusterPtr`] or a [`SharedPtr`],
/// or a pointer, which is converted.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address in the shared memory of a cluster",
    label = "takes a `SharedClusterPtr`, a `SharedPtr`, or a pointer to shared memory of the cluster",
    note = "`SharedClusterPtr::new(p)` makes one from a pointer to another block's shared memory"
)]
pub trait InSharedCluster: sealed::Sealed {
    /// What is there.
    type Of;
    #[doc(hidden)]
    fn in_shared_cluster(self) -> SharedClusterPtr<Self::Of>;
}

/// An address in shared memory where [`ptx!`](crate::ptx) may write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer to writable memory",
    label = "takes a `*mut` pointer, a `&mut` reference or a pointer to shared memory"
)]
pub trait Writable: sealed::Sealed {}
impl<T> Writable for *mut T {}
impl<T> Writable for &mut T {}
impl<T> Writable for SharedPtr<T> {}
impl<T> Writable for SharedClusterPtr<T> {}

/// Addresses in this block's shared memory and in the cluster's, each with what it is in either.
macro_rules! addresses {
    ($trait:ident $method:ident $space:ident: $($p:ident $address:ty, $in_space:expr;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T> $trait for $address {
            type Of = T;
            #[inline(always)]
            fn $method(self) -> $space<T> {
                let $p = self;
                $space { address: $in_space, of: PhantomData }
            }
        }
    )* };
}
addresses! { InShared in_shared SharedPtr:
    p SharedPtr<T>, p.address;
    p *mut T, address(p);
    p &mut T, address(p);
    p *const T, address(p.cast_mut());
    p &T, address((&raw const *p).cast_mut());
}
addresses! { InSharedCluster in_shared_cluster SharedClusterPtr:
    p SharedClusterPtr<T>, p.address;
    p SharedPtr<T>, p.address;
    p *mut T, cluster_address(p);
    p &mut T, cluster_address(p);
    p *const T, cluster_address(p.cast_mut());
    p &T, cluster_address((&raw const *p).cast_mut());
}

mod sealed {
    pub trait Counts {}
    impl Counts for u32 {}
    pub trait Sealed {}
    impl<T> Sealed for *mut T {}
    impl<T> Sealed for *const T {}
    impl<T> Sealed for &mut T {}
    impl<T> Sealed for &T {}
    impl<T> Sealed for super::SharedPtr<T> {}
    impl<T> Sealed for super::SharedClusterPtr<T> {}
}

#[diagnostic::do_not_recommend]
impl<T> InCluster<T> for SharedPtr<T> {
    #[inline(always)]
    fn cluster_address(self) -> Address {
        self.address
    }
}

#[diagnostic::do_not_recommend]
impl<T> InCluster<T> for SharedClusterPtr<T> {
    #[inline(always)]
    fn cluster_address(self) -> Address {
        self.address
    }
}

impl<T> Clone for SharedClusterPtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedClusterPtr<T> {}

impl<T> fmt::Debug for SharedClusterPtr<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("SharedClusterPtr").field(&self.address).finish()
    }
}

impl<T> SharedPtr<T> {
    /// Reads the value: `ld.shared{.vec}.type d, [p];`. It may be merged, moved or dropped, as any read.
    ///
    /// # Safety
    /// This points at an initialised `T` in shared memory of this block, aligned to the size of `T`, that no other thread
    /// writes at the same time.
    #[doc(alias = "ld.shared")]
    #[inline(always)]
    pub unsafe fn read(self) -> T
    where
        T: SharedElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        same_bits(unsafe { T::Ptx::load_shared(self.address) })
    }

    /// Reads the value where `cond` is true, else gives `or`: `@cond ld.shared{.vec}.type d, [p];`.
    ///
    /// # Safety
    /// If `cond` is true: as for [`read`](Self::read).
    #[inline(always)]
    pub unsafe fn read_if(self, cond: bool, or: T) -> T
    where
        T: SharedElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        same_bits(unsafe { T::Ptx::load_shared_if(cond, self.address, same_bits(or)) })
    }

    /// Writes `value`: `st.shared{.vec}.type [p], value;`.
    ///
    /// # Safety
    /// This points at a `T` in shared memory of this block, aligned to the size of `T`, that no other thread reads or
    /// writes at the same time.
    #[doc(alias = "st.shared")]
    #[inline(always)]
    pub unsafe fn write(self, value: T)
    where
        T: SharedElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_shared(self.address, same_bits(value)) }
    }

    /// Writes `value` where `cond` is true: `@cond st.shared{.vec}.type [p], value;`.
    ///
    /// # Safety
    /// If `cond` is true: as for [`write`](Self::write).
    #[inline(always)]
    pub unsafe fn write_if(self, cond: bool, value: T)
    where
        T: SharedElement,
    {
        // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
        unsafe { T::Ptx::store_shared_if(cond, self.address, same_bits(value)) }
    }
}

impl<T> Clone for SharedPtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPtr<T> {}

impl<T> fmt::Debug for SharedPtr<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("SharedPtr").field(&self.address).finish()
    }
}

#[cfg(ptx_device)]
#[inline(always)]
fn address<T>(p: *mut T) -> Address {
    let address: u64;
    // SAFETY: it makes a number of numbers.
    unsafe {
        compute! { ["cvta.to.shared.u64 {address}, {p};"] address = out(reg64) address, p = in(reg64) p, }
    }
    address as Address
}

#[cfg(ptx_device)]
#[inline(always)]
fn cluster_address<T>(p: *mut T) -> Address {
    let address: u64;
    // SAFETY: it makes a number of numbers.
    unsafe {
        compute! { ["cvta.to.shared::cluster.u64 {address}, {p};"] address = out(reg64) address, p = in(reg64) p, }
    }
    address as Address
}

#[cfg(not(ptx_device))]
fn cluster_address<T>(p: *mut T) -> Address {
    p.cast()
}

#[cfg(ptx_device)]
#[inline(always)]
const fn forward(from: Address, bytes: u32) -> Address {
    from.wrapping_add(bytes)
}

#[cfg(ptx_device)]
#[inline(always)]
const fn backward(from: Address, bytes: u32) -> Address {
    from.wrapping_sub(bytes)
}

#[cfg(not(ptx_device))]
fn address<T>(p: *mut T) -> Address {
    p.cast()
}

#[cfg(not(ptx_device))]
fn forward(from: Address, bytes: u32) -> Address {
    from.wrapping_byte_add(bytes as usize)
}

#[cfg(not(ptx_device))]
fn backward(from: Address, bytes: u32) -> Address {
    from.wrapping_byte_sub(bytes as usize)
}
