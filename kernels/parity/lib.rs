//! The Rust half of the pairs that `cargo xtask parity` compares: each file is beside its twin in CUDA C++, and those
//! of `triad`, `gather`, `spmv`, `probe`, `histogram`, `matmul`, `stages`, `gemm`, `column_sums`, `all_to_all` and `gather_rows` are the worked kernels.
//! On a CPU [`ptx_kernel::cpu::Launch`] runs them.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]
// An array taken apart by an iterator lands in local memory on the GPU; by index it stays in registers.
#![allow(clippy::needless_range_loop)]

// Its entry points, and its panic handler.
extern crate kernels;

pub mod add_rms_norm;
pub mod attention;
mod block;
pub mod chase;
pub mod compact;
pub mod copy;
pub mod flash_attention;
pub mod layer_norm;
pub mod layer_norm_back;
pub mod ll128;
pub mod paged;
pub mod prefix_sum;
pub mod q4_gemv;
pub mod q8_gemv;
pub mod reduce;
pub mod relay;
pub mod rms_norm;
pub mod softmax;
pub mod stencil;
pub mod transpose;
pub mod warp_copy;
