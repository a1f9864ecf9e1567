//! Kernels that load and store through [`ptx_intrinsics`]: one source for the GPU and the CPU.
//!
//! Built for nvptx64 each is an entry point of its own name; on any other target `ptx_kernel::cpu::Launch` runs it.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]
// An array taken apart by an iterator lands in local memory on the GPU; by index it stays in registers.
#![allow(clippy::needless_range_loop)]

/// The generic address of a PTX variable, by the name of its space and its own.
#[cfg(target_arch = "nvptx64")]
macro_rules! generic_address {
    ($space:literal, $name:literal) => {{
        let address;
        // SAFETY: this takes an address, and reads nothing.
        unsafe {
            core::arch::asm!(
                "{{",
                ".reg .b64 %in_space;",
                concat!("mov.b64 %in_space, ", $name, ";"),
                concat!("cvta.", $space, ".u64 {address}, %in_space;"),
                "}}",
                address = out(reg64) address,
                options(pure, nomem, nostack),
            );
        }
        address
    }};
}

#[cfg(any(not(target_arch = "nvptx64"), feature = "cluster"))]
pub mod all_to_all;
#[cfg(any(not(target_arch = "nvptx64"), feature = "cluster"))]
pub mod column_sums;
pub mod convolve;
pub mod gather;
#[cfg(any(not(target_arch = "nvptx64"), feature = "rows"))]
pub mod gather_rows;
#[cfg(any(not(target_arch = "nvptx64"), all(feature = "cluster", not(feature = "rust-cuda"))))]
pub mod gemm;
pub mod histogram;
pub mod matmul;
#[cfg(any(not(target_arch = "nvptx64"), feature = "parameters"))]
pub mod polynomial;
pub mod probe;
pub mod ring;
#[cfg(any(not(target_arch = "nvptx64"), feature = "cluster"))]
pub mod rod;
pub mod scan;
pub mod spmv;
#[cfg(any(not(target_arch = "nvptx64"), feature = "cluster"))]
pub mod stages;
pub mod triad;
