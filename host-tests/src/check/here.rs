//! The tools of this machine, for tests: what is missing is a panic that says what to do.

use std::fmt::Display;
use std::sync::LazyLock;

use crate::tools::cuda_tools::CudaTools;
use crate::tools::error::Result;
use crate::tools::progress::Progress;
use crate::tools::toolchain::{DeviceToolchain, Route};

/// The value, or a panic with the error's own words.
pub fn or_panic<T, E: Display>(result: std::result::Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// NVIDIA's tools, found once.
pub fn tools() -> &'static CudaTools {
    static TOOLS: LazyLock<Result<CudaTools>> = LazyLock::new(|| CudaTools::find(&Progress::new()));
    or_panic(TOOLS.as_ref())
}

/// The toolchain that was chosen, found once.
pub fn toolchain() -> DeviceToolchain {
    static TOOLCHAIN: LazyLock<Result<DeviceToolchain>> =
        LazyLock::new(|| DeviceToolchain::find(Route::chosen(None)?, &Progress::kept()));
    or_panic(TOOLCHAIN.as_ref()).clone()
}
