//! The harness: it launches, reads and verifies what ptx-intrinsics emits. What finds toolchains and builds PTX is
//! [`ptx_build`], and what opens the driver is [`ptx_driver`].
pub mod backends;
pub mod conformance;
pub mod cost;
pub mod demo;
pub mod explain;
pub mod forms;
pub mod forms_check;
pub mod forms_list;
pub mod gpu;
pub mod lab;
pub mod litmus;
pub mod mutants;
pub mod nvdisasm;
pub mod operands;
pub mod parity;
pub mod sass;
pub mod suite;
pub mod workload;

pub use ptx_driver as driver;

pub use ptx_build::{command, cuda_tools, device_build, error, files, nvcc, progress, ptx, ptxas, target, toolchain};
