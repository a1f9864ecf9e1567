//! What a form is, with its machine code out of `docs/sass`.

use std::collections::{BTreeMap, BTreeSet};

use ptx_build::explain::page;
pub use ptx_build::explain::{LONGEST, Misspelt, find};
use ptx_intrinsics::catalogue::{Family, Form};

use crate::check::sass::golden::Page;
use crate::check::sass::text::ranges;
use crate::check::sass::{self, GPUS, pages};
use crate::tools::error::Result;
use crate::tools::target::Sm;

/// All about forms, a page each.
pub fn explain(forms: &[Form]) -> Result<Vec<String>> {
    let kept = pages::kept()?;
    forms.iter().map(|form| Ok(page(form, &machine_code(form, &kept)?))).collect()
}

/// A line for all GPUs that agree.
fn machine_code(form: &Form, kept: &BTreeMap<String, String>) -> Result<Vec<String>> {
    if form.family() == Family::Policy {
        return Ok(vec![
            "arithmetic on registers; a policy that is known beforehand is better encoded, as a constant".into(),
        ]);
    }
    if !sass::touches_memory(form) {
        return Ok(vec!["arithmetic on registers".into()]);
    }
    let text = kept.get(&format!("{}.txt", form.instruction())).map_or("", String::as_str);
    let page = Page::read(text)?;
    let sms: Vec<Sm> = GPUS.into_iter().filter(|sm| sass::on_gpu(form, *sm).is_some()).collect();
    let mut lines: BTreeMap<String, BTreeSet<Sm>> = BTreeMap::new();
    for sm in &sms {
        let Some((code, lost)) = page.look_up(&form.full_ptx(), *sm) else { continue };
        let lost = if lost.is_empty() { lost } else { format!("   no trace of {lost}") };
        lines.entry(code + &lost).or_default().insert(*sm);
    }
    let mut lines: Vec<(BTreeSet<Sm>, String)> = lines.into_iter().map(|(line, on)| (on, line)).collect();
    lines.sort();
    Ok(lines.into_iter().map(|(on, line)| format!("sm_{:<12} {line}", ranges(&on, &sms))).collect())
}

#[cfg(test)]
mod tests {
    use ptx_intrinsics::catalogue;

    use super::*;

    /// Whether a word of a store or a reduction is the type of what it moves: `b32`, `v2`.
    fn is_type_of_value(operation: &str, word: &str) -> bool {
        let bits = word.strip_prefix(['b', 'u', 's', 'f', 'v']);
        let bits = word.strip_prefix("bf").or(bits);
        ["st", "red", "cp"].contains(&operation) && bits.is_some_and(|bits| bits.parse::<u32>().is_ok())
    }

    #[test]
    fn every_word_has_a_meaning() {
        let words: BTreeSet<String> = catalogue::forms()
            .flat_map(|form| {
                let operation = form.ptx().split('.').next().unwrap_or_default().to_owned();
                let stem = sass::text::stem(form.ptx()).0.to_owned();
                let words = stem.split('.').skip(1).filter(|word| !is_type_of_value(&operation, word));
                words.map(|word| format!("{operation} .{word}")).collect::<Vec<_>>()
            })
            .collect();
        let known = |word: &str| {
            let (operation, plain) = word.split_once(" .").unwrap_or_default();
            ptx_build::explain::meaning(operation, plain).is_some()
        };
        let unknown: Vec<&String> = words.iter().filter(|word| !known(word)).collect();
        assert!(unknown.is_empty(), "say what these mean in MEANINGS, ptx-build/src/explain.rs: {unknown:?}");
        assert!(words.len() > 60, "{} words", words.len());
    }
}
