//! Wrong kernels in Rust, after mistakes that projects have published and that authors make, each with its correct twin; and right ones
//! that look suspicious. With the feature `wrong` the wrong ones are compiled. `cases.txt` says how each is launched and what is to be
//! found; `//@ name` is behind the lines where the mistake of a kernel is.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![allow(
    missing_docs,
    unused_imports,
    dead_code,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "these kernels are as their authors wrote them"
)]

/// Whether the wrong kernels are compiled.
const WRONG: bool = cfg!(feature = "wrong");

mod blocks;
mod clusters;
mod common;
mod copies;
mod flags;
mod habits;
mod lines;
mod locks;
mod right;
mod right_more;
mod right_too;
mod rings;
mod rust;
mod shared;
mod stages;
mod warps;
