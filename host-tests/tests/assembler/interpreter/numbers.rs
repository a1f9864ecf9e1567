//! Numbers as bits, and what an instruction is expected to give.

use half::{bf16, f16};

use super::patterns::{Instruction, Register};

/// What has to come out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    pub(super) values: [u64; 2],
    pub(super) carry: Option<u64>,
    /// Floats that are only approximate: their type.
    pub(super) near: Option<String>,
    /// A NaN, of which only that is known: the type.
    pub(super) float: Option<String>,
}

impl Expected {
    pub(super) fn is(value: u64) -> Option<Expected> {
        Some(Expected { values: [value, 0], carry: None, near: None, float: None })
    }

    pub(super) fn both(first: u64, second: u64) -> Option<Expected> {
        Some(Expected { values: [first, second], carry: None, near: None, float: None })
    }

    pub(super) fn of_float(value: u64, ty: &str) -> Option<Expected> {
        Some(Expected { values: [value, 0], carry: None, near: None, float: Some(ty.to_owned()) })
    }

    /// The first result that is another.
    pub(crate) fn differs(&self, instruction: &Instruction, found: &[u64; 4]) -> Option<usize> {
        for (at, register) in instruction.to.iter().enumerate() {
            let mask = match register {
                Register::Predicate => 1,
                register => u64::MAX >> (64 - register.bits()),
            };
            let (found, expected) = (found[at] & mask, self.values[at] & mask);
            let right = match (&self.near, &self.float) {
                (Some(ty), _) => is_near(ty, found, expected),
                (_, Some(ty)) => found == expected || are_nans(ty, found, expected),
                _ => found == expected,
            };
            if !right {
                return Some(at);
            }
        }
        self.carry.filter(|carry| *carry != found[3] & 0xffff_ffff).map(|_| 3)
    }
}

pub(super) fn lanes(ty: &str) -> (&str, Vec<u32>) {
    match ty.strip_suffix("x2") {
        Some(of) => (of, vec![0, width(of)]),
        None => (ty, vec![0]),
    }
}

pub(super) fn width(ty: &str) -> u32 {
    ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

pub(super) fn low(value: u64, bits: u32) -> u64 {
    value & u64::MAX >> (64 - bits)
}

/// A float as a number.
pub(super) fn number(ty: &str, bits: u64) -> f64 {
    match ty {
        "f16" => f16::from_bits(bits as u16).to_f64(),
        "bf16" => bf16::from_bits(bits as u16).to_f64(),
        "f32" => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The float that is nearest.
pub(super) fn bits(ty: &str, number: f64) -> u64 {
    match ty {
        "f16" => nearest(ty, number, f16::from_f64(number).to_bits()),
        "bf16" => nearest(ty, number, bf16::from_f64(number).to_bits()),
        "f32" => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

/// That one, or the one beside it that is nearer: `half` looks at the upper 32 bits of the number alone, and so takes what
/// is just beyond the middle of two for the middle.
pub(super) fn nearest(ty: &str, exact: f64, found: u16) -> u64 {
    let distance = |bits: u16| (number(ty, bits.into()) - exact).abs();
    // What overflows has no middle.
    if !number(ty, found.into()).is_finite() {
        return found.into();
    }
    let beside = [found.wrapping_sub(1), found.wrapping_add(1)];
    beside.into_iter().find(|&other| distance(other) < distance(found)).unwrap_or(found).into()
}

pub(super) fn are_nans(ty: &str, one: u64, other: u64) -> bool {
    let (ty, at) = lanes(ty);
    let lane = |value: u64, at: u32| low(value >> at, width(ty));
    at.into_iter().all(|at| {
        let (one, other) = (lane(one, at), lane(other, at));
        one == other || number(ty, one).is_nan() && number(ty, other).is_nan()
    })
}

#[test]
pub(super) fn just_beyond_the_middle_is_not_the_middle() {
    let (one, other) = (number("bf16", 0x17e8), number("bf16", 0x17e9));
    let middle = (one + other) / 2.0;
    let found =
        [middle, middle * (1.0 + f64::EPSILON), middle * (1.0 - f64::EPSILON)].map(|number| bits("bf16", number));
    assert_eq!(found, [0x17e8, 0x17e9, 0x17e8]);
    assert_eq!(
        [bits("f16", 65519.0), bits("f16", 65520.0), bits("f16", -0.0), bits("bf16", f64::INFINITY)],
        [0x7bff, 0x7c00, 0x8000, 0x7f80]
    );
}

pub(super) fn is_near(ty: &str, one: u64, other: u64) -> bool {
    let (of, at) = lanes(ty);
    at.into_iter().all(|at| {
        let [one, other] = [one, other].map(|value| number(of, low(value >> at, width(of))));
        let within = match of {
            "f16" => 1.0 / 512.0,
            "bf16" => 1.0 / 64.0,
            _ => 1e-5,
        };
        one == other || one.is_nan() && other.is_nan() || (one - other).abs() <= within * other.abs().max(1e-30)
    })
}

/// An expression for the integer type of that name.
macro_rules! by_integer {
    ($ty:expr, $t:ident => $body:expr) => {
        by_integer!($ty, $t => $body; "u8" u8, "s8" i8, "u16" | "b16" u16, "s16" i16, "u32" | "b32" u32, "s32" i32, "u64" | "b64" u64, "s64" i64)
    };
    ($ty:expr, $t:ident => $body:expr; $($($name:literal)|+ $of:ident),+) => {
        match $ty {
            $($($name)|+ => {
                type $t = $of;
                $body
            })+
            other => panic!("no integer {other}"),
        }
    };
}

pub(super) use by_integer;

pub(super) fn is_float(ty: &str) -> bool {
    ty.contains('f')
}
