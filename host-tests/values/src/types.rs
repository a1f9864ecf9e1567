//! The types of operands and results.

use crate::float::{BRAIN, DOUBLE, Format, HALF, SINGLE};

/// What the bits of a number are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Predicate,
    /// An integer, or bits.
    Whole,
    Float(Format),
}

/// How operands are drawn, if it is not by the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Usual,
    /// Counts of bits.
    Shift,
    /// Lanes of a warp.
    Lane,
    /// `shfl`: where a segment ends, and the mask of segments.
    Clamp,
    /// One of a few, so that two are often the same.
    Few,
    /// A small number of either sign.
    Small,
    /// A float of at most that magnitude.
    UpTo(u32),
}

/// A type of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: Kind,
    /// Bits of a number.
    pub(crate) bits: u32,
    pub(crate) lanes: u32,
    pub(crate) class: Class,
}

impl Type {
    /// `f16x2`, `u32:shift`
    pub(crate) fn parse(text: &str) -> Option<Type> {
        let (name, class) = text.split_once(':').map_or((text, None), |(name, class)| (name, Some(class)));
        let class = match class {
            None => Class::Usual,
            Some("shift") => Class::Shift,
            Some("lane") => Class::Lane,
            Some("clamp") => Class::Clamp,
            Some("few") => Class::Few,
            Some("small") => Class::Small,
            Some(most) => Class::UpTo(most.parse().ok()?),
        };
        if name == "pred" {
            return Some(Type { kind: Kind::Predicate, bits: 1, lanes: 1, class });
        }
        let (word, lanes) = name.strip_suffix("x2").map_or((name, 1), |word| (word, 2));
        let (kind, bits) = match word {
            "f16" => (Kind::Float(HALF), 16),
            "bf16" => (Kind::Float(BRAIN), 16),
            "f32" => (Kind::Float(SINGLE), 32),
            "f64" => (Kind::Float(DOUBLE), 64),
            _ => (Kind::Whole, word.strip_prefix(['b', 'u', 's'])?.parse().ok()?),
        };
        matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(Type { kind, bits, lanes, class })
    }

    /// Bits that are read and written. A number of 8 bits is in a register of 32.
    pub(crate) fn width(self) -> u32 {
        match (self.kind, self.bits * self.lanes) {
            (Kind::Predicate, _) | (_, 8) => 32,
            (_, bits) => bits,
        }
    }

    /// What declares a register of it.
    pub(crate) fn register(self) -> String {
        if self.kind == Kind::Predicate { "pred".into() } else { format!("b{}", self.width()) }
    }

    /// The parts of 8 bytes that it takes in memory.
    pub(crate) fn slots(self) -> usize {
        self.width().div_ceil(64) as usize
    }

    /// Its float, if it is one.
    pub(crate) fn format(self) -> Option<Format> {
        if let Kind::Float(format) = self.kind { Some(format) } else { None }
    }

    /// The numbers of a value.
    pub(crate) fn numbers(self, value: u64) -> impl Iterator<Item = u64> {
        let bits = if self.lanes == 1 { self.width().min(64) } else { self.bits };
        (0..self.lanes).map(move |lane| value >> (lane * self.bits) & crate::float::mask(bits))
    }
}
