//! What graphs take of the GPU's memory, for programs that ask.

use crate::memory::{Home, Memory};
use crate::status::{INVALID_VALUE, Result};

impl Memory {
    fn used_by_graphs(&self) -> u64 {
        self.live.values().filter(|one| one.home == Home::Graph).map(|one| one.bytes as u64).sum()
    }

    /// A graph has allocated.
    pub(crate) fn graphs_grew(&mut self) {
        let used = self.used_by_graphs();
        let graphs = &mut self.graphs;
        graphs.used_most = graphs.used_most.max(used);
        graphs.reserved = graphs.reserved.max(used);
        graphs.reserved_most = graphs.reserved_most.max(graphs.reserved);
    }

    /// What no graph uses now is given back.
    pub(crate) fn trim_graphs(&mut self) {
        self.graphs.reserved = self.used_by_graphs();
    }

    /// `CU_GRAPH_MEM_ATTR_…`
    pub(crate) fn of_graphs(&self, which: u32) -> Result<u64> {
        let graphs = &self.graphs;
        match which {
            0 => Ok(self.used_by_graphs()),
            1 => Ok(graphs.used_most.max(self.used_by_graphs())),
            2 => Ok(graphs.reserved),
            3 => Ok(graphs.reserved_most.max(graphs.reserved)),
            _ => Err(INVALID_VALUE),
        }
    }

    /// What it was at most is counted anew. Nothing else can be set.
    pub(crate) fn set_of_graphs(&mut self, which: u32, value: u64) -> Result {
        match (which, value) {
            (1, 0) => self.graphs.used_most = 0,
            (3, 0) => self.graphs.reserved_most = 0,
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}
