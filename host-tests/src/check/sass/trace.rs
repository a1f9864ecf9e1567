//! Hints that the machine code does not show: the same machine instruction as the form without the hint.

use std::collections::{BTreeMap, BTreeSet};

use ptx_intrinsics::catalogue::Family;

use crate::check::operands::family;
use crate::check::sass::text::{ranges, stem};
use crate::check::sass::{Access, MachineCode, Seen, Shape};
use crate::tools::target::Sm;

/// Each hint of a spelling, and the spelling without it.
pub fn without_hints(ptx: &str) -> Vec<(&str, String)> {
    if let Some(rest) = ptx.strip_prefix("prefetch") {
        let uniform = rest.strip_prefix('u').map(|rest| (&ptx[.."prefetchu".len()], format!("prefetch{rest}")));
        let priority = rest.find("::evict").map(|at| (&rest[at - ".L2".len()..], format!("prefetch{}", &rest[..at])));
        return uniform.into_iter().chain(priority).collect();
    }
    let (ptx, operands) = ptx.split_at(ptx.find(' ').unwrap_or(ptx.len()));
    let words = ptx.split_inclusive('.').scan(0, |end, word| {
        let begin = *end;
        *end += word.len();
        // From one dot to before the next.
        Some(&ptx[begin.saturating_sub(1)..(*end).min(ptx.len()) - usize::from(word.ends_with('.'))])
    });
    let copies = family(ptx) == Some(Family::Copy);
    let hints = words.filter(|word| is_hint(word, copies));
    let without = |hint: &str| {
        // A copy's policy is its last operand, but for a mask.
        let operands =
            if copies && hint == ".L2::cache_hint" { &operands[..operands.len() - ", %".len()] } else { operands };
        ptx.replacen(hint, "", 1) + operands
    };
    hints.map(|hint| (hint, without(hint))).collect()
}

/// A copy's operator is none: there is no copy without one.
fn is_hint(word: &str, copies: bool) -> bool {
    let operators = [".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"];
    word.starts_with(".L1::") || word.starts_with(".L2::") || !copies && operators.contains(&word)
}

/// The hints of a spelling that this GPU's machine code does not show.
pub fn lost<'a>(ptx: &'a str, sm: Sm, seen: &Seen) -> Vec<&'a str> {
    let code = |ptx: &str| -> Option<&MachineCode> { seen.get(&sm)?.get(ptx) };
    let same = |without: &str| code(ptx).is_some() && code(ptx) == code(without);
    without_hints(ptx).into_iter().filter(|(_, without)| same(without)).map(|(hint, _)| hint).collect()
}

/// The page of all hints without a trace: for each instruction and hint, on which GPUs every form, or which forms.
pub fn page(accesses: &[Access], seen: &Seen) -> String {
    let sms: Vec<Sm> = seen.keys().copied().collect();
    let mut found: BTreeMap<(&str, &str), BTreeMap<Sm, Found<'_>>> = BTreeMap::new();
    for access in accesses {
        for sm in sms.iter().filter(|sm| access.is_on(**sm)) {
            let lost = lost(&access.ptx, *sm, seen);
            for (hint, _) in without_hints(&access.ptx) {
                let by_sm = found.entry((&access.instruction, hint)).or_default();
                let found = by_sm.entry(*sm).or_default();
                let own = if lost.contains(&hint) { &mut found.lost } else { &mut found.shown };
                own.insert(&access.ptx);
            }
        }
    }
    let mut page = String::from(HEAD);
    let mut last = "";
    for ((instruction, hint), by_sm) in found {
        let mut by_answer: BTreeMap<String, BTreeSet<Sm>> = BTreeMap::new();
        for (sm, found) in by_sm {
            by_answer.entry(found.answer()).or_default().insert(sm);
        }
        by_answer.remove("");
        if by_answer.is_empty() {
            continue;
        }
        if last != instruction {
            page += &format!("\n## `{instruction}`\n\n");
            last = instruction;
        }
        for (answer, on) in by_answer {
            page += &format!("- `{hint}` on sm_{}: {answer}\n", ranges(&on, &sms));
        }
    }
    page
}

const HEAD: &str = "\
# Hints without a trace in the machine code

Each line names a hint that leaves the machine instruction as it is without the hint, and the GPUs where that is so. It may
still say something to a reader, and to an assembler to come. Written by `cargo xtask sass --write`.
";

/// Forms with some hint on some GPU.
#[derive(Default)]
struct Found<'a> {
    lost: BTreeSet<&'a str>,
    shown: BTreeSet<&'a str>,
}

impl Found<'_> {
    /// Which of them do not show it; nothing if all do.
    fn answer(&self) -> String {
        match (self.lost.len(), self.shown.len()) {
            (0, _) => String::new(),
            (_, 0) => "every form".into(),
            _ => distinction(&self.lost, &self.shown),
        }
    }
}

/// What tells the forms of one set from those of the other: how much they move, or words that all of one have and none of
/// the other, else the spellings themselves without their types.
fn distinction(lost: &BTreeSet<&str>, shown: &BTreeSet<&str>) -> String {
    let bits = |forms: &BTreeSet<&str>| forms.iter().map(|form| Shape::of(form).total()).collect::<BTreeSet<_>>();
    if bits(lost).is_disjoint(&bits(shown)) {
        let bits: Vec<String> = bits(lost).iter().map(usize::to_string).collect();
        return format!("those of {} bits", bits.join(", "));
    }
    let words = |form: &str| -> BTreeSet<String> { form.split('.').map(|word| format!(".{word}")).collect() };
    let common = |forms: &BTreeSet<&str>| {
        let mut all = forms.iter().map(|form| words(form));
        let first = all.next().unwrap_or_default();
        all.fold(first, |common, own| &common & &own)
    };
    let any = |forms: &BTreeSet<&str>| forms.iter().flat_map(|form| words(form)).collect::<BTreeSet<_>>();
    let quoted = |words: BTreeSet<String>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ");
    let (with, without) = (&common(lost) - &any(shown), &common(shown) - &any(lost));
    if !with.is_empty() {
        return format!("those with {}", quoted(with));
    }
    if !without.is_empty() {
        return format!("those without {}", quoted(without));
    }
    let stems: BTreeSet<&str> = lost.iter().map(|form| stem(form).0).collect();
    stems.into_iter().map(|stem| format!("`{stem}`")).collect::<Vec<_>>().join(", ")
}
