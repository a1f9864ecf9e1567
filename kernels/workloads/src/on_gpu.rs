//! Workloads on a GPU.

use launch::gpu::{Argument, Buffer, Gpu, Launch, Module};
use ptx_build::error::{Error, Result};

use super::{BLOCK, Comparison, Figures, Input, Matrix, Number, Output, POISON, Problem, Workload};

/// A problem, and the right output.
pub struct Prepared {
    problem: Box<dyn Problem>,
    reference: Output,
}

impl Prepared {
    /// The problem of that size. Its reference may take seconds.
    pub fn new(workload: &dyn Workload, size: usize) -> Prepared {
        let problem = workload.problem(size);
        let reference = problem.reference();
        Prepared { problem, reference }
    }

    /// Runs it on the GPU.
    pub fn run(&self, workload: &dyn Workload, gpu: &Gpu, module: &Module) -> Result<Figures> {
        run(workload, &*self.problem, &self.reference, gpu, module)
    }
}

/// Runs a workload on the GPU, times it and compares its output: that of every run, if each needs its memory made ready.
pub fn run_on_gpu(workload: &dyn Workload, size: usize, gpu: &Gpu, module: &Module) -> Result<Figures> {
    Prepared::new(workload, size).run(workload, gpu, module)
}

fn run(
    workload: &dyn Workload,
    problem: &dyn Problem,
    reference: &Output,
    gpu: &Gpu,
    module: &Module,
) -> Result<Figures> {
    let mut memory = GpuMemory::new(gpu, problem, reference.bytes().len())?;
    let grid = problem.grid(gpu.processors() * BLOCKS_PER_PROCESSOR);
    let arguments = std::mem::take(&mut memory.arguments);
    let launch = Launch {
        kernel: workload.name().into(),
        blocks: grid.blocks,
        threads: grid.threads,
        shared: grid.shared,
        arguments,
    };
    let (seconds, compared) = if memory.scratch.is_empty() && memory.at_first == POISON {
        // SAFETY: the arguments are those of the problem, whose run the CPU makes too; a run reads
        // only inputs, so the next does the same.
        let seconds = unsafe { gpu.time(module, &launch, REPETITIONS) }?;
        (seconds, reference.compare(&gpu.download(&memory.output)?))
    } else {
        time_each(gpu, module, &launch, &mut memory, reference)?
    };
    for (buffer, bytes) in &memory.inputs {
        if gpu.download(buffer)? != *bytes {
            return Err(Error::new("the kernel changed its input").at(workload.source()));
        }
    }
    Ok(Figures::new(workload, problem, gpu.name().into(), seconds, compared))
}

/// The time of a run whose memory is made ready before each, and the first wrong output or else the last.
fn time_each(
    gpu: &Gpu,
    module: &Module,
    launch: &Launch,
    memory: &mut GpuMemory<'_>,
    reference: &Output,
) -> Result<(f64, Comparison)> {
    let mut run = || -> Result<_> {
        memory.make_ready(gpu)?;
        // SAFETY: as for `run_on_gpu`, and the scratch memory and sums are zero.
        let seconds = unsafe { gpu.time_once(module, launch) }?;
        Ok((seconds, reference.compare(&gpu.download(&memory.output)?)))
    };
    // The first does not count.
    let (mut seconds, mut compared) = run()?;
    let mut total = 0.0;
    for _ in 0..READY {
        if compared.mismatches > 0 {
            return Ok((seconds, compared));
        }
        (seconds, compared) = run()?;
        total += seconds;
    }
    Ok((total / f64::from(READY), compared))
}

/// A problem on the GPU.
struct GpuMemory<'a> {
    output: Buffer,
    bytes: usize,
    at_first: u8,
    inputs: Vec<(Buffer, &'a [u8])>,
    scratch: Vec<(Buffer, usize)>,
    arguments: Vec<Argument>,
}

impl<'a> GpuMemory<'a> {
    fn new(gpu: &Gpu, problem: &'a dyn Problem, bytes: usize) -> Result<Self> {
        let at_first = problem.at_first();
        let output = gpu.upload(&vec![at_first; bytes])?;
        let (inputs, scratch, arguments) = (Vec::new(), Vec::new(), Vec::new());
        let mut memory = GpuMemory { output, bytes, at_first, inputs, scratch, arguments };
        for input in problem.inputs() {
            let argument = memory.argument(gpu, input)?;
            memory.arguments.push(argument);
        }
        Ok(memory)
    }

    fn argument(&mut self, gpu: &Gpu, input: Input<'a>) -> Result<Argument> {
        Ok(match input {
            Input::Output | Input::Sums => Argument::U64(self.output.address()),
            Input::Number(Number::U32(number)) => Argument::U32(number),
            Input::Number(Number::U64(number)) => Argument::U64(number),
            Input::Number(Number::F32(number)) => Argument::F32(number),
            Input::Number(Number::F32x8(numbers)) => Argument::F32x8(numbers),
            Input::Bytes(bytes) => {
                let buffer = gpu.upload(bytes)?;
                let address = Argument::U64(buffer.address());
                self.inputs.push((buffer, bytes));
                address
            }
            Input::OutputMap(matrix) => encoded(self.output.address(), matrix)?,
            Input::Map(bytes, matrix) => {
                let buffer = gpu.upload(bytes)?;
                let map = encoded(buffer.address(), matrix)?;
                self.inputs.push((buffer, bytes));
                map
            }
            Input::Scratch(bytes) => {
                let buffer = gpu.upload(&vec![0; bytes])?;
                let address = Argument::U64(buffer.address());
                self.scratch.push((buffer, bytes));
                address
            }
        })
    }

    /// Poisons or clears the output, and clears the scratch memory.
    fn make_ready(&mut self, gpu: &Gpu) -> Result<()> {
        gpu.refill(&mut self.output, &vec![self.at_first; self.bytes])?;
        self.scratch.iter_mut().try_for_each(|(buffer, bytes)| gpu.refill(buffer, &vec![0; *bytes]))
    }
}

/// The driver's map of a matrix at an address.
fn encoded(address: u64, matrix: Matrix) -> Result<Argument> {
    Ok(Argument::Bytes(matrix.encoded(address)?.into()))
}

impl Matrix {
    /// Its map, by the driver.
    pub fn encoded(self, address: u64) -> Result<[u8; 128]> {
        let map = self.at(std::ptr::without_provenance(address as usize)).encode_by(ptx_driver::tensor_map_tiled);
        Ok(map.map_err(Error::new)?.bytes())
    }
}

/// 2,048 threads, as many as a multiprocessor holds.
const BLOCKS_PER_PROCESSOR: u32 = 2048 / BLOCK;

const REPETITIONS: u32 = 20;

/// Of runs whose memory is made ready before each, which takes the host longer than the run takes the GPU.
const READY: u32 = 4;
