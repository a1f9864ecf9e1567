//! `cp.async.bulk`: copy many bytes at once between global and shared memory while the block goes on, or bring them into L2.

use crate::instructions::mbarrier::Mbarrier;

#[cfg(not(ptx_device))]
use crate::cpu::copy;

/// What the caller of a copy promises.
macro_rules! promise {
    () => {
        "`src` is readable and `dst` writable for `size` bytes. Both are aligned to 16 bytes, a barrier to 8, and `size` is a \
        multiple of 16. Until the copy is complete, no thread writes to the source or accesses the destination. The barrier is \
        initialised and expects `size` bytes."
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
            dst: SharedClusterPtr<T> as cluster,
            src: *const T as reg64,
            size: u32 as reg32,
            bar: SharedClusterPtr<Mbarrier> as cluster,
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
            dst: SharedClusterPtr<T> as cluster,
            src: *const T as reg64,
            size: u32 as reg32,
            bar: SharedClusterPtr<Mbarrier> as cluster,
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
            dst: SharedPtr<T> as shared,
            src: *const T as reg64,
            size: u32 as reg32,
            bar: SharedPtr<Mbarrier> as shared,
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
            dst: SharedPtr<T> as shared,
            src: *const T as reg64,
            size: u32 as reg32,
            left: u32 as reg32,
            right: u32 as reg32,
            bar: SharedPtr<Mbarrier> as shared,
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
            src: SharedPtr<T> as shared,
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
            src: SharedPtr<T> as shared,
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
            safety: "`src` is readable for `size` bytes and aligned to 16. `size` is a multiple of 16.";
            cpu: ();
        }
    }

    instruction "cp.async.bulk", isa "data-movement-and-conversion-instructions-cp-async-bulk", effect message, T = u32 {
        /// Copies `size` bytes from this block's shared memory into that of another block of the cluster, and tells the
        /// barrier there that the bytes have arrived.
        #[doc(alias = "cp.async.bulk.shared::cluster.shared::cta")]
        unsafe fn cp_async_bulk_shared_cluster_shared<T>(
            dst: SharedClusterPtr<T> as cluster,
            src: SharedPtr<T> as shared,
            size: u32 as reg32,
            bar: SharedClusterPtr<Mbarrier> as cluster,
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
        /// Waits until at most the `N` newest groups of this thread are still in flight. On a CPU it does nothing, because a copy
        /// is done at once.
        safe fn cp_async_bulk_wait_group<const N>() {
            ptx: "cp.async.bulk.wait_group", N;
            needs: BulkCopies;
            cpu: ();
        }

        /// Waits until the sources of all but the `N` newest groups of this thread are read: their shared memory may be written
        /// again. On a CPU it does nothing, because a copy is done at once.
        safe fn cp_async_bulk_wait_group_read<const N>() {
            ptx: "cp.async.bulk.wait_group.read", N;
            needs: BulkCopies;
            cpu: ();
        }
    }
}

/// What the caller of a prefetch of a tensor promises.
macro_rules! tensor_map {
    () => {
        "`map` points to a tensor map, 128 bytes aligned to 64, in global or constant memory or among the parameters of this \
        kernel, of a tensor with the same number of dimensions as `coordinates`."
    };
}

instructions! { TENSORS:
    instruction "cp.async.bulk.prefetch.tensor",
    isa "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor", effect message, T = u8 {
        /// Brings the box of a tensor at these coordinates into L2. On a CPU it does nothing.
        unsafe fn cp_async_bulk_prefetch_tensor / cp_async_bulk_prefetch_tensor_with<D in dimensions>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
        ) {
            ptx: "cp.async.bulk.prefetch.tensor" D ".L2.global" hint, [map, coordinates], policy;
            needs: BulkCopies;
            safety: tensor_map!();
            cpu: ();
        }

        /// Brings four rows of a matrix, each from the same column on, into L2. The box of the map has one row. On a CPU it does
        /// nothing.
        unsafe fn cp_async_bulk_prefetch_tensor_gather4 / cp_async_bulk_prefetch_tensor_gather4_with<D in four_rows>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
        ) {
            ptx: "cp.async.bulk.prefetch.tensor" D ".L2.global.tile::gather4" hint, [map, coordinates], policy;
            needs: FamilyTensorCopies;
            safety: tensor_map!();
            cpu: ();
        }

        /// Brings the columns of a tensor at these coordinates, and at these offsets in the image, into L2. On a CPU it does
        /// nothing.
        unsafe fn cp_async_bulk_prefetch_tensor_im2col / cp_async_bulk_prefetch_tensor_im2col_with<D in im2col_dimensions>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            offsets: D::Offsets as held,
        ) {
            ptx: "cp.async.bulk.prefetch.tensor" D ".L2.global.im2col" hint, [map, coordinates], offsets, policy;
            needs: BulkCopies;
            safety: tensor_map!();
            cpu: ();
        }

        /// Brings the columns of a tensor along the width, at these coordinates and with this halo and offset, into L2. On a CPU it
        /// does nothing.
        unsafe fn cp_async_bulk_prefetch_tensor_im2col_w / cp_async_bulk_prefetch_tensor_im2col_w_with<D in width_dimensions>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            info: D::Offsets as held,
        ) {
            ptx: "cp.async.bulk.prefetch.tensor" D ".L2.global.im2col::w" hint, [map, coordinates], info, policy;
            needs: FamilyTensorCopies;
            safety: tensor_map!();
            cpu: ();
        }

        /// Brings 128 pixels of a tensor along the width, at these coordinates and with this halo and offset, into L2. On a CPU it
        /// does nothing.
        unsafe fn cp_async_bulk_prefetch_tensor_im2col_w_128 / cp_async_bulk_prefetch_tensor_im2col_w_128_with<D in width_dimensions>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            info: D::Offsets as held,
        ) {
            ptx: "cp.async.bulk.prefetch.tensor" D ".L2.global.im2col::w::128" hint, [map, coordinates], info, policy;
            needs: FamilyTensorCopies;
            safety: tensor_map!();
            cpu: ();
        }
    }
}
