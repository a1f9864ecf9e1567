//! Graphs: their nodes and edges.

use std::ffi::{CStr, c_char};
use std::fmt::Write;

use super::user_object;
use crate::call::{all, calls, get, put};
use crate::gpu::{Gpu, Handle, live};
use crate::status::{INVALID_VALUE, NOT_FOUND, Result, UNKNOWN};
use crate::work::Work;

/// Adds a node to a graph.
pub(crate) fn add(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: Work) -> Result {
    let after = all(after, count)?;
    let mut gpu = live()?;
    gpu.check(&work)?;
    let work = gpu.graphs.own(work)?;
    put(node, gpu.graphs.add(graph, &after, work)?)
}

/// Hands over as many handles as the program has room for, or says how many there are.
fn list(all: &[Handle], places: *mut Handle, count: *mut usize) -> Result {
    if places.is_null() {
        return put(count, all.len());
    }
    let room = get(count)?;
    for at in 0..room {
        put(places.wrapping_add(at), all.get(at).copied().unwrap_or_default())?;
    }
    put(count, all.len().min(room))
}

/// What is between two nodes is always the same: one waits for all of the other.
fn plain_edges(edges: *mut u64, count: *mut usize) -> Result {
    if edges.is_null() {
        return Ok(());
    }
    (0..get(count)?).try_for_each(|at| put(edges.wrapping_add(at), 0))
}

fn list_edges(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut u64, count: *mut usize) -> Result {
    let (all_from, all_to): (Vec<_>, Vec<_>) = live()?.graphs.edges(graph)?.into_iter().unzip();
    if from.is_null() != to.is_null() {
        return Err(INVALID_VALUE);
    }
    let mut room = if from.is_null() { 0 } else { get(count)? };
    if !from.is_null() {
        list(&all_from, from, &raw mut room)?;
    }
    list(&all_to, to, count)?;
    plain_edges(if from.is_null() { std::ptr::null_mut() } else { edges }, count)
}

fn list_before(node: Handle, places: *mut Handle, edges: *mut u64, count: *mut usize) -> Result {
    list(&live()?.graphs.node(node)?.after, places, count)?;
    plain_edges(if places.is_null() { std::ptr::null_mut() } else { edges }, count)
}

fn list_behind(node: Handle, places: *mut Handle, edges: *mut u64, count: *mut usize) -> Result {
    list(&live()?.graphs.behind(node)?, places, count)?;
    plain_edges(if places.is_null() { std::ptr::null_mut() } else { edges }, count)
}

/// All edges, or none of them.
fn change(graph: Handle, from: *const Handle, to: *const Handle, count: usize, connects: bool) -> Result {
    let pairs: Vec<_> = all(from, count)?.into_iter().zip(all(to, count)?).collect();
    let mut gpu = live()?;
    gpu.graphs.get(graph)?;
    let before = gpu.graphs.edges(graph)?;
    for (at, (from, to)) in pairs.iter().enumerate() {
        let known = before.contains(&(*from, *to)) || connects && pairs[..at].contains(&(*from, *to));
        gpu.graphs.belong(graph, &[*from, *to])?;
        if known == connects {
            return Err(INVALID_VALUE);
        }
    }
    for (from, to) in pairs {
        let graphs = &mut gpu.graphs;
        if connects { graphs.connect(graph, from, to)? } else { graphs.disconnect(graph, from, to)? }
    }
    Ok(())
}

fn text_of(gpu: &Gpu, work: &Work) -> String {
    match work {
        Work::Kernel(kernel) => {
            let name = gpu.function(kernel.function).map(|of| of.name.to_string_lossy().into_owned());
            let (blocks, threads) = (kernel.shape.blocks, kernel.shape.threads);
            format!("{}\\n{blocks:?} blocks of {threads:?}", name.unwrap_or_default())
        }
        Work::Copy(copy) => format!("copy {:?} bytes", copy.size),
        Work::Fill(fill) => format!("fill {:?} of {} bytes", fill.size, fill.element),
        other => {
            ["", "", "", "host", "graph", "empty", "wait", "record", "", "", "allocate", "free", "wait for a value"]
                [other.kind() as usize]
                .into()
        }
    }
}

fn dot(gpu: &Gpu, graph: Handle) -> Result<String> {
    let mut text = String::from("digraph {\n");
    for node in &gpu.graphs.get(graph)?.nodes {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  n{node} [shape=box, label=\"{}\"];", text_of(gpu, &gpu.graphs.node(*node)?.work));
    }
    for (from, to) in gpu.graphs.edges(graph)? {
        let _ = writeln!(text, "  n{from} -> n{to};");
    }
    Ok(text + "}\n")
}

calls! {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        put(graph, live()?.graphs.create())
    }

    fn cuGraphDestroy(graph: Handle) {
        let objects = live()?.graphs.destroy(graph).map_err(|_| INVALID_VALUE)?;
        objects.into_iter().for_each(|object| user_object::let_go(object, 1));
        Ok(())
    }

    fn cuGraphClone(copy: *mut Handle, graph: Handle) {
        put(copy, live()?.graphs.copy(graph)?)
    }

    fn cuGraphNodeFindInClone(node: *mut Handle, original: Handle, copy: Handle) {
        let gpu = live()?;
        let nodes = &gpu.graphs.get(copy)?.nodes;
        let is_copy = |node: &&Handle| {
            **node != original && gpu.graphs.node(**node).is_ok_and(|node| node.original == original)
        };
        put(node, *nodes.iter().find(is_copy).ok_or(INVALID_VALUE)?)
    }

    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) {
        put(kind, live()?.graphs.node(node)?.work.kind())
    }

    fn cuGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) {
        put(graph, live()?.graphs.node(node)?.graph)
    }

    fn cuGraphNodeGetLocalId(node: Handle, id: *mut u32) {
        let gpu = live()?;
        let graph = gpu.graphs.get(gpu.graphs.node(node)?.graph)?;
        put(id, graph.nodes.iter().position(|other| *other == node).ok_or(NOT_FOUND)? as u32)
    }

    fn cuGraphNodeGetToolsId(node: Handle, id: *mut u64) {
        live()?.graphs.node(node)?;
        put(id, node as u64)
    }

    fn cuGraphGetId(graph: Handle, id: *mut u32) {
        live()?.graphs.get(graph)?;
        put(id, graph as u32)
    }

    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        list(&live()?.graphs.get(graph)?.nodes, nodes, count)
    }

    fn cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let gpu = live()?;
        let is_root = |node: &&Handle| gpu.graphs.node(**node).is_ok_and(|node| node.after.is_empty());
        let roots: Vec<Handle> = gpu.graphs.get(graph)?.nodes.iter().filter(is_root).copied().collect();
        list(&roots, nodes, count)
    }

    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        list_edges(graph, from, to, std::ptr::null_mut(), count)
    }

    fn cuGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut u64, count: *mut usize) {
        list_edges(graph, from, to, edges, count)
    }

    fn cuGraphNodeGetDependencies(node: Handle, before: *mut Handle, count: *mut usize) {
        list_before(node, before, std::ptr::null_mut(), count)
    }

    fn cuGraphNodeGetDependencies_v2(node: Handle, before: *mut Handle, edges: *mut u64, count: *mut usize) {
        list_before(node, before, edges, count)
    }

    fn cuGraphNodeGetDependentNodes(node: Handle, behind: *mut Handle, count: *mut usize) {
        list_behind(node, behind, std::ptr::null_mut(), count)
    }

    fn cuGraphNodeGetDependentNodes_v2(node: Handle, behind: *mut Handle, edges: *mut u64, count: *mut usize) {
        list_behind(node, behind, edges, count)
    }

    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        change(graph, from, to, count, true)
    }

    fn cuGraphAddDependencies_v2(
        graph: Handle,
        from: *const Handle,
        to: *const Handle,
        _edges: *const u64,
        count: usize,
    ) {
        change(graph, from, to, count, true)
    }

    fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        change(graph, from, to, count, false)
    }

    fn cuGraphRemoveDependencies_v2(
        graph: Handle,
        from: *const Handle,
        to: *const Handle,
        _edges: *const u64,
        count: usize,
    ) {
        change(graph, from, to, count, false)
    }

    fn cuGraphDestroyNode(node: Handle) {
        live()?.graphs.destroy_node(node)
    }

    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, _flags: u32) {
        if path.is_null() {
            return Err(INVALID_VALUE);
        }
        let text = dot(&*live()?, graph)?;
        // SAFETY: the program hands over a text that ends with 0.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
        std::fs::write(&*path, text).map_err(|_| UNKNOWN)
    }

    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        // `CU_GRAPH_USER_OBJECT_MOVE`: the program's own references go to the graph.
        if flags & 1 == 0 {
            user_object::hold(object, count)?;
        }
        live()?.graphs.get_mut(graph)?.objects.extend(vec![object; count as usize]);
        Ok(())
    }

    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        let mut gpu = live()?;
        let objects = &mut gpu.graphs.get_mut(graph)?.objects;
        for _ in 0..count {
            let at = objects.iter().position(|other| *other == object).ok_or(INVALID_VALUE)?;
            objects.remove(at);
        }
        drop(gpu);
        user_object::let_go(object, count);
        Ok(())
    }
}
