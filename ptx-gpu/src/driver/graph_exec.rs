//! Graphs that can be launched.

use std::ffi::c_char;
use std::sync::Arc;

use super::copy_box::{Cuboid, cuboid};
use super::graph_node::{FillNode, HostNode, KernelNode, KernelNodeV1, kernel_work, replaced, with_event};
use super::user_object;
use crate::call::{calls, get, put, put_if};
use crate::executable::{Executable, Refused, unlike};
use crate::gpu::{Gpu, Handle, live};
use crate::handle;
use crate::perform;
use crate::status::{GRAPH_UPDATE_FAILURE, INVALID_HANDLE, INVALID_VALUE, Result};
use crate::work::Work;

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Instantiation {
    flags: u64,
    stream: Handle,
    node: Handle,
    result: u32,
}

/// `CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE`
const INVALID_STRUCTURE: u32 = 2;

/// `CUgraphExecUpdateResultInfo`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Updated {
    result: u32,
    node: Handle,
    from: Handle,
}

/// Frees on launch, uploads, may be launched by the GPU, uses priorities.
const FLAGS: u64 = 0b1111;

/// Two of them that exclude each other: a graph that the GPU launches does not free.
const EITHER: u64 = 0b0101;

/// Makes a graph one that can be launched.
pub(crate) fn instantiate(place: *mut Handle, graph: Handle, flags: u64) -> Result {
    if flags & !FLAGS != 0 || flags & EITHER == EITHER {
        return Err(INVALID_VALUE);
    }
    let mut gpu = live()?;
    gpu.is_unsafe()?;
    let executable = gpu.graphs.instantiate(graph, flags)?;
    for object in &executable.objects {
        user_object::hold(*object, 1)?;
    }
    let handle = handle::next();
    gpu.executables.insert(handle, Arc::new(executable));
    put(place, handle)
}

fn instantiate_with(place: *mut Handle, graph: Handle, what: *mut Instantiation) -> Result {
    let mut asked = get(what)?;
    let made = instantiate(place, graph, asked.flags);
    asked.result = if made.is_ok() { 0 } else { INVALID_STRUCTURE };
    put(what, asked)?;
    made
}

fn changed(gpu: &mut Gpu, executable: Handle) -> Result<&mut Executable> {
    gpu.executables.get_mut(&executable).map(Arc::make_mut).ok_or(INVALID_HANDLE)
}

/// Gives one step other work of its kind.
pub(crate) fn set(executable: Handle, node: Handle, work: Work) -> Result {
    let mut gpu = live()?;
    gpu.check(&work)?;
    let step = changed(&mut gpu, executable)?.step(node)?;
    let work = replaced(&step.work, work)?;
    if unlike(&step.work, &work).is_some() {
        return Err(INVALID_VALUE);
    }
    step.work = work;
    Ok(())
}

fn update(executable: Handle, graph: Handle) -> Result<std::result::Result<(), Refused>> {
    let mut gpu = live()?;
    let other = gpu.graphs.instantiate(graph, 0)?;
    Ok(changed(&mut gpu, executable)?.update(&other))
}

fn update_child(executable: Handle, node: Handle, graph: Handle) -> Result {
    let mut gpu = live()?;
    let other = gpu.graphs.instantiate(graph, 0)?;
    let step = changed(&mut gpu, executable)?.step(node)?;
    let child = step.child.as_mut().ok_or(INVALID_VALUE)?;
    child.update(&other).map_err(|_| INVALID_VALUE)
}

/// The same for work of any kind.
pub(crate) fn set_any(executable: Handle, node: Handle, work: Work) -> Result {
    match work {
        Work::Child(graph) => update_child(executable, node, graph),
        work => set(executable, node, work),
    }
}

/// Only kernels, copies and fills can be left out.
fn can_be_disabled(work: &Work) -> bool {
    matches!(work, Work::Kernel(_) | Work::Copy(_) | Work::Fill(_))
}

calls! {
    #[also(cuGraphInstantiate_v2)]
    fn cuGraphInstantiate(
        place: *mut Handle,
        graph: Handle,
        node: *mut Handle,
        _log: *mut c_char,
        _room: usize,
    ) {
        put_if(node, 0)?;
        instantiate(place, graph, 0)
    }

    fn cuGraphInstantiateWithFlags(place: *mut Handle, graph: Handle, flags: u64) {
        instantiate(place, graph, flags)
    }

    #[ptsz]
    fn cuGraphInstantiateWithParams(place: *mut Handle, graph: Handle, what: *mut Instantiation) {
        instantiate_with(place, graph, what)
    }

    fn cuGraphExecGetFlags(executable: Handle, flags: *mut u64) {
        put(flags, live()?.executables.get(&executable).ok_or(INVALID_HANDLE)?.flags)
    }

    fn cuGraphExecGetId(executable: Handle, id: *mut u32) {
        live()?.executables.get(&executable).ok_or(INVALID_HANDLE)?;
        put(id, executable as u32)
    }

    fn cuGraphExecDestroy(executable: Handle) {
        let mut gpu = live()?;
        let gone = gpu.executables.remove(&executable).ok_or(INVALID_VALUE)?;
        gpu.order.forget_executable(executable);
        drop(gpu);
        gone.objects.iter().for_each(|object| user_object::let_go(*object, 1));
        Ok(())
    }

    #[ptsz]
    fn cuGraphLaunch(executable: Handle, stream: Handle) {
        perform::launch(executable, stream)
    }

    #[ptsz]
    fn cuGraphUpload(executable: Handle, stream: Handle) {
        let mut gpu = live()?;
        gpu.enter_only(stream)?;
        gpu.executables.get(&executable).map(drop).ok_or(INVALID_HANDLE)
    }

    fn cuGraphExecUpdate(executable: Handle, graph: Handle, node: *mut Handle, result: *mut u32) {
        let updated = update(executable, graph)?;
        let (why, at) = updated.as_ref().map_or_else(|refused| (refused.why, refused.node), |()| (0, 0));
        put_if(result, why)?;
        put_if(node, at)?;
        updated.map_err(|_| GRAPH_UPDATE_FAILURE)
    }

    fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, what: *mut Updated) {
        let updated = update(executable, graph)?;
        let (result, node) = updated.as_ref().map_or_else(|refused| (refused.why, refused.node), |()| (0, 0));
        put(what, Updated { result, node, from: 0 })?;
        updated.map_err(|_| GRAPH_UPDATE_FAILURE)
    }

    fn cuGraphExecKernelNodeSetParams(executable: Handle, node: Handle, what: *const KernelNodeV1) {
        set(executable, node, kernel_work(what)?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, what: *const KernelNode) {
        set(executable, node, get(what)?.work()?)
    }

    fn cuGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, what: *const Cuboid, _context: Handle) {
        set(executable, node, cuboid(what, "cuGraphExecMemcpyNodeSetParams")?)
    }

    fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, what: *const FillNode, _context: Handle) {
        set(executable, node, get(what)?.work("cuGraphExecMemsetNodeSetParams")?)
    }

    fn cuGraphExecHostNodeSetParams(executable: Handle, node: Handle, what: *const HostNode) {
        set(executable, node, get(what)?.work()?)
    }

    fn cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, graph: Handle) {
        update_child(executable, node, graph)
    }

    fn cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle) {
        set(executable, node, with_event(event, Work::RecordEvent)?)
    }

    fn cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle) {
        set(executable, node, with_event(event, Work::WaitEvent)?)
    }

    fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32) {
        let mut gpu = live()?;
        let step = changed(&mut gpu, executable)?.step(node)?;
        if !can_be_disabled(&step.work) {
            return Err(INVALID_VALUE);
        }
        step.is_enabled = is_enabled != 0;
        Ok(())
    }

    fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, is_enabled: *mut u32) {
        let mut gpu = live()?;
        let step = changed(&mut gpu, executable)?.step(node)?;
        if !can_be_disabled(&step.work) {
            return Err(INVALID_VALUE);
        }
        put(is_enabled, u32::from(step.is_enabled))
    }
}
