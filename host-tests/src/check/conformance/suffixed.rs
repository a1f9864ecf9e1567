//! The line between legal and illegal for targets with a suffix: for the instructions of which a form names such targets.

use std::collections::HashMap;

use ptx_intrinsics::catalogue::{self, Form};
use rayon::prelude::*;

use crate::check::conformance::ask::Asked;
use crate::check::conformance::grammar::{GRAMMARS, Grammar, Spelling};
use crate::check::conformance::known;
use crate::check::only;
use crate::tools::error::Result;
use crate::tools::ptxas::On;
use crate::tools::target::Sm;

/// How many spellings the parser is asked about at a time.
const PARSED: usize = 20_000;

/// The other targets are asked about one in this many of the spellings that the target with every form refuses.
const SAMPLED: usize = 20;

/// What was asked of all targets, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Suffixed {
    /// Questions.
    pub asked: usize,
    /// What both accept.
    pub accepted: usize,
    /// Where they disagree, without a reason.
    pub wrong: Vec<String>,
}

/// Asks the parser of each target about every spelling of the grammars that have a form with such a gate.
pub fn compare(targets: &[On]) -> Result<Suffixed> {
    let forms: HashMap<String, Form> = catalogue::forms()
        .filter(|form| form.element().is_none() && !form.is_atomic() && only::has(form))
        .map(|form| (form.full_ptx(), form))
        .collect();
    let spellings: Vec<Spelling> =
        GRAMMARS.iter().filter(|grammar| !grammar.typed).flat_map(|grammar| of(grammar, &forms)).collect();
    let spellings = alive(targets, spellings, &forms)?;
    let parts: Vec<(&On, &[Spelling])> =
        targets.iter().flat_map(|on| spellings.chunks(PARSED).map(move |part| (on, part))).collect();
    let found = parts.par_iter().map(|(on, part)| one(on, part, &forms)).collect::<Result<Vec<_>>>()?;
    let mut all = Suffixed::default();
    for part in found {
        all.asked += part.asked;
        all.accepted += part.accepted;
        all.wrong.extend(part.wrong);
    }
    Ok(all)
}

/// What the target that has every form accepts, or the catalogue has, and a part of all others.
fn alive(targets: &[On], spellings: Vec<Spelling>, forms: &HashMap<String, Form>) -> Result<Vec<Spelling>> {
    let Some(on) = targets.iter().find(|on| on.sm == Sm::OF_EVERY_FORM) else { return Ok(spellings) };
    let parts: Vec<&[Spelling]> = spellings.chunks(PARSED).collect();
    let verdicts = parts.par_iter().map(|part| Asked::new(on).parsed(part, on.sm, on.version));
    let verdicts = verdicts.collect::<Result<Vec<_>>>()?.concat();
    let kept = |at: usize, spelling: &Spelling| {
        verdicts[at] || at.is_multiple_of(SAMPLED) || forms.contains_key(&spelling.full_ptx())
    };
    Ok(spellings
        .into_iter()
        .enumerate()
        .filter(|(at, spelling)| kept(*at, spelling))
        .map(|(_, spelling)| spelling)
        .collect())
}

/// The spellings of a grammar, if one of its forms names targets.
fn of(grammar: &'static Grammar, forms: &HashMap<String, Form>) -> Vec<Spelling> {
    if grammar.is_large() || !grammar.is_wanted() {
        return Vec::new();
    }
    let all: Vec<Spelling> = (0..grammar.len()).map(|number| grammar.spelling(number)).collect();
    let is_named = |spelling: &Spelling| forms.get(&spelling.full_ptx()).is_some_and(|form| !form.targets().is_empty());
    if all.iter().any(is_named) { all } else { Vec::new() }
}

fn one(on: &On, spellings: &[Spelling], forms: &HashMap<String, Form>) -> Result<Suffixed> {
    let verdicts = Asked::new(on).parsed(spellings, on.sm, on.version)?;
    let mut part = Suffixed { asked: spellings.len(), ..Suffixed::default() };
    for (spelling, accepted) in spellings.iter().zip(verdicts) {
        let form = forms.get(&spelling.full_ptx());
        let expected = form.is_some_and(|form| form.is_on(&on.sm.to_string(), on.version.number()));
        match (accepted, expected) {
            (true, true) => part.accepted += 1,
            (false, false) => {}
            (true, false) if form.is_none() && known::reason(&spelling.to_string()).is_some() => {}
            (true, false) => part.wrong.push(format!("{spelling} is accepted on {}", on.sm)),
            (false, true) => part.wrong.push(format!("{spelling} is refused on {}", on.sm)),
        }
    }
    Ok(part)
}
