//! Every form of the catalogue on a GPU: every kernel once, and every byte of every buffer compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ptx_intrinsics::catalogue::Form;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

use super::batch::*;
use super::entry::Entry;
use super::journal::{Found, Item, Known, Work};
use super::plan::{Kernel, Key, Plan, key};
use super::room::Room;
use super::stage::{Bench, Facts, Settings, Stage, work};
use host_tests::check::forms::{Case, Syntax};
use host_tests::check::sass::on_gpu;
use launch::gpu::{Gpu, Module, Waited};
use launch::tensor_map::MapKind;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use workloads::image::Image;

/// What came of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte of each of its trials was right.
    Passed,
    /// Wrong as it is known of this GPU: the first trial that was, and why.
    Known(Failure),
    /// The first trial that was wrong.
    Failed(Failure),
    /// The GPU does not have it, or it could not be tried; why.
    NotRun(String),
}

/// What was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// In words.
    pub what: String,
    /// What threads should have left, and left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
}

/// Which images run: a stage says it when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct With {
    /// The set's name.
    pub(super) set: String,
    /// The newest PTX ISA version that its assembler reads.
    pub(super) ptx: PtxVersion,
    pub(super) seed: u64,
    /// Whether it is a part of the kernels only.
    pub(super) part: bool,
    /// Kernels that its assembler refused.
    pub(super) refused: BTreeSet<String>,
    /// Whether the driver has multimem addresses.
    #[serde(default)]
    pub(super) multimem: bool,
}

impl Verdict {
    /// What was wrong.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Verdict::Failed(failure) => Some(&failure.what),
            Verdict::Passed | Verdict::Known(_) | Verdict::NotRun(_) => None,
        }
    }

    fn failed(what: String) -> Verdict {
        Verdict::Failed(Failure { what, slots: Vec::new() })
    }
}

/// What came of all forms, in the catalogue's order.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each form.
    pub verdicts: Vec<(Arc<Form>, Verdict)>,
    /// Forms that were launched, however that ended: by their Rust, their PTX and their parameters.
    pub launched: BTreeSet<(String, String, String)>,
    /// Kernels whose output was compared.
    pub kernels: usize,
    /// Trials compared: forms in all their syntaxes.
    pub trials: usize,
    /// Bytes compared.
    pub bytes: usize,
}

/// Why a form is not run that several GPUs do together.
pub(super) const OF_SEVERAL: &str = "needs memory of several GPUs, which the suite does not have: a multicast object";

/// Why a form is not run that an older assembler does not take, although its version has it.
pub(super) const REFUSED: &str = "refused by the assembler of this set";

/// The stage.
pub struct Forms {
    /// Whether it is the second time: with other data, and with the last set of images that loads.
    pub again: bool,
}

impl Stage for Forms {
    fn facts(&self) -> Facts {
        let (name, about) = if self.again { ("forms-again", "Every form once more") } else { ("forms", "Every form") };
        Facts { name, about, limit: Duration::from_secs(90) }
    }

    fn settings(&self, settings: &Settings, loaded: &[String]) -> Settings {
        let again =
            || Settings { seed: settings.seed.wrapping_add(1), set: loaded.last().cloned(), ..settings.clone() };
        if self.again { again() } else { settings.clone() }
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let kernels = bench.kernels()?;
        let by_name = by_name(bench.plan());
        let mut items = Vec::new();
        let multimem = bench.gpu().is_ok_and(has_multimem);
        for (number, image) in kernels.forms().iter().enumerate().step_by(bench.settings.sample.max(1)) {
            let mut parts = Vec::new();
            for name in &image.kernels {
                let kernel = planned(&by_name, name)?;
                if kernel.room != Room::Multimem || multimem {
                    parts.push(name.clone());
                }
            }
            if !parts.is_empty() {
                items.push(Item { name: number.to_string(), parts });
            }
        }
        let with = With {
            set: kernels.set.clone(),
            ptx: kernels.ptx,
            seed: bench.settings.seed,
            part: bench.settings.sample > 1 || kernels.part,
            refused: kernels.refused.clone(),
            multimem,
        };
        Ok(Work { items, with: serde_json::to_value(with).map_err(Error::new)?, missing: None })
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let by_name = by_name(bench.plan());
        let kernels: Vec<&Kernel> = item.parts.iter().map(|name| planned(&by_name, name)).collect::<Result<_>>()?;
        let number: usize = item.name.parse().map_err(Error::new)?;
        let image = bench.kernels()?.forms().get(number).ok_or_else(|| Error::new("there is no such image"))?;
        Attempt { stage: self.name(), bench, item }.run(number, image, kernels)
    }
}

/// Whether an ordinary address is a multimem address too: of the interpreter in a GPU's place, which has one copy.
fn has_multimem(gpu: &Gpu) -> bool {
    // SAFETY: a function of this name has this type.
    unsafe { gpu.driver().symbol::<extern "C" fn() -> bool>(c"fake_has_multimem") }.is_some_and(|has| has())
}

/// Runs these forms on a GPU, in this process, as far as it goes; a second call goes on where the first one ended.
pub fn run(bench: &mut Bench, progress: &Progress) -> Result<Outcome> {
    let stage = Forms { again: false };
    work(&stage, bench, progress)?;
    let known = Known::of(stage.name(), &bench.journal.events()?);
    let sm = bench.gpu().map_err(Error::new)?.sm();
    Ok(Outcome::of(bench.forms(), bench.plan(), sm, &known))
}

fn by_name(plan: &Plan) -> HashMap<&str, &Kernel> {
    plan.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel)).collect()
}

fn planned<'p>(by_name: &HashMap<&str, &'p Kernel>, name: &str) -> Result<&'p Kernel> {
    by_name.get(name).copied().ok_or_else(|| {
        Error::new(format_args!("the image has a kernel {name} that the catalogue does not lead to"))
            .fix("make the bundle anew: its kernels are of another version than its program")
    })
}

impl Outcome {
    /// What the results of a stage of forms say.
    pub fn of(forms: &[Arc<Form>], plan: &Plan, sm: u32, known: &Known) -> Outcome {
        let work = known.work.clone().unwrap_or_default();
        let with: Option<With> = serde_json::from_value(work.with).ok();
        let mut of_kernels: HashMap<&str, Ended> = HashMap::new();
        let mut wrong: HashMap<(String, usize), Wrong> = HashMap::new();
        let (mut kernels, mut trials, mut bytes) = (0, 0, 0);
        for item in &work.items {
            let found = known.found.iter().find(|(name, _)| *name == item.name);
            let compared: Option<Compared> =
                found.and_then(|(_, found)| serde_json::from_value(found.data.clone()).ok());
            for part in &item.parts {
                let ended = match (known.lost_part(&item.name, part), known.lost_item(&item.name), &compared) {
                    (Some(why), ..) => Ended::Failed(format!("its kernel {part} failed: {why}")),
                    (_, Some(why), _) => Ended::NoResult(format!("its image {} has no result: {why}", item.name)),
                    (.., Some(_)) => Ended::Compared,
                    (.., None) => Ended::NotReached,
                };
                of_kernels.insert(part, ended);
            }
            let Some(compared) = compared else { continue };
            kernels += compared.kernels;
            trials += compared.trials;
            bytes += compared.bytes;
            wrong.extend(compared.wrong.into_iter().map(|wrong| ((wrong.kernel.clone(), wrong.trial), wrong)));
        }
        let newest = with.as_ref().map(|with| with.ptx);
        let has = |kernel: &Kernel| {
            kernel.target(Sm::new(sm)).is_some()
                && newest.is_none_or(|newest| PtxVersion::of_number(kernel.needs.1) <= newest)
        };
        let mut verdicts: BTreeMap<Key, Verdict> = BTreeMap::new();
        let mut launched: BTreeSet<Key> = BTreeSet::new();
        for kernel in plan.kernels.iter().filter(|kernel| has(kernel)) {
            let ended = of_kernels.get(kernel.name.as_str());
            for (trial, case) in kernel.trials.iter().enumerate() {
                let verdict = match ended {
                    Some(Ended::Compared) => match wrong.get(&(kernel.name.clone(), trial)) {
                        None => Verdict::Passed,
                        Some(wrong) if wrong.known.is_some() => Verdict::Known(in_words(kernel, case, wrong)),
                        Some(wrong) => Verdict::Failed(in_words(kernel, case, wrong)),
                    },
                    Some(Ended::Failed(why) | Ended::NoResult(why)) => Verdict::failed(why.clone()),
                    Some(Ended::NotReached) => Verdict::NotRun("the stage ended before it".into()),
                    None if kernel.room == Room::Multimem && !with.as_ref().is_some_and(|with| with.multimem) => {
                        Verdict::NotRun(OF_SEVERAL.into())
                    }
                    None if with.as_ref().is_some_and(|with| with.part) => continue,
                    None if work.items.is_empty() => continue,
                    None if with.as_ref().is_some_and(|with| with.refused.contains(&kernel.name)) => {
                        Verdict::NotRun(REFUSED.into())
                    }
                    None => Verdict::failed(format!("{}: no image has its kernel {}", case.rust(), kernel.name)),
                };
                let key = key(&case.form);
                if matches!(ended, Some(Ended::Compared | Ended::Failed(_))) {
                    launched.insert(key);
                }
                let so_far = verdicts.entry(key).or_insert(Verdict::Passed);
                if rank(&verdict) > rank(so_far) {
                    *so_far = verdict;
                }
            }
        }
        let verdict = |form: &Arc<Form>| {
            let reason = || not_run(form, sm, plan, with.as_ref());
            (form.clone(), verdicts.get(&key(form)).cloned().unwrap_or_else(reason))
        };
        let taken = |key: &Key| verdicts.get(key) != Some(&Verdict::NotRun(REFUSED.into()));
        let launched = launched.into_iter().filter(taken).map(owned).collect();
        Outcome { verdicts: forms.iter().map(verdict).collect(), launched, kernels, trials, bytes }
    }

    /// The forms that were not launched, by reason.
    pub fn not_launched(&self) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for (_, verdict) in self.verdicts.iter().filter(|(form, _)| !self.launched.contains(&owned(key(form)))) {
            let why = match verdict {
                Verdict::NotRun(why) => why.clone(),
                Verdict::Failed(_) => "failed before that".into(),
                Verdict::Passed | Verdict::Known(_) => "passed without it".into(),
            };
            *reasons.entry(why).or_default() += 1;
        }
        reasons
    }
}

fn owned((rust, ptx, parameters): Key<'_>) -> (String, String, String) {
    (rust.to_owned(), ptx.to_owned(), parameters.to_owned())
}

/// How it ended for a kernel.
enum Ended {
    Compared,
    Failed(String),
    NoResult(String),
    NotReached,
}

/// Of a form's trials the worst counts, and the first of those that are as bad.
fn rank(verdict: &Verdict) -> u32 {
    match verdict {
        Verdict::Passed => 0,
        Verdict::Known(_) => 1,
        Verdict::NotRun(_) => 2,
        Verdict::Failed(_) => 3,
    }
}

fn not_run(form: &Form, sm: u32, plan: &Plan, with: Option<&With>) -> Verdict {
    if plan.unchecked.iter().any(|no_check| no_check.form == form.ptx()) {
        return Verdict::failed("no check is written for this instruction".into());
    }
    if form.min_sm() > sm {
        return Verdict::NotRun(format!("needs sm_{}", form.min_sm()));
    }
    if on_gpu(form, Sm::new(sm)).is_none() {
        return Verdict::NotRun(format!("needs {}", form.targets().join(", ")));
    }
    let Some(with) = with else { return Verdict::NotRun("the stage did not begin".into()) };
    let needed = PtxVersion::of_number(form.min_ptx());
    if needed > with.ptx {
        return Verdict::NotRun(format!("needs PTX ISA {needed}, newer than the images of CUDA {}", with.set));
    }
    if with.part {
        return Verdict::NotRun("not in this part".into());
    }
    Verdict::failed("not launched: no image has it".into())
}

/// The wrong bytes of a trial, in words.
fn in_words(kernel: &Kernel, case: &Case, wrong: &Wrong) -> Failure {
    let syntax = match case.syntax {
        Syntax::Lanes(mask) => format!(" with the lanes {mask:#b}"),
        Syntax::Guarded => " under a predicate".into(),
        _ => String::new(),
    };
    let first = wrong.slots.first().map_or_else(String::new, |slot| {
        let digits = |text: &str| text.get(2 * slot.byte..2 * slot.byte + 2).unwrap_or("?").to_owned();
        let (expected, found) = (digits(&slot.expected), digits(&slot.found));
        let poison = if found == format!("{POISON:02x}") { " (the poison)" } else { "" };
        format!("byte {} of thread {} is 0x{found}{poison}, expected 0x{expected}; ", slot.byte, slot.thread)
    });
    let (rust, bytes, kernel) = (case.rust(), wrong.bytes, &kernel.name);
    let known = wrong.known.as_ref().map(|why| format!("; known: {why}")).unwrap_or_default();
    let what = format!("{rust}{syntax}: {first}{bytes} bytes are wrong, in kernel {kernel}{known}");
    Failure { what, slots: wrong.slots.clone() }
}

/// An image that runs.
struct Attempt<'a> {
    stage: &'static str,
    bench: &'a Bench,
    item: &'a Item,
}

impl Attempt<'_> {
    /// Launches the kernels one by one, so that a fault has a name, and compares everything. Nothing if the GPU is gone.
    fn run(&self, number: usize, image: &Image, kernels: Vec<&Kernel>) -> Result<Option<Found>> {
        let gpu = self.bench.gpu().map_err(Error::new)?;
        let module = gpu.load(&image.cubin)?;
        // The same data for an image, whatever ran before it in this process.
        let mut random = StdRng::seed_from_u64(self.bench.settings.seed.wrapping_add(0x9e37_79b9 * number as u64));
        let (maps, kernels) = self.tensor_maps(gpu, kernels)?;
        let mut batch = Batch::new(gpu, kernels, maps, &mut random)?;
        let Some(ran) = self.launch(&batch, &module)? else { return Ok(None) };
        self.bench.begin(self.stage, self.item, None)?;
        let (compared, changed) = batch.compare(&ran)?;
        for (kernel, why) in changed {
            self.bench.lose(self.stage, self.item, Some(kernel), why)?;
        }
        let known = compared.wrong.iter().filter(|wrong| wrong.known.is_some()).count();
        let wrong = compared.wrong.len() - known;
        let passed = wrong == 0 && compared.troubles.is_empty();
        let known = if known > 0 { format!(", {known} wrong as is known") } else { String::new() };
        let text = [vec![format!("{} trials, {wrong} wrong{known}", compared.trials)], compared.troubles.clone()];
        let data = serde_json::to_value(compared).map_err(Error::new)?;
        Ok(Some(Found { passed, text: text.concat().join("; "), data }))
    }

    fn lose(&self, kernel: &Kernel, why: impl ToString) -> Result<()> {
        self.bench.lose(self.stage, self.item, Some(&kernel.name), why)
    }

    /// Those of the kernels' kinds, and the kernels that can go on.
    fn tensor_maps<'p>(&self, gpu: &Gpu, kernels: Vec<&'p Kernel>) -> Result<(Maps, Vec<&'p Kernel>)> {
        match Maps::new(gpu, &kernels) {
            Ok(maps) => Ok((maps, kernels)),
            Err(error) => {
                let (without, with): (Vec<_>, Vec<_>) =
                    kernels.into_iter().partition(|kernel| !kernel.room.has_tensor_map());
                with.into_iter().try_for_each(|kernel| self.lose(kernel, &error))?;
                Ok((Maps::default(), without))
            }
        }
    }

    /// Fills the variables and launches one kernel after the other: which of them ran. Nothing if the GPU is gone.
    fn launch(&self, batch: &Batch, module: &Module) -> Result<Option<Vec<bool>>> {
        let gpu = batch.gpu;
        let mut ran = Vec::new();
        let of = |room, fill: &dyn Fn() -> Result<()>| {
            let wanted = batch.kernels.iter().any(|kernel| kernel.room == room);
            (room, wanted.then(|| fill().err()).flatten())
        };
        let unfilled = [
            of(Room::Const, &|| gpu.set(module, c"suite_constants", &batch.constants)),
            of(Room::ConstTensorMap, &|| gpu.set(module, c"suite_tensor_map", &batch.maps.of[&MapKind::MATRIX])),
        ];
        for (number, kernel) in batch.kernels.iter().enumerate() {
            if let Some((_, Some(error))) = unfilled.iter().find(|(room, _)| *room == kernel.room) {
                self.lose(kernel, error)?;
                ran.push(false);
                continue;
            }
            self.bench.begin(self.stage, self.item, Some(&kernel.name))?;
            // SAFETY: the arguments are those of the plan's kernels, whose slots lie in the buffers.
            let launched = unsafe { gpu.launch(module, &batch.launch_of(number, kernel)) };
            let ended = launched.and_then(|()| gpu.wait());
            ran.push(ended.is_ok());
            if let Err(error) = ended {
                self.lose(kernel, error)?;
                // An error of one call leaves the rest as it was; any other comes back from every call.
                if gpu.waited() != Waited::Done {
                    return Ok(None);
                }
            }
        }
        Ok(Some(ran))
    }
}
