//! What an instruction makes of its operands, if that is all that it does.

use crate::machine::lanes::{Lanes, each};

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

/// A type: how many numbers, and how many bits each has.
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

/// At most five operands, and the carry that an instruction before it left.
pub(crate) const SOURCES: usize = 6;
/// Where the carry is among them.
pub(crate) const CARRY: usize = 5;

/// Makes one or two results, in the lanes of the mask. Where the mask has all lanes, nothing else is written.
pub(crate) type Apply = Box<dyn Fn(&[&Lanes; SOURCES], &mut Lanes, &mut Lanes, u32) + Send + Sync>;

/// Lane by lane what makes two results of all sources.
pub(crate) fn lanewise(apply: impl Fn(&[u128; SOURCES]) -> [u128; 2] + Send + Sync + 'static) -> Apply {
    Box::new(move |sources, to, also, mask| {
        each(mask, |lane| {
            let [first, second] = apply(&sources.map(|source| source[lane].into()));
            (to[lane], also[lane]) = (first as u64, second as u64);
        });
    })
}

/// Of more lanes than these all are computed or looked at, together: as vectors. What the others get is not used.
pub(crate) const FEW: u32 = 4;

/// The same of what the host computes with its own numbers: with the vectors that it has.
pub(crate) fn vectors(
    lane: impl Fn(&[&Lanes; SOURCES], &mut Lanes, &mut Lanes, usize) + Send + Sync + 'static,
) -> Apply {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the host has them.
        return Box::new(move |sources, to, also, mask| unsafe { by_wide_vectors(&lane, sources, to, also, mask) });
    }
    Box::new(move |sources, to, also, mask| by_vectors(&lane, sources, to, also, mask))
}

#[inline(always)]
fn by_vectors(
    lane: &impl Fn(&[&Lanes; SOURCES], &mut Lanes, &mut Lanes, usize),
    sources: &[&Lanes; SOURCES],
    to: &mut Lanes,
    also: &mut Lanes,
    mask: u32,
) {
    let mask = if mask.count_ones() > FEW { u32::MAX } else { mask };
    each(mask, |at| lane(sources, to, also, at));
}

/// The compiler takes for granted what the oldest host of the architecture has.
#[cfg(target_arch = "x86_64")]
fn has_wide_vectors() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,lzcnt,popcnt")]
fn by_wide_vectors(
    lane: &impl Fn(&[&Lanes; SOURCES], &mut Lanes, &mut Lanes, usize),
    sources: &[&Lanes; SOURCES],
    to: &mut Lanes,
    also: &mut Lanes,
    mask: u32,
) {
    by_vectors(lane, sources, to, also, mask);
}

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
        let apply: Apply = Box::new(move |sources, to, _, mask| {
            each(mask, |lane| to[lane] = apply(std::array::from_fn(|at| sources[at][lane].into())) as u64);
        });
        Some(Alu { to: vec![to], from: from.to_vec(), carries: false, apply })
    }

    /// What the host computes with its own numbers, which is several times as fast: sources and results are bits.
    pub(crate) fn native<const N: usize>(
        to: Type,
        from: [Type; N],
        apply: impl Fn([u64; N]) -> u64 + Send + Sync + 'static,
    ) -> Option<Alu> {
        let apply = vectors(move |sources, to, _, lane| {
            to[lane] = apply(std::array::from_fn(|at| sources[at][lane]));
        });
        Some(Alu { to: vec![to], from: from.to_vec(), carries: false, apply })
    }

    /// Lane by lane, for each lane of the result.
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

    pub(crate) fn behind_the_first(words: &[&'a str]) -> Words<'a> {
        Words(words[1..].iter().copied().collect())
    }

    /// Which part of an operand is meant, by a word such as `a=h1`. It is empty if all of it is.
    pub(crate) fn selector(&mut self, operand: char) -> &'a str {
        let selector = |word: &&'a str| word.strip_prefix(operand)?.strip_prefix('=');
        let place = self.0.iter().position(|word| selector(word).is_some());
        place.and_then(|place| self.0.remove(place)).as_ref().and_then(selector).unwrap_or_default()
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

/// An expression for the unsigned number of the host that is as wide as a type.
macro_rules! by_width {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty.bits {
            8 => {
                type $t = u8;
                $body
            }
            16 => {
                type $t = u16;
                $body
            }
            32 => {
                type $t = u32;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
}
pub(crate) use by_width;

/// An expression for the signed number of the host that is as wide as a type, and the unsigned one.
macro_rules! by_sign {
    ($ty:expr, $t:ident, $u:ident => $body:expr) => {
        match ($ty.is_signed(), $ty.bits) {
            (true, 8) => {
                type $t = i8;
                type $u = u8;
                $body
            }
            (true, 16) => {
                type $t = i16;
                type $u = u16;
                $body
            }
            (true, 32) => {
                type $t = i32;
                type $u = u32;
                $body
            }
            (true, _) => {
                type $t = i64;
                type $u = u64;
                $body
            }
            (false, 8) => {
                type $t = u8;
                type $u = u8;
                $body
            }
            (false, 16) => {
                type $t = u16;
                type $u = u16;
                $body
            }
            (false, 32) => {
                type $t = u32;
                type $u = u32;
                $body
            }
            (false, _) => {
                type $t = u64;
                type $u = u64;
                $body
            }
        }
    };
}
pub(crate) use by_sign;
