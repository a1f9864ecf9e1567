//! `cp.async`: copy from global to shared memory while the thread goes on, and wait for it.

use core::marker::PhantomData;

use crate::instructions::mbarrier::Mbarrier;
use crate::isa::element::*;
use crate::isa::gate::*;
use crate::isa::prefetch_size::*;

#[cfg(not(ptx_device))]
use crate::cpu;

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

/// The sizes that a copy takes, as words: `<T in sizes_of_ca>`.
macro_rules! sizes {
    ($($table:ident $trait:ident [$($size:pat => $text:literal $of:literal),*])*) => { $(
        macro_rules! $table {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$trait] [size_of::<$parameter>(); $(($size => $text $of, AsyncCopies))*] "size" "", $row
            } };
        }
    )* };
}
sizes! {
    sizes_of_ca CpAsyncCaElement [4 => "4" "u32", 8 => "8" "u64", _ => "16" "V4<u32>"]
    sizes_of_cg CpAsyncCgElement [_ => "16" "V4<u32>"]
}

/// What begins copies of a kind, and its methods.
macro_rules! copies {
    ($($(#[$doc:meta])* $kind:ident $function:ident $ptx:literal $sizes:ident;)*) => {
        $(
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
            #[doc = concat!(needs!(AsyncCopies), " With a prefetch size: ", needs!(PrefetchSizes))]
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
        )*

        instructions! { COPIES: $(
            instruction "cp.async", isa "data-movement-and-conversion-instructions-cp-async", effect message, T = u8 {
                /// Begins to copy a `T`.
                unsafe fn [$kind<P: PrefetchSize> by $function] copy / copy_with<impl P in prefetch_size, T in $sizes>(
                    dst: SharedPtr<T> as shared,
                    src: *const T as reg64,
                ) {
                    ptx: $ptx hint P, [dst], [src], T, policy;
                    needs: (AsyncCopies) / CacheHint;
                    safety: "`src` points to a `T` in global memory and `dst` to one in this block's shared memory, both \
                        aligned to its size. Until the copy is waited for, no thread writes to `src`, or reads or writes `dst`.";
                    cpu: cpu::copy::begin(dst.address().cast(), src.cast(), size_of::<T>(), size_of::<T>());
                }

                /// Begins to copy `src_size` bytes, and to fill the rest of the `T` with zeros.
                unsafe fn [$kind<P: PrefetchSize> by $function] copy_zfill / copy_zfill_with<impl P in prefetch_size, T in $sizes>(
                    dst: SharedPtr<T> as shared,
                    src: *const T as reg64,
                    src_size: u32 as reg32,
                ) {
                    ptx: $ptx hint P, [dst], [src], T, src_size, policy;
                    needs: (AsyncCopies) / CacheHint;
                    safety: "As for [`copy`](Self::copy), and `src_size` is at most the size of `T`; only `src_size` bytes are read.";
                    cpu: {
                        let bytes = cpu::copy::bytes_of::<T>("src_size", src_size);
                        cpu::copy::begin(dst.address().cast(), src.cast(), bytes, size_of::<T>())
                    };
                }

                /// Begins to copy a `T`. If `ignore` is true, it reads nothing and writes zeros.
                unsafe fn [$kind<P: PrefetchSize> by $function] copy_unless / copy_unless_with<impl P in prefetch_size, T in $sizes>(
                    ignore: bool as reg32 = ignore as u32,
                    dst: SharedPtr<T> as shared,
                    src: *const T as reg64,
                ) {
                    ptx: $ptx hint P, [dst], [src], T, "%ignore", policy;
                    block: (ignore);
                    needs: AsyncIgnore;
                    safety: "As for [`copy`](Self::copy); where `ignore` is true, `src` may point anywhere.";
                    cpu: {
                        let bytes = cpu::copy::bytes_of::<T>("ignore", ignore as u32);
                        cpu::copy::begin(dst.address().cast(), src.cast(), bytes, size_of::<T>())
                    };
                }
            }
        )* }
    };
}
gated! { copy_unless }
copies! {
    /// Copies 4, 8 or 16 bytes from global to shared memory, cached at all levels: `cp.async.ca`.
    #[doc(alias = "cp.async.ca")]
    CpAsyncCa cp_async_ca "cp.async.ca.shared.global" sizes_of_ca;
    /// Copies 16 bytes from global to shared memory, cached in L2 and not in L1: `cp.async.cg`.
    #[doc(alias = "cp.async.cg")]
    CpAsyncCg cp_async_cg "cp.async.cg.shared.global" sizes_of_cg;
}

instructions! { WAITS:
    instruction "cp.async.commit_group", isa "data-movement-and-conversion-instructions-cp-async-commit-group", effect message, T = u8 {
        /// Makes a group of the copies that this thread has begun since the last one.
        safe fn cp_async_commit_group() {
            ptx: "cp.async.commit_group";
            needs: AsyncCopies;
            cpu: cpu::copy::commit();
        }
    }

    instruction "cp.async.wait_group", isa "data-movement-and-conversion-instructions-cp-async-wait-group", effect message, T = u8 {
        /// Waits until at most the `N` newest groups of this thread are still in flight. The thread sees what the complete groups
        /// copied; other threads see it after a barrier.
        ///
        /// ```
        /// use ptx_intrinsics::cp_async::*;
        /// use ptx_intrinsics::prelude::*;
        ///
        /// cp_async_wait_group::<1>(); // cp.async.wait_group 1;
        /// ```
        ///
        /// If `N` is above 63, `ptxas` waits for more groups. On a CPU a copy is done here, if the executor of ptx-kernel runs
        /// the thread; else it was done at once.
        safe fn cp_async_wait_group<const N>() {
            ptx: "cp.async.wait_group", N;
            needs: AsyncCopies;
            cpu: cpu::copy::wait(N);
        }
    }

    instruction "cp.async.wait_all", isa "data-movement-and-conversion-instructions-cp-async-wait-group", effect message, T = u8 {
        /// Waits until all copies that this thread has begun are complete. On a CPU they are done here, if the executor of
        /// ptx-kernel runs the thread; else they were done at once.
        safe fn cp_async_wait_all() {
            ptx: "cp.async.wait_all";
            needs: AsyncCopies;
            cpu: cpu::copy::wait_all();
        }
    }

    instruction "cp.async.mbarrier.arrive",
    isa "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive", effect message, T = u8 {
        /// Arrives at the barrier when all copies that this thread has begun are complete. The barrier expects one arrival
        /// more for this: it does not count among the arrivals that the barrier was initialised with. On a CPU the copies are done here.
        #[doc(alias = "cp.async.mbarrier.arrive")]
        unsafe fn cp_async_mbarrier_arrive(bar: SharedPtr<Mbarrier> as shared) {
            ptx: "cp.async.mbarrier.arrive.shared.b64", [bar];
            needs: AsyncCopies;
            safety: "`bar` points to an initialised barrier in this block's shared memory.";
            cpu: cpu::copy::wait_all();
        }

        /// Arrives at the barrier when all copies that this thread has begun are complete. This is one of the arrivals that
        /// the barrier was initialised with.
        #[doc(alias = "cp.async.mbarrier.arrive.noinc")]
        unsafe fn cp_async_mbarrier_arrive_noinc(bar: SharedPtr<Mbarrier> as shared) {
            ptx: "cp.async.mbarrier.arrive.noinc.shared.b64", [bar];
            needs: AsyncCopies;
            safety: "`bar` points to an initialised barrier in this block's shared memory.";
            cpu: {
                cpu::copy::wait_all();
                cpu::mbarrier::arrive(bar.address(), 1, 0, 0);
            };
        }
    }
}
