//! NVIDIA's driver and runtime without a GPU. A program that opens this library as `libcuda.so.1` or as `libcudart.so.13` runs on
//! a machine without a GPU: its kernels are run by `ptx-interpreter`, one after the other, and checked. `cargo ptx check --
//! COMMAND…` does that.
//!
//! What a call asks for is done before it returns, in the order of the calls. That is one of the orders that streams and events
//! allow. What they do not order and should is found all the same: each piece of work tells which memory it has used. Device memory
//! is memory of this process, each allocation apart from the others, and no address is used twice.
//!
//! Calls that are missing say so on standard error and return `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! A library that has this one in it has all of its functions, and may do a call otherwise, so that a program can be tested with a
//! GPU that fails: [`change`].

mod access;
mod allowed;
mod array;
mod arrays;
mod at_end;
mod blas;
mod call;
mod called;
mod caller;
mod calling;
mod capture;
mod changed;
mod children;
mod chosen;
mod counted;
mod device;
mod driver;
mod executable;
mod fft;
mod gpu;
mod graph;
mod graph_memory;
mod guard;
mod handle;
mod held;
mod host_access;
mod image;
mod kept;
mod launch;
mod linked;
mod management;
mod mapped;
mod memory;
mod missing_order;
mod modules;
mod objects;
mod occupancy;
mod of_gpu;
mod order;
mod ordered;
mod output;
mod perform;
mod python;
mod rand;
mod reach;
mod recent;
mod runtime;
mod seeds;
mod settings;
mod status;
mod stream;
mod texture;
mod transfer;
mod unchecked;
mod visible;
mod waiting;
mod work;
mod written;

pub use call::fail;
pub use changed::{Call, Changed, change};
