//! `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: copy a box of a tensor between global and shared memory while the block
//! goes on, or change a tensor by a box.

use crate::instructions::mbarrier::Mbarrier;

#[cfg(not(ptx_device))]
use crate::cpu::tensor;
#[cfg(not(ptx_device))]
use crate::isa::atomic::AtomicOperation;

/// What the caller of a copy promises.
macro_rules! promise {
    ($($more:literal)*) => {
        concat!(
            "`map` points to a tensor map, 128 bytes aligned to 64, in global or constant memory or among the parameters of this \
            kernel, of a tensor of as many dimensions, of which all is readable, and writable where it is written. The box in shared \
            memory is aligned to 128 bytes. Until the copy is complete, no thread writes to the source. "
            $(, $more)*
        )
    };
}

/// The same of a copy that a barrier waits for.
macro_rules! promise_to_barrier {
    () => {
        promise!("No thread accesses the destination until then. The barrier is in the same block as the destination, aligned to 8 \
            bytes, initialised, and expects the bytes of the whole box.")
    };
}

instructions! { LOADS:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        /// Copies the box of a tensor at these coordinates into shared memory of a block of this cluster, and tells the barrier
        /// there that its bytes have arrived. What is outside of the tensor is filled as the map says, by zeros.
        #[doc(alias = "cp.async.bulk.tensor.shared::cluster.global.tile")]
        #[doc(alias = "tma")]
        unsafe fn cp_async_bulk_tensor_shared_cluster_global / cp_async_bulk_tensor_shared_cluster_global_with<D in dimensions, T>(
            dst: SharedClusterPtr<T> as cluster,
            map: *const impl Sized as reg64,
            coordinates: D as held,
            bar: SharedClusterPtr<Mbarrier> as cluster,
        ) {
            ptx: "cp.async.bulk.tensor" D ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" hint,
                [dst], [map, coordinates], [bar], policy;
            needs: BulkCopies;
            safety: promise_to_barrier!();
            cpu: tensor::load(dst.cluster_address(), map.cast(), coordinates.all(), false, bar.cluster_address());
        }

        /// Copies the box of a tensor at these coordinates into shared memory of each block of this cluster whose bit is set in
        /// `mask`, to the same place as `dst` in its block, and tells the barrier at the same place as `bar` there.
        ///
        /// `ptxas` advises sm_90a for it. On a CPU it panics, because there is only one block.
        unsafe fn cp_async_bulk_tensor_shared_cluster_global_multicast
            / cp_async_bulk_tensor_shared_cluster_global_multicast_with<D in dimensions, T>(
            dst: SharedClusterPtr<T> as cluster,
            map: *const impl Sized as reg64,
            coordinates: D as held,
            bar: SharedClusterPtr<Mbarrier> as cluster,
            mask: u16 as reg16,
        ) {
            ptx: "cp.async.bulk.tensor" D
                ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" hint,
                [dst], [map, coordinates], [bar], mask, policy;
            needs: BulkCopies;
            safety: promise_to_barrier!();
            cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
        }

        /// Copies the box of a tensor at these coordinates into this block's shared memory, and tells the barrier that its bytes
        /// have arrived. Before ptx86 [`cp_async_bulk_tensor_shared_cluster_global`] does it.
        unsafe fn cp_async_bulk_tensor_shared_global / cp_async_bulk_tensor_shared_global_with<D in dimensions, T>(
            dst: SharedPtr<T> as shared,
            map: *const impl Sized as reg64,
            coordinates: D as held,
            bar: SharedPtr<Mbarrier> as shared,
        ) {
            ptx: "cp.async.bulk.tensor" D ".shared::cta.global.tile.mbarrier::complete_tx::bytes" hint,
                [dst], [map, coordinates], [bar], policy;
            needs: BulkCopiesCta;
            safety: promise_to_barrier!();
            cpu: tensor::load(dst.address(), map.cast(), coordinates.all(), false, bar.address());
        }

        /// Copies four rows of a matrix, each from the same column on, into this block's shared memory, and tells the barrier that
        /// their bytes have arrived. The box of the map has one row.
        #[doc(alias = "tile::gather4")]
        unsafe fn cp_async_bulk_tensor_shared_global_gather4 / cp_async_bulk_tensor_shared_global_gather4_with<D in four_rows, T>(
            dst: SharedPtr<T> as shared,
            map: *const impl Sized as reg64,
            coordinates: D as held,
            bar: SharedPtr<Mbarrier> as shared,
        ) {
            ptx: "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" hint,
                [dst], [map, coordinates], [bar], policy;
            needs: GatherRows;
            safety: promise_to_barrier!();
            cpu: tensor::load(dst.address(), map.cast(), coordinates.all(), true, bar.address());
        }
    }
}

instructions! { STORES:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        /// Copies a box from this block's shared memory to these coordinates of a tensor: one of a
        /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). What is outside of the tensor is not written. What the block
        /// wrote to the box before is copied after `fence.proxy.async.shared::cta`.
        unsafe fn cp_async_bulk_tensor_global_shared / cp_async_bulk_tensor_global_shared_with<D in dimensions, T>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            src: SharedPtr<T> as shared,
        ) {
            ptx: "cp.async.bulk.tensor" D ".global.shared::cta.tile.bulk_group" hint, [map, coordinates], [src], policy;
            needs: BulkCopies;
            safety: promise!("No thread accesses the elements that are written.");
            cpu: tensor::store(map.cast(), coordinates.all(), src.address().cast());
        }
    }
}

/// Reductions of a tensor by a box, one for each operation.
macro_rules! by_a_box {
    ($($(#[$doc:meta])* $function:ident $with:ident $op:ident $ptx:literal;)*) => {
        instructions! { REDUCTIONS: $(
            instruction "cp.reduce.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor",
            effect message, T = u32 {
                $(#[$doc])*
                ///
                /// The box is in this block's shared memory, and begins at these coordinates of the tensor. The map says the type of
                /// the elements. What is outside of the tensor is not changed. The reduction is one of a
                /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). What the block wrote to the box before is read
                /// after `fence.proxy.async.shared::cta`. Each element is changed by a relaxed atomic of the scope `.gpu`.
                unsafe fn $function / $with<D in dimensions, T>(
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    src: SharedPtr<T> as shared,
                ) {
                    ptx: "cp.reduce.async.bulk.tensor" D $ptx hint, [map, coordinates], [src], policy;
                    needs: BulkCopies;
                    safety: promise!("Other threads access the elements that are changed only by relaxed atomics, and PTX has the \
                        operation for the type of the elements.");
                    cpu: tensor::reduce(AtomicOperation::$op, map.cast(), coordinates.all(), src.address().cast());
                }
            }
        )* }
    };
}
by_a_box! {
    /// Adds the box's elements to the tensor's.
    cp_reduce_async_bulk_tensor_global_shared_add cp_reduce_async_bulk_tensor_global_shared_add_with Add ".global.shared::cta.add.tile.bulk_group";
    /// Makes each element of the tensor the smaller one of it and the box's.
    cp_reduce_async_bulk_tensor_global_shared_min cp_reduce_async_bulk_tensor_global_shared_min_with Min ".global.shared::cta.min.tile.bulk_group";
    /// Makes each element of the tensor the larger one of it and the box's.
    cp_reduce_async_bulk_tensor_global_shared_max cp_reduce_async_bulk_tensor_global_shared_max_with Max ".global.shared::cta.max.tile.bulk_group";
    /// Adds one to each element of the tensor, or makes it 0 if it is the box's element or above.
    cp_reduce_async_bulk_tensor_global_shared_inc cp_reduce_async_bulk_tensor_global_shared_inc_with Inc ".global.shared::cta.inc.tile.bulk_group";
    /// Subtracts one from each element of the tensor, or makes it the box's element if it is 0 or above that.
    cp_reduce_async_bulk_tensor_global_shared_dec cp_reduce_async_bulk_tensor_global_shared_dec_with Dec ".global.shared::cta.dec.tile.bulk_group";
    /// Makes each element of the tensor its AND with the box's.
    cp_reduce_async_bulk_tensor_global_shared_and cp_reduce_async_bulk_tensor_global_shared_and_with And ".global.shared::cta.and.tile.bulk_group";
    /// Makes each element of the tensor its OR with the box's.
    cp_reduce_async_bulk_tensor_global_shared_or cp_reduce_async_bulk_tensor_global_shared_or_with Or ".global.shared::cta.or.tile.bulk_group";
    /// Makes each element of the tensor its XOR with the box's.
    cp_reduce_async_bulk_tensor_global_shared_xor cp_reduce_async_bulk_tensor_global_shared_xor_with Xor ".global.shared::cta.xor.tile.bulk_group";
}
