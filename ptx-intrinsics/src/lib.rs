//! Typed PTX memory instructions.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

#[macro_use]
mod element;
#[macro_use]
mod qualifier;
#[macro_use]
mod spell;

#[cfg(not(target_arch = "nvptx64"))]
pub mod catalogue;
mod cuda;
#[cfg(not(target_arch = "nvptx64"))]
pub mod features;
#[doc(hidden)]
pub mod lanes;
mod ld;
mod ld_global_nc;
mod prefetch;
mod st;

pub use cuda::*;
pub use element::*;
pub use ld::*;
pub use ld_global_nc::*;
pub use prefetch::*;
pub use qualifier::caching::*;
pub use qualifier::policy::*;
pub use qualifier::prefetch_size::*;
pub use qualifier::target;
pub use st::*;
