//! What the descriptors of memory instructions hold: the default, a policy, a constant, or nothing that was ever written.

use std::collections::{BTreeSet, HashMap};

use ptx_sass::nvdisasm::SassInstruction;

/// What defines the upper word of a descriptor, which holds the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    /// The descriptor that the driver gives to every kernel.
    Default,
    /// This constant.
    Constant(u32),
    /// What is computed.
    Computed,
}

/// The descriptors of a function's instructions.
pub(crate) struct Descriptors<'a> {
    code: &'a [SassInstruction],
    before: Vec<Vec<usize>>,
    /// For each uniform register the positions that write it.
    written: HashMap<u32, Vec<usize>>,
    default: u32,
}

impl<'a> Descriptors<'a> {
    /// Of the code of a kernel for the GPU `sm`.
    pub(crate) fn of(code: &'a [SassInstruction], sm: u32) -> Self {
        let mut before = vec![Vec::new(); code.len()];
        for (from, next) in ptx_sass::hot_loop::successors(code).into_iter().enumerate() {
            next.into_iter().for_each(|to| before[to].push(from));
        }
        let mut written: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, one) in code.iter().enumerate() {
            writes(one).into_iter().flatten().for_each(|register| written.entry(register).or_default().push(at));
        }
        // Where the constants are that the driver sets.
        let default = match sm {
            ..90 => 0x118,
            90..100 => 0x208,
            _ => 0x358,
        };
        Descriptors { code, before, written, default }
    }

    /// What the descriptor of the instruction at that position holds; nothing if it has none. Empty if no way from the
    /// beginning writes it.
    pub(crate) fn at(&self, at: usize) -> Option<BTreeSet<Holds>> {
        let first = descriptor(&self.code[at])?;
        // In `LDGSTS [UR6], desc[UR7]` the address takes the place of the lower word.
        let upper = if first % 2 == 1 { first } else { first + 1 };
        let (low, high) = (self.reaching(at, first), self.reaching(at, upper));
        if low.is_empty() || high.is_empty() {
            return Some(BTreeSet::new());
        }
        Some(high.into_iter().map(|definition| self.holds(definition, upper)).collect())
    }

    fn holds(&self, definition: usize, register: u32) -> Holds {
        let one = &self.code[definition];
        let source = one.operands.get(1).map(String::as_str).unwrap_or_default();
        let first = one.operands.first().and_then(|operand| uniform(operand)).unwrap_or(register);
        if let Some(offset) = source.strip_prefix("c[0x0][").and_then(|rest| hex(rest.strip_suffix(']')?)) {
            let own = offset + 4 * (u64::from(register.saturating_sub(first)));
            // The policy is in the upper word.
            return if own == u64::from(self.default) + 4 { Holds::Default } else { Holds::Computed };
        }
        let value = if source == "URZ" { Some(0) } else { hex(source) };
        match (one.name(), value) {
            ("UMOV", Some(value)) if one.opcode.contains(".64") => {
                Holds::Constant((value >> if register == first { 0 } else { 32 }) as u32)
            }
            ("UMOV", Some(value)) => Holds::Constant(value as u32),
            _ => Holds::Computed,
        }
    }

    /// The positions that may have written a register last.
    fn reaching(&self, at: usize, register: u32) -> Vec<usize> {
        let Some(written) = self.written.get(&register) else { return Vec::new() };
        if let [one] = written[..] {
            return vec![one];
        }
        let (mut found, mut open) = (Vec::new(), self.before[at].clone());
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if written.contains(&at) {
                found.push(at);
                // A write under a predicate may not happen.
                if self.code[at].predicate.is_none() {
                    continue;
                }
            }
            open.extend(&self.before[at]);
        }
        found
    }
}

/// The uniform register that `desc[UR4]` begins with.
pub(crate) fn descriptor(one: &SassInstruction) -> Option<u32> {
    one.operands.iter().find_map(|operand| uniform(operand.split_once("desc[")?.1.split(']').next()?))
}

fn uniform(text: &str) -> Option<u32> {
    text.strip_prefix("UR")?.parse().ok()
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The uniform registers that an instruction writes.
fn writes(one: &SassInstruction) -> Option<std::ops::Range<u32>> {
    let is_register = |operand: &&String| !operand.trim_start_matches('U').starts_with('P') && *operand != "!UPT";
    let first = uniform(one.operands.iter().find(is_register)?.trim_end_matches(".reuse"))?;
    // These read it.
    if ["BRA", "UTMA", "UBLK", "SYNCS", "WARPSYNC"].iter().any(|name| one.opcode.starts_with(name)) {
        return None;
    }
    let words = match &one.opcode {
        opcode if opcode.contains(".128") => 4,
        opcode if opcode.contains(".64") || opcode.contains(".WIDE") => 2,
        _ => 1,
    };
    Some(first..first + words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str], sm: u32) -> Vec<BTreeSet<Holds>> {
        let body: String = lines.iter().enumerate().map(|(at, line)| format!("/*{at:02x}0*/ {line} ;\n")).collect();
        let code = ptx_sass::nvdisasm::parse(&format!("        .type k,@function\nk:\n{body}")).remove(0).instructions;
        let descriptors = Descriptors::of(&code, sm);
        (0..code.len()).filter_map(|at| descriptors.at(at)).collect()
    }

    #[test]
    fn a_descriptor_is_the_default_a_constant_or_computed() {
        let load = "LDG.E R0, desc[UR4][R2.64]";
        let held = |lines: &[&str]| of(&[lines, &[load, "EXIT"]].concat(), 90);
        assert_eq!(held(&["ULDC.64 UR4, c[0x0][0x208]"]), [BTreeSet::from([Holds::Default])]);
        assert_eq!(held(&["ULDC.64 UR4, c[0x0][0x220]"]), [BTreeSet::from([Holds::Computed])]);
        assert_eq!(held(&["UMOV UR4, URZ", "UMOV UR5, 0x12f00000"]), [BTreeSet::from([Holds::Constant(0x12f0_0000)])]);
        assert_eq!(held(&["UMOV.64 UR4, 0x12f0000000000000"]), [BTreeSet::from([Holds::Constant(0x12f0_0000)])]);
        let copy =
            ["UMOV UR6, 0x5bc00000", "UMOV UR7, 0x12f00000", "UMOV UR6, UR4", "LDGSTS.E [UR6], desc[UR7][R2.64]"];
        assert_eq!(of(&copy, 90), [BTreeSet::from([Holds::Constant(0x12f0_0000)])]);
        assert_eq!(held(&["UMOV UR4, URZ", "USHF.L.U32 UR5, UR6, 0x14, URZ"]), [BTreeSet::from([Holds::Computed])]);
    }

    #[test]
    fn a_descriptor_that_no_way_writes_is_empty() {
        let load = "LDG.E R0, desc[UR4][R2.64]";
        assert_eq!(of(&["UMOV UR4, URZ", load, "EXIT"], 90), [BTreeSet::new()]);
        // It is written behind the load alone.
        let late = [load, "UMOV UR4, URZ", "UMOV UR5, 0x1", "UMOV UR5, 0x2", "EXIT"];
        assert_eq!(of(&late, 90), [BTreeSet::new()]);
    }
}
