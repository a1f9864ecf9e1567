//! `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: copy a box of a tensor between global and shared memory while the block
//! goes on, or change a tensor by a box.
//!
//! On an H100, and nowhere in the PTX ISA: a copy whose first coordinate is no multiple of 16 bytes ends the kernel with "illegal
//! instruction". So does one that writes at a negative coordinate; a load may begin there. What is written of a row that is no multiple of
//! 16 bytes goes on to the next such multiple, behind the row's end.

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
            kernel, of a tensor with the same number of dimensions as `coordinates`. The tensor is readable, and writable if the copy \
            writes it. The first coordinate is a multiple of 16 bytes. The box in shared memory is aligned to 128 bytes. Until the copy is complete, no thread writes to the source. "
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

/// The same of a copy that writes the tensor.
macro_rules! promise_to_write {
    () => { promise_to_write!("No thread accesses the elements that are written.") };
    ($who:literal) => {
        promise!($who " No coordinate is negative. A row of the tensor is a multiple of 16 bytes, or may be written to the next such \
            multiple.")
    };
}

/// What a load does, by the table of its coordinates.
macro_rules! what {
    (dimensions) => { "Copies the box of a tensor at these coordinates" };
    (four_rows) => { "Copies four rows of a matrix, each from the same column on," };
    (im2col_dimensions) => { "Copies a column of pixels of an image, from these coordinates on and each pixel moved by these offsets," };
    (width_dimensions) => {
        "Copies a column of pixels along the width of an image, from these coordinates on, with a halo and moved by an offset,"
    };
    (halo_dimensions) => {
        "Copies 128 pixels along the width of an image, from these coordinates on, with a halo after each 32 and moved by an offset,"
    };
}

/// More about it.
macro_rules! more {
    (dimensions) => { "What is outside of the tensor is filled as the map says, by zeros or by NaN." };
    (four_rows) => { "The box of the map has one row." };
    (im2col_dimensions) => {
        "The map says where the box of pixels is through which the column goes, and how many pixels and channels there are. A pixel \
            outside of the image is filled as the map says, by zeros or by NaN."
    };
    (width_dimensions) => {
        "The map says how many pixels and channels there are, and where the pixels of a row begin and end; behind its end the column goes \
            on in the same row of the next image. Behind the column are as many pixels more as the halo has, of 0 to 511. The offset, 0 to 31, \
            moves all of them, and the row's beginning and end. A pixel outside of the image is filled as the map says, by zeros or by NaN."
    };
    (halo_dimensions) => {
        "The map says how many channels there are, and where the pixels of a row begin and end; behind its end the column goes on in the same \
            row of the next image. After each 32 pixels are the next ones, as many as the halo has, of 0 to 31; the next 32 begin with them \
            again. The offset, 0 to 31, moves all of them, and the row's beginning and end. A pixel outside of the image is filled as the map \
            says, by zeros or by NaN."
    };
}

/// A load into a block of the cluster: its functions, and those with a group of blocks.
macro_rules! to_cluster {
    ($state:tt [$(#[$doc:meta])* <$dimensions:ident> ($($offsets:ident)?) $ptx:literal $gate:ident:
        $name:ident $with:ident, $group:ident $group_with:ident]) => {
        gather! { @add $state
            #[doc = concat!(what!($dimensions), " into shared memory of a block of this cluster, and tells the barrier there that the bytes \
                have arrived. ", more!($dimensions))]
            $(#[$doc])*
            unsafe fn $name / $with<D in $dimensions, T>(
                dst: SharedClusterPtr<T> as cluster,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedClusterPtr<Mbarrier> as cluster,
                $($offsets: D::Offsets as held,)?
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                needs: $gate;
                safety: promise_to_barrier!();
                cpu: tensor::load(dst.cluster_address(), map.cast(), at_place!($dimensions coordinates $($offsets)?), bar.cluster_address());
            }

            #[doc = concat!(what!($dimensions), " into shared memory of a block of this cluster, and tells the barrier in that block, or by \
                [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) in the other block of its pair, that the bytes have arrived. ", more!($dimensions))]
            unsafe fn $group / $group_with<G in cta_group, D in $dimensions, T>(
                dst: SharedClusterPtr<T> as cluster,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedClusterPtr<Mbarrier> as cluster,
                $($offsets: D::Offsets as held,)?
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx G hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                needs: FamilyTensorCopies;
                safety: promise_to_barrier!(in a group);
                cpu: tensor::load(dst.cluster_address(), map.cast(), at_place!($dimensions coordinates $($offsets)?), bar.cluster_address());
            }
        }
    };
}

/// A load into several blocks of the cluster.
macro_rules! to_blocks {
    ($state:tt [$(#[$doc:meta])* <$dimensions:ident> ($($offsets:ident)?) $ptx:literal $gate:ident:
        $name:ident $with:ident, $group:ident $group_with:ident]) => {
        gather! { @add $state
            #[doc = concat!(what!($dimensions), " into shared memory of each block of this cluster whose bit is set in `mask`, to the same place \
                as `dst` in its block, and tells the barrier at the same place as `bar` there. ", more!($dimensions))]
            ///
            /// `ptxas` advises sm_90a for it. On a CPU it panics, because there is only one block.
            #[doc(alias = "multicast::cluster")]
            $(#[$doc])*
            unsafe fn $name / $with<D in $dimensions, T>(
                dst: SharedClusterPtr<T> as cluster,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedClusterPtr<Mbarrier> as cluster,
                $($offsets: D::Offsets as held,)?
                mask: u16 as reg16,
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, mask, policy;
                needs: $gate;
                safety: promise_to_barrier!();
                cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
            }

            #[doc = concat!(what!($dimensions), " into shared memory of each block of this cluster whose bit is set in `mask`, to the same place \
                as `dst` in its block, and tells a barrier at the same place as `bar`: in that block, or by \
                [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) in the block of its pair whose number has the same last bit as \
                that of the block of `bar`. ", more!($dimensions))]
            ///
            /// On a CPU it panics, because there is only one block.
            unsafe fn $group / $group_with<G in cta_group, D in $dimensions, T>(
                dst: SharedClusterPtr<T> as cluster,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedClusterPtr<Mbarrier> as cluster,
                $($offsets: D::Offsets as held,)?
                mask: u16 as reg16,
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx G hint,
                    [dst], [map, coordinates], [bar] $(, $offsets)?, mask, policy;
                needs: FamilyTensorCopies;
                safety: promise_to_barrier!(in a group);
                cpu: panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none");
            }
        }
    };
}

/// A load into this block.
macro_rules! to_block {
    ($state:tt [$(#[$doc:meta])* <$dimensions:ident> ($($offsets:ident)?) $ptx:literal $gate:ident:
        $name:ident $with:ident, $group:ident $group_with:ident]) => {
        gather! { @add $state
            #[doc = concat!(what!($dimensions), " into this block's shared memory, and tells the barrier that the bytes have arrived. ", more!($dimensions))]
            $(#[$doc])*
            unsafe fn $name / $with<D in $dimensions, T>(
                dst: SharedPtr<T> as shared,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedPtr<Mbarrier> as shared,
                $($offsets: D::Offsets as held,)?
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                needs: $gate;
                safety: promise_to_barrier!();
                cpu: tensor::load(dst.address(), map.cast(), at_place!($dimensions coordinates $($offsets)?), bar.address());
            }

            #[doc = concat!(what!($dimensions), " into this block's shared memory, and tells the barrier that the bytes have arrived. By \
                [`CtaGroup2`](crate::cp_async_bulk::CtaGroup2) this block and another one of the cluster are a pair. ", more!($dimensions))]
            unsafe fn $group / $group_with<G in cta_group, D in $dimensions, T>(
                dst: SharedPtr<T> as shared,
                map: *const impl Sized as reg64,
                coordinates: D as held,
                bar: SharedPtr<Mbarrier> as shared,
                $($offsets: D::Offsets as held,)?
            ) {
                ptx: "cp.async.bulk.tensor" D $ptx G hint, [dst], [map, coordinates], [bar] $(, $offsets)?, policy;
                needs: FamilyTensorCopies;
                safety: promise_to_barrier!();
                cpu: tensor::load(dst.address(), map.cast(), at_place!($dimensions coordinates $($offsets)?), bar.address());
            }
        }
    };
}

/// Where a copy is in the tensor.
#[cfg(not(ptx_device))]
macro_rules! at_place {
    (@mode dimensions) => { Mode::Tile };
    (@mode four_rows) => { Mode::Rows };
    (@mode im2col_dimensions) => { Mode::Columns };
    (@mode image_dimensions) => { Mode::Columns };
    (@mode width_dimensions) => { Mode::Width };
    (@mode halo_dimensions) => { Mode::Width128 };
    ($dimensions:ident $coordinates:ident) => {
        &Place { mode: at_place!(@mode $dimensions), coordinates: $coordinates.all(), offsets: &[], writes: false }
    };
    ($dimensions:ident $coordinates:ident $offsets:ident) => {
        &Place { offsets: $offsets.as_ref(), ..*at_place!($dimensions $coordinates) }
    };
}

gather! { LOADS:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        to_cluster! [#[doc(alias = "cp.async.bulk.tensor.shared::cluster.global.tile")] #[doc(alias = "tma")]
            <dimensions> () ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" BulkCopies:
            cp_async_bulk_tensor_shared_cluster_global cp_async_bulk_tensor_shared_cluster_global_with,
            cp_async_bulk_tensor_shared_cluster_global_cta_group cp_async_bulk_tensor_shared_cluster_global_cta_group_with]
        to_blocks! [<dimensions> () ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" BulkCopies:
            cp_async_bulk_tensor_shared_cluster_global_multicast cp_async_bulk_tensor_shared_cluster_global_multicast_with,
            cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group_with]
        to_block! [/// Before ptx86 [`cp_async_bulk_tensor_shared_cluster_global`] does it.
            <dimensions> () ".shared::cta.global.tile.mbarrier::complete_tx::bytes" BulkCopiesCta:
            cp_async_bulk_tensor_shared_global cp_async_bulk_tensor_shared_global_with,
            cp_async_bulk_tensor_shared_global_cta_group cp_async_bulk_tensor_shared_global_cta_group_with]
    }
}

gather! { ROWS:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        to_cluster! [<four_rows> () ".shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_gather4 cp_async_bulk_tensor_shared_cluster_global_gather4_with,
            cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group_with]
        to_blocks! [<four_rows> () ".shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_gather4_multicast cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_with,
            cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group_with]
        to_block! [#[doc(alias = "tile::gather4")]
            <four_rows> () ".shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" GatherRows:
            cp_async_bulk_tensor_shared_global_gather4 cp_async_bulk_tensor_shared_global_gather4_with,
            cp_async_bulk_tensor_shared_global_gather4_cta_group cp_async_bulk_tensor_shared_global_gather4_cta_group_with]
    }
}

gather! { COLUMNS:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        to_cluster! [#[doc(alias = "cp.async.bulk.tensor.shared::cluster.global.im2col")]
            <im2col_dimensions> (offsets) ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes" BulkCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col cp_async_bulk_tensor_shared_cluster_global_im2col_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group_with]
        to_blocks! [<im2col_dimensions> (offsets) ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster" BulkCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group_with]
        to_block! [/// Before ptx86 [`cp_async_bulk_tensor_shared_cluster_global_im2col`] does it.
            <im2col_dimensions> (offsets) ".shared::cta.global.im2col.mbarrier::complete_tx::bytes" BulkCopiesCta:
            cp_async_bulk_tensor_shared_global_im2col cp_async_bulk_tensor_shared_global_im2col_with,
            cp_async_bulk_tensor_shared_global_im2col_cta_group cp_async_bulk_tensor_shared_global_im2col_cta_group_with]
    }
}

gather! { WIDTH:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        to_cluster! [<width_dimensions> (info) ".shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col_w cp_async_bulk_tensor_shared_cluster_global_im2col_w_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_cta_group_with]
        to_blocks! [<width_dimensions> (info) ".shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes.multicast::cluster" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_cta_group_with]
        to_block! [#[doc(alias = "im2col::w")]
            <width_dimensions> (info) ".shared::cta.global.im2col::w.mbarrier::complete_tx::bytes" WidthColumns:
            cp_async_bulk_tensor_shared_global_im2col_w cp_async_bulk_tensor_shared_global_im2col_w_with,
            cp_async_bulk_tensor_shared_global_im2col_w_cta_group cp_async_bulk_tensor_shared_global_im2col_w_cta_group_with]
    }
}

gather! { WIDTH_128:
    instruction "cp.async.bulk.tensor", isa "data-movement-and-conversion-instructions-cp-async-bulk-tensor", effect message, T = u32 {
        to_cluster! [<halo_dimensions> (info) ".shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128 cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_cta_group_with]
        to_blocks! [<halo_dimensions> (info) ".shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes.multicast::cluster" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_with,
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_cta_group_with]
        to_block! [#[doc(alias = "im2col::w::128")]
            <halo_dimensions> (info) ".shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes" FamilyTensorCopies:
            cp_async_bulk_tensor_shared_global_im2col_w_128 cp_async_bulk_tensor_shared_global_im2col_w_128_with,
            cp_async_bulk_tensor_shared_global_im2col_w_128_cta_group cp_async_bulk_tensor_shared_global_im2col_w_128_cta_group_with]
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
            safety: promise_to_write!();
            cpu: tensor::store(map.cast(), at_place!(dimensions coordinates), src.address().cast());
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
            safety: promise_to_write!();
            cpu: tensor::store(map.cast(), at_place!(image_dimensions coordinates), src.address().cast());
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
            safety: promise_to_write!();
            cpu: tensor::store(map.cast(), at_place!(four_rows coordinates), src.address().cast());
        }
    }
}

/// Reductions of a tensor by a box or a column, one for each operation.
macro_rules! by_a_box {
    ($table:ident <$dimensions:ident> $what:literal: $($(#[$doc:meta])* $function:ident $with:ident $op:ident $ptx:literal;)*) => {
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
                    safety: promise_to_write!("Other threads access the elements that are changed only by relaxed atomics, and PTX has the \
                        operation for the type of the elements.");
                    cpu: tensor::reduce(AtomicOperation::$op, map.cast(), at_place!($dimensions coordinates), src.address().cast());
                }
            }
        )* }
    };
}
by_a_box! { REDUCTIONS <dimensions> "box":
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
by_a_box! { COLUMN_REDUCTIONS <image_dimensions> "column":
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
