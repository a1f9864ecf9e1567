//! `cp.reduce.async.bulk`: change many values at once by those of this block's shared memory, while the block goes on.

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::*;
use crate::isa::element::*;

#[cfg(not(ptx_device))]
use crate::cpu::reduced;
#[cfg(not(ptx_device))]
use crate::isa::atomic::AtomicOperation;

/// The types of the values as words of `instructions!`: no argument holds one.
macro_rules! types_in_memory {
    ($($(#[$doc:meta])* $trait:ident, words $table:ident, $message:literal, $takes:literal [$($type:tt)*];)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = "not a type of this instruction", note = $takes)]
        pub trait $trait: $crate::isa::element::PtxType {}

        rows_of_elements! { words_of_types_in_memory ($trait $table) [] $($type)* }
    )* };
}

macro_rules! words_of_types_in_memory {
    (($trait:ident $table:ident)
        $({($t:ident) $words:tt [$text:literal] $class:ident $r:ident $width:ident $registers:tt})*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl $trait for $t {}
        )*

        macro_rules! $table {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$crate::isa::element::Element<Ptx: $trait>]
                [<$parameter::Ptx as $crate::isa::element::PtxType>::KEY;
                    $((<$t as $crate::isa::element::PtxType>::KEY => $text stringify!($t), Always))*
                    (_ => "" $crate::isa::row::SAME, Always never)]
                ".type" "", $row
            } };
        }
    };
}

types_in_memory! {
    /// A type that `cp.reduce.async.bulk` counts up and down: `u32`.
    BulkCount, words counts, "`cp.reduce.async.bulk` does not count a `{Self}`", "it takes `u32`" [(u32)];

    /// A type of which `cp.reduce.async.bulk` takes the smaller or the larger value in shared memory: `u32` or `i32`.
    BulkOrdered, words ordered, "`cp.reduce.async.bulk` does not compare a `{Self}` in shared memory",
        "it takes `u32` or `i32`" [(u32) (s32)];

    /// A type of which `cp.reduce.async.bulk` takes the smaller or the larger value in global memory: `u32`, `i32`, `u64` or `i64`.
    BulkGlobalOrdered, words global_ordered, "`cp.reduce.async.bulk` does not compare a `{Self}` in global memory",
        "it takes `u32`, `i32`, `u64` or `i64`; 16-bit floats have a function each" [(u32) (s32) (u64) (s64)];

    /// A type whose bits `cp.reduce.async.bulk` changes in shared memory: `B32`.
    BulkBits, words bits, "`cp.reduce.async.bulk` does not change the bits of a `{Self}` in shared memory",
        "it takes `B32`: `cast` the pointer" [(b32)];

    /// A type whose bits `cp.reduce.async.bulk` changes in global memory: `B32` or `B64`.
    BulkGlobalBits, words global_bits, "`cp.reduce.async.bulk` does not change the bits of a `{Self}` in global memory",
        "it takes `B32` or `B64`: `cast` the pointer" [(b32) (b64)];

    /// A type to which `cp.reduce.async.bulk` adds in shared memory: `u32`, `i32` or `u64`.
    BulkAddend, words addends, "`cp.reduce.async.bulk` does not add to a `{Self}` in shared memory",
        "it takes `u32`, `i32` or `u64`" [(u32) (s32) (u64)];

    /// A type to which `cp.reduce.async.bulk` adds in global memory: `u32`, `i32`, `u64`, `f32` or `f64`.
    BulkGlobalAddend, words global_addends, "`cp.reduce.async.bulk` does not add to a `{Self}` in global memory",
        "it takes `u32`, `i32`, `u64`, `f32` or `f64`; 16-bit floats have a function each" [(u32) (s32) (u64) (f32) (f64)];
}

/// What the caller of a reduction promises.
macro_rules! promise {
    ($more:literal) => {
        concat!(
            "`src` is readable and `dst` writable for `size` bytes. Both are aligned to 16 bytes, and `size` is a multiple of 16. \
            Until the reduction is complete, no thread writes to the source, and other threads access the destination only by \
            relaxed atomics. ",
            $more
        )
    };
}

/// Reductions of many values in shared memory of another block, one for each operation.
macro_rules! in_shared_memory {
    ($($(#[$doc:meta])* $function:ident $op:ident $types:ident $ptx:literal;)*) => {
        instructions! { SHARED: $(
            instruction "cp.reduce.async.bulk", isa "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
            effect message, T = u32 {
                $(#[$doc])*
                ///
                /// The destination is in shared memory of a block of this cluster. The barrier of that block counts `size`
                /// bytes as arrived. Each value is changed by a relaxed atomic.
                unsafe fn $function<T in $types>(
                    dst: SharedClusterPtr<T> as reg32 = dst.cluster_address(),
                    src: SharedPtr<T> as reg32 = src.address(),
                    size: u32 as reg32,
                    bar: SharedClusterPtr<Mbarrier> as reg32 = bar.cluster_address(),
                ) {
                    ptx: $ptx T, [dst], [src], size, [bar];
                    needs: BulkCopies;
                    safety: promise!("`dst` and `bar` are in one block. The barrier is aligned to 8 bytes, initialised, and expects \
                        `size` bytes.");
                    cpu: reduced::reduce_to(AtomicOperation::$op, dst.cluster_address().cast::<T>(), src.address().cast(), size,
                        bar.cluster_address());
                }
            }
        )* }
    };
}
in_shared_memory! {
    /// Adds one to each value, or makes it 0 if it is the source's value or above.
    cp_reduce_async_bulk_shared_cluster_shared_inc Inc counts
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc";
    /// Subtracts one from each value, or makes it the source's value if it is 0 or above that.
    cp_reduce_async_bulk_shared_cluster_shared_dec Dec counts
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.dec";
    /// Makes each value the smaller one of it and the source's value.
    cp_reduce_async_bulk_shared_cluster_shared_min Min ordered
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min";
    /// Makes each value the larger one of it and the source's value.
    cp_reduce_async_bulk_shared_cluster_shared_max Max ordered
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max";
    /// Makes each value its AND with the source's value.
    cp_reduce_async_bulk_shared_cluster_shared_and And bits
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and";
    /// Makes each value its OR with the source's value.
    cp_reduce_async_bulk_shared_cluster_shared_or Or bits
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.or";
    /// Makes each value its XOR with the source's value.
    cp_reduce_async_bulk_shared_cluster_shared_xor Xor bits
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor";
    /// Adds the source's values to the destination's.
    #[doc(alias = "cp.reduce.async.bulk")]
    cp_reduce_async_bulk_shared_cluster_shared_add Add addends
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add";
}

/// Reductions of many values in global memory, one for each operation.
macro_rules! in_global_memory {
    ($($(#[$doc:meta])* $function:ident $with:ident $op:ident $types:ident $ptx:literal;)*) => {
        instructions! { GLOBAL: $(
            instruction "cp.reduce.async.bulk", isa "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
            effect message, T = u32 {
                $(#[$doc])*
                ///
                /// The destination is in global memory. The reduction is one of a
                /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). What the block wrote to the source before is read
                /// after `fence.proxy.async.shared::cta`. Each value is changed by a relaxed atomic of the scope `.gpu`.
                unsafe fn $function / $with<T in $types>(
                    dst: *mut T as reg64,
                    src: SharedPtr<T> as reg32 = src.address(),
                    size: u32 as reg32,
                ) {
                    ptx: "cp.reduce.async.bulk.global.shared::cta.bulk_group" hint $ptx T, [dst], [src], size, policy;
                    needs: BulkCopies;
                    safety: promise!("`dst` is a generic address in global memory.");
                    cpu: reduced::reduce(AtomicOperation::$op, dst, src.address().cast(), size);
                }
            }
        )* }
    };
}
in_global_memory! {
    /// Adds one to each value, or makes it 0 if it is the source's value or above.
    cp_reduce_async_bulk_global_shared_inc cp_reduce_async_bulk_global_shared_inc_with Inc counts ".inc";
    /// Subtracts one from each value, or makes it the source's value if it is 0 or above that.
    cp_reduce_async_bulk_global_shared_dec cp_reduce_async_bulk_global_shared_dec_with Dec counts ".dec";
    /// Makes each value the smaller one of it and the source's value.
    cp_reduce_async_bulk_global_shared_min cp_reduce_async_bulk_global_shared_min_with Min global_ordered ".min";
    /// Makes each value the larger one of it and the source's value.
    cp_reduce_async_bulk_global_shared_max cp_reduce_async_bulk_global_shared_max_with Max global_ordered ".max";
    /// Makes each value its AND with the source's value.
    cp_reduce_async_bulk_global_shared_and cp_reduce_async_bulk_global_shared_and_with And global_bits ".and";
    /// Makes each value its OR with the source's value.
    cp_reduce_async_bulk_global_shared_or cp_reduce_async_bulk_global_shared_or_with Or global_bits ".or";
    /// Makes each value its XOR with the source's value.
    cp_reduce_async_bulk_global_shared_xor cp_reduce_async_bulk_global_shared_xor_with Xor global_bits ".xor";
    /// Adds the source's values to the destination's.
    #[doc(alias = "cp.reduce.async.bulk")]
    cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with Add global_addends ".add";
}

/// Reductions of floats that no Rust type tells apart.
macro_rules! of_floats {
    ($($(#[$doc:meta])* $function:ident $with:ident $op:ident $of:ident $text:literal $gate:ident $ptx:literal;)*) => {
        instructions! { FLOATS: $(
            instruction "cp.reduce.async.bulk", isa "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
            effect message, T = u32 {
                $(#[$doc])*
                ///
                /// The destination is in global memory. The reduction is one of a
                /// [group](crate::cp_async_bulk::cp_async_bulk_commit_group). What the block wrote to the source before is read
                /// after `fence.proxy.async.shared::cta`. Each value is changed by a relaxed atomic of the scope `.gpu`.
                unsafe fn $function / $with(dst: *mut $of as reg64, src: SharedPtr<$of> as shared, size: u32 as reg32) {
                    ptx: "cp.reduce.async.bulk.global.shared::cta.bulk_group" hint $ptx, [dst], [src], size, policy;
                    needs: $gate;
                    safety: promise!("`dst` is a generic address in global memory.");
                    cpu: reduced::reduce_as(AtomicOperation::$op, $text, dst.cast(), src.address().cast(), size);
                }
            }
        )* }
    };
}
of_floats! {
    /// Adds the source's `f16` to the destination's.
    cp_reduce_async_bulk_global_shared_add_noftz_f16 cp_reduce_async_bulk_global_shared_add_noftz_f16_with
        Add B16 ".f16" BulkCopies ".add.noftz.f16";
    /// Adds the source's `bf16` to the destination's.
    cp_reduce_async_bulk_global_shared_add_noftz_bf16 cp_reduce_async_bulk_global_shared_add_noftz_bf16_with
        Add B16 ".bf16" BulkCopies ".add.noftz.bf16";
    /// Adds the source's `f32` to the destination's. Subnormal numbers are kept.
    cp_reduce_async_bulk_global_shared_add_noftz_f32 cp_reduce_async_bulk_global_shared_add_noftz_f32_with
        Add f32 ".f32" AtomicF32Noftz ".add.noftz.f32";
    /// Makes each `f16` the smaller one of it and the source's.
    cp_reduce_async_bulk_global_shared_min_f16 cp_reduce_async_bulk_global_shared_min_f16_with
        Min B16 ".f16" BulkCopies ".min.f16";
    /// Makes each `bf16` the smaller one of it and the source's.
    cp_reduce_async_bulk_global_shared_min_bf16 cp_reduce_async_bulk_global_shared_min_bf16_with
        Min B16 ".bf16" BulkCopies ".min.bf16";
    /// Makes each `f16` the larger one of it and the source's.
    cp_reduce_async_bulk_global_shared_max_f16 cp_reduce_async_bulk_global_shared_max_f16_with
        Max B16 ".f16" BulkCopies ".max.f16";
    /// Makes each `bf16` the larger one of it and the source's.
    cp_reduce_async_bulk_global_shared_max_bf16 cp_reduce_async_bulk_global_shared_max_bf16_with
        Max B16 ".bf16" BulkCopies ".max.bf16";
}
