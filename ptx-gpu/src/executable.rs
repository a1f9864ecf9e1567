//! What a graph became when it was instantiated: it can be launched, and keeps its nodes' work as it was then.

use crate::handle::Handle;
use crate::status::{INVALID_VALUE, Result};
use crate::work::Work;

#[derive(Clone)]
pub(crate) struct Executable {
    /// In the order in which the nodes were added.
    pub(crate) steps: Vec<Step>,
    /// In which order they are done.
    pub(crate) order: Vec<usize>,
    pub(crate) flags: u64,
    /// What the program keeps alive with the graph.
    pub(crate) objects: Vec<Handle>,
}

#[derive(Clone)]
pub(crate) struct Step {
    /// The node of the graph that was instantiated.
    pub(crate) node: Handle,
    pub(crate) work: Work,
    /// The steps that it comes after.
    pub(crate) after: Vec<usize>,
    pub(crate) is_enabled: bool,
    /// What the graph of this step became.
    pub(crate) child: Option<Executable>,
}

/// Why an update is refused: `CU_GRAPH_EXEC_UPDATE_ERROR_…`, and the node of the new graph, if it is one node's fault.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) why: u32,
    pub(crate) node: Handle,
}

const TOPOLOGY_CHANGED: u32 = 2;
const NODE_TYPE_CHANGED: u32 = 3;
const PARAMETERS_CHANGED: u32 = 5;
const ATTRIBUTES_CHANGED: u32 = 8;

impl Executable {
    /// None if the steps are in a circle.
    pub(crate) fn new(steps: Vec<Step>, flags: u64, objects: Vec<Handle>) -> Option<Executable> {
        let (mut order, mut done) = (Vec::with_capacity(steps.len()), vec![false; steps.len()]);
        while order.len() < steps.len() {
            let before = order.len();
            for (at, step) in steps.iter().enumerate() {
                if !done[at] && step.after.iter().all(|other| done[*other]) {
                    done[at] = true;
                    order.push(at);
                }
            }
            if order.len() == before {
                return None;
            }
        }
        Some(Executable { steps, order, flags, objects })
    }

    pub(crate) fn step(&mut self, node: Handle) -> Result<&mut Step> {
        self.steps.iter_mut().find(|step| step.node == node).ok_or(INVALID_VALUE)
    }

    /// Takes the work of another graph of the same form. Its nodes keep their names.
    pub(crate) fn update(&mut self, other: &Executable) -> std::result::Result<(), Refused> {
        self.accepts(other)?;
        for (step, new) in self.steps.iter_mut().zip(&other.steps) {
            step.work = new.work.clone();
            if let (Some(child), Some(new)) = (&mut step.child, &new.child) {
                child.update(new)?;
            }
        }
        Ok(())
    }

    fn accepts(&self, other: &Executable) -> std::result::Result<(), Refused> {
        if self.steps.len() != other.steps.len() {
            return Err(Refused { why: TOPOLOGY_CHANGED, node: 0 });
        }
        for (step, new) in self.steps.iter().zip(&other.steps) {
            let refuse = |why| Err(Refused { why, node: new.node });
            if step.work.kind() != new.work.kind() {
                return refuse(NODE_TYPE_CHANGED);
            }
            if step.after.len() != new.after.len() || !step.after.iter().all(|before| new.after.contains(before)) {
                return refuse(TOPOLOGY_CHANGED);
            }
            if let Some(why) = unlike(&step.work, &new.work) {
                return refuse(why);
            }
            if let (Some(child), Some(new)) = (&step.child, &new.child) {
                child.accepts(new)?;
            }
        }
        Ok(())
    }
}

/// What keeps one work from taking the place of another of its kind.
pub(crate) fn unlike(one: &Work, other: &Work) -> Option<u32> {
    match (one, other) {
        (Work::Kernel(one), Work::Kernel(other)) if one.shape.is_cooperative != other.shape.is_cooperative => {
            Some(ATTRIBUTES_CHANGED)
        }
        (Work::Copy(one), Work::Copy(other))
            if (one.to.is_device, one.from.is_device) != (other.to.is_device, other.from.is_device) =>
        {
            Some(PARAMETERS_CHANGED)
        }
        (Work::Allocate(place, bytes), Work::Allocate(other, others)) if (place, bytes) != (other, others) => {
            Some(PARAMETERS_CHANGED)
        }
        _ => None,
    }
}
