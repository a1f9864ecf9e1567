//! What an access is by its words, and what a machine instruction is by its name.

use ptx_intrinsics::catalogue::Family;
use ptx_sass::nvdisasm::SassInstruction;

use crate::check::operands::{family, is_request};

/// The value of the policy of each access begins with this; no address and no other constant does.
pub(super) const POLICY: u64 = 0x12f0_0000_5bc0_0000;

/// Whether it ends in a type: a load, a store or an atomic, at once or later.
pub(super) fn moves(access: &str) -> bool {
    matches!(family(access), Some(Family::Load | Family::Store | Family::Asynchronous)) || is_atomic(access)
}

pub(super) fn is_fence(access: &str) -> bool {
    family(access) == Some(Family::Fence)
}

/// Whether the assembler makes one thing of it and of its neighbour: of two fences one, and of the loops that add to one
/// float of 16 bits a common end. What is done later has no line of its own on sm_120. Before a barrier begins in memory that a
/// copy of the same kernel may still write, it waits for that. In which order a column's copy puts its operands on the stack on sm_120
/// depends on its neighbours.
pub(super) fn melts(access: &str) -> bool {
    is_fence(access)
        || family(access) == Some(Family::Asynchronous)
        || access.starts_with("mbarrier.init")
        || access.contains(".im2col")
        || is_atomic(access) && access.contains(".add.noftz") && Shape::of(access).total() == 16
}

/// Whether it is an atomic. A `multimem` is written like one.
pub(super) fn is_atomic(access: &str) -> bool {
    matches!(family(access), Some(Family::Atomic | Family::Reduction | Family::Multimem))
}

pub(super) fn is_multimem(access: &str) -> bool {
    family(access) == Some(Family::Multimem)
}

/// The bytes of the addresses that an access has for its own.
pub(super) const SLOT: usize = 64;

/// The bits of an element, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of one element.
    pub bits: usize,
    /// How many.
    pub lanes: usize,
}

impl Shape {
    /// Of what ends in its type.
    pub fn of(access: &str) -> Self {
        let words: Vec<&str> = access.split('.').collect();
        let ty = words.last().copied().unwrap_or_default();
        let bits = match ty {
            "e4m3" | "e5m2" => 8,
            "e4m3x2" | "e5m2x2" => 16,
            // `f16x2` and `e4m3x4` have 32.
            _ => ty.trim_start_matches(|kind: char| kind.is_ascii_lowercase()).parse().unwrap_or(32),
        };
        let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
        Shape { bits, lanes }
    }

    /// The bits of all elements.
    pub fn total(self) -> usize {
        self.bits * self.lanes
    }
}

/// Whether an instruction only brings operands to an access or away from it. What is not known to do only that is
/// taken for part of the access.
pub(super) fn only_moves(one: &SassInstruction) -> bool {
    let parameter = |operand: &String| operand.contains("c[0x0][0x");
    // Three of these stand before the first copy on sm_90.
    let never = one.predicate.as_deref() == Some("!PT");
    match one.name() {
        _ if never => true,
        "LDC" | "LDCU" | "ULDC" => one.operands.iter().any(parameter),
        name => MOVES.contains(&name),
    }
}

pub(super) const MOVES: [&str; 31] = [
    "MOV", "UMOV", "IMAD", "UIMAD", "IADD3", "UIADD3", "IADD", "LEA", "ULEA", "PRMT", "UPRMT", "SGXT", "USGXT", "SHF",
    "USHF", "LOP3", "ULOP3", "S2R", "S2UR", "CS2R", "R2UR", "NOP", "I2IP", "HFMA2", "EXIT", "VIADD", "RET", "ISETP",
    "UISETP", "SEL", "USEL",
];

/// Whether it is a copy, a barrier, or done later.
pub(super) fn is_async(access: &str) -> bool {
    is_request(access) || matches!(family(access), Some(Family::Copy | Family::Barrier | Family::Asynchronous))
}

/// What is around some of those: a loop over the threads, whose addresses may differ, and on sm_120 and newer a call
/// for clusters of more than one block; before sm_90 the threads of a warp are counted to arrive as one.
pub(super) const AROUND: [&str; 16] = [
    "BSSY", "BSYNC", "PLOP3", "ELECT", "BRA", "LDC", "LEPC", "CALL", "VOTE", "VOTEU", "FLO", "UFLO", "POPC", "UPOPC",
    "SHFL", "RPCMOV",
];

/// Whether an instruction touches memory, other than to keep a value that was loaded.
pub(super) fn is_access(one: &SassInstruction) -> bool {
    one.name() != "STS" && touches(one)
}

/// Whether an instruction is part of a fence.
pub(super) fn orders(one: &SassInstruction) -> bool {
    FENCES.contains(&one.name()) || ["CCTL", "FENCE", "UTMA", "DEPBAR"].iter().any(|name| one.name().starts_with(name))
}

/// Whether an instruction touches memory.
pub(super) fn touches(one: &SassInstruction) -> bool {
    let parameter = matches!(one.name(), "LDC" | "LDCU");
    !parameter
        && ["LD", "ST", "ATOM", "RED", "CCTL", "UTMA", "UST", "URED"].iter().any(|name| one.name().starts_with(name))
}

/// Whether an access is a release. Arriving at a barrier is one where nothing else is said.
pub(super) fn releases(access: &str) -> bool {
    access.contains(".release.")
        || access.contains(".acq_rel.")
        || access.starts_with("mbarrier.arrive") && !access.contains(".relaxed.")
}

/// Whether an access is an acquire. Who waits for copies to global memory to be written sees them.
pub(super) fn acquires(access: &str) -> bool {
    access.contains(".acquire.") || access.contains(".acq_rel.") || access.starts_with("cp.async.bulk.wait_group ")
}

/// What comes after an acquire, and before a release.
pub(super) const INVALIDATION: &str = "CCTL.IVALL";
pub(super) const FENCES: [&str; 3] = ["MEMBAR", "ERRBAR", "CGAERRBAR"];

/// Which access's policy the instruction has: all of it, or its lower half.
pub(super) fn policy_of(one: &SassInstruction) -> Option<usize> {
    let constant = |operand: &String| u64::from_str_radix(operand.strip_prefix("0x")?, 16).ok();
    let low = POLICY & u64::from(u32::MAX);
    let own = |constant: u64| [POLICY, low].into_iter().find_map(|policy| constant.checked_sub(policy));
    one.operands.iter().filter_map(constant).filter_map(own).find(|own| *own < 1 << 20).map(|own| own as usize)
}
