//! What every experiment is made of: sweeps, fills, rings of links, and probes that follow them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::{SliceRandom, index};

use super::images::{self, Image, Language, Without};
use super::line::Run;
use crate::device::{Argument, Asked, Attribute, Device, Fault, Function, Memory, Module, Shape};
use launch::gpu::Gpu;

/// The most steps of one probe.
pub const STEPS: u32 = 16384;

/// Bytes of a line.
pub const LINE: u64 = 128;

/// Threads of a block of a sweep.
const BLOCK: u32 = 256;

/// How L2 is swept clean: by so many times its size.
const FLUSH: u64 = 3;

/// How memory is swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Under no hint.
    Plain,
    /// Past L1.
    NoAllocate,
    /// Under a policy of L2, by its bits.
    Policy(u64),
}

/// A piece of memory for a [`Bench::stage`]: places so many bytes apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Where the first is.
    pub at: u64,
    /// How many there are.
    pub count: u32,
    /// How far one is from the next.
    pub step: u32,
}

/// The GPU, its kernels, and what they work with.
pub struct Bench<'g> {
    device: Device<'g>,
    about: Run,
    /// Each is loaded when a kernel of it is first wanted: one that the driver does not take fails alone.
    modules: Vec<(Vec<u8>, OnceCell<Module>)>,
    index: BTreeMap<(Language, Without, String), usize>,
    functions: RefCell<BTreeMap<(Language, Without, String), Function>>,
    /// The times of a probe, and after them its ticket.
    times: Memory,
    flush: Memory,
    launched: RefCell<Vec<String>>,
    /// Whether a profiler counts what is launched.
    counted: bool,
    carved_out: Asked<()>,
    /// When the experiment has to end.
    deadline: Cell<Option<Instant>>,
}

/// How the names of the kernels begin of which one block at a time works: what they do not need of a multiprocessor's shared
/// memory is to be L1.
const PROBES: [&str; 5] = ["chase_", "touch_", "hot_", "announce_", "keep"];

impl<'g> Bench<'g> {
    /// Loads the kernels and takes the memory that every experiment needs.
    pub fn new(gpu: &'g Gpu, all: &[Image], about: Run, patience: Duration) -> Asked<Bench<'g>> {
        let device = Device::new(gpu, patience)?;
        let (l2, set_aside) = (device.attribute(Attribute::L2)?, device.attribute(Attribute::SetAside)?);
        if l2 == 0 {
            return Err(Fault::new("the driver says that the GPU has no L2"));
        }
        let about = Run {
            gpu: gpu.name().to_owned(),
            sm: gpu.sm(),
            driver: format!("CUDA {} ({})", gpu.driver().version(), gpu.driver().path()),
            processors: gpu.processors(),
            memory: gpu.memory() as u64,
            l2,
            set_aside,
            ..about
        };
        let modules = all.iter().map(|image| (image.cubin.clone(), OnceCell::new())).collect();
        let (times, flush) = (device.allocate(4 * u64::from(STEPS) + LINE)?, device.allocate(FLUSH * l2)?);
        device.fill(flush.address, 0, flush.bytes)?;
        let (functions, launched) = (RefCell::default(), RefCell::default());
        let (index, counted, carved_out, deadline) = (images::index(all), false, Ok(()), Cell::new(None));
        let bench =
            Bench { device, about, modules, index, functions, times, flush, launched, counted, carved_out, deadline };
        let (carve_out, carved_out) = match bench.carve_out() {
            Ok(percent) => (percent, Ok(())),
            Err(fault) if fault.lost => return Err(fault),
            Err(fault) => (BTreeMap::new(), Err(fault)),
        };
        let about = Run { carve_out, ..bench.about };
        Ok(Bench { about, carved_out, ..bench })
    }

    /// The same for a profiler: only the sizes that it looks at.
    pub fn counted(self, counted: bool) -> Self {
        Bench { counted, ..self }
    }

    /// Whether a profiler counts what is launched.
    pub fn is_counted(&self) -> bool {
        self.counted
    }

    /// From here on, experiments have to end at that time.
    pub fn end_at(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// Whether the experiment's time is over.
    pub fn is_late(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// An error if the driver has not left the probes the L1 that they want.
    pub fn carved_out(&self) -> Asked<()> {
        self.carved_out.clone()
    }

    /// Leaves every probe as much L1 as there can be; the part that is shared memory, by kernel.
    fn carve_out(&self) -> Asked<BTreeMap<String, u32>> {
        let is_probe = |kernel: &str| PROBES.iter().any(|begins| kernel.starts_with(begins));
        let probes = self.index.keys().filter(|(language, without, kernel)| {
            (*language, *without) == (Language::Rust, Without::Nothing) && is_probe(kernel)
        });
        probes
            .map(|(language, without, kernel)| {
                let function = self.find(*language, *without, kernel)?;
                Ok((kernel.clone(), self.device.carve_out(function)?))
            })
            .collect()
    }

    /// The GPU.
    pub fn device(&self) -> &Device<'g> {
        &self.device
    }

    /// What the run is.
    pub fn about(&self) -> &Run {
        &self.about
    }

    /// The kernels launched since it was last asked, in their order.
    pub fn launched(&self) -> Vec<String> {
        self.launched.take()
    }

    /// So many steps, or few in a dry run.
    pub fn steps(&self, steps: u32) -> u32 {
        let room = (self.about.l2 / 8 / LINE).max(8) as u32;
        let steps = if self.about.quick { steps.min(256) } else { steps };
        steps.min(STEPS).min(room)
    }

    /// All of these; in a dry run the one in the middle; under a profiler those that are counted.
    pub fn sizes<T: Copy>(&self, all: &[T], counted: &[T]) -> Vec<T> {
        match (self.counted, self.about.quick) {
            (true, _) => counted.to_vec(),
            (false, true) => vec![all[all.len() / 2]],
            (false, false) => all.to_vec(),
        }
    }

    fn find(&self, language: Language, without: Without, kernel: &str) -> Asked<Function> {
        let key = (language, without, kernel.to_owned());
        if let Some(function) = self.functions.borrow().get(&key) {
            return Ok(*function);
        }
        let at = *self.index.get(&key).ok_or_else(|| {
            let (language, without) = (format!("{language:?}"), without.name());
            Fault::new(format_args!("there is no kernel {kernel} in {language} without {without} for this GPU"))
        })?;
        let (image, loaded) = &self.modules[at];
        let module = match loaded.get() {
            Some(module) => module,
            None => {
                let module = self.device.load(image)?;
                loaded.get_or_init(|| module)
            }
        };
        let function = self.device.function(module, kernel)?;
        self.functions.borrow_mut().insert(key, function);
        Ok(function)
    }

    /// Whether there is such a kernel.
    pub fn has(&self, language: Language, without: Without, kernel: &str) -> bool {
        self.index.contains_key(&(language, without, kernel.to_owned()))
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    pub unsafe fn launch(
        &self,
        of: (Language, Without),
        kernel: &str,
        grid: impl Into<Shape>,
        arguments: &[Argument],
    ) -> Asked<()> {
        let function = self.find(of.0, of.1, kernel)?;
        // SAFETY: by this function's contract.
        unsafe { self.device.launch(function, grid.into(), arguments) }?;
        self.launched.borrow_mut().push(kernel.to_owned());
        Ok(())
    }

    /// Starts a kernel of the laboratory's own, in Rust.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    unsafe fn own(&self, kernel: &str, grid: (u32, u32), arguments: &[Argument]) -> Asked<()> {
        // SAFETY: by this function's contract.
        unsafe { self.launch((Language::Rust, Without::Nothing), kernel, grid, arguments) }
    }

    /// A grid of as many threads as have something to do, at most as many as the GPU holds.
    pub fn grid(&self, threads: u64) -> (u32, u32) {
        let most = u64::from(self.about.processors) * 8;
        (threads.div_ceil(u64::from(BLOCK)).clamp(1, most) as u32, BLOCK)
    }

    /// Reads so many bytes, all of the GPU together.
    pub fn sweep(&self, how: Sweep, at: u64, bytes: u64) -> Asked<()> {
        let quads = bytes / 16;
        // A sum that nobody expects.
        let told = 0x9e37_79b9;
        let mut arguments = vec![
            Argument::U64(self.times.address),
            Argument::U32(told),
            Argument::U64(at),
            Argument::U32(quads as u32),
        ];
        let kernel = match how {
            Sweep::Plain => "sweep_plain",
            Sweep::NoAllocate => "sweep_no_allocate",
            Sweep::Policy(policy) => {
                arguments.push(Argument::U64(policy));
                "sweep_policy"
            }
        };
        // SAFETY: the callers own so many bytes there; the sum has a place.
        unsafe { self.own(kernel, self.grid(quads), &arguments) }
    }

    /// Fills so many bytes by a kernel of that kind of store.
    pub fn fill(&self, kind: &str, at: u64, bytes: u64) -> Asked<()> {
        let quads = bytes / 16;
        let arguments = [Argument::U64(at), Argument::U32(quads as u32), Argument::U32(0x0bad_cafe)];
        // SAFETY: the callers own so many bytes there.
        unsafe { self.own(&format!("fill_{kind}"), self.grid(quads), &arguments) }
    }

    /// Throws the lines of so many bytes away.
    pub fn discard(&self, at: u64, bytes: u64) -> Asked<()> {
        let lines = bytes / LINE;
        let arguments = [Argument::U64(at), Argument::U32(lines as u32)];
        // SAFETY: the callers own so many bytes there, and need none of them.
        unsafe { self.own("discard", self.grid(lines), &arguments) }
    }

    /// Puts these bytes into a piece of memory, over and over.
    pub fn repeat(&self, memory: &Memory, content: &[u8]) -> Asked<()> {
        let mut done = memory.bytes.min(content.len() as u64);
        self.device.write(memory.address, &content[..done as usize])?;
        while done < memory.bytes {
            let next = done.min(memory.bytes - done);
            self.device.copy(memory.address + done, memory.address, next)?;
            done += next;
        }
        Ok(())
    }

    /// Keeps the GPU busy for so long: its clocks rise when it has something to do.
    pub fn warm_up(&self, at_least: Duration) -> Asked<()> {
        let began = Instant::now();
        while began.elapsed() < at_least {
            self.sweep(Sweep::Plain, self.flush.address, self.flush.bytes)?;
            self.device.wait()?;
        }
        Ok(())
    }

    /// Nothing of what was there before stays in L2, and no line stays longer than another.
    pub fn flush(&self) -> Asked<()> {
        self.device.forget_priorities()?;
        self.sweep(Sweep::Plain, self.flush.address, self.flush.bytes)
    }

    /// So many places, so many bytes apart, in an order drawn by the seed.
    pub fn places(&self, count: u32, step: u32) -> Vec<u32> {
        let mut places: Vec<u32> = (0..count).map(|at| at * step).collect();
        places.shuffle(&mut self.random());
        places
    }

    /// So many different lines of so many bytes, drawn by the seed; fewer if there are no more.
    pub fn spread(&self, bytes: u64, count: u32) -> Vec<u32> {
        let lines = (bytes / LINE) as usize;
        let chosen = index::sample(&mut self.random(), lines, lines.min(count as usize));
        chosen.into_iter().map(|line| line as u32 * LINE as u32).collect()
    }

    fn random(&self) -> StdRng {
        StdRng::seed_from_u64(self.about.seed)
    }

    /// Writes a ring of links through these places, and gives its first.
    pub fn ring(&self, base: u64, places: &[u32]) -> Asked<u64> {
        let order = self.device.upload(bytemuck::cast_slice(places))?;
        let count = places.len() as u32;
        let arguments = [Argument::U64(base), Argument::U64(order.address), Argument::U32(count)];
        // SAFETY: the places are the callers'.
        unsafe { self.own("link", self.grid(places.len() as u64), &arguments) }?;
        self.device.wait()?;
        Ok(base + u64::from(places.first().copied().unwrap_or_default()))
    }

    fn ticket(&self) -> u64 {
        self.times.address + 4 * u64::from(STEPS)
    }

    /// The clocks of each step of a probe, once its kernel has ended.
    fn clocks(&self, steps: u32) -> Asked<Vec<u32>> {
        let bytes = self.device.read(self.times.address, 4 * steps as usize)?;
        Ok(bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }

    /// Starts a kernel of which the first block on that multiprocessor works, and gives its times.
    ///
    /// # Safety
    /// As for [`Device::launch`]; the first three arguments are left to this.
    unsafe fn pinned(&self, kernel: &str, sm: u32, rest: &[Argument], steps: u32) -> Asked<Vec<u32>> {
        if steps > STEPS {
            return Err(Fault::new(format_args!("a probe has at most {STEPS} steps, not {steps}")));
        }
        self.device.fill(self.ticket(), 0, 4)?;
        let first = [Argument::U64(self.times.address), Argument::U64(self.ticket()), Argument::U32(sm)];
        // Four for each multiprocessor, so that one comes to that which is wanted.
        let grid = (4 * self.about.processors, 32);
        // SAFETY: by this function's contract.
        unsafe { self.own(kernel, grid, &[&first, rest].concat()) }?;
        let clocks = self.clocks(steps)?;
        if self.device.read(self.ticket(), 4)? == [0; 4] {
            return Err(Fault::new(format_args!("no block of {kernel} came to multiprocessor {sm}")));
        }
        Ok(clocks)
    }

    /// Follows so many links from `start` by the loads of a kernel of `chase.rs`.
    pub fn chase(&self, kernel: &str, sm: u32, start: u64, steps: u32) -> Asked<Vec<u32>> {
        // SAFETY: there is a ring at `start`.
        unsafe { self.pinned(kernel, sm, &[Argument::U64(start), Argument::U32(steps)], steps) }
    }

    /// Runs a kernel of `stage.rs`: does something to `a`, then to `b`, waits for `pause` clocks, and probes.
    pub fn stage(
        &self,
        kernel: &str,
        sm: u32,
        [a, b]: [Places; 2],
        pause: u32,
        start: u64,
        steps: u32,
    ) -> Asked<Vec<u32>> {
        let piece =
            |places: Places| [Argument::U64(places.at), Argument::U32(places.count), Argument::U32(places.step)];
        let rest = [Argument::U32(pause), Argument::U64(start), Argument::U32(steps)];
        // SAFETY: the places are the callers', and there is a ring at `start`.
        unsafe { self.pinned(kernel, sm, &[&piece(a)[..], &piece(b), &rest].concat(), steps) }
    }

    /// Follows links in shared memory, by a kernel of `neighbour.rs`.
    pub fn chase_cluster(&self, kernel: &str, steps: u32) -> Asked<Vec<u32>> {
        let arguments = [Argument::U64(self.times.address), Argument::U32(steps)];
        // SAFETY: there is room for so many times.
        unsafe { self.own(kernel, (2, 32), &arguments) }?;
        self.clocks(steps)
    }
}
