//! What is written: each form's instruction in PTX, its operands, and the words by which rustdoc finds it.
//!
//! `cargo xtask test text` runs all of it, and `cargo xtask test lanes` one module. `tests/README.md` is the map.

mod lanes;
mod markers;
mod search;
mod shared_ptr;
