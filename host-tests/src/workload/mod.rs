//! Kernels at work: real input, run on the CPU or the GPU, every element compared with a reference
//! that knows nothing of the kernels.

mod gather;
mod probe;
mod spmv;
mod triad;

use crate::{
    cuda_tools::CudaTools,
    device_build::DeviceBuild,
    error::{Error, Result},
    gpu::{Argument, Gpu, Launch},
    progress::Progress,
    target::{PtxVersion, Sm},
    toolchain::DeviceToolchain,
};
use cust::module::Module;
use kernels::{Thread, executor};
use serde::Serialize;
use std::{path::Path, time::Instant};

/// Every workload.
pub const ALL: [&dyn Workload; 4] = [&triad::Triad, &gather::Gather, &spmv::Spmv, &probe::Probe];

/// A kernel with something to do.
pub trait Workload: Sync {
    /// Its name, which is also the kernel's entry point.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn about(&self) -> &'static str;

    /// The kernel's source, from the repository's root.
    fn source(&self) -> &'static str;

    /// What a size counts.
    fn unit(&self) -> &'static str;

    /// A size that a CPU computes in a second.
    fn cpu_size(&self) -> usize;

    /// A size that does not fit into a GPU's caches.
    fn gpu_size(&self) -> usize;

    /// The problem of that size; the same size gives the same problem.
    fn problem(&self, size: usize) -> Box<dyn Problem>;
}

/// A workload's input, and what should come out.
pub trait Problem: Sync {
    /// How many threads have something to do.
    fn threads(&self) -> usize;

    /// The bytes that have to be read and written at least.
    fn useful_bytes(&self) -> u64;

    /// What the kernel takes, in its order.
    fn inputs(&self) -> Vec<Input<'_>>;

    /// The right output, by plain Rust.
    fn reference(&self) -> Output;

    /// Runs one thread of the kernel on the CPU.
    ///
    /// # Safety
    /// `output` is valid for writes of the reference's length and aligned to 16 bytes.
    unsafe fn run_thread(&self, thread: Thread, output: *mut u8);
}

/// An argument of a problem's kernel.
pub enum Input<'a> {
    /// The address of the output.
    Output,
    /// The address of these bytes.
    Bytes(&'a [u8]),
    /// A number.
    Number(Argument),
}

/// An output, by its elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit numbers.
    U64(Vec<u64>),
}

impl Output {
    fn bytes(&self) -> &[u8] {
        match self {
            Output::F32(elements) => bytemuck::cast_slice(elements),
            Output::U64(elements) => bytemuck::cast_slice(elements),
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        match self {
            Output::F32(elements) => elements.len(),
            Output::U64(elements) => elements.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares what came out with this, bit for bit.
    ///
    /// There is no tolerance, for floats neither: the kernels and the references round every
    /// product and every sum, in the same order, and neither `rustc` nor `ptxas` fuses or reorders
    /// what is written so. A difference is a wrong value.
    pub fn compare(&self, found: &[u8]) -> Comparison {
        match self {
            Output::F32(expected) => compare::<f32, 4>(expected, found, f32::from_le_bytes),
            Output::U64(expected) => compare::<u64, 8>(expected, found, u64::from_le_bytes),
        }
    }
}

/// How an output compares with the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ.
    pub mismatches: usize,
    /// The first that differs, in words.
    pub first: Option<String>,
}

fn compare<T, const N: usize>(expected: &[T], found: &[u8], read: fn([u8; N]) -> T) -> Comparison
where
    T: bytemuck::Pod + std::fmt::Debug,
{
    assert_eq!(size_of_val(expected), found.len(), "an output has the reference's length");
    let (found, _) = found.as_chunks::<N>();
    let differs = |at: &usize| bytemuck::bytes_of(&expected[*at]) != found[*at];
    let mut mismatches = (0..expected.len()).filter(differs);
    let first = mismatches.next();
    let in_words = |at: usize| format!("element {at} is {:?}, expected {:?}", read(found[at]), expected[at]);
    Comparison {
        elements: expected.len(),
        mismatches: first.iter().count() + mismatches.count(),
        first: first.map(in_words),
    }
}

/// What a run showed.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The workload.
    pub workload: &'static str,
    /// What it ran on.
    pub place: String,
    /// Output elements, each of them compared.
    pub elements: usize,
    /// The bytes that had to be moved at least.
    pub useful_bytes: u64,
    /// The time of one run.
    pub seconds: f64,
    /// Useful bytes over time.
    pub gigabytes_per_second: f64,
    /// Output elements that differ from the reference.
    pub mismatches: usize,
    /// The first of them.
    pub first_mismatch: Option<String>,
}

impl Figures {
    fn new(workload: &dyn Workload, problem: &dyn Problem, place: String, seconds: f64, compared: Comparison) -> Self {
        Figures {
            workload: workload.name(),
            place,
            elements: compared.elements,
            useful_bytes: problem.useful_bytes(),
            seconds,
            gigabytes_per_second: problem.useful_bytes() as f64 / seconds / 1e9,
            mismatches: compared.mismatches,
            first_mismatch: compared.first,
        }
    }

    /// An error that names the first wrong element, if there is one.
    pub fn verify(&self) -> Result<()> {
        let Some(first) = &self.first_mismatch else {
            return Ok(());
        };
        let Figures { workload, place, mismatches, elements, .. } = self;
        Err(Error::new(format_args!("{workload}: {mismatches} of {elements} elements are wrong: {first}"))
            .at(place)
            .fix(format_args!("read the kernel, host-tests/kernels/src/{workload}.rs, and the SASS of its build")))
    }
}

/// The PTX ISA version from which on the kernels' instructions exist.
const PTX: PtxVersion = PtxVersion { major: 7, minor: 4 };

/// Compiles and assembles all kernels: machine code for one SM.
pub fn image(sm: Sm, toolchain: &DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Vec<u8>> {
    let step = progress.step(format!("Building the kernels for {sm}"));
    let mut build = DeviceBuild::new(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels"), "kernels", sm);
    build.ptx = Some(toolchain.default_ptx(sm).max(PTX));
    let ptx = build.build(toolchain)?;
    drop(step);
    let cubin = ptx.with_extension(format!("{sm}.cubin"));
    let assembled = tools.assembler(sm, progress)?.assemble(&ptx, sm, &cubin)?;
    let cubin = assembled.map_err(|rejected| Error::new(rejected).at(ptx.display()))?;
    read(&cubin.path)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| Error::io("read", file, error))
}

/// Threads in a block, on the CPU too.
pub const BLOCK: u32 = 256;

/// What the output holds before the run; no workload writes it.
const POISON: u8 = 0xa5;

fn blocks(problem: &dyn Problem, at_most: u32) -> u32 {
    let wanted = problem.threads().div_ceil(BLOCK as usize).max(1);
    wanted.min(at_most as usize) as u32
}

/// Runs a workload on the CPU and compares its output.
pub fn run_on_cpu(workload: &dyn Workload, size: usize) -> Figures {
    let problem = workload.problem(size);
    let reference = problem.reference();
    let mut output = Poisoned::new(reference.bytes().len());
    let start = output.start();
    let began = Instant::now();
    executor::launch(blocks(&*problem, 64), BLOCK, |thread| {
        // SAFETY: the output has the reference's length, in 16-byte words.
        unsafe { problem.run_thread(thread, start as *mut u8) }
    });
    let seconds = began.elapsed().as_secs_f64();
    let compared = reference.compare(output.bytes());
    Figures::new(workload, &*problem, "CPU".into(), seconds, compared)
}

/// Runs a workload on the GPU, times it and compares its output.
pub fn run_on_gpu(workload: &dyn Workload, size: usize, gpu: &Gpu, module: &Module) -> Result<Figures> {
    let problem = workload.problem(size);
    let reference = problem.reference();
    let output = gpu.upload(&vec![POISON; reference.bytes().len()])?;
    let mut inputs = Vec::new();
    let mut arguments = Vec::new();
    for input in problem.inputs() {
        arguments.push(match input {
            Input::Output => Argument::U64(output.address()),
            Input::Number(number) => number,
            Input::Bytes(bytes) => {
                let buffer = gpu.upload(bytes)?;
                let address = Argument::U64(buffer.address());
                inputs.push((buffer, bytes));
                address
            }
        });
    }
    let launch = Launch {
        kernel: workload.name().into(),
        blocks: blocks(&*problem, gpu.processors() * BLOCKS_PER_PROCESSOR),
        threads: BLOCK,
        arguments,
    };
    // SAFETY: the arguments are those of the problem, whose run the CPU makes too; a run reads
    // only inputs, so the next does the same.
    let seconds = unsafe { gpu.time(module, &launch, REPETITIONS) }?;
    let compared = reference.compare(&gpu.download(&output)?);
    for (buffer, bytes) in &inputs {
        if gpu.download(buffer)? != *bytes {
            return Err(Error::new("the kernel changed its input").at(workload.source()));
        }
    }
    Ok(Figures::new(workload, &*problem, gpu.name().into(), seconds, compared))
}

/// 2,048 threads, as many as a multiprocessor holds.
const BLOCKS_PER_PROCESSOR: u32 = 2048 / BLOCK;

const REPETITIONS: u32 = 20;

/// Poisoned memory, aligned to 16 bytes.
struct Poisoned {
    words: Vec<u128>,
    bytes: usize,
}

impl Poisoned {
    fn new(bytes: usize) -> Self {
        let words = vec![u128::from_ne_bytes([POISON; 16]); bytes.div_ceil(16)];
        Poisoned { words, bytes }
    }

    /// Its address, as a number that threads may share.
    fn start(&mut self) -> usize {
        self.words.as_mut_ptr().expose_provenance()
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

/// The bytes of numbers or of vectors of numbers.
fn bytes_of<T: ptx_intrinsics::Element>(elements: &[T]) -> &[u8] {
    // SAFETY: what an instruction moves is plain numbers without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A float in -1 to 1.
    fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}
