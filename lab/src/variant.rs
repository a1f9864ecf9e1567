//! What experiments are made of: variants in groups, and what a probe's latencies say.

use super::bench::{Bench, LINE};
use super::images::Language;
use super::line::Labels;
use super::measure::{Case, Reading};
use super::statistics::median;
use super::thresholds::{Cut, Thresholds};
use crate::device::Asked;

/// One variant of an experiment.
pub struct Variant<'v> {
    labels: Labels,
    baseline: bool,
    /// Whether a profiler looks at it too.
    pub profiled: bool,
    /// Does it once.
    pub run: Box<dyn Fn() -> Asked<Vec<Reading>> + 'v>,
}

impl Case for Variant<'_> {
    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn is_baseline(&self) -> bool {
        self.baseline
    }
}

impl<'v> Variant<'v> {
    pub(super) fn new(labels: &[(&str, String)], run: impl Fn() -> Asked<Vec<Reading>> + 'v) -> Self {
        let labels = labels.iter().map(|(label, value)| ((*label).to_owned(), value.clone())).collect();
        Variant { labels, baseline: false, profiled: false, run: Box::new(run) }
    }

    /// It is measured twice, to show the noise.
    pub(super) fn baseline_if(self, baseline: bool) -> Self {
        Variant { baseline, ..self }
    }

    /// A profiler looks at it too.
    pub(super) fn profiled_if(self, profiled: bool) -> Self {
        Variant { profiled, ..self }
    }
}

/// Measures some variants, which share their memory, one among the other.
pub type Group<'s> = dyn FnMut(Vec<Variant<'_>>) -> Asked<()> + 's;

/// An experiment.
pub struct Experiment {
    /// Its letter.
    pub letter: char,
    /// What it is about.
    pub title: &'static str,
    /// Makes its variants, group by group.
    pub run: fn(&Bench<'_>, &Thresholds, &mut Group<'_>) -> Asked<()>,
}

/// The part of latencies that are below a threshold.
fn below(cut: Option<Cut>, clocks: &[u32]) -> Option<f64> {
    let cut = cut?;
    let hits = clocks.iter().filter(|clock| f64::from(**clock) < cut.at).count();
    (!clocks.is_empty()).then(|| hits as f64 / clocks.len() as f64)
}

/// What a probe says: its median, and what part of it was in L1 and what in L1 or L2, if thresholds are known.
pub(super) fn probed(thresholds: &Thresholds, clocks: &[u32]) -> Vec<Reading> {
    let all: Vec<f64> = clocks.iter().map(|clock| f64::from(*clock)).collect();
    let readings =
        [("clocks", median(&all)), ("hits", below(thresholds.l2, clocks)), ("l1_hits", below(thresholds.l1, clocks))];
    readings.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect()
}

/// A size in parts of L2, to a line.
pub(super) fn part(bench: &Bench<'_>, part: f64) -> u64 {
    ((bench.about().l2 as f64 * part) as u64 / LINE * LINE).max(8 * LINE)
}

/// A number as a label.
pub(super) fn label(number: f64) -> String {
    format!("{number}")
}

/// A language, as the lines of results have it.
pub(super) fn in_words(language: Language) -> &'static str {
    match language {
        Language::Rust => "rust",
        Language::Cuda => "cuda",
    }
}
