//! `cp.async.bulk`: copy many bytes at once between global and shared memory while the block goes on, or bring them into L2.

use crate::instructions::cp_async::Groups;
use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::*;
use crate::isa::gate::*;
use crate::isa::policy::CachePolicy;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu::copy;
#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// A copy or prefetch by itself and under a cache policy, and the rows of both.
///
/// Documentation, the two names, the words before and behind `.L2::cache_hint`, the operands before and behind the policy,
/// the arguments with what holds them, the gate, what it is on a CPU, and for the rows what the arguments are called, their
/// types, and the operands.
macro_rules! bulk {
    ($($(#[$doc:meta])* $name:ident $name_with:ident $words:literal $last_word:literal $text:literal $last:literal
        ($($argument:ident: $type:ty [$class:ident] $value:expr),*) $gate:ident $anchor:literal $host:block
        $arguments:literal $parameters:literal $operands:literal $last_operand:literal;)*) => {
        $(
            gated! { $name }

            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `cp.async.bulk", $words, $last_word, $text, $last, ";`. ")]
            #[doc = needs!($gate)]
            ///
            #[doc = isa_link!("cp.async.bulk" $anchor)]
            ///
            /// # Safety
            /// All addresses are aligned to 16 bytes, but a barrier's to 8, and `size` is a multiple of 16. So many bytes
            /// are there and may be read and written; nobody else writes what is read, or touches what is written, until
            /// the copy is waited for. A barrier was initialised, and is told to expect as many bytes.
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            pub unsafe fn $name<T>($($argument: $type),*)
            where
                $gate: OnTarget<$name, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    issue! {
                        ["cp.async.bulk", $words, $last_word, $text, $last, ";"] $($argument = in($class) $value,)*
                    }
                }
                #[cfg(not(target_arch = "nvptx64"))]
                $host
            }

            #[doc = concat!("[`", stringify!($name), "`] under a cache policy.")]
            ///
            #[doc = concat!("PTX: `cp.async.bulk", $words, ".L2::cache_hint", $last_word, $text, ", {policy}", $last, ";`. ")]
            #[doc = needs!($gate)]
            ///
            #[doc = isa_link!("cp.async.bulk" $anchor)]
            ///
            /// # Safety
            #[doc = concat!("As for [`", stringify!($name), "`].")]
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            pub unsafe fn $name_with<T>($($argument: $type,)* policy: CachePolicy)
            where
                $gate: OnTarget<$name, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    issue! {
                        ["cp.async.bulk", $words, ".L2::cache_hint", $last_word, $text, ", {policy}", $last, ";"]
                        $($argument = in($class) $value,)* policy = in(reg64) policy.bits(),
                    }
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    let _ = policy;
                    $host
                }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const COPIES: &[[Single; 2]] = &[$([
            Single::gated::<$gate>(
                "cp.async.bulk",
                concat!(stringify!($name), "(", $arguments, ")"),
                concat!("cp.async.bulk", $words, $last_word),
                Signature { parameters: $parameters, result: None, operands: concat!($operands, $last_operand) },
            ),
            Single::gated::<$gate>(
                "cp.async.bulk",
                concat!(stringify!($name_with), "(", $arguments, ", policy)"),
                concat!("cp.async.bulk", $words, ".L2::cache_hint", $last_word),
                Signature {
                    parameters: concat!($parameters, ", policy: CachePolicy"),
                    result: None,
                    operands: concat!($operands, ", %", $last_operand),
                },
            ),
        ]),*];
    };
}

bulk! {
    /// Copies `size` bytes from global memory into shared memory of a block of this cluster, and tells the barrier there
    /// that they have come.
    #[doc(alias = "cp.async.bulk")]
    #[doc(alias = "cp.async.bulk.shared")]
    #[doc(alias = "cp.async.bulk.shared::cluster.global")]
    #[doc(alias = "mbarrier::complete_tx::bytes")]
    cp_async_bulk_shared_cluster_global cp_async_bulk_shared_cluster_global_with
        ".shared::cluster.global.mbarrier::complete_tx::bytes" "" " [{dst}], [{src}], {size}, [{bar}]" ""
        (
            dst: impl InCluster<T> [reg32] dst.cluster_address(), src: *const T [reg64] src, size: u32 [reg32] size,
            bar: impl InCluster<Mbarrier> [reg32] bar.cluster_address()
        )
        BulkCopies "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            // SAFETY: the caller's promise.
            unsafe { copy::copy_to(dst.cluster_address(), src.cast(), size, bar.cluster_address()) }
        }
        "dst, src, size, bar"
        "dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>"
        "[%], [%], %, [%]" "";

    /// Copies `size` bytes from global memory into shared memory of each block of this cluster whose bit is set in `mask`,
    /// to the same place as `dst` in its block, and tells the barrier at the same place as `bar` there.
    ///
    /// `ptxas` advises sm_90a for it. Off the GPU it panics: a CPU knows of no blocks beside this one.
    #[doc(alias = "multicast::cluster")]
    cp_async_bulk_shared_cluster_global_multicast cp_async_bulk_shared_cluster_global_multicast_with
        ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" ""
        " [{dst}], [{src}], {size}, [{bar}], {mask}" ""
        (
            dst: impl InCluster<T> [reg32] dst.cluster_address(), src: *const T [reg64] src, size: u32 [reg32] size,
            bar: impl InCluster<Mbarrier> [reg32] bar.cluster_address(), mask: u16 [reg16] mask
        )
        BulkCopies "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            let _ = (dst, src, size, bar);
            panic!("a CPU cannot copy to the blocks {mask:#b} of a cluster: it knows of none")
        }
        "dst, src, size, bar, mask"
        "dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>, mask: u16"
        "[%], [%], %, [%], %" "";

    /// Copies `size` bytes from global memory into this block's shared memory, and tells the barrier that they have come.
    /// Before ptx86 [`cp_async_bulk_shared_cluster_global`] does it.
    #[doc(alias = "cp.async.bulk.shared")]
    #[doc(alias = "cp.async.bulk.shared::cta.global")]
    cp_async_bulk_shared_global cp_async_bulk_shared_global_with
        ".shared::cta.global.mbarrier::complete_tx::bytes" "" " [{dst}], [{src}], {size}, [{bar}]" ""
        (
            dst: SharedPtr<T> [reg32] dst.address(), src: *const T [reg64] src, size: u32 [reg32] size,
            bar: SharedPtr<Mbarrier> [reg32] bar.address()
        )
        BulkCopiesCta "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            // SAFETY: the caller's promise.
            unsafe { copy::copy_to(dst.address(), src.cast(), size, bar.address()) }
        }
        "dst, src, size, bar"
        "dst: SharedPtr<u32>, src: *const u32, size: u32, bar: SharedPtr<Mbarrier>"
        "[%], [%], %, [%]" "";

    /// Copies `size` bytes from global memory into this block's shared memory, but for the first `left` and the last
    /// `right` bytes, up to 15 each: those are not read, and what is written for them is undetermined. Tells the barrier
    /// that `size` bytes have come.
    cp_async_bulk_shared_global_ignore_oob cp_async_bulk_shared_global_ignore_oob_with
        ".shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob" ""
        " [{dst}], [{src}], {size}, {left}, {right}, [{bar}]" ""
        (
            dst: SharedPtr<T> [reg32] dst.address(), src: *const T [reg64] src, size: u32 [reg32] size,
            left: u32 [reg32] left, right: u32 [reg32] right, bar: SharedPtr<Mbarrier> [reg32] bar.address()
        )
        BulkCopyPart "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            // SAFETY: the caller's promise.
            unsafe { copy::copy_part(dst.address(), src.cast(), size, [left, right], bar.address()) }
        }
        "dst, src, size, left, right, bar"
        "dst: SharedPtr<u32>, src: *const u32, size: u32, left: u32, right: u32, bar: SharedPtr<Mbarrier>"
        "[%], [%], %, %, %, [%]" "";

    /// Copies `size` bytes from this block's shared memory into global memory: one of a
    /// [group](cp_async_bulk_commit_group). What the block wrote there before is copied behind
    /// `fence.proxy.async.shared::cta`.
    #[doc(alias = "cp.async.bulk.global")]
    #[doc(alias = "cp.async.bulk.global.shared::cta")]
    cp_async_bulk_global_shared cp_async_bulk_global_shared_with
        ".global.shared::cta.bulk_group" "" " [{dst}], [{src}], {size}" ""
        (dst: *mut T [reg64] dst, src: SharedPtr<T> [reg32] src.address(), size: u32 [reg32] size)
        BulkCopies "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            // SAFETY: the caller's promise.
            unsafe { copy::copy(dst.cast(), src.address().cast(), size) }
        }
        "dst, src, size" "dst: *mut u32, src: SharedPtr<u32>, size: u32" "[%], [%], %" "";

    /// Copies those of `size` bytes from this block's shared memory into global memory whose bit is set in `mask`: of each
    /// 16 bytes the one of that number.
    cp_async_bulk_global_shared_cp_mask cp_async_bulk_global_shared_cp_mask_with
        ".global.shared::cta.bulk_group" ".cp_mask" " [{dst}], [{src}], {size}" ", {mask}"
        (
            dst: *mut T [reg64] dst, src: SharedPtr<T> [reg32] src.address(), size: u32 [reg32] size, mask: u16 [reg16] mask
        )
        BulkCopyMask "data-movement-and-conversion-instructions-cp-async-bulk"
        {
            // SAFETY: the caller's promise.
            unsafe { copy::copy_masked(dst.cast(), src.address().cast(), size, mask) }
        }
        "dst, src, size, mask" "dst: *mut u32, src: SharedPtr<u32>, size: u32, mask: u16" "[%], [%], %" ", %";

    /// Brings `size` bytes of global memory into L2. Nothing has to be waited for; off the GPU nothing is to be done.
    #[doc(alias = "cp.async.bulk.prefetch")]
    #[doc(alias = "cp.async.bulk.prefetch.L2")]
    cp_async_bulk_prefetch_l2 cp_async_bulk_prefetch_l2_with
        ".prefetch.L2.global" "" " [{src}], {size}" ""
        (src: *const T [reg64] src, size: u32 [reg32] size)
        BulkCopies "data-movement-and-conversion-instructions-cp-async-bulk-prefetch"
        {
            let _ = (src, size);
        }
        "src, size" "src: *const u32, size: u32" "[%], %" "";
}

gated! { cp_async_bulk_shared_cluster_shared cp_async_bulk_commit_group cp_async_bulk_wait_group cp_async_bulk_wait_group_read }

/// Copies `size` bytes from this block's shared memory into that of another block of the cluster, and tells the barrier
/// there that they have come.
///
/// PTX: `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [bar];`. Needs sm_90 and
/// ptx80.
///
#[doc = isa_link!("cp.async.bulk" "data-movement-and-conversion-instructions-cp-async-bulk")]
///
/// # Safety
/// As for [`cp_async_bulk_shared_cluster_global`]; the barrier is in the block that is copied to.
#[doc(alias = "cp.async.bulk.shared::cluster.shared::cta")]
#[inline(always)]
pub unsafe fn cp_async_bulk_shared_cluster_shared<T>(
    dst: impl InCluster<T>,
    src: SharedPtr<T>,
    size: u32,
    bar: impl InCluster<Mbarrier>,
) where
    BulkCopies: OnTarget<cp_async_bulk_shared_cluster_shared, T>,
{
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(target_arch = "nvptx64")]
        issue! {
            ["cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{dst}], [{src}], {size}, [{bar}];"]
            dst = in(reg32) dst.cluster_address(), src = in(reg32) src.address(), size = in(reg32) size,
            bar = in(reg32) bar.cluster_address(),
        }
        #[cfg(not(target_arch = "nvptx64"))]
        copy::copy_to(dst.cluster_address(), src.address().cast(), size, bar.cluster_address());
    }
}

/// Makes a group of the copies to global memory that this thread has begun since the last one.
///
/// PTX: `cp.async.bulk.commit_group;`. Needs sm_90 and ptx80. Off the GPU nothing is to be done.
///
#[doc = isa_link!("cp.async.bulk.commit_group" "data-movement-and-conversion-instructions-cp-async-bulk-commit-group")]
#[doc(alias = "cp.async.bulk.commit_group")]
#[inline(always)]
pub fn cp_async_bulk_commit_group()
where
    for<'a> BulkCopies: OnTarget<cp_async_bulk_commit_group, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it only counts.
    unsafe {
        issue! { ["cp.async.bulk.commit_group;"] }
    }
}

macro_rules! waits {
    ($($(#[$doc:meta])* $name:ident $ptx:literal;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, " N;`. Needs sm_90 and ptx80. Off the GPU nothing is to be done: a copy is done at once.")]
        ///
        #[doc = isa_link!("cp.async.bulk.wait_group" "data-movement-and-conversion-instructions-cp-async-bulk-wait-group")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub fn $name<const N: u32>()
        where
            BulkCopies: OnTarget<$name, Groups<N>>,
        {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: it waits.
            unsafe {
                issue! { [$ptx, " {count};"] count = const N, }
            }
        }
    )* };
}
waits! {
    /// Waits until at most `N` of the newest groups of this thread are not yet in global memory.
    cp_async_bulk_wait_group "cp.async.bulk.wait_group";
    /// Waits until at most `N` of the newest groups of this thread are not yet read: the shared memory of the others may be
    /// written again.
    cp_async_bulk_wait_group_read "cp.async.bulk.wait_group.read";
}

#[cfg(not(target_arch = "nvptx64"))]
const OTHERS: &[Single] = &[
    Single::gated::<BulkCopies>(
        "cp.async.bulk",
        "cp_async_bulk_shared_cluster_shared(dst, src, size, bar)",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
        Signature {
            parameters: "dst: SharedClusterPtr<u32>, src: SharedPtr<u32>, size: u32, bar: SharedClusterPtr<Mbarrier>",
            result: None,
            operands: "[%], [%], %, [%]",
        },
    ),
    Single::gated::<BulkCopies>(
        "cp.async.bulk",
        "cp_async_bulk_commit_group()",
        "cp.async.bulk.commit_group",
        Signature { parameters: "", result: None, operands: "" },
    ),
    Single::gated::<BulkCopies>(
        "cp.async.bulk",
        "cp_async_bulk_wait_group::<3>()",
        "cp.async.bulk.wait_group",
        Signature { parameters: "", result: None, operands: "3" },
    ),
    Single::gated::<BulkCopies>(
        "cp.async.bulk",
        "cp_async_bulk_wait_group_read::<3>()",
        "cp.async.bulk.wait_group.read",
        Signature { parameters: "", result: None, operands: "3" },
    ),
];

mod sealed {
    pub trait Sealed {}
}

/// Where in a tensor of one to five dimensions: `[x, y]`, the fastest dimension first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in a tensor",
    label = "a tensor has one to five dimensions",
    note = "write an array of one to five `i32`"
)]
pub trait TensorCoordinates: Copy + sealed::Sealed {
    #[doc(hidden)]
    #[cfg(target_arch = "nvptx64")]
    unsafe fn prefetch(self, map: *const ());
    #[doc(hidden)]
    #[cfg(target_arch = "nvptx64")]
    unsafe fn prefetch_with(self, map: *const (), policy: CachePolicy);
}

/// Where in a tensor that is read as columns of an image: three to five dimensions, and as many offsets less two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in a tensor of columns",
    label = "such a tensor has three to five dimensions",
    note = "write an array of three to five `i32`, and one of two fewer `u16`"
)]
pub trait Im2colCoordinates: TensorCoordinates {
    /// The offsets within the image: `[u16; 1]` to `[u16; 3]`.
    type Offsets: Copy;
    #[doc(hidden)]
    #[cfg(target_arch = "nvptx64")]
    unsafe fn prefetch_im2col(self, map: *const (), offsets: Self::Offsets);
    #[doc(hidden)]
    #[cfg(target_arch = "nvptx64")]
    unsafe fn prefetch_im2col_with(self, map: *const (), offsets: Self::Offsets, policy: CachePolicy);
}

macro_rules! coordinates {
    ($($n:literal $dimensions:literal $places:literal $operands:literal $place:tt
        $([$m:literal $offsets:literal $offset_operands:literal ($($offset:ident)*)])?;)*) => {
        $(
            impl sealed::Sealed for [i32; $n] {}
            #[diagnostic::do_not_recommend]
            impl TensorCoordinates for [i32; $n] {
                #[cfg(target_arch = "nvptx64")]
                #[inline(always)]
                unsafe fn prefetch(self, map: *const ()) {
                    coordinates! { @issue map self $place [".", $dimensions, ".L2.global [{map}, ", $places, "];"] }
                }
                #[cfg(target_arch = "nvptx64")]
                #[inline(always)]
                unsafe fn prefetch_with(self, map: *const (), policy: CachePolicy) {
                    coordinates! {
                        @issue map self $place
                        [".", $dimensions, ".L2.global.L2::cache_hint [{map}, ", $places, "], {policy};"]
                        policy = in(reg64) policy.bits(),
                    }
                }
            }
            $(
                #[diagnostic::do_not_recommend]
                impl Im2colCoordinates for [i32; $n] {
                    type Offsets = [u16; $m];
                    #[cfg(target_arch = "nvptx64")]
                    #[inline(always)]
                    unsafe fn prefetch_im2col(self, map: *const (), offsets: [u16; $m]) {
                        let [$($offset),*] = offsets;
                        coordinates! {
                            @issue map self $place
                            [".", $dimensions, ".L2.global.im2col [{map}, ", $places, "], ", $offsets, ";"]
                            $($offset = in(reg16) $offset,)*
                        }
                    }
                    #[cfg(target_arch = "nvptx64")]
                    #[inline(always)]
                    unsafe fn prefetch_im2col_with(self, map: *const (), offsets: [u16; $m], policy: CachePolicy) {
                        let [$($offset),*] = offsets;
                        coordinates! {
                            @issue map self $place
                            [
                                ".", $dimensions, ".L2.global.im2col.L2::cache_hint [{map}, ", $places, "], ", $offsets,
                                ", {policy};"
                            ]
                            $($offset = in(reg16) $offset,)* policy = in(reg64) policy.bits(),
                        }
                    }
                }
            )?
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const TENSORS: &[[Single; 2]] = &[
            $(coordinates! { @rows "cp_async_bulk_prefetch_tensor" "" "(map, coordinates" $dimensions ""
                ("map: *const u8, coordinates: [i32; " $n "]") ("[%, " $operands "]")
            },)*
            $($(coordinates! { @rows "cp_async_bulk_prefetch_tensor_im2col" "" "(map, coordinates, offsets" $dimensions ".im2col"
                ("map: *const u8, coordinates: [i32; " $n "], offsets: [u16; " $m "]")
                ("[%, " $operands "], " $offset_operands)
            },)?)*
        ];
    };
    (@issue $map:ident $self:ident ($($place:ident)*) [$($text:expr),* $(,)?] $($operand:tt)*) => {{
        let [$($place),*] = $self;
        // SAFETY: the caller's promise.
        unsafe {
            issue! {
                ["cp.async.bulk.prefetch.tensor", $($text),*]
                map = in(reg64) $map, $($place = in(reg32) $place,)* $($operand)*
            }
        }
    }};
    (@rows $name:literal $none:literal $arguments:literal $dimensions:literal $mode:literal ($($parameters:literal)*)
        ($($operands:literal)*)) => {
        [
            Single::gated::<BulkCopies>(
                "cp.async.bulk.prefetch.tensor",
                concat!($name, $arguments, ")"),
                concat!("cp.async.bulk.prefetch.tensor.", $dimensions, ".L2.global", $mode),
                Signature { parameters: concat!($($parameters),*), result: None, operands: concat!($($operands),*) },
            ),
            Single::gated::<BulkCopies>(
                "cp.async.bulk.prefetch.tensor",
                concat!($name, "_with", $arguments, ", policy)"),
                concat!("cp.async.bulk.prefetch.tensor.", $dimensions, ".L2.global", $mode, ".L2::cache_hint"),
                Signature {
                    parameters: concat!($($parameters,)* ", policy: CachePolicy"),
                    result: None,
                    operands: concat!($($operands,)* ", %"),
                },
            ),
        ]
    };
}
coordinates! {
    1 "1d" "{{{a}}}" "{%}" (a);
    2 "2d" "{{{a}, {b}}}" "{%, %}" (a b);
    3 "3d" "{{{a}, {b}, {c}}}" "{%, %, %}" (a b c) [1 "{{{x}}}" "{%}" (x)];
    4 "4d" "{{{a}, {b}, {c}, {d}}}" "{%, %, %, %}" (a b c d) [2 "{{{x}, {y}}}" "{%, %}" (x y)];
    5 "5d" "{{{a}, {b}, {c}, {d}, {e}}}" "{%, %, %, %, %}" (a b c d e) [3 "{{{x}, {y}, {z}}}" "{%, %, %}" (x y z)];
}

macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident $bound:ident $method:ident ($($offsets:ident: $type:ty)?) ($($policy:ident)?) $ptx:literal;)*) => { $(
        gated! { $name }

        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `cp.async.bulk.prefetch.tensor.", $ptx, ";`. Needs sm_90 and ptx80. Off the GPU nothing is to be done.")]
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
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise.
            unsafe {
                coordinates.$method(map.cast() $(, $offsets)? $(, $policy)?)
            }
            #[cfg(not(target_arch = "nvptx64"))]
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

/// Every `cp.async.bulk`.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) fn singles() -> impl Iterator<Item = &'static Single> {
    COPIES.iter().flatten().chain(OTHERS).chain(TENSORS.iter().flatten())
}
