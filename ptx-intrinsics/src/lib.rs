//! PTX's cached loads, stores and prefetches, and the policies, atomics, fences and asynchronous copies around them, as typed
//! functions: one call is exactly one instruction.
//!
//! ```
//! use ptx_intrinsics::prelude::*;
//!
//! /// An access policy with a name: `ld.global.nc.L1::evict_last.L2::256B`.
//! const WEIGHTS: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();
//!
//! unsafe fn scale(w: *const f32, x: *const f32, y: *mut f32) {
//!     unsafe {
//!         prefetch_l2(w.add(32)); // prefetch.L2
//!         let product = WEIGHTS.read(w) * ldg(x); // ….f32, ld.global.nc.f32
//!         st_global::<Cs>().write(y, product); // st.global.cs.f32
//!     }
//! }
//! ```
//!
//! | Instruction | Made by | Used by |
//! | --- | --- | --- |
//! | `ld.global.nc` | [`ld_global_nc`] | [`read`](LdGlobalNc::read), [`read_with`](LdGlobalNc::read_with), [`read_if`](LdGlobalNc::read_if) |
//! | `ld.global` | [`ld_global`] | [`read`](LdGlobal::read), [`read_with`](LdGlobal::read_with), [`read_if`](LdGlobal::read_if) |
//! | `ld` in another space or order | [`ld`], [`ld_shared`], …, [`acquire`](LdGlobal::acquire), … | [`read`](Ld::read), [`read_if`](Ld::read_if) |
//! | `st.global` | [`st_global`] | [`write`](StGlobal::write), [`write_with`](StGlobal::write_with), [`write_if`](StGlobal::write_if) |
//! | `st` in another space or order | [`st`], [`st_shared`], …, [`release`](StGlobal::release), … | [`write`](St::write), [`write_if`](St::write_if) |
//! | both, of shared memory, at an address converted once | [`SharedPtr::new`] | [`read`](SharedPtr::read), [`write`](SharedPtr::write), … |
//! | every one of these, in PTX's own words | | [`ptx!`] |
//! | `ldu`, `atom`, `red` | | [`ptx!`] |
//! | `fence`, `membar` | | [`fence_sc`], [`fence_acq_rel`], [`fence_proxy_async`], [`membar_gl`], … |
//! | `isspacep`, `cvta`, `mapa`, `getctarank` | | [`isspacep_shared`], [`cvta_to_shared`], [`cvta_shared`], [`mapa()`], [`getctarank()`], … |
//! | `createpolicy` | | [`CachePolicy::fractional`], [`CachePolicy::range`], … |
//! | `applypriority`, `discard` | | [`applypriority_global_l2_evict_normal`], [`discard_global_l2`], … |
//! | `cp.async` | [`cp_async_ca`], [`cp_async_cg`] | [`copy`](CpAsyncCa::copy), [`copy_with`](CpAsyncCa::copy_with), [`copy_zfill`](CpAsyncCa::copy_zfill), [`cp_async_commit_group`], [`cp_async_wait_group`] |
//! | `mbarrier` | [`mbarrier_init`] | [`mbarrier_arrive`], [`mbarrier_arrive_expect_tx`], [`mbarrier_try_wait_parity`], … |
//! | `cp.async.bulk` | | [`cp_async_bulk_shared_cluster_global`], [`cp_async_bulk_global_shared`], [`cp_async_bulk_prefetch_l2`], … |
//! | `prefetch`, `prefetchu` | | [`prefetch_l1`], [`prefetch_l2`], [`prefetch_global_l2`], … |
//!
//! Functions are named after their mnemonic, and [`prelude`] has what kernels write every day. Qualifiers are in modules:
//! [`caching`], [`order`], [`scope`], [`space`]. The asynchronous families have a module each: [`cp_async`], [`cp_async_bulk`],
//! [`mbarrier`], [`fence`].
//!
//! The first type parameter of a load or store of global memory is its [`Caching`], the second of a load its
//! [`PrefetchSize`]; an [`Order`] is a method; what is moved is an [`Element`]. What is written every day is a method,
//! [`ptx!`] spells all of it. Illegal combinations, and those that the target's SM or PTX ISA version does not have, do not
//! compile, and the error says what to write or which flag to add.
//!
//! # Pointers
//!
//! All memory is addressed by Rust's own pointers, which are generic addresses: on NVIDIA GPUs the generic address of
//! global memory is its global address, and for other spaces the block converts it. [`Ld`] says what to pass in each.
//!
//! # Off the GPU
//!
//! On any other target every function has its plain meaning, on stable Rust: a read is a read, a hint is only a hint. There
//! the modules [`catalogue`], every legal form, and [`features`], what a GPU offers, can be asked too.
//!
//! # Safety
//!
//! A load or store touches the bytes of one `T` at `p`, which must be aligned to the size of `T`: the GPU faults on other
//! addresses. What else must hold stands at each function.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch, allow_internal_unstable))]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(internal_features, reason = "users of `ptx!` need no feature for its `asm!`")
)]

#[cfg(cuda_oxide_internal_backend_identity)]
compile_error!(
    "ptx-intrinsics does not work with cuda-oxide yet: there this crate is compiled as for a CPU, and every cache hint, order \
     and copy would be lost without a word. Compile the kernel with rustc for nvptx64-nvidia-cuda, or with rust-cuda"
);

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

// From the ground up: a module uses those before it alone.
#[macro_use]
mod isa;
#[macro_use]
#[doc(hidden)]
pub mod grammar;
#[macro_use]
#[doc(hidden)]
pub mod emit;
#[cfg(not(target_arch = "nvptx64"))]
mod cpu;
#[macro_use]
mod instructions;
#[cfg(not(target_arch = "nvptx64"))]
pub mod catalogue;
#[doc(hidden)]
pub mod ptx;

#[cfg(not(target_arch = "nvptx64"))]
pub use catalogue::features;
pub use isa::{gate, target};

/// How the caches treat what an access touches: the first parameter of a load or store, and the prefetch sizes of loads.
pub mod caching {
    pub use crate::isa::caching::*;
    pub use crate::isa::prefetch_size::*;
}

/// How an access is ordered among others. `Relaxed`, `Acquire` and `Release` are called as in `core::sync::atomic::Ordering`,
/// so they are not in the [`prelude`].
pub mod order {
    pub use crate::isa::order::*;
}

/// The threads that an ordered access synchronises with.
pub mod scope {
    pub use crate::isa::scope::*;
}

/// Where an address points: PTX's state spaces.
pub mod space {
    pub use crate::isa::space::*;
}

#[cfg(doc)]
#[doc = include_str!("../hints.md")]
pub mod hints {}

/// `cp.async`: copies from global to shared memory while the thread goes on, and waits for them.
pub mod cp_async {
    pub use crate::instructions::cp_async::*;
}

/// `cp.async.bulk`: copies of many bytes at once, and prefetches of tensors.
pub mod cp_async_bulk {
    pub use crate::instructions::cp_async_bulk::*;
}

/// `fence` and `membar`.
pub mod fence {
    pub use crate::instructions::fence::*;
}

/// `mbarrier`: barriers in shared memory that threads arrive at and copies complete on.
pub mod mbarrier {
    pub use crate::instructions::mbarrier::*;
}

/// What kernels write every day: `use ptx_intrinsics::prelude::*`.
///
/// Nothing here is called as something in `core::sync::atomic`. Orders are in [`order`], state spaces in [`space`], and the
/// asynchronous families have modules of their own: [`cp_async`], [`cp_async_bulk`], [`mbarrier`], [`fence`].
pub mod prelude {
    pub use crate::instructions::applypriority::*;
    pub use crate::instructions::bounds::*;
    pub use crate::instructions::createpolicy::*;
    pub use crate::instructions::cuda::*;
    pub use crate::instructions::cvta::*;
    pub use crate::instructions::discard::*;
    pub use crate::instructions::isspacep::*;
    pub use crate::instructions::ld::*;
    pub use crate::instructions::ld_global_nc::*;
    pub use crate::instructions::mapa::*;
    pub use crate::instructions::prefetch::*;
    pub use crate::instructions::shared_ptr::*;
    pub use crate::instructions::slices::*;
    pub use crate::instructions::st::*;
    pub use crate::isa::caching::*;
    pub use crate::isa::element::*;
    pub use crate::isa::policy::*;
    pub use crate::isa::prefetch_size::*;
    pub use crate::isa::scope::*;
    pub use crate::ptx;
}

pub use instructions::cp_async::*;
pub use instructions::cp_async_bulk::*;
pub use instructions::fence::*;
pub use instructions::mbarrier::*;
pub use isa::atomic::AtomicOperation;
pub use isa::order::*;
pub use isa::space::*;
pub use prelude::*;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
