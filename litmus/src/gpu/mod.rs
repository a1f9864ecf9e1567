//! Litmus tests as kernels, and what a GPU does with them.

pub mod kernel;
pub mod kernels;
pub mod on_gpu;
