//! Arithmetic as the GPU does it in one instruction.
//!
//! On a CPU the approximations are exact to the last bit or so: what a GPU gives may differ from that by what each says.

use ptx_intrinsics::gate::{Dp4a, OnTarget, PackedFloats, TanhApprox};

gated! { tanh_approx dp4a dp4a_unsigned dp2a_lo dp2a_hi dp2a_lo_unsigned dp2a_hi_unsigned pack_bf16x2 pack_f16x2 }

/// `a * b + c`, rounded once.
///
/// PTX: `fma.rn.f32 d, a, b, c;`.
#[doc(alias = "fma")]
#[inline(always)]
pub fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        core::f32::math::mul_add(a, b, c)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        a.mul_add(b, c)
    }
}

/// The `asm!` of arithmetic on a GPU, and what it means on a CPU. `in (reg16 -> reg32)` says which registers hold what it takes and what
/// it gives; where nothing is said, they have 32 bits.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty $(, in $registers:tt)?,
        $ptx:literal $needs:literal $($gate:ident)? = $cpu:expr;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, " d", $(", ", stringify!($argument),)* ";`. ", $needs)]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub fn $name($($argument: $type),*) -> $result
        where
            $(for<'a> $gate: OnTarget<$name, &'a ()>,)?
        {
            #[cfg(target_arch = "nvptx64")]
            {
                arithmetic!(@gpu [$($registers)?] $ptx [$($argument)*] $result)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                $cpu
            }
        }
    )* };
    (@gpu [] $($row:tt)*) => { arithmetic!(@gpu [(reg32 -> reg32)] $($row)*) };
    (@gpu [($in:ident -> $out:ident)] $ptx:literal [$($argument:ident)*] $result:ty) => {{
        let result: $result;
        // SAFETY: it makes a number of numbers.
        unsafe {
            core::arch::asm!(
                concat!($ptx, " {result}", $(", {", stringify!($argument), "}",)* ";"),
                result = out($out) result,
                $($argument = in($in) $argument,)*
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        result
    }};
}
arithmetic! {
    /// One over the square root, to 2<sup>−22.9</sup> of its value.
    rsqrt_approx(x: f32) -> f32, "rsqrt.approx.f32" "Any target." = 1.0 / x.sqrt();
    /// One over `x`, to one unit in the last place.
    rcp_approx(x: f32) -> f32, "rcp.approx.f32" "Any target." = 1.0 / x;
    /// The same without subnormal numbers, which count as zero: [`rcp_approx`] looks for them first.
    rcp_approx_ftz(x: f32) -> f32, "rcp.approx.ftz.f32" "Any target." = normal_or_zero(1.0 / normal_or_zero(x));
    /// The square root, to 2<sup>−23</sup> of its value.
    sqrt_approx(x: f32) -> f32, "sqrt.approx.f32" "Any target." = x.sqrt();
    /// Two to the power of `x`, to 2 units in the last place.
    exp2_approx(x: f32) -> f32, "ex2.approx.f32" "Any target." = x.exp2();
    /// The same without subnormal numbers, which count as zero: one machine instruction, where [`exp2_approx`] is four.
    exp2_approx_ftz(x: f32) -> f32, "ex2.approx.ftz.f32" "Any target." = normal_or_zero(normal_or_zero(x).exp2());
    /// The logarithm to base 2, to 2<sup>−22</sup>.
    log2_approx(x: f32) -> f32, "lg2.approx.f32" "Any target." = x.log2();
    /// The sine of an angle between −π and π, to 2<sup>−20.5</sup>.
    sin_approx(x: f32) -> f32, "sin.approx.f32" "Any target." = x.sin();
    /// The cosine of an angle between −π and π, to 2<sup>−20.5</sup>.
    cos_approx(x: f32) -> f32, "cos.approx.f32" "Any target." = x.cos();
    /// The hyperbolic tangent, to 2<sup>−11</sup> of its value.
    tanh_approx(x: f32) -> f32, "tanh.approx.f32" "Needs sm_75 and ptx70." TanhApprox = x.tanh();

    /// The larger of two numbers, or the one that is no NaN. +0 is larger than −0.
    ///
    /// `f32::max` gives the same. From sm_100 on LLVM makes one instruction of two of them, which `ptxas` takes apart again for sm_120, and
    /// then it schedules tensor cores badly around them.
    #[doc(alias = "fmaxf")]
    max_f32(a: f32, b: f32) -> f32, "max.f32" "Any target." = if a == b && a.is_sign_negative() { b } else { a.max(b) };
    /// The smaller of two numbers, or the one that is no NaN. −0 is smaller than +0. See [`max_f32`].
    #[doc(alias = "fminf")]
    min_f32(a: f32, b: f32) -> f32, "min.f32" "Any target." = if a == b && a.is_sign_positive() { b } else { a.min(b) };

    /// `c` and the four products of the signed bytes of `a` and `b`, the lowest first.
    dp4a(a: u32, b: u32, c: i32) -> i32, "dp4a.s32.s32" "Needs sm_61 and ptx50." Dp4a
        = bytes(a, b).map(|(a, b)| i32::from(a as i8) * i32::from(b as i8)).fold(c, i32::wrapping_add);
    /// `c` and the four products of the unsigned bytes of `a` and `b`, the lowest first.
    dp4a_unsigned(a: u32, b: u32, c: u32) -> u32, "dp4a.u32.u32" "Needs sm_61 and ptx50." Dp4a
        = bytes(a, b).map(|(a, b)| u32::from(a) * u32::from(b)).fold(c, u32::wrapping_add);
    /// `c` and the two products of the signed halves of `a` and the lower two signed bytes of `b`.
    #[doc(alias = "__dp2a_lo")]
    dp2a_lo(a: u32, b: u32, c: i32) -> i32, "dp2a.lo.s32.s32" "Needs sm_61 and ptx50." Dp4a = dp2a_signed(a, b, c);
    /// `c` and the two products of the signed halves of `a` and the upper two signed bytes of `b`.
    #[doc(alias = "__dp2a_hi")]
    dp2a_hi(a: u32, b: u32, c: i32) -> i32, "dp2a.hi.s32.s32" "Needs sm_61 and ptx50." Dp4a = dp2a_signed(a, b >> 16, c);
    /// `c` and the two products of the unsigned halves of `a` and the lower two unsigned bytes of `b`.
    #[doc(alias = "__dp2a_lo")]
    dp2a_lo_unsigned(a: u32, b: u32, c: u32) -> u32, "dp2a.lo.u32.u32" "Needs sm_61 and ptx50." Dp4a
        = dp2a_of_unsigned(a, b, c);
    /// `c` and the two products of the unsigned halves of `a` and the upper two unsigned bytes of `b`.
    #[doc(alias = "__dp2a_hi")]
    dp2a_hi_unsigned(a: u32, b: u32, c: u32) -> u32, "dp2a.hi.u32.u32" "Needs sm_61 and ptx50." Dp4a
        = dp2a_of_unsigned(a, b >> 16, c);
}

/// e to the power of `x`, as CUDA's `__expf`: the power of 2 of a product.
#[doc(alias = "__expf")]
#[inline(always)]
pub fn exp_approx(x: f32) -> f32 {
    exp2_approx(x * core::f32::consts::LOG2_E)
}

/// The natural logarithm, as CUDA's `__logf`: a product of the logarithm to base 2.
#[doc(alias = "__logf")]
#[inline(always)]
pub fn log_approx(x: f32) -> f32 {
    log2_approx(x) * core::f32::consts::LN_2
}

#[cfg(not(target_arch = "nvptx64"))]
fn dp2a_signed(a: u32, b: u32, c: i32) -> i32 {
    let product = |shift: u32| i32::from((a >> (2 * shift)) as i16) * i32::from((b >> shift) as i8);
    c.wrapping_add(product(0)).wrapping_add(product(8))
}

#[cfg(not(target_arch = "nvptx64"))]
fn dp2a_of_unsigned(a: u32, b: u32, c: u32) -> u32 {
    let product = |shift: u32| (a >> (2 * shift) & 0xffff) * (b >> shift & 0xff);
    c.wrapping_add(product(0)).wrapping_add(product(8))
}

#[cfg(not(target_arch = "nvptx64"))]
fn bytes(a: u32, b: u32) -> impl Iterator<Item = (u8, u8)> {
    a.to_le_bytes().into_iter().zip(b.to_le_bytes())
}

#[cfg(not(target_arch = "nvptx64"))]
fn normal_or_zero(x: f32) -> f32 {
    if x.is_subnormal() { 0.0f32.copysign(x) } else { x }
}

macro_rules! packs {
    ($($(#[$doc:meta])* $name:ident $ptx:literal $float:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `", $ptx, " d, high, low;`. Needs sm_80 and ptx70.")]
        #[doc(alias = $ptx)]
        #[inline(always)]
        pub fn $name([low, high]: [f32; 2]) -> u32
        where
            for<'a> PackedFloats: OnTarget<$name, &'a ()>,
        {
            #[cfg(target_arch = "nvptx64")]
            {
                let pair;
                // SAFETY: it makes a number of numbers.
                unsafe {
                    core::arch::asm!(
                        concat!($ptx, " {pair}, {high}, {low};"),
                        pair = out(reg32) pair,
                        high = in(reg32) high,
                        low = in(reg32) low,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                pair
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let [low, high] = [low, high].map(|value| u32::from(half::$float::from_f32(value).to_bits()));
                high << 16 | low
            }
        }
    )* };
}
packs! {
    /// Two numbers rounded to `bf16`, the first in the lower half.
    pack_bf16x2 "cvt.rn.bf16x2.f32" bf16;
    /// Two numbers rounded to `f16`, the first in the lower half.
    pack_f16x2 "cvt.rn.f16x2.f32" f16;
}

/// The two `bf16` of a pair, the lower one first. Exact, and no instruction of its own: a shift and a mask.
#[inline(always)]
pub fn unpack_bf16x2(pair: u32) -> [f32; 2] {
    [f32::from_bits(pair << 16), f32::from_bits(pair & 0xffff_0000)]
}

/// The two `f16` of a pair, the lower one first. Exact; of a NaN it is `0x7fffffff`.
///
/// PTX: `cvt.f32.f16 d, half;` for each. Any target.
#[inline(always)]
pub fn unpack_f16x2(pair: u32) -> [f32; 2] {
    #[cfg(target_arch = "nvptx64")]
    {
        let (low, high): (f32, f32);
        // SAFETY: it makes numbers of a number.
        unsafe {
            core::arch::asm!(
                "{{",
                ".reg .b16 %low, %high;",
                "mov.b32 {{%low, %high}}, {pair};",
                "cvt.f32.f16 {low}, %low;",
                "cvt.f32.f16 {high}, %high;",
                "}}",
                low = out(reg32) low,
                high = out(reg32) high,
                pair = in(reg32) pair,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        [low, high]
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        [pair as u16, (pair >> 16) as u16].map(crate::f16_to_f32)
    }
}
