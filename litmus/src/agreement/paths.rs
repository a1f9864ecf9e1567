//! Which runs of a test there are: paths through a tree of choices.
//!
//! Two turns meet if it makes a difference which one comes first. Runs that only swap neighbouring turns which do not meet are the
//! same, and one of them is enough: what was tried first sleeps, until a turn that meets it has come (sleep sets, Godefroid 1996).

use crate::program::{Fence, Instruction, Program, Semantics};

/// A thread at an instruction, by their positions.
pub(super) type Turn = (usize, usize);

/// A choice that was made.
struct Node {
    chosen: usize,
    count: usize,
    /// Of a choice among turns these, and those that sleep.
    turns: Vec<Turn>,
    asleep: Vec<Turn>,
}

/// A path, and how far a run has come on it.
pub(super) struct Path<'p> {
    program: &'p Program,
    /// Whether one of the runs that are the same is enough.
    sleeps: bool,
    nodes: Vec<Node>,
    depth: usize,
    asleep: Vec<Turn>,
}

impl<'p> Path<'p> {
    pub(super) fn new(program: &'p Program, sleeps: bool) -> Path<'p> {
        Path { program, sleeps, nodes: Vec::new(), depth: 0, asleep: Vec::new() }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        self.depth = 0;
        self.asleep.clear();
    }

    /// Whether the run goes beyond what was chosen before.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len()
    }

    /// Which of some turns comes next. None, if each run from here on is the same as another one.
    pub(super) fn turn(&mut self, turns: Vec<Turn>) -> Option<usize> {
        if self.is_new() {
            let chosen = turns.iter().position(|turn| !self.asleep.contains(turn))?;
            self.nodes.push(Node { chosen, count: turns.len(), turns, asleep: self.asleep.clone() });
        }
        let node = &self.nodes[self.depth];
        if self.sleeps {
            let own = node.turns[node.chosen];
            let before = node.asleep.iter().chain(&node.turns[..node.chosen]);
            self.asleep = before.copied().filter(|turn| !meet(self.program, *turn, own)).collect();
        }
        self.depth += 1;
        Some(node.chosen)
    }

    /// Which of some ways an access goes.
    pub(super) fn way(&mut self, count: usize) -> usize {
        if self.is_new() {
            self.nodes.push(Node { chosen: 0, count, turns: Vec::new(), asleep: Vec::new() });
        }
        self.depth += 1;
        self.nodes[self.depth - 1].chosen
    }

    /// Whether there is another run. It is the next one.
    pub(super) fn next(&mut self) -> bool {
        while let Some(mut node) = self.nodes.pop() {
            let is_awake = |at: &usize| node.turns.get(*at).is_none_or(|turn| !node.asleep.contains(turn));
            if let Some(chosen) = (node.chosen + 1..node.count).find(is_awake) {
                node.chosen = chosen;
                self.nodes.push(node);
                return true;
            }
        }
        false
    }
}

fn meet(program: &Program, one: Turn, other: Turn) -> bool {
    let at = |turn: Turn| &program.threads[turn.0].code[turn.1];
    one.0 == other.0
        || match (at(one), at(other)) {
            (Instruction::Barrier(_), Instruction::Barrier(_)) => true,
            (Instruction::Fence(one), Instruction::Fence(other)) => is_sc(one) && is_sc(other),
            (one, other) => match (access(one), access(other)) {
                (Some((one, writes)), Some((other, also))) => one == other && (writes || also),
                _ => false,
            },
        }
}

fn is_sc(fence: &Fence) -> bool {
    matches!(fence, Fence::Memory(Semantics::Sc, _))
}

/// The address of an access, and whether it writes.
fn access(instruction: &Instruction) -> Option<(usize, bool)> {
    match instruction {
        Instruction::Load(_, memory) => Some((memory.address, false)),
        Instruction::Store(memory, _) | Instruction::Atomic(_, memory, ..) => Some((memory.address, true)),
        _ => None,
    }
}
