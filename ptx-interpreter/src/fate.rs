//! What a function does with the values of its registers. Compilers copy what is between the fields of a structure, and load vectors of
//! which they use a part.

use std::collections::HashMap;

use crate::text::{guarded, opcode, operands, words};

/// The most that is done with a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// Nothing.
    #[default]
    Unused,
    /// It is stored where the thread's own memory may be.
    Kept,
    /// It is stored in global or shared memory.
    Copied,
    /// A part of its bits is taken out.
    Narrowed,
    Computed,
}

/// Of each register by its name.
pub(crate) type Fates = HashMap<String, Fate>;

/// What is done with each register by the instructions of a function. A name that two blocks declare is one here.
pub(crate) fn fates<'t>(texts: impl Iterator<Item = &'t str>) -> Fates {
    let (mut fates, mut copies) = (Fates::new(), Vec::new());
    let mut use_as = |operand: &str, fate: Fate| {
        for name in words(operand) {
            let known = fates.entry(name.to_owned()).or_default();
            *known = fate.max(*known);
        }
    };
    for text in texts {
        let (opcode, rest) = opcode(guarded(text).1);
        let operands = operands(rest);
        let Some((first, others)) = operands.split_first() else { continue };
        match opcode.split('.').next().unwrap_or_default() {
            "mov" => copies.extend(others.iter().map(|from| (first.clone(), from.clone()))),
            "st" => {
                use_as(first, Fate::Computed);
                others.iter().for_each(|value| use_as(value, stored(opcode)));
            }
            "cvt" | "bfe" | "prmt" | "and" | "shr" => {
                let narrows = matches!(opcode, "bfe.u32" | "bfe.s32" | "prmt.b32" | "and.b32" | "shr.u32" | "shr.b32");
                let is_narrow = narrows || [".u8", ".s8", ".u16", ".s16"].iter().any(|ty| opcode.contains(ty));
                let fate = if is_narrow { Fate::Narrowed } else { Fate::Computed };
                others.iter().for_each(|operand| use_as(operand, fate));
            }
            // What they have first is read too.
            "wgmma" | "red" | "bra" | "brx" | "call" => {
                operands.iter().for_each(|operand| use_as(operand, Fate::Computed))
            }
            _ => {
                let is_read = first.starts_with('[');
                let read = operands.iter().skip(usize::from(!is_read));
                read.for_each(|operand| use_as(operand, Fate::Computed));
            }
        }
    }
    while copies.iter().fold(false, |changed, (to, from)| copy(&mut fates, to, from) || changed) {}
    fates
}

/// What is moved has the fate of what it is moved to. Says whether that is new.
fn copy(fates: &mut Fates, to: &str, from: &str) -> bool {
    let parts: Vec<Fate> = words(to).map(|name| fates.get(name).copied().unwrap_or_default()).collect();
    let most = parts.iter().max().copied().unwrap_or_default();
    let fate = if parts.contains(&Fate::Unused) { most.min(Fate::Narrowed) } else { most };
    let mut is_new = false;
    for name in words(from) {
        let known = fates.entry(name.to_owned()).or_default();
        is_new |= *known < fate;
        *known = fate.max(*known);
    }
    is_new
}

fn stored(opcode: &str) -> Fate {
    let is_for_others = opcode.contains(".global") || opcode.contains(".shared");
    if is_for_others { Fate::Copied } else { Fate::Kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_registers() {
        let texts = [
            "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r9]",
            "st.global.b32 [%rd1], %r1",
            "st.b32 [%rd2], %r2",
            "cvt.u32.u8 %r5, %r3",
            "mov.b32 {%rs1, %rs2}, %r4",
            "add.s16 %rs3, %rs1, 1",
            "mov.b64 %rd3, {%r6, %r7}",
            "@%p1 red.global.add.u64 [%rd4], %rd3",
            "mov.b32 %r8, %r10",
        ];
        let fates = fates(texts.into_iter());
        let of = |name: &str| fates.get(name).copied().unwrap_or_default();
        let copied = [of("%r1"), of("%r2"), of("%r3"), of("%r4")];
        assert_eq!(copied, [Fate::Copied, Fate::Kept, Fate::Narrowed, Fate::Narrowed]);
        assert_eq!([of("%r6"), of("%r10"), of("%r9")], [Fate::Computed, Fate::Unused, Fate::Computed]);
    }
}
