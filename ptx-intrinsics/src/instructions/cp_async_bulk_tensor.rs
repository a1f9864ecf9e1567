//! `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: copy a box of a tensor between global and shared memory while the block
//! goes on, or change a tensor by a box.

use crate::instructions::mbarrier::Mbarrier;

#[cfg(not(ptx_device))]
use crate::cpu::tensor::{self, Mode, Place};
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

/// The same of a copy that a barrier waits for, and where the barrier is.
macro_rules! promise_to_barrier {
    () => {
        promise!("No thread accesses the destination until then. The barrier is in the same block as the destination, aligned to 8 \
            bytes, initialised, and expects the bytes of the whole box.")
    };
    (in a group) => {
        promise!("No thread accesses the destination until then. The barrier is in the block of the destination, or by `CtaGroup2` in \
            the other block of its pair. It is aligned to 8 bytes, initialised, and expects the bytes of the whole box, for each \
            block whose copy tells it.")
    };
}

/// The loads of one kind: `$what`, `$more` about it; for each destination the functions, the PTX behind the dimensions, and the gate.
macro_rules! loads {
    ($table:ident $mode:ident<$dimensions:ident> ($($offsets:ident)?) $what:literal $more:literal:
        $(#[$doc:meta])* cluster $cluster:ident $cluster_with:ident $cluster_ptx:literal $cluster_gate:ident;
        multicast $multicast:ident $multicast_with:ident $multicast_ptx:literal $multicast_gate:ident;
        cluster group $pair:ident $pair_with:ident;
        multicast group $pairs:ident $pairs_with:ident;
        $(#[$own_doc:meta])* block $own:ident $own_with:ident $own_ptx:literal $own_gate:ident;
        block group $own_pair:ident $own_pair_with:ident;
    ) => {
        instructions! { $table:
            instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
                #[doc = concat!($what, " into shared memory of a block of this cluster, and tells the barrier there that the bytes \
                    have arrived. ", $more)]
                $(#[$doc])*
                unsafe fn $cluster / $cluster_with<D in $dimensions, T>(
                    dst: SharedClusterPtr<T> as cluster,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedClusterPtr<Mbarrier> as cluster,
                    $($offsets: D::Offsets as held,)?
                ) {
                    ptx: "cp.async.bulk.tensor" D $cluster_ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                    needs: $cluster_gate;
                    safety: promise_to_barrier!();
                    cpu: tensor::load(dst.cluster_address(), map.cast(), at_place!($mode coordinates $($offsets)?), bar.cluster_address());
                }

                #[doc = concat!($what, " into shared memory of each block of this cluster whose bit is set in `mask`, to the same place \
                    as `dst` in its block, and tells the barrier at the same place as `bar` there. ", $more)]
                ///
                /// `ptxas` advises sm_90a for it. On a CPU it panics, because there is only one block.
                #[doc(alias = "multicast::cluster")]
                unsafe fn $multicast / $multicast_with<D in $dimensions, T>(
                    dst: SharedClusterPtr<T> as cluster,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedClusterPtr<Mbarrier> as cluster,
                    $($offsets: D::Offsets as held,)?
                    mask: u16 as reg16,
                ) {
                    ptx: "cp.async.bulk.tensor" D $multicast_ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, mask, policy;
                    needs: $multicast_gate;
                    safety: promise_to_barrier!();
                    cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
                }

                #[doc = concat!($what, " into shared memory of a block of this cluster, and tells the barrier in that block, or by \
                    [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) in the other block of its pair, that the bytes have arrived. ", $more)]
                unsafe fn $pair / $pair_with<G in cta_group, D in $dimensions, T>(
                    dst: SharedClusterPtr<T> as cluster,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedClusterPtr<Mbarrier> as cluster,
                    $($offsets: D::Offsets as held,)?
                ) {
                    ptx: "cp.async.bulk.tensor" D $cluster_ptx G hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                    needs: FamilyTensorCopies;
                    safety: promise_to_barrier!(in a group);
                    cpu: tensor::load(dst.cluster_address(), map.cast(), at_place!($mode coordinates $($offsets)?), bar.cluster_address());
                }

                #[doc = concat!($what, " into shared memory of each block of this cluster whose bit is set in `mask`, to the same place \
                    as `dst` in its block, and tells a barrier at the same place as `bar`: in that block, or by \
                    [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) in the block of its pair whose number has the same last bit as \
                    that of the block of `bar`. ", $more)]
                ///
                /// On a CPU it panics, because there is only one block.
                unsafe fn $pairs / $pairs_with<G in cta_group, D in $dimensions, T>(
                    dst: SharedClusterPtr<T> as cluster,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedClusterPtr<Mbarrier> as cluster,
                    $($offsets: D::Offsets as held,)?
                    mask: u16 as reg16,
                ) {
                    ptx: "cp.async.bulk.tensor" D $multicast_ptx G hint,
                        [dst], [map, coordinates], [bar] $(, $offsets)?, mask, policy;
                    needs: FamilyTensorCopies;
                    safety: promise_to_barrier!(in a group);
                    cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
                }

                #[doc = concat!($what, " into this block's shared memory, and tells the barrier that the bytes have arrived. ", $more)]
                $(#[$own_doc])*
                unsafe fn $own / $own_with<D in $dimensions, T>(
                    dst: SharedPtr<T> as shared,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedPtr<Mbarrier> as shared,
                    $($offsets: D::Offsets as held,)?
                ) {
                    ptx: "cp.async.bulk.tensor" D $own_ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                    needs: $own_gate;
                    safety: promise_to_barrier!();
                    cpu: tensor::load(dst.address(), map.cast(), at_place!($mode coordinates $($offsets)?), bar.address());
                }

                #[doc = concat!($what, " into this block's shared memory, and tells the barrier that the bytes have arrived. By \
                    [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) this block and another one of the cluster are a pair. ", $more)]
                unsafe fn $own_pair / $own_pair_with<G in cta_group, D in $dimensions, T>(
                    dst: SharedPtr<T> as shared,
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    bar: SharedPtr<Mbarrier> as shared,
                    $($offsets: D::Offsets as held,)?
                ) {
                    ptx: "cp.async.bulk.tensor" D $own_ptx G hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                    needs: FamilyTensorCopies;
                    safety: promise_to_barrier!();
                    cpu: tensor::load(dst.address(), map.cast(), at_place!($mode coordinates $($offsets)?), bar.address());
                }
            }
        }
    };
}

/// Where a copy is in the tensor.
#[cfg(not(ptx_device))]
macro_rules! at_place {
    ($mode:ident $coordinates:ident) => {
        &Place { mode: Mode::$mode, coordinates: $coordinates.all(), offsets: &[] }
    };
    ($mode:ident $coordinates:ident $offsets:ident) => {
        &Place { mode: Mode::$mode, coordinates: $coordinates.all(), offsets: $offsets.as_ref() }
    };
}

loads! { LOADS Tile<dimensions> () "Copies the box of a tensor at these coordinates"
    "What is outside of the tensor is filled as the map says, by zeros.":
    #[doc(alias = "cp.async.bulk.tensor.shared::cluster.global.tile")]
    #[doc(alias = "tma")]
    cluster cp_async_bulk_tensor_shared_cluster_global cp_async_bulk_tensor_shared_cluster_global_with
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" BulkCopies;
    multicast cp_async_bulk_tensor_shared_cluster_global_multicast cp_async_bulk_tensor_shared_cluster_global_multicast_with
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" BulkCopies;
    cluster group cp_async_bulk_tensor_shared_cluster_global_cta_group cp_async_bulk_tensor_shared_cluster_global_cta_group_with;
    multicast group cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group
        cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group_with;
    /// Before ptx86 [`cp_async_bulk_tensor_shared_cluster_global`] does it.
    block cp_async_bulk_tensor_shared_global cp_async_bulk_tensor_shared_global_with
        ".shared::cta.global.tile.mbarrier::complete_tx::bytes" BulkCopiesCta;
    block group cp_async_bulk_tensor_shared_global_cta_group cp_async_bulk_tensor_shared_global_cta_group_with;
}

loads! { ROWS Rows<four_rows> () "Copies four rows of a matrix, each from the same column on," "The box of the map has one row.":
    cluster cp_async_bulk_tensor_shared_cluster_global_gather4 cp_async_bulk_tensor_shared_cluster_global_gather4_with
        ".shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes" FamilyTensorCopies;
    multicast cp_async_bulk_tensor_shared_cluster_global_gather4_multicast
        cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_with
        ".shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster" FamilyTensorCopies;
    cluster group cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group
        cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group_with;
    multicast group cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group
        cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group_with;
    #[doc(alias = "tile::gather4")]
    block cp_async_bulk_tensor_shared_global_gather4 cp_async_bulk_tensor_shared_global_gather4_with
        ".shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" GatherRows;
    block group cp_async_bulk_tensor_shared_global_gather4_cta_group cp_async_bulk_tensor_shared_global_gather4_cta_group_with;
}

loads! { COLUMNS Columns<im2col_dimensions> (offsets)
    "Copies a column of pixels of an image, from these coordinates on and each pixel moved by these offsets,"
    "The map says where the box of pixels is through which the column goes, and how many pixels and channels there are. A pixel outside \
    of the image is filled as the map says, by zeros.":
    #[doc(alias = "cp.async.bulk.tensor.shared::cluster.global.im2col")]
    cluster cp_async_bulk_tensor_shared_cluster_global_im2col cp_async_bulk_tensor_shared_cluster_global_im2col_with
        ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes" BulkCopies;
    multicast cp_async_bulk_tensor_shared_cluster_global_im2col_multicast
        cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_with
        ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster" BulkCopies;
    cluster group cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group
        cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group_with;
    multicast group cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group
        cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group_with;
    /// Before ptx86 [`cp_async_bulk_tensor_shared_cluster_global_im2col`] does it.
    block cp_async_bulk_tensor_shared_global_im2col cp_async_bulk_tensor_shared_global_im2col_with
        ".shared::cta.global.im2col.mbarrier::complete_tx::bytes" BulkCopiesCta;
    block group cp_async_bulk_tensor_shared_global_im2col_cta_group cp_async_bulk_tensor_shared_global_im2col_cta_group_with;
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
            cpu: tensor::store(map.cast(), at_place!(Tile coordinates), src.address().cast());
        }

        /// Copies a column of pixels from this block's shared memory to an image, from these coordinates on: one of a
        /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). A pixel outside of the image is not written. What the block wrote
        /// to the column before is copied after `fence.proxy.async.shared::cta`.
        #[doc(alias = "im2col_no_offs")]
        unsafe fn cp_async_bulk_tensor_global_shared_im2col_no_offs
            / cp_async_bulk_tensor_global_shared_im2col_no_offs_with<D in image_dimensions, T>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            src: SharedPtr<T> as shared,
        ) {
            ptx: "cp.async.bulk.tensor" D ".global.shared::cta.im2col_no_offs.bulk_group" hint, [map, coordinates], [src], policy;
            needs: BulkCopies;
            safety: promise!("No thread accesses the elements that are written.");
            cpu: tensor::store(map.cast(), at_place!(Columns coordinates), src.address().cast());
        }

        /// Copies four rows from this block's shared memory to a matrix, each from the same column on: one of a
        /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). The box of the map has one row. What is outside of the matrix
        /// is not written. What the block wrote to the rows before is copied after `fence.proxy.async.shared::cta`.
        #[doc(alias = "tile::scatter4")]
        unsafe fn cp_async_bulk_tensor_global_shared_scatter4 / cp_async_bulk_tensor_global_shared_scatter4_with<D in four_rows, T>(
            map: *const impl Sized as reg64,
            coordinates: D as held,
            src: SharedPtr<T> as shared,
        ) {
            ptx: "cp.async.bulk.tensor" D ".global.shared::cta.tile::scatter4.bulk_group" hint, [map, coordinates], [src], policy;
            needs: FamilyTensorCopies;
            safety: promise!("No thread accesses the elements that are written.");
            cpu: tensor::store(map.cast(), at_place!(Rows coordinates), src.address().cast());
        }
    }
}

/// Reductions of a tensor by a box or a column, one for each operation.
macro_rules! by_a_box {
    ($table:ident $mode:ident<$dimensions:ident> $what:literal: $($(#[$doc:meta])* $function:ident $with:ident $op:ident $ptx:literal;)*) => {
        instructions! { $table: $(
            instruction "cp.reduce.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor",
            effect message, T = u32 {
                $(#[$doc])*
                ///
                #[doc = concat!("The ", $what, " is in this block's shared memory, and begins at these coordinates of the tensor.")]
                /// The map says the type of the elements. What is outside of the tensor is not changed. The reduction is one of a
                /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). What the block wrote to shared memory before is read
                /// after `fence.proxy.async.shared::cta`. Each element is changed by a relaxed atomic of the scope `.gpu`.
                unsafe fn $function / $with<D in $dimensions, T>(
                    map: *const impl Sized as reg64,
                    coordinates: D as held,
                    src: SharedPtr<T> as shared,
                ) {
                    ptx: "cp.reduce.async.bulk.tensor" D $ptx hint, [map, coordinates], [src], policy;
                    needs: BulkCopies;
                    safety: promise!("Other threads access the elements that are changed only by relaxed atomics, and PTX has the \
                        operation for the type of the elements.");
                    cpu: tensor::reduce(AtomicOperation::$op, map.cast(), at_place!($mode coordinates), src.address().cast());
                }
            }
        )* }
    };
}
by_a_box! { REDUCTIONS Tile<dimensions> "box":
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
by_a_box! { COLUMN_REDUCTIONS Columns<image_dimensions> "column":
    /// Adds the column's elements to the tensor's.
    cp_reduce_async_bulk_tensor_global_shared_add_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_add_im2col_no_offs_with Add
        ".global.shared::cta.add.im2col_no_offs.bulk_group";
    /// Makes each element of the tensor the smaller one of it and the column's.
    cp_reduce_async_bulk_tensor_global_shared_min_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_min_im2col_no_offs_with Min
        ".global.shared::cta.min.im2col_no_offs.bulk_group";
    /// Makes each element of the tensor the larger one of it and the column's.
    cp_reduce_async_bulk_tensor_global_shared_max_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_max_im2col_no_offs_with Max
        ".global.shared::cta.max.im2col_no_offs.bulk_group";
    /// Adds one to each element of the tensor, or makes it 0 if it is the column's element or above.
    cp_reduce_async_bulk_tensor_global_shared_inc_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_inc_im2col_no_offs_with Inc
        ".global.shared::cta.inc.im2col_no_offs.bulk_group";
    /// Subtracts one from each element of the tensor, or makes it the column's element if it is 0 or above that.
    cp_reduce_async_bulk_tensor_global_shared_dec_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_dec_im2col_no_offs_with Dec
        ".global.shared::cta.dec.im2col_no_offs.bulk_group";
    /// Makes each element of the tensor its AND with the column's.
    cp_reduce_async_bulk_tensor_global_shared_and_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_and_im2col_no_offs_with And
        ".global.shared::cta.and.im2col_no_offs.bulk_group";
    /// Makes each element of the tensor its OR with the column's.
    cp_reduce_async_bulk_tensor_global_shared_or_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_or_im2col_no_offs_with Or
        ".global.shared::cta.or.im2col_no_offs.bulk_group";
    /// Makes each element of the tensor its XOR with the column's.
    cp_reduce_async_bulk_tensor_global_shared_xor_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_xor_im2col_no_offs_with Xor
        ".global.shared::cta.xor.im2col_no_offs.bulk_group";
}
