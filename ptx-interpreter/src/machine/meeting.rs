//! A barrier of a block: who has come, and how.

use std::collections::BTreeMap;

use crate::machine::group::Group;
use crate::ptx::operand::Operand;

/// A barrier of a block, by its number.
#[derive(Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: usize,
    /// Lanes without a thread, or whose thread had ended then, of warps that have arrived. Each warp's first living thread brings them.
    pub(crate) absent: usize,
    /// Of each warp the lanes that have arrived or were brought. A thread that has arrived may end before the others of its warp come.
    came: BTreeMap<usize, u32>,
    /// Threads that wait, and where each wants a result.
    pub(crate) waiting: Vec<(Group, Option<(Operand, Reduction)>)>,
    /// How the first of them came.
    pub(crate) first: Option<Comes>,
    /// Of the predicates of those that arrived, how many hold.
    pub(crate) holding: usize,
}

impl Barrier {
    /// Lanes of a warp arrive. With its first living thread come those that `ended`.
    pub(crate) fn come(&mut self, warp: usize, lanes: u32, ended: u32) {
        let came = self.came.entry(warp).or_default();
        *came |= lanes;
        let brought = ended & !*came;
        *came |= brought;
        self.arrived += lanes.count_ones() as usize;
        self.absent += brought.count_ones() as usize;
    }

    /// What is compared with an instruction's number of threads: a GPU counts whole warps, however many threads they have.
    pub(crate) fn counted(&self) -> usize {
        self.arrived + self.absent
    }

    /// How many threads it is for; all of the block's that have not ended, if no instruction says.
    pub(crate) fn expected(&self) -> Option<usize> {
        self.first.and_then(|first| first.threads)
    }
}

/// How a thread comes to a barrier. Others have to come alike, or the ISA does not say what happens.
#[derive(Clone, Copy)]
pub(crate) struct Comes {
    pub(crate) threads: Option<usize>,
    pub(crate) reduces: bool,
}

impl Comes {
    /// What is wrong with the two at one barrier.
    pub(crate) fn mixed_with(self, other: Comes) -> Option<String> {
        let told =
            |threads: Option<usize>| threads.map_or("the whole block".into(), |threads| format!("{threads} threads"));
        if self.threads != other.threads {
            return Some(format!(
                "a thread waits for {}, and another one for {}",
                told(self.threads),
                told(other.threads)
            ));
        }
        (self.reduces != other.reduces).then(|| "a `.red` meets a `.sync` or `.arrive`".into())
    }
}

/// What `bar.red` makes of predicates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Count,
    And,
    Or,
}
