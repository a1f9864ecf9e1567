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
//! | `prefetch`, `prefetchu` | | [`prefetch_l1`], [`prefetch_l2`], [`prefetch_global_l2`], … |
//! | `createpolicy` | | [`CachePolicy::fractional`], [`CachePolicy::range`], … |
//! | `fence`, `membar` | | module [`mod@fence`] |
//! | `cp.async` | [`cp_async_ca`](cp_async::cp_async_ca), [`cp_async_cg`](cp_async::cp_async_cg) | module [`cp_async`] |
//! | `cp.async.bulk`, `cp.reduce.async.bulk`, and both of tensors | | module [`cp_async_bulk`] |
//! | `mbarrier` | [`mbarrier_init`](mbarrier::mbarrier_init) | module [`mbarrier`] |
//! | `applypriority`, `discard`, `cvta`, `mapa`, … | | a function with the name of its PTX: [`discard_global_l2`], [`cvta_to_shared`], … |
//!
//! A function has the name of its mnemonic. The root has the functions; qualifiers are in modules: [`caching`], [`order`],
//! [`scope`], [`space`]. Types that an instruction moves are in [`element`]. The asynchronous families have a module each:
//! [`mod@cp_async`], [`mod@cp_async_bulk`], [`mod@mbarrier`], [`mod@fence`]. The [`prelude`] has what kernels write every day.
//!
//! The first type parameter of a load or store of global memory is its caching qualifier, a [`Caching`](caching::Caching). The
//! second one of a load is its [`PrefetchSize`](caching::PrefetchSize). An [`Order`](order::Order) is a method. What is moved is an
//! [`Element`](element::Element). What is written every day is a method; [`ptx!`] spells all of it. A combination that PTX does not
//! have does not compile, and neither does one that the target's SM or PTX ISA version does not have. The error says what to write,
//! or which flag to add.
//!
//! # Pointers
//!
//! All memory is addressed by Rust's own pointers, which are generic addresses. On NVIDIA GPUs the generic address of global memory
//! is its global address. For other spaces the function converts the address. [`Ld`] says what to pass in each space.
//!
//! # On a CPU
//!
//! On any other target every function has its plain meaning, on stable Rust: a read is a read, a hint is only a hint. There, two
//! more modules exist: [`catalogue`] has every legal form, and [`features`] says what a GPU offers.
//!
//! # Safety
//!
//! A load or store touches the bytes of one `T` at `p`. `p` must be aligned to the size of `T`: the GPU faults on other addresses.
//! Each function says what else must hold.
#![no_std]
// In a build for a GPU the sentences of functions are empty, and nobody calls the macros that are in them.
#![cfg_attr(target_arch = "nvptx64", allow(unused_macros))]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(allow_internal_unstable, asm_experimental_arch, cfg_version, link_llvm_intrinsics)
)]
#![cfg_attr(target_arch = "nvptx64", cfg_attr(not(version("1.100")), feature(abi_unadjusted)))]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(internal_features, reason = "users of `ptx!` need no feature for its `asm!`")
)]

#[cfg(all(cuda_oxide_internal_backend_identity, not(ptx_by_markers)))]
compile_error!(
    "under cuda-oxide ptx-intrinsics needs its feature `cuda-oxide`: without it this crate is compiled as for a CPU, and every \
     cache hint, order and copy would be lost without a word"
);

#[cfg(not(ptx_device))]
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
#[cfg(not(ptx_device))]
mod cpu;
/// What an executor of kernels gives to the instructions, and they to it.
#[cfg(not(ptx_device))]
#[doc(hidden)]
pub mod on_cpu {
    pub use crate::cpu::copies::Copies;
    pub use crate::cpu::matrix;
    pub use crate::cpu::odd::{odd, odd_sum};
    pub use crate::cpu::tensor;
    pub use crate::cpu::thread::{Brought, Coming, Find, Thread, run_by};
}
#[macro_use]
mod instructions;
#[cfg(not(ptx_device))]
pub mod catalogue;
#[doc(hidden)]
pub mod ptx;

#[cfg(not(ptx_device))]
pub use catalogue::features;
pub use isa::{gate, specific, target};

/// How the caches treat what an access touches: the first parameter of a load or store, the prefetch sizes of loads, and cache
/// policies. All of it is in the [`prelude`].
pub mod caching {
    pub use crate::instructions::createpolicy::*;
    pub use crate::instructions::ld::LdGlobalCaching;
    pub use crate::instructions::ld_global_nc::LdGlobalNcCaching;
    pub use crate::instructions::prefetch::PrefetchPriority;
    pub use crate::instructions::st::StGlobalCaching;
    pub use crate::isa::caching::*;
    pub use crate::isa::policy::*;
    pub use crate::isa::prefetch_size::*;
}

/// What one instruction moves: vectors, untyped bits, and the bounds of generic functions. All of it is in the [`prelude`].
pub mod element {
    pub use crate::instructions::bounds::*;
    pub use crate::isa::element::*;
}

/// How an access is ordered among others. `Relaxed`, `Acquire` and `Release` are types that have the names of values in
/// `core::sync::atomic::Ordering`. The [`prelude`] has them, and this module.
pub mod order {
    pub use crate::isa::order::*;
}

/// The threads that an ordered access synchronizes with. All of it is in the [`prelude`].
pub mod scope {
    pub use crate::isa::scope::*;
}

/// Where an address points: PTX's state spaces, and pointers to shared memory. The spaces are in the [`prelude`].
pub mod space {
    pub use crate::instructions::shared_ptr::*;
    pub use crate::isa::space::*;
}

#[cfg(doc)]
#[doc = include_str!("../hints.md")]
pub mod hints {}

#[cfg(doc)]
#[doc = include_str!("../assemblers.md")]
pub mod assemblers {}

/// `clusterlaunchcontrol`: takes over the work of clusters of the grid that have not begun.
pub mod clusterlaunchcontrol {
    pub use crate::instructions::clusterlaunchcontrol::*;
}

/// `cp.async`: copies from global to shared memory while the thread goes on, and waits for them.
pub mod cp_async {
    pub use crate::instructions::cp_async::*;
}

/// `cp.async.bulk`: copies of many bytes at once, and of boxes of tensors. `cp.reduce.async.bulk`: reductions of many values.
pub mod cp_async_bulk {
    pub use crate::instructions::coordinates::*;
    pub use crate::instructions::cp_async_bulk::*;
    pub use crate::instructions::cp_async_bulk_tensor::*;
    pub use crate::instructions::cp_reduce_async_bulk::*;
    pub use crate::instructions::cta_group::*;
    pub use crate::instructions::tensormap_replace::*;
}

/// `fence` and `membar`.
pub mod fence {
    pub use crate::instructions::fence::*;
}

/// `mbarrier`: barriers in shared memory that threads arrive at and copies complete on.
pub mod mbarrier {
    pub use crate::instructions::mbarrier::*;
}

pub use instructions::root::*;

/// What kernels write every day: `use ptx_intrinsics::prelude::*`.
///
/// It has every name at the root of the crate, what is in [`caching`], [`element`] and [`scope`], the state spaces of
/// [`space`], and the orders of [`order`]: `Ld<Global, Acquire<Gpu>>`. In a file that also has
/// `use core::sync::atomic::Ordering::*`, write `order::Acquire<Gpu>` for the type. The asynchronous families have modules of
/// their own: [`cp_async`], [`cp_async_bulk`], [`mbarrier`], [`fence`].
pub mod prelude {
    pub use crate::caching::*;
    pub use crate::element::*;
    pub use crate::instructions::no_method::HintsAreParameters as _;
    pub use crate::instructions::root::*;
    pub use crate::isa::order::{Acquire, Mmio, Relaxed, Release, Volatile, Weak};
    pub use crate::isa::space::{Const, Generic, Global, Local, ParamEntry, ParamFunc, Shared, SharedCluster};
    pub use crate::order;
    pub use crate::ptx;
    pub use crate::scope::*;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
