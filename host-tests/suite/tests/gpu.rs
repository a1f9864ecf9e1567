//! Every workload on the GPU of this machine, and a slice of the forms. Without one, every trial is ignored, never passed.

use host_tests::check::forms_check;
use launch::gpu::{Gpu, NoGpu};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::Result;
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_build::toolchain::{DeviceToolchain, Route};
use std::{process::ExitCode, sync::Arc};
use suite::{
    self, Plan,
    image::compile,
    kernels::{FORMS as SECTION, Kernels},
    stage::{Bench, Settings},
};
use workloads::{self, Workload};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The context belongs to this thread, and two kernels at once would spoil each other's time.
    arguments.test_threads = Some(1);
    let trials = match Gpu::find() {
        Ok(gpu) => trials(gpu, arguments.list),
        Err(no_gpu) => no_trials(&no_gpu),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A trial for each workload; the kernels are built once, unless nothing will run.
fn trials(gpu: Gpu, list: bool) -> Vec<Trial> {
    let driver = gpu.driver();
    println!("{} (sm_{}), driver {} of CUDA {}", gpu.name(), gpu.sm(), driver.path(), driver.version());
    let image = if list { Ok(Vec::new()) } else { image(&gpu) };
    let image = Arc::new(image.map_err(|error| error.to_string()));
    let gpu = Arc::new(gpu);
    let trial = |workload: &'static dyn Workload| {
        let (gpu, image) = (gpu.clone(), image.clone());
        let too_old = Sm::new(gpu.sm()) < workload.oldest();
        let trial = Trial::test(workload.name(), move || run(workload, &gpu, image.as_deref().map_err(Failed::from)?));
        trial.with_ignored_flag(too_old)
    };
    let mut trials: Vec<Trial> = workloads().map(trial).collect();
    trials.push(Trial::test(FORMS, move || forms(&gpu)));
    trials
}

const FORMS: &str = "forms";

/// A slice of the forms, drawn anew each time; `cargo xtask gpu` runs them all.
fn forms(gpu: &Gpu) -> Result<(), Failed> {
    let seed = forms_check::seed()?;
    println!("forms: seed {seed}; repeat with {}={seed}", forms_check::SEED_VARIABLE);
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let all = CudaTools::find(&progress)?.every_gpu(&progress)?;
    let on = all.iter().rfind(|on| on.sm.number / 10 == gpu.sm() / 10 && on.sm.number <= gpu.sm());
    let on = on.ok_or("no assembler here knows this GPU")?;
    let slice = suite::slice(&forms_check::every_form(), 50, seed);
    let plan = Plan::new(&slice);
    let images = compile("gpu", 0, &plan.kernels, &toolchain)?.assemble(on)?;
    let kernels = Kernels {
        set: "here".into(),
        ptx: on.version,
        sections: [(SECTION.into(), images)].into(),
        refused: [].into(),
        part: false,
    };
    let mut bench = Bench::kept(slice, kernels, Settings { seed, ..Settings::default() });
    let outcome = suite::run(&mut bench, &progress)?;
    let failures: Vec<&str> = outcome.verdicts.iter().filter_map(|(_, verdict)| verdict.failure()).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

fn workloads() -> impl Iterator<Item = &'static dyn Workload> {
    workloads::ALL.into_iter().chain(workloads::ORDERED)
}

/// The kernels as machine code for this GPU.
fn image(gpu: &Gpu) -> Result<Vec<u8>> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    workloads::image(Sm::new(gpu.sm()), &toolchain, &tools, &progress)
}

/// Workloads whose blocks wait for each other: what goes wrong only now and then has a hundred runs more to do so.
const MANY_RUNS: [&str; 2] = ["scan", "ring"];

fn run(workload: &dyn Workload, gpu: &Gpu, image: &[u8]) -> Result<(), Failed> {
    // A dev build of the harness takes minutes to make the large inputs.
    let size = if cfg!(debug_assertions) { workload.facts().cpu_size } else { workload.facts().gpu_size };
    let module = gpu.load(image)?;
    let figures = workloads::run_on_gpu(workload, size, gpu, &module)?;
    figures.verify()?;
    if MANY_RUNS.contains(&workload.name()) {
        for _ in 0..5 {
            workloads::run_on_gpu(workload, workload.facts().cpu_size, gpu, &module)?.verify()?;
        }
    }
    println!("{}: {:.1} GB/s", workload.name(), figures.gigabytes_per_second);
    Ok(())
}

/// A machine without a GPU ignores the trials; one whose driver fails fails them.
fn no_trials(no_gpu: &NoGpu) -> Vec<Trial> {
    println!("{no_gpu}");
    let broken = matches!(no_gpu, NoGpu::Failed { .. });
    let trial = |name: &str| {
        let reason = no_gpu.to_string();
        Trial::test(name, move || Err(reason.into())).with_ignored_flag(!broken)
    };
    workloads().map(|workload| trial(workload.name())).chain([trial(FORMS)]).collect()
}
