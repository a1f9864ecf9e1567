//! The functions of `libcuda.so.1`, as NVIDIA's manual of the driver names and describes them.
#![allow(non_snake_case)]

mod context;
mod copy;
mod copy_box;
mod device;
mod entry;
mod fill;
mod function;
mod launch;
mod library;
mod link;
mod memory;
mod missing;
mod module;
mod occupancy;
mod pointer;
mod pool;
mod stream;
