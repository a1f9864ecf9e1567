//! What the crates mean on a CPU.
//!
//! `cargo xtask test cpu` runs all of it, and `cargo xtask test copies` one module. `tests/README.md` is the map.

mod policy;
mod weakened;
mod workloads;
