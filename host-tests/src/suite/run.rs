//! A run of the suite on a GPU: every kernel once, and every byte of every buffer compared.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::time::Instant;

use ptx_intrinsics::catalogue::Form;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::asynchronous::{self, MapKind};
use super::image::{CONSTANTS, Image};
use super::plan::{Kernel, Key, Plan, key};
use super::trial::{PARAMETER, Room, THREADS};
use crate::error::{Error, Result};
use crate::forms::{Case, Manner};
use crate::gpu::{Argument, Buffer, Gpu, Launch, Module};
use crate::progress::Progress;

/// What came of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte of each of its trials was right.
    Passed,
    /// The first thing that was wrong.
    Failed(String),
    /// The GPU does not have it, or it could not be tried; why.
    NotRun(String),
}

impl Verdict {
    /// What was wrong.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Verdict::Failed(why) => Some(why),
            Verdict::Passed | Verdict::NotRun(_) => None,
        }
    }
}

/// What came of all forms, in the catalogue's order.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each form.
    pub verdicts: Vec<(Arc<Form>, Verdict)>,
    /// Forms that were launched, however that ended.
    pub launched: usize,
    /// Kernels launched.
    pub kernels: usize,
    /// Trials compared: forms in all their manners.
    pub trials: usize,
    /// Bytes compared.
    pub bytes: usize,
    /// The kernel that ended the run early; the rest can be run by another process, without that one.
    pub stopped: Option<Stopped>,
    /// How long it took.
    pub seconds: f64,
}

/// What the output holds before a run. No trial writes all of its slots.
const POISON: u8 = 0xa5;

/// What a run does.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Makes the data.
    pub seed: u64,
    /// Of every so many images one is run.
    pub sample: usize,
    /// Kernels that stopped the GPU in an earlier attempt.
    pub without: Vec<Stopped>,
}

/// A kernel that stopped the GPU, and what the driver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The kernel.
    pub kernel: String,
    /// The error.
    pub why: String,
}

/// Runs these forms on a GPU.
pub fn run(gpu: &Gpu, forms: &[Arc<Form>], images: &[Image], chosen: Chosen, progress: &Progress) -> Result<Outcome> {
    let began = Instant::now();
    let plan = Plan::new(forms);
    let by_name: HashMap<&str, &Kernel> = plan.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel)).collect();
    let mut verdicts: BTreeMap<Key, Verdict> = BTreeMap::new();
    let mut outcome =
        Outcome { verdicts: Vec::new(), launched: 0, kernels: 0, trials: 0, bytes: 0, stopped: None, seconds: 0.0 };
    let bar = progress.bar(images.iter().map(|image| image.kernels.len() as u64).sum(), "Launching");
    let mut random = StdRng::seed_from_u64(chosen.seed);
    for image in images.iter().step_by(chosen.sample) {
        let mut kernels = Vec::new();
        for name in &image.kernels {
            let kernel = planned(&by_name, name)?;
            match chosen.without.iter().find(|stopped| stopped.kernel == *name) {
                Some(stopped) => mark_stopped(&mut verdicts, kernel, &stopped.why),
                None => kernels.push(kernel),
            }
        }
        let module = gpu.load(&image.cubin)?;
        let mut batch = Batch::new(gpu, &kernels, &mut random)?;
        let fault = batch.launch(&module).err();
        if let Some((number, error)) = fault {
            // Nothing more can be asked of the GPU by this process.
            let (kernel, why) = (kernels[number], error.to_string());
            mark_stopped(&mut verdicts, kernel, &why);
            outcome.stopped = Some(Stopped { kernel: kernel.name.clone(), why });
            break;
        }
        batch.compare(&mut verdicts, &mut outcome)?;
        bar.inc(kernels.len() as u64);
    }
    drop(bar);
    if chosen.sample == 1 {
        mark_incomplete(&mut verdicts, &plan, images, gpu.sm());
    }
    let verdict = |form: &Arc<Form>| {
        let reason = || not_run(form, gpu.sm(), &plan, chosen.sample);
        (form.clone(), verdicts.get(&key(form)).cloned().unwrap_or_else(reason))
    };
    outcome.launched = verdicts.len();
    outcome.verdicts = forms.iter().map(verdict).collect();
    outcome.seconds = began.elapsed().as_secs_f64();
    Ok(outcome)
}

fn planned<'p>(by_name: &HashMap<&str, &'p Kernel>, name: &str) -> Result<&'p Kernel> {
    by_name.get(name).copied().ok_or_else(|| {
        Error::new(format_args!("the image has a kernel {name} that the catalogue does not lead to"))
            .fix("make the bundle anew: its kernels are of another version than its program")
    })
}

fn not_run(form: &Form, sm: u32, plan: &Plan, sample: usize) -> Verdict {
    if plan.unchecked.iter().any(|no_check| no_check.form == form.ptx()) {
        return Verdict::Failed("no check is written for this instruction".into());
    }
    if form.min_sm() > sm {
        return Verdict::NotRun(format!("needs sm_{}", form.min_sm()));
    }
    if sample > 1 {
        return Verdict::NotRun("left out by --sample".into());
    }
    Verdict::Failed("not launched: no image has it, or an earlier kernel stopped the GPU".into())
}

fn mark_stopped<'p>(verdicts: &mut BTreeMap<Key<'p>, Verdict>, kernel: &'p Kernel, why: &str) {
    for case in &kernel.trials {
        let text = format!("its kernel {} failed: {why}", kernel.name);
        verdicts.insert(key(&case.form), Verdict::Failed(text));
    }
}

/// A form has not passed whose trials were not all there: none may be lost on the way from the plan to the images.
fn mark_incomplete<'p>(verdicts: &mut BTreeMap<Key<'p>, Verdict>, plan: &'p Plan, images: &[Image], sm: u32) {
    let there: HashSet<&str> = images.iter().flat_map(|image| &image.kernels).map(String::as_str).collect();
    let missing = plan.kernels.iter().filter(|kernel| kernel.needs.0 <= sm && !there.contains(kernel.name.as_str()));
    for (kernel, case) in missing.flat_map(|kernel| kernel.trials.iter().map(move |case| (kernel, case))) {
        if let Some(verdict @ Verdict::Passed) = verdicts.get_mut(&key(&case.form)) {
            *verdict = Verdict::Failed(format!("{}: no image has its kernel {}", case.rust(), kernel.name));
        }
    }
}

/// The kernels of a module, and their memory: what is read, what a load gives whose predicate does not hold, the
/// output; each in the GPU's memory and in the host's.
struct Batch<'a, 'p> {
    gpu: &'a Gpu,
    kernels: &'a [&'p Kernel],
    /// Where a kernel's part begins in the buffers of its home.
    offsets: Vec<usize>,
    homes: [Home; 2],
    constants: [u8; CONSTANTS],
    /// What the maps are of, where there are any: prefetches read it.
    _tensor: Option<Buffer>,
    /// Of the kinds that kernels ask for.
    tensor_maps: BTreeMap<MapKind, TensorMap>,
}

struct Home {
    from: Vec<u8>,
    other: Vec<u8>,
    to: Vec<u8>,
    buffers: [Buffer; 3],
}

const TENSOR_MAP: usize = 128;

type TensorMap = [u8; TENSOR_MAP];

fn home(kernel: &Kernel) -> usize {
    usize::from(kernel.room == Room::Mapped)
}

impl<'a, 'p> Batch<'a, 'p> {
    fn new(gpu: &'a Gpu, kernels: &'a [&'p Kernel], random: &mut StdRng) -> Result<Self> {
        let mut lengths = [0; 2];
        let mut place = |kernel: &&Kernel| {
            let length = &mut lengths[home(kernel)];
            *length += kernel.bytes();
            *length - kernel.bytes()
        };
        let offsets: Vec<usize> = kernels.iter().map(&mut place).collect();
        let mut constants = [0; CONSTANTS];
        random.fill_bytes(&mut constants);
        let kinds = kernels.iter().filter(|kernel| kernel.room.has_tensor_map()).flat_map(|kernel| &kernel.trials);
        let kinds: BTreeSet<MapKind> = kinds.map(|case| asynchronous::map_kind(&case.form)).collect();
        let tensor = if kinds.is_empty() { None } else { Some(gpu.upload(&[0; 64 * 4 * 4usize.pow(4)])?) };
        let encode = |tensor: &Buffer, kind| Ok((kind, encode_tensor_map(gpu, tensor, kind)?));
        let encoded = kinds.into_iter().flat_map(|kind| tensor.as_ref().map(|tensor| encode(tensor, kind)));
        let tensor_maps = encoded.collect::<Result<BTreeMap<_, _>>>()?;
        let mut home_of = |at: usize| -> Result<Home> {
            let [mut from, mut other] = [(); 2].map(|()| vec![0; lengths[at]]);
            random.fill_bytes(&mut from);
            random.fill_bytes(&mut other);
            for (kernel, offset) in kernels.iter().zip(&offsets).filter(|(kernel, _)| home(kernel) == at) {
                prepare(kernel, &mut from[*offset..][..kernel.bytes()], &constants, &tensor_maps);
            }
            let to = vec![POISON; lengths[at]];
            let put = |content: &Vec<u8>| if at == 0 { gpu.upload(content) } else { gpu.share(content) };
            let buffers = [put(&from)?, put(&other)?, put(&to)?];
            Ok(Home { from, other, to, buffers })
        };
        let homes = [home_of(0)?, home_of(1)?];
        Ok(Batch { gpu, kernels, offsets, homes, constants, _tensor: tensor, tensor_maps })
    }

    /// Fills the variables and launches one kernel after the other; of the first that fails, the number.
    fn launch(&mut self, module: &Module) -> Result<(), (usize, Error)> {
        let has = |room| self.kernels.iter().any(|kernel| kernel.room == room);
        let constants = || self.gpu.set(module, c"suite_constants", &self.constants);
        let tensor_map = || self.gpu.set(module, c"suite_tensor_map", &self.tensor_maps[&MapKind::MATRIX]);
        if has(Room::Const) {
            constants().map_err(|error| (0, error))?;
        }
        if has(Room::ConstTensorMap) {
            tensor_map().map_err(|error| (0, error))?;
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            let launch = self.launch_of(number, kernel);
            // SAFETY: the arguments are those of the plan's kernels, whose slots lie in the buffers.
            let launched = unsafe { self.gpu.launch(module, &launch) };
            // One by one, so that a fault has a name.
            launched.and_then(|()| self.gpu.wait()).map_err(|error| (number, error))?;
        }
        Ok(())
    }

    fn launch_of(&self, number: usize, kernel: &Kernel) -> Launch {
        let (home, offset) = (&self.homes[home(kernel)], self.offsets[number]);
        let mut arguments = Vec::new();
        if kernel.room.has_parameter() {
            let mut parameter = vec![0; PARAMETER];
            let content = match kernel.room {
                Room::EntryTensorMap => &self.tensor_maps[&MapKind::MATRIX][..],
                _ => &home.from[offset..][..kernel.bytes().min(PARAMETER)],
            };
            parameter[..content.len()].copy_from_slice(content);
            arguments.push(Argument::Bytes(parameter.into()));
        }
        arguments.extend(home.buffers.iter().map(|buffer| Argument::U64(buffer.address() + offset as u64)));
        Launch { kernel: kernel.name.clone(), blocks: kernel.room.blocks() as u32, threads: THREADS as u32, arguments }
    }

    /// Compares everything: what was only read, too.
    fn compare(&mut self, verdicts: &mut BTreeMap<Key<'p>, Verdict>, outcome: &mut Outcome) -> Result<()> {
        let mut found = Vec::new();
        for home in &self.homes {
            let [from, other, to] = &home.buffers;
            for (buffer, content) in [(from, &home.from), (other, &home.other)] {
                if self.gpu.download(buffer)? != **content {
                    return Err(Error::new("a kernel changed what it should only read").at(self.names()));
                }
                outcome.bytes += content.len();
            }
            found.push(self.gpu.download(to).map_err(|error| error.at(self.names()))?);
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            let (home, offset) = (home(kernel), self.offsets[number]);
            let part = offset..offset + kernel.bytes();
            let Home { from, other, to, .. } = &mut self.homes[home];
            let (from, other, to) = (&from[part.clone()], &other[part.clone()], &mut to[part.clone()]);
            for (number, case) in kernel.trials.iter().enumerate() {
                kernel.expect(number, from, other, to);
                let place = kernel.range(number);
                let wrong = difference(kernel, case, &to[place.clone()], &found[home][part.clone()][place]);
                let verdict = verdicts.entry(key(&case.form)).or_insert(Verdict::Passed);
                if let (Some(wrong), Verdict::Passed) = (wrong, &*verdict) {
                    *verdict = Verdict::Failed(wrong);
                }
            }
            outcome.kernels += 1;
            outcome.trials += kernel.trials.len();
            outcome.bytes += kernel.bytes();
        }
        Ok(())
    }

    fn names(&self) -> String {
        let name = |kernel: Option<&&Kernel>| kernel.map_or("", |kernel| &kernel.name).to_owned();
        format!("kernels {} to {}", name(self.kernels.first()), name(self.kernels.last()))
    }
}

/// What stands in the constant bank, or is a tensor map, is the same for all kernels.
fn prepare(kernel: &Kernel, from: &mut [u8], constants: &[u8], tensor_maps: &BTreeMap<MapKind, TensorMap>) {
    match kernel.room {
        Room::Const => from.copy_from_slice(&constants[..from.len()]),
        Room::TensorMap => {
            for (trial, case) in kernel.trials.iter().enumerate() {
                let map = &tensor_maps[&asynchronous::map_kind(&case.form)];
                from[kernel.range(trial)].chunks_mut(TENSOR_MAP).for_each(|slot| slot.copy_from_slice(map));
            }
        }
        _ => {}
    }
}

/// The first byte that is wrong, in words.
fn difference(kernel: &Kernel, case: &Case, expected: &[u8], found: &[u8]) -> Option<String> {
    let at = (0..expected.len()).find(|&at| expected[at] != found[at])?;
    let wrong = (0..expected.len()).filter(|&at| expected[at] != found[at]).count();
    let (slot, thread) = (kernel.room.slot(), at / kernel.room.slot() % THREADS);
    let manner = match case.manner {
        Manner::Lanes(mask) => format!(" with the lanes {mask:#b}"),
        Manner::Guarded => " under a predicate".into(),
        _ => String::new(),
    };
    let byte = at % slot;
    let what = if found[at] == POISON { " (the poison)" } else { "" };
    Some(format!(
        "{}{manner}: byte {byte} of thread {thread} is {:#04x}{what}, expected {:#04x}; {wrong} bytes are wrong, in kernel {}",
        case.rust(),
        found[at],
        expected[at],
        kernel.name,
    ))
}

/// A real tensor map, by the driver: `cust` does not know them. The tensor has 64 numbers in its first dimension, and four in
/// each other one.
fn encode_tensor_map(gpu: &Gpu, tensor: &Buffer, kind: MapKind) -> Result<TensorMap> {
    type Tiled = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        *const c_void,
        *const u64,
        *const u64,
        *const u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    type Im2col = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        *const c_void,
        *const u64,
        *const u64,
        *const i32,
        *const i32,
        u32,
        u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    #[repr(align(64))]
    struct Aligned(TensorMap);
    const UINT32: u32 = 2;
    let (address, dimensions) = (tensor.address() as *const c_void, kind.dimensions as u32);
    let (sizes, tile, steps) = ([64u64, 4, 4, 4, 4], [32u32, 2, 2, 2, 2], [1u32; 5]);
    let strides = [256u64, 4 * 256, 16 * 256, 64 * 256];
    let mut map = Aligned([0; TENSOR_MAP]);
    let to = (&raw mut map.0).cast();
    let (name, answer) = if kind.im2col {
        let name = c"cuTensorMapEncodeIm2col";
        let encode = symbol::<Im2col>(gpu, name)?;
        let corners = [0i32; 3];
        let (sizes, strides, corners) = (sizes.as_ptr(), strides.as_ptr(), corners.as_ptr());
        // SAFETY: at least as many sizes, strides, corners and steps as the tensor has dimensions.
        let answer = unsafe {
            encode(to, UINT32, dimensions, address, sizes, strides, corners, corners, 32, 8, steps.as_ptr(), 0, 0, 0, 0)
        };
        (name, answer)
    } else {
        let name = c"cuTensorMapEncodeTiled";
        let encode = symbol::<Tiled>(gpu, name)?;
        let (sizes, strides, tile) = (sizes.as_ptr(), strides.as_ptr(), tile.as_ptr());
        // SAFETY: at least as many sizes, strides, and sizes and steps of a tile as the tensor has dimensions.
        let answer =
            unsafe { encode(to, UINT32, dimensions, address, sizes, strides, tile, steps.as_ptr(), 0, 0, 0, 0) };
        (name, answer)
    };
    match answer {
        0 => Ok(map.0),
        code => {
            let (name, why) = (name.to_string_lossy(), gpu.driver().describe(code));
            Err(Error::new(format_args!("{name} failed with {why} for a tensor of {dimensions} dimensions"))
                .at(gpu.name()))
        }
    }
}

/// A function of the driver that is newer than others.
fn symbol<F: Copy>(gpu: &Gpu, name: &CStr) -> Result<F> {
    // SAFETY: the caller names the function's type.
    let found = unsafe { gpu.driver().symbol::<F>(name) };
    found.ok_or_else(|| {
        Error::new(format_args!("the driver has no {}", name.to_string_lossy()))
            .at(gpu.driver().path())
            .fix("update the driver to CUDA 12 or newer")
    })
}
