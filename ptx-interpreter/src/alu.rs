//! What an instruction makes of its operands, if that is all that it does.

use crate::{compare, convert, float, integer, logic};

/// What kind of number a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    /// `bf16`
    Brain,
}

/// A type: so many numbers of so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: Kind,
    pub(crate) bits: u32,
    pub(crate) lanes: u32,
}

impl Type {
    pub(crate) const PRED: Type = Type::bits(1);

    pub(crate) const fn bits(bits: u32) -> Type {
        Type { kind: Kind::Bits, bits, lanes: 1 }
    }

    pub(crate) fn parse(word: &str) -> Option<Type> {
        if word == "pred" {
            return Some(Type::PRED);
        }
        let (word, lanes) = word.strip_suffix("x2").map_or((word, 1), |word| (word, 2));
        let (kind, bits) = match word.strip_prefix("bf") {
            Some(bits) => (Kind::Brain, bits),
            None => {
                let kind = match word.as_bytes().first()? {
                    b'b' => Kind::Bits,
                    b'u' => Kind::Unsigned,
                    b's' => Kind::Signed,
                    b'f' => Kind::Float,
                    _ => return None,
                };
                (kind, &word[1..])
            }
        };
        let bits = bits.parse().ok()?;
        let known = match (kind, lanes) {
            (Kind::Float, 1) => matches!(bits, 16 | 32 | 64),
            (Kind::Bits, 1) => matches!(bits, 8 | 16 | 32 | 64 | 128),
            (Kind::Unsigned | Kind::Signed, 1) => matches!(bits, 8 | 16 | 32 | 64),
            (Kind::Float, 2) => matches!(bits, 16 | 32),
            (Kind::Brain | Kind::Unsigned | Kind::Signed, _) => bits == 16,
            _ => false,
        };
        known.then_some(Type { kind, bits, lanes })
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float | Kind::Brain)
    }

    pub(crate) fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    pub(crate) fn is(self, text: &str) -> bool {
        text.split(' ').any(|word| Type::parse(word) == Some(self))
    }

    /// The number that the bits are.
    pub(crate) fn number(self, value: u128) -> i128 {
        if self.is_signed() { signed(value, self.bits) } else { low(value, self.bits) as i128 }
    }

    /// The least and the greatest number.
    pub(crate) fn range(self) -> (i128, i128) {
        if self.is_signed() {
            (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1)
        } else {
            (0, low(u128::MAX, self.bits) as i128)
        }
    }
}

/// The low bits.
pub(crate) fn low(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

pub(crate) fn signed(value: u128, bits: u32) -> i128 {
    (value << (128 - bits)) as i128 >> (128 - bits)
}

/// At most four operands, and the carry that an instruction before it left.
pub(crate) const SOURCES: usize = 6;
/// Where the carry is among them.
pub(crate) const CARRY: usize = 5;

/// Makes one or two results.
pub(crate) type Apply = Box<dyn Fn(&[u128; SOURCES]) -> [u128; 2] + Send + Sync>;

/// An instruction that computes.
pub(crate) struct Alu {
    /// What it makes: where the second is no carry, writing it is the program's choice.
    pub(crate) to: Vec<Type>,
    pub(crate) from: Vec<Type>,
    /// Whether it leaves a carry, as its second result.
    pub(crate) carries: bool,
    pub(crate) apply: Apply,
}

impl Alu {
    pub(crate) fn new<const N: usize>(
        to: Type,
        from: [Type; N],
        apply: impl Fn([u128; N]) -> u128 + Send + Sync + 'static,
    ) -> Option<Alu> {
        let apply: Apply = Box::new(move |sources| {
            let mut own = [0; N];
            own.copy_from_slice(&sources[..N]);
            [apply(own), 0]
        });
        Some(Alu { to: vec![to], from: from.to_vec(), carries: false, apply })
    }

    /// Lane by lane, of as many lanes as the result has.
    pub(crate) fn by_lane<const N: usize>(
        to: Type,
        from: [Type; N],
        apply: impl Fn([u128; N]) -> u128 + Send + Sync + 'static,
    ) -> Option<Alu> {
        if to.lanes == 1 {
            return Alu::new(to, from, apply);
        }
        Alu::new(to, from, move |sources| {
            (0..to.lanes).fold(0, |all, lane| {
                let mut own = sources;
                for (value, of) in own.iter_mut().zip(&from) {
                    *value = low(*value >> (of.bits * lane), of.bits);
                }
                all | low(apply(own), to.bits) << (to.bits * lane)
            })
        })
    }
}

/// The words of an opcode after the first.
#[derive(Clone)]
pub(crate) struct Words<'a>(std::collections::VecDeque<&'a str>);

impl<'a> Words<'a> {
    /// The first word, and the others.
    pub(crate) fn of(opcode: &'a str) -> (&'a str, Words<'a>) {
        let mut words: std::collections::VecDeque<&str> = opcode.split('.').collect();
        let first = words.pop_front().unwrap_or_default();
        (first, Words(words))
    }

    /// Whether the next word is this one, which is then gone.
    pub(crate) fn flag(&mut self, word: &str) -> bool {
        let found = self.0.front() == Some(&word);
        if found {
            self.0.pop_front();
        }
        found
    }

    /// The next word, if it is one of these.
    pub(crate) fn one_of(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let next = self.0.front()?;
        let found = words.iter().find(|word| *word == next).copied()?;
        self.0.pop_front();
        Some(found)
    }

    /// The next word is a type.
    pub(crate) fn of_type(&mut self) -> Option<Type> {
        Type::parse(self.0.pop_front()?)
    }

    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    /// The last word is one of these types.
    pub(crate) fn last(mut self, types: &str) -> Option<Type> {
        let found = self.of_type()?;
        (found.is(types) && self.0.is_empty()).then_some(found)
    }
}

/// The instruction of that opcode, if it is one that only computes.
pub(crate) fn alu(opcode: &str) -> Option<Alu> {
    let (name, words) = Words::of(opcode);
    let families = [integer::alu, logic::alu, compare::alu, convert::alu, float::alu];
    families.into_iter().find_map(|family| family(name, words.clone()))
}
