//! Conversions of pairs of floats of 4, 6 and 8 bits.

use rustc_apfloat::Round;

use super::format::{DOUBLE, float};
use super::words::{Alu, Kind, Type, Words, low};

/// A format: how many bits of its exponent and of its fraction.
#[derive(Clone, Copy)]
struct Small {
    exponent: u32,
    fraction: u32,
}

/// The sources of a pair.
const SOURCES: &str = "f32 f16x2 bf16x2";
/// The NaN that conversions give, of `f16` and of `bf16`.
const NAN_OF_16: u128 = 0x7fff;
/// The NaN of `ue8m0`.
const NAN_OF_SCALE: u32 = 0xff;

/// `cvt.rn.satfinite.e4m3x2.f32`, `cvt.rn.f16x2.e2m1x2`, `cvt.rp.ue8m0x2.f32` and their like.
pub(crate) fn alu(mut words: Words<'_>) -> Option<Alu> {
    let round = words.one_of(&["rn", "rz", "rp"])?;
    let saturates = words.flag("satfinite");
    if words.flag("ue8m0x2") {
        let is_up = round == "rp";
        return (round != "rn").then(|| packed(words, 8, move |bits| scale(bits, is_up, saturates)))?;
    }
    if round != "rn" {
        return None;
    }
    let relu = words.flag("relu");
    if saturates {
        let small = Small::of(&mut words)?;
        return packed(words, small.bits().next_power_of_two(), move |bits| small.narrowed(bits, relu));
    }
    let to = words.of_type().filter(|ty| ty.is("f16x2 bf16x2"))?;
    let half = Type { lanes: 1, ..to };
    if words.flag("ue8m0x2") {
        return (to.kind == Kind::Brain && !relu).then(|| widened(words, half, 8, of_scale))?;
    }
    let small = Small::of(&mut words)?;
    widened(words, half, small.bits().next_power_of_two(), move |code| small.widened(code, half, relu))
}

/// A pair of numbers of so many bits, of two sources or of both halves of one: of each, as it is in 64 bits.
fn packed(words: Words<'_>, bits: u32, of: impl Fn(f64) -> u128 + Send + Sync + 'static) -> Option<Alu> {
    let from = words.last(SOURCES)?;
    let number = Type { lanes: 1, ..from };
    let of = move |own: u128| of(f64::from_bits(float(number, DOUBLE, own, Round::NearestTiesToEven) as u64));
    let to = Type::bits(2 * bits);
    if from.lanes == 1 {
        return Alu::new(to, [from; 2], move |pair| {
            let [high, second] = pair.map(|number| of(low(number, 32)));
            high << bits | second
        });
    }
    Alu::new(to, [from], move |[pair]| of(low(pair >> 16, 16)) << bits | of(low(pair, 16)))
}

/// A pair of halves of a pair of numbers of so many bits.
fn widened(words: Words<'_>, half: Type, bits: u32, of: impl Fn(u128) -> u128 + Send + Sync + 'static) -> Option<Alu> {
    words.end()?;
    Alu::new(Type { lanes: 2, ..half }, [Type::bits(2 * bits)], move |[pair]| {
        of(low(pair >> bits, bits)) << 16 | of(low(pair, bits))
    })
}

impl Small {
    fn of(words: &mut Words<'_>) -> Option<Small> {
        let (exponent, fraction) = match words.one_of(&["e4m3x2", "e5m2x2", "e3m2x2", "e2m3x2", "e2m1x2"])? {
            "e4m3x2" => (4, 3),
            "e5m2x2" => (5, 2),
            "e3m2x2" => (3, 2),
            "e2m3x2" => (2, 3),
            _ => (2, 1),
        };
        Some(Small { exponent, fraction })
    }

    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The code of the greatest number, and that of NaN: a format of less than 8 bits has none.
    fn greatest(self) -> (u128, u128) {
        let all = (1 << (self.bits() - 1)) - 1;
        match self.exponent {
            4 => (all - 1, all),
            5 => (all - 4, all),
            _ => (all, all),
        }
    }

    /// To the nearest number, and of two to the even one. What is too great is the greatest.
    fn narrowed(self, number: f64, relu: bool) -> u128 {
        let (greatest, nan) = self.greatest();
        if number.is_nan() {
            return nan;
        }
        if number.is_sign_negative() && relu {
            return 0;
        }
        let sign = u128::from(number.is_sign_negative()) << (self.bits() - 1);
        let magnitude = number.abs();
        if magnitude.is_infinite() {
            return sign | greatest;
        }
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - self.bias());
        let steps = (magnitude / 2f64.powi(exponent - self.fraction as i32)).round_ties_even() as u128;
        let before = ((exponent + self.bias() - 1) as u128) << self.fraction;
        sign | (before + steps).min(greatest)
    }

    fn widened(self, code: u128, half: Type, relu: bool) -> u128 {
        let code = low(code, self.bits());
        let (is_negative, magnitude) = (code >> (self.bits() - 1) == 1, low(code, self.bits() - 1));
        let (greatest, _) = self.greatest();
        let is_infinite = self.exponent == 5 && magnitude == greatest + 1;
        if magnitude > greatest && !is_infinite {
            return NAN_OF_16;
        }
        if is_negative && relu {
            return 0;
        }
        let (exponent, fraction) = (magnitude >> self.fraction, low(magnitude, self.fraction));
        let one = if exponent == 0 { 0 } else { 1 << self.fraction };
        let scale = 2f64.powi(exponent.max(1) as i32 - self.bias() - self.fraction as i32);
        let number = if is_infinite { f64::INFINITY } else { (one + fraction) as f64 * scale };
        let number = if is_negative { -number } else { number };
        float(DOUBLE, half, number.to_bits().into(), Round::NearestTiesToEven)
    }
}

/// The exponent of `ue8m0`, whatever the sign is.
fn scale(number: f64, is_up: bool, saturates: bool) -> u128 {
    if number.is_nan() {
        return NAN_OF_SCALE.into();
    }
    let bits = (number.abs() as f32).to_bits();
    let (exponent, fraction) = (bits >> 23, bits & 0x7f_ffff);
    // The least number is 2^-127, half of the first normal one.
    let is_between = fraction != 0 && bits > 0x40_0000 && exponent < NAN_OF_SCALE;
    let code = exponent + u32::from(is_up && is_between);
    if saturates { code.min(NAN_OF_SCALE - 1) } else { code }.into()
}

/// The `bf16` of a number of `ue8m0`.
fn of_scale(code: u128) -> u128 {
    match code {
        0 => 0x40,
        0xff => NAN_OF_16,
        _ => code << 7,
    }
}
