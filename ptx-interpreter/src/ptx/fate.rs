//! What a function does with the values of its registers. Compilers copy what is between the fields of a structure, and load vectors of
//! which they use a part.

use std::collections::HashMap;

use crate::ptx::text::{element, guarded, opcode, operands, words};

/// The most that is done with a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// Nothing.
    #[default]
    Unused,
    /// It, or what is computed with it, is chosen by a `selp`, or another value is.
    Selected,
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

/// Instructions that do nothing but give their first operand a value computed from the others.
const ARITHMETIC: [&str; 14] =
    ["add", "sub", "mul", "mad", "fma", "neg", "abs", "min", "max", "or", "xor", "not", "shl", "ex2"];

/// What is done with each register by the instructions of a function. A name that two blocks declare is one here.
pub(crate) fn fates<'t>(texts: impl Iterator<Item = &'t str>) -> Fates {
    let (mut fates, mut copies, mut computed) = (Fates::new(), Vec::new(), Vec::new());
    let mut use_as = |operand: &str, fate: Fate| {
        for name in words(operand) {
            let known = fates.entry(name.to_owned()).or_default();
            *known = fate.max(*known);
        }
    };
    for text in texts {
        let (opcode, rest) = opcode(guarded(text).1);
        let mut operands = operands(rest);
        for operand in &mut operands {
            // All elements of a vector have one fate.
            if let Some((vector, _)) = element(operand) {
                *operand = vector.to_owned();
            }
        }
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
            "selp" => others.iter().enumerate().for_each(|(at, operand)| {
                use_as(operand, if at < 2 { Fate::Selected } else { Fate::Computed });
            }),
            name if ARITHMETIC.contains(&name) && !opcode.contains(".cc") => {
                computed.extend(others.iter().map(|from| (first.clone(), from.clone())));
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
    follow(&mut fates, &copies, &computed);
    // Nobody reads what these compute. They compute all the same.
    let idle: Vec<&(String, String)> = computed.iter().filter(|(to, _)| fate(&fates, to) == Fate::Unused).collect();
    for (_, from) in idle {
        use_also(&mut fates, from, Fate::Computed);
    }
    follow(&mut fates, &copies, &computed);
    fates
}

/// What becomes of values that are moved, and of what is computed with them, until nothing changes.
fn follow(fates: &mut Fates, copies: &[(String, String)], computed: &[(String, String)]) {
    // What a value is used for mostly stands below it.
    while copies.iter().rev().fold(false, |changed, (to, from)| copy(fates, to, from) || changed)
        || computed.iter().rev().fold(false, |changed, (to, from)| compute(fates, to, from) || changed)
    {}
}

/// The most that becomes of what an operand names.
fn fate(fates: &Fates, operand: &str) -> Fate {
    words(operand).filter_map(|name| fates.get(name)).max().copied().unwrap_or_default()
}

/// What is moved has the fate of what it is moved to. Says whether that is new.
fn copy(fates: &mut Fates, to: &str, from: &str) -> bool {
    let parts: Vec<Fate> = words(to).map(|name| fates.get(name).copied().unwrap_or_default()).collect();
    let most = parts.iter().max().copied().unwrap_or_default();
    let fate = if parts.contains(&Fate::Unused) { most.min(Fate::Narrowed) } else { most };
    use_also(fates, from, fate)
}

/// What is computed with is computed with, unless its result is only ever one of two that are chosen from.
fn compute(fates: &mut Fates, to: &str, from: &str) -> bool {
    let fate = match fate(fates, to) {
        known @ (Fate::Unused | Fate::Selected) => known,
        _ => Fate::Computed,
    };
    use_also(fates, from, fate)
}

/// Something more is done with registers. Says whether that is new.
fn use_also(fates: &mut Fates, from: &str, fate: Fate) -> bool {
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

    #[test]
    fn what_is_selected_may_be_selected_away() {
        let texts = [
            "fma.rn.f32 %f5, %f1, %f4, %f9",
            "add.f32 %f6, %f5, %f2",
            "selp.f32 %f7, %f6, %f8, %p1",
            "add.f32 %f10, %f3, %f2",
            "st.global.f32 [%rd1], %f10",
            "add.cc.u32 %r3, %r1, %r2",
            "selp.b32 %r4, %r3, 0, %p1",
        ];
        let fates = fates(texts.into_iter());
        let of = |name: &str| fates.get(name).copied().unwrap_or_default();
        let selected = ["%f1", "%f4", "%f9", "%f5", "%f6", "%f8", "%r3"];
        assert_eq!(selected.map(of), [Fate::Selected; 7]);
        assert_eq!(["%f2", "%f3", "%p1", "%r1"].map(of), [Fate::Computed; 4]);
    }
}
