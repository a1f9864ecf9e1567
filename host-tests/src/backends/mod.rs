//! Compilers of device code beside rustc's own code generator.

pub mod rust_cuda;
