//! Says what became of the cache hints, orders and vectors of a GPU kernel in its machine code.
//!
//! It compares the PTX of a kernel with NVIDIA's disassembly of what the assembler made of it, line by line, or reads the
//! disassembly alone. `cargo ptx audit` runs the tools and prints the report.
//!
//! ```
//! use ptx_audit::fate::{Fate, words};
//!
//! // On sm_80 a prefetch of 256 bytes is one of 128.
//! let judged = words("ld.global.L2::256B.f32", &["LDG.E.LTC128B"], false, 80);
//! assert_eq!(judged[0].fate, Fate::Weakened("LTC128B".into()));
//! ```

pub mod budget;
pub mod fate;
pub mod finding;
pub mod page;
pub mod ptx;
pub mod report;

mod accesses;
mod advice;
mod descriptor;
mod fences;
mod kernels;
mod machine;
mod orders;
mod origin;
mod source;

pub use accesses::Access;
pub use kernels::{Code, audit, bounded};
pub use source::{Place, Text};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
