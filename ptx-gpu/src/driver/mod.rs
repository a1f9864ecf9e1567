//! The functions of `libcuda.so.1`, as NVIDIA's manual of the driver names and describes them.
#![allow(non_snake_case)]

pub(crate) mod array;
pub(crate) mod batch;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod copy_box;
pub(crate) mod device;
pub(crate) mod entry;
pub(crate) mod fill;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod graph_any;
pub(crate) mod graph_attribute;
pub(crate) mod graph_exec;
pub(crate) mod graph_node;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod link;
pub(crate) mod memory;
mod missing;
pub(crate) mod module;
pub(crate) mod occupancy;
mod pointer;
pub(crate) mod pool;
pub(crate) mod stream;
mod stream_value;
pub(crate) mod tensor_map;
pub(crate) mod texture;
pub(crate) mod user_object;
pub(crate) mod virtual_memory;
