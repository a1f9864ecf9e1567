//! What rustc and LLVM do: what they refuse, what they keep, and what they make of kernels.
//!
//! `cargo xtask test compiler` runs all of it, and `cargo xtask test bounds` one module. `tests/README.md` is the map.

mod bounds;
mod effects;
mod gates;
mod host_code;
mod kernel_crate;
mod ui;
