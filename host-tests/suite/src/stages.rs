//! The stages of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::corpus::bare::{BARE, Bare};
use super::corpus::log::SANITIZER;
use super::corpus::sanitized::{SANITIZED, Sanitized};
use super::counted;
use super::fault::Fault;
use super::journal::{Found, Item, Known, Work};
use super::kernels::{self, LITMUS, VALUES, WORKLOADS};
use super::litmus::{self, Litmus};
use super::run::Forms;
use super::stage::{Bench, Facts, IMAGES, Stage};
use super::values::Values;
use lab::program::{self, LINES, packed};
use lab::{self, Counting, profile};
use launch::child;
use ptx_build::error::{Error, Result};
use workloads::{Prepared, Workload};

/// All stages, in the order in which they run.
pub fn all() -> Vec<Box<dyn Stage>> {
    vec![
        Box::new(Images),
        Box::new(Tools),
        Box::new(Forms { again: false }),
        Box::new(Orders),
        Box::new(Values::default()),
        Box::new(BANDWIDTH),
        Box::new(LABORATORY),
        Box::new(Counters),
        Box::new(Workloads),
        Box::new(Forms { again: true }),
        Box::new(PAIRS),
        Box::new(Bare),
        Box::new(Sanitized),
        Box::new(Faults),
    ]
}

/// A part of the plan: what one command does, on a machine that need not be the one of the part before.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its stages, besides those of every run.
    pub stages: &'static [&'static str],
    /// How long all of it may take, in seconds.
    pub limit: u64,
}

/// The half hour on a GPU, whose machines may be taken away after ten minutes.
pub const PLAN: [Part; 4] = [
    Part { stages: &["forms", "litmus", VALUES, "bandwidth"], limit: 540 },
    Part { stages: &["laboratory", "counters"], limit: 560 },
    Part { stages: &[WORKLOADS, "forms-again"], limit: 250 },
    Part { stages: &["pairs", BARE, SANITIZED, "faults"], limit: 420 },
];

/// Stages of every run.
pub const ALWAYS: [&str; 2] = [IMAGES, "tools"];

/// Stages of a run with the default settings.
pub const USUAL: [&str; 5] = ["forms", "litmus", VALUES, WORKLOADS, "faults"];

/// One image of each assembler: does the driver take it?
struct Images;

impl Stage for Images {
    fn facts(&self) -> Facts {
        Facts { name: IMAGES, about: "One image of each assembler", limit: Duration::from_secs(40) }
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let sm = bench.gpu().map_err(Error::new)?.sm();
        Ok(kernels::sets(&bench.folder, sm)?.into_iter().map(|set| set.name).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let gpu = bench.gpu().map_err(Error::new)?;
        let sets = kernels::sets(&bench.folder, gpu.sm())?;
        let set = sets.iter().find(|set| set.name == item.name).ok_or_else(|| Error::new("the set is gone"))?;
        let kernels = set.read()?;
        let image = kernels.sections.values().flatten().next().ok_or_else(|| Error::new("the set has no image"))?;
        gpu.load(&image.cubin)?;
        let images = kernels.sections.values().map(Vec::len).sum::<usize>();
        Ok(Some(Found { passed: true, text: format!("{images} images, the first loads"), data: Value::Null }))
    }
}

/// What else this machine has.
struct Tools;

/// Programs and what they are asked.
const PROGRAMS: [(&str, &[&str]); 4] =
    [("nvidia-smi", &["-q"]), ("ncu", &["--version"]), (SANITIZER, &["--version"]), ("nvcc", &["--version"])];

impl Stage for Tools {
    fn facts(&self) -> Facts {
        Facts { name: "tools", about: "Tools of this machine", limit: Duration::from_secs(30) }
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        Ok(PROGRAMS.into_iter().map(|(name, _)| name).collect())
    }

    /// That one is missing is no failure.
    fn run(&self, _: &Bench, item: &Item) -> Result<Option<Found>> {
        let (name, arguments) = PROGRAMS.into_iter().find(|(name, _)| *name == item.name).unwrap_or_default();
        let ended = child::run(Command::new(name).args(arguments), Duration::from_secs(20), true, || false);
        let text = match &ended {
            Err(_) => "not here".into(),
            Ok(ended) if ended.code() == Some(0) => {
                let is_version = |line: &&str| line.contains("ersion");
                ended.stdout.lines().find(is_version).unwrap_or("here").trim().to_owned()
            }
            Ok(ended) => ended.in_words(),
        };
        let data = ended.map_or(Value::Null, |ended| Value::String(ended.stdout));
        Ok(Some(Found { passed: true, text, data }))
    }
}

/// Whether orders order.
struct Orders;

impl Stage for Orders {
    fn facts(&self) -> Facts {
        Facts { name: "litmus", about: "Litmus tests", limit: Duration::from_secs(240) }
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        Ok(Litmus::all().into_iter().map(|litmus| litmus.name).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let litmus = Litmus::all().into_iter().find(|litmus| litmus.name == item.name);
        let litmus = litmus.ok_or_else(|| Error::new("there is no such litmus test"))?;
        let gpu = bench.gpu().map_err(Error::new)?;
        let module = bench.module(LITMUS, &item.name)?;
        let counted =
            counted::run(&litmus, gpu, &module, if bench.settings.quick { litmus::FEW } else { litmus::LAUNCHES })?;
        let data = serde_json::to_value(&counted).map_err(Error::new)?;
        // A dry run is too short to be sensitive.
        let passed = if bench.settings.quick { counted.nothing_is_wrong() } else { counted.passed() };
        Ok(Some(Found { passed, text: counted.text(), data }))
    }
}

/// The worked kernels, at sizes beyond the caches: every element compared, and how fast.
struct Workloads;

impl Stage for Workloads {
    fn facts(&self) -> Facts {
        Facts { name: WORKLOADS, about: "Worked kernels", limit: Duration::from_secs(90) }
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let images = bench.kernels()?.section(WORKLOADS);
        Ok(images.iter().flat_map(|image| image.kernels.clone()).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let workload = workloads::every().find(|workload| workload.name() == item.name);
        let workload: &dyn Workload = *workload.ok_or_else(|| Error::new("there is no such workload"))?;
        let gpu = bench.gpu().map_err(Error::new)?;
        let module = bench.module(WORKLOADS, &item.name)?;
        let figures = prepared(&item.name, bench.settings.quick)?.run(workload, gpu, &module)?;
        let text = match &figures.first_mismatch {
            None => format!("{:.1} GB/s, {} elements right", figures.gigabytes_per_second, figures.elements),
            Some(first) => format!("{} of {} elements wrong: {first}", figures.mismatches, figures.elements),
        };
        let data = serde_json::to_value(&figures).map_err(Error::new)?;
        Ok(Some(Found { passed: figures.mismatches == 0, text, data }))
    }
}

/// How many problems are made beside the one that runs.
const AHEAD: usize = 3;

/// Problems that threads make.
static MADE: Mutex<BTreeMap<&str, JoinHandle<Prepared>>> = Mutex::new(BTreeMap::new());

/// The problem of a workload, which a thread may have made meanwhile. Those after it are begun.
fn prepared(name: &str, quick: bool) -> Result<Prepared> {
    let mut made = MADE.lock().map_err(Error::new)?;
    for workload in workloads::every().skip_while(|workload| workload.name() != name).take(1 + AHEAD) {
        let size = if quick { workloads::problem_of(*workload, SMALL).0 } else { workload.facts().gpu_size };
        let make = move || std::thread::spawn(move || Prepared::new(*workload, size));
        made.entry(workload.name()).or_insert_with(make);
    }
    let thread = made.remove(name).ok_or_else(|| Error::new("there is no such workload"))?;
    drop(made);
    thread.join().map_err(|_| Error::new("the problem could not be made"))
}

/// Bytes of a worked kernel's problem in a dry run.
const SMALL: u64 = 16 << 10;

/// Experiments of the laboratory, an item each, so that a GPU that is lost in one of them has the others. Their lines go to
/// a file of their own.
struct Experiments {
    facts: Facts,
    letters: &'static str,
}

/// Whether copies are as fast as they may be.
const BANDWIDTH: Experiments = Experiments {
    facts: Facts {
        name: "bandwidth",
        about: "Bandwidth, experiment A of the laboratory",
        limit: Duration::from_secs(80),
    },
    letters: "A",
};

/// Whether kernels in Rust take as long as the same in CUDA C++.
const PAIRS: Experiments = Experiments {
    facts: Facts {
        name: "pairs",
        about: "Kernels in Rust and in CUDA C++, experiment K of the laboratory",
        limit: Duration::from_secs(75),
    },
    letters: "K",
};

/// What hints do.
const LABORATORY: Experiments = Experiments {
    facts: Facts { name: "laboratory", about: "The laboratory's other experiments", limit: Duration::from_secs(320) },
    letters: "BCDEFGHIJ",
};

/// Seconds that a process of a stage needs to end.
const TO_END: u64 = 5;

/// The part of the stage's time that is an item's: what one leaves is for those after it.
fn share(bench: &Bench, stage: &str) -> Result<Duration> {
    let left = bench.left().saturating_sub(Duration::from_secs(TO_END));
    let known = Known::of(stage, &bench.journal.events()?);
    let items = known.work.as_ref().map_or(&[][..], |work| &work.items);
    let open = items.iter().filter(|item| !known.is_settled(&item.name)).count().max(1);
    Ok((left * 2 / open as u32).min(left))
}

/// The kernels of the laboratory, of the set that runs.
fn of_the_laboratory(bench: &Bench) -> Result<PathBuf> {
    Ok(packed(&bench.folder, &bench.set_name()?, bench.machine()?.sm))
}

fn letters(bench: &Bench, letters: &str) -> Result<Work> {
    let (file, sm) = (of_the_laboratory(bench)?, bench.machine()?.sm);
    if !file.is_file() {
        return Err(Error::new(format_args!("this bundle has no kernels of the laboratory for sm_{sm}"))
            .at(file.display())
            .fix(format_args!("make one that has, for a GPU of sm_80 or newer: `cargo xtask bundle OUT --sm {sm}`")));
    }
    Ok(letters.chars().map(String::from).collect())
}

impl Stage for Experiments {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        letters(bench, self.letters)
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let options = lab::Options {
            experiments: item.name.clone(),
            seed: Some(bench.settings.seed),
            deadline: Some(share(bench, self.name())?.as_secs()),
            quick: bench.settings.quick,
            ..lab::Options::default()
        };
        let file = of_the_laboratory(bench)?;
        let made_with = kernels::versions(&bench.folder)?.to_string();
        let gpu = bench.gpu().map_err(Error::new)?;
        let measured = program::measure(gpu, &file, &options, &made_with, &bench.out.join(LINES))?;
        if measured.lost {
            bench.give_up();
        }
        let data = json!({ "failures": measured.failures, "table": measured.table });
        Ok(Some(Found { passed: measured.passed(), text: measured.to_string(), data }))
    }
}

/// The same under NVIDIA's profiler, which counts what the machine did.
struct Counters;

impl Stage for Counters {
    fn facts(&self) -> Facts {
        Facts { name: "counters", about: "The laboratory under ncu", limit: Duration::from_secs(170) }
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        if profile::find().is_none() {
            return Ok(Work::without("ncu"));
        }
        letters(bench, lab::COUNTED)
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let images = of_the_laboratory(bench)?;
        let counting =
            Counting { images: &images, out: &bench.out, again: &["lab"], limit: share(bench, self.name())? };
        let counters = counting.count(&item.name, &bench.out.join(LINES))?;
        Ok(Some(Found { passed: counters > 0, text: format!("{counters} counters"), data: json!(counters) }))
    }
}

/// Accesses that have to fail. A GPU that faulted serves its process no more, so each gets a new one.
struct Faults;

impl Stage for Faults {
    fn facts(&self) -> Facts {
        Facts { name: "faults", about: "Accesses that have to fail", limit: Duration::from_secs(60) }
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        Ok(Fault::all().into_iter().map(|fault| fault.name).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let fault = Fault::all().into_iter().find(|fault| fault.name == item.name);
        let fault = fault.ok_or_else(|| Error::new("there is no such fault"))?;
        let found = fault.provoke(bench.gpu().map_err(Error::new)?, bench.kernels()?)?;
        let text = format!("{found}, expected {}", fault.code());
        let data = json!({ "expected": fault.code(), "found": found });
        Ok(Some(Found { passed: found == fault.code(), text, data }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_plan_has_every_stage_once_and_time_for_it() {
        let all = all();
        let find = |name: &str| all.iter().position(|stage| stage.name() == name).expect("a stage's name");
        let planned: Vec<usize> = PLAN.iter().flat_map(|part| part.stages).map(|name| find(name)).collect();
        assert!(planned.is_sorted(), "parts and stages are in the order in which they run");
        let wanted: BTreeSet<usize> = (0..all.len()).filter(|at| !ALWAYS.contains(&all[*at].name())).collect();
        assert_eq!((planned.len(), planned.into_iter().collect::<BTreeSet<_>>()), (wanted.len(), wanted));
        for Part { stages, limit } in PLAN {
            let of_stages: u64 = ALWAYS.iter().chain(stages).map(|name| all[find(name)].limit().as_secs()).sum();
            assert!(of_stages <= limit, "{stages:?} may take {of_stages} s, and all of them together {limit}");
            assert!(limit <= 570, "a machine may be taken away after ten minutes");
        }
        assert!(PLAN.iter().map(|part| part.limit).sum::<u64>() <= 30 * 60);
        // The laboratory's experiments are all in it, each once.
        let mut letters: Vec<char> =
            [BANDWIDTH, PAIRS, LABORATORY].iter().flat_map(|stage| stage.letters.chars()).collect();
        letters.sort_unstable();
        assert_eq!(letters, lab::titles().map(|(letter, _)| letter).collect::<Vec<_>>());
    }
}
