//! `cp.async.bulk`: copy many bytes at once between global and shared memory while the block goes on, or bring them into L2.

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::*;
use crate::isa::gate::*;
use crate::isa::policy::CachePolicy;

#[cfg(not(ptx_device))]
use crate::cpu::copy;

/// What the caller of a copy promises.
macro_rules! promise {
    () => {
        "All addresses are aligned to 16 bytes, but a barrier's to 8, and `size` is a multiple of 16. So many bytes are there \
        and may be read and written; nobody else writes what is read, or touches what is written, until the copy is waited \
        for. A barrier was initialised, and is told to expect as many bytes."
    };
}

instructions! { SINGLES:
    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk", effect message, T = u32 {
        /// Copies `size` bytes from global memory into shared memory of a block of this cluster, and tells the barrier there
        /// that the bytes have arrived.
        #[doc(alias = "cp.async.bulk")]
        #[doc(alias = "cp.async.bulk.shared")]
        #[doc(alias = "cp.async.bulk.shared::cluster.global")]
        #[doc(alias = "mbarrier::complete_tx::bytes")]
        unsafe fn cp_async_bulk_shared_cluster_global / cp_async_bulk_shared_cluster_global_with<T>(
            dst: impl InCluster<T> as reg32 = dst.cluster_address(),
            src: *const T as reg64,
            size: u32 as reg32,
            bar: impl InCluster<Mbarrier> as reg32 = bar.cluster_address(),
        ) {
            ptx: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" hint,
                [dst], [src], size, [bar], policy;
            needs: BulkCopies;
            safety: promise!();
            cpu: copy::copy_to(dst.cluster_address(), src.cast(), size, bar.cluster_address());
        }

        /// Copies `size` bytes from global memory into shared memory of each block of this cluster whose bit is set in
        /// `mask`, to the same place as `dst` in its block, and tells the barrier at the same place as `bar` there.
        ///
        /// `ptxas` advises sm_90a for it. On a CPU it panics, because there is only one block.
        #[doc(alias = "multicast::cluster")]
        unsafe fn cp_async_bulk_shared_cluster_global_multicast / cp_async_bulk_shared_cluster_global_multicast_with<T>(
            dst: impl InCluster<T> as reg32 = dst.cluster_address(),
            src: *const T as reg64,
            size: u32 as reg32,
            bar: impl InCluster<Mbarrier> as reg32 = bar.cluster_address(),
            mask: u16 as reg16,
        ) {
            ptx: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" hint,
                [dst], [src], size, [bar], mask, policy;
            needs: BulkCopies;
            safety: promise!();
            cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
        }

        /// Copies `size` bytes from global memory into this block's shared memory, and tells the barrier that the bytes have
        /// arrived. Before ptx86 [`cp_async_bulk_shared_cluster_global`] does it.
        #[doc(alias = "cp.async.bulk.shared")]
        #[doc(alias = "cp.async.bulk.shared::cta.global")]
        unsafe fn cp_async_bulk_shared_global / cp_async_bulk_shared_global_with<T>(
            dst: SharedPtr<T> as reg32 = dst.address(),
            src: *const T as reg64,
            size: u32 as reg32,
            bar: SharedPtr<Mbarrier> as reg32 = bar.address(),
        ) {
            ptx: "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes" hint, [dst], [src], size, [bar], policy;
            needs: BulkCopiesCta;
            safety: promise!();
            cpu: copy::copy_to(dst.address(), src.cast(), size, bar.address());
        }

        /// Copies `size` bytes from global memory into this block's shared memory, except for the first `left` and the last
        /// `right` bytes, up to 15 each. These are not read, and what is written in their place is undetermined. Tells the
        /// barrier that `size` bytes have arrived.
        unsafe fn cp_async_bulk_shared_global_ignore_oob / cp_async_bulk_shared_global_ignore_oob_with<T>(
            dst: SharedPtr<T> as reg32 = dst.address(),
            src: *const T as reg64,
            size: u32 as reg32,
            left: u32 as reg32,
            right: u32 as reg32,
            bar: SharedPtr<Mbarrier> as reg32 = bar.address(),
        ) {
            ptx: "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob" hint,
                [dst], [src], size, left, right, [bar], policy;
            needs: BulkCopyPart;
            safety: promise!();
            cpu: copy::copy_part(dst.address(), src.cast(), size, [left, right], bar.address());
        }

        /// Copies `size` bytes from this block's shared memory into global memory: one of a
        /// [group](cp_async_bulk_commit_group). What the block wrote there before is copied after
        /// `fence.proxy.async.shared::cta`.
        #[doc(alias = "cp.async.bulk.global")]
        #[doc(alias = "cp.async.bulk.global.shared::cta")]
        unsafe fn cp_async_bulk_global_shared / cp_async_bulk_global_shared_with<T>(
            dst: *mut T as reg64,
            src: SharedPtr<T> as reg32 = src.address(),
            size: u32 as reg32,
        ) {
            ptx: "cp.async.bulk.global.shared::cta.bulk_group" hint, [dst], [src], size, policy;
            needs: BulkCopies;
            safety: promise!();
            cpu: copy::copy(dst.cast(), src.address().cast(), size);
        }

        /// Copies bytes from this block's shared memory into global memory: of `size` bytes those whose bit is set in
        /// `mask`, where each bit is for one of every 16 bytes.
        unsafe fn cp_async_bulk_global_shared_cp_mask / cp_async_bulk_global_shared_cp_mask_with<T>(
            dst: *mut T as reg64,
            src: SharedPtr<T> as reg32 = src.address(),
            size: u32 as reg32,
            mask: u16 as reg16,
        ) {
            ptx: "cp.async.bulk.global.shared::cta.bulk_group" hint ".cp_mask", [dst], [src], size, policy, mask;
            needs: BulkCopyMask;
            safety: promise!();
            cpu: copy::copy_masked(dst.cast(), src.address().cast(), size, mask);
        }
    }

    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk-prefetch", effect message, T = u32 {
        /// Brings `size` bytes of global memory into L2. No wait is needed. On a CPU it does nothing.
        #[doc(alias = "cp.async.bulk.prefetch")]
        #[doc(alias = "cp.async.bulk.prefetch.L2")]
        #[doc = when_it_pays!(cp_async_bulk_prefetch_l2)]
        unsafe fn cp_async_bulk_prefetch_l2 / cp_async_bulk_prefetch_l2_with<T>(src: *const T as reg64, size: u32 as reg32) {
            ptx: "cp.async.bulk.prefetch.L2.global" hint, [src], size, policy;
            needs: BulkCopies;
            safety: "`src` is aligned to 16 bytes, `size` is a multiple of 16, and so many bytes may be read.";
            cpu: ();
        }
    }

    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk", effect message, T = u32 {
        /// Copies `size` bytes from this block's shared memory into that of another block of the cluster, and tells the
        /// barrier there that the bytes have arrived.
        #[doc(alias = "cp.async.bulk.shared::cluster.shared::cta")]
        unsafe fn cp_async_bulk_shared_cluster_shared<T>(
            dst: impl InCluster<T> as reg32 = dst.cluster_address(),
            src: SharedPtr<T> as reg32 = src.address(),
            size: u32 as reg32,
            bar: impl InCluster<Mbarrier> as reg32 = bar.cluster_address(),
        ) {
            ptx: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", [dst], [src], size, [bar];
            needs: BulkCopies;
            safety: "As for [`cp_async_bulk_shared_cluster_global`]; the barrier is in the block that is copied to.";
            cpu: copy::copy_to(dst.cluster_address(), src.address().cast(), size, bar.cluster_address());
        }
    }

    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk-commit-group", effect message, T = u32 {
        /// Makes a group of the copies to global memory that this thread has begun since the last one. On a CPU it does nothing.
        safe fn cp_async_bulk_commit_group() {
            ptx: "cp.async.bulk.commit_group";
            needs: BulkCopies;
            cpu: ();
        }
    }

    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk-wait-group", effect message, T = u32 {
        /// Waits until at most `N` of the newest groups of this thread are not yet in global memory. On a CPU it does
        /// nothing, because a copy is done at once.
        safe fn cp_async_bulk_wait_group[const N]() {
            ptx: "cp.async.bulk.wait_group", N;
            needs: BulkCopies;
            cpu: ();
        }

        /// Waits until at most `N` of the newest groups of this thread are not yet read: the shared memory of the others
        /// may be written again. On a CPU it does nothing, because a copy is done at once.
        safe fn cp_async_bulk_wait_group_read[const N]() {
            ptx: "cp.async.bulk.wait_group.read", N;
            needs: BulkCopies;
            cpu: ();
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Where in a tensor of one to five dimensions: `[x, y]`, the fastest dimension first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position in a tensor",
    label = "a tensor has one to five dimensions",
    note = "write an array of one to five `i32`"
)]
pub trait TensorCoordinates: Copy + sealed::Sealed {
    #[doc(hidden)]
    #[cfg(ptx_device)]
    unsafe fn prefetch(self, map: *const ());
    #[doc(hidden)]
    #[cfg(ptx_device)]
    unsafe fn prefetch_with(self, map: *const (), policy: CachePolicy);
}

/// Where in a tensor that is read as columns of an image: three to five dimensions, and as many offsets less two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position in a tensor of columns",
    label = "such a tensor has three to five dimensions",
    note = "write an array of three to five `i32`, and one of two fewer `u16`"
)]
pub trait Im2colCoordinates: TensorCoordinates {
    /// The offsets within the image: `[u16; 1]` to `[u16; 3]`.
    type Offsets: Copy;
    #[doc(hidden)]
    #[cfg(ptx_device)]
    unsafe fn prefetch_im2col(self, map: *const (), offsets: Self::Offsets);
    #[doc(hidden)]
    #[cfg(ptx_device)]
    unsafe fn prefetch_im2col_with(self, map: *const (), offsets: Self::Offsets, policy: CachePolicy);
}

/// A prefetch on a GPU, and its rows of the catalogue.
macro_rules! prefetch {
    ($manner:ident $self:ident $map:ident {$($at:ident),*} $ptx:tt $operands:tt $($register:tt)*) => {{
        let [$($at),*] = $self;
        emit! {
            message $manner [(); (_ => "" "", Always)] $ptx $operands ()
            (map = in(reg64) $map, $($at = in(reg32) $at,)* $($register)*)
        }
    }};
    (@rows $name:ident $name_with:ident $ptx:tt $operands:tt [$($parameter:expr),*]) => {
        &[
            prefetch! { @row PLAIN $name $ptx $operands [$($parameter),*] },
            prefetch! { @row WITH $name_with $ptx $operands [$($parameter,)* ("policy", "CachePolicy")] },
        ]
    };
    (@row $manner:ident $name:ident $ptx:tt $operands:tt [$($parameter:expr),*]) => {
        rows! {
            $manner [(); (_ => "" "", Always)] $ptx $operands Needs::of::<BulkCopies>(), {
                instruction: "cp.async.bulk.prefetch.tensor",
                section: "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor",
                name: stringify!($name),
                of: "u8",
                generic: "C",
                parameters: &[("map", "*const T"), $($parameter),*],
                result: None,
            }
        }
    };
}

/// Each number of dimensions: PTX and the coordinates; PTX, number and names of the offsets, where there are any.
macro_rules! dimensions {
    ($($n:literal $ptx:literal $at:tt $($m:literal $ptx_im2col:literal [$($offset:ident),*])?;)*) => {
        $(
            impl sealed::Sealed for [i32; $n] {}
            #[diagnostic::do_not_recommend]
            impl TensorCoordinates for [i32; $n] {
                #[cfg(ptx_device)]
                #[inline(always)]
                unsafe fn prefetch(self, map: *const ()) {
                    prefetch! { PLAIN self map $at [$ptx] [[map, $at]] }
                }
                #[cfg(ptx_device)]
                #[inline(always)]
                unsafe fn prefetch_with(self, map: *const (), policy: CachePolicy) {
                    prefetch! { WITH self map $at [$ptx hint] [[map, $at], policy] policy = in(reg64) policy.bits(), }
                }
            }
            $(
                #[diagnostic::do_not_recommend]
                impl Im2colCoordinates for [i32; $n] {
                    type Offsets = [u16; $m];
                    #[cfg(ptx_device)]
                    #[inline(always)]
                    unsafe fn prefetch_im2col(self, map: *const (), [$($offset),*]: [u16; $m]) {
                        prefetch! { PLAIN self map $at [$ptx_im2col] [[map, $at], {$($offset),*}] $($offset = in(reg16) $offset,)* }
                    }
                    #[cfg(ptx_device)]
                    #[inline(always)]
                    unsafe fn prefetch_im2col_with(self, map: *const (), [$($offset),*]: [u16; $m], policy: CachePolicy) {
                        prefetch! {
                            WITH self map $at [$ptx_im2col hint] [[map, $at], {$($offset),*}, policy]
                            $($offset = in(reg16) $offset,)* policy = in(reg64) policy.bits(),
                        }
                    }
                }
            )?
        )*

        /// The rows of the catalogue.
        #[cfg(not(ptx_device))]
        pub(crate) const TENSORS: crate::isa::row::Table = &[
            $(prefetch! {
                @rows cp_async_bulk_prefetch_tensor cp_async_bulk_prefetch_tensor_with
                [$ptx hint] [[map, $at], policy] [("coordinates", concat!("[i32; ", $n, "]"))]
            },)*
            $($(prefetch! {
                @rows cp_async_bulk_prefetch_tensor_im2col cp_async_bulk_prefetch_tensor_im2col_with
                [$ptx_im2col hint] [[map, $at], {$($offset),*}, policy]
                [("coordinates", concat!("[i32; ", $n, "]")), ("offsets", concat!("[u16; ", $m, "]"))]
            },)?)*
        ];
    };
}
dimensions! {
    1 "cp.async.bulk.prefetch.tensor.1d.L2.global" {a};
    2 "cp.async.bulk.prefetch.tensor.2d.L2.global" {a, b};
    3 "cp.async.bulk.prefetch.tensor.3d.L2.global" {a, b, c}
        1 "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col" [x];
    4 "cp.async.bulk.prefetch.tensor.4d.L2.global" {a, b, c, d}
        2 "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col" [x, y];
    5 "cp.async.bulk.prefetch.tensor.5d.L2.global" {a, b, c, d, e}
        3 "cp.async.bulk.prefetch.tensor.5d.L2.global.im2col" [x, y, z];
}

macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident $bound:ident $method:ident ($($offsets:ident: $type:ty)?) ($($policy:ident)?) $ptx:literal;)*) => { $(
        gated! { $name }

        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `cp.async.bulk.prefetch.tensor.", $ptx, ";`. Needs sm_90 and ptx80. On a CPU it does nothing.")]
        ///
        #[doc = isa_link!("cp.async.bulk.prefetch.tensor" "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor")]
        ///
        /// # Safety
        /// `map` points to a tensor map, 128 bytes aligned to 64, in global or constant memory or among the parameters of
        /// this kernel, of a tensor of as many dimensions.
        #[doc(alias = "cp.async.bulk.prefetch.tensor")]
        #[inline(always)]
        pub unsafe fn $name<C>(map: *const impl Sized, coordinates: C $(, $offsets: $type)? $(, $policy: CachePolicy)?)
        where
            C: $bound,
            BulkCopies: OnTarget<$name, C>,
        {
            #[cfg(ptx_device)]
            // SAFETY: the caller's promise.
            unsafe {
                coordinates.$method(map.cast() $(, $offsets)? $(, $policy)?)
            }
            #[cfg(not(ptx_device))]
            let _ = (map, coordinates $(, $offsets)? $(, $policy)?);
        }
    )* };
}
tensors! {
    /// Brings the box of a tensor at these coordinates into L2.
    cp_async_bulk_prefetch_tensor TensorCoordinates prefetch () () "dim.L2.global [map, {…}]";
    /// The same under a cache policy.
    cp_async_bulk_prefetch_tensor_with TensorCoordinates prefetch_with () (policy)
        "dim.L2.global.L2::cache_hint [map, {…}], policy";
    /// Brings the columns of a tensor at these coordinates, and at these offsets in the image, into L2.
    cp_async_bulk_prefetch_tensor_im2col Im2colCoordinates prefetch_im2col (offsets: C::Offsets) ()
        "dim.L2.global.im2col [map, {…}], {…}";
    /// The same under a cache policy.
    cp_async_bulk_prefetch_tensor_im2col_with Im2colCoordinates prefetch_im2col_with (offsets: C::Offsets) (policy)
        "dim.L2.global.im2col.L2::cache_hint [map, {…}], {…}, policy";
}
