//! The stages of a run.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::bundle::{self, LITMUS, WORKLOADS};
use super::child;
use super::fault::Fault;
use super::journal::{Found, Item, Work};
use super::litmus::{self, Litmus};
use super::run::Forms;
use super::sanitizer::Sanitizer;
use super::stage::{Bench, Stage};
use crate::error::{Error, Result};
use crate::lab;
use crate::lab::program::{Laboratory, packed};
use crate::workload::{self, Workload};

/// All stages, in the order in which they run.
pub fn all() -> Vec<Box<dyn Stage>> {
    vec![
        Box::new(Images),
        Box::new(Tools),
        Box::new(Forms { again: false }),
        Box::new(Orders),
        Box::new(Workloads),
        Box::new(Experiments),
        Box::new(Sanitizer),
        Box::new(Forms { again: true }),
        Box::new(Faults),
    ]
}

/// Stages of every run.
pub const ALWAYS: [&str; 2] = [IMAGES, "tools"];

/// Stages of a run that is told nothing.
pub const USUAL: [&str; 4] = ["forms", "litmus", "workloads", "faults"];

/// The stage that tells which sets of images load.
pub const IMAGES: &str = "images";

/// One image of each assembler: does the driver take it?
struct Images;

impl Stage for Images {
    fn name(&self) -> &'static str {
        IMAGES
    }

    fn about(&self) -> &'static str {
        "One image of each assembler"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let sm = bench.gpu().map_err(Error::new)?.sm();
        Ok(bundle::sets(&bench.folder, sm)?.into_iter().map(|set| set.name).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let gpu = bench.gpu().map_err(Error::new)?;
        let sets = bundle::sets(&bench.folder, gpu.sm())?;
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
    [("nvidia-smi", &["-q"]), ("ncu", &["--version"]), ("compute-sanitizer", &["--version"]), ("nvcc", &["--version"])];

impl Stage for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn about(&self) -> &'static str {
        "Tools of this machine"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(60)
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
    fn name(&self) -> &'static str {
        "litmus"
    }

    fn about(&self) -> &'static str {
        "Litmus tests"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(240)
    }

    fn work(&self, _: &Bench) -> Result<Work> {
        Ok(Litmus::all().into_iter().map(|litmus| litmus.name).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let litmus = Litmus::all().into_iter().find(|litmus| litmus.name == item.name);
        let litmus = litmus.ok_or_else(|| Error::new("there is no such litmus test"))?;
        let gpu = bench.gpu().map_err(Error::new)?;
        let module = gpu.load(&bench.kernels()?.image_of(LITMUS, &item.name)?.cubin)?;
        let counted = litmus::run(&litmus, gpu, &module, litmus::LAUNCHES)?;
        let data = serde_json::to_value(&counted).map_err(Error::new)?;
        Ok(Some(Found { passed: counted.passed(), text: counted.text(), data }))
    }
}

/// The worked kernels, at sizes beyond the caches: every element compared, and how fast.
struct Workloads;

impl Stage for Workloads {
    fn name(&self) -> &'static str {
        WORKLOADS
    }

    fn about(&self) -> &'static str {
        "Worked kernels"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(120)
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let images = bench.kernels()?.section(WORKLOADS);
        Ok(images.iter().flat_map(|image| image.kernels.clone()).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let workload = workload::every().find(|workload| workload.name() == item.name);
        let workload: &dyn Workload = *workload.ok_or_else(|| Error::new("there is no such workload"))?;
        let gpu = bench.gpu().map_err(Error::new)?;
        let module = gpu.load(&bench.kernels()?.image_of(WORKLOADS, &item.name)?.cubin)?;
        let figures = workload::run_on_gpu(workload, workload.gpu_size(), gpu, &module)?;
        let text = match &figures.first_mismatch {
            None => format!("{:.1} GB/s, {} elements right", figures.gigabytes_per_second, figures.elements),
            Some(first) => format!("{} of {} elements wrong: {first}", figures.mismatches, figures.elements),
        };
        let data = serde_json::to_value(&figures).map_err(Error::new)?;
        Ok(Some(Found { passed: figures.mismatches == 0, text, data }))
    }
}

/// What hints do, measured: the laboratory, with the profiler's counters if there is one. It goes on after what fails by
/// itself, and writes its own lines.
struct Experiments;

/// How long the laboratory measures; the profiler comes after that.
const MEASURING: u64 = 420;

impl Stage for Experiments {
    fn name(&self) -> &'static str {
        "laboratory"
    }

    fn about(&self) -> &'static str {
        "The laboratory"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(MEASURING + 200)
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let is_there = packed(&bench.folder, bench.machine()?.sm).is_file();
        Ok(is_there.then_some("experiments").into_iter().collect())
    }

    fn run(&self, bench: &Bench, _: &Item) -> Result<Option<Found>> {
        let options =
            lab::Options { seed: Some(bench.told.seed), deadline: Some(MEASURING), ..lab::Options::default() };
        let ncu = Some(options.experiments.clone());
        let images = Some(packed(&bench.folder, bench.machine()?.sm));
        let laboratory = Laboratory { options, out: bench.out.clone(), ncu, images, lines: None };
        let made_with = bundle::versions(&bench.folder)?.to_string();
        let said = laboratory.run(&made_with, &["lab"], |_| Ok(Vec::new()))?;
        let text = format!("{} lines of findings", said.lines().count());
        Ok(Some(Found { passed: true, text, data: Value::String(said) }))
    }
}

/// Accesses that have to fail. A GPU that faulted serves its process no more, so each gets a new one.
struct Faults;

impl Stage for Faults {
    fn name(&self) -> &'static str {
        "faults"
    }

    fn about(&self) -> &'static str {
        "Accesses that have to fail"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(60)
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
