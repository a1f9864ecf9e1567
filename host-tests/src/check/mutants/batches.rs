//! Which mutants are judged together: each batch is of mutants that cannot be taken for each other.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::shows::between;
use super::{Fate, Kind, Mutant, Sign, Step};

/// How many mutants are made at a time.
const AT_A_TIME: usize = 110;

/// What is kept from one run to the next.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) fates: BTreeMap<String, Fate>,
    /// Where a word of the source is shown: its file and byte, and the places that failures name.
    pub(super) covers: BTreeMap<String, BTreeSet<String>>,
    /// What a quick judge did not notice among others.
    #[serde(default)]
    pub(super) asked: BTreeSet<String>,
}

pub(super) fn place(mutant: &Mutant) -> String {
    format!("{}:{}", mutant.file, mutant.range.start)
}

/// Where the word is shown that a mutant takes away.
pub(super) fn cover<'k>(mutant: &Mutant, kept: &'k Kept) -> Option<&'k BTreeSet<String>> {
    let takes = matches!(mutant.sign, Sign::Missing(_));
    kept.covers.get(&place(mutant)).filter(|cover| takes && !cover.is_empty())
}

/// Words that become others, in the order of the files: which of them breaks a build is among its neighbours.
pub(super) fn texts<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let texts: Vec<&Mutant> = open.iter().copied().filter(|mutant| mutant.sign == Sign::Another).collect();
    texts.chunks(AT_A_TIME).filter(|batch| batch.len() > 1).map(<[&Mutant]>::to_vec).collect()
}

/// Words of the vocabulary that become others, and those that are emitted: without a word `ptx!` does not compile, so that
/// they are not made together.
pub(super) fn words<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    new_texts_of(open, kept, Mutant::is_of_vocabulary)
}

/// Words of the vocabulary that are taken away, each once.
pub(super) fn lost_words<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let lost = |mutant: &&Mutant| mutant.is_of_vocabulary() && matches!(mutant.sign, Sign::Missing(_));
    several(batches(open.iter().copied().filter(lost), |a, b| a.sign != b.sign))
}

/// Words that are emitted and become others.
pub(super) fn emitted<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    new_texts_of(open, kept, |mutant| !mutant.is_of_vocabulary())
}

/// Those that the quick judges have not been asked about.
pub(super) fn new_texts_of<'m>(
    open: &[&'m Mutant],
    kept: &Kept,
    is_wanted: fn(&Mutant) -> bool,
) -> Vec<Vec<&'m Mutant>> {
    let is_new = |mutant: &&Mutant| is_wanted(mutant) && !kept.asked.contains(&mutant.key());
    let new: Vec<&Mutant> = open.iter().copied().filter(is_new).collect();
    texts(&new, kept)
}

/// Words that are taken away where it is known which forms have them.
pub(super) fn covered<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    let open = open.iter().copied().filter(|mutant| cover(mutant, kept).is_some());
    batches(open, |a, b| match (&a.sign, &b.sign, cover(a, kept), cover(b, kept)) {
        (Sign::Missing(one), Sign::Missing(other), Some(a), Some(b)) => one != other || a.is_disjoint(b),
        _ => false,
    })
}

/// Gates, no two of which make the same step.
pub(super) fn gates<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    several(batches(open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Step(..))), |a, b| {
        a.sign != b.sign
    }))
}

/// Gates that are others by name, no two the same by the same.
pub(super) fn names<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    several(batches(open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Gate(..))), |a, b| {
        a.sign != b.sign
    }))
}

/// Gates, operands and effects of different functions, registers of different lanes.
pub(super) fn calls<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let told = |mutant: &&Mutant| matches!(mutant.sign, Sign::Calls(_) | Sign::Said(_) | Sign::Lanes(..));
    several(batches(open.iter().copied().filter(told), |a, b| {
        let apart = match (&a.sign, &b.sign) {
            (Sign::Calls(one), Sign::Calls(other)) => !one.iter().any(|name| other.contains(name)),
            (Sign::Said(one), Sign::Said(other)) => one != other,
            (Sign::Lanes(one, lanes), Sign::Lanes(other, others)) => {
                one != other || !lanes.iter().any(|lane| others.contains(lane))
            }
            _ => false,
        };
        a.kind == b.kind && apart
    }))
}

/// Other names, of different words or different ones of a word.
pub(super) fn other_names<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let names = open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Names(..)));
    batches(names, |a, b| match (&a.sign, &b.sign) {
        (Sign::Names(a, one), Sign::Names(b, other)) => a != b || one.is_some() && other.is_some() && one != other,
        _ => false,
    })
}

/// Gates of which no test says the same.
pub(super) fn steps<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let gates = open.iter().copied().filter(|mutant| !mutant.steps.is_empty());
    let alike = |a: &Step, b: &Step| {
        let (one, other) = (between(a.1, a.2), between(b.1, b.2));
        a.0 == b.0 && (a.1 < a.2) == (b.1 < b.2) && one.start < other.end && other.start < one.end
    };
    several(batches(gates, |a, b| !a.steps.iter().any(|step| b.steps.iter().any(|other| alike(step, other)))))
}

pub(super) fn several(batches: Vec<Vec<&Mutant>>) -> Vec<Vec<&Mutant>> {
    batches.into_iter().filter(|batch| batch.len() > 1).collect()
}

/// Each by itself.
pub(super) fn alone<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let mut open = open.to_vec();
    // Of the kinds that are always alone there are few.
    open.sort_by_key(|mutant| {
        [Kind::Register, Kind::Operand, Kind::Effect, Kind::Gate, Kind::Text]
            .iter()
            .position(|kind| *kind == mutant.kind)
    });
    open.into_iter().map(|mutant| vec![mutant]).collect()
}

/// Mutants that cannot be taken for each other.
pub(super) fn batches<'m>(
    mutants: impl Iterator<Item = &'m Mutant>,
    apart: impl Fn(&Mutant, &Mutant) -> bool,
) -> Vec<Vec<&'m Mutant>> {
    let overlap = |a: &Mutant, b: &Mutant| {
        a.file == b.file && a.range.start < b.range.end.max(b.range.start + 1) && b.range.start < a.range.end
    };
    let mut batches: Vec<Vec<&Mutant>> = Vec::new();
    for mutant in mutants {
        let fits = |batch: &&mut Vec<&Mutant>| {
            batch.len() < AT_A_TIME && batch.iter().all(|other| apart(mutant, other) && !overlap(mutant, other))
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(mutant),
            None => batches.push(vec![mutant]),
        }
    }
    batches
}

pub(super) fn without<'m>(batch: Vec<&'m Mutant>, gone: &BTreeSet<usize>) -> Vec<&'m Mutant> {
    batch.into_iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, mutant)| mutant).collect()
}
