//! The harness: it launches, reads and verifies what ptx-intrinsics emits.
//!
//! A module uses those above it in this list, and itself. `tests/tools/layers.rs` holds all files to that.
pub use ptx_build as tools;

pub mod check;

pub mod show;
