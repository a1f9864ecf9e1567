//! What a program hands over together, and nothing else orders.

use std::fmt;

/// What has members that only it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// A launch of a graph, whose nodes they are.
    Graph,
    /// A call that copies several times.
    Batch,
}

/// One piece of work of a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) of: Group,
    /// The number of the group.
    pub(crate) group: u64,
    pub(crate) name: String,
}

impl fmt::Display for Member {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Group::Graph => write!(text, "node {} of a graph", self.name),
            Group::Batch => write!(text, "part {} of a call", self.name),
        }
    }
}
