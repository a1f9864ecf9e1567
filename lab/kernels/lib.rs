//! The Rust half of the laboratory: kernels that measure what a hint does, one file for each group of experiments, each
//! beside its twin in CUDA C++. Those of bandwidth are the pairs of `cargo xtask parity`.
#![cfg(target_arch = "nvptx64")]
#![no_std]
#![feature(abi_ptx, asm_experimental_arch, stdarch_nvptx)]
// An array taken apart by an iterator lands in local memory on the GPU; by index it stays in registers.
#![allow(clippy::needless_range_loop)]

// Its entry points, and its panic handler.
extern crate parity;

#[macro_use]
mod place;
pub mod chase;
pub mod fill;
#[cfg(feature = "bulk")]
pub mod neighbour;
pub mod stage;
pub mod sweep;
