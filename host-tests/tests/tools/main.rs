//! The harness's own tools, and the shape of the sources.
//!
//! `cargo xtask test tools` runs all of it, and `cargo xtask test demo` one module. `tests/README.md` is the map.

mod demo;
mod layers;
