//! Kernels at work: real input, run on the CPU or the GPU, every element compared with a reference
//! that knows nothing of the kernels.

pub mod image;
#[cfg(feature = "gpu")]
mod on_gpu;

mod all_to_all;
mod column_sums;
mod convolve;
mod gather;
mod gather_rows;
mod gemm;
mod histogram;
mod matmul;
mod place;
mod polynomial;
mod probe;
mod ring;
mod rod;
mod scan;
mod spmv;
mod stages;
mod triad;

use crate::image::{Image, assembled};
#[cfg(feature = "gpu")]
pub use crate::on_gpu::{Prepared, run_on_gpu};
pub use crate::place::Place;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::device_build::DeviceBuild;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptxas::On;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::DeviceToolchain;
use ptx_kernel::{Format, Promotion, Swizzle, TensorMap, Tiled, cpu};
use serde::Serialize;
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// The workloads whose hints the demo shows.
pub const ALL: [&dyn Workload; 4] = [&triad::Triad, &gather::Gather, &spmv::Spmv, &probe::Probe];

/// The workloads of ordered accesses, of the other state spaces, of asynchronous copies and of atomics.
pub const ORDERED: [&dyn Workload; 12] = [
    &scan::Scan,
    &ring::Ring,
    &polynomial::Polynomial,
    &convolve::Convolve,
    &rod::Rod,
    &matmul::Matmul,
    &stages::Stages,
    &histogram::Histogram,
    &gemm::Gemm,
    &column_sums::ColumnSums,
    &all_to_all::AllToAll,
    &gather_rows::GatherRows,
];

/// A kernel with something to do.
pub trait Workload: Sync {
    /// What it is.
    fn facts(&self) -> Facts;

    /// Its name, which is also the kernel's entry point.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// The kernel's source, from the repository's root.
    fn source(&self) -> String {
        format!("kernels/src/{}.rs", self.name())
    }

    /// The oldest GPU that has its instructions.
    fn oldest(&self) -> Sm {
        Sm::new(80)
    }

    /// The problem of that size; the same size gives the same problem.
    fn problem(&self, size: usize) -> Box<dyn Problem>;
}

/// What a workload is.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Its name, which is also the kernel's entry point.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What a size counts.
    pub unit: &'static str,
    /// A size that a CPU computes in a second.
    pub cpu_size: usize,
    /// A size that does not fit into a GPU's caches.
    pub gpu_size: usize,
}

/// A workload's input, and what should come out.
pub trait Problem: Send + Sync {
    /// How many threads have something to do.
    fn threads(&self) -> usize;

    /// The bytes that have to be read and written at least.
    fn useful_bytes(&self) -> u64;

    /// What the kernel takes, in its order.
    fn inputs(&self) -> Vec<Input<'_>>;

    /// The right output, by plain Rust.
    fn reference(&self) -> Output;

    /// Its bytes; a problem whose reference takes long knows them without it.
    fn output_bytes(&self) -> usize {
        self.reference().bytes().len()
    }

    /// The grid that it wants, if `blocks` blocks of [`BLOCK`] threads fit at once.
    fn grid(&self, blocks: u32) -> Grid {
        let wanted = self.threads().div_ceil(BLOCK as usize).max(1);
        Grid { blocks: wanted.min(blocks as usize) as u32, threads: BLOCK, cluster: 1, shared: 0, resident: blocks }
    }

    /// What each byte of the output is before the run.
    fn at_first(&self) -> u8 {
        let adds = self.inputs().iter().any(|input| matches!(input, Input::Sums));
        if adds { 0 } else { POISON }
    }

    /// Runs the kernel on the CPU.
    ///
    /// # Safety
    /// `output` is valid for reads and writes of the reference's length, aligned to 16 bytes, and holds
    /// [`at_first`](Self::at_first).
    unsafe fn run(&self, output: Place);
}

/// Runs the kernel of a problem whose threads know nothing of each other.
///
/// # Safety
/// As for the kernel.
unsafe fn each_thread(problem: &dyn Problem, kernel: impl Fn()) {
    let grid = Grid { resident: 2, ..problem.grid(CPU_BLOCKS) };
    // SAFETY: by this function's contract.
    unsafe { grid.run(kernel) };
}

/// A grid of blocks in clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many blocks it has: whole clusters.
    pub blocks: u32,
    /// How many threads a block has.
    pub threads: u32,
    /// How many blocks a cluster has.
    pub cluster: u32,
    /// How many bytes of dynamic shared memory a block has.
    pub shared: u32,
    /// How many clusters run at the same time on the CPU.
    pub resident: u32,
}

impl Grid {
    /// Its launch on the CPU; none if it has no blocks.
    ///
    /// # Safety
    /// As for the kernel.
    unsafe fn run(self, kernel: impl Fn()) {
        if self.blocks > 0 {
            let launch = cpu::Launch::new(self.blocks, self.threads).cluster(self.cluster).resident(self.resident);
            let launch = launch.dynamic_shared(self.shared as usize);
            // SAFETY: by this function's contract.
            unsafe { launch.run(kernel) };
        }
    }
}

/// An argument of a problem's kernel.
pub enum Input<'a> {
    /// The address of the output.
    Output,
    /// The address of the output, to which the kernel adds: it is zero at first.
    Sums,
    /// The address of these bytes.
    Bytes(&'a [u8]),
    /// The address of so many zero bytes, for the kernel's own use.
    Scratch(usize),
    /// A number.
    Number(Number),
    /// A map of the output.
    OutputMap(Matrix),
    /// A map of a matrix that these bytes are.
    Map(&'a [u8], Matrix),
}

/// A matrix of numbers of 16 bits, row by row, and a box of it.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Its columns and rows.
    pub sizes: [usize; 2],
    /// Those of the box.
    pub tile: [u32; 2],
    /// How the box is permuted in shared memory.
    pub swizzle: Swizzle,
}

impl Matrix {
    /// Its map, of which only the encoding is missing.
    pub fn at(self, address: *const u16) -> Tiled<2> {
        let tiled = TensorMap::tiled(address, self.sizes.map(|size| size as u64), self.tile);
        tiled.format(Format::Bf16).swizzle(self.swizzle).promotion(Promotion::Bytes128)
    }
}

/// A number that a kernel takes by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number.
    U64(u64),
    /// A 32-bit float.
    F32(f32),
    /// Eight 32-bit floats.
    F32x8([f32; 8]),
}

/// An output, by its elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 64-bit numbers.
    U64(Vec<u64>),
    /// Numbers of 16 bits, by their bits.
    Bits16(Vec<u16>),
}

impl Output {
    fn bytes(&self) -> &[u8] {
        match self {
            Output::F32(elements) => bytemuck::cast_slice(elements),
            Output::U32(elements) => bytemuck::cast_slice(elements),
            Output::U64(elements) => bytemuck::cast_slice(elements),
            Output::Bits16(elements) => bytemuck::cast_slice(elements),
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        match self {
            Output::F32(elements) => elements.len(),
            Output::U32(elements) => elements.len(),
            Output::U64(elements) => elements.len(),
            Output::Bits16(elements) => elements.len(),
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
            Output::U32(expected) => compare::<u32, 4>(expected, found, u32::from_le_bytes),
            Output::U64(expected) => compare::<u64, 8>(expected, found, u64::from_le_bytes),
            Output::Bits16(expected) => compare::<u16, 2>(expected, found, u16::from_le_bytes),
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
            .fix(format_args!("read the kernel, kernels/src/{workload}.rs, and the SASS of its build")))
    }
}

/// The PTX ISA version from which on the kernels' instructions exist.
const PTX: PtxVersion = PtxVersion { major: 8, minor: 3 };

/// The folder of the kernels' crate, in which this one lies.
pub fn kernels_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is in a folder").to_owned()
}

/// Compiles all kernels that an SM has the instructions of: the file that holds their PTX.
pub fn ptx(sm: Sm, toolchain: &DeviceToolchain, progress: &Progress) -> Result<PathBuf> {
    let _step = progress.step(format!("Building the kernels for {sm}"));
    let mut build = DeviceBuild::new(kernels_folder(), "kernels", sm);
    build.ptx = Some(toolchain.default_ptx(sm).max(PTX));
    build.features.push("parameters".into());
    build.features.extend((sm >= rod::OLDEST).then(|| "cluster".into()));
    build.features.extend((sm >= gather_rows::OLDEST).then(|| "rows".into()));
    build.build(toolchain)
}

/// Compiles and assembles them: machine code for one SM.
pub fn image(sm: Sm, toolchain: &DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Vec<u8>> {
    let ptx = ptx(sm, toolchain, progress)?;
    let cubin = ptx.with_extension(format!("{sm}.cubin"));
    let assembled = tools.assembler(sm, progress)?.assemble(&ptx, sm, &cubin)?;
    let cubin = assembled.map_err(|rejected| Error::new(rejected).at(ptx.display()))?;
    read(&cubin.path)
}

/// The image of a bundle, of the kernels that a GPU has the instructions of. GPUs that differ in no instruction of theirs
/// share the PTX.
pub fn images(on: &On, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<Image>> {
    let fits = |workload: &&&dyn Workload| workload.oldest() <= on.sm;
    let kernels: Vec<String> = every().filter(fits).map(|workload| workload.name().into()).collect();
    let built_for = [Sm::new(80), rod::OLDEST, gather_rows::OLDEST].into_iter().rfind(|oldest| *oldest <= on.sm);
    let Some(built_for) = built_for else { return Ok(Vec::new()) };
    let ptx = ptx(built_for, toolchain, progress)?;
    let cubin = assembled(&String::from_utf8_lossy(&read(&ptx)?), on.sm, on)?;
    let cubin = cubin.map_err(|rejected| Error::new(rejected).at(ptx.display()))?;
    Ok(vec![Image { kernels, cubin }])
}

/// All workloads.
pub fn every() -> impl Iterator<Item = &'static &'static dyn Workload> {
    ALL.iter().chain(&ORDERED)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| Error::io("read", file, error))
}

/// Threads in a block, on the CPU too.
pub const BLOCK: u32 = 256;

/// What the output holds before the run, if the kernel does not add to it; no workload writes it.
const POISON: u8 = 0xa5;

/// Blocks at a time on the CPU, where each is a thread of the machine's while its threads wait for each other.
const CPU_BLOCKS: u32 = 64;

/// Runs a workload on the CPU and compares its output.
pub fn run_on_cpu(workload: &dyn Workload, size: usize) -> Figures {
    let problem = workload.problem(size);
    run_problem_on_cpu(workload, &*problem, &problem.reference())
}

/// Runs a workload's problem on the CPU and compares its output with this reference.
pub fn run_problem_on_cpu(workload: &dyn Workload, problem: &dyn Problem, reference: &Output) -> Figures {
    let mut output = Memory::new(reference.bytes().len(), problem.at_first());
    let place = Place::new(&mut output.words);
    let began = Instant::now();
    // SAFETY: the output has the reference's length, in 16-byte words, and holds what it should.
    unsafe { problem.run(place) };
    let seconds = began.elapsed().as_secs_f64();
    Figures::new(workload, problem, "CPU".into(), seconds, reference.compare(output.bytes()))
}

/// A problem of about so many bytes, which grow with a power of its size; and that size.
pub fn problem_of(workload: &dyn Workload, bytes: u64) -> (usize, Box<dyn Problem>) {
    let of = |size: usize| workload.problem(size).useful_bytes() as f64;
    let (small, large) = ((workload.facts().cpu_size / 8).max(1), (workload.facts().cpu_size / 4).max(2));
    let power = (of(large) / of(small)).ln() / (large as f64 / small as f64).ln();
    let toward = |size: usize, has: f64| ((size as f64 * (bytes as f64 / has).powf(1.0 / power)) as usize).max(1);
    let size = toward(large, of(large));
    let problem = workload.problem(size);
    let has = problem.useful_bytes() as f64;
    if (0.8..1.25).contains(&(has / bytes as f64)) {
        return (size, problem);
    }
    let size = toward(size, has);
    (size, workload.problem(size))
}

/// Memory that is aligned to 16 bytes.
struct Memory {
    words: Vec<u128>,
    bytes: usize,
}

impl Memory {
    fn new(bytes: usize, each: u8) -> Self {
        let words = vec![u128::from_ne_bytes([each; 16]); bytes.div_ceil(16)];
        Memory { words, bytes }
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

/// The bytes of numbers or of vectors of numbers.
fn bytes_of<T: ptx_intrinsics::element::Element>(elements: &[T]) -> &[u8] {
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
