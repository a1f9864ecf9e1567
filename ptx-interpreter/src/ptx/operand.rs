//! The operands of an instruction: registers, numbers, names and addresses.

use crate::alu::{self, Kind, Type};
use crate::ptx::special::Special;

/// Where a name is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In shared memory.
    Shared(u64),
    /// After all variables of the kernel in shared memory.
    Dynamic,
    /// In the frame of the function: local memory, and what is handed to functions. Its address is in local space.
    Local(u64),
    /// The same; its address is a generic one.
    Frame(u64),
    /// Among the parameters of the kernel.
    Entry(u64),
    /// A variable of the module: where the host has it, or else at that place of the module's own.
    Variable { name: String, constant: bool, at: u64 },
}

/// What a name means: where that is, and how many bytes each element has.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) place: Place,
    pub(crate) element: u64,
}

impl Place {
    /// Whether it is the same place for all threads of a block.
    pub(crate) fn is_same_for_all(&self) -> bool {
        !matches!(self, Place::Local(_) | Place::Frame(_))
    }
}

/// A register of a function, and how wide it is: a predicate has one bit, and what is wider than 64 has two numbers and two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Register {
    /// Which one of the function's.
    pub(crate) number: usize,
    /// Where its value is. Others have the same place, while its value matters to nobody.
    pub(crate) at: usize,
    pub(crate) bits: u32,
}

impl Register {
    /// Its numbers, and the bits of each.
    pub(crate) fn numbers(self) -> impl Iterator<Item = (usize, u32)> {
        let second = (self.bits > 64).then(|| (self.number + 1, self.bits - 64));
        [Some((self.number, self.bits.min(64))), second].into_iter().flatten()
    }

    pub(crate) fn places(self) -> std::ops::Range<usize> {
        self.at..self.at + if self.bits > 64 { 2 } else { 1 }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Register(Register),
    /// `!%p`
    Not(Register),
    Number(u128),
    /// A number with a point in it.
    Decimal(f64),
    Special(Special),
    /// Its address, and what is added to that: `name`, `name+8`, `name[2]`.
    Name(Place, u64),
    Vector(Vec<Operand>),
    /// `_`
    Sink,
    /// `[base+offset]`; of a tensor map, with its coordinates.
    Address(Box<Operand>, u64, Vec<Operand>),
    /// `%p|%q`
    Pair(Box<Operand>, Box<Operand>),
}

impl Operand {
    pub(crate) fn is_predicate(&self) -> bool {
        matches!(self, Operand::Not(_)) || matches!(self, Operand::Register(register) if register.bits == 1)
    }

    /// The lanes of a vector operand, or the one register.
    pub(crate) fn lanes(self) -> Vec<Operand> {
        match self {
            Operand::Vector(lanes) => lanes,
            one => vec![one],
        }
    }

    /// Does something with each register that it names.
    fn each_register(&self, then: &mut impl FnMut(Register)) {
        match self {
            Operand::Register(register) | Operand::Not(register) => then(*register),
            Operand::Vector(lanes) => lanes.iter().for_each(|lane| lane.each_register(then)),
            Operand::Pair(one, other) => [one, other].into_iter().for_each(|one| one.each_register(then)),
            Operand::Address(base, _, coordinates) => {
                base.each_register(then);
                coordinates.iter().for_each(|coordinate| coordinate.each_register(then));
            }
            _ => {}
        }
    }

    /// The registers that it names.
    pub(crate) fn registers(&self) -> Vec<Register> {
        let mut all = Vec::new();
        self.each_register(&mut |register| all.push(register));
        all
    }

    /// Whether something holds of one of them.
    pub(crate) fn any_register(&self, holds: impl Fn(Register) -> bool) -> bool {
        let mut any = false;
        self.each_register(&mut |register| any |= holds(register));
        any
    }

    /// Their numbers, and the bits of each: what is wider than 64 has two.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (usize, u32)> {
        self.registers().into_iter().flat_map(Register::numbers)
    }

    /// A decimal number is one of the operand's type. As a predicate every number but 0 is true: nvcc writes `xor.pred %p1, %p2, -1`.
    pub(crate) fn of_type(self, ty: Type) -> Operand {
        match self {
            Operand::Decimal(number) if ty.is_float() || ty.kind == Kind::Bits => {
                let bits = number.to_bits().into();
                let to = Type { kind: if ty.kind == Kind::Bits { Kind::Float } else { ty.kind }, lanes: 1, ..ty };
                Operand::Number(alu::converted(alu::DOUBLE, to, bits, rustc_apfloat::Round::NearestTiesToEven))
            }
            Operand::Number(number) if ty == Type::PRED => Operand::Number((number != 0).into()),
            other => other,
        }
    }
}

/// A state space, as an access names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Cluster,
    Const,
    Local,
    Entry,
    Func,
}

impl Space {
    pub(crate) fn parse(word: &str) -> Option<Space> {
        Some(match word {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::Cluster,
            "const" => Space::Const,
            "local" => Space::Local,
            "param" | "param::entry" => Space::Entry,
            "param::func" => Space::Func,
            _ => return None,
        })
    }

    pub(crate) fn of<W: AsRef<str>>(words: &[W]) -> Space {
        words.iter().find_map(|word| Space::parse(word.as_ref())).unwrap_or(Space::Generic)
    }
}

/// A number, as PTX writes it.
pub(crate) fn number(text: &str) -> Option<Operand> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest.trim()));
    let radix = |prefix: [&str; 2], radix: u32| {
        let digits = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix))?;
        u128::from_str_radix(digits.trim_end_matches('U'), radix).ok()
    };
    let has_prefix = ["0x", "0f", "0d", "0X", "0F", "0D"].iter().any(|prefix| digits.starts_with(prefix));
    if digits.contains('.') || digits.contains(['e', 'E']) && !has_prefix {
        let number: f64 = digits.parse().ok()?;
        return Some(Operand::Decimal(if negative { -number } else { number }));
    }
    let found = radix(["0f", "0F"], 16).or_else(|| radix(["0d", "0D"], 16)).or_else(|| radix(["0x", "0X"], 16));
    let found = found.or_else(|| radix(["0b", "0B"], 2)).or_else(|| digits.trim_end_matches('U').parse().ok())?;
    Some(Operand::Number(if negative { found.wrapping_neg() } else { found }))
}
