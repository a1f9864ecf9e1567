//! `cargo ptx explain`.

use std::io::{self, Write};
use std::process::ExitCode;

use ptx_build::error::{Error, Result};
use ptx_build::explain;

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// PTX, the words in any order, or Rust: 'ld.global.nc.L2::256B.f32', 'ld_global_nc::<EvictLast, Prefetch256>()'
    #[arg(value_name = "FORM")]
    form: String,
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let page = explain::page(&explain::find(&self.form)?, &[]);
        match io::stdout().write_all(page.as_bytes()) {
            // Whoever closes the pipe has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::new(format_args!("could not write: {error}"))
                    .at("stdout")
                    .fix("see whether the disk is full"))
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}
