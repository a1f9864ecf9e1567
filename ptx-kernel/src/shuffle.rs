//! Exchange of values between the lanes of a warp.
//!
//! The instructions are LLVM's own intrinsics, of which the compiler knows, since 1.97, that all threads have to come along.

use ptx_intrinsics::element::SharedElement;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lane: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, control: u32) -> u32;
}

mod sealed {
    pub trait Sealed {}
}

/// A value that shuffles move: of 32 bits by one instruction, of 64 bits by two.
#[diagnostic::on_unimplemented(
    message = "a shuffle cannot move a `{Self}`",
    note = "it moves `u32`, `i32`, `f32`, `u64`, `i64` and `f64`"
)]
pub trait Shuffled: Copy + SharedElement + sealed::Sealed {
    #[doc(hidden)]
    fn by_words(self, shuffle: impl FnMut(u32) -> u32) -> Self;
}

macro_rules! shuffled {
    ($($type:ty: $shuffle:ident, $into:expr, $of:expr;)*) => { $(
        impl sealed::Sealed for $type {}
        impl Shuffled for $type {
            #[inline(always)]
            fn by_words(self, shuffle: impl FnMut(u32) -> u32) -> Self {
                ($of)($shuffle(($into)(self), shuffle))
            }
        }
    )* };
}
shuffled! {
    u32: one_word, |bits| bits, |bits| bits;
    i32: one_word, |value: i32| value as u32, |bits| bits as i32;
    f32: one_word, f32::to_bits, f32::from_bits;
    u64: two_words, |bits| bits, |bits| bits;
    i64: two_words, |value: i64| value as u64, |bits| bits as i64;
    f64: two_words, f64::to_bits, f64::from_bits;
}

#[inline(always)]
fn one_word(bits: u32, mut shuffle: impl FnMut(u32) -> u32) -> u32 {
    shuffle(bits)
}

/// The lower half first.
#[inline(always)]
fn two_words(bits: u64, mut shuffle: impl FnMut(u32) -> u32) -> u64 {
    let low = shuffle(bits as u32);
    u64::from(low) | u64::from(shuffle((bits >> 32) as u32)) << 32
}

/// Lanes of a warp that work together: those whose bit is set in a mask, in segments of `WIDTH` lanes.
///
/// `Lanes::<32>::of_warp()` is the whole warp, for which there are functions: [`shuffle_xor`], [`warp_sum`](crate::warp_sum),
/// [`ballot`](crate::ballot), … `Lanes::<8>::of_warp()` is four segments of eight lanes, each of which exchanges values, adds up and
/// votes by itself. `Lanes::<16>::of_mask(0xffff)` is the lower half of the warp, for a branch that the upper half does not take.
///
/// ```
/// use ptx_kernel::*;
///
/// kernel! {
///     /// Adds up each eight elements.
///     ///
///     /// # Safety
///     /// `x` points at an element for each thread, `out` at one for each eight threads. A block is whole warps.
///     pub unsafe fn sums_of_eight(x: *const f32, out: *mut f32) {
///         let i = global_index() as usize;
///         // SAFETY: the elements are there, and all threads come here.
///         unsafe {
///             let sum = Lanes::<8>::of_warp().sum(*x.add(i));
///             if i % 8 == 0 {
///                 *out.add(i / 8) = sum;
///             }
///         }
///     }
/// }
///
/// let (x, mut out) = ([0.5; 64], [0.0; 8]);
/// let (from, to) = (x.as_ptr(), out.as_mut_ptr());
/// // SAFETY: 64 elements, and 64 threads.
/// unsafe { cpu::Launch::new(1, 64).run(|| sums_of_eight(from, to)) };
/// assert_eq!(out, [4.0; 8]);
/// ```
#[doc(alias = "thread_block_tile")]
#[doc(alias = "coalesced_group")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes<const WIDTH: u32> {
    pub(crate) mask: u32,
}

impl<const WIDTH: u32> Lanes<WIDTH> {
    /// What a shuffle's last number says of the segments.
    const SEGMENTS: u32 = {
        assert!(WIDTH.is_power_of_two() && WIDTH <= 32, "a segment has 1, 2, 4, 8, 16 or 32 lanes");
        (32 - WIDTH) << 8
    };

    /// All lanes of the warp.
    #[inline(always)]
    pub const fn of_warp() -> Lanes<WIDTH> {
        Lanes::of_mask(u32::MAX)
    }

    /// The lanes whose bits are set in `mask`.
    #[inline(always)]
    pub const fn of_mask(mask: u32) -> Lanes<WIDTH> {
        Lanes { mask }
    }

    /// A bit for each of the lanes.
    #[inline(always)]
    pub const fn mask(self) -> u32 {
        self.mask
    }
}

/// How PTX finds the lane that a shuffle takes from.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
enum Way {
    Xor,
    Up,
    Down,
    Index,
}

/// The lane that lane `lane` takes from, as the ISA's pseudocode finds it. `None` is the lane itself.
#[cfg(not(target_arch = "nvptx64"))]
fn source(way: Way, lane: u32, by: u32, control: u32) -> Option<u32> {
    let (by, clamp, segments) = (by & 31, control & 31, control >> 8 & 31);
    let least = lane & segments;
    let last = least | (clamp & !segments);
    match way {
        Way::Up => lane.checked_sub(by).filter(|from| *from >= last),
        Way::Down => Some(lane + by).filter(|from| *from <= last),
        Way::Xor => Some(lane ^ by).filter(|from| *from <= last),
        Way::Index => Some(least | (by & !segments)).filter(|from| *from <= last),
    }
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($by:ident) $ptx:literal $cuda:literal $intrinsic:ident $way:ident $clamp:literal;)*) => {
        impl<const WIDTH: u32> Lanes<WIDTH> { $(
            $(#[$doc])*
            /// Lanes are those of the segment, numbered from 0.
            ///
            #[doc = concat!(
                "PTX: `shfl.sync.", $ptx, ".b32 d, value, ", stringify!($by), ", ", $clamp,
                " | 32 - WIDTH << 8, mask;`, twice for 64 bits. Needs sm_30 and ptx60."
            )]
            ///
            /// PTX ISA: [shfl.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync).
            ///
            /// # Safety
            /// The calling lane is in the mask, and all lanes of the mask that have not ended come here. The value of a lane that
            /// has ended, or is not in the mask, is undefined.
            #[doc(alias = $cuda)]
            #[inline(always)]
            pub unsafe fn $name<T: Shuffled>(self, value: T, $by: u32) -> T {
                let control = Self::SEGMENTS | $clamp;
                #[cfg(target_arch = "nvptx64")]
                {
                    // SAFETY: the caller's promise.
                    value.by_words(|word| unsafe { $intrinsic(self.mask, word, $by, control) })
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    let from = source(Way::$way, crate::lane_id(), $by, control);
                    value.by_words(|word| {
                        let lanes = crate::cpu::exchange(stringify!($name), self.mask, word);
                        from.and_then(|lane| lanes[lane as usize]).unwrap_or(word)
                    })
                }
            }
        )* }
        $(
            $(#[$doc])*
            ///
            #[doc = concat!(
                "PTX: `shfl.sync.", $ptx, ".b32 d, value, ", stringify!($by), ", ", $clamp,
                ", -1;`, twice for 64 bits. Needs sm_30 and ptx60. [`Lanes`] has it with a mask and a width."
            )]
            ///
            /// PTX ISA: [shfl.sync](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync).
            ///
            /// # Safety
            /// All threads of the warp that have not ended come here.
            #[doc(alias = $cuda)]
            #[doc(alias = "shfl.sync")]
            #[inline(always)]
            pub unsafe fn $name<T: Shuffled>(value: T, $by: u32) -> T {
                // SAFETY: the caller's promise.
                unsafe { Lanes::<32>::of_warp().$name(value, $by) }
            }
        )*
    };
}
shuffles! {
    /// The value of the lane whose number differs from this one's in the bits of `mask`.
    shuffle_xor(mask) "bfly" "__shfl_xor_sync" shfl_bfly Xor 31;
    /// The value of the lane `delta` further down, its own if there is none.
    shuffle_up(delta) "up" "__shfl_up_sync" shfl_up Up 0;
    /// The value of the lane `delta` further up, its own if there is none.
    shuffle_down(delta) "down" "__shfl_down_sync" shfl_down Down 31;
    /// The value of the lane of this number, of which the lowest bits count: five of them in a whole warp.
    shuffle(lane) "idx" "__shfl_sync" shfl_idx Index 31;
}
