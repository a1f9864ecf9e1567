//! How many loads of a thread are on their way at once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::hot_loop::{moved, width};
use crate::nvdisasm::SassInstruction;

/// The most global loads that are on their way at once: issued, and nothing has read yet what they or a later one brings.
/// The instructions are taken in the order in which they stand, and a loop goes round twice, so that what is loaded for the
/// next turn counts too.
pub fn in_flight(code: &[&SassInstruction], is_loop: bool) -> usize {
    // Of each load its registers: one of 256 bits has two quads.
    let mut on_their_way: VecDeque<Vec<Range<u32>>> = VecDeque::new();
    let mut most = 0;
    for one in (0..if is_loop { 2 } else { 1 }).flat_map(|_| code) {
        let Registers { read, written } = registers(one);
        let touched = |load: &[Range<u32>], by: &[Range<u32>]| {
            load.iter().any(|load| by.iter().any(|by| by.start < load.end && load.start < by.end))
        };
        // Loads come back in the order in which they were issued.
        if let Some(last) = on_their_way.iter().rposition(|load| touched(load, &read)) {
            on_their_way.drain(..=last);
        }
        on_their_way.retain(|load| !touched(load, &written));
        if is_global_load(one) {
            on_their_way.push_back(written);
            most = most.max(on_their_way.len());
        }
    }
    most
}

/// Whether it brings something out of global memory into registers. A generic load does, for all that can be told.
fn is_global_load(one: &SassInstruction) -> bool {
    ["LDG", "LD"].contains(&one.name()) && moved(one).is_some()
}

/// The registers of a thread that an instruction reads and writes; uniform ones hold no load of it.
#[derive(Default)]
struct Registers {
    read: Vec<Range<u32>>,
    written: Vec<Range<u32>>,
}

fn registers(one: &SassInstruction) -> Registers {
    let mut found = Registers::default();
    let mut operands = one.operands.iter().map(String::as_str).peekable();
    let words = one.operands.iter().take_while(|operand| !operand.contains('[')).count().max(1) as u32;
    let load = ["LDG", "LD", "LDS", "LDL", "LDC"].contains(&one.name());
    if load {
        // One of 256 bits names two quads.
        let each = (width(one).div_ceil(4) / words).max(1);
        while let Some(operand) = operands.next_if(|operand| !operand.contains('[')) {
            found.written.extend(named(operand, each));
        }
    } else if !writes_none(one) {
        let is_predicate = |operand: &&str| operand.trim_start_matches(['!', 'U']).starts_with('P');
        while operands.next_if(is_predicate).is_some() {}
        if let Some(result) = operands.next() {
            found.written.extend(named(result, wide_result(one)));
        }
    }
    let all = operands.len();
    for (at, operand) in operands.enumerate() {
        let registers = match one.name() {
            _ if operand.contains('[') => 1,
            "STG" | "ST" | "STS" | "STL" => width(one).div_ceil(4),
            name if name.starts_with('D') || at + 1 == all && one.opcode.contains(".WIDE") => 2,
            name if name.ends_with("MMA") => 4,
            _ => 1,
        };
        found.read.extend(named(operand, registers));
    }
    found
}

/// Whether all its registers are read.
fn writes_none(one: &SassInstruction) -> bool {
    let name = one.name();
    let alone = ["ST", "STG", "STS", "STL", "RED", "REDG", "LDGSTS", "FCHK", "R2P", "SYNCS", "BRX", "CCTL"];
    name.contains("SETP") || alone.contains(&name)
}

/// How many registers its result has.
fn wide_result(one: &SassInstruction) -> u32 {
    match one.name() {
        name if name.ends_with("MMA") => 4,
        "DADD" | "DMUL" | "DFMA" => 2,
        _ if one.opcode.contains(".WIDE") || one.opcode.contains(".64") => 2,
        _ => 1,
    }
}

/// The registers that an operand names: the first of each group, and the size of the group: `desc[UR4][R2.64+0x10]`, `-R7.reuse`.
fn named(operand: &str, width: u32) -> impl Iterator<Item = Range<u32>> {
    static REGISTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bR(\d+)(\.64)?").expect("the pattern is valid"));
    REGISTER.captures_iter(operand).filter_map(move |register| {
        let first: u32 = register[1].parse().ok()?;
        Some(first..first + width.max(if register.get(2).is_some() { 2 } else { 1 }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvdisasm::parse;

    fn of(is_loop: bool, lines: &[&str]) -> usize {
        let body: String = lines.iter().enumerate().map(|(at, line)| format!("/*{at:02x}0*/ {line} ;\n")).collect();
        let code = parse(&format!("        .type k,@function\nk:\n{body}")).remove(0).instructions;
        in_flight(&code.iter().collect::<Vec<_>>(), is_loop)
    }

    #[test]
    fn a_use_ends_a_load_and_all_before_it() {
        let two = ["LDG.E R4, desc[UR4][R2.64]", "LDG.E R5, desc[UR4][R2.64+0x4]", "FADD R6, R4, R5", "EXIT"];
        assert_eq!(of(false, &two), 2);
        let one_by_one = ["LDG.E R4, [R2.64]", "FADD R6, R4, R6", "LDG.E R4, [R2.64+0x4]", "FADD R6, R4, R6", "EXIT"];
        assert_eq!(of(false, &one_by_one), 1);
        let the_second_first = ["LDG.E R4, [R2.64]", "LDG.E R5, [R2.64]", "MOV R6, R5", "LDG.E R7, [R2.64]", "EXIT"];
        assert_eq!(of(false, &the_second_first), 2);
    }

    #[test]
    fn every_register_of_a_load_counts() {
        // R8 is after the quad, and R3 before it; what is written to ends too.
        for (between, expected) in
            [("FADD R9, R8, R9", 2), ("FADD R9, R3, R9", 2), ("FADD R9, R7, R9", 1), ("FADD R7, R9, R9", 1)]
        {
            let lines = ["LDG.E.128.CONSTANT R4, [R2.64]", between, "LDG.E R10, [R2.64]", "EXIT"];
            assert_eq!(of(false, &lines), expected, "{between}");
        }
        let halves = ["LDG.E.ENL2.256 R12, R4, [R2]", "FADD R0, R15, R15", "LDG.E R20, [R2]", "EXIT"];
        assert_eq!(of(false, &halves), 1);
    }

    #[test]
    fn operands_of_several_registers_are_read_whole() {
        let second_of = |uses| of(false, &["LDG.E R5, [R2.64]", uses, "LDG.E R9, [R2.64]", "EXIT"]);
        for uses in [
            "STG.E.64 desc[UR4][R2.64], R4",
            "STS.128 [R0], R4",
            "IMAD.WIDE R6, R0, 0x4, R4",
            "DADD R6, R4, R10",
            "ISETP.GE.AND P0, PT, R5, R1, PT",
            "@P0 SHFL.BFLY PT, R6, R5, 0x1, 0x1f",
            "IADD3.X R0, P0, R1, ~R5.reuse, RZ, P1, !PT",
        ] {
            assert_eq!(second_of(uses), 1, "{uses}");
        }
        // A load is on its way itself, and its address may have to be waited for.
        assert_eq!(second_of("LDG.E R8, desc[UR4][R4.64]"), 2);
        assert_eq!(second_of("LDG.E R8, desc[UR4][R6.64]"), 3);
        for uses in
            ["STG.E [R2.64], R4", "IMAD.WIDE R6, R4, 0x4, R2", "IADD3 R4, R0, UR5, RZ", "BAR.SYNC.DEFER_BLOCKING 0x0"]
        {
            assert_eq!(second_of(uses), 2, "{uses}");
        }
    }

    #[test]
    fn what_the_last_turn_loads_is_on_its_way_in_the_next() {
        let ahead = ["FADD R0, R4, R0", "LDG.E R4, [R2.64]", "LDG.E R5, [R2.64]", "FADD R0, R5, R0", "BRA `(.L_0)"];
        assert_eq!(of(true, &ahead), 2);
        let behind = ["LDG.E R5, [R2.64]", "FADD R0, R4, R0", "LDG.E R4, [R2.64]", "BRA `(.L_0)"];
        assert_eq!((of(false, &behind), of(true, &behind)), (2, 2));
        let rolling = ["LDG.E R6, [R2.64]", "FADD R0, R4, R0", "MOV R4, R6", "BRA `(.L_0)"];
        assert_eq!(of(true, &rolling), 1);
    }

    #[test]
    fn shared_memory_and_what_is_never_executed_are_no_loads() {
        assert_eq!(of(false, &["LDS R4, [R2]", "@!PT LDG.E R5, [R2.64]", "STG.E [R2.64], R8", "EXIT"]), 0);
    }
}
