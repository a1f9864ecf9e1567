//! The functions of `libcudart.so.13`, for programs that nvcc linked with `-cudart shared`.
#![allow(non_snake_case)]

mod array;
mod copy_box;
mod device;
pub(crate) mod error;
mod graph;
mod graph_any;
mod graph_node;
mod launch;
mod library;
mod memory;
mod missing;
mod pool;
mod properties;
mod register;
mod stream;
mod texture;
