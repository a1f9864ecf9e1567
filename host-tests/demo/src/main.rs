//! `cargo xtask demo`.

mod show;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use demo::{Access, Assembled, compile};
#[cfg(feature = "gpu")]
use launch::gpu::Gpu;
use ptx_build::command::catch_interrupts;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::{Error, Result};
use ptx_build::program::{conclude, print};
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use serde::Serialize;
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
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

/// All that the demo shows.
#[derive(Serialize)]
struct Report {
    compiler: String,
    ptxas: String,
    ptx_target: Sm,
    ptx_version: PtxVersion,
    runs_on: String,
    kernels: Vec<Kernel>,
    seconds: f64,
}

/// A kernel, its accesses and its run.
#[derive(Serialize)]
struct Kernel {
    kernel: &'static str,
    about: &'static str,
    source: String,
    accesses: Vec<Access>,
    verified: bool,
    run: Figures,
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
        let tools = CudaTools::find(&progress)?;
        let compiled = compile::compile(&toolchain, &progress)?;
        let assembled = demo::assemble_all(&compiled, &sms, &tools, &progress)?;
        let place = place(|sm| demo::assemble(&compiled, sm, &tools, &progress))?;
        let (ptx_target, ptx_version) = compile::OLDEST;
        let mut report = Report {
            compiler: toolchain.version.clone(),
            ptxas: format!("{}.{}", tools.release.0, tools.release.1),
            ptx_target,
            ptx_version,
            runs_on: place.words(),
            kernels: Vec::new(),
            seconds: 0.0,
        };
        self.show(|| show::head(&report))?;
        for workload in chosen {
            let accesses = demo::accesses(&compiled, workload, &assembled)?;
            self.show(|| show::accesses(workload, &accesses))?;
            let kernel = kernel(workload, accesses, &place, &progress)?;
            self.show(|| show::verdict(&kernel))?;
            report.kernels.push(kernel);
        }
        report.seconds = began.elapsed().as_secs_f64();
        if self.json {
            print(&(serde_json::to_string_pretty(&report).map_err(Error::new)? + "\n"))?;
        }
        self.show(|| show::foot(&report))?;
        report.kernels.iter().try_for_each(|kernel| kernel.run.verify())
    }

    fn show(&self, text: impl FnOnce() -> String) -> Result<()> {
        if self.json { Ok(()) } else { print(&text()) }
    }
}

fn kernel(workload: &dyn Workload, accesses: Vec<Access>, place: &Place, progress: &Progress) -> Result<Kernel> {
    let step = progress.step(format!("Running {}", workload.name()));
    let run = match place {
        Place::Cpu(_) => workloads::run_on_cpu(workload, workload.facts().cpu_size),
        #[cfg(feature = "gpu")]
        Place::Gpu(gpu, image) => workloads::run_on_gpu(workload, workload.facts().gpu_size, gpu, &gpu.load(image)?)?,
    };
    drop(step);
    let (kernel, about, source) = (workload.name(), workload.facts().about, workload.source());
    Ok(Kernel { kernel, about, source, accesses, verified: run.mismatches == 0, run })
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
    let (sm, (oldest, _)) = (Sm::new(gpu.sm()), compile::OLDEST);
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
