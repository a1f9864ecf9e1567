//! Formats of floats, by the widths of their parts.

/// A format of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) exponent: u32,
    pub(crate) fraction: u32,
}

pub(crate) const HALF: Format = Format { exponent: 5, fraction: 10 };
pub(crate) const BRAIN: Format = Format { exponent: 8, fraction: 7 };
pub(crate) const SINGLE: Format = Format { exponent: 8, fraction: 23 };
pub(crate) const DOUBLE: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    pub(crate) fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    pub(crate) fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction
    }

    pub(crate) fn least_normal(self) -> u64 {
        1 << self.fraction
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() & mask(self.bits()) > self.infinity()
    }

    /// The number; all formats are exact in an `f64`.
    pub(crate) fn number(self, bits: u64) -> f64 {
        if self == DOUBLE {
            return f64::from_bits(bits);
        }
        let sign = if bits & self.sign() == 0 { 1.0 } else { -1.0 };
        let (power, rest) = (bits >> self.fraction & mask(self.exponent), bits & mask(self.fraction));
        if power == mask(self.exponent) {
            return if rest == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        let whole = if power == 0 { rest } else { rest | 1 << self.fraction };
        sign * whole as f64 * two_to(power.max(1) as i32 - self.bias() - self.fraction as i32)
    }

    /// The nearest number of the format, of two the even one.
    pub(crate) fn rounded(self, number: f64) -> u64 {
        if number.is_nan() {
            return mask(self.bits() - 1);
        }
        if self == DOUBLE {
            return number.to_bits();
        }
        let sign = if number.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = number.abs();
        // The quotient has few bits, and is exact but for the rounding.
        let units = (magnitude / self.unit(magnitude)).round_ties_even() as u64;
        let power = (exponent_of(magnitude) + self.bias() - 1).max(0) as u64;
        // A carry goes into the exponent, and what is beyond all numbers is an infinity.
        sign | (power << self.fraction).saturating_add(units).min(self.infinity())
    }

    /// What the last bit of a number of that magnitude counts.
    pub(crate) fn unit(self, magnitude: f64) -> f64 {
        let least = 1 - self.bias();
        let power = if magnitude == 0.0 { least } else { exponent_of(magnitude).max(least) };
        two_to((power - self.fraction as i32).max(-1074))
    }

    /// The magnitude of the least normal number.
    pub(crate) fn least(self) -> f64 {
        two_to(1 - self.bias())
    }

    /// The largest number.
    pub(crate) fn largest(self) -> f64 {
        self.number(self.infinity() - 1)
    }
}

pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn exponent_of(magnitude: f64) -> i32 {
    let bits = magnitude.abs().to_bits();
    match (bits >> 52) as i32 {
        0 => bits.checked_ilog2().map_or(-1074, |top| top as i32 - 1074),
        power => power - 1023,
    }
}

pub(crate) fn two_to(power: i32) -> f64 {
    if power < -1022 {
        f64::from_bits(1 << (power + 1074).max(0))
    } else {
        f64::from_bits(((power + 1023) as u64) << 52)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_back_from_each_format() {
        for format in [HALF, BRAIN] {
            for bits in (0..1 << 16).filter(|bits| !format.is_nan(*bits)) {
                assert_eq!(format.rounded(format.number(bits)), bits, "{format:?} {bits:#x}");
            }
        }
        for number in [1.0f32, 1e-45, 3.4e38, 1.1754942e-38, 0.1, -7.25, f32::INFINITY] {
            assert_eq!(SINGLE.rounded(number.into()), u64::from(number.to_bits()));
            assert_eq!(SINGLE.number(number.to_bits().into()), f64::from(number));
        }
        assert_eq!(SINGLE.rounded(1e-46), 0);
        assert_eq!(SINGLE.rounded(1e39), SINGLE.infinity());
        for number in [0.1f64, 1.0 / 3.0, 1e-40, 16_777_217.0, 1.999_999_99] {
            assert_eq!(SINGLE.rounded(number), u64::from((number as f32).to_bits()));
        }
    }
}
