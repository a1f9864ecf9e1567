//! Compiles GPU kernels in Rust to PTX, and PTX to machine code: finds or provides the toolchain, NVIDIA's assembler and
//! its disassembler.
pub mod command;
pub mod cuda_tools;
pub mod device_build;
pub mod error;
pub mod files;
pub mod nvcc;
pub mod progress;
pub mod ptx;
pub mod ptxas;
pub mod target;
pub mod toolchain;
