//! Where latencies part.

use serde::{Deserialize, Serialize};

/// A threshold, and the part of the samples on its wrong side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// In clocks.
    pub at: f64,
    /// From 0 to 1.
    pub wrong: f64,
}

/// Where latencies part, and on which multiprocessors they were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Below: L1; above: L2.
    pub l1: Option<Cut>,
    /// Below: L2; above: the memory.
    pub l2: Option<Cut>,
    /// Below: the near part of L2; above: the far one.
    pub far: Option<Cut>,
    /// The multiprocessor of every probe.
    pub multiprocessor: u32,
    /// One to which another part of L2 is near, if there is one.
    pub other: Option<u32>,
}
