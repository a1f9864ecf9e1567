//! What each instruction does to memory, as the PTX ISA has it: what the compiler may do to a call, and to the plain
//! accesses around it.
//!
//! It is read from the words alone, and from none of the crate's tables.

/// What a call means to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// It makes a number of its operands: of two one is made, one that nobody uses is dropped, and no access is held up.
    Computes,
    /// It reads, and any two reads without a write between them are the same: of two one is made, and one that nobody uses
    /// is dropped. What was written before it stays before it.
    Reads,
    /// It gives no value and changes none, and is there all the same: each call is one instruction. What was written before
    /// it stays before it; plain reads on both sides of it may be one.
    Hints,
    /// It writes, or orders, or must be seen to happen: each call is one instruction, and no access moves across it.
    Acts,
}

impl Effect {
    pub(crate) const ALL: [Effect; 4] = [Computes, Reads, Hints, Acts];
}

use Effect::{Acts, Computes, Hints, Reads};

/// Instructions by how they begin, the words that make a row hold where it needs one, and the effect. The first row that
/// holds counts.
const LEDGER: &[(&str, &[&str], Effect, &str)] = &[
    ("ld", &["volatile"], Acts, "not cached in registers; neither dropped nor doubled"),
    ("ld", &["mmio"], Acts, "one access of a device's register, which may change by being read"),
    ("ld", &["relaxed"], Acts, "strong: another thread writes meanwhile, so the next one may read something else"),
    ("ld", &["acquire"], Acts, "strong, and what follows is not done before it"),
    ("ld", &["lu"], Acts, "the last use: after it the line may be gone, so it is not repeated, joined or moved"),
    ("ld", &["cv"], Acts, "fetches again each time: the host or another device writes meanwhile"),
    ("ldu", &[], Reads, "reads what nobody writes while the kernel runs"),
    ("ld", &[], Reads, "weak: nobody else writes meanwhile"),
    ("st", &["bulk"], Acts, "writes zeros"),
    ("st", &[], Acts, "writes"),
    ("atom", &[], Acts, "reads and writes in one step, and may order"),
    ("red", &[], Acts, "reads and writes in one step, and may order"),
    ("prefetch", &[], Hints, "brings a line into a cache"),
    ("prefetchu", &[], Hints, "brings a line into a cache"),
    ("applypriority", &[], Hints, "changes a line's priority in a cache, and no value"),
    ("discard", &[], Acts, "what the bytes hold is undetermined then, so it writes"),
    ("createpolicy", &[], Computes, "a number of numbers"),
    ("cvta", &[], Computes, "an address of an address"),
    ("isspacep", &[], Computes, "a truth about an address"),
    ("mapa", &[], Computes, "an address of an address"),
    ("getctarank", &[], Computes, "a number of an address"),
    ("fence", &[], Acts, "orders"),
    ("membar", &[], Acts, "orders"),
    ("mbarrier", &["pending_count"], Computes, "a number of a state"),
    ("mbarrier", &[], Acts, "changes a barrier, or waits for one: others' accesses come before what follows"),
    ("cp", &["async"], Acts, "reads and writes memory, later, or waits for that"),
];

/// The effect of a mnemonic with all its words; none if the ledger lacks it.
pub(crate) fn effect(ptx: &str) -> Option<Effect> {
    let mut words = ptx.split('.');
    let name = words.next()?;
    let words: Vec<&str> = words.collect();
    let row = LEDGER.iter().find(|(of, with, ..)| *of == name && with.iter().all(|word| words.contains(word)));
    row.map(|(_, _, effect, _)| *effect)
}

/// The rows that count for none of these mnemonics: the ledger has no row too many.
pub(crate) fn unused<'p>(all: impl Iterator<Item = &'p str>) -> Vec<String> {
    let mut used = vec![false; LEDGER.len()];
    for ptx in all {
        let words: Vec<&str> = ptx.split('.').collect();
        let holds = |row: &(&str, &[&str], Effect, &str)| {
            row.0 == words[0] && row.1.iter().all(|word| words[1..].contains(word))
        };
        used[LEDGER.iter().position(holds).unwrap_or_default()] = true;
    }
    LEDGER.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| format!("{row:?}")).collect()
}
