//! How it is said: the only `asm!` of the crate. What is here gets pieces of text and typed operands, and knows no
//! instruction.

/// Whether instructions are cuda-oxide's markers.
pub const BY_MARKERS: bool = cfg!(ptx_by_markers);

#[macro_use]
mod instruction;
#[cfg(ptx_device)]
#[macro_use]
mod intrinsic;
#[cfg(ptx_by_markers)]
#[macro_use]
pub mod markers;
#[macro_use]
pub mod registers;
#[macro_use]
pub mod access;
#[macro_use]
pub(crate) mod load;
#[macro_use]
pub(crate) mod store;
#[macro_use]
pub(crate) mod orders;
pub(crate) mod shared;
#[macro_use]
pub(crate) mod text;
