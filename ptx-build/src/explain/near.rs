//! The legal forms that are nearest to a text.

use std::collections::BTreeSet;

use ptx_intrinsics::catalogue::Form;

/// How many near forms are named.
const SHOWN: usize = 3;

/// The legal forms that are nearest: unknown words become the nearest known ones, then words that differ count.
///
/// ```
/// let forms: Vec<_> = ptx_intrinsics::catalogue::forms().collect();
/// assert_eq!(ptx_build::explain::near("ld.global.fp32", &forms)[0], "ld.global.f32");
/// ```
pub fn near(text: &str, forms: &[Form]) -> Vec<String> {
    let vocabulary: BTreeSet<&str> = forms.iter().flat_map(|form| form.ptx().split('.')).collect();
    let nearest = |word: &str| {
        let distance = |known: &&&str| strsim::damerau_levenshtein(known, word);
        vocabulary.iter().min_by_key(distance).copied().unwrap_or_default().to_owned()
    };
    let meant: Vec<String> = text.split('.').map(nearest).collect();
    let apart = |form: &Form| words_apart(&meant, form.ptx());
    let mut ranked: Vec<(usize, &str)> = forms.iter().map(|form| (apart(form), form.ptx())).collect();
    ranked.sort();
    ranked.dedup();
    let furthest = ranked.get(SHOWN - 1).map_or(0, |(distance, _)| *distance);
    let mut close: Vec<(usize, bool, usize, &str)> = ranked
        .into_iter()
        .take_while(|(distance, _)| *distance <= furthest)
        // Where the type is missing, any is as near: the common one goes first.
        .map(|(distance, ptx)| (distance, !ptx.ends_with(".f32"), strsim::damerau_levenshtein(ptx, text), ptx))
        .collect();
    close.sort();
    close.into_iter().take(SHOWN).map(|(.., ptx)| ptx.to_owned()).collect()
}

/// How many words are in one and not in the other, in any order.
fn words_apart(meant: &[String], ptx: &str) -> usize {
    let mut left: Vec<&str> = meant.iter().map(String::as_str).collect();
    let mut extra = 0;
    for word in ptx.split('.') {
        match left.iter().position(|own| *own == word) {
            Some(at) => drop(left.swap_remove(at)),
            None => extra += 1,
        }
    }
    left.len() + extra
}
