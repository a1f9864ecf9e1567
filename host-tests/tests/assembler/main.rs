//! What NVIDIA's assembler does: which spellings it takes, and the machine code that it makes.
//!
//! `cargo xtask test assembler` runs all of it, and `cargo xtask test conformance` one module. `tests/README.md` is the map.

mod audit;
mod audit_orders;
mod conformance;
mod interpreter;
mod parity;
mod sass;
mod versions;
