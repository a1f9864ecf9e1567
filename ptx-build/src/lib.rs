//! Compiles GPU kernels in Rust to PTX, in the build script of the program that launches them.
//!
//! ```no_run
//! // In build.rs:
//! ptx_build::kernels("../kernels").sm(80).sm(90).ptx_isa(80).build();
//! ```
//!
//! It uses the active toolchain, if that has the source of `core` (`rustup component add rust-src`), or another one of
//! rustup's that has it. Stable toolchains work. If a CUDA toolkit is installed, its `ptxas` reads the PTX at once. If `ptxas`
//! refuses it, the build ends with that error. If a kernel spills registers, the build prints a warning. It prints one too if an
//! array of a kernel is in local memory, which the PTX shows without an assembler, and if launch bounds would bring more of a kernel's
//! loads into flight, which its `nvdisasm` shows.
//!
//! [`device_build`] and the other modules do the work. The harness of `ptx-intrinsics` is built on them.
pub mod assemblers;
pub mod cccl;
pub mod command;
pub mod core_library;
pub mod cuda_tools;
pub mod device_build;
pub mod disassembler;
pub mod error;
#[cfg(feature = "cli")]
pub mod explain;
pub mod files;
mod kernels;
mod launch_bounds;
pub mod nvcc;
mod profile;
pub mod program;
pub mod progress;
pub mod ptx;
pub mod ptxas;
pub mod resources;
pub mod shared_rows;
mod shared_variables;
mod source_lines;
pub mod target;
pub mod toolchain;

pub use kernels::{Image, Kernels, kernels};
