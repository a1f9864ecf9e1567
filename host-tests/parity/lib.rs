//! The Rust half of the pairs that `cargo xtask parity` compares: each file stands beside its twin in CUDA C++, and those
//! of `triad`, `gather`, `spmv`, `probe`, `histogram`, `matmul` and `stages` are the worked kernels.
#![cfg(target_arch = "nvptx64")]
#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_float_math, stdarch_nvptx)]
// An array taken apart by an iterator lands in local memory on the GPU; by index it stays in registers.
#![allow(clippy::needless_range_loop)]

// Its entry points, and its panic handler.
extern crate kernels;

#[macro_use]
mod block;
pub mod chase;
pub mod copy;
pub mod prefix_sum;
pub mod reduce;
pub mod rms_norm;
pub mod softmax;
pub mod stencil;
pub mod transpose;
