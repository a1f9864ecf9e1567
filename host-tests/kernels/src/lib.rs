//! Kernels that load and store through [`ptx_intrinsics`]: one source for the GPU and the CPU.
//!
//! Each kernel is a plain function of one [`Thread`]. Built for nvptx64 it is also an entry point
//! of its own name; on any other target [`executor::launch`] runs it, thread after thread.
//!
//! Threads that wait for each other take a [`Block`] too, and [`executor::launch_blocks`] runs them.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch, stdarch_nvptx))]
// An array taken apart by an iterator lands in local memory on the GPU; by index it stays in registers.
#![allow(clippy::needless_range_loop)]

#[macro_use]
mod thread;
mod block;
pub mod convolve;
#[cfg(not(target_arch = "nvptx64"))]
pub mod executor;
pub mod gather;
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

pub use block::Block;
pub use thread::{Thread, whole};

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
