//! `cp.async`: copy from global to shared memory while the thread goes on, and wait for it.

use core::marker::PhantomData;

use crate::instructions::mbarrier::Mbarrier;
use crate::instructions::shared_ptr::SharedPtr;
use crate::isa::element::*;
use crate::isa::gate::*;
use crate::isa::policy::CachePolicy;
use crate::isa::prefetch_size::*;

#[cfg(not(ptx_device))]
use crate::cpu::{copy, mbarrier};

/// A type that `cp.async.ca` copies: one of 4, 8 or 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`cp.async.ca` copies 4, 8 or 16 bytes, and `{Self}` is not a type of that size",
    label = "not 4, 8 or 16 bytes",
    note = "it takes a type of that size that one instruction moves, such as `f32`, `V2<f32>` and `V4<f32>`; `cast` the pointers to one"
)]
pub trait CpAsyncCaElement: Element {}

/// A type that `cp.async.cg` copies: one of 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`cp.async.cg` copies 16 bytes, and `{Self}` is not a type of that size",
    label = "not 16 bytes",
    note = "it takes a type of that size that one instruction moves, such as `V4<f32>`; `cast` the pointers to one, or use `cp_async_ca`, which copies 4 and 8 bytes too"
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

/// A copy on a GPU: PTX and what follows the size, the block of PTX around it, registers; on a CPU, where it is done at
/// once: how many bytes are read.
#[cfg(ptx_device)]
macro_rules! copy {
    ($manner:ident $ptx:literal $dst:ident $src:ident [$($operand:tt),*] $block:tt ($($register:tt)*) $bytes:expr) => {
        emit! {
            message $manner
            [P::BYTES;
                (64 => ".L2::64B" "", Always) (128 => ".L2::128B" "", Always) (256 => ".L2::256B" "", Always) (_ => "" "", Always)]
            [$ptx hint SIZE] [[dst], [src], size, $($operand,)* policy] $block
            (dst = in(reg32) $dst.address(), src = in(reg64) $src, $($register)* size = const size_of::<T>(),)
        }
    };
}
#[cfg(not(ptx_device))]
macro_rules! copy {
    ($manner:ident $ptx:literal $dst:ident $src:ident $operands:tt $block:tt $registers:tt $bytes:expr) => {
        // SAFETY: the caller's promise about both addresses.
        unsafe { copy::filled($dst.address().cast(), $src.cast(), $bytes, size_of::<T>()) }
    };
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $function:ident $ptx:literal $element:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// `P` is what L2 fetches beside it. Made by
        #[doc = concat!("[`", stringify!($function), "`]; it can be a `const`.")]
        #[derive(Clone, Copy, Debug)]
        #[must_use = "nothing is copied before `copy`"]
        pub struct $kind<P = NoPrefetch>(PhantomData<P>);

        $(#[$doc])*
        ///
        /// ```
        /// use ptx_intrinsics::cp_async::*;
        /// use ptx_intrinsics::prelude::*;
        ///
        /// let (from, mut tile) = (V4::new([1.0f32, 2.0, 3.0, 4.0]), V4::default());
        /// let to = SharedPtr::new(&raw mut tile);
        /// unsafe {
        #[doc = concat!("    // ", $ptx, ".L2::128B [to], [from], 16;")]
        #[doc = concat!("    ", stringify!($function), "::<Prefetch128>().copy(to, &from);")]
        ///     cp_async_wait_all();
        /// }
        /// assert_eq!(tile.0, from.0);
        /// ```
        ///
        #[doc = concat!("PTX: `", $ptx, "{.L2::cache_hint}{.L2::…B} [dst], [src], size{, src_size}{, policy};`. ")]
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

        #[cfg_attr(not(ptx_device), allow(unused_variables, reason = "a policy is a hint"))]
        impl<P: PrefetchSize> $kind<P> {
            /// Begins to copy a `T`.
            ///
            /// # Safety
            /// `src` points at a `T` in global memory and `dst` at one in this block's shared memory, both aligned to
            /// its size. Until a wait for the copy, nobody writes `src`, and nobody reads or writes `dst`.
            #[inline(always)]
            pub unsafe fn copy<T: $element>(self, dst: SharedPtr<T>, src: *const T) {
                copy! { PLAIN $ptx dst src [] () () size_of::<T>() }
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
                copy! { WITH $ptx dst src [] () (policy = in(reg64) policy.bits(),) size_of::<T>() }
            }

            /// Begins to copy `src_size` bytes, and to fill the rest of the `T` with zeros.
            ///
            /// # Safety
            /// As for [`copy`](Self::copy), and `src_size` is at most the size of `T`; only so many bytes are read.
            #[inline(always)]
            pub unsafe fn copy_zfill<T: $element>(self, dst: SharedPtr<T>, src: *const T, src_size: u32) {
                copy! { PLAIN $ptx dst src [src_size] () (src_size = in(reg32) src_size,) copy::bytes_of::<T>("src_size", src_size) }
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
                copy! { WITH $ptx dst src [src_size] () (src_size = in(reg32) src_size, policy = in(reg64) policy.bits(),) copy::bytes_of::<T>("src_size", src_size) }
            }

            /// Begins to copy a `T`. If `ignore` is true, it reads nothing and writes zeros. Needs
            /// ptx75.
            ///
            /// # Safety
            /// As for [`copy`](Self::copy); where `ignore` is true, `src` may point anywhere.
            #[inline(always)]
            pub unsafe fn copy_unless<T: $element>(self, ignore: bool, dst: SharedPtr<T>, src: *const T)
            where
                AsyncIgnore: OnTarget<copy_unless, T>,
            {
                copy! { PLAIN $ptx dst src ["%ignore"] ((ignore)) (ignore = in(reg32) ignore as u32,) copy::bytes_of::<T>("ignore", ignore as u32) }
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
                copy! { WITH $ptx dst src ["%ignore"] ((ignore)) (ignore = in(reg32) ignore as u32, policy = in(reg64) policy.bits(),) copy::bytes_of::<T>("ignore", ignore as u32) }
            }
        }
    )* };
}
gated! { copy_unless }
kinds! {
    /// Copies 4, 8 or 16 bytes from global to shared memory, cached at all levels: `cp.async.ca`.
    #[doc(alias = "cp.async.ca")]
    CpAsyncCa cp_async_ca "cp.async.ca.shared.global" CpAsyncCaElement;
    /// Copies 16 bytes from global to shared memory, cached in L2 and not in L1: `cp.async.cg`.
    #[doc(alias = "cp.async.cg")]
    CpAsyncCg cp_async_cg "cp.async.cg.shared.global" CpAsyncCgElement;
}

instructions! { WAITS:
    instruction "cp.async.commit_group", isa "data-movement-and-conversion-instructions-cp-async-commit-group", effect message, T = u8 {
        /// Makes a group of the copies that this thread has begun since the last one. On a CPU it does nothing.
        safe fn cp_async_commit_group() {
            ptx: "cp.async.commit_group";
            needs: AsyncCopies;
            cpu: ();
        }
    }

    instruction "cp.async.wait_group", isa "data-movement-and-conversion-instructions-cp-async-wait-group", effect message, T = u8 {
        /// Waits until at most `N` of the newest groups of this thread are not yet copied. The thread sees what the others
        /// brought; other threads see it after a barrier.
        ///
        /// ```
        /// use ptx_intrinsics::cp_async::*;
        /// use ptx_intrinsics::prelude::*;
        ///
        /// cp_async_wait_group::<1>(); // cp.async.wait_group 1;
        /// ```
        ///
        /// If `N` is above 63, `ptxas` waits for more groups. On a CPU it does nothing, because a copy is done at once.
        safe fn cp_async_wait_group[const N]() {
            ptx: "cp.async.wait_group", N;
            needs: AsyncCopies;
            cpu: ();
        }
    }

    instruction "cp.async.wait_all", isa "data-movement-and-conversion-instructions-cp-async-wait-group", effect message, T = u8 {
        /// Waits until all copies that this thread has begun are complete. On a CPU it does nothing, because a copy is done
        /// at once.
        safe fn cp_async_wait_all() {
            ptx: "cp.async.wait_all";
            needs: AsyncCopies;
            cpu: ();
        }
    }

    instruction "cp.async.mbarrier.arrive",
    isa "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive", effect message, T = u8 {
        /// Arrives at the barrier when all copies that this thread has begun are complete. The barrier expects one arrival
        /// more for this, so it is not one of the arrivals that it was initialised with. On a CPU it does nothing.
        #[doc(alias = "cp.async.mbarrier.arrive")]
        unsafe fn cp_async_mbarrier_arrive(bar: SharedPtr<Mbarrier> as reg32 = bar.address()) {
            ptx: "cp.async.mbarrier.arrive.shared.b64", [bar];
            needs: AsyncCopies;
            safety: "`bar` points at a barrier in this block's shared memory that was initialised.";
            cpu: ();
        }

        /// Arrives at the barrier when all copies that this thread has begun are complete. This is one of the arrivals that
        /// the barrier was initialised with.
        #[doc(alias = "cp.async.mbarrier.arrive.noinc")]
        unsafe fn cp_async_mbarrier_arrive_noinc(bar: SharedPtr<Mbarrier> as reg32 = bar.address()) {
            ptx: "cp.async.mbarrier.arrive.noinc.shared.b64", [bar];
            needs: AsyncCopies;
            safety: "`bar` points at a barrier in this block's shared memory that was initialised.";
            cpu: {
                // All copies are done.
                mbarrier::arrive(bar.address(), 1, 0, 0);
            };
        }
    }
}

/// Each method of one kind that copies a type, with each prefetch size.
#[cfg(not(ptx_device))]
macro_rules! rows_of_copies {
    ($($function:literal $ptx:literal $of:literal $size:literal;)*) => {
        &[$(
            rows_of_copies! { @methods $function $ptx $of $size "NoPrefetch" "" Always },
            rows_of_copies! { @methods $function $ptx $of $size "Prefetch64" ".L2::64B" PrefetchSizes },
            rows_of_copies! { @methods $function $ptx $of $size "Prefetch128" ".L2::128B" PrefetchSizes },
            rows_of_copies! { @methods $function $ptx $of $size "Prefetch256" ".L2::256B" PrefetchSize256 },
        )*]
    };
    (@methods $function:literal $ptx:literal $of:literal $size:literal $prefetch:literal $text:literal $gate:ident) => {
        rows_of_copies! { @rows [$function $ptx $of $size $prefetch $text $gate]
            PLAIN "copy" needs Always: () dst src ();
            WITH "copy_with" needs CacheHint: () dst src (policy "CachePolicy");
            PLAIN "copy_zfill" needs Always: () dst src (src_size "u32", src_size);
            WITH "copy_zfill_with" needs CacheHint: () dst src (src_size "u32", src_size; policy "CachePolicy");
            PLAIN "copy_unless" needs AsyncIgnore: (ignore "bool", "%ignore") dst src ();
            WITH "copy_unless_with" needs AsyncIgnore: (ignore "bool", "%ignore") dst src (policy "CachePolicy");
        }
    };
    (@rows $kind:tt $(
        $manner:ident $method:literal needs $gate:ident:
        ($($before:ident $before_type:literal, $before_operand:tt)?) dst src
        ($($after:ident $after_type:literal $(, $after_operand:tt)?);*);
    )*) => {
        &[$(rows_of_copies! {
            @row $kind $manner $method $gate
            [$(, $before_operand)? $($(, $after_operand)?)*]
            [$((stringify!($before), $before_type),)? ("dst", "SharedPtr<T>"), ("src", "*const T"), $((stringify!($after), $after_type),)*]
        }),*]
    };
    (@row [$function:literal $ptx:literal $of:literal $size:literal $prefetch:literal $text:literal $size_gate:ident]
        $manner:ident $method:literal $gate:ident [$($operand:tt)*] $parameters:tt) => {
        rows! {
            $manner [(); (_ => $text "", $size_gate)] [$ptx hint SIZE] [[dst], [src], $size $($operand)*, policy]
            Needs::of::<AsyncCopies>().and(Needs::of::<$gate>()), {
                instruction: "cp.async",
                section: "data-movement-and-conversion-instructions-cp-async",
                name: concat!($function, "::<", $prefetch, ">().", $method),
                of: $of,
                generic: "",
                parameters: &$parameters,
                result: None,
            }
        }
    };
}

/// The rows of the catalogue: the function, PTX, and the types of each size that a copy takes.
#[cfg(not(ptx_device))]
pub(crate) const COPIES: crate::isa::row::Table = rows_of_copies! {
    "cp_async_ca" "cp.async.ca.shared.global" "u32" 4;
    "cp_async_ca" "cp.async.ca.shared.global" "u64" 8;
    "cp_async_ca" "cp.async.ca.shared.global" "V4<u32>" 16;
    "cp_async_cg" "cp.async.cg.shared.global" "V4<u32>" 16;
};
