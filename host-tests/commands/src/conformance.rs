//! `cargo xtask conformance`.

use host_tests::check::conformance::{self, Extent};
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::On;
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Conformance {
    /// Ask only about these GPUs: sm_80,sm_100
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sm: Vec<Sm>,
    /// Ask about a slice, which takes about a minute. Each time it is another one
    #[arg(long)]
    quick: bool,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Conformance {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
        let tools = CudaTools::find(&progress)?;
        let gpus = self.chosen(tools.every_gpu(&progress)?)?;
        let seed = host_tests::check::forms_check::seed()?;
        let extent = if self.quick { Extent::QUICK } else { Extent::Whole };
        let report = conformance::compare(&toolchain, &gpus, extent, seed, &progress)?;
        print(&report.table())?;
        if self.sm.is_empty() && !self.quick {
            report.no_reason_is_idle()?;
        }
        report.verify()
    }

    fn chosen(&self, every: Vec<On>) -> Result<Vec<On>> {
        if let Some(unknown) = self.sm.iter().find(|sm| every.iter().all(|on| on.sm != **sm)) {
            let known: Vec<String> = every.iter().map(|on| on.sm.to_string()).collect();
            let wrong = Error::new(format_args!("no assembler here knows {unknown} as a GPU of its own")).at("--sm");
            return Err(wrong.fix(format_args!("choose from {}", known.join(", "))));
        }
        Ok(every.into_iter().filter(|on| self.sm.is_empty() || self.sm.contains(&on.sm)).collect())
    }
}
