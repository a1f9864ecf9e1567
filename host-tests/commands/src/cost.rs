//! `cargo xtask cost`.

use host_tests::show::cost;
use host_tests::tools::error::Result;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Cost {
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Cost {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
        print(&cost::measure(&toolchain, &progress)?.table())
    }
}
