//! What a form is, with its machine code.

use std::collections::{BTreeMap, BTreeSet};

use ptx_build::explain::page;
pub use ptx_build::explain::{LONGEST, Misspelt, find};
use ptx_intrinsics::catalogue::{Family, Form};
use rayon::prelude::*;

use crate::check::sass::text::ranges;
use crate::check::sass::{self, Reader, Seen, trace};
use crate::tools::cuda_tools::CudaTools;
use crate::tools::error::Result;
use crate::tools::target::Sm;

/// All about forms, a page each, their machine code read from the tools.
pub fn explain(forms: &[Form], tools: &CudaTools) -> Result<Vec<String>> {
    let in_memory: Vec<&Form> = forms.iter().filter(|form| sass::touches_memory(form)).collect();
    let sms = if in_memory.is_empty() { Vec::new() } else { sass::gpus(tools)? };
    let seen = see(&in_memory, &Reader::new(tools), &sms)?;
    Ok(forms.iter().map(|form| page(form, &machine_code(form, &seen))).collect())
}

/// The machine code of forms and of them without each hint. A GPU's are read together: the disassembler takes longer to start
/// than to read.
fn see(forms: &[&Form], reader: &Reader, sms: &[Sm]) -> Result<Seen> {
    let on = |sm: &Sm| {
        // Without a hint a form is legal wherever it is with it.
        let legal = forms.iter().filter(|form| sass::on_gpu(form, *sm).is_some()).map(|form| form.full_ptx());
        let spellings: BTreeSet<String> = legal
            .flat_map(|told| {
                let without = trace::without_hints(&told).into_iter().map(|(_, without)| without);
                without.chain([told.clone()]).collect::<Vec<_>>()
            })
            .collect();
        let accesses: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let read = reader.alone_and_kept(*sm, &accesses)?;
        Ok((*sm, spellings.iter().cloned().zip(read).collect()))
    };
    Ok(sms.par_iter().map(on).collect::<Result<Vec<_>>>()?.into_iter().collect())
}

/// A line for all GPUs that agree.
fn machine_code(form: &Form, seen: &Seen) -> Vec<String> {
    if form.family() == Family::Policy {
        return vec![
            "arithmetic on registers; a policy that is known beforehand is better encoded, as a constant".into(),
        ];
    }
    if !sass::touches_memory(form) {
        return vec!["arithmetic on registers".into()];
    }
    let legal = || seen.iter().filter(|(sm, _)| sass::on_gpu(form, **sm).is_some());
    let sms: Vec<Sm> = legal().map(|(sm, _)| *sm).collect();
    let mut lines: BTreeMap<String, BTreeSet<Sm>> = BTreeMap::new();
    for (sm, codes) in legal() {
        let Some(code) = codes.get(&form.full_ptx()) else { continue };
        let lost = trace::lost(&form.full_ptx(), *sm, seen).concat();
        let lost = if lost.is_empty() { lost } else { format!("   no trace of {lost}") };
        lines.entry(code.line() + &lost).or_default().insert(*sm);
    }
    let mut lines: Vec<(BTreeSet<Sm>, String)> = lines.into_iter().map(|(line, on)| (on, line)).collect();
    lines.sort();
    lines.into_iter().map(|(on, line)| format!("sm_{:<12} {line}", ranges(&on, &sms))).collect()
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
