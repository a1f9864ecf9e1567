//! Values reduced over the lanes of a warp, and scans of them.

use crate::{Lanes, Shuffled};

/// A number that is added up, and of which the least and the greatest are found.
///
/// Sums of integers wrap. The least of floats is `min` of PTX: a NaN counts only if all are, and −0 is less than 0.
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` cannot be summed over a warp or a block",
    note = "it sums `u32`, `i32`, `f32`, `u64`, `i64` and `f64`"
)]
pub trait Number: Shuffled {
    /// What changes no sum: of floats it is −0.
    #[doc(hidden)]
    const NO_SUM: Self;
    /// What changes no minimum: of floats it is NaN.
    #[doc(hidden)]
    const NO_LEAST: Self;
    /// What changes no maximum: of floats it is NaN.
    #[doc(hidden)]
    const NO_GREATEST: Self;
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn least(self, other: Self) -> Self;
    #[doc(hidden)]
    fn greatest(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Number for $type {
            const NO_SUM: $type = 0;
            const NO_LEAST: $type = $type::MAX;
            const NO_GREATEST: $type = $type::MIN;
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn least(self, other: $type) -> $type {
                self.min(other)
            }
            #[inline(always)]
            fn greatest(self, other: $type) -> $type {
                self.max(other)
            }
        }
    )* };
}
integers! { u32 i32 u64 i64 }

macro_rules! floats {
    ($($type:ident)*) => { $(
        impl Number for $type {
            const NO_SUM: $type = -0.0;
            const NO_LEAST: $type = $type::NAN;
            const NO_GREATEST: $type = $type::NAN;
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn least(self, other: $type) -> $type {
                #[cfg(not(target_arch = "nvptx64"))]
                if self == other {
                    // Two zeros, perhaps of different signs.
                    return $type::from_bits(self.to_bits() | other.to_bits());
                }
                self.min(other)
            }
            #[inline(always)]
            fn greatest(self, other: $type) -> $type {
                #[cfg(not(target_arch = "nvptx64"))]
                if self == other {
                    return $type::from_bits(self.to_bits() & other.to_bits());
                }
                self.max(other)
            }
        }
    )* };
}
floats! { f32 f64 }

/// Functions of `Lanes`, each with one of the whole warp.
macro_rules! of_lanes {
    ($($(#[$doc:meta])* $method:ident $function:ident [$($bound:tt)*] ($($argument:ident: $type:ty),*) $cost:literal |$lanes:ident| $body:expr;)*) => {
        impl<const WIDTH: u32> Lanes<WIDTH> { $(
            $(#[$doc])*
            ///
            /// Lanes are those of this lane's segment. Costs log2(`WIDTH`) steps of a shuffle (two for 64 bits) and an operation.
            ///
            /// # Safety
            /// The mask has whole segments, among them the calling lane's. All lanes of the mask come here, and none has ended.
            #[inline(always)]
            pub unsafe fn $method<T: $($bound)*>(self, $($argument: $type),*) -> T {
                let $lanes = self;
                // SAFETY: the caller's promise.
                unsafe { $body }
            }
        )* }
        $(
            $(#[$doc])*
            ///
            #[doc = concat!("Costs ", $cost, ", without a barrier and without shared memory. For 64 bits each shuffle is two.")]
            ///
            /// PTX: `shfl.sync`. Needs sm_30 and ptx60. [`Lanes`] has it for a part of the warp.
            ///
            /// # Safety
            /// All 32 threads of the warp come here; none has ended.
            #[inline(always)]
            pub unsafe fn $function<T: $($bound)*>($($argument: $type),*) -> T {
                // SAFETY: the caller's promise.
                unsafe { Lanes::<32>::of_warp().$method($($argument),*) }
            }
        )*
    };
}
of_lanes! {
    /// `reduce` of all lanes' values, in each lane. `reduce` does not care about the order of its operands, and has the same result
    /// in each lane if it does not care which of them are reduced first; of a sum of floats all lanes have the same.
    reduce warp_reduce [Shuffled] (value: T, reduce: impl Fn(T, T) -> T) "5 shuffles and 5 operations"
        |lanes| {
            lanes.all_here("a reduction");
            let (mut value, mut step) = (value, WIDTH / 2);
            while step > 0 {
                value = reduce(value, lanes.shuffle_xor(value, step));
                step /= 2;
            }
            value
        };
    /// The sum of all lanes' values, in each lane.
    sum warp_sum [Number] (value: T) "5 shuffles and 5 additions" |lanes| lanes.reduce(value, T::plus);
    /// The least of all lanes' values, in each lane.
    min warp_min [Number] (value: T) "5 shuffles and 5 minima" |lanes| lanes.reduce(value, T::least);
    /// The greatest of all lanes' values, in each lane.
    max warp_max [Number] (value: T) "5 shuffles and 5 maxima" |lanes| lanes.reduce(value, T::greatest);
    /// In each lane `scan` of its own value and those of the lanes before it. `scan` is associative; its first operand is that of
    /// the lower lanes.
    inclusive_scan warp_inclusive_scan [Shuffled] (value: T, scan: impl Fn(T, T) -> T) "5 shuffles, 5 operations and 5 selections"
        |lanes| {
            lanes.all_here("a scan");
            let lane = crate::lane_id() & (WIDTH - 1);
            let (mut value, mut step) = (value, 1);
            while step < WIDTH {
                let before = lanes.shuffle_up(value, step);
                if lane >= step {
                    value = scan(before, value);
                }
                step *= 2;
            }
            value
        };
    /// In each lane `scan` of the values of the lanes before it, and `none` in the first.
    exclusive_scan warp_exclusive_scan [Shuffled] (value: T, none: T, scan: impl Fn(T, T) -> T)
        "6 shuffles, 5 operations and 6 selections"
        |lanes| {
            let before = lanes.shuffle_up(lanes.inclusive_scan(value, scan), 1);
            if crate::lane_id() & (WIDTH - 1) == 0 { none } else { before }
        };
    /// In each lane the sum of its own value and those of the lanes before it.
    inclusive_sum warp_inclusive_sum [Number] (value: T) "5 shuffles, 5 additions and 5 selections"
        |lanes| lanes.inclusive_scan(value, T::plus);
    /// In each lane the sum of the values of the lanes before it: zero in the first (of floats −0).
    exclusive_sum warp_exclusive_sum [Number] (value: T) "6 shuffles, 5 additions and 6 selections"
        |lanes| lanes.exclusive_scan(value, T::NO_SUM, T::plus);
}

impl<const WIDTH: u32> Lanes<WIDTH> {
    /// On a CPU: panics if a lane of the segment is missing, whose value a GPU would leave undefined.
    #[inline(always)]
    fn all_here(self, _what: &str) {
        #[cfg(not(target_arch = "nvptx64"))]
        crate::cpu::check_lanes(_what, self.mask, self.segment());
    }
}
