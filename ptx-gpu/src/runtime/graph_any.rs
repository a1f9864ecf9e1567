//! Nodes of whatever kind, for the runtime.

use super::copy_box::cuboid;
use super::error::runtime;
use super::graph_node::kernel_of_host;
use crate::call::get;
use crate::driver::graph_any::{AnyNode, add_any};
use crate::driver::graph_exec::set_any;
use crate::driver::graph_node::set;
use crate::gpu::Handle;
use crate::status::Result;
use crate::work::Work;

/// The work of a node as the runtime describes it.
fn work(what: &AnyNode, call: &'static str) -> Result<Work> {
    what.work(kernel_of_host, cuboid, call)
}

runtime! {
    #[also(cudaGraphAddNode_v2)]
    fn cudaGraphAddNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        _edges: *const u64,
        count: usize,
        what: *mut AnyNode,
    ) {
        add_any(node, graph, after, count, what, work, "cudaGraphAddNode")
    }

    fn cudaGraphNodeSetParams(node: Handle, what: *mut AnyNode) {
        set(node, work(&get(what)?, "cudaGraphNodeSetParams")?)
    }

    fn cudaGraphExecNodeSetParams(executable: Handle, node: Handle, what: *mut AnyNode) {
        set_any(executable, node, work(&get(what)?, "cudaGraphExecNodeSetParams")?)
    }
}
