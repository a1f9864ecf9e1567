//! The formats of floats, and from one to another.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::words::{Kind, Type, low};

/// A format that PTX computes in.
pub(crate) trait Format: Float {
    const WIDTH: u32;
    /// The one NaN that instructions give.
    const ONLY_NAN: Option<u128>;

    /// A subnormal number is taken for a zero, if it has to be.
    fn input(bits: u128, flushed: bool) -> Self {
        let number = Self::from_bits(low(bits, Self::WIDTH));
        if flushed && number.is_denormal() { Self::ZERO.copy_sign(number) } else { number }
    }

    fn output(self, flushed: bool, saturated: bool) -> u128 {
        let number = match self {
            _ if self.is_nan() => {
                return match Self::ONLY_NAN {
                    _ if saturated => 0,
                    Some(bits) => bits,
                    None => self.to_bits(),
                };
            }
            _ if flushed && self.is_denormal() => Self::ZERO.copy_sign(self),
            _ => self,
        };
        if saturated { clamped(number) } else { number }.to_bits()
    }
}

fn clamped<F: Float>(number: F) -> F {
    let one = F::from_u128(1).value;
    if number.is_negative() {
        F::ZERO
    } else if number > one {
        one
    } else {
        number
    }
}

macro_rules! formats {
    ($($format:ident $bits:literal $nan:expr;)*) => {$(
        impl Format for $format {
            const WIDTH: u32 = $bits;
            const ONLY_NAN: Option<u128> = $nan;
        }
    )*};
}

formats! {
    Half 16 Some(0x7fff);
    BFloat 16 Some(0x7fff);
    Single 32 Some(0x7fff_ffff);
    Double 64 None;
}

/// An expression for the format of a type.
macro_rules! by_format {
    ($ty:expr, $f:ident => $body:expr) => {
        match ($ty.kind, $ty.bits) {
            ($crate::alu::words::Kind::Brain, _) => {
                type $f = rustc_apfloat::ieee::BFloat;
                $body
            }
            (_, 16) => {
                type $f = rustc_apfloat::ieee::Half;
                $body
            }
            (_, 32) => {
                type $f = rustc_apfloat::ieee::Single;
                $body
            }
            _ => {
                type $f = rustc_apfloat::ieee::Double;
                $body
            }
        }
    };
}
pub(crate) use by_format;

pub(crate) const HALF: Type = Type { kind: Kind::Float, bits: 16, lanes: 1 };
pub(crate) const SINGLE: Type = Type { kind: Kind::Float, bits: 32, lanes: 1 };
pub(crate) const DOUBLE: Type = Type { kind: Kind::Float, bits: 64, lanes: 1 };

pub(crate) const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

pub(crate) fn round_of(word: &str) -> Round {
    match word {
        "rz" | "rzi" => Round::TowardZero,
        "rm" | "rmi" => Round::TowardNegative,
        "rp" | "rpi" => Round::TowardPositive,
        "rna" => Round::NearestTiesToAway,
        _ => Round::NearestTiesToEven,
    }
}

/// The fused multiply-add of `f64`.
pub(crate) fn fused_of(round: Round) -> impl Fn(f64, f64, f64) -> f64 {
    let of = |number: f64| Double::from_bits(number.to_bits().into());
    move |a, b, c| f64::from_bits(of(a).mul_add_r(of(b), of(c), round).value.to_bits() as u64)
}

/// From a format to another.
pub(crate) fn float(from: Type, to: Type, bits: u128, round: Round) -> u128 {
    by_format!(from, A => by_format!(to, B => {
        let number: B = FloatConvert::<B>::convert_r(A::from_bits(bits), round, &mut false).value;
        number.to_bits()
    }))
}
