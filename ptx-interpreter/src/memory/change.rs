//! What an atomic, or a reduction that is done later, makes of the values in memory.

use ptx_intrinsics::grammar::atomic::{Atomic, judge_atomic};
use ptx_intrinsics::ptx::changed;

use crate::alu::Type;

/// An operation on values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) atomic: Atomic,
    /// The bytes of what it changes at once.
    pub(crate) bytes: usize,
    /// Whether it knows no subnormal numbers of `f32`.
    pub(crate) flushes: bool,
}

impl Change {
    /// What the last words of a reduction say: `.add.noftz.f16`.
    pub(crate) fn of(words: &[&str]) -> Option<Change> {
        let [.., before, op, ty] = words else { return None };
        let op = if *op == "noftz" { before } else { op };
        let atomic = judge_atomic(&like_red(op, ty), false).ok()?.0;
        Some(Change { atomic, bytes: Type::parse(ty)?.bits as usize / 8, flushes: false })
    }

    /// What is there after what was found.
    pub(crate) fn changed(self, found: u128, (value, compare): (u128, Option<u128>)) -> u128 {
        let flushed = |number| if self.flushes { without_subnormals(number) } else { number };
        flushed(changed(self.atomic, flushed(found), flushed(value), compare, self.bytes))
    }
}

/// The same as [`Change::changed`] of one integer of 32 or 64 bits, if the host does it at once: in the low bits of the result.
pub(crate) fn of_integers(words: &[&str]) -> Option<fn(u64, u64) -> u64> {
    if !matches!(words.last(), Some(&("b32" | "u32" | "s32" | "b64" | "u64" | "s64"))) {
        return None;
    }
    words.iter().find_map(|word| {
        let change: fn(u64, u64) -> u64 = match *word {
            "add" => |found, value| found.wrapping_add(value),
            "and" => |found, value| found & value,
            "or" => |found, value| found | value,
            "xor" => |found, value| found ^ value,
            "exch" => |_, value| value,
            _ => return None,
        };
        Some(change)
    })
}

/// Zeros in place of subnormal numbers, in each `f32`; the signs stay.
fn without_subnormals(numbers: u128) -> u128 {
    (0..4).map(|at| (numbers >> (32 * at)) as u32).enumerate().fold(0, |all, (at, bits)| {
        let kept = if f32::from_bits(bits).is_subnormal() { bits & 1 << 31 } else { bits };
        all | u128::from(kept) << (32 * at)
    })
}

/// The words of `red` with the same meaning. It has no sum of `.s64`, which has the bits of one of `.u64`, and minima of 16-bit
/// floats only as vectors.
fn like_red(op: &str, ty: &str) -> String {
    match (op, ty) {
        ("add", "s64") => "red.add.u64".to_owned(),
        ("add", "f16" | "bf16") => format!("red.add.noftz.{ty}"),
        (_, "f16" | "bf16") => format!("red.{op}.noftz.v2.{ty}"),
        _ => format!("red.{op}.{ty}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_changes_integers_as_the_meaning_says() {
        let numbers = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678_9abc_def0, u64::MAX];
        let mut compared = 0;
        for ty in ["u32", "s32", "b32", "u64", "s64", "b64"] {
            for op in ["add", "and", "or", "xor", "exch"] {
                let name = if op == "exch" { "atom" } else { "red" };
                let text = if (op, ty) == ("add", "s64") { "red.add.u64".into() } else { format!("{name}.{op}.{ty}") };
                let Ok((atomic, _)) = judge_atomic(&text, false) else { continue };
                let bits: u32 = ty[1..].parse().expect("a width");
                let change = Change { atomic, bytes: bits as usize / 8, flushes: false };
                let quick = of_integers(&["red", op, ty]).expect("it is of integers");
                let own = u64::MAX >> (64 - bits);
                for (found, value) in numbers.iter().flat_map(|found| numbers.map(|value| (found & own, value & own))) {
                    let meant = change.changed(found.into(), (value.into(), None));
                    assert_eq!(u128::from(quick(found, value) & own), meant, "{text} of {found:x} and {value:x}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 12 * 64);
    }
}
