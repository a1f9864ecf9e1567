//! Graphs and stream capture, for the runtime.

use std::ffi::{c_char, c_void};

use super::error::forward;
use crate::driver::graph_exec::{Instantiation, Updated};
use crate::driver::{capture, graph as driver, graph_attribute as attribute, graph_exec as exec, user_object};
use crate::gpu::Handle;
use crate::work::HostFunction;

forward! {
    #[ptsz]
    cudaStreamBeginCapture(stream: Handle, how: u32) => capture::cuStreamBeginCapture_v2, stream, how;
    #[ptsz]
    cudaStreamBeginCaptureToGraph(
        stream: Handle,
        graph: Handle,
        after: *const Handle,
        edges: *const u64,
        count: usize,
        how: u32,
    ) => capture::cuStreamBeginCaptureToGraph, stream, graph, after, edges, count, how;
    #[ptsz]
    cudaStreamEndCapture(stream: Handle, graph: *mut Handle) => capture::cuStreamEndCapture, stream, graph;
    #[ptsz]
    cudaStreamIsCapturing(stream: Handle, status: *mut u32) => capture::cuStreamIsCapturing, stream, status;
    #[also(cudaStreamGetCaptureInfo_v3)]
    #[also_ptsz(cudaStreamGetCaptureInfo_v3_ptsz)]
    #[ptsz]
    cudaStreamGetCaptureInfo(
        stream: Handle,
        status: *mut u32,
        id: *mut u64,
        graph: *mut Handle,
        after: *mut *const Handle,
        edges: *mut *const u64,
        count: *mut usize,
    ) => capture::cuStreamGetCaptureInfo_v3, stream, status, id, graph, after, edges, count;
    #[ptsz]
    cudaStreamGetCaptureInfo_v2(
        stream: Handle,
        status: *mut u32,
        id: *mut u64,
        graph: *mut Handle,
        after: *mut *const Handle,
        count: *mut usize,
    ) => capture::cuStreamGetCaptureInfo_v2, stream, status, id, graph, after, count;
    #[also(cudaStreamUpdateCaptureDependencies_v2)]
    #[also_ptsz(cudaStreamUpdateCaptureDependencies_v2_ptsz)]
    #[ptsz]
    cudaStreamUpdateCaptureDependencies(
        stream: Handle,
        nodes: *const Handle,
        edges: *const u64,
        count: usize,
        flags: u32,
    ) => capture::cuStreamUpdateCaptureDependencies_v2, stream, nodes, edges, count, flags;
    cudaThreadExchangeStreamCaptureMode(how: *mut u32) => capture::cuThreadExchangeStreamCaptureMode, how;

    cudaGraphCreate(graph: *mut Handle, flags: u32) => driver::cuGraphCreate, graph, flags;
    cudaGraphDestroy(graph: Handle) => driver::cuGraphDestroy, graph;
    cudaGraphClone(copy: *mut Handle, graph: Handle) => driver::cuGraphClone, copy, graph;
    cudaGraphNodeFindInClone(node: *mut Handle, original: Handle, copy: Handle)
        => driver::cuGraphNodeFindInClone, node, original, copy;
    cudaGraphNodeGetType(node: Handle, kind: *mut u32) => driver::cuGraphNodeGetType, node, kind;
    cudaGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle)
        => driver::cuGraphNodeGetContainingGraph, node, graph;
    cudaGraphNodeGetLocalId(node: Handle, id: *mut u32) => driver::cuGraphNodeGetLocalId, node, id;
    cudaGraphNodeGetToolsId(node: Handle, id: *mut u64) => driver::cuGraphNodeGetToolsId, node, id;
    cudaGraphGetId(graph: Handle, id: *mut u32) => driver::cuGraphGetId, graph, id;
    cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) => driver::cuGraphGetNodes, graph, nodes, count;
    cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize)
        => driver::cuGraphGetRootNodes, graph, nodes, count;
    #[also(cudaGraphGetEdges_v2)]
    cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut u64, count: *mut usize)
        => driver::cuGraphGetEdges_v2, graph, from, to, edges, count;
    #[also(cudaGraphNodeGetDependencies_v2)]
    cudaGraphNodeGetDependencies(node: Handle, before: *mut Handle, edges: *mut u64, count: *mut usize)
        => driver::cuGraphNodeGetDependencies_v2, node, before, edges, count;
    #[also(cudaGraphNodeGetDependentNodes_v2)]
    cudaGraphNodeGetDependentNodes(node: Handle, behind: *mut Handle, edges: *mut u64, count: *mut usize)
        => driver::cuGraphNodeGetDependentNodes_v2, node, behind, edges, count;
    #[also(cudaGraphAddDependencies_v2)]
    cudaGraphAddDependencies(
        graph: Handle,
        from: *const Handle,
        to: *const Handle,
        edges: *const u64,
        count: usize,
    ) => driver::cuGraphAddDependencies_v2, graph, from, to, edges, count;
    #[also(cudaGraphRemoveDependencies_v2)]
    cudaGraphRemoveDependencies(
        graph: Handle,
        from: *const Handle,
        to: *const Handle,
        edges: *const u64,
        count: usize,
    ) => driver::cuGraphRemoveDependencies_v2, graph, from, to, edges, count;
    cudaGraphDestroyNode(node: Handle) => driver::cuGraphDestroyNode, node;
    cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32)
        => driver::cuGraphDebugDotPrint, graph, path, flags;
    cudaGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32)
        => driver::cuGraphRetainUserObject, graph, object, count, flags;
    cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: u32)
        => driver::cuGraphReleaseUserObject, graph, object, count;
    cudaUserObjectCreate(
        object: *mut Handle,
        data: *mut c_void,
        destroy: Option<HostFunction>,
        references: u32,
        flags: u32,
    ) => user_object::cuUserObjectCreate, object, data, destroy, references, flags;
    cudaUserObjectRetain(object: Handle, count: u32) => user_object::cuUserObjectRetain, object, count;
    cudaUserObjectRelease(object: Handle, count: u32) => user_object::cuUserObjectRelease, object, count;

    cudaGraphInstantiate(place: *mut Handle, graph: Handle, flags: u64)
        => exec::cuGraphInstantiateWithFlags, place, graph, flags;
    cudaGraphInstantiateWithFlags(place: *mut Handle, graph: Handle, flags: u64)
        => exec::cuGraphInstantiateWithFlags, place, graph, flags;
    #[ptsz]
    cudaGraphInstantiateWithParams(place: *mut Handle, graph: Handle, what: *mut Instantiation)
        => exec::cuGraphInstantiateWithParams, place, graph, what;
    cudaGraphExecGetFlags(executable: Handle, flags: *mut u64) => exec::cuGraphExecGetFlags, executable, flags;
    cudaGraphExecGetId(executable: Handle, id: *mut u32) => exec::cuGraphExecGetId, executable, id;
    cudaGraphExecDestroy(executable: Handle) => exec::cuGraphExecDestroy, executable;
    #[ptsz]
    cudaGraphLaunch(executable: Handle, stream: Handle) => exec::cuGraphLaunch, executable, stream;
    #[ptsz]
    cudaGraphUpload(executable: Handle, stream: Handle) => exec::cuGraphUpload, executable, stream;
    cudaGraphExecUpdate(executable: Handle, graph: Handle, what: *mut Updated)
        => exec::cuGraphExecUpdate_v2, executable, graph, what;
    cudaGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32)
        => exec::cuGraphNodeSetEnabled, executable, node, is_enabled;
    cudaGraphNodeGetEnabled(executable: Handle, node: Handle, is_enabled: *mut u32)
        => exec::cuGraphNodeGetEnabled, executable, node, is_enabled;

    cudaGraphKernelNodeGetAttribute(node: Handle, which: u32, value: *mut [u32; 16])
        => attribute::cuGraphKernelNodeGetAttribute, node, which, value;
    cudaGraphKernelNodeSetAttribute(node: Handle, which: u32, value: *const [u32; 16])
        => attribute::cuGraphKernelNodeSetAttribute, node, which, value;
    cudaGraphKernelNodeCopyAttributes(to: Handle, from: Handle)
        => attribute::cuGraphKernelNodeCopyAttributes, to, from;
}
