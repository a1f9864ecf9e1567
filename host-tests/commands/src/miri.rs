//! The tests of the crate under Miri, which finds undefined behaviour and data races.

use std::process::{Command, Stdio};

/// Those whose sizes are cut for Miri. Kernels cannot run there: it does not know the stacks of the threads of a block.
pub(crate) const SELECTION: [&str; 4] =
    ["--package=ptx-intrinsics", "--features=l2-combinations", "--test=host", "--test=atomics"];

/// Whether this cargo has Miri.
pub(crate) fn is_installed(mut cargo: Command) -> bool {
    // Else rustup begins to install what is missing.
    cargo.env("RUSTUP_AUTO_INSTALL", "0").args(["miri", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().is_ok_and(|status| status.success())
}
