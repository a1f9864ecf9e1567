//! `cp.async`: copy from global to shared memory while the thread goes on, and wait for it.

use core::marker::PhantomData;

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::SharedPtr;
use crate::isa::element::*;
use crate::isa::gate::*;
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu::{copy, mbarrier};
#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

/// A type that `cp.async.ca` copies: one of 4, 8 or 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`cp.async.ca` copies 4, 8 or 16 bytes, and `{Self}` is no type of such a size",
    label = "not 4, 8 or 16 bytes",
    note = "it takes what one instruction moves of that size, such as `f32`, `V2<f32>` and `V4<f32>`; `cast` the pointers to one"
)]
pub trait CpAsyncCaElement: Element {}

/// A type that `cp.async.cg` copies: one of 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`cp.async.cg` copies 16 bytes, and `{Self}` is no type of that size",
    label = "not 16 bytes",
    note = "it takes what one instruction moves of that size, such as `V4<f32>`; `cast` the pointers to one, or use `cp_async_ca`, which copies 4 and 8 bytes too"
)]
pub trait CpAsyncCgElement: Element {}

macro_rules! elements {
    ($bytes:literal $traits:tt: $([$($of:ident),*] $t:tt;)*) => { $($(
        elements! { @each $of $bytes $traits $t }
    )*)* };
    (@each $of:ident $bytes:literal $traits:tt (one)) => { elements! { @impl ($of) $bytes $traits } };
    (@each $of:ident $bytes:literal $traits:tt ($vector:ident)) => { elements! { @impl ($vector<$of>) $bytes $traits } };
    (@impl ($t:ty) $bytes:literal [$($trait:ident)*]) => {
        $(
            #[diagnostic::do_not_recommend]
            impl $trait for $t {}
        )*
        const _: () = assert!(size_of::<$t>() == $bytes);
    };
}
elements! { 4 [CpAsyncCaElement]:
    [u32, i32, f32, B32] (one);
    [u16, i16, B16] (V2);
    [u8, i8, B8] (V4);
}
elements! { 8 [CpAsyncCaElement]:
    [u64, i64, f64, B64] (one);
    [u32, i32, f32, B32] (V2);
    [u16, i16, B16] (V4);
}
elements! { 16 [CpAsyncCaElement CpAsyncCgElement]:
    [u128, i128, B128] (one);
    [u64, i64, f64, B64] (V2);
    [u32, i32, f32, B32] (V4);
}
#[cfg(feature = "half")]
mod half_types {
    use super::*;
    use half::{bf16, f16};

    elements! { 4 [CpAsyncCaElement]: [f16, bf16] (V2); }
    elements! { 8 [CpAsyncCaElement]: [f16, bf16] (V4); }
}

/// The copy on a GPU, with a prefetch size and without.
#[cfg(target_arch = "nvptx64")]
macro_rules! copy {
    ($level:literal $hint:literal $tail:literal [$before:literal $after:literal] $dst:ident $src:ident [$($operand:tt)*]) => {
        // SAFETY: the caller's promise about both addresses.
        unsafe {
            match const { P::BYTES } {
                0 => issue! {
                    [$before, "cp.async", $level, ".shared.global", $hint, " [{dst}], [{src}], {size}", $tail, ";", $after]
                    dst = in(reg32) $dst.address(), src = in(reg64) $src, $($operand)* size = const size_of::<T>(),
                },
                _ => issue! {
                    [
                        $before, "cp.async", $level, ".shared.global", $hint, ".L2::{bytes}B [{dst}], [{src}], {size}",
                        $tail, ";", $after
                    ]
                    dst = in(reg32) $dst.address(), src = in(reg64) $src, $($operand)* size = const size_of::<T>(),
                    bytes = const P::BYTES,
                },
            }
        }
    };
}

/// The copy on a CPU, done at once.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! copy {
    ($level:literal $hint:literal "" $block:tt $dst:ident $src:ident $operands:tt) => {
        copy! { @bytes $dst $src size_of::<T>() }
    };
    ($level:literal $hint:literal ", {policy}" $block:tt $dst:ident $src:ident [policy = in(reg64) $policy:ident.bits(),]) => {{
        let _ = $policy;
        copy! { @bytes $dst $src size_of::<T>() }
    }};
    ($level:literal $hint:literal $tail:literal $block:tt $dst:ident $src:ident [
        $name:ident = in(reg32) $value:expr, $(policy = in(reg64) $policy:ident.bits(),)?
    ]) => {{
        $(let _ = $policy;)?
        copy! { @bytes $dst $src copy::bytes_of::<T>(stringify!($name), $value) }
    }};
    (@bytes $dst:ident $src:ident $bytes:expr) => {
        // SAFETY: the caller's promise about both addresses.
        unsafe { copy::filled($dst.address().cast(), $src.cast(), $bytes, size_of::<T>()) }
    };
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $function:ident $level:literal $element:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// `P` is what L2 fetches beside it. Made by
        #[doc = concat!("[`", stringify!($function), "`]; it can stand in a `const`.")]
        #[derive(Clone, Copy, Debug)]
        #[must_use = "nothing is copied before `copy`"]
        pub struct $kind<P = NoPrefetch>(PhantomData<P>);

        $(#[$doc])*
        ///
        /// ```
        /// use ptx_intrinsics::*;
        ///
        /// let (from, mut tile) = (V4::new([1.0f32, 2.0, 3.0, 4.0]), V4::default());
        /// let to = SharedPtr::new(&raw mut tile);
        /// unsafe {
        #[doc = concat!("    // cp.async", $level, ".shared.global.L2::128B [to], [from], 16;")]
        #[doc = concat!("    ", stringify!($function), "::<Prefetch128>().copy(to, &from);")]
        ///     cp_async_wait_all();
        /// }
        /// assert_eq!(tile.0, from.0);
        /// ```
        ///
        #[doc = concat!("PTX: `cp.async", $level, ".shared.global{.L2::cache_hint}{.L2::…B} [dst], [src], size{, src_size}{, policy};`. ")]
        /// Needs sm_80 and ptx70; with a prefetch size ptx74.
        ///
        #[doc = isa_link!("cp.async" "data-movement-and-conversion-instructions-cp-async")]
        #[doc(alias = "cp.async")]
        #[inline(always)]
        pub const fn $function<P>() -> $kind<P>
        where
            P: PrefetchSize<Gate: OnTarget<P>>,
            AsyncCopies: OnTarget<$kind, P>,
        {
            $kind(PhantomData)
        }

        impl<P: PrefetchSize> $kind<P> {
            /// Begins to copy a `T`.
            ///
            /// # Safety
            /// `src` points at a `T` in global memory and `dst` at one in this block's shared memory, both aligned to
            /// its size. Until the copy is waited for, nobody writes the one, and nobody reads or writes the other.
            #[inline(always)]
            pub unsafe fn copy<T: $element>(self, dst: SharedPtr<T>, src: *const T) {
                copy! { $level "" "" ["" ""] dst src [] }
            }

            /// The same under a cache policy: `.L2::cache_hint`. Needs ptx74.
            ///
            /// # Safety
            /// As for [`copy`](Self::copy).
            #[inline(always)]
            pub unsafe fn copy_with<T: $element>(self, dst: SharedPtr<T>, src: *const T, policy: CachePolicy)
            where
                CacheHint: OnTarget<CachePolicy, T>,
            {
                copy! { $level ".L2::cache_hint" ", {policy}" ["" ""] dst src [policy = in(reg64) policy.bits(),] }
            }

            /// Begins to copy `src_size` bytes, and to fill the rest of the `T` with zeros.
            ///
            /// # Safety
            /// As for [`copy`](Self::copy), and `src_size` is at most the size of `T`; only so many bytes are read.
            #[inline(always)]
            pub unsafe fn copy_zfill<T: $element>(self, dst: SharedPtr<T>, src: *const T, src_size: u32) {
                copy! { $level "" ", {src_size}" ["" ""] dst src [src_size = in(reg32) src_size,] }
            }

            /// The same under a cache policy: `.L2::cache_hint`. Needs ptx74.
            ///
            /// # Safety
            /// As for [`copy_zfill`](Self::copy_zfill).
            #[inline(always)]
            pub unsafe fn copy_zfill_with<T: $element>(
                self,
                dst: SharedPtr<T>,
                src: *const T,
                src_size: u32,
                policy: CachePolicy,
            ) where
                CacheHint: OnTarget<CachePolicy, T>,
            {
                copy! {
                    $level ".L2::cache_hint" ", {src_size}, {policy}" ["" ""] dst src
                    [src_size = in(reg32) src_size, policy = in(reg64) policy.bits(),]
                }
            }

            /// Begins to copy a `T`, unless `ignore` is true: then it is filled with zeros, and nothing is read. Needs
            /// ptx75.
            ///
            /// # Safety
            /// As for [`copy`](Self::copy); where `ignore` is true, `src` may point anywhere.
            #[inline(always)]
            pub unsafe fn copy_unless<T: $element>(self, ignore: bool, dst: SharedPtr<T>, src: *const T)
            where
                AsyncIgnore: OnTarget<copy_unless, T>,
            {
                copy! {
                    $level "" ", %ignore"
                    ["{{\n.reg .pred %ignore;\nsetp.ne.b32 %ignore, {ignore}, 0;\n" "\n}}"] dst src
                    [ignore = in(reg32) ignore as u32,]
                }
            }

            /// The same under a cache policy: `.L2::cache_hint`. Needs ptx75.
            ///
            /// # Safety
            /// As for [`copy_unless`](Self::copy_unless).
            #[inline(always)]
            pub unsafe fn copy_unless_with<T: $element>(
                self,
                ignore: bool,
                dst: SharedPtr<T>,
                src: *const T,
                policy: CachePolicy,
            ) where
                AsyncIgnore: OnTarget<copy_unless, T>,
            {
                copy! {
                    $level ".L2::cache_hint" ", %ignore, {policy}"
                    ["{{\n.reg .pred %ignore;\nsetp.ne.b32 %ignore, {ignore}, 0;\n" "\n}}"] dst src
                    [ignore = in(reg32) ignore as u32, policy = in(reg64) policy.bits(),]
                }
            }
        }
    )* };
}
gated! { copy_unless cp_async_commit_group cp_async_wait_group cp_async_wait_all cp_async_mbarrier_arrive cp_async_mbarrier_arrive_noinc }
kinds! {
    /// Copies 4, 8 or 16 bytes from global to shared memory, cached at all levels: `cp.async.ca`.
    #[doc(alias = "cp.async.ca")]
    CpAsyncCa cp_async_ca ".ca" CpAsyncCaElement;
    /// Copies 16 bytes from global to shared memory, cached in L2 and not in L1: `cp.async.cg`.
    #[doc(alias = "cp.async.cg")]
    CpAsyncCg cp_async_cg ".cg" CpAsyncCgElement;
}

/// Makes a group of the copies that this thread has begun since the last one.
///
/// PTX: `cp.async.commit_group;`. Needs sm_80 and ptx70. Off the GPU nothing is to be done.
///
#[doc = isa_link!("cp.async.commit_group" "data-movement-and-conversion-instructions-cp-async-commit-group")]
#[doc(alias = "cp.async.commit_group")]
#[inline(always)]
pub fn cp_async_commit_group()
where
    for<'a> AsyncCopies: OnTarget<cp_async_commit_group, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it only counts.
    unsafe {
        issue! { ["cp.async.commit_group;"] }
    }
}

/// Waits until at most `N` of the newest groups of this thread are not yet copied. The thread sees what the others brought;
/// other threads see it behind a barrier.
///
/// ```
/// use ptx_intrinsics::*;
///
/// cp_async_wait_group::<1>(); // cp.async.wait_group 1;
/// ```
///
/// PTX: `cp.async.wait_group N;`. Needs sm_80 and ptx70. `ptxas` waits for more where `N` is above 63. Off the GPU nothing
/// is to be done: a copy is done at once.
///
#[doc = isa_link!("cp.async.wait_group" "data-movement-and-conversion-instructions-cp-async-wait-group")]
#[doc(alias = "cp.async.wait_group")]
#[inline(always)]
pub fn cp_async_wait_group<const N: u32>()
where
    AsyncCopies: OnTarget<cp_async_wait_group, Groups<N>>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it waits.
    unsafe {
        issue! { ["cp.async.wait_group {count};"] count = const N, }
    }
}

/// A number of groups, as a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Groups<const N: u32>;

/// Waits until everything is copied that this thread has begun to.
///
/// PTX: `cp.async.wait_all;`. Needs sm_80 and ptx70. Off the GPU nothing is to be done: a copy is done at once.
///
#[doc = isa_link!("cp.async.wait_all" "data-movement-and-conversion-instructions-cp-async-wait-group")]
#[doc(alias = "cp.async.wait_all")]
#[inline(always)]
pub fn cp_async_wait_all()
where
    for<'a> AsyncCopies: OnTarget<cp_async_wait_all, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it waits.
    unsafe {
        issue! { ["cp.async.wait_all;"] }
    }
}

macro_rules! arrivals {
    ($($(#[$doc:meta])* $name:ident($bar:ident) $noinc:literal [$($host:tt)*];)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `cp.async.mbarrier.arrive", $noinc, ".shared.b64 [bar];`. Needs sm_80 and ptx70.")]
        ///
        #[doc = isa_link!("cp.async.mbarrier.arrive" "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive")]
        ///
        /// # Safety
        /// `bar` points at a barrier in this block's shared memory that was initialised.
        #[doc(alias = "cp.async.mbarrier.arrive")]
        #[inline(always)]
        pub unsafe fn $name($bar: SharedPtr<Mbarrier>)
        where
            for<'a> AsyncCopies: OnTarget<$name, &'a ()>,
        {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise.
            unsafe {
                issue! {
                    ["cp.async.mbarrier.arrive", $noinc, ".shared.b64 [{bar}];"] bar = in(reg32) $bar.address(),
                }
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let _ = $bar;
                $($host)*
            }
        }
    )* };
}
arrivals! {
    /// Arrives at the barrier when everything is copied that this thread has begun to. That arrival is not one of those
    /// that the barrier was told to expect: it is counted in before. Off the GPU nothing is to be done.
    cp_async_mbarrier_arrive(bar) "" [];

    /// Arrives at the barrier when everything is copied that this thread has begun to: one of the arrivals that the
    /// barrier was told to expect.
    #[doc(alias = "cp.async.mbarrier.arrive.noinc")]
    cp_async_mbarrier_arrive_noinc(bar) ".noinc" [
        // SAFETY: the caller's promise. All copies are done.
        unsafe { mbarrier::arrive(bar.address(), 1, 0, 0) };
    ];
}

/// Each method of one kind that copies a type, with each prefetch size.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! rows {
    ($($level:literal $function:literal $size:literal $of:literal;)*) => {
        &[$(rows! { @sizes $level $function $size $of
            "NoPrefetch" "" Always, "Prefetch64" ".L2::64B" PrefetchSizes, "Prefetch128" ".L2::128B" PrefetchSizes,
            "Prefetch256" ".L2::256B" PrefetchSize256
        }),*]
    };
    (@sizes $level:literal $function:literal $size:literal $of:literal $($prefetch:literal $text:literal $size_gate:ident),*) => {
        [$([
            rows! { @row $level $function $size $of $prefetch $text $size_gate Always "copy" "" "" "" "" "" "" },
            rows! { @row $level $function $size $of $prefetch $text $size_gate CacheHint "copy_with" "" "" "" "" "" "policy" },
            rows! { @row $level $function $size $of $prefetch $text $size_gate Always
                "copy_zfill" "" ", src_size" "" ", src_size: u32" ", %" ""
            },
            rows! { @row $level $function $size $of $prefetch $text $size_gate CacheHint
                "copy_zfill_with" "" ", src_size" "" ", src_size: u32" ", %" "policy"
            },
            rows! { @row $level $function $size $of $prefetch $text $size_gate AsyncIgnore
                "copy_unless" "ignore, " "" "ignore: bool, " "" ", %ignore" ""
            },
            rows! { @row $level $function $size $of $prefetch $text $size_gate AsyncIgnore
                "copy_unless_with" "ignore, " "" "ignore: bool, " "" ", %ignore" "policy"
            },
        ]),*]
    };
    (@row $level:literal $function:literal $size:literal $of:literal $prefetch:literal $text:literal $size_gate:ident $gate:ident
        $method:literal $before:literal $behind:literal $first:literal $last:literal $operand:literal "") => {
        Single::new(
            "cp.async",
            concat!($function, "::<", $prefetch, ">().", $method, "(", $before, "dst, src", $behind, ")"),
            concat!("cp.async", $level, ".shared.global", $text),
            Signature {
                parameters: concat!($first, "dst: SharedPtr<", $of, ">, src: *const ", $of, $last),
                result: None,
                operands: concat!("[%], [%], ", $size, $operand),
            },
            Needs::of::<AsyncCopies>().and(Needs::of::<$size_gate>()).and(Needs::of::<$gate>()),
        )
    };
    (@row $level:literal $function:literal $size:literal $of:literal $prefetch:literal $text:literal $size_gate:ident $gate:ident
        $method:literal $before:literal $behind:literal $first:literal $last:literal $operand:literal "policy") => {
        Single::new(
            "cp.async",
            concat!($function, "::<", $prefetch, ">().", $method, "(", $before, "dst, src", $behind, ", policy)"),
            concat!("cp.async", $level, ".shared.global.L2::cache_hint", $text),
            Signature {
                parameters: concat!(
                    $first, "dst: SharedPtr<", $of, ">, src: *const ", $of, $last, ", policy: CachePolicy"
                ),
                result: None,
                operands: concat!("[%], [%], ", $size, $operand, ", %"),
            },
            Needs::of::<AsyncCopies>().and(Needs::of::<$size_gate>()).and(Needs::of::<$gate>()),
        )
    };
}

#[cfg(not(target_arch = "nvptx64"))]
const COPIES: &[[[Single; 6]; 4]] = rows! {
    ".ca" "cp_async_ca" "4" "u32";
    ".ca" "cp_async_ca" "8" "u64";
    ".ca" "cp_async_ca" "16" "V4<u32>";
    ".cg" "cp_async_cg" "16" "V4<u32>";
};

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! waits {
    ($($instruction:literal $rust:literal $ptx:literal $parameters:literal $operands:literal;)*) => {
        &[$(Single::gated::<AsyncCopies>(
            $instruction,
            $rust,
            $ptx,
            Signature { parameters: $parameters, result: None, operands: $operands },
        )),*]
    };
}

#[cfg(not(target_arch = "nvptx64"))]
const WAITS: &[Single] = waits! {
    "cp.async.commit_group" "cp_async_commit_group()" "cp.async.commit_group" "" "";
    "cp.async.wait_group" "cp_async_wait_group::<3>()" "cp.async.wait_group" "" "3";
    "cp.async.wait_all" "cp_async_wait_all()" "cp.async.wait_all" "" "";
    "cp.async.mbarrier.arrive" "cp_async_mbarrier_arrive(bar)" "cp.async.mbarrier.arrive.shared.b64" "bar: SharedPtr<Mbarrier>" "[%]";
    "cp.async.mbarrier.arrive" "cp_async_mbarrier_arrive_noinc(bar)" "cp.async.mbarrier.arrive.noinc.shared.b64"
        "bar: SharedPtr<Mbarrier>" "[%]";
};

/// Every `cp.async`, and what waits for it.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) fn singles() -> impl Iterator<Item = &'static Single> {
    COPIES.iter().flatten().flatten().chain(WAITS)
}
