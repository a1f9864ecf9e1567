//! Floats of 16 bits, one by one and in pairs of 32 bits.
//!
//! Subnormal numbers count, and NaN is `0x7fff`.

use ptx_intrinsics::gate::{OnTarget, PackedBf16, PackedMath, TanhApprox};

#[cfg(not(target_arch = "nvptx64"))]
use half::{bf16, f16};
#[cfg(not(target_arch = "nvptx64"))]
use ptx_intrinsics::on_cpu::{odd, odd_sum};

gated! {
    f32_to_bf16 min_f16x2 max_f16x2 add_bf16x2 sub_bf16x2 mul_bf16x2 fma_bf16x2 min_bf16x2 max_bf16x2
    exp2_approx_f16x2 exp2_approx_ftz_bf16x2 tanh_approx_f16x2 tanh_approx_bf16x2
}

arithmetic! {
    /// The `f16` of these bits. Exact; of a NaN it is `0x7fffffff`.
    f16_to_f32(half: u16) -> f32, in (reg16 -> reg32), "cvt.f32.f16" "Any target." = wide_f16(half);
    /// The bits of the nearest `f16`: of two as near, the even one.
    f32_to_f16(x: f32) -> u16, in (reg32 -> reg16), "cvt.rn.f16.f32" "Any target." = f16::of(x);
    /// The bits of the nearest `bf16`: of two as near, the even one.
    f32_to_bf16(x: f32) -> u16, in (reg32 -> reg16), "cvt.rn.bf16.f32" "Needs sm_80 and ptx70." PackedMath = bf16::of(x);

    /// The sums of two pairs of `f16`, each rounded once.
    #[doc(alias = "__hadd2")]
    add_f16x2(a: u32, b: u32) -> u32, "add.rn.f16x2" "Any target." = pairs::<f16, 2>([a, b], |[a, b]| sum(a, b));
    /// The differences of two pairs of `f16`, each rounded once.
    #[doc(alias = "__hsub2")]
    sub_f16x2(a: u32, b: u32) -> u32, "sub.rn.f16x2" "Any target." = pairs::<f16, 2>([a, b], |[a, b]| sum(a, -b));
    /// The products of two pairs of `f16`, each rounded once.
    #[doc(alias = "__hmul2")]
    mul_f16x2(a: u32, b: u32) -> u32, "mul.rn.f16x2" "Any target." = pairs::<f16, 2>([a, b], |[a, b]| odd(a * b));
    /// `a * b + c` of pairs of `f16`, each rounded once.
    #[doc(alias = "__hfma2")]
    fma_f16x2(a: u32, b: u32, c: u32) -> u32, "fma.rn.f16x2" "Any target."
        = pairs::<f16, 3>([a, b, c], |[a, b, c]| sum(a * b, c));
    /// The lesser ones of two pairs of `f16`. NaN is none of them if the other is a number, and −0 is less than 0.
    #[doc(alias = "__hmin2")]
    min_f16x2(a: u32, b: u32) -> u32, "min.f16x2" "Needs sm_80 and ptx70." PackedMath
        = pairs::<f16, 2>([a, b], |[a, b]| odd(least(a, b)));
    /// The greater ones of two pairs of `f16`. NaN is none of them if the other is a number, and −0 is less than 0.
    #[doc(alias = "__hmax2")]
    max_f16x2(a: u32, b: u32) -> u32, "max.f16x2" "Needs sm_80 and ptx70." PackedMath
        = pairs::<f16, 2>([a, b], |[a, b]| odd(-least(-a, -b)));

    /// The sums of two pairs of `bf16`, each rounded once.
    #[doc(alias = "__hadd2")]
    add_bf16x2(a: u32, b: u32) -> u32, "add.rn.bf16x2" "Needs sm_90 and ptx78." PackedBf16
        = pairs::<bf16, 2>([a, b], |[a, b]| sum(a, b));
    /// The differences of two pairs of `bf16`, each rounded once.
    #[doc(alias = "__hsub2")]
    sub_bf16x2(a: u32, b: u32) -> u32, "sub.rn.bf16x2" "Needs sm_90 and ptx78." PackedBf16
        = pairs::<bf16, 2>([a, b], |[a, b]| sum(a, -b));
    /// The products of two pairs of `bf16`, each rounded once.
    #[doc(alias = "__hmul2")]
    mul_bf16x2(a: u32, b: u32) -> u32, "mul.rn.bf16x2" "Needs sm_90 and ptx78." PackedBf16
        = pairs::<bf16, 2>([a, b], |[a, b]| odd(a * b));
    /// `a * b + c` of pairs of `bf16`, each rounded once. With a `c` of −0 it is the product, from sm_80 on.
    #[doc(alias = "__hfma2")]
    fma_bf16x2(a: u32, b: u32, c: u32) -> u32, "fma.rn.bf16x2" "Needs sm_80 and ptx70." PackedMath
        = pairs::<bf16, 3>([a, b, c], |[a, b, c]| sum(a * b, c));
    /// The lesser ones of two pairs of `bf16`. NaN is none of them if the other is a number, and −0 is less than 0.
    #[doc(alias = "__hmin2")]
    min_bf16x2(a: u32, b: u32) -> u32, "min.bf16x2" "Needs sm_80 and ptx70." PackedMath
        = pairs::<bf16, 2>([a, b], |[a, b]| odd(least(a, b)));
    /// The greater ones of two pairs of `bf16`. NaN is none of them if the other is a number, and −0 is less than 0.
    #[doc(alias = "__hmax2")]
    max_bf16x2(a: u32, b: u32) -> u32, "max.bf16x2" "Needs sm_80 and ptx70." PackedMath
        = pairs::<bf16, 2>([a, b], |[a, b]| odd(-least(-a, -b)));

    /// Two to the power of each `f16` of a pair, to 2<sup>−9.9</sup> of its value.
    #[doc(alias = "h2exp2")]
    exp2_approx_f16x2(x: u32) -> u32, "ex2.approx.f16x2" "Needs sm_75 and ptx70." TanhApprox
        = pairs::<f16, 1>([x], |[x]| odd(x.exp2()));
    /// Two to the power of each `bf16` of a pair, to 2<sup>−7</sup> of its value. Subnormal numbers count as zero.
    #[doc(alias = "h2exp2")]
    exp2_approx_ftz_bf16x2(x: u32) -> u32, "ex2.approx.ftz.bf16x2" "Needs sm_90 and ptx78." PackedBf16
        = normal_bf16x2(pairs::<bf16, 1>([normal_bf16x2(x)], |[x]| odd(x.exp2())));
    /// The hyperbolic tangent of each `f16` of a pair, to 2<sup>−10.987</sup>.
    #[doc(alias = "h2tanh_approx")]
    tanh_approx_f16x2(x: u32) -> u32, "tanh.approx.f16x2" "Needs sm_75 and ptx70." TanhApprox
        = pairs::<f16, 1>([x], |[x]| odd(x.tanh()));
    /// The hyperbolic tangent of each `bf16` of a pair, to 2<sup>−8</sup>.
    #[doc(alias = "h2tanh_approx")]
    tanh_approx_bf16x2(x: u32) -> u32, "tanh.approx.bf16x2" "Needs sm_90 and ptx78." PackedBf16
        = pairs::<bf16, 1>([x], |[x]| odd(x.tanh()));
}

/// A pair whose subnormal numbers are zero.
#[cfg(not(target_arch = "nvptx64"))]
fn normal_bf16x2(pair: u32) -> u32 {
    [0, 16].into_iter().fold(0, |all, shift| {
        let half = pair >> shift & 0xffff;
        all | (if half & 0x7f80 == 0 { half & 0x8000 } else { half }) << shift
    })
}

/// The `bf16` of these bits. Exact, and no instruction of its own: a shift.
#[inline(always)]
pub fn bf16_to_f32(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

#[cfg(not(target_arch = "nvptx64"))]
fn wide_f16(half: u16) -> f32 {
    let wide = f16::from_bits(half).to_f32();
    if wide.is_nan() { f32::from_bits(0x7fff_ffff) } else { wide }
}

/// A float of 16 bits.
#[cfg(not(target_arch = "nvptx64"))]
trait Half {
    /// The bits of the nearest one.
    fn of(x: f32) -> u16;
    fn wide(bits: u16) -> f64;
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! halves {
    ($($half:ident)*) => { $(
        #[cfg(not(target_arch = "nvptx64"))]
        impl Half for $half {
            fn of(x: f32) -> u16 {
                if x.is_nan() { 0x7fff } else { $half::from_f32(x).to_bits() }
            }

            fn wide(bits: u16) -> f64 {
                $half::from_bits(bits).to_f32().into()
            }
        }
    )* };
}
#[cfg(not(target_arch = "nvptx64"))]
halves! { f16 bf16 }

/// What is made of both halves of pairs. It is rounded to odd, so that it may be rounded once more.
#[cfg(not(target_arch = "nvptx64"))]
fn pairs<H: Half, const N: usize>(all: [u32; N], made: impl Fn([f64; N]) -> f32) -> u32 {
    let half = |shift: u32| u32::from(H::of(made(all.map(|pair| H::wide((pair >> shift) as u16)))));
    half(16) << 16 | half(0)
}

/// The sum of two numbers, rounded to odd.
#[cfg(not(target_arch = "nvptx64"))]
fn sum(a: f64, b: f64) -> f32 {
    odd(odd_sum(a, b))
}

#[cfg(not(target_arch = "nvptx64"))]
fn least(a: f64, b: f64) -> f64 {
    if b.is_nan() || a < b || a == b && a.is_sign_negative() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rounded_twice_is_rounded_once() {
        // 1 + 2^-11 is halfway between two, and a little more is nearer to the one above.
        let (one, tie, tiny) = (0x3c00, 0x1000, 0x0001);
        assert_eq!(add_f16x2(one, tie), one);
        assert_eq!(fma_f16x2(one, tie, one), one);
        assert_eq!(fma_f16x2(tiny, tiny, one), one);
        assert_eq!(fma_f16x2(0x3c01, 0x1000, one), one + 1);
        // The product is halfway between two, and 2^-120 more is nearer to the one above.
        assert_eq!([fma_bf16x2(0x3f88, 0x3f88, 0), fma_bf16x2(0x3f88, 0x3f88, 0x0380)], [0x3f90, 0x3f91]);
        // In the upper half −2 and 3, in the lower one infinity and its negative.
        assert_eq!(add_f16x2(0xc000_7c00, 0x4200_fc00), 0x3c00_7fff);
        assert_eq!(mul_bf16x2(0x7f7f_0001, 0x7f7f_0001), 0x7f80_0000);
        assert_eq!([min_f16x2(0x8000, 0), max_f16x2(0x8000, 0), min_f16x2(0x7e00, 0x3c00)], [0x8000, 0, 0x3c00]);
        assert_eq!(
            [f32_to_f16(f32::NAN), f32_to_bf16(1.0 + 1.0 / 256.0), f32_to_f16(65520.0)],
            [0x7fff, 0x3f80, 0x7c00]
        );
        assert_eq!([f16_to_f32(0x3555), bf16_to_f32(0xc040)], [0.33325195, -3.0]);
    }
}
