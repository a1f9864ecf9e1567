//! The compiler for the GPU, and where the crates are.

use std::path::Path;

pub(super) use host_tests::check::here::toolchain;

pub(super) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the harness is a folder of the repository")
}

pub(super) const TARGET: &str = "nvptx64-nvidia-cuda";
