//! `cargo xtask demo`.

mod show;

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use clap::Parser;
use demo::{Assembled, OLDEST};
#[cfg(feature = "gpu")]
use launch::gpu::Gpu;
use ptx_build::command::catch_interrupts;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::{Error, Result};
use ptx_build::program::{conclude, print};
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_build::toolchain::{DeviceToolchain, Route};
use workloads::{Figures, Workload};

/// Show each hint of four kernels in Rust, in PTX and in machine code, then run the kernels and check every value
#[derive(Parser)]
#[command(name = "cargo xtask demo", bin_name = "cargo xtask demo")]
struct Demo {
    /// The GPUs to show machine code for
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "sm_80,sm_90,sm_100")]
    sm: Vec<String>,
    /// Show only these kernels: triad, gather, spmv, probe
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1..)]
    kernel: Vec<String>,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

/// Where the kernels run.
enum Place {
    Cpu(String),
    #[cfg(feature = "gpu")]
    Gpu(Box<Gpu>, Vec<u8>),
}

fn main() -> ExitCode {
    let demo = Demo::parse();
    catch_interrupts();
    conclude(demo.run().map(|()| ExitCode::SUCCESS))
}

impl Demo {
    fn run(self) -> Result<()> {
        let began = Instant::now();
        let sms = demo::architectures(&self.sm)?;
        let chosen = demo::workloads(&self.kernel)?;
        let progress = Progress::new();
        let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
        // What is missing of the tools is downloaded while the kernels are compiled.
        let (tools, compiled) = thread::scope(|scope| {
            let tools = scope.spawn(|| CudaTools::find(&progress));
            let compiled = demo::compile(&toolchain, &progress);
            (tools.join().expect("a panic ended the search"), compiled)
        });
        let (tools, compiled) = (tools?, compiled?);
        let folder = toolchain.machine().target().join("demo");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
        let assemble = |sm| demo::assemble(&compiled, sm, &folder, &tools, &progress);
        let assembled = thread::scope(|scope| {
            let started: Vec<_> = sms.into_iter().map(|sm| scope.spawn(move || assemble(sm))).collect();
            let assembled = started.into_iter().map(|one| one.join().expect("a panic ended an assembly"));
            assembled.collect::<Result<Vec<_>>>()
        })?;
        let place = place(assemble)?;
        let ((sm, version), (major, minor)) = (OLDEST, tools.release);
        print(&show::head([
            ("compiled", format!("{}, PTX {version} for {sm} and later", toolchain.version)),
            ("assembled", format!("ptxas {major}.{minor}")),
            ("run on", place.words()),
        ]))?;
        let (mut runs, mut shown) = (Vec::new(), 0);
        for workload in chosen {
            let accesses = demo::accesses(&compiled, workload, &assembled)?;
            shown += accesses.len();
            print(&show::accesses(workload, &accesses))?;
            let run = run(workload, &place, &progress)?;
            print(&show::verdict(&run))?;
            runs.push(run);
        }
        print(&show::foot(&runs, shown, began.elapsed().as_secs_f64()))?;
        runs.iter().try_for_each(Figures::verify)
    }
}

fn run(workload: &dyn Workload, place: &Place, progress: &Progress) -> Result<Figures> {
    let _step = progress.step(format!("Running {}", workload.name()));
    match place {
        Place::Cpu(_) => Ok(workloads::run_on_cpu(workload, workload.facts().cpu_size)),
        #[cfg(feature = "gpu")]
        Place::Gpu(gpu, image) => workloads::run_on_gpu(workload, workload.facts().gpu_size, gpu, &gpu.load(image)?),
    }
}

/// Without the way to a driver, the kernels run on the CPU.
#[cfg(not(feature = "gpu"))]
fn place(_: impl Fn(Sm) -> Result<Assembled>) -> Result<Place> {
    Ok(Place::Cpu("no GPU: this machine has none of NVIDIA's devices".to_owned()))
}

/// The GPU of this machine, if it has one that the kernels run on, with the kernels in its machine code.
#[cfg(feature = "gpu")]
fn place(assemble: impl Fn(Sm) -> Result<Assembled>) -> Result<Place> {
    let gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(no_gpu) => return Ok(Place::Cpu(no_gpu.to_string())),
    };
    let (sm, (oldest, _)) = (Sm::new(gpu.sm()), OLDEST);
    if sm < oldest {
        return Ok(Place::Cpu(format!("{} is {sm}; the kernels' hints need {oldest}", gpu.name())));
    }
    let cubin = assemble(sm)?.cubin;
    let image = std::fs::read(&cubin).map_err(|error| Error::io("read", &cubin, error))?;
    Ok(Place::Gpu(Box::new(gpu), image))
}

impl Place {
    fn words(&self) -> String {
        match self {
            // The rest says which files were looked for, and what to do about it.
            Place::Cpu(why) => format!("the CPU ({})", why.split(['(', '\n']).next().unwrap_or_default().trim_end()),
            #[cfg(feature = "gpu")]
            Place::Gpu(gpu, _) => format!("{} (sm_{})", gpu.name(), gpu.sm()),
        }
    }
}
