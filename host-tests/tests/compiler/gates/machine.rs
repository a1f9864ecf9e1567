//! The compiler for the GPU, and where the crates are.

use std::path::Path;

use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

pub(super) fn toolchain() -> DeviceToolchain {
    let toolchain = Route::chosen(None).and_then(|route| DeviceToolchain::find(route, &Progress::new()));
    toolchain.unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the harness is a folder of the repository")
}

pub(super) const TARGET: &str = "nvptx64-nvidia-cuda";
