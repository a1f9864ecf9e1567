//! `cargo xtask bundle`, `cargo xtask rehearse` and `cargo xtask gpu`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use launch::gpu::Gpu;
use launch::no_gpu::without;
use ptx_build::command::{Machine, catch_interrupts};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::{Error, Result};
use ptx_build::program::{conclude, print};
use ptx_build::progress::Progress;
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_driver::DRIVER_VARIABLE;
use suite::bundle::{GPUS, Made, make};
use workloads::image::keep_texts;

/// Every form on a GPU
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every form on the GPU of this machine and compare every byte
    Gpu(OnThisGpu),
    /// Make a folder with a program and kernels, which does what `gpu` does on a machine with only a driver
    Bundle(Bundle),
    /// Run a bundle without a GPU: with an interpreter of PTX in its place, and small sizes
    Rehearse(Rehearse),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    catch_interrupts();
    conclude(match arguments.task {
        Task::Gpu(gpu) => gpu.run(),
        Task::Bundle(bundle) => bundle.run().map(|()| ExitCode::SUCCESS),
        Task::Rehearse(rehearse) => rehearse.run(),
    })
}

#[derive(clap::Args)]
struct Bundle {
    /// The folder. An older bundle there is replaced
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The GPUs to assemble for. Without it: 80,90,100,120
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    sm: Vec<u32>,
    /// Take one of every N parts of the kernels that try forms: a small bundle, to try bundles with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Keep the PTX of each image here, for `cargo xtask rehearse`
    #[arg(long, value_name = "FOLDER")]
    ptx: Option<PathBuf>,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Bundle {
    fn run(self) -> Result<()> {
        let gpus = if self.sm.is_empty() { GPUS.to_vec() } else { self.sm };
        if let Some(folder) = self.ptx {
            keep_texts(folder, None);
        }
        let Made { bytes, commit, contents } = bundle(&self.out, &gpus, self.sample as usize, self.toolchain)?;
        let out = self.out.display();
        print(&format!("{}\n{out}: {bytes} bytes, of {commit}; run it with {out}/run\n", contents.join("\n")))
    }
}

fn bundle(out: &Path, gpus: &[u32], sample: usize, toolchain: Option<Route>) -> Result<Made> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(toolchain)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    make(out, gpus, sample, &toolchain, &tools, &progress)
}

#[derive(clap::Args)]
struct Rehearse {
    /// The folder of the bundle
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
    /// The folder with the PTX of its images, as `cargo xtask bundle --ptx` kept it
    #[arg(value_name = "PTX")]
    ptx: PathBuf,
    /// The GPU that the driver pretends to be
    #[arg(long, value_name = "SM", default_value_t = 90)]
    sm: u32,
    /// Arguments for the program, after `--quick`: `--plan 1`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

impl Rehearse {
    /// Runs a bundle, as it is, by a driver that interprets the kernels.
    fn run(self) -> Result<ExitCode> {
        let machine = Machine::current();
        let cargo = machine.var("CARGO").unwrap_or("cargo".as_ref());
        let build = ["build", "--quiet", "--release", "--package", "fake-gpu", "--target-dir"];
        let mut cargo = Command::new(cargo);
        let built = status(cargo.args(build).arg(machine.target()).current_dir(&machine.repository), "cargo")?;
        if built != ExitCode::SUCCESS {
            return Ok(built);
        }
        let folder = |folder: &Path| std::path::absolute(folder).map_err(|error| Error::io("find", folder, error));
        let program = folder(&self.bundle)?.join("run");
        let mut run = Command::new(&program);
        run.arg("--quick").args(&self.arguments).env("FAKE_PTX", folder(&self.ptx)?);
        run.env(DRIVER_VARIABLE, machine.target().join("release/libfake_gpu.so"))
            .env("PTX_CHECK_SM", self.sm.to_string());
        status(&mut run, &program.display().to_string())
    }
}

fn status(command: &mut Command, name: &str) -> Result<ExitCode> {
    let status = command.status().map_err(|error| Error::new(format_args!("could not start {name}: {error}")))?;
    Ok(ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)))
}

#[derive(clap::Args)]
struct OnThisGpu {
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// Arguments for the program: `--seed 1`, `--plan`. `--help` lists them
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

impl OnThisGpu {
    /// Makes a bundle for the GPU that is here, and runs it.
    fn run(self) -> Result<ExitCode> {
        let sm = match Gpu::find() {
            Ok(gpu) => gpu.sm(),
            Err(no_gpu) => return without(&no_gpu),
        };
        let folder = Machine::current().target().join("suite/bundle");
        bundle(&folder, &[sm], 1, self.toolchain)?;
        let program = folder.join("run");
        status(Command::new(&program).args(&self.arguments), &program.display().to_string())
    }
}
