//! The words of a row: a spelling without its type, and the GPUs that agree.

use std::collections::BTreeSet;

use crate::check::sass::classes::moves;
use crate::tools::target::Sm;

/// A spelling without its type, and the type: `v4.f32`. What moves no value has none.
pub fn stem(ptx: &str) -> (&str, &str) {
    if !moves(ptx) {
        return (ptx, "-");
    }
    let (rest, scalar) = ptx.rsplit_once('.').unwrap_or((ptx, ""));
    match rest.rsplit_once('.') {
        Some((stem, vector)) if vector.len() == 2 && vector.starts_with('v') => (stem, &ptx[stem.len() + 1..]),
        _ => (rest, scalar),
    }
}

/// `75,86-121`, of GPUs among these.
pub fn ranges(on: &BTreeSet<Sm>, sms: &[Sm]) -> String {
    runs(on, sms).join(",").replace("sm_", "")
}

/// The runs of `some` in the order of `all`.
pub fn runs<T: Ord + Copy + ToString>(some: &BTreeSet<T>, all: &[T]) -> Vec<String> {
    all.chunk_by(|a, b| some.contains(a) == some.contains(b))
        .filter(|run| some.contains(&run[0]))
        .map(|run| match run {
            [only] => only.to_string(),
            [first, .., last] => format!("{}-{}", first.to_string(), last.to_string()),
            [] => String::new(),
        })
        .collect()
}
