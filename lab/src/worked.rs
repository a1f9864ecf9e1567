//! Experiment J: the worked kernels with and without their hints.

use super::bench::Bench;
use super::images::{Language, WORKED, Without};
use super::thresholds::Thresholds;
use super::variant::{Group, Variant, in_words};
use crate::device::{Argument, Asked, Fault, Memory};
use workloads::{self, Input, Number, Problem, Workload};

/// What is timed lasts at least so long: the clock of the driver's events has steps of half a microsecond, and a launch takes
/// some more.
const FILLED: f64 = 100e-6;

/// The most launches that fill it.
const LAUNCHES: f64 = 1000.0;

/// A problem's memory on the GPU.
struct OnGpu {
    output: Memory,
    at_first: u8,
    arguments: Vec<Argument>,
    grid: (u32, u32),
    _inputs: Vec<Memory>,
}

impl OnGpu {
    fn new(bench: &Bench<'_>, problem: &dyn Problem, output: u64) -> Asked<OnGpu> {
        let output = bench.device().allocate(output)?;
        let (mut inputs, mut arguments) = (Vec::new(), Vec::new());
        for input in problem.inputs() {
            arguments.push(match input {
                Input::Output | Input::Sums => Argument::U64(output.address),
                Input::Number(Number::U32(number)) => Argument::U32(number),
                Input::Number(Number::U64(number)) => Argument::U64(number),
                Input::Number(Number::F32(number)) => Argument::F32(number),
                Input::Number(_) | Input::OutputMap(_) | Input::Map(..) => {
                    return Err(Fault::new("a kernel takes an argument that the laboratory does not know"));
                }
                Input::Bytes(bytes) => {
                    inputs.push(bench.device().upload(bytes)?);
                    Argument::U64(inputs[inputs.len() - 1].address)
                }
                Input::Scratch(bytes) => {
                    let memory = bench.device().allocate(bytes as u64)?;
                    bench.device().fill(memory.address, 0, memory.bytes)?;
                    inputs.push(memory);
                    Argument::U64(inputs[inputs.len() - 1].address)
                }
            });
        }
        let grid = problem.grid(bench.about().processors * 8);
        let grid = (grid.blocks, grid.threads);
        Ok(OnGpu { output, at_first: problem.at_first(), arguments, grid, _inputs: inputs })
    }

    fn launch(&self, bench: &Bench<'_>, of: (Language, Without), kernel: &str) -> Asked<()> {
        // SAFETY: the arguments are those of the problem.
        unsafe { bench.launch(of, kernel, self.grid, &self.arguments) }
    }

    /// So many launches fill the time that is measured.
    fn launches(&self, bench: &Bench<'_>, of: (Language, Without), kernel: &str) -> Asked<u32> {
        self.launch(bench, of, kernel)?;
        let seconds = bench.device().time(|| self.launch(bench, of, kernel))?;
        Ok((FILLED / seconds).ceil().clamp(1.0, LAUNCHES) as u32)
    }

    /// What a kernel makes of memory as it is at first.
    fn output(&self, bench: &Bench<'_>, of: (Language, Without), kernel: &str) -> Asked<Vec<u8>> {
        bench.device().fill(self.output.address, self.at_first, self.output.bytes)?;
        self.launch(bench, of, kernel)?;
        bench.device().read(self.output.address, self.output.bytes as usize)
    }
}

pub(super) fn worked(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let all = workloads::ALL.iter().chain(&workloads::ORDERED).filter(|workload| WORKED.contains(&workload.name()));
    for workload in all {
        for times in bench.sizes(&[1u64, 2, 4, 8], &[2]) {
            let bytes = if bench.about().quick { bench.about().l2 } else { times * bench.about().l2 };
            worked_at(bench, *workload, times, bytes, group)?;
        }
    }
    Ok(())
}

fn worked_at(bench: &Bench<'_>, workload: &dyn Workload, times: u64, bytes: u64, group: &mut Group<'_>) -> Asked<()> {
    let problem = workloads::problem_of(workload, bytes).1;
    let (name, output) = (workload.name(), problem.output_bytes() as u64);
    let memory = OnGpu::new(bench, &*problem, output)?;
    let rust = Without::EACH.map(|without| (Language::Rust, without));
    let of = rust.into_iter().chain([(Language::Cuda, Without::Nothing)]);
    let profiled =
        |of: &(Language, Without)| of.0 == Language::Rust && [Without::Nothing, Without::All].contains(&of.1);
    let wanted = |of: &(Language, Without)| bench.has(of.0, of.1, name) && (profiled(of) || !bench.is_counted());
    let of: Vec<_> = of.filter(wanted).collect();
    // Hints change no value: every variant has to give what the first one gives.
    let looked_at = of.first().filter(|_| !bench.is_counted());
    let first = looked_at.map(|of| memory.output(bench, *of, name)).transpose()?;
    // As many for each variant, so that they differ in nothing else.
    let launches = match of.first() {
        Some(of) if !bench.is_counted() => memory.launches(bench, *of, name)?,
        _ => 1,
    };
    let mut variants = Vec::new();
    for (language, without) in of {
        let labels = [
            ("kernel", name.to_owned()),
            ("size", times.to_string()),
            ("language", in_words(language).to_owned()),
            ("without", without.name().to_owned()),
        ];
        let differs = match &first {
            Some(first) => memory.output(bench, (language, without), name)? != *first,
            None => false,
        };
        let memory = &memory;
        let run = move || {
            if differs {
                return Err(Fault::new("its output differs from that of the kernel with all hints"));
            }
            bench.flush()?;
            memory.launch(bench, (language, without), name)?;
            let launch = |_| memory.launch(bench, (language, without), name);
            let seconds = bench.device().time(|| (0..launches).try_for_each(launch))?;
            Ok(vec![("seconds", seconds / f64::from(launches)), ("launches", launches.into())])
        };
        let baseline = language == Language::Rust && without == Without::Nothing;
        variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(profiled(&(language, without))));
    }
    group(variants)
}
