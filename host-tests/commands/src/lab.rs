//! `cargo xtask lab`.

use std::process::ExitCode;

use host_tests::run::lab::images;
use host_tests::run::lab::program::Laboratory;
use host_tests::run::suite::program::without;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::{DeviceToolchain, Route};
use launch::gpu::Gpu;

#[derive(clap::Args)]
pub(crate) struct Lab {
    #[command(flatten)]
    laboratory: Laboratory,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Lab {
    /// Measures on the GPU of this machine.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let gpu = match Gpu::find() {
            Ok(gpu) => gpu,
            Err(no_gpu) => return without(&no_gpu),
        };
        let progress = Progress::new();
        let made_with = concat!("ptx-intrinsics ", env!("CARGO_PKG_VERSION"));
        let said = self.laboratory.run(gpu, made_with, &["lab"], |gpu| {
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
