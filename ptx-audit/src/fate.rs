//! What each word of a memory instruction of PTX becomes in the machine instruction: one table, for every GPU.

use serde::{Deserialize, Serialize};

/// What became of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The machine instruction has it.
    Kept,
    /// The machine instruction has something weaker: this modifier.
    Weakened(String),
    /// The machine instruction is as without the word.
    Lost,
    /// The word says what the machine does anyway.
    Default,
}

/// A word and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// As PTX spells it, with its dot: `.L2::256B`.
    pub word: String,
    /// What became of it.
    pub fate: Fate,
}

/// How a word shows in an opcode.
enum Shows {
    /// By one of these modifiers.
    As(&'static [&'static str]),
    /// By the first of these modifiers; by a later one it is weaker.
    Strongest(&'static [&'static str]),
    /// By a scope at least this wide; where memory is not shared by threads of several multiprocessors, by none.
    Scope(u32),
    /// By the policy in the descriptor.
    Policy,
    /// It is the default.
    Never,
}
use Shows::{As, Never, Policy, Scope, Strongest};

/// The table. The words of a `prefetch` and of operators of a `.nc` load are in [`shows`].
const WORDS: [(&str, Shows); 23] = [
    ("L1::evict_normal", Never),
    ("L1::evict_unchanged", As(&["EU"])),
    ("L1::evict_first", As(&["EF"])),
    ("L1::evict_last", As(&["EL"])),
    ("L1::no_allocate", As(&["NA"])),
    ("L2::evict_normal", Never),
    ("L2::evict_first", As(&["EFL2"])),
    ("L2::evict_last", As(&["ELL2"])),
    ("L2::64B", As(&["LTC64B", "LTC128B", "LTC256B"])),
    ("L2::128B", Strongest(&["LTC128B", "LTC64B"])),
    ("L2::256B", Strongest(&["LTC256B", "LTC128B", "LTC64B"])),
    ("L2::cache_hint", Policy),
    ("ca", Scope(1)),
    ("wb", Scope(1)),
    ("cg", Scope(2)),
    ("cv", Scope(3)),
    ("wt", Scope(3)),
    ("cs", As(&["EF"])),
    ("lu", As(&["LU"])),
    ("nc", As(&["CONSTANT"])),
    ("volatile", Scope(3)),
    ("mmio", As(&["MMIO"])),
    // `.relaxed` is judged by its scope, which stands beside it; the other orders are, and by what stands around the access.
    ("weak", Never),
];

/// How wide the scope of a word is: that of a block, of a GPU, of all.
const SCOPES: [(&str, u32); 4] = [("cta", 1), ("cluster", 2), ("gpu", 2), ("sys", 3)];

const ORDERS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];

/// How wide the scope of an opcode of PTX is, if it names one.
pub(crate) fn width_of_scope(opcode: &str) -> Option<u32> {
    let named = |word: &str| SCOPES.iter().find(|(name, _)| *name == word).map(|(_, width)| *width);
    opcode.split(' ').next()?.split('.').find_map(named)
}

/// What became of each word of `opcode`, which is PTX, in these opcodes of the GPU `sm`. The words that are no hint and no
/// order are left out. `policy` says whether the policy that it was given reaches the instruction.
pub fn words(opcode: &str, machine: &[&str], policy: bool, sm: u32) -> Vec<Word> {
    let opcode = opcode.split(' ').next().unwrap_or_default();
    let parts: Vec<&str> = opcode.split('.').collect();
    let judged = parts.iter().filter_map(|part| {
        let fate = fate(part, &parts, machine, policy, sm)?;
        let dot = if *part == "prefetchu" { "" } else { "." };
        Some(Word { word: format!("{dot}{part}"), fate })
    });
    judged.collect()
}

fn fate(word: &str, parts: &[&str], machine: &[&str], policy: bool, sm: u32) -> Option<Fate> {
    let shows = shows(word, parts)?;
    let has = |modifier: &&&str| machine.iter().any(|opcode| opcode.split('.').any(|own| own == **modifier));
    let kept_if = |kept: bool| if kept { Fate::Kept } else { Fate::Lost };
    let fate = match shows {
        // The 128-bit loads of sm_75 are `.U` where nothing is said.
        _ if drops_uniform(word, parts, machine, sm) => Fate::Kept,
        As(modifiers) => kept_if(modifiers.iter().any(|modifier| has(&modifier))),
        Strongest(modifiers) => match modifiers.iter().position(|modifier| has(&modifier)) {
            Some(0) => Fate::Kept,
            Some(at) => Fate::Weakened(modifiers[at].to_owned()),
            None => Fate::Lost,
        },
        Scope(wanted) => match machine.iter().filter_map(|opcode| scope(opcode)).max() {
            Some(found) if found >= wanted => Fate::Kept,
            _ if !machine.iter().any(|opcode| is_shared_by_all(opcode)) => Fate::Default,
            _ => Fate::Lost,
        },
        Policy => kept_if(policy),
        Never => Fate::Default,
    };
    Some(fate)
}

fn shows(word: &str, parts: &[&str]) -> Option<Shows> {
    let operator = ["ca", "cg", "cs", "lu", "cv", "wb", "wt"].contains(&word);
    let on_chip = ["shared", "shared::cta", "local", "const", "param::entry", "param::func", "param"];
    match parts.first().copied().unwrap_or_default() {
        // The operator of a copy is part of its name: there is none without.
        "cp" if operator => return None,
        "cp" | "ld" | "ldu" | "st" | "atom" | "red" => {}
        "prefetchu" if word == "prefetchu" => return Some(As(&[])),
        "prefetch" if word == "L2::evict_last" => return Some(As(&["PML2"])),
        "prefetch" if word == "L2::evict_normal" => return Some(Never),
        _ => return None,
    }
    if operator && parts.iter().any(|part| on_chip.contains(part)) {
        return Some(Never);
    }
    if parts.contains(&"nc") && ["ca", "cg"].contains(&word) {
        // Loads of the read-only path have no scope: `.ca` is their default, and `.cg` has no modifier.
        return Some(if word == "ca" { Never } else { As(&[]) });
    }
    if let Some((_, scope)) = SCOPES.iter().find(|(name, _)| *name == word) {
        return parts.iter().any(|part| ORDERS.contains(part)).then_some(Scope(*scope));
    }
    let found = WORDS.iter().find(|(name, _)| *name == word)?;
    Some(match &found.1 {
        As(modifiers) => As(modifiers),
        Strongest(modifiers) => Strongest(modifiers),
        Scope(scope) => Scope(*scope),
        Policy => Policy,
        Never => Never,
    })
}

fn drops_uniform(word: &str, parts: &[&str], machine: &[&str], sm: u32) -> bool {
    let ends_it = ["L1::evict_normal", "cg"].contains(&word) && parts.contains(&"nc");
    let wide = |opcode: &str| opcode.contains(".128") && opcode.starts_with("LDG") && !opcode.contains(".U.");
    sm == 75 && ends_it && machine.iter().any(|opcode| wide(opcode))
}

/// How wide a machine instruction's scope is.
fn scope(opcode: &str) -> Option<u32> {
    if !opcode.contains("STRONG") && !opcode.contains("MMIO") {
        return None;
    }
    let scopes = [("CTA", 1), ("SM", 1), ("GPU", 2), ("SYS", 3)];
    scopes.iter().find(|(name, _)| opcode.split('.').any(|own| own == *name)).map(|(_, scope)| *scope)
}

/// Whether it goes to memory that other multiprocessors see.
fn is_shared_by_all(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or_default();
    ["LD", "LDG", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(ptx: &str, machine: &[&str], sm: u32) -> Vec<(String, Fate)> {
        words(ptx, machine, false, sm).into_iter().map(|one| (one.word, one.fate)).collect()
    }

    #[test]
    fn each_word_has_its_fate() {
        let ptx = "ld.global.nc.L1::evict_last.L2::256B.v4.f32";
        let fates = |machine| told(ptx, &[machine], 80).into_iter().map(|(_, fate)| fate).collect::<Vec<_>>();
        assert_eq!(fates("LDG.E.EL.LTC256B.128.CONSTANT"), [Fate::Kept, Fate::Kept, Fate::Kept]);
        let weakened = Fate::Weakened("LTC128B".into());
        assert_eq!(fates("LDG.E.EL.LTC128B.128"), [Fate::Lost, Fate::Kept, weakened]);
        assert_eq!(fates("LDG.E.128.CONSTANT"), [Fate::Kept, Fate::Lost, Fate::Lost]);
    }

    #[test]
    fn an_order_needs_its_scope() {
        let relaxed = |machine| told("ld.relaxed.sys.global.u32", &[machine], 90);
        assert_eq!(relaxed("LDG.E.STRONG.SYS"), [(".sys".to_owned(), Fate::Kept)]);
        assert_eq!(relaxed("LDG.E.STRONG.GPU"), [(".sys".to_owned(), Fate::Lost)]);
        assert_eq!(relaxed("LDG.E"), [(".sys".to_owned(), Fate::Lost)]);
        assert_eq!(told("ld.volatile.shared.u32", &["LDS"], 90), [(".volatile".to_owned(), Fate::Default)]);
    }
}
