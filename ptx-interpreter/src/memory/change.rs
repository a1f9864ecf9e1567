//! How a reduction that is done later changes values in memory.

use ptx_intrinsics::grammar::atomic::{Atomic, judge_atomic};
use ptx_intrinsics::ptx::change;

use crate::alu::Type;

/// An operation on values of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    atomic: Atomic,
    /// The bytes of a value.
    pub(crate) bytes: usize,
}

impl Change {
    /// What the last words of an instruction say: `.add.noftz.f16`.
    pub(crate) fn of(words: &[&str]) -> Option<Change> {
        let [.., before, op, ty] = words else { return None };
        let op = if *op == "noftz" { before } else { op };
        let atomic = judge_atomic(&like_red(op, ty), false).ok()?.0;
        Some(Change { atomic, bytes: Type::parse(ty)?.bits as usize / 8 })
    }

    /// What is there afterwards.
    pub(crate) fn changed(self, old: u64, by: &[u8]) -> u64 {
        let (mut new, by) = (old, by.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        let place = &raw mut new;
        // SAFETY: the number is this function's own, and as wide as any that is reduced.
        unsafe {
            match self.bytes {
                2 => drop(change(self.atomic, place.cast(), by as u16, None)),
                4 => drop(change(self.atomic, place.cast(), by as u32, None)),
                _ => drop(change(self.atomic, place, by, None)),
            }
        }
        new
    }
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
