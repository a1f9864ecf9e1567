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
#[cfg(not(target_arch = "nvptx64"))]
pub mod executor;
pub mod gather;
pub mod probe;
pub mod spmv;
pub mod triad;

cfg_if::cfg_if! {
    // Shared and constant variables stand in assembler at the top of the module; rust-cuda's compiler takes none there.
    if #[cfg(not(all(target_arch = "nvptx64", feature = "rust-cuda")))] {
        mod block;
        pub mod convolve;
        pub mod histogram;
        pub mod matmul;
        pub mod ring;
        pub mod scan;

        pub use block::Block;
    }
}

cfg_if::cfg_if! {
    if #[cfg(any(not(target_arch = "nvptx64"), all(feature = "parameters", not(feature = "rust-cuda"))))] {
        pub mod polynomial;
    }
}

cfg_if::cfg_if! {
    if #[cfg(any(not(target_arch = "nvptx64"), all(feature = "cluster", not(feature = "rust-cuda"))))] {
        pub mod rod;
        pub mod stages;
    }
}

pub use thread::{Thread, whole};

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
