//! Products of matrices: their types, and numbers for them.

use ptx_intrinsics::on_cpu::matrix::{Operand, Product as Layout};

use crate::float::{BRAIN, DOUBLE, Format, HALF, SINGLE, mask};
use crate::random::Random;
use crate::types::Type;

/// A product of matrices of one warp.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) layout: Layout,
    /// The types of A, B and C.
    types: [String; 3],
    pub(crate) to: Type,
    /// Of `wgmma`: columns of D.
    pub(crate) columns: usize,
    /// Of `wgmma`: whether A is in registers.
    pub(crate) in_registers: bool,
}

/// Kinds of matrices: see [`element`].
pub(crate) const KINDS: usize = 9;

/// What the kinds are, for a reader of results.
pub(crate) const KINDS_IN_WORDS: [&str; KINDS] = [
    "small integers",
    "near one",
    "any magnitude",
    "sums that cancel",
    "any bits",
    "subnormal",
    "some much larger",
    "near one, added to any magnitude",
    "powers of two",
];

impl Product {
    pub(crate) fn of(opcode: &str) -> Option<Product> {
        let words: Vec<&str> = opcode.split('.').collect();
        let layout = Layout::parse(&words)?;
        let types: Vec<&str> = words.iter().copied().filter(|word| !matches!(*word, "popc" | "and" | "xor")).collect();
        let [.., to, a, b, from] = types[..] else { return None };
        let to = Type::parse(&if to == "f16" { "f16x2".into() } else { to.to_owned() })?;
        Some(Product { layout, types: [a, b, from].map(str::to_owned), to, columns: 8, in_registers: false })
    }

    /// Whether its sums are floats.
    pub(crate) fn is_float(&self) -> bool {
        self.to.format().is_some()
    }

    /// The type of A.
    pub(crate) fn factor(&self) -> &str {
        &self.types[0]
    }

    /// A register of an operand, for that kind of matrices.
    pub(crate) fn drawn(&self, operand: Operand, kind: usize, random: &mut Random) -> u64 {
        let ty = &self.types[match operand {
            Operand::A => 0,
            Operand::B => 1,
            _ => 2,
        }];
        let added = matches!(operand, Operand::C | Operand::D);
        let bits = width(ty);
        let count = (32 / bits).max(1);
        (0..count).fold(0, |all, at| all | element(ty, kind, added, random) << (at * bits))
    }
}

/// Bits of an element.
pub(crate) fn width(ty: &str) -> u32 {
    match ty {
        "tf32" => 32,
        "bf16" => 16,
        "e4m3" | "e5m2" => 8,
        _ => ty[1..].parse().unwrap_or(32),
    }
}

fn format(ty: &str) -> Option<Format> {
    Some(match ty {
        "f16" => HALF,
        "bf16" => BRAIN,
        "f32" | "tf32" => SINGLE,
        "f64" => DOUBLE,
        "e4m3" => Format { exponent: 4, fraction: 3 },
        "e5m2" => Format { exponent: 5, fraction: 2 },
        _ => return None,
    })
}

/// An element of a matrix of that kind.
fn element(ty: &str, kind: usize, added: bool, random: &mut Random) -> u64 {
    match format(ty) {
        Some(format) => float(format, kind, added, random),
        None => whole(width(ty), kind, random) & mask(width(ty)),
    }
}

fn whole(bits: u32, kind: usize, random: &mut Random) -> u64 {
    let top = 1u64 << (bits - 1);
    match kind {
        1 => random.one_of(&[top, top - 1, top, u64::MAX, 0]),
        2 => random.between(-3, 3) as u64,
        _ => random.bits(),
    }
}

fn float(format: Format, kind: usize, added: bool, random: &mut Random) -> u64 {
    let one = (format.one() >> format.fraction) as i64;
    let most = mask(format.exponent) as i64 - 1;
    let (sign, fraction) = (random.bits() & format.sign(), random.bits() & mask(format.fraction));
    let of = |power: i64, fraction: u64| sign | (power.clamp(0, most) as u64) << format.fraction | fraction;
    match kind {
        0 => format.rounded(random.between(-4, 4) as f64),
        1 => of(one + random.between(-2, 2), fraction),
        2 => of(random.between(1, most), fraction),
        3 => of(one + random.one_of(&[0, 0, 3, 6, 9, 12, 13]), random.one_of(&[0, 0, 0, 1])),
        4 => random.bits() & mask(format.bits()),
        5 => of(random.one_of(&[0, 0, 0, 1, one]), fraction),
        6 if random.below(6) == 0 => of(one + random.between(5, 14), fraction),
        8 => of(one - random.between(0, if added { 30 } else { 13 }).min(one - 1), 0),
        7 if added => of(one + random.between(-20, 20), fraction),
        _ => of(one + random.between(-1, 1), fraction),
    }
}
