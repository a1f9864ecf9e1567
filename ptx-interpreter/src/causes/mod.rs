//! Which findings have one cause: a single order that is missing, or bytes that threads share and should not.
//!
//! Of two accesses that nothing orders, a barrier anywhere between them would order both. Where one place is between both accesses of each
//! of several pairs, one barrier there is enough, and the pairs are one finding. The fewest such places are as many findings.

mod groups;
mod keys;
mod places;

use std::collections::HashSet;

use crate::check::{DIVERGENT, Finding, Found};
use crate::machine::Program;
use crate::ptx::paths::Paths;

use groups::{Groups, Pair};
use places::{Place, Places, Span};

/// Findings by their causes, in the order in which they were found. Each has with it the barrier that both threads of a pair of accesses
/// had passed last, 0 if there is none; nothing, if it is about no such pair.
pub(crate) fn by_cause(all: Vec<(Found, Option<u32>)>, program: &Program, paths: &Paths) -> Vec<Finding> {
    let mut places = Places::new(program, paths);
    let divergent = all.iter().filter(|(found, _)| found.title == DIVERGENT).flat_map(|(found, _)| &found.places);
    let divergent: Vec<Place> = divergent.map(|(_, site, _)| places.of(*site)).collect();
    let pair = |(found, since): (Found, Option<u32>)| {
        let (span, help) = (places.span(&found, since), found.help.clone());
        let finding = program.finding(found, paths);
        // No order helps who loads a value and stores another one.
        let span = if finding.is_of_an_update() { Span::Other } else { span };
        Pair::new(finding, help, span)
    };
    let mut pairs: Vec<Pair> = all.into_iter().map(pair).collect();
    let too_early: HashSet<String> = pairs.iter().filter_map(Pair::too_early).collect();
    pairs.iter_mut().for_each(|pair| pair.note_begun(&too_early));
    pairs.iter_mut().for_each(|pair| pair.note_divergent(&divergent));
    Groups::of(&pairs).findings()
}
