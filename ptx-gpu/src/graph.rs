//! Graphs: nodes with work, and what comes before what.

use std::collections::{HashMap, HashSet};

use crate::executable::{Executable, Step};
use crate::handle::{Handle, next};
use crate::status::{INVALID_HANDLE, INVALID_VALUE, Result};
use crate::work::Work;

pub(crate) struct Graph {
    /// In the order in which they were added.
    pub(crate) nodes: Vec<Handle>,
    /// What the program keeps alive with it.
    pub(crate) objects: Vec<Handle>,
    /// Whether a node has it for itself.
    is_child: bool,
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) graph: Handle,
    pub(crate) work: Work,
    /// The nodes that it comes after.
    pub(crate) after: Vec<Handle>,
    /// The node that it was copied from, with the graph.
    pub(crate) original: Handle,
}

#[derive(Default)]
pub(crate) struct Graphs {
    graphs: HashMap<Handle, Graph>,
    nodes: HashMap<Handle, Node>,
}

impl Graphs {
    pub(crate) fn create(&mut self) -> Handle {
        let graph = next();
        self.graphs.insert(graph, Graph { nodes: Vec::new(), objects: Vec::new(), is_child: false });
        graph
    }

    pub(crate) fn get(&self, graph: Handle) -> Result<&Graph> {
        self.graphs.get(&graph).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn get_mut(&mut self, graph: Handle) -> Result<&mut Graph> {
        self.graphs.get_mut(&graph).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn node(&self, node: Handle) -> Result<&Node> {
        self.nodes.get(&node).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn node_mut(&mut self, node: Handle) -> Result<&mut Node> {
        self.nodes.get_mut(&node).ok_or(INVALID_HANDLE)
    }

    /// Adds a node after others of the graph. Each of them is named once.
    pub(crate) fn add(&mut self, graph: Handle, after: &[Handle], work: Work) -> Result<Handle> {
        let node = next();
        self.get(graph)?;
        self.belong(graph, after)?;
        let node_of = Node { graph, work, after: after.to_vec(), original: node };
        self.nodes.insert(node, node_of);
        self.get_mut(graph)?.nodes.push(node);
        Ok(node)
    }

    /// Errors: a node is not of this graph, or is named twice.
    pub(crate) fn belong(&self, graph: Handle, nodes: &[Handle]) -> Result {
        let is_of = |node: &Handle| self.nodes.get(node).is_some_and(|node| node.graph == graph);
        let different: HashSet<&Handle> = nodes.iter().collect();
        if different.len() == nodes.len() && nodes.iter().all(is_of) { Ok(()) } else { Err(INVALID_VALUE) }
    }

    /// A new edge. A program may make a circle, and hears of it when the graph is instantiated.
    pub(crate) fn connect(&mut self, graph: Handle, from: Handle, to: Handle) -> Result {
        self.belong(graph, &[from, to])?;
        let after = &mut self.node_mut(to)?.after;
        if after.contains(&from) {
            return Err(INVALID_VALUE);
        }
        after.push(from);
        Ok(())
    }

    pub(crate) fn disconnect(&mut self, graph: Handle, from: Handle, to: Handle) -> Result {
        self.belong(graph, &[from, to])?;
        let after = &mut self.node_mut(to)?.after;
        let at = after.iter().position(|node| *node == from).ok_or(INVALID_VALUE)?;
        after.remove(at);
        Ok(())
    }

    pub(crate) fn edges(&self, graph: Handle) -> Result<Vec<(Handle, Handle)>> {
        let mut edges = Vec::new();
        for to in &self.get(graph)?.nodes {
            edges.extend(self.node(*to)?.after.iter().map(|from| (*from, *to)));
        }
        Ok(edges)
    }

    /// The nodes that come after one.
    pub(crate) fn behind(&self, node: Handle) -> Result<Vec<Handle>> {
        let edges = self.edges(self.node(node)?.graph)?;
        Ok(edges.into_iter().filter(|(from, _)| *from == node).map(|(_, to)| to).collect())
    }

    /// A node and all that come before it.
    pub(crate) fn before(&self, nodes: &[Handle]) -> HashSet<Handle> {
        let (mut all, mut open) = (HashSet::new(), nodes.to_vec());
        while let Some(node) = open.pop() {
            if let Some(of) = self.nodes.get(&node)
                && all.insert(node)
            {
                open.extend(&of.after);
            }
        }
        all
    }

    /// A copy of its own, of the graphs of its nodes too.
    pub(crate) fn copy(&mut self, graph: Handle) -> Result<Handle> {
        let nodes = self.get(graph)?.nodes.clone();
        let (copy, mut names) = (self.create(), HashMap::new());
        for node in &nodes {
            names.insert(*node, next());
        }
        for node in nodes {
            let mut of = self.node(node)?.clone();
            of.after = of.after.iter().map(|before| names[before]).collect();
            (of.graph, of.original) = (copy, node);
            of.work = self.own(of.work)?;
            self.nodes.insert(names[&node], of);
            self.get_mut(copy)?.nodes.push(names[&node]);
        }
        Ok(copy)
    }

    /// Work for a node of its own: it copies a graph.
    pub(crate) fn own(&mut self, work: Work) -> Result<Work> {
        let Work::Child(graph) = work else { return Ok(work) };
        let copy = self.copy(graph)?;
        self.get_mut(copy)?.is_child = true;
        Ok(Work::Child(copy))
    }

    /// Errors: the graph is a node's own. The objects that it kept alive are given back.
    pub(crate) fn destroy(&mut self, graph: Handle) -> Result<Vec<Handle>> {
        if self.get(graph)?.is_child {
            return Err(INVALID_VALUE);
        }
        Ok(self.remove(graph))
    }

    fn remove(&mut self, graph: Handle) -> Vec<Handle> {
        let Some(of) = self.graphs.remove(&graph) else { return Vec::new() };
        let mut objects = of.objects;
        for node in of.nodes {
            if let Some(Node { work: Work::Child(child), .. }) = self.nodes.remove(&node) {
                objects.extend(self.remove(child));
            }
        }
        objects
    }

    pub(crate) fn destroy_node(&mut self, node: Handle) -> Result {
        let of = self.nodes.remove(&node).ok_or(INVALID_HANDLE)?;
        let nodes = &mut self.get_mut(of.graph)?.nodes;
        nodes.retain(|other| *other != node);
        for other in nodes.clone() {
            self.node_mut(other)?.after.retain(|before| *before != node);
        }
        if let Work::Child(child) = of.work {
            self.remove(child);
        }
        Ok(())
    }

    /// What can be launched. Errors: the graph has a circle.
    pub(crate) fn instantiate(&self, graph: Handle, flags: u64) -> Result<Executable> {
        let Graph { nodes, objects, .. } = self.get(graph)?;
        let places: HashMap<Handle, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let mut steps = Vec::new();
        for name in nodes {
            let node = self.node(*name)?;
            let after = node.after.iter().filter_map(|before| places.get(before).copied()).collect();
            let child = match node.work {
                Work::Child(child) => Some(self.instantiate(child, flags)?),
                _ => None,
            };
            steps.push(Step { node: *name, work: node.work.clone(), after, is_enabled: true, child });
        }
        Executable::new(steps, flags, objects.clone()).ok_or(INVALID_VALUE)
    }
}
