//! `cargo xtask bundle` and `cargo xtask gpu`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use host_tests::command::Machine;
use host_tests::cuda_tools::CudaTools;
use host_tests::error::{Error, Result};
use host_tests::gpu::{Gpu, NoGpu};
use host_tests::progress::Progress;
use host_tests::suite::bundle::{GPUS, make};
use host_tests::suite::program::NO_GPU;
use host_tests::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Bundle {
    /// The folder; an older bundle in its place is replaced
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The GPUs to assemble for: 80,90; one of each generation if left out
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    sm: Vec<u32>,
    /// Where the toolchain comes from that compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Bundle {
    pub(crate) fn run(self) -> Result<()> {
        let gpus = if self.sm.is_empty() { GPUS.to_vec() } else { self.sm };
        let bytes = bundle(&self.out, &gpus, self.toolchain)?;
        crate::print(&format!("{}: {bytes} bytes; run it with {}/run\n", self.out.display(), self.out.display()))
    }
}

fn bundle(out: &std::path::Path, gpus: &[u32], toolchain: Option<Route>) -> Result<u64> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(toolchain)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    make(out, gpus, &toolchain, &tools, &progress)
}

#[derive(clap::Args)]
pub(crate) struct OnThisGpu {
    /// Where the toolchain comes from that compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// Arguments for the program: `--seed 1`, `--plan`; `--help` lists them
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

impl OnThisGpu {
    /// Makes a bundle for the GPU that is here, and runs it.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let sm = match Gpu::find() {
            Ok(gpu) => gpu.sm(),
            Err(error @ NoGpu::Failed { .. }) => return Err(Error::new(error)),
            Err(no_gpu) => {
                eprintln!("{no_gpu}");
                return Ok(ExitCode::from(NO_GPU));
            }
        };
        let folder = Machine::current().target().join("suite/bundle");
        bundle(&folder, &[sm], self.toolchain)?;
        let program = folder.join("run");
        let status = Command::new(&program).args(&self.arguments).status();
        let status = status.map_err(|error| Error::io("start", &program, error))?;
        Ok(ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)))
    }
}
