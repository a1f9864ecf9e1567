//! Comparisons: of integers, of bits, and of floats of every width.

use std::cmp::Ordering;

use super::faster::single;
use super::format::{Format, by_format};
use super::logic::combination;
use super::words::{Alu, Apply, Type, Words, by_sign, lanewise, low, vectors};

const INTEGERS: &str = "b16 b32 b64 u16 u32 u64 s16 s32 s64";
const FLOATS: &str = "f16 f16x2 bf16 bf16x2 f32 f64";

const ORDERS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

pub(crate) fn alu(name: &str, mut words: Words<'_>) -> Option<Alu> {
    if !matches!(name, "set" | "setp") {
        return None;
    }
    let order = words.one_of(&ORDERS)?;
    let combine = words.one_of(&["and", "or", "xor"]);
    let flushed = words.flag("ftz");
    let to = if name == "set" { Some(words.of_type()?) } else { None };
    let of = words.last(if flushed {
        "f16 f16x2 f32"
    } else {
        "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64"
    })?;
    let test = comparison(order, flushed, of)?;
    if to.is_none()
        && combine.is_none()
        && let Some(apply) = native(order, flushed, of)
    {
        return Some(Alu { to: vec![Type::PRED; 2], from: vec![of, of], carries: false, apply });
    }
    let combine = match combine {
        Some(combine) => Some(combination(combine)?),
        None => None,
    };
    let with = move |found: bool, third: u128| combine.map_or(found.into(), |combine| combine(found.into(), third));
    let mut from = vec![of, of];
    from.extend(combine.map(|_| Type::PRED));
    let lanes = move |value: u128| [value, value >> 16].map(|lane| low(lane, of.bits));
    let Some(to) = to else {
        // The second predicate is that of the other outcome, or of the second lane.
        let apply = move |s: &[u128; 6]| {
            let ([a, a2], [b, b2]) = if of.lanes == 2 { (lanes(s[0]), lanes(s[1])) } else { ([s[0], 0], [s[1], 0]) };
            let first = test(a, b);
            let second = if of.lanes == 2 { test(a2, b2) } else { !first };
            [with(first, s[2]), with(second, s[2])]
        };
        // A short float has one predicate.
        let results = if of.is("f16 bf16") { 1 } else { 2 };
        return Some(Alu { to: vec![Type::PRED; results], from, carries: false, apply: lanewise(apply) });
    };
    let truth = truth(to, of, flushed)?;
    let apply = move |s: &[u128; 6]| {
        if of.lanes == 1 {
            return [if with(test(s[0], s[1]), s[2]) == 1 { truth } else { 0 }, 0];
        }
        let ([a, a2], [b, b2]) = (lanes(s[0]), lanes(s[1]));
        let [first, second] = [test(a, b), test(a2, b2)].map(|found| with(found, s[2]) * low(truth, 16));
        [first | second << 16, 0]
    };
    Some(Alu { to: vec![to], from, carries: false, apply: lanewise(apply) })
}

/// A predicate and its opposite, where the host has the numbers.
fn native(order: &str, flushed: bool, of: Type) -> Option<Apply> {
    if of.is("f32") {
        let number = move |bits| single(bits, flushed);
        return by_order(order, number).or_else(|| by_no_order(order, number));
    }
    if of.is("f64") {
        return by_order(order, f64::from_bits).or_else(|| by_no_order(order, f64::from_bits));
    }
    if !of.is(INTEGERS) {
        return None;
    }
    let order = match order {
        "lo" => "lt",
        "ls" => "le",
        "hi" => "gt",
        "hs" => "ge",
        other => other,
    };
    by_sign!(of, S, _U => by_order(order, |bits| bits as S))
}

fn by_test(test: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Option<Apply> {
    Some(vectors(move |sources, to, other, lane| {
        let holds = test(sources[0][lane], sources[1][lane]);
        (to[lane], other[lane]) = (holds.into(), (!holds).into());
    }))
}

fn by_order<N: PartialOrd>(order: &str, number: impl Fn(u64) -> N + Copy + Send + Sync + 'static) -> Option<Apply> {
    match order {
        "eq" => by_test(move |a, b| number(a) == number(b)),
        "ne" => by_test(move |a, b| number(a) < number(b) || number(a) > number(b)),
        "lt" => by_test(move |a, b| number(a) < number(b)),
        "le" => by_test(move |a, b| number(a) <= number(b)),
        "gt" => by_test(move |a, b| number(a) > number(b)),
        "ge" => by_test(move |a, b| number(a) >= number(b)),
        _ => None,
    }
}

/// Comparisons that hold where one is no number, and those that only ask for that.
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "they hold where one is no number")]
fn by_no_order<N: PartialOrd>(order: &str, number: impl Fn(u64) -> N + Copy + Send + Sync + 'static) -> Option<Apply> {
    let is_number = move |a: u64| number(a) == number(a);
    match order {
        "equ" => by_test(move |a, b| !(number(a) < number(b) || number(a) > number(b))),
        "neu" => by_test(move |a, b| number(a) != number(b)),
        "ltu" => by_test(move |a, b| !(number(a) >= number(b))),
        "leu" => by_test(move |a, b| !(number(a) > number(b))),
        "gtu" => by_test(move |a, b| !(number(a) <= number(b))),
        "geu" => by_test(move |a, b| !(number(a) < number(b))),
        "num" => by_test(move |a, b| is_number(a) && is_number(b)),
        "nan" => by_test(move |a, b| !is_number(a) || !is_number(b)),
        _ => None,
    }
}

/// What true is: all ones, or 1.0.
fn truth(to: Type, of: Type, flushed: bool) -> Option<u128> {
    let narrow = of.bits == 16 && of.is_float();
    Some(match (to.kind, to.bits, to.lanes) {
        _ if to.is("u32 s32") && of.lanes == 1 => 0xffff_ffff,
        _ if to.is("u16 s16") && narrow && of.lanes == 1 => 0xffff,
        _ if to.is("f32") && !of.is("f16 f16x2 bf16 bf16x2") => 0x3f80_0000,
        _ if to.is("f16 f16x2") && to == of => 0x3c00,
        _ if to.is("bf16 bf16x2") && to == of => 0x3f80,
        _ if to.is("f16") && of.lanes == 1 && !of.is("bf16") => 0x3c00,
        _ if to.is("bf16") && of.lanes == 1 && !flushed => 0x3f80,
        _ if to.is("u32 s32") && of.lanes == 2 => 0xffff,
        _ => return None,
    })
}

type Test = Box<dyn Fn(u128, u128) -> bool + Send + Sync>;

fn comparison(order: &'static str, flushed: bool, of: Type) -> Option<Test> {
    if of.is(FLOATS) {
        let (ordered, unordered): (fn(Ordering) -> bool, bool) = match order {
            "eq" | "equ" => (Ordering::is_eq, order == "equ"),
            "ne" | "neu" => (Ordering::is_ne, order == "neu"),
            "lt" | "ltu" => (Ordering::is_lt, order == "ltu"),
            "le" | "leu" => (Ordering::is_le, order == "leu"),
            "gt" | "gtu" => (Ordering::is_gt, order == "gtu"),
            "ge" | "geu" => (Ordering::is_ge, order == "geu"),
            "num" => (|_| true, false),
            "nan" => (|_| false, true),
            _ => return None,
        };
        return Some(Box::new(move |a, b| {
            by_format!(of, F => {
                let (a, b) = (F::input(a, flushed), F::input(b, flushed));
                a.partial_cmp(&b).map_or(unordered, ordered)
            })
        }));
    }
    if !of.is(INTEGERS) {
        return None;
    }
    let only_equal = of.kind == super::words::Kind::Bits;
    let test: fn(Ordering) -> bool = match order {
        "eq" => Ordering::is_eq,
        "ne" => Ordering::is_ne,
        _ if only_equal => return None,
        "lt" => Ordering::is_lt,
        "le" => Ordering::is_le,
        "gt" => Ordering::is_gt,
        "ge" => Ordering::is_ge,
        _ if of.is_signed() => return None,
        "lo" => Ordering::is_lt,
        "ls" => Ordering::is_le,
        "hi" => Ordering::is_gt,
        "hs" => Ordering::is_ge,
        _ => return None,
    };
    Some(Box::new(move |a, b| test(of.number(a).cmp(&of.number(b)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::lanes::{LANES, Lanes};

    #[test]
    fn the_host_compares_as_software_floats_do() {
        let f32s =
            [0, 1 << 31, 1, 0x8000_0001, 0x0080_0000, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001];
        let f64s = [0, 1 << 63, 1, 1 << 52, 0x3ff << 52, 0xbff << 52, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48 | 1, 5];
        let mut compared = 0;
        for order in ORDERS {
            for (of, flushed, numbers) in [("f32", false, f32s), ("f32", true, f32s), ("f64", false, f64s)] {
                let of = Type::parse(of).expect("a type");
                let Some(test) = comparison(order, flushed, of) else { continue };
                let native = native(order, flushed, of).expect("the host has it");
                for (first, second) in numbers.iter().flat_map(|one| numbers.map(|other| (*one, other))) {
                    let (a, b, other): (Lanes, Lanes, Lanes) = ([first; LANES], [second; LANES], [0; LANES]);
                    let [mut result, mut opposite] = [[7; LANES]; 2];
                    native(&[&a, &b, &other, &other, &other, &other], &mut result, &mut opposite, u32::MAX);
                    let holds = u64::from(test(first.into(), second.into()));
                    let found = [result[9], opposite[9]];
                    assert_eq!(found, [holds, 1 - holds], "{order} {of:?} {first:x} {second:x}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 4200);
    }
}
