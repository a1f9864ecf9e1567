//! Kernels that load and store through [`ptx_intrinsics`]: one source for the GPU and the CPU.
//!
//! Each kernel is a plain function of one [`Thread`]. Built for nvptx64 it is also an entry point
//! of its own name; on any other target [`executor::launch`] runs it, thread after thread.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, stdarch_nvptx))]
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

pub use thread::Thread;

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
