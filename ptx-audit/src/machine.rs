//! What a machine instruction is: an access, an order among accesses, a branch.

use ptx_sass::nvdisasm::SassInstruction;

/// Whether an instruction touches memory, and is ever executed.
pub(crate) fn is_memory(one: &SassInstruction) -> bool {
    let names = ["LD", "ST", "ATOM", "RED", "CCTL", "UBLK", "UTMA", "UMEMSETS", "USTGR", "UREDGR"];
    let others = ["LDC", "LDCU", "LDTM", "STTM", "REDUX", "LDSM", "STSM", "LDGDEPBAR", "LDDEP"];
    one.predicate.as_deref() != Some("!PT")
        && names.iter().any(|name| one.name().starts_with(name))
        && !others.contains(&one.name())
}

/// How wide a fence of the machine is.
pub(crate) fn fence_scope(one: &SassInstruction) -> Option<u32> {
    let scope = one.opcode.strip_prefix("MEMBAR.")?.rsplit('.').next()?;
    [("CTA", 1), ("SM", 1), ("GPU", 2), ("VC", 2), ("SYS", 3)]
        .iter()
        .find(|(name, _)| *name == scope)
        .map(|(_, width)| *width)
}

/// Whether it orders accesses and is none.
pub(crate) fn is_ordering(one: &SassInstruction) -> bool {
    ["MEMBAR", "FENCE", "ERRBAR", "CGAERRBAR"].contains(&one.name())
        || one.opcode == "CCTL.IVALL"
        || one.opcode.starts_with("UTMACCTL.IV")
}

/// Whether it touches memory, and does not only order what does.
pub(crate) fn is_access(one: &SassInstruction) -> bool {
    is_memory(one) && !is_ordering(one)
}

/// Whether something else may follow it, or come before what follows it.
pub(crate) fn is_branch(one: &SassInstruction) -> bool {
    ["BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "BSYNC", "BAR"].contains(&one.name())
}

/// Whether it writes to memory.
pub(crate) fn is_write(one: &SassInstruction) -> bool {
    let names = ["ST", "ATOM", "RED", "USTGR", "UREDGR", "UMEMSETS"];
    is_access(one) && names.iter().any(|name| one.name().starts_with(name))
}
