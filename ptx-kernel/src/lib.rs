//! What a GPU kernel needs around its instructions: an entry point, the place of a thread, barriers, shared memory, warp
//! shuffles, fast arithmetic. One source runs on a GPU and on a CPU.
//!
//! ```
//! use ptx_intrinsics::prelude::*;
//! use ptx_kernel::*;
//!
//! kernel! {
//!     /// Computes `y[i] += a * x[i]`.
//!     ///
//!     /// # Safety
//!     /// `x` and `y` point at `n` elements, and nobody else touches `y`.
//!     #[launch_bounds(256)]
//!     pub unsafe fn axpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
//!         let mut i = global_index();
//!         while i < n {
//!             // SAFETY: `i` is below `n`.
//!             unsafe {
//!                 let x = ld_global_nc::<NoAllocate, NoPrefetch>().read(x.add(i as usize));
//!                 let y = y.add(i as usize);
//!                 *y = mul_add(a, x, *y);
//!             }
//!             i += global_size();
//!         }
//!     }
//! }
//!
//! // On a CPU, as in a test:
//! let (x, mut y) = (vec![1.0; 1000], vec![0.5; 1000]);
//! let (from, to) = (x.as_ptr(), y.as_mut_ptr());
//! // SAFETY: both have 1,000 elements.
//! unsafe { cpu::Launch::new(4, 256).run(|| axpy(1000, 2.0, from, to)) };
//! assert!(y.iter().all(|&y| y == 2.5));
//! ```
//!
//! A crate of kernels begins with `#![cfg_attr(target_arch = "nvptx64", no_std)]`. Built for `nvptx64-nvidia-cuda`, each
//! [`kernel!`] is an entry point of its own name. On any other target it is a function, and [`cpu::Launch`] runs it.
//!
//! | To | Write |
//! | --- | --- |
//! | define a kernel, with launch bounds | [`kernel!`] |
//! | know where a thread is | [`global_index`], [`thread_idx_x`], [`block_idx_x`], [`lane_id`], … |
//! | read another special register | [`smid`], [`warpid`], [`lanemask_lt`], [`clusterid_x`], [`dynamic_smem_size`], … |
//! | wait for the threads of a block, a warp, a cluster | [`sync_threads`], [`sync_warp`], [`sync_cluster`] |
//! | use shared memory | [`shared!`], [`dynamic_shared`] |
//! | exchange values in a warp | [`shuffle_xor`], [`shuffle_down`], [`ballot`], …; [`Lanes`] for a part of it |
//! | add up, find the least or the greatest, or scan | in a warp [`warp_sum`], [`warp_min`], [`warp_inclusive_sum`], …; in a block [`block_sum`], [`block_max`], [`block_exclusive_sum`], … |
//! | calculate as the GPU does | [`mul_add`], [`rsqrt_approx`], [`exp2_approx`], [`dp4a`], [`pack_bf16x2`], [`fma_bf16x2`], [`f32_to_f16`], [`exp2_approx_f16x2`], … |
//! | permute bytes, find bits | [`prmt`], [`bfind_u32`], [`bmsk_clamp`], … |
//! | multiply matrices by a warp | [`matrix`] |
//! | describe a tensor to a copy of boxes of it | [`TensorMap`] |
//! | find what such a copy has permuted | [`swizzle_32`], [`swizzle_64`], [`swizzle_128`] |
//! | put several iterations of a loop into one | [`unrolled`] |
//! | index an array that is to stay in registers | [`unroll!`] |
//! | wait in a loop for another block | [`pause`] |
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", cfg_attr(not(version("1.100")), feature(abi_unadjusted)))]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        allow_internal_unstable,
        asm_experimental_arch,
        cfg_version,
        const_type_name,
        core_float_math,
        f16,
        link_llvm_intrinsics,
        repr_simd,
        simd_ffi,
        stdarch_nvptx
    )
)]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(internal_features, reason = "only LLVM's intrinsics say that all threads come along; users need no feature")
)]

const _: () = assert!(
    !ptx_intrinsics::emit::BY_MARKERS,
    "ptx-kernel does not work with cuda-oxide, where it would be compiled as for a CPU: use the entries, indices and barriers \
     of cuda-device"
);

// rust-cuda has a rustc of its own. A stable rustc, on a CPU, does not take `version`.
#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[cfg_attr(target_arch = "nvptx64", cfg(not(any(version("1.97"), ptx_calls_are_kept))))]
compile_error!(
    "ptx-kernel needs Rust 1.97 or later for a GPU: older ones copy barriers, shuffles and votes into branches that only some \
     threads take; install a newer Rust (`rustup update`), or build with ptx-build, which takes release 1.96 too"
);

/// The names of functions that not every GPU has, for error messages.
macro_rules! gated {
    ($($name:ident)*) => { $(
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "error messages print it as the function that the user calls")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
    )* };
}

mod block;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
#[cfg(target_arch = "nvptx64")]
mod float;
#[cfg(not(target_arch = "nvptx64"))]
#[macro_use]
mod im2col;
#[cfg(not(target_arch = "nvptx64"))]
mod im2col_wide;
mod index;
mod kernel;
#[macro_use]
mod math;
mod bits;
// libnvvm has names of its own for these.
mod fp8;
#[cfg(not(all(target_arch = "nvptx64", feature = "rust-cuda")))]
pub mod matrix;
#[cfg(target_arch = "nvptx64")]
mod no_std;
mod packed;
mod reduce;
mod shared;
mod shuffle;
mod special;
mod sync;
mod tensor;
#[cfg(not(target_arch = "nvptx64"))]
mod tiled;
mod unroll;
mod vote;

#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub use float::*;
/// The GPUs and PTX ISA versions that errors name. (rustc writes them without a path if a crate that the user names has them.)
pub mod target {
    #[doc(no_inline)]
    pub use ptx_intrinsics::target::*;
}

pub use bits::*;
pub use block::*;
pub use fp8::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use im2col::Im2col;
#[cfg(not(target_arch = "nvptx64"))]
pub use im2col_wide::Im2colWide;
pub use index::*;
pub use kernel::KernelArgument;
pub use math::*;
pub use packed::*;
pub use reduce::*;
pub use shared::{dynamic_shared, shared_of};
pub use shuffle::{Lanes, Shuffled, shuffle, shuffle_down, shuffle_up, shuffle_xor};
pub use special::*;
pub use sync::*;
pub use tensor::{TensorMap, swizzle_32, swizzle_64, swizzle_128};
#[cfg(not(target_arch = "nvptx64"))]
pub use tiled::{Fill, Format, Interleave, Promotion, Swizzle, TensorElement, TensorMapError, Tiled};
pub use unroll::*;
pub use vote::*;

#[cfg(all(target_arch = "nvptx64", feature = "panic-handler", not(feature = "rust-cuda")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel, and the host sees an error.
    unsafe { core::arch::nvptx::trap() }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What the macros name.
#[doc(hidden)]
pub mod __private {
    pub use ptx_intrinsics::SharedPtr;

    #[cfg(target_arch = "nvptx64")]
    pub use crate::kernel::{Constant, count};
    pub use crate::kernel::{argument, blocks, cluster, number, threads};
    #[cfg(target_arch = "nvptx64")]
    pub use crate::shared::unique;
}
