//! `cargo xtask lab`.

use std::process::ExitCode;

use clap::Parser;
use lab::images;
use lab::program::Laboratory;
use launch::gpu::Gpu;
use launch::no_gpu::without;
use ptx_build::command::catch_interrupts;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::{Error, Result};
use ptx_build::program::{conclude, print};
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_build::toolchain::{DeviceToolchain, Route};

/// Measure what the hints do on the GPU of this machine: experiments A to K
#[derive(Parser)]
#[command(name = "cargo xtask lab", bin_name = "cargo xtask lab")]
struct Arguments {
    #[command(flatten)]
    laboratory: Laboratory,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    catch_interrupts();
    conclude(arguments.run())
}

impl Arguments {
    /// Measures on the GPU of this machine.
    fn run(self) -> Result<ExitCode> {
        let gpu = match Gpu::find() {
            Ok(gpu) => gpu,
            Err(no_gpu) => return without(&no_gpu),
        };
        let progress = Progress::new();
        let made_with = concat!("ptx-intrinsics ", env!("CARGO_PKG_VERSION"));
        let said = self.laboratory.run(gpu, made_with, &[], |gpu| {
            let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
            let tools = CudaTools::find(&progress)?;
            let sm = Sm::new(gpu.sm());
            let on = tools.every_gpu(&progress)?.into_iter().find(|on| on.sm == sm && sm >= images::OLDEST);
            let on = on.ok_or_else(|| {
                Error::new(format_args!("the laboratory has no kernels for {sm}"))
                    .at(gpu.name())
                    .fix(format_args!("run it on a GPU of {} or newer", images::OLDEST))
            })?;
            images::images(&on, &toolchain, &tools, &progress)
        })?;
        print(&said)?;
        Ok(ExitCode::SUCCESS)
    }
}
