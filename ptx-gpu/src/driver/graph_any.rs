//! Nodes of whatever kind.

use super::copy_box::cuboid;
use super::graph::add;
use super::graph_exec::set_any;
use super::graph_node::{AllocateNode, FillNode, HostNode, KernelNode, add_allocation, set, with_event};
use crate::call::{calls, get, put};
use crate::gpu::Handle;
use crate::output::note;
use crate::status::{NOT_SUPPORTED, Result};
use crate::work::Work;

/// `CUgraphNodeParams`: a kind, and what belongs to it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct AnyNode {
    kind: u32,
    reserved: [u32; 3],
    content: [u64; 29],
    reserved2: u64,
}

/// Kernels and copies, which the runtime describes by numbers of its own.
const KERNEL: u32 = 0;
const COPY: u32 = 1;
const ALLOCATE: u32 = 10;
/// The numbers before those of a copy.
const BEFORE_COPY: usize = 2;

impl AnyNode {
    /// What belongs to its kind.
    fn content<T: Copy>(&self) -> Result<T> {
        get(self.content.as_ptr().cast())
    }

    /// The work of a node; kernels and copies are described by a `K` and a `C`.
    pub(crate) fn work<K: Copy, C>(
        &self,
        kernel: impl FnOnce(&K) -> Result<Work>,
        copy: impl FnOnce(*const C, &'static str) -> Result<Work>,
        call: &'static str,
    ) -> Result<Work> {
        match self.kind {
            KERNEL => kernel(&self.content()?),
            COPY => copy(self.content[BEFORE_COPY..].as_ptr().cast(), call),
            2 => self.content::<FillNode>()?.work(call),
            3 => self.content::<HostNode>()?.work(),
            4 => Ok(Work::Child(self.content()?)),
            5 => Ok(Work::Empty),
            6 => with_event(self.content()?, Work::WaitEvent),
            7 => with_event(self.content()?, Work::RecordEvent),
            11 => Ok(Work::Free(self.content()?, call)),
            kind => {
                note(&format!("{call}: nodes of kind {kind} are missing here"));
                Err(NOT_SUPPORTED)
            }
        }
    }
}

/// The work of a node as the driver describes it.
fn work(what: &AnyNode, call: &'static str) -> Result<Work> {
    what.work(KernelNode::work, cuboid, call)
}

/// Adds a node of any kind. One that allocates says where.
pub(crate) fn add_any(
    node: *mut Handle,
    graph: Handle,
    after: *const Handle,
    count: usize,
    what: *mut AnyNode,
    work: impl FnOnce(&AnyNode, &'static str) -> Result<Work>,
    call: &'static str,
) -> Result {
    let mut any = get(what)?;
    if any.kind != ALLOCATE {
        return add(node, graph, after, count, work(&any, call)?);
    }
    let mut allocate: AllocateNode = any.content()?;
    add_allocation(node, graph, after, count, &mut allocate, call)?;
    // SAFETY: the content is longer than this.
    unsafe { any.content.as_mut_ptr().cast::<AllocateNode>().write(allocate) };
    put(what, any)
}

calls! {
    fn cuGraphAddNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *mut AnyNode,
    ) {
        add_any(node, graph, after, count, what, work, "cuGraphAddNode")
    }

    #[also(cuGraphAddNode_v3)]
    fn cuGraphAddNode_v2(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        _edges: *const u64,
        count: usize,
        what: *mut AnyNode,
    ) {
        add_any(node, graph, after, count, what, work, "cuGraphAddNode_v2")
    }

    #[also(cuGraphNodeSetParams_v2)]
    fn cuGraphNodeSetParams(node: Handle, what: *mut AnyNode) {
        set(node, work(&get(what)?, "cuGraphNodeSetParams")?)
    }

    fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, what: *mut AnyNode) {
        set_any(executable, node, work(&get(what)?, "cuGraphExecNodeSetParams")?)
    }
}
