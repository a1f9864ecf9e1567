//! `cargo xtask explain`.

use std::process::ExitCode;

use console::style;
use host_tests::show::explain;
use host_tests::tools::error::Result;
use host_tests::tools::program::print;
use ptx_intrinsics::catalogue::Form;

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// Forms, each as PTX, the words in any order, or Rust: 'ld.global.nc.L2::256B.f32', 'ldg(p as *const u32)',
    /// 'LdGlobalNc<EvictLast, Prefetch256>'
    #[arg(value_name = "FORM", required = true)]
    forms: Vec<String>,
}

impl Explain {
    /// Ends with 2 if one is no form.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.forms.iter().map(|text| explain::find(text)).collect::<std::result::Result<Vec<Form>, _>>() {
            Ok(forms) => print(&explain::explain(&forms)?.join("\n")).map(|()| ExitCode::SUCCESS),
            Err(misspelt) => {
                eprintln!("{} {misspelt}", style("error:").red().bold().for_stderr());
                Ok(ExitCode::from(2))
            }
        }
    }
}
