//! The laboratory: what hints do on a real GPU, measured by kernels in Rust and their twins in CUDA C++.
//!
//! [`run`] measures and writes [`line`]s, [`judge`] says what they prove.

mod bandwidth;
pub mod bench;
pub mod beside;
pub mod calibrate;
pub mod claims;
pub mod device;
pub mod experiments;
pub mod images;
pub mod judge;
pub mod line;
pub mod measure;
pub mod paired;
pub mod profile;
pub mod program;
pub mod statistics;
pub mod thresholds;
pub mod variant;
pub mod watch;
mod worked;

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::bench::Bench;
use self::images::Image;
use self::line::{Line, Lines, Run};
use self::measure::{Ended, Measured, Plan};
use self::thresholds::Thresholds;
use self::variant::{Experiment, Variant};
use self::watch::Watch;
use crate::device::{Asked, Fault};
use launch::gpu::Gpu;
pub use program::Counting;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use rand::RngExt;

/// What is to be measured.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Only these experiments: B or BCD
    #[arg(long, value_name = "LETTERS", default_value = "ABCDEFGHIJK", value_parser = letters)]
    pub experiments: String,
    /// What orders and places come from; a new one each time if left out
    #[arg(long)]
    pub seed: Option<u64>,
    /// How often each variant is measured
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: u32,
    /// A dry run: few sizes, few steps, two repetitions
    #[arg(long)]
    pub quick: bool,
    /// End after this number of seconds
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<u64>,
    /// Run each variant that a profiler looks at once, as the profiler is set to
    #[arg(long, hide = true)]
    pub once: bool,
}

/// The experiments that have cases for a profiler. K has none: what it asks is told by time.
pub const COUNTED: &str = "ABCDEFGHIJ";

fn letters(text: &str) -> Result<String, String> {
    let known = |letter: char| experiments::ALL.iter().any(|experiment| experiment.letter == letter);
    let letters = text.to_uppercase();
    match letters.chars().find(|letter| !known(*letter)) {
        None if !letters.is_empty() => Ok(letters),
        _ => Err("write letters of experiments, A to K".into()),
    }
}

/// Letters of experiments that a profiler may look at.
fn counted(text: &str) -> Result<String, String> {
    let letters = letters(text)?;
    match letters.chars().find(|letter| !COUNTED.contains(*letter)) {
        None => Ok(letters),
        Some(letter) => Err(format!("experiment {letter} has nothing that a profiler counts: leave it out")),
    }
}

impl Default for Options {
    fn default() -> Self {
        let experiments = experiments::ALL.iter().map(|experiment| experiment.letter).collect();
        Options { experiments, seed: None, repetitions: 15, quick: false, deadline: None, once: false }
    }
}

/// The letters and the titles of all experiments.
pub fn titles() -> impl Iterator<Item = (char, &'static str)> {
    experiments::ALL.iter().map(|experiment| (experiment.letter, experiment.title))
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Experiments that were done as planned.
    pub done: Vec<char>,
    /// Those that were not, and why.
    pub cut_short: Vec<(char, String)>,
    /// Cases that could not be measured: experiment, case, why.
    pub failures: Vec<(char, String, String)>,
    /// Whether the GPU serves this process no more.
    pub lost: bool,
}

/// What has not ended after so long never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long everything runs before anything counts.
const WARM_UP: Duration = Duration::from_millis(300);

/// Measures, and writes a line for everything that happens. It is an error if nothing can be measured at all; an experiment
/// that fails is a line, and the next one begins.
pub fn run(
    gpu: &Gpu,
    images: &[Image],
    options: &Options,
    made_with: &str,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary> {
    let began = Instant::now();
    let mut lines = Lines::new(out);
    let seed = match options.seed {
        Some(seed) => seed,
        // A profiler runs the program once for some of its counters, and once more for others: all have to see the same.
        None if options.once => 0,
        None => rand::rng().random(),
    };
    let about = Run {
        began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        seed,
        repetitions: if options.quick { options.repetitions.min(2) } else { options.repetitions },
        quick: options.quick,
        made_with: made_with.to_owned(),
        ..Run::default()
    };
    let failed = |fault: Fault| Error::new(fault.what).at(gpu.name());
    let bench = Bench::new(gpu, images, about, PATIENCE).map_err(failed)?.counted(options.once);
    lines.write(&Line::Run(bench.about().clone()))?;
    let warm_up = if options.quick { Duration::ZERO } else { WARM_UP };
    let mut watch = if options.once { None } else { watch(&bench, &mut lines)? };
    // K has no probe.
    let thresholds = if options.once || options.experiments == "K" {
        Thresholds::default()
    } else {
        let _step = progress.step("Finding the latencies of L1, L2 and memory");
        let found = calibrate::calibrate(&bench, &mut lines, warm_up);
        watched(None, watch.as_mut(), &mut lines)?;
        found.map_err(failed)?
    };
    let deadline = options.deadline.map(|seconds| began + Duration::from_secs(seconds));
    let chosen: Vec<&Experiment> =
        experiments::ALL.iter().filter(|experiment| options.experiments.contains(experiment.letter)).collect();
    let mut summary = Summary::default();
    for (at, experiment) in chosen.iter().enumerate() {
        // What is short leaves its time to what comes after it.
        let share = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Instant::now() + (left * 2 / (chosen.len() - at) as u32).min(left)
        });
        let plan = Plan {
            experiment: experiment.letter,
            repetitions: if options.once { 1 } else { bench.about().repetitions },
            warm_up,
            seed,
            deadline: share,
        };
        let clock = Instant::now();
        bench.end_at(share);
        let ended = one(experiment, &bench, &thresholds, plan, options.once, watch.as_mut(), &mut lines, progress)?;
        let (experiment, seconds) = (experiment.letter, clock.elapsed().as_secs_f64());
        let Ended { repetitions, why, lost, .. } = ended;
        lines.write(&Line::Done { experiment, repetitions, seconds, why: why.clone() })?;
        match why {
            Some(why) => summary.cut_short.push((experiment, why)),
            None => summary.done.push(experiment),
        }
        if lost {
            summary.lost = true;
            for rest in &chosen[at + 1..] {
                let why = format!("the GPU was lost in experiment {experiment}");
                let experiment = rest.letter;
                lines.write(&Line::Done { experiment, repetitions: 0, seconds: 0.0, why: Some(why.clone()) })?;
                summary.cut_short.push((experiment, why));
            }
            break;
        }
    }
    summary.failures = lines.failures();
    Ok(summary)
}

/// Begins to look at the machine's clocks, or says that nobody does.
fn watch(bench: &Bench<'_>, lines: &mut Lines<'_>) -> Result<Option<Watch>> {
    let bus = bench.device().bus().map_err(|fault| Error::new(fault.what));
    match bus.and_then(|bus| Watch::begin(&bus)) {
        Ok(watch) => Ok(Some(watch)),
        Err(error) => lines.write(&Line::Unwatched { why: error.to_string() }).map(|()| None),
    }
}

/// Writes what the machine was since this was last done.
fn watched(experiment: Option<char>, watch: Option<&mut Watch>, lines: &mut Lines<'_>) -> Result<()> {
    let states = watch.map_or_else(Vec::new, Watch::take);
    states.into_iter().try_for_each(|state| lines.write(&Line::Machine { experiment, state }))
}

/// Measures the groups of an experiment, one after the other.
#[allow(clippy::too_many_arguments)]
fn one(
    experiment: &Experiment,
    bench: &Bench<'_>,
    thresholds: &Thresholds,
    plan: Plan,
    once: bool,
    mut watch: Option<&mut Watch>,
    lines: &mut Lines<'_>,
    progress: &Progress,
) -> Result<Ended> {
    let (mut all, mut written) = (None::<Ended>, Ok(()));
    let made = (experiment.run)(bench, thresholds, &mut |variants| {
        if all.as_ref().is_some_and(|ended| ended.over) {
            return Ok(());
        }
        let ended = if once {
            launches(plan.experiment, bench, &variants, lines)
        } else {
            measure::measure(plan, &variants, lines, progress, |variant| measured((variant.run)()))
        };
        let states = watched(Some(plan.experiment), watch.as_deref_mut(), lines);
        match states.and(ended) {
            Ok(ended) => {
                let stop = if ended.lost { Err(Fault { what: String::new(), lost: true }) } else { Ok(()) };
                all = Some(all.take().map_or(ended.clone(), |before| before.and(ended)));
                stop
            }
            Err(error) => {
                written = Err(error);
                Err(Fault::new(""))
            }
        }
    });
    written?;
    let ended = all.unwrap_or(Ended { repetitions: 0, why: None, over: false, lost: false });
    Ok(match made {
        Err(fault) if ended.why.is_none() => Ended { why: Some(fault.what), lost: fault.lost, ..ended },
        _ => ended,
    })
}

fn measured(asked: Asked<Vec<measure::Reading>>) -> Measured {
    match asked {
        Ok(readings) => Measured::Readings(readings),
        Err(fault) if fault.lost => Measured::Lost(fault.what),
        Err(fault) => Measured::Failed(fault.what),
    }
}

/// Runs each variant that is profiled once, and writes down every kernel that was launched, in order: a profiler counts
/// them in the same.
fn launches(experiment: char, bench: &Bench<'_>, variants: &[Variant<'_>], lines: &mut Lines<'_>) -> Result<Ended> {
    let write = |case: &str, lines: &mut Lines<'_>| -> Result<()> {
        for kernel in bench.launched() {
            lines.write(&Line::Launched { experiment, case: case.to_owned(), kernel })?;
        }
        Ok(())
    };
    write(profile::PREPARATION, lines)?;
    let mut ended = Ended { repetitions: 1, why: None, over: false, lost: false };
    for variant in variants.iter().filter(|variant| variant.profiled) {
        let case = measure::name(measure::Case::labels(variant));
        let done = (variant.run)();
        write(&case, lines)?;
        if let Err(fault) = done {
            lines.write(&Line::Failed { experiment, case, why: fault.what.clone() })?;
            if fault.lost {
                ended = Ended { repetitions: 0, why: Some(fault.what), over: true, lost: true };
                break;
            }
        }
    }
    Ok(ended)
}
