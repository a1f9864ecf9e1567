//! Conversions of pairs of floats of 8 bits.

use rustc_apfloat::ieee::{Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::words::{Alu, Type, Words, low};

/// `cvt.rn.satfinite.e4m3x2.f32`, `cvt.rn.f16x2.e4m3x2` and their like.
pub(crate) fn alu(mut words: Words<'_>) -> Option<Alu> {
    if !words.flag("rn") {
        return None;
    }
    let saturates = words.flag("satfinite");
    let relu = words.flag("relu");
    let b16 = Type::bits(16);
    if saturates {
        let small = words.one_of(&["e4m3x2", "e5m2x2"])?;
        let from = words.last("f32 f16x2")?;
        return match from.lanes {
            1 => Alu::new(b16, [from; 2], move |[high, low]| {
                let of = |bits: u128| narrowed(small, Single::from_bits(bits & 0xffff_ffff), relu);
                of(high) << 8 | of(low)
            }),
            _ => Alu::new(b16, [from], move |[pair]| {
                let of = |bits: u128| narrowed(small, Half::from_bits(bits), relu);
                of(pair >> 16 & 0xffff) << 8 | of(pair & 0xffff)
            }),
        };
    }
    let to = words.of_type().filter(|ty| ty.is("f16x2"))?;
    let small = words.one_of(&["e4m3x2", "e5m2x2"])?;
    words.end()?;
    Alu::new(to, [b16], move |[pair]| {
        let of = |byte: u128| match small {
            "e4m3x2" => widened(Float8E4M3FN::from_bits(byte), relu),
            _ => widened(Float8E5M2::from_bits(byte), relu),
        };
        of(low(pair >> 8, 8)) << 16 | of(low(pair, 8))
    })
}

fn narrowed<F>(small: &str, number: F, relu: bool) -> u128
where
    F: Float + FloatConvert<Float8E4M3FN> + FloatConvert<Float8E5M2>,
{
    match small {
        "e4m3x2" => rounded::<F, Float8E4M3FN>(number, relu),
        _ => rounded::<F, Float8E5M2>(number, relu),
    }
}

/// What is too great is the greatest; NaN is the one with all bits set but the sign.
fn rounded<F: Float + FloatConvert<S>, S: Float>(number: F, relu: bool) -> u128 {
    if number.is_nan() {
        return 0x7f;
    }
    if relu && number.is_negative() {
        return 0;
    }
    let near: S = number.convert_r(Round::NearestTiesToEven, &mut false).value;
    if near.is_finite() { near } else { S::largest().copy_sign(number_sign::<F, S>(number)) }.to_bits()
}

fn number_sign<F: Float, S: Float>(number: F) -> S {
    if number.is_negative() { -S::ZERO } else { S::ZERO }
}

fn widened<S: Float + FloatConvert<Half>>(number: S, relu: bool) -> u128 {
    if number.is_nan() {
        return 0x7fff;
    }
    if relu && number.is_negative() {
        return 0;
    }
    number.convert(&mut false).value.to_bits()
}
