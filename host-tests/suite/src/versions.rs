//! What a bundle was made with.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the program and its kernels were made from and with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The crate.
    pub ptx_intrinsics: String,
    /// The commit, and whether files differed from it.
    pub commit: String,
    /// The compiler of the kernels.
    pub rustc: String,
    /// The assemblers.
    pub ptxas: Vec<String>,
}

impl fmt::Display for Versions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Versions { ptx_intrinsics, commit, rustc, ptxas } = self;
        write!(out, "ptx-intrinsics {ptx_intrinsics} ({commit}), {rustc}, ptxas {}", ptxas.join(", "))
    }
}
