//! What the nodes of graphs do: kernels, copies, fills, functions of the host, graphs, events and memory.

use super::copy_box::{Cuboid, cuboid};
use super::graph::add;
use super::launch::{kernel, plain};
use super::pool::pool_place;
use crate::call::{calls, get, put};
use crate::gpu::{Function, Handle, live};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Fill, Host, HostFunction, Kernel, Shape, Transfer, Work};

/// `CUDA_KERNEL_NODE_PARAMS`. The function is a handle, or for the runtime a function of the host.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KernelNodeV1 {
    pub(crate) function: usize,
    blocks: [u32; 3],
    threads: [u32; 3],
    shared: u32,
    pointers: *const *const u8,
    extra: *const usize,
}

/// The second version.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KernelNode {
    first: KernelNodeV1,
    kernel: Handle,
    context: Handle,
}

impl KernelNodeV1 {
    pub(crate) fn work(&self, function: Handle) -> Result<Work> {
        let shape = |of: &Function| Ok(plain(self.blocks, self.threads, self.shared, of));
        let arguments = (self.pointers, self.extra);
        Ok(Work::Kernel(kernel(&*live()?, function, self.function, shape, arguments)?))
    }

    pub(crate) fn of(kernel: &Kernel, function: usize) -> KernelNodeV1 {
        let Shape { blocks, threads, shared, .. } = kernel.shape;
        let pointers = kernel.arguments.pointers();
        KernelNodeV1 { function, blocks, threads, shared, pointers, extra: std::ptr::null() }
    }
}

impl KernelNode {
    pub(super) fn work(&self) -> Result<Work> {
        let function = if self.first.function == 0 { self.kernel } else { self.first.function };
        KernelNodeV1 { function, ..self.first }.work(function)
    }

    fn of(kernel: &Kernel) -> KernelNode {
        KernelNode { first: KernelNodeV1::of(kernel, kernel.function), kernel: 0, context: 0 }
    }
}

/// Work of the first version.
pub(super) fn kernel_work(what: *const KernelNodeV1) -> Result<Work> {
    let what = get(what)?;
    what.work(what.function)
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct FillNode {
    to: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

impl FillNode {
    pub(crate) fn work(&self, call: &'static str) -> Result<Work> {
        let (to, element, pitch) = (self.to, self.element as usize, self.pitch);
        if ![1, 2, 4].contains(&element) {
            return Err(INVALID_VALUE);
        }
        let value = u64::from(self.value) & (u64::MAX >> (64 - 8 * element));
        Ok(Work::Fill(Fill { to, value, element, pitch, size: [self.width, self.height.max(1)], call }))
    }

    pub(crate) fn of(fill: &Fill) -> FillNode {
        let [width, height] = fill.size;
        let (value, element) = (fill.value as u32, fill.element as u32);
        FillNode { to: fill.to, pitch: fill.pitch, value, element, width, height }
    }
}

/// `CUDA_HOST_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct HostNode {
    function: Option<HostFunction>,
    data: usize,
}

impl HostNode {
    pub(crate) fn work(&self) -> Result<Work> {
        Ok(Work::Host(Host { function: self.function.ok_or(INVALID_VALUE)?, data: self.data, called: None }))
    }
}

/// Asks a node of a kind for what it does.
pub(crate) fn ask<T>(node: Handle, place: *mut T, answer: impl FnOnce(&Work) -> Option<T>) -> Result {
    put(place, answer(&live()?.graphs.node(node)?.work).ok_or(INVALID_VALUE)?)
}

/// Gives a node other work of its kind. What a kernel's attributes say stays.
pub(crate) fn set(node: Handle, work: Work) -> Result {
    let mut gpu = live()?;
    let work = replaced(&gpu.graphs.node(node)?.work, work)?;
    gpu.check(&work)?;
    gpu.graphs.node_mut(node)?.work = work;
    Ok(())
}

/// Work of the same kind in the place of other work.
pub(crate) fn replaced(old: &Work, new: Work) -> Result<Work> {
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(mut new)) => {
            new.shape.is_cooperative = old.shape.is_cooperative;
            new.shape.is_programmatic = old.shape.is_programmatic;
            if new.function == old.function {
                new.shape.cluster = old.shape.cluster;
            }
            Ok(Work::Kernel(new))
        }
        (old, new) if old.kind() == new.kind() => Ok(new),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn kernel_of(work: &Work) -> Option<&Kernel> {
    if let Work::Kernel(kernel) = work { Some(kernel) } else { None }
}

pub(crate) fn copy_of(work: &Work) -> Option<&Transfer> {
    if let Work::Copy(copy) = work { Some(copy) } else { None }
}

pub(crate) fn fill_of(work: &Work) -> Option<&Fill> {
    if let Work::Fill(fill) = work { Some(fill) } else { None }
}

fn host_of(work: &Work) -> Option<HostNode> {
    match work {
        Work::Host(Host { function, data, .. }) => Some(HostNode { function: Some(*function), data: *data }),
        _ => None,
    }
}

fn event_of(work: &Work) -> Option<Handle> {
    match work {
        Work::WaitEvent(event) | Work::RecordEvent(event) => Some(*event),
        _ => None,
    }
}

/// Work with an event, which has to be there.
pub(super) fn with_event(event: Handle, work: fn(Handle) -> Work) -> Result<Work> {
    live()?.event(event)?;
    Ok(work(event))
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct AllocateNode {
    pool: [u64; 11],
    access: usize,
    access_count: usize,
    bytes: usize,
    place: u64,
}

/// Where the properties of its pool say which GPU's it is.
const PLACE: usize = 1;

pub(crate) fn add_allocation(
    node: *mut Handle,
    graph: Handle,
    after: *const Handle,
    count: usize,
    what: &mut AllocateNode,
    call: &'static str,
) -> Result {
    let mut gpu = live()?;
    let of = pool_place(&gpu, what.pool[PLACE])?;
    what.place = gpu.memory.allocate_asleep(what.bytes, of, call)?;
    drop(gpu);
    add(node, graph, after, count, Work::Allocate(what.place, what.bytes))
}

calls! {
    fn cuGraphAddKernelNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const KernelNodeV1,
    ) {
        add(node, graph, after, count, kernel_work(what)?)
    }

    fn cuGraphAddKernelNode_v2(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const KernelNode,
    ) {
        add(node, graph, after, count, get(what)?.work()?)
    }

    fn cuGraphKernelNodeGetParams(node: Handle, what: *mut KernelNodeV1) {
        ask(node, what, |work| kernel_of(work).map(|kernel| KernelNodeV1::of(kernel, kernel.function)))
    }

    fn cuGraphKernelNodeGetParams_v2(node: Handle, what: *mut KernelNode) {
        ask(node, what, |work| kernel_of(work).map(KernelNode::of))
    }

    fn cuGraphKernelNodeSetParams(node: Handle, what: *const KernelNodeV1) {
        set(node, kernel_work(what)?)
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, what: *const KernelNode) {
        set(node, get(what)?.work()?)
    }

    fn cuGraphAddMemcpyNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const Cuboid,
        _context: Handle,
    ) {
        add(node, graph, after, count, cuboid(what, "cuGraphAddMemcpyNode")?)
    }

    fn cuGraphMemcpyNodeGetParams(node: Handle, what: *mut Cuboid) {
        ask(node, what, |work| copy_of(work).map(Cuboid::from))
    }

    fn cuGraphMemcpyNodeSetParams(node: Handle, what: *const Cuboid) {
        set(node, cuboid(what, "cuGraphMemcpyNodeSetParams")?)
    }

    fn cuGraphAddMemsetNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const FillNode,
        _context: Handle,
    ) {
        add(node, graph, after, count, get(what)?.work("cuGraphAddMemsetNode")?)
    }

    fn cuGraphMemsetNodeGetParams(node: Handle, what: *mut FillNode) {
        ask(node, what, |work| fill_of(work).map(FillNode::of))
    }

    fn cuGraphMemsetNodeSetParams(node: Handle, what: *const FillNode) {
        set(node, get(what)?.work("cuGraphMemsetNodeSetParams")?)
    }

    fn cuGraphAddHostNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const HostNode,
    ) {
        add(node, graph, after, count, get(what)?.work()?)
    }

    fn cuGraphHostNodeGetParams(node: Handle, what: *mut HostNode) {
        ask(node, what, host_of)
    }

    fn cuGraphHostNodeSetParams(node: Handle, what: *const HostNode) {
        set(node, get(what)?.work()?)
    }

    fn cuGraphAddChildGraphNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        child: Handle,
    ) {
        add(node, graph, after, count, Work::Child(child))
    }

    fn cuGraphChildGraphNodeGetGraph(node: Handle, graph: *mut Handle) {
        ask(node, graph, |work| if let Work::Child(child) = work { Some(*child) } else { None })
    }

    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        add(node, graph, after, count, Work::Empty)
    }

    fn cuGraphAddEventRecordNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        event: Handle,
    ) {
        add(node, graph, after, count, with_event(event, Work::RecordEvent)?)
    }

    fn cuGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle) {
        ask(node, event, event_of)
    }

    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        set(node, with_event(event, Work::RecordEvent)?)
    }

    fn cuGraphAddEventWaitNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        event: Handle,
    ) {
        add(node, graph, after, count, with_event(event, Work::WaitEvent)?)
    }

    fn cuGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle) {
        ask(node, event, event_of)
    }

    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        set(node, with_event(event, Work::WaitEvent)?)
    }

    fn cuGraphAddMemAllocNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *mut AllocateNode,
    ) {
        let mut allocate = get(what)?;
        add_allocation(node, graph, after, count, &mut allocate, "cuGraphAddMemAllocNode")?;
        put(what, allocate)
    }

    fn cuGraphMemAllocNodeGetParams(node: Handle, what: *mut AllocateNode) {
        ask(node, what, |work| match work {
            Work::Allocate(place, bytes) => {
                Some(AllocateNode { pool: [0; 11], access: 0, access_count: 0, bytes: *bytes, place: *place })
            }
            _ => None,
        })
    }

    fn cuGraphAddMemFreeNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        place: u64,
    ) {
        add(node, graph, after, count, Work::Free(place, "cuGraphAddMemFreeNode"))
    }

    fn cuGraphMemFreeNodeGetParams(node: Handle, place: *mut u64) {
        ask(node, place, |work| if let Work::Free(place, _) = work { Some(*place) } else { None })
    }
}
