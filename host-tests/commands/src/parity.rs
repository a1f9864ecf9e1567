//! `cargo xtask parity`.

use host_tests::check::parity::{self, TARGETS, with_times_of};
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::files::write_whole;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Parity {
    /// Compare only this kernel: triad
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Compare only for this GPU: sm_90
    #[arg(long, value_name = "SM")]
    sm: Option<String>,
    /// Write docs/parity.md instead of printing it
    #[arg(long, conflicts_with_all = ["kernel", "sm"])]
    write: bool,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Parity {
    pub(crate) fn run(self) -> Result<()> {
        let wanted = parity::select(self.kernel.as_deref())?;
        let sm = self.sm.as_deref().map(str::parse::<Sm>).transpose().map_err(|error| error.at("--sm"))?;
        let targets: Vec<_> = TARGETS.into_iter().filter(|(known, _)| sm.is_none_or(|sm| sm == *known)).collect();
        if targets.is_empty() {
            let known: Vec<_> = TARGETS.iter().map(|(sm, _)| sm.to_string()).collect();
            return Err(Error::new("the pairs are not compared on that GPU")
                .at("--sm")
                .fix(format_args!("use one of {}", known.join(" "))));
        }
        let progress = Progress::new();
        let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
        let tools = CudaTools::find(&progress)?;
        let report = parity::measure(&toolchain, &tools, &targets, &wanted, &progress)?;
        if !self.write {
            return print(&report.markdown());
        }
        // The times of an older page stay: `cargo xtask measured` writes them.
        let file = Machine::current().repository.join("docs/parity.md");
        let older = std::fs::read_to_string(&file).unwrap_or_default();
        write_whole(&file, with_times_of(&report.markdown(), &older))
    }
}
