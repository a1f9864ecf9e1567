//! `multimem`: a multimem address stands for one copy, so it is the load, the store or the reduction of that.

use super::{atomic, later, load, store};
use crate::machine::Step;
use crate::ptx::operand::Operand;

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [_, kind, rest @ .., ty] = words else { return None };
    let is = |word: &str, all: &[&str]| all.contains(&word);
    let of_bits = |opcode: &'static str| -> Vec<&str> {
        let kept = rest.iter().copied().filter(|word| !is(word, &OPERATIONS) && !word.starts_with("acc::"));
        [opcode].into_iter().chain(kept).chain([bits(ty)]).collect()
    };
    match *kind {
        _ if rest.first() == Some(&"async") => later::decode(&words[1..], operands),
        "ld_reduce" => load::decode(&of_bits("ld"), operands),
        "st" => store::decode(&of_bits("st"), operands),
        "red" => {
            let order: &[&str] =
                if rest.iter().any(|word| is(word, &["relaxed", "release"])) { &[] } else { &["relaxed", "sys"] };
            let rest = rest.iter().flat_map(|word| {
                let noftz = (is(word, &OPERATIONS) && ty.contains("f16")).then_some("noftz");
                [*word].into_iter().chain(noftz)
            });
            let words: Vec<&str> = ["red"].into_iter().chain(order.iter().copied()).chain(rest).chain([*ty]).collect();
            atomic::decode(&words, operands)
        }
        _ => None,
    }
}

const OPERATIONS: [&str; 6] = ["and", "or", "xor", "add", "min", "max"];

/// The bits of a type that no load has.
fn bits(ty: &str) -> &str {
    match ty {
        "e4m3" | "e5m2" => "b8",
        "f16" | "bf16" | "e4m3x2" | "e5m2x2" => "b16",
        "f16x2" | "bf16x2" | "e4m3x4" | "e5m2x4" => "b32",
        _ => ty,
    }
}
