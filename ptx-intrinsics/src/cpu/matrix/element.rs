//! The elements of matrices: how many bits each has, and which number they are.

use half1::f16;

use crate::cpu::odd::odd;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `f16`, `f32` and `f64`
    Float(u32),
    /// `bf16`
    Brain,
    /// `tf32`
    Tf32,
    /// An integer with a sign, of so many bits.
    Signed(u32),
    /// An integer without one.
    Unsigned(u32),
    /// `b1`
    Bit,
    /// A float of at most eight bits, in a byte of its own.
    Small(Small),
    /// A float of four bits, side by side with others.
    Packed(Small),
    /// `ue4m3`, a scale: a float without a sign.
    Magnitude(Small),
    /// `ue8m0`, a scale: a power of two.
    Power,
}

/// How many bits of a small float are its exponent and its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small {
    exponent: u32,
    fraction: u32,
    /// Bits of the byte below the number.
    below: u32,
}

impl Element {
    /// The type of that name.
    pub fn parse(word: &str) -> Option<Element> {
        let small = |exponent, fraction, below| Some(Element::Small(Small { exponent, fraction, below }));
        Some(match word {
            "f16" => Element::Float(16),
            "f32" => Element::Float(32),
            "f64" => Element::Float(64),
            "bf16" => Element::Brain,
            "tf32" => Element::Tf32,
            "s4" => Element::Signed(4),
            "s8" => Element::Signed(8),
            "s32" => Element::Signed(32),
            "u4" => Element::Unsigned(4),
            "u8" => Element::Unsigned(8),
            "b1" => Element::Bit,
            "e4m3" => return small(4, 3, 0),
            "e5m2" => return small(5, 2, 0),
            "e3m2" => return small(3, 2, 0),
            "e2m3" => return small(2, 3, 0),
            "e2m1" => return small(2, 1, 2),
            "ue4m3" => Element::Magnitude(Small { exponent: 4, fraction: 3, below: 0 }),
            "ue8m0" => Element::Power,
            _ => return None,
        })
    }

    /// The same, side by side.
    pub(super) fn packed(self) -> Element {
        if let Element::Small(small) = self { Element::Packed(small) } else { self }
    }

    /// The bits of a register that it takes.
    pub(super) fn bits(self) -> usize {
        match self {
            Element::Float(bits) | Element::Signed(bits) | Element::Unsigned(bits) => bits as usize,
            Element::Brain => 16,
            Element::Tf32 => 32,
            Element::Bit => 1,
            Element::Packed(_) => 4,
            Element::Small(_) | Element::Magnitude(_) | Element::Power => 8,
        }
    }

    pub(super) fn of_register(self) -> usize {
        (32 / self.bits()).max(1)
    }

    /// Whether it is FP8, which needs no `.kind`.
    pub(super) fn is_fp8(self) -> bool {
        matches!(self, Element::Small(small) if small.exponent + small.fraction == 7)
    }

    /// The exponent of the least normal number.
    #[inline]
    pub(super) fn least_exponent(self) -> i32 {
        match self {
            Element::Float(16) => -14,
            Element::Small(small) => 2 - (1 << (small.exponent - 1)),
            _ => -126,
        }
    }

    /// The number. All of these types are exact in an `f64`.
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Element::Float(64) => f64::from_bits(bits),
            Element::Float(16) => f16::from_bits(bits as u16).to_f64(),
            Element::Float(_) => f64::from(f32::from_bits(bits as u32)),
            Element::Brain => f64::from(f32::from_bits((bits as u32) << 16)),
            // It has ten bits after the point.
            Element::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
            Element::Signed(width) => ((bits << (64 - width)) as i64 >> (64 - width)) as f64,
            Element::Unsigned(_) | Element::Bit => bits as f64,
            Element::Small(small) => small.number(bits as u32),
            Element::Packed(small) => small.number((bits as u32) << small.below),
            Element::Magnitude(small) => small.number(bits as u32 & 0x7f),
            Element::Power if bits == 0xff => f64::NAN,
            Element::Power => f64::from_bits((bits + 1023 - 127) << 52),
        }
    }

    /// The bits of a result. What no number is, is the one NaN that instructions give.
    pub fn rounded(self, number: f64, saturates: bool) -> u64 {
        match self {
            Element::Signed(_) if saturates => (number as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u32 as u64,
            Element::Signed(_) => number as i64 as u32 as u64,
            Element::Float(bits) if number.is_nan() => (1 << (bits - 1)) - 1,
            // `f16::from_f64` looks only at the first bits of an `f64`.
            Element::Float(16) => f16::from_f32(odd(number)).to_bits().into(),
            Element::Float(32) => (number as f32).to_bits().into(),
            Element::Float(64) => number.to_bits(),
            _ => unreachable!("no result has another type"),
        }
    }
}

impl Small {
    fn number(self, byte: u32) -> f64 {
        let Small { exponent, fraction, below } = self;
        let bits = byte >> below & ((1 << (1 + exponent + fraction)) - 1);
        let sign = if bits >> (exponent + fraction) == 1 { -1.0 } else { 1.0 };
        let (power, rest) = (bits >> fraction & ((1 << exponent) - 1), bits & ((1 << fraction) - 1));
        match (exponent, power, rest) {
            (4, 15, 7) => return f64::NAN,
            (5, 31, 0) => return sign * f64::INFINITY,
            (5, 31, _) => return f64::NAN,
            _ => {}
        }
        let whole = if power == 0 { 0 } else { 1 << fraction };
        let bias = (1 << (exponent - 1)) - 1;
        let scale = power.max(1) as i32 - bias - fraction as i32;
        sign * f64::from(whole + rest) * f64::from_bits(((1023 + scale) as u64) << 52)
    }
}
