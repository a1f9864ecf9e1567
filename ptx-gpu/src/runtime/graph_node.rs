//! What the nodes of graphs do, for the runtime.

use super::copy_box::{Cuboid, cuboid};
use super::error::{forward, runtime};
use super::memory::{from_symbol, sides, to_symbol};
use super::register::kernel;
use crate::call::get;
use crate::driver::copy::bytes;
use crate::driver::graph::add;
use crate::driver::graph_exec::{self as exec, set as set_in};
use crate::driver::graph_node::{
    self as driver, AllocateNode, FillNode, HostNode, KernelNodeV1, ask, copy_of, kernel_of, set,
};
use crate::gpu::Handle;
use crate::status::Result;
use crate::work::Work;

/// A kernel node's function is one of the host.
pub(super) fn kernel_of_host(what: &KernelNodeV1) -> Result<Work> {
    what.work(kernel(what.function)?)
}

runtime! {
    fn cudaGraphAddKernelNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const KernelNodeV1,
    ) {
        add(node, graph, after, count, kernel_of_host(&get(what)?)?)
    }

    fn cudaGraphKernelNodeGetParams(node: Handle, what: *mut KernelNodeV1) {
        ask(node, what, |work| kernel_of(work).map(|kernel| KernelNodeV1::of(kernel, kernel.symbol)))
    }

    fn cudaGraphKernelNodeSetParams(node: Handle, what: *const KernelNodeV1) {
        set(node, kernel_of_host(&get(what)?)?)
    }

    fn cudaGraphExecKernelNodeSetParams(executable: Handle, node: Handle, what: *const KernelNodeV1) {
        set_in(executable, node, kernel_of_host(&get(what)?)?)
    }

    fn cudaGraphAddMemcpyNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const Cuboid,
    ) {
        add(node, graph, after, count, cuboid(what, "cudaGraphAddMemcpyNode")?)
    }

    fn cudaGraphMemcpyNodeGetParams(node: Handle, what: *mut Cuboid) {
        ask(node, what, |work| copy_of(work).map(Cuboid::from))
    }

    fn cudaGraphMemcpyNodeSetParams(node: Handle, what: *const Cuboid) {
        set(node, cuboid(what, "cudaGraphMemcpyNodeSetParams")?)
    }

    fn cudaGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, what: *const Cuboid) {
        set_in(executable, node, cuboid(what, "cudaGraphExecMemcpyNodeSetParams")?)
    }

    fn cudaGraphAddMemcpyNode1D(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        to: u64,
        from: u64,
        size: usize,
        kind: u32,
    ) {
        add(node, graph, after, count, bytes(to, from, size, sides(kind)?, "cudaGraphAddMemcpyNode1D"))
    }

    fn cudaGraphMemcpyNodeSetParams1D(node: Handle, to: u64, from: u64, size: usize, kind: u32) {
        set(node, bytes(to, from, size, sides(kind)?, "cudaGraphMemcpyNodeSetParams1D"))
    }

    fn cudaGraphExecMemcpyNodeSetParams1D(
        executable: Handle,
        node: Handle,
        to: u64,
        from: u64,
        size: usize,
        kind: u32,
    ) {
        set_in(executable, node, bytes(to, from, size, sides(kind)?, "cudaGraphExecMemcpyNodeSetParams1D"))
    }

    fn cudaGraphAddMemcpyNodeToSymbol(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        to: usize,
        from: u64,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        add(node, graph, after, count, to_symbol(to, from, size, offset, "cudaGraphAddMemcpyNodeToSymbol")?)
    }

    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Handle,
        to: usize,
        from: u64,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        set(node, to_symbol(to, from, size, offset, "cudaGraphMemcpyNodeSetParamsToSymbol")?)
    }

    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        executable: Handle,
        node: Handle,
        to: usize,
        from: u64,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        set_in(executable, node, to_symbol(to, from, size, offset, "cudaGraphExecMemcpyNodeSetParamsToSymbol")?)
    }

    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        to: u64,
        from: usize,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        add(node, graph, after, count, from_symbol(to, from, size, offset, "cudaGraphAddMemcpyNodeFromSymbol")?)
    }

    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Handle,
        to: u64,
        from: usize,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        set(node, from_symbol(to, from, size, offset, "cudaGraphMemcpyNodeSetParamsFromSymbol")?)
    }

    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: Handle,
        node: Handle,
        to: u64,
        from: usize,
        size: usize,
        offset: usize,
        _kind: u32,
    ) {
        set_in(executable, node, from_symbol(to, from, size, offset, "cudaGraphExecMemcpyNodeSetParamsFromSymbol")?)
    }
}

forward! {
    cudaGraphAddMemsetNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const FillNode,
    ) => driver::cuGraphAddMemsetNode, node, graph, after, count, what, 0;
    cudaGraphMemsetNodeGetParams(node: Handle, what: *mut FillNode) => driver::cuGraphMemsetNodeGetParams, node, what;
    cudaGraphMemsetNodeSetParams(node: Handle, what: *const FillNode) => driver::cuGraphMemsetNodeSetParams, node, what;
    cudaGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, what: *const FillNode)
        => exec::cuGraphExecMemsetNodeSetParams, executable, node, what, 0;
    cudaGraphAddHostNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *const HostNode,
    ) => driver::cuGraphAddHostNode, node, graph, after, count, what;
    cudaGraphHostNodeGetParams(node: Handle, what: *mut HostNode) => driver::cuGraphHostNodeGetParams, node, what;
    cudaGraphHostNodeSetParams(node: Handle, what: *const HostNode) => driver::cuGraphHostNodeSetParams, node, what;
    cudaGraphExecHostNodeSetParams(executable: Handle, node: Handle, what: *const HostNode)
        => exec::cuGraphExecHostNodeSetParams, executable, node, what;
    cudaGraphAddChildGraphNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        child: Handle,
    ) => driver::cuGraphAddChildGraphNode, node, graph, after, count, child;
    cudaGraphChildGraphNodeGetGraph(node: Handle, graph: *mut Handle)
        => driver::cuGraphChildGraphNodeGetGraph, node, graph;
    cudaGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, graph: Handle)
        => exec::cuGraphExecChildGraphNodeSetParams, executable, node, graph;
    cudaGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize)
        => driver::cuGraphAddEmptyNode, node, graph, after, count;
    cudaGraphAddEventRecordNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        event: Handle,
    ) => driver::cuGraphAddEventRecordNode, node, graph, after, count, event;
    cudaGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle)
        => driver::cuGraphEventRecordNodeGetEvent, node, event;
    cudaGraphEventRecordNodeSetEvent(node: Handle, event: Handle)
        => driver::cuGraphEventRecordNodeSetEvent, node, event;
    cudaGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle)
        => exec::cuGraphExecEventRecordNodeSetEvent, executable, node, event;
    cudaGraphAddEventWaitNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        event: Handle,
    ) => driver::cuGraphAddEventWaitNode, node, graph, after, count, event;
    cudaGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle)
        => driver::cuGraphEventWaitNodeGetEvent, node, event;
    cudaGraphEventWaitNodeSetEvent(node: Handle, event: Handle) => driver::cuGraphEventWaitNodeSetEvent, node, event;
    cudaGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle)
        => exec::cuGraphExecEventWaitNodeSetEvent, executable, node, event;
    cudaGraphAddMemAllocNode(
        node: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        what: *mut AllocateNode,
    ) => driver::cuGraphAddMemAllocNode, node, graph, after, count, what;
    cudaGraphMemAllocNodeGetParams(node: Handle, what: *mut AllocateNode)
        => driver::cuGraphMemAllocNodeGetParams, node, what;
    cudaGraphAddMemFreeNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, place: u64)
        => driver::cuGraphAddMemFreeNode, node, graph, after, count, place;
    cudaGraphMemFreeNodeGetParams(node: Handle, place: *mut u64) => driver::cuGraphMemFreeNodeGetParams, node, place;
}
