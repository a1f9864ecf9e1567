//! What is written: accesses through pointers, the calls of cuda-oxide's markers, and the words by which rustdoc finds a form.
//!
//! `cargo xtask test text` runs all of it, and `cargo xtask test search` one module. `tests/README.md` is the map.

mod markers;
mod search;
mod shared_ptr;
