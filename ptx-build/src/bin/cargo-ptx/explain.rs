//! `cargo ptx explain`.

use std::process::ExitCode;

use ptx_build::error::{Error, Result};
use ptx_build::explain;
use ptx_build::program::print;

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// PTX, the words in any order, or Rust: 'ld.global.nc.L2::256B.f32', 'ldg(p as *const u32)',
    /// 'LdGlobalNc<EvictLast, Prefetch256>'
    #[arg(value_name = "FORM")]
    form: String,
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let page = explain::page(&explain::find(&self.form).map_err(Error::new)?, &[]);
        print(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}
