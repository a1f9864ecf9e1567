//! What experiment K says of each pair, as rows of a table.

use super::judge::{Finding, Results, Verdict};
use super::statistics::Estimate;

/// A pair: the time of the kernel in Rust by that of nvcc's.
#[derive(Clone, Debug)]
pub struct Paired {
    /// The kernel.
    pub kernel: String,
    /// How much it has to do.
    pub size: String,
    /// The time by nvcc's.
    pub ratio: Estimate,
    /// What two measurements of the same thing may differ by.
    pub floor: f64,
    /// Whether it is as fast.
    pub verdict: Verdict,
    /// The seconds of the kernel in Rust.
    pub seconds: f64,
    /// What each does in a second: Rust, nvcc, and the driver's own copy, if it does the same.
    pub rates: [Option<Rate>; 3],
}

/// What is done in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// So many bytes.
    Bytes(f64),
    /// So many operations.
    Operations(f64),
}

impl std::fmt::Display for Rate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rate::Bytes(bytes) => write!(out, "{:.1} GB/s", bytes / 1e9),
            Rate::Operations(operations) => write!(out, "{:.1} TFLOP/s", operations / 1e12),
        }
    }
}

/// The pairs that were measured, the slowest in Rust first, by what was found of all results.
pub fn paired(results: &Results, findings: &[Finding]) -> Vec<Paired> {
    let mut all: Vec<Paired> = findings.iter().filter_map(|finding| of(results, finding)).collect();
    all.sort_by(|one, other| other.ratio.middle.total_cmp(&one.ratio.middle));
    all
}

fn of(results: &Results, finding: &Finding) -> Option<Paired> {
    let kernel = finding.of.get("kernel").filter(|_| finding.claim.experiment == 'K')?.clone();
    let case = |language| {
        let labels = [("kernel", kernel.as_str()), ("language", language)];
        results.with('K', &labels).next().cloned()
    };
    let median = |language, metric| results.estimate(&case(language)?, metric).map(|found| found.middle);
    let rate = |language| {
        let bytes = median(language, "bytes_per_second").map(Rate::Bytes);
        bytes.or_else(|| median(language, "operations_per_second").map(Rate::Operations))
    };
    Some(Paired {
        size: case("rust")?.labels.get("size")?.clone(),
        ratio: finding.found?,
        floor: finding.floor?,
        verdict: finding.verdict,
        seconds: median("rust", "seconds")?,
        rates: ["rust", "cuda", "driver"].map(rate),
        kernel,
    })
}
