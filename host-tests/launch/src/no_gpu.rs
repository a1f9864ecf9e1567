//! How programs end that find no GPU to work on.

use std::process::ExitCode;

use ptx_build::error::{Error, Result};
use ptx_driver::NoGpu;

/// The exit code of a program where there is no GPU.
pub const NO_GPU: u8 = 3;

/// How every command ends that finds no GPU to work on. A GPU that fails is an error.
pub fn without(no_gpu: &NoGpu) -> Result<ExitCode> {
    if let NoGpu::Failed { .. } = no_gpu {
        return Err(Error::new(no_gpu));
    }
    eprintln!("{no_gpu}");
    Ok(ExitCode::from(NO_GPU))
}
