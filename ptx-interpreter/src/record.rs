//! What came of a launch, as one process tells another.

use crate::check::Finding;
use crate::lines::{CountedAccess, CountedLine};

/// A launch in one order of its threads, and what came of it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The kernel.
    pub kernel: String,
    /// The number of the launch in its process, from 1; 0 if this is about a call that launches nothing.
    pub launch: u64,
    /// The GPU that ran it, where the program has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<usize>,
    /// Blocks in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// What made the order.
    pub seed: u64,
    /// How many instructions all threads together took.
    pub instructions: u64,
    /// Whether it is a call of a library that does by itself what kernels do: of cuBLAS.
    #[serde(default)]
    pub is_library: bool,
    /// Whether it is about a kernel that was not run, since its program has no PTX of it.
    #[serde(default)]
    pub is_unrun: bool,
    /// Whether it ran without being checked, as the user has asked.
    #[serde(default)]
    pub is_unchecked: bool,
    /// Lines of kernels, and how many more threads have executed each of them, where that is asked for.
    #[serde(default)]
    pub lines: Vec<CountedLine>,
    /// What accesses of kernels took, beyond what was told, where that is asked for.
    #[serde(default)]
    pub accesses: Vec<CountedAccess>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Why it could not be run to its end, if that is no fault of the program.
    pub stop: Option<String>,
    /// Of an order with older values, what of that which it left was compared with nothing, and why.
    #[serde(default)]
    pub uncompared: Option<String>,
}

impl Record {
    /// How messages name the launch: `launch 3`, and where there are several GPUs `launch 3 of GPU 1`.
    pub fn title(&self) -> String {
        let of = self.gpu.map(|gpu| format!(" of GPU {gpu}")).unwrap_or_default();
        format!("launch {}{of}", self.launch)
    }

    /// Whether it is of a launch that was checked or of a library's call, and not only of what was said.
    pub fn is_of_work(&self) -> bool {
        self.launch > 0 && !self.is_unchecked || self.is_library
    }
}
