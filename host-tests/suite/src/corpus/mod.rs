//! The corpus of wrong kernels and their correct twins, `ptx-interpreter/tests/corpus`, on a GPU: what each kernel does there, and
//! what NVIDIA's tools see of it.

pub mod bare;
pub mod case;
pub mod launched;
pub mod log;
pub mod make;
pub mod order;
pub mod processes;
pub mod sanitized;

/// The rows of the sources, as the tests of `ptx-interpreter` read them.
#[allow(dead_code)]
#[path = "../../../../ptx-interpreter/tests/pairs/mod.rs"]
mod pairs;
