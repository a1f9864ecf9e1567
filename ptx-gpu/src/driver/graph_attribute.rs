//! Attributes of kernels in graphs.

use super::graph_node::kernel_of;
use super::launch::{CLUSTER, COOPERATIVE};
use crate::call::{calls, get, put};
use crate::gpu::{Handle, live};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Kernel, Work};

/// `CUlaunchAttributeValue`
type Value = [u32; 16];

fn value(kernel: &Kernel, which: u32) -> Value {
    let mut value = [0; 16];
    match which {
        COOPERATIVE => value[0] = u32::from(kernel.shape.is_cooperative),
        CLUSTER => value[..3].copy_from_slice(&kernel.shape.cluster),
        // They change how fast a launch is, and not what it does.
        _ => {}
    }
    value
}

fn set(node: Handle, which: u32, value: Value) -> Result {
    let mut gpu = live()?;
    let Work::Kernel(kernel) = &mut gpu.graphs.node_mut(node)?.work else { return Err(INVALID_VALUE) };
    match which {
        COOPERATIVE => kernel.shape.is_cooperative = value[0] != 0,
        CLUSTER => kernel.shape.cluster.copy_from_slice(&value[..3]),
        _ => {}
    }
    Ok(())
}

calls! {
    fn cuGraphKernelNodeGetAttribute(node: Handle, which: u32, place: *mut Value) {
        let gpu = live()?;
        put(place, value(kernel_of(&gpu.graphs.node(node)?.work).ok_or(INVALID_VALUE)?, which))
    }

    fn cuGraphKernelNodeSetAttribute(node: Handle, which: u32, place: *const Value) {
        set(node, which, get(place)?)
    }

    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        let mut gpu = live()?;
        let shape = kernel_of(&gpu.graphs.node(from)?.work).ok_or(INVALID_VALUE)?.shape;
        let Work::Kernel(kernel) = &mut gpu.graphs.node_mut(to)?.work else { return Err(INVALID_VALUE) };
        (kernel.shape.is_cooperative, kernel.shape.cluster) = (shape.is_cooperative, shape.cluster);
        Ok(())
    }
}
