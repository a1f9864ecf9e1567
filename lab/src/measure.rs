//! The host loop: every variant as often as every other, in an order that is drawn anew for each repetition.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::line::{About, Labels, Line, Lines};
use ptx_build::error::Result;
use ptx_build::progress::Progress;

/// A case: its labels, and whether it is there to show the noise.
pub trait Case {
    /// What it is.
    fn labels(&self) -> &Labels;

    /// Whether it is measured twice, as two cases: what differs between these is noise.
    fn is_baseline(&self) -> bool;
}

/// What was measured: its name and its value.
pub type Reading = (&'static str, f64);

/// How a case's measurement ended.
pub enum Measured {
    /// With these.
    Readings(Vec<Reading>),
    /// It failed, and others may not.
    Failed(String),
    /// It failed, and whatever comes will too.
    Lost(String),
}

/// What an experiment's cases have in common.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The experiment.
    pub experiment: char,
    /// How often each case is measured.
    pub repetitions: u32,
    /// How long everything is run before anything counts.
    pub warm_up: Duration,
    /// What the order comes from.
    pub seed: u64,
    /// When it has to end.
    pub deadline: Option<Instant>,
}

/// How the loop ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Repetitions that are whole.
    pub repetitions: u32,
    /// Why it ended early, if it did.
    pub why: Option<String>,
    /// Whether nothing more can be measured: the time is over, or the GPU is lost.
    pub over: bool,
    /// Whether the GPU serves this process no more.
    pub lost: bool,
}

impl Ended {
    /// After what could not be measured anything else may be.
    fn whole(repetitions: u32, why: Option<String>) -> Ended {
        Ended { repetitions, why, over: false, lost: false }
    }

    /// Of two groups of one experiment, the other measured after this one. A group of which nothing could be measured has a line
    /// for each of its cases, and is no end of the experiment.
    pub fn and(self, next: Ended) -> Ended {
        match (self.repetitions, next.repetitions) {
            (_, 0) if !next.over && self.repetitions > 0 => self,
            (0, _) => next,
            (before, after) => Ended { repetitions: before.min(after), ..next },
        }
    }
}

/// The name of a case: its labels.
pub fn name(labels: &Labels) -> String {
    labels.iter().map(|(label, value)| format!("{label}={value}")).collect::<Vec<_>>().join(" ")
}

/// A case with its name: the one that it is, or its twin.
struct Named<'c, C> {
    name: String,
    case: &'c C,
    failed: bool,
}

/// Measures all cases, and writes what comes of it.
pub fn measure<C: Case>(
    plan: Plan,
    cases: &[C],
    lines: &mut Lines<'_>,
    progress: &Progress,
    mut once: impl FnMut(&C) -> Measured,
) -> Result<Ended> {
    let experiment = plan.experiment;
    let mut all = Vec::new();
    for case in cases {
        let (labels, name) = (case.labels().clone(), name(case.labels()));
        let about = About { experiment, case: name.clone(), labels, twin_of: None };
        if case.is_baseline() {
            let twin = format!("{name} again");
            lines.write(&Line::Case(About { case: twin.clone(), twin_of: Some(name.clone()), ..about.clone() }))?;
            all.push(Named { name: twin, case, failed: false });
        }
        lines.write(&Line::Case(about))?;
        all.push(Named { name, case, failed: false });
    }
    let bar = progress.bar(u64::from(plan.repetitions) * all.len() as u64, format!("Experiment {experiment}"));
    let late = || plan.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut random = StdRng::seed_from_u64(plan.seed ^ experiment as u64);
    let began = Instant::now();
    // The first repetition warms up: it counts for nothing, and shows what fails.
    let mut repetition: Option<u32> = None;
    while repetition.is_none_or(|number| number < plan.repetitions) {
        all.shuffle(&mut random);
        for one in all.iter_mut().filter(|one| !one.failed) {
            if late() {
                let repetitions = repetition.unwrap_or(0);
                return Ok(Ended { over: true, ..Ended::whole(repetitions, Some("its time was over".into())) });
            }
            let why = match once(one.case) {
                Measured::Readings(readings) => {
                    for (metric, value) in readings.into_iter().filter(|_| repetition.is_some()) {
                        let (case, metric) = (one.name.clone(), metric.to_owned());
                        let repetition = repetition.unwrap_or_default();
                        lines.write(&Line::Sample { experiment, case, repetition, metric, value })?;
                    }
                    bar.inc(repetition.is_some().into());
                    continue;
                }
                Measured::Failed(why) => why,
                Measured::Lost(why) => {
                    lines.write(&Line::Failed { experiment, case: one.name.clone(), why: why.clone() })?;
                    let repetitions = repetition.unwrap_or(0);
                    let ended = Ended::whole(repetitions, Some(format!("{}: {why}", one.name)));
                    return Ok(Ended { over: true, lost: true, ..ended });
                }
            };
            one.failed = true;
            lines.write(&Line::Failed { experiment, case: one.name.clone(), why })?;
        }
        if all.iter().all(|one| one.failed) {
            return Ok(Ended::whole(0, Some("no case could be measured".into())));
        }
        repetition = match repetition {
            None if began.elapsed() < plan.warm_up => None,
            None => Some(0),
            Some(number) => Some(number + 1),
        };
    }
    Ok(Ended::whole(plan.repetitions, None))
}
