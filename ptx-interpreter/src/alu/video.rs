//! Video instructions: of 32 bits, of parts of a register, of two halves and of four bytes.

use super::words::{Alu, Kind, Type, Words, low};

const U32: Type = Type { kind: Kind::Unsigned, bits: 32, lanes: 1 };
const OPERATIONS: [&str; 10] = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset", "vshl", "vshr", "vmad"];
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// The operation of an instruction, and how many elements it has in a register: 1, 2 or 4.
fn parts(name: &str) -> Option<(&'static str, u32)> {
    let (operation, count) = match name.as_bytes().last()? {
        b'2' => (&name[..name.len() - 1], 2),
        b'4' => (&name[..name.len() - 1], 4),
        _ => (name, 1),
    };
    let found = OPERATIONS.into_iter().find(|known| *known == operation)?;
    let exists = match found {
        "vavrg" => count > 1,
        "vshl" | "vshr" | "vmad" => count == 1,
        _ => true,
    };
    exists.then_some((found, count))
}

/// Whether its operands may be parts of registers.
pub(crate) fn is_video(name: &str) -> bool {
    parts(name).is_some()
}

pub(crate) fn alu(name: &str, mut words: Words<'_>) -> Option<Alu> {
    let (operation, count) = parts(name)?;
    let selectors = ['d', 'a', 'b', 'c'].map(|operand| words.selector(operand));
    match count {
        1 if operation == "vmad" => product(words, selectors),
        1 => scalar(operation, words, selectors),
        _ => vector(operation, count, words, selectors),
    }
}

/// What is done with two numbers, and what kind of number comes out.
struct Operation {
    name: &'static str,
    compared: Option<&'static str>,
    /// Shifts by more than 31 bits take their last five bits.
    wraps: bool,
    to: Type,
    from: [Type; 2],
    saturates: bool,
}

impl Operation {
    /// `.dtype.atype.btype{.sat}`, or `.atype.btype.cmp`, or `.dtype.atype.u32{.sat}.mode`.
    fn parse(name: &'static str, words: &mut Words<'_>) -> Option<Self> {
        let mut number = || words.of_type().filter(|ty| ty.is("u32 s32"));
        let compares = name == "vset";
        let to = if compares { U32 } else { number()? };
        let from = [number()?, number()?];
        let saturates = !compares && words.flag("sat");
        let compared = if compares { Some(words.one_of(&COMPARISONS)?) } else { None };
        let shifts = matches!(name, "vshl" | "vshr");
        let wraps = shifts && words.one_of(&["clamp", "wrap"])? == "wrap";
        // What is clamped of bits that are shifted out, PTX does not say.
        let is_known = !shifts || from[1] == U32 && !(saturates && name == "vshl");
        is_known.then_some(Self { name, compared, wraps, to, from, saturates })
    }

    fn of(&self, a: i128, b: i128) -> i128 {
        let by = if self.wraps { b & 31 } else { b.min(32) };
        match self.name {
            "vadd" => a + b,
            "vsub" => a - b,
            "vabsdiff" => (a - b).abs(),
            "vmin" => a.min(b),
            "vmax" => a.max(b),
            // A half is rounded away from zero.
            "vavrg" => (a + b + i128::from(a + b >= 0)) >> 1,
            "vshl" => a << by,
            "vshr" => a >> by,
            _ => match self.compared {
                Some("eq") => a == b,
                Some("ne") => a != b,
                Some("lt") => a < b,
                Some("le") => a <= b,
                Some("gt") => a > b,
                _ => a >= b,
            }
            .into(),
        }
    }

    /// Whether everything that comes out of numbers of so many bits is a number of its type.
    fn fits(&self, bits: u32) -> bool {
        let of = |ty: Type| Type { bits, ..ty }.range();
        let ((least, greatest), (a, b)) = (of(self.to), (of(self.from[0]), of(self.from[1])));
        let (low, high) = match self.name {
            "vabsdiff" => (0, (a.1 - b.0).max(b.1 - a.0)),
            "vmin" | "vmax" | "vavrg" => (a.0.min(b.0), a.1.max(b.1)),
            "vshr" => a,
            "vset" => (0, 1),
            _ => return false,
        };
        least <= low && high <= greatest
    }

    fn saturated(&self, value: i128, bits: u32) -> i128 {
        let (least, greatest) = Type { bits, ..self.to }.range();
        if self.saturates { value.clamp(least, greatest) } else { value }
    }
}

/// A part of a register: how many bits, from which on.
fn part(selector: &str) -> Option<(u32, u32)> {
    match selector {
        "" => Some((32, 0)),
        "h0" | "h1" => Some((16, 16 * u32::from(selector == "h1"))),
        _ => {
            let byte: u32 = selector.strip_prefix('b')?.parse().ok().filter(|byte| *byte < 4)?;
            Some((8, 8 * byte))
        }
    }
}

fn selected(ty: Type, (bits, at): (u32, u32), value: u128) -> i128 {
    Type { bits, ..ty }.number(low(value, 32) >> at)
}

/// The result goes into a part of c, or a second operation makes one number of it and c.
fn scalar(name: &'static str, mut words: Words<'_>, [d, a, b, c]: [&str; 4]) -> Option<Alu> {
    let operation = Operation::parse(name, &mut words)?;
    let second = words.one_of(&["add", "min", "max"]);
    words.end()?;
    let (to, from) = (operation.to, operation.from);
    let (own, parts) = (part(d)?, [part(a)?, part(b)?]);
    let is_merged = own.0 < 32;
    // PTX does not say how a number that is too large is compared.
    let is_known = operation.saturates || operation.fits(32) || !matches!(second, Some("min" | "max"));
    if !c.is_empty() || is_merged && second.is_some() || !is_known {
        return None;
    }
    let first = move |a, b| {
        let made = operation.of(selected(from[0], parts[0], a), selected(from[1], parts[1], b));
        operation.saturated(made, own.0)
    };
    if !is_merged && second.is_none() {
        return Alu::new(to, from, move |[a, b]| low(first(a, b) as u128, 32));
    }
    Alu::new(to, [from[0], from[1], to], move |[a, b, c]| {
        let (made, other) = (first(a, b), to.number(c));
        let field = low(u128::MAX, own.0) << own.1;
        let whole = match second {
            Some("add") => made + other,
            Some("min") => made.min(other),
            Some(_) => made.max(other),
            None => return low(c, 32) & !field | (made as u128) << own.1 & field,
        };
        low(whole as u128, 32)
    })
}

/// The elements that a selector names, the first one of the lowest.
fn elements(selector: &str, count: u32, default: std::ops::Range<u32>, among: u32) -> Option<Vec<u32>> {
    if selector.is_empty() {
        return Some(default.collect());
    }
    let digits = selector.strip_prefix(if count == 2 { 'h' } else { 'b' })?;
    let numbers = digits.chars().rev().map(|digit| digit.to_digit(10).filter(|number| *number < among));
    numbers.collect()
}

/// Which elements of the result are made, of the others those of c are taken.
fn mask(selector: &str, count: u32) -> Option<Vec<u32>> {
    elements(selector, count, 0..count, count).filter(|all| all.is_sorted_by(|one, next| one < next) && !all.is_empty())
}

/// Element by element; what comes out goes into c, or is added to it.
fn vector(name: &'static str, count: u32, mut words: Words<'_>, [d, a, b, c]: [&str; 4]) -> Option<Alu> {
    let operation = Operation::parse(name, &mut words)?;
    let adds = words.flag("add");
    words.end()?;
    let (bits, made) = (32 / count, mask(d, count)?);
    let of_a = elements(a, count, 0..count, 2 * count)?;
    let of_b = elements(b, count, count..2 * count, 2 * count)?;
    let is_whole = [&of_a, &of_b].iter().all(|all| all.len() == count as usize);
    // PTX does not say how wide an element is that is too large and added.
    if !c.is_empty() || !is_whole || adds && (operation.saturates || !operation.fits(bits)) {
        return None;
    }
    let (to, [first, second]) = (operation.to, operation.from);
    Alu::new(to, [first, second, to], move |[a, b, c]| {
        let both = low(a, 32) | low(b, 32) << 32;
        let element = |ty: Type, at: u32| Type { bits, ..ty }.number(both >> (bits * at));
        let one = |at: u32| {
            let (a, b) = (element(first, of_a[at as usize]), element(second, of_b[at as usize]));
            operation.saturated(operation.of(a, b), bits)
        };
        if adds {
            return low((to.number(c) + made.iter().map(|at| one(*at)).sum::<i128>()) as u128, 32);
        }
        made.iter().fold(low(c, 32), |all, at| {
            let (field, place) = (low(u128::MAX, bits), bits * at);
            all & !(field << place) | low(one(*at) as u128, bits) << place
        })
    })
}

/// `vmad.dtype.atype.btype{.po}{.sat}{.scale}`; either the product or c may be negative.
fn product(mut words: Words<'_>, [d, a, b, c]: [&str; 4]) -> Option<Alu> {
    let mut number = || words.of_type().filter(|ty| ty.is("u32 s32"));
    let (to, first, second) = (number()?, number()?, number()?);
    let (one_more, saturates) = (words.flag("po"), words.flag("sat"));
    let scale = words.one_of(&["shr7", "shr15"]).map_or(0, |word| if word == "shr7" { 7 } else { 15 });
    words.end()?;
    let [(a, minus_a), (b, minus_b), (c, minus_c)] =
        [a, b, c].map(|one| one.strip_prefix('-').map_or((one, false), |one| (one, true)));
    let (of_a, of_b, minus) = (part(a)?, part(b)?, minus_a != minus_b);
    let is_signed = first.is_signed() || second.is_signed() || minus || minus_c;
    // As which number an unsigned c is negated, PTX does not say.
    let is_open = minus_c && !first.is_signed() && !second.is_signed() && (saturates || scale > 0);
    let negates = minus_a || minus_b || minus_c;
    if !d.is_empty() || !c.is_empty() || minus && minus_c || one_more && negates || is_open {
        return None;
    }
    let last = Type { kind: if is_signed { Kind::Signed } else { Kind::Unsigned }, ..U32 };
    Alu::new(to, [first, second, last], move |[a, b, c]| {
        let product = selected(first, of_a, a) * selected(second, of_b, b);
        let (product, c) = (if minus { -product } else { product }, last.number(c));
        let sum = (product + if minus_c { -c } else { c } + i128::from(one_more)) >> scale;
        let (least, greatest) = last.range();
        low(if saturates { sum.clamp(least, greatest) } else { sum } as u128, 32)
    })
}

/// Of an instruction of halves or bytes, whose elements are in their order, each one of the result depends on those at its place.
pub(super) fn undefined(words: &[&str], undefined: &[u64]) -> Option<u64> {
    let (name, count) = parts(words[0]).filter(|(_, count)| *count > 1)?;
    let mut rest = Words::behind_the_first(words);
    let [d, a, b, _] = ['d', 'a', 'b', 'c'].map(|operand| rest.selector(operand));
    Operation::parse(name, &mut rest)?;
    let [of_a, of_b, of_c] = undefined.try_into().ok()?;
    let made = mask(d, count)?;
    if rest.flag("add") || !a.is_empty() || !b.is_empty() {
        return None;
    }
    let bits = 32 / count;
    Some((0..count).fold(0, |all, at| {
        let field = (low(u128::MAX, bits) as u64) << (bits * at);
        let own = if !made.contains(&at) {
            of_c & field
        } else if (of_a | of_b) & field != 0 {
            field
        } else {
            0
        };
        all | own
    }))
}
