//! Whose failure it is, of mutants that are judged together.

use std::collections::BTreeSet;
use std::ops::Range;

use super::answer::{BEYOND, Failure};
use super::{Mutant, Sign, Step, catalogue, table};

/// Whether a failure can be this mutant's alone, of those that are made with it.
pub(super) fn shows(mutant: &Mutant, cover: Option<&BTreeSet<String>>, failure: &Failure) -> bool {
    let by_test = || mutant.steps.iter().any(|step| is_refused_or_taken(*step, failure));
    match &mutant.sign {
        Sign::Another | Sign::Alone => false,
        Sign::Missing(word) => {
            let covered = failure.place.as_ref().is_some_and(|place| cover.is_some_and(|cover| cover.contains(place)));
            covered && !failure.found.is_empty() && count(&failure.found, word) < count(&failure.expected, word)
        }
        Sign::Step(axis, from, to) => {
            failure.steps.iter().any(|(own, was, is)| {
                let by_catalogue = if to < from { was == from && is < was } else { is == to && was < is };
                own == axis && *was.max(is) != BEYOND && by_catalogue
            }) || by_test()
        }
        Sign::Gate(was, is) => failure.gates[0].contains(was) && failure.gates[1].contains(is) || by_test(),
        Sign::Calls(names) => names.iter().any(|name| is_call(&failure.form, name)),
        Sign::Said(words) => words.iter().all(|word| failure.form.contains(word)),
        Sign::Lanes(of, lanes) => {
            let wrong: BTreeSet<usize> = failure.found.split(' ').filter_map(|lane| lane.parse().ok()).collect();
            failure.place.as_ref() == Some(of) && lanes.iter().any(|lane| wrong.contains(lane))
        }
        Sign::Names(word, name) => {
            let is_own = name.as_ref().is_none_or(|name| *name == failure.form);
            is_own && failure.place.as_deref() == Some(&catalogue::names_of(word))
        }
    }
}

/// Whether a form is lost that has the word which this mutant takes away, and none that another one of the batch takes.
pub(super) fn is_lost_to(mutant: &Mutant, batch: &[&Mutant], failure: &Failure) -> bool {
    let Sign::Missing(word) = &mutant.sign else { return false };
    let form = failure.expected.split(' ').next().unwrap_or_default();
    let is_lost = failure.place.is_none() && failure.found.is_empty() && count(form, word) > 0;
    is_lost && batch.iter().all(|other| other.sign == mutant.sign || count(form, &other.gone) == 0)
}

/// Whether a test says that something is taken too early, or refused where it has to be, and such a step is the cause.
pub(super) fn is_refused_or_taken((axis, from, to): Step, failure: &Failure) -> bool {
    failure.steps.iter().any(|&(own, was, is)| {
        let at = if to < from { (was == BEYOND).then_some(is) } else { (is == BEYOND).then_some(was) };
        own == axis && at.is_some_and(|at| between(from, to).contains(&at))
    })
}

pub(super) fn between(from: u32, to: u32) -> Range<u32> {
    from.min(to)..from.max(to)
}

pub(super) fn count(text: &str, word: &str) -> usize {
    table::WORD.find_iter(text).filter(|found| found.as_str() == word).count()
}

/// Whether an expression is a call of that free function.
pub(super) fn is_call(rust: &str, name: &str) -> bool {
    rust.trim_start_matches("CachePolicy::")
        .strip_prefix(name)
        .is_some_and(|rest| rest.starts_with('(') || rest.starts_with("::<"))
}
