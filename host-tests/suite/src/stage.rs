//! A part of a run: a list of items, done one after the other in a process of its own, each with a result that is
//! written down at once.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ptx_intrinsics::catalogue::Form;

use super::journal::{Event, Found, Item, Journal, Known, Machine, Work};
use super::kernels::{self, Kernels, Set};
use super::plan::Plan;
use launch::gpu::{Gpu, Module, NoGpu, Waited};
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;

/// The stage that tells which sets of images load.
pub const IMAGES: &str = "images";

/// What a stage is.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// How long it may take.
    pub limit: Duration,
}

/// A part of a run. To add one, write this and name it in [`super::stages::all`].
pub trait Stage: Sync {
    /// What it is.
    fn facts(&self) -> Facts;

    /// Its name.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// How long it may take.
    fn limit(&self) -> Duration {
        self.facts().limit
    }

    /// How long one of its launches may take.
    fn launch_limit(&self) -> Duration {
        Duration::from_secs(20)
    }

    /// The settings of its processes, if they differ from the run's. `_loaded` are the sets of images that load.
    fn settings(&self, settings: &Settings, _loaded: &[String]) -> Settings {
        settings.clone()
    }

    /// What it consists of.
    fn work(&self, bench: &Bench) -> Result<Work>;

    /// Does all that is left at once, by processes side by side, and writes down each result. None if it does one item after
    /// the other.
    fn side_by_side(&self, _bench: &Bench, _left: &[Item]) -> Option<Result<()>> {
        None
    }

    /// Does an item. An error is the result of this item alone. Nothing means that a part of it was lost, and that it is to
    /// begin again without that part.
    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>>;
}

/// The settings of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Makes the data.
    pub seed: u64,
    /// Of every so many images of forms one is run.
    pub sample: usize,
    /// The images to run, by their assembler; those that load if left out.
    pub set: Option<String>,
    /// Only these items, if there are any here.
    pub items: Vec<String>,
    /// How long a launch may take, if it is not what the stage says.
    pub launch_limit: Option<Duration>,
    /// Whether it is a dry run: small sizes and few rounds, which say nothing of orders and speed.
    pub quick: bool,
    /// How long this process may take; for ever if left out.
    pub left: Option<Duration>,
}

/// The catalogue, or a slice of it: made when it is first wanted, which takes a while.
pub type Catalogue = fn() -> Vec<Arc<Form>>;

/// What a process of a stage works with.
pub struct Bench {
    /// The bundle.
    pub folder: PathBuf,
    /// Where results go.
    pub out: PathBuf,
    /// The settings of the run.
    pub settings: Settings,
    /// The results.
    pub journal: Journal,
    limit: Duration,
    catalogue: Catalogue,
    forms: OnceCell<Vec<Arc<Form>>>,
    /// The image that was loaded last, by its first kernel: it is unloaded before the GPU is left.
    loaded: RefCell<Option<(String, Rc<Module>)>>,
    gpu: OnceCell<Gpu>,
    kernels: OnceCell<Kernels>,
    plan: OnceCell<Plan>,
    began: Instant,
    gone: Cell<bool>,
}

impl Bench {
    /// One whose GPU is looked for when it is first wanted.
    pub fn new(folder: PathBuf, out: PathBuf, catalogue: Catalogue, settings: Settings, journal: Journal) -> Bench {
        let (forms, gpu, kernels, plan) = (OnceCell::new(), OnceCell::new(), OnceCell::new(), OnceCell::new());
        let (limit, began, gone) = (launch::gpu::LIMIT, Instant::now(), Cell::new(false));
        let loaded = RefCell::default();
        Bench { folder, out, settings, journal, limit, catalogue, forms, loaded, gpu, kernels, plan, began, gone }
    }

    /// One with these kernels, whose results this process keeps.
    pub fn kept(forms: Vec<Arc<Form>>, kernels: Kernels, settings: Settings) -> Bench {
        let bench = Bench::new(PathBuf::new(), PathBuf::new(), Vec::new, settings, Journal::kept());
        Bench { kernels: OnceCell::from(kernels), forms: OnceCell::from(forms), ..bench }
    }

    /// The forms.
    pub fn forms(&self) -> &[Arc<Form>] {
        self.forms.get_or_init(self.catalogue)
    }

    /// The GPU.
    pub fn gpu(&self) -> Result<&Gpu, NoGpu> {
        match self.gpu.get() {
            Some(gpu) => Ok(gpu),
            None => {
                let gpu = Gpu::find()?.with_limit(self.limit);
                Ok(self.gpu.get_or_init(|| gpu))
            }
        }
    }

    /// What the run is on, as it was found at its beginning.
    pub fn machine(&self) -> Result<Machine> {
        let events = self.journal.events()?;
        let machine = events.into_iter().find_map(|event| match event {
            Event::Machine(machine) => Some(machine),
            _ => None,
        });
        machine.ok_or_else(|| Error::new("the results do not say which GPU they are of"))
    }

    /// The kernels for it, of the set that runs.
    pub fn kernels(&self) -> Result<&Kernels> {
        if let Some(kernels) = self.kernels.get() {
            return Ok(kernels);
        }
        let kernels = self.set(self.gpu().map_err(Error::new)?.sm())?.read()?;
        Ok(self.kernels.get_or_init(|| kernels))
    }

    /// The image of a section that has a kernel, loaded. The one that was loaded last is kept.
    pub fn module(&self, section: &str, kernel: &str) -> Result<Rc<Module>> {
        let image = self.kernels()?.image_of(section, kernel)?;
        let name = format!("{section} {}", image.kernels[0]);
        if let Some((loaded, module)) = &*self.loaded.borrow()
            && *loaded == name
        {
            return Ok(Rc::clone(module));
        }
        let module = Rc::new(self.gpu().map_err(Error::new)?.load(&image.cubin)?);
        *self.loaded.borrow_mut() = Some((name, Rc::clone(&module)));
        Ok(module)
    }

    /// The file beside the kernels of the set that runs, in another folder of the bundle, if there is one.
    pub fn beside(&self, folder: &str) -> Result<Option<PathBuf>> {
        let file = self.set(self.machine()?.sm)?.beside(&self.folder.join(folder));
        Ok(file.filter(|file| file.is_file()))
    }

    /// The kernels of its forms.
    pub fn plan(&self) -> &Plan {
        self.plan.get_or_init(|| Plan::new(self.forms()))
    }

    /// The name of that set.
    pub fn set_name(&self) -> Result<String> {
        Ok(self.set(self.machine()?.sm)?.name)
    }

    /// The work of a stage whose bundle has no such thing for this GPU.
    pub fn nothing(&self, what: &str) -> Result<Work> {
        Ok(Work::without(&format!("{what} for sm_{}", self.machine()?.sm)))
    }

    /// The set that runs on a GPU: the one that was named, else the first that loads.
    fn set(&self, sm: u32) -> Result<Set> {
        let sets = kernels::sets(&self.folder, sm)?;
        let events = self.journal.events()?;
        let images = Known::of(IMAGES, &events);
        let loads = |set: &&Set| images.found.iter().any(|(name, found)| *name == set.name && found.passed);
        let found = match &self.settings.set {
            Some(name) => sets.iter().find(|set| set.name == *name),
            None => sets.iter().find(loads),
        };
        found.cloned().ok_or_else(|| {
            let tried: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
            Error::new("the driver takes none of the images").at(format_args!("the sets {}", tried.join(", ")))
        })
    }

    /// Writes down that a part of an item begins, or what follows the last part.
    pub fn begin(&self, stage: &str, item: &Item, part: Option<&str>) -> Result<()> {
        let part = part.map(str::to_owned);
        self.journal.write(Event::Begun { stage: stage.into(), item: item.name.clone(), part })
    }

    /// Writes down that an item goes on without a part.
    pub fn lose(&self, stage: &str, item: &Item, part: Option<&str>, why: impl ToString) -> Result<()> {
        let (stage, item, part, why) = (stage.into(), item.name.clone(), part.map(str::to_owned), why.to_string());
        self.journal.write(Event::Lost { stage, item, part, why })
    }

    /// How long this process may still take: a day, if nobody said so.
    pub fn left(&self) -> Duration {
        let left = self.settings.left.unwrap_or(Duration::from_secs(24 * 60 * 60));
        left.saturating_sub(self.began.elapsed())
    }

    /// From here on, the GPU serves this process no more.
    pub fn give_up(&self) {
        self.gone.set(true);
    }

    /// Whether the GPU, if it was asked for, serves this process no more.
    pub fn gpu_is_gone(&self) -> bool {
        self.gone.get() || self.gpu.get().is_some_and(|gpu| gpu.waited() != Waited::Done)
    }
}

/// How a process of a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worked {
    /// Every item has a result or a reason.
    All,
    /// The GPU serves this process no more: another one has to go on.
    GpuGone,
}

/// Does what is left of a stage.
pub fn work(stage: &dyn Stage, bench: &mut Bench, progress: &Progress) -> Result<Worked> {
    bench.limit = bench.settings.launch_limit.unwrap_or(stage.launch_limit());
    let known = Known::of(stage.name(), &bench.journal.events()?);
    let work = match known.work.clone() {
        Some(work) => work,
        None => {
            let mut work = stage.work(bench)?;
            let wanted = &bench.settings.items;
            work.items.retain(|item| wanted.is_empty() || wanted.contains(&item.name));
            bench.journal.write(Event::Stage { stage: stage.name().into(), work: work.clone() })?;
            work
        }
    };
    let left: Vec<Item> = work.items.into_iter().filter(|item| !known.is_settled(&item.name)).collect();
    if !left.is_empty()
        && let Some(done) = stage.side_by_side(bench, &left)
    {
        return done.map(|()| Worked::All);
    }
    let bar = progress.bar(left.len() as u64, stage.facts().about);
    for mut item in left {
        item.parts.retain(|part| known.lost_part(&item.name, part).is_none());
        let item = &item;
        bench.begin(stage.name(), item, None)?;
        let found = stage.run(bench, item);
        let gone = bench.gpu_is_gone();
        match found {
            Ok(Some(found)) => {
                let (stage, item) = (stage.name().into(), item.name.clone());
                bench.journal.write(Event::Found { stage, item, found })?;
            }
            Ok(None) if gone => {}
            Ok(None) => bench.lose(stage.name(), item, None, "a part was lost, and the GPU still works")?,
            Err(error) => bench.lose(stage.name(), item, None, error)?,
        }
        if gone {
            return Ok(Worked::GpuGone);
        }
        bar.inc(1);
    }
    Ok(Worked::All)
}
