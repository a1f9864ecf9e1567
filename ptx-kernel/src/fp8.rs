//! Floats of 8 bits, in pairs of 16 bits: `e4m3` with 4 bits of exponent and no infinity, `e5m2` with 5.
//!
//! What is too great becomes the greatest, infinity too. NaN is `0x7f`.

use ptx_intrinsics::gate::{Fp8Conversions, OnTarget};

#[cfg(not(target_arch = "nvptx64"))]
use half::f16;

gated! { pack_e4m3x2 pack_e5m2x2 f16x2_to_e4m3x2 f16x2_to_e5m2x2 e4m3x2_to_f16x2 e5m2x2_to_f16x2 }

macro_rules! packs {
    ($($(#[$doc:meta])* $name:ident $ptx:literal $small:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, " d, high, low;`. Needs sm_89 and ptx81.")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub fn $name([low, high]: [f32; 2]) -> u16
        where
            for<'a> Fp8Conversions: OnTarget<$name, &'a ()>,
        {
            #[cfg(target_arch = "nvptx64")]
            {
                let pair;
                // SAFETY: it makes a number of numbers.
                unsafe {
                    core::arch::asm!(
                        concat!($ptx, " {pair}, {high}, {low};"),
                        pair = out(reg16) pair,
                        high = in(reg32) high,
                        low = in(reg32) low,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                pair
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                u16::from_le_bytes([low, high].map(|x| $small.nearest(x)))
            }
        }
    )* };
}
packs! {
    /// Two numbers rounded to `e4m3`, the first in the lower half: of two as near, the even one.
    ///
    /// ```
    /// use ptx_kernel::*;
    ///
    /// assert_eq!(pack_e4m3x2([1.0, -1000.0]), 0xfe38); // the greatest is 448
    /// assert_eq!(e4m3x2_to_f16x2(0xfe38), pack_f16x2([1.0, -448.0]));
    /// ```
    pack_e4m3x2 "cvt.rn.satfinite.e4m3x2.f32" E4M3;
    /// Two numbers rounded to `e5m2`, the first in the lower half: of two as near, the even one.
    pack_e5m2x2 "cvt.rn.satfinite.e5m2x2.f32" E5M2;
}

arithmetic! {
    /// A pair of `f16` rounded to `e4m3`.
    f16x2_to_e4m3x2(pair: u32) -> u16, in (reg32 -> reg16), "cvt.rn.satfinite.e4m3x2.f16x2" "Needs sm_89 and ptx81." Fp8Conversions
        = E4M3.of_halves(pair);
    /// A pair of `f16` rounded to `e5m2`.
    f16x2_to_e5m2x2(pair: u32) -> u16, in (reg32 -> reg16), "cvt.rn.satfinite.e5m2x2.f16x2" "Needs sm_89 and ptx81." Fp8Conversions
        = E5M2.of_halves(pair);
    /// A pair of `e4m3` as `f16`. Exact; NaN is `0x7fff`.
    e4m3x2_to_f16x2(pair: u16) -> u32, in (reg16 -> reg32), "cvt.rn.f16x2.e4m3x2" "Needs sm_89 and ptx81." Fp8Conversions
        = E4M3.halves(pair);
    /// A pair of `e5m2` as `f16`. Exact; NaN is `0x7fff`.
    e5m2x2_to_f16x2(pair: u16) -> u32, in (reg16 -> reg32), "cvt.rn.f16x2.e5m2x2" "Needs sm_89 and ptx81." Fp8Conversions
        = E5M2.halves(pair);
}

/// A format of 8 bits.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
struct Small {
    /// Bits after the point.
    fraction: i32,
    /// The exponent of the least normal number.
    least: i32,
    /// The greatest finite number, and its bits.
    greatest: (f64, u8),
}

#[cfg(not(target_arch = "nvptx64"))]
const E4M3: Small = Small { fraction: 3, least: -6, greatest: (448.0, 0x7e) };
#[cfg(not(target_arch = "nvptx64"))]
const E5M2: Small = Small { fraction: 2, least: -14, greatest: (57344.0, 0x7b) };

#[cfg(not(target_arch = "nvptx64"))]
impl Small {
    fn nearest(self, x: f32) -> u8 {
        if x.is_nan() {
            return 0x7f;
        }
        let (size, sign) = (f64::from(x.abs()), u8::from(x.is_sign_negative()) << 7);
        if size >= self.greatest.0 {
            return sign | self.greatest.1;
        }
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(self.least);
        let steps = (size * f64::exp2((self.fraction - exponent).into())).round_ties_even() as u8;
        // A carry into the exponent is one more of these steps.
        sign | ((((exponent - self.least) as u8) << self.fraction) + steps)
    }

    fn number(self, bits: u8) -> f64 {
        let size = bits & 0x7f;
        if size > self.greatest.1 {
            let infinite = self.greatest.1 == 0x7b && size == 0x7c;
            return if infinite { f64::INFINITY.copysign(f64::from(bits as i8)) } else { f64::NAN };
        }
        let (power, rest) = (i32::from(size >> self.fraction), i32::from(size) & ((1 << self.fraction) - 1));
        let whole = if power == 0 { rest } else { rest | 1 << self.fraction };
        let size = f64::from(whole) * f64::exp2((power.max(1) - 1 + self.least - self.fraction).into());
        if bits >> 7 == 1 { -size } else { size }
    }

    fn of_halves(self, pair: u32) -> u16 {
        let [low, high] = [pair as u16, (pair >> 16) as u16].map(|half| self.nearest(f16::from_bits(half).to_f32()));
        u16::from_le_bytes([low, high])
    }

    fn halves(self, pair: u16) -> u32 {
        let [low, high] = pair.to_le_bytes().map(|bits| match self.number(bits) {
            number if number.is_nan() => 0x7fff,
            number => u32::from(f16::from_f64(number).to_bits()),
        });
        high << 16 | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_its_own_nearest() {
        for small in [E4M3, E5M2] {
            for bits in 0..=u8::MAX {
                let number = small.number(bits);
                let expected = match () {
                    _ if number.is_nan() => 0x7f,
                    _ if number.is_infinite() => bits & 0x80 | small.greatest.1,
                    _ => bits,
                };
                assert_eq!(small.nearest(number as f32), expected, "{bits:#04x} {number}");
            }
            // Halfway between two is the even one, and a little more is the next.
            for bits in 0..small.greatest.1 {
                let middle = ((small.number(bits) + small.number(bits + 1)) / 2.0) as f32;
                assert_eq!(small.nearest(middle), bits + (bits & 1), "{middle}");
                assert_eq!([small.nearest(middle.next_down()), small.nearest(middle.next_up())], [bits, bits + 1]);
            }
        }
    }
}
