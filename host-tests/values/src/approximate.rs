//! Instructions that are approximate: the exact result, and how far from it the PTX ISA lets them be.

use crate::float::{BRAIN, DOUBLE, Format, HALF, SINGLE, two_to};

/// What an approximate instruction computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    what: What,
    pub(crate) format: Format,
    pub(crate) flushed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Reciprocal,
    Root,
    ReciprocalRoot,
    Sine,
    Cosine,
    Logarithm,
    Power,
    Tangent,
    /// `div.approx`
    Quotient,
    /// `div.full`
    FullQuotient,
}

/// How far from the exact result one may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// In units of the last place.
    Ulps(f64),
    Relative(f64),
    Absolute(f64),
    /// The ISA promises nothing here.
    None,
}

impl Function {
    /// By the name in a table, and the opcode.
    pub(crate) fn of(name: &str, opcode: &str) -> Function {
        let what = match name {
            "rcp" => What::Reciprocal,
            "sqrt" => What::Root,
            "rsqrt" => What::ReciprocalRoot,
            "sin" => What::Sine,
            "cos" => What::Cosine,
            "lg2" => What::Logarithm,
            "ex2" => What::Power,
            "tanh" => What::Tangent,
            "div" if opcode.contains(".full") => What::FullQuotient,
            "div" => What::Quotient,
            _ => panic!("{name} is no function of a table"),
        };
        let format = match opcode.rsplit('.').next() {
            Some("f64") => DOUBLE,
            Some("f16" | "f16x2") => HALF,
            Some("bf16" | "bf16x2") => BRAIN,
            _ => SINGLE,
        };
        Function { what, format, flushed: opcode.contains(".ftz") }
    }

    /// The exact result, as near as an `f64` comes.
    pub(crate) fn exact(self, operands: &[u64]) -> f64 {
        let [x, y] = [0, 1].map(|at| self.input(operands.get(at).copied().unwrap_or_default()));
        match self.what {
            What::Reciprocal => 1.0 / x,
            What::Root => x.sqrt(),
            What::ReciprocalRoot => 1.0 / x.sqrt(),
            What::Sine => x.sin(),
            What::Cosine => x.cos(),
            What::Logarithm => x.log2(),
            What::Power => x.exp2(),
            What::Tangent => x.tanh(),
            // By the ISA, a quotient by such a divisor is 0, or no number.
            What::Quotient if y.abs() > two_to(126) => x * 0.0f64.copysign(y),
            What::Quotient | What::FullQuotient => x / y,
        }
    }

    /// The number that an operand is for the instruction.
    fn input(self, bits: u64) -> f64 {
        // Of an f64 these read the upper half.
        let bits = if self.format == DOUBLE && self.flushed { bits & !0xffff_ffff } else { bits };
        let number = self.format.number(bits);
        if self.flushed && number.abs() < self.format.least() { 0.0f64.copysign(number) } else { number }
    }

    /// What the PTX ISA says of these operands, or more where an H100 does not keep to it.
    pub(crate) fn bound(self, operands: &[u64]) -> Bound {
        let x = self.input(operands[0]).abs();
        let pi = std::f64::consts::PI;
        match self.what {
            // Ours: the ISA says nothing.
            _ if self.format == DOUBLE && self.flushed => Bound::Relative(two_to(-19)),
            _ if self.format == DOUBLE => Bound::Ulps(2.0),
            What::Reciprocal => Bound::Ulps(1.0),
            What::Root => Bound::Relative(two_to(-23)),
            What::ReciprocalRoot => Bound::Relative(22.9f64.exp2().recip()),
            What::Sine if x <= 2.0 * pi => Bound::Absolute(20.5f64.exp2().recip()),
            // The ISA: 2^-20.5. An H100 had 1.031 of that, near 3/2 pi.
            What::Cosine if x <= 2.0 * pi => Bound::Absolute(20.4f64.exp2().recip()),
            What::Sine | What::Cosine if x <= 100.0 * pi => Bound::Absolute(14.7f64.exp2().recip()),
            What::Sine | What::Cosine => Bound::None,
            What::Logarithm if 0.5 < x && x < 2.0 => Bound::Absolute(two_to(-22)),
            What::Logarithm => Bound::Relative(two_to(-22)),
            What::Power if self.format == HALF => Bound::Relative(9.9f64.exp2().recip()),
            What::Power if self.format == BRAIN => Bound::Relative(two_to(-7)),
            What::Power => Bound::Ulps(2.0),
            What::Tangent if self.format == HALF => Bound::Absolute(10.987f64.exp2().recip()),
            // The ISA: 2^-8. An H100 had 1.0001 of that, of 0.746.
            What::Tangent if self.format == BRAIN => Bound::Absolute(7.99f64.exp2().recip()),
            What::Tangent => Bound::Relative(two_to(-11)),
            What::Quotient if self.input(operands[1]).abs() < two_to(-126) => Bound::None,
            What::Quotient | What::FullQuotient => Bound::Ulps(2.0),
        }
    }

    /// The bounds in words.
    pub(crate) fn bounds(self) -> &'static str {
        match (self.what, self.format) {
            (_, DOUBLE) if self.flushed => "relative 2^-19, ours: the ISA has none",
            (_, DOUBLE) => "2 ulp, ours: the ISA has none",
            (What::Reciprocal, _) => "1 ulp",
            (What::Root, _) => "relative 2^-23",
            (What::ReciprocalRoot, _) => "relative 2^-22.9",
            (What::Sine, _) => "absolute 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi",
            (What::Cosine, _) => "absolute 2^-20.4 up to 2 pi, by an H100 (the ISA: 2^-20.5), 2^-14.7 up to 100 pi",
            (What::Logarithm, _) => "absolute 2^-22 from 0.5 to 2, else relative 2^-22",
            (What::Power, HALF) => "relative 2^-9.9",
            (What::Power, BRAIN) => "relative 2^-7",
            (What::Power, _) => "2 ulp",
            (What::Tangent, HALF) => "absolute 2^-10.987",
            (What::Tangent, BRAIN) => "absolute 2^-7.99, by an H100 (the ISA: 2^-8)",
            (What::Tangent, _) => "relative 2^-11",
            (What::Quotient, _) => "2 ulp, for a divisor from 2^-126 on",
            (What::FullQuotient, _) => "2 ulp",
        }
    }

    /// How many units of the last place a result is from the exact one; nothing where one of them is no number.
    pub(crate) fn ulps(self, exact: f64, result: u64) -> Option<f64> {
        let found = self.format.number(result);
        let nearest = self.format.number(self.format.rounded(exact));
        (found.is_finite() && nearest.is_finite()).then(|| (found - exact).abs() / self.format.unit(exact.abs()))
    }

    /// The largest error that the bound allows.
    fn most(self, operands: &[u64], exact: f64) -> Option<f64> {
        let unit = self.format.unit(exact.abs());
        match self.bound(operands) {
            Bound::None => None,
            Bound::Ulps(ulps) => Some(ulps * unit),
            // A result is rounded too: to the nearest number, where these are far apart.
            Bound::Relative(part) => {
                Some((part * exact.abs()).max(if exact.abs() < self.format.least() { unit } else { 0.0 }))
            }
            Bound::Absolute(most) => Some(most),
        }
    }

    /// The error of a result as a part of what the bound allows; nothing where there is none, or one of them is no number, or may
    /// be flushed.
    pub(crate) fn of_bound(self, operands: &[u64], exact: f64, result: u64) -> Option<f64> {
        let most = self.most(operands, exact).filter(|most| *most > 0.0)?;
        let is_small = self.flushed && exact.abs() < 2.0 * self.format.least();
        self.ulps(exact, result).filter(|_| !is_small)?;
        Some((self.format.number(result) - exact).abs() / most)
    }

    /// Whether a result is as near as it has to be. A result beyond all numbers, or flushed, has to be one that a number near
    /// enough would become.
    pub(crate) fn is_within(self, operands: &[u64], exact: f64, result: u64) -> bool {
        let found = self.format.number(result);
        let Some(most) = self.most(operands, exact) else { return true };
        if exact.is_nan() || found.is_nan() {
            return exact.is_nan() && found.is_nan();
        }
        if exact.is_infinite() {
            return found == exact;
        }
        if found.is_infinite() {
            return found.signum() == exact.signum() && exact.abs() + most >= self.format.largest();
        }
        if found == 0.0 && exact == 0.0 {
            return found.is_sign_negative() == exact.is_sign_negative()
                || matches!(self.bound(operands), Bound::Absolute(_));
        }
        let flushes = self.flushed && found == 0.0 && exact.abs() - most < self.format.least();
        flushes || (found - exact).abs() <= most
    }
}
