//! What is expected of each experiment, before anything is measured.

use super::statistics::Compare::{self, Difference, Ratio};
use Expected::{Below, Within};

/// What is expected of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// More than if there were no effect.
    Above,
    /// Less than if there were no effect.
    Below,
    /// In this range.
    Within(f64, f64),
}

/// Something expected of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The experiment.
    pub experiment: char,
    /// In words.
    pub says: &'static str,
    /// What was measured.
    pub metric: &'static str,
    /// The case that it is about.
    pub left: &'static [(&'static str, &'static str)],
    /// What it is compared with, and how; without, the number itself counts.
    pub right: Option<(&'static [(&'static str, &'static str)], Compare)>,
    /// What is expected.
    pub expected: Expected,
    /// The labels that it is told for each value of.
    pub each: &'static [&'static str],
    /// Only of GPUs with this in their name.
    pub only: &'static str,
}

/// One that is told once, of the part of loads that hit.
pub(super) const fn claim(experiment: char, says: &'static str) -> Claim {
    Claim { experiment, says, metric: "hits", left: &[], right: None, expected: Expected::Above, each: &[], only: "" }
}

/// Hit rates that are as good as equal.
const ALIKE: Expected = Within(-0.03, 0.03);

/// What is expected, before anything is measured.
pub const CLAIMS: &[Claim] = &[
    Claim {
        metric: "bytes_per_second",
        left: &[("kernel", "memcpy")],
        expected: Within(4.2e12, 4.4e12),
        only: "H200",
        ..claim('A', "the driver's copy moves 4.2 to 4.4 TB/s")
    },
    Claim {
        metric: "bytes_per_second",
        left: &[("kernel", "copy128"), ("language", "rust")],
        right: Some((&[("kernel", "memcpy")], Ratio)),
        expected: Within(0.97, 1.1),
        ..claim('A', "a copy in Rust, 128 bits at a time, is as fast as the driver's")
    },
    Claim {
        metric: "bytes_per_second",
        left: &[("language", "rust")],
        right: Some((&[("language", "cuda")], Ratio)),
        expected: Within(0.99, 1.01),
        each: &["kernel"],
        ..claim('A', "Rust is as fast as nvcc")
    },
    Claim {
        left: &[("hot", "none"), ("stream", "first")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('B', "evict_first on the stream keeps the hot set")
    },
    Claim {
        left: &[("hot", "none"), ("stream", "no_allocate")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        expected: ALIKE,
        each: &["hot_size", "stream_size"],
        ..claim('B', "L1::no_allocate on the stream changes nothing in L2")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none")],
        right: Some((&[("hot", "none"), ("stream", "none")], Difference)),
        expected: ALIKE,
        each: &["hot_size", "stream_size"],
        ..claim('B', "evict_last keeps nothing where nothing is set aside")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none"), ("aside", "0.5")],
        right: Some((&[("hot", "last"), ("stream", "none"), ("aside", "0")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('C', "evict_last keeps the hot set where half is set aside")
    },
    Claim {
        left: &[("hot", "last"), ("stream", "none"), ("aside", "0.5")],
        right: Some((&[("hot", "last"), ("stream", "none"), ("aside", "0.75")], Difference)),
        each: &["hot_size", "stream_size"],
        ..claim('C', "half set aside is better than three quarters")
    },
    Claim {
        left: &[("policy", "fraction"), ("sixteenths", "16")],
        right: Some((&[("policy", "fraction"), ("sixteenths", "8")], Difference)),
        ..claim('D', "evict_last for all lines keeps more than for half of them")
    },
    Claim {
        left: &[("policy", "fraction"), ("sixteenths", "9")],
        right: Some((&[("policy", "fraction"), ("sixteenths", "8")], Difference)),
        expected: Within(0.02, 0.11),
        ..claim('D', "a sixteenth more keeps a sixteenth more")
    },
    Claim {
        left: &[("policy", "range"), ("block", "3")],
        right: Some((&[("policy", "range"), ("block", "12")], Difference)),
        ..claim('D', "a range keeps its first part, and not its second")
    },
    Claim {
        left: &[("size", "64"), ("sector", "1")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::64B brings the second sector")
    },
    Claim {
        left: &[("size", "64"), ("sector", "2")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::64B brings no third sector")
    },
    Claim {
        left: &[("size", "128"), ("sector", "3")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::128B brings the fourth sector")
    },
    Claim {
        left: &[("size", "128"), ("sector", "4")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::128B brings no fifth sector")
    },
    Claim {
        left: &[("size", "256"), ("sector", "7")],
        expected: Within(0.9, 1.0),
        ..claim('E', "L2::256B brings the eighth sector")
    },
    Claim {
        left: &[("size", "256"), ("sector", "8")],
        expected: Within(0.0, 0.1),
        ..claim('E', "L2::256B brings no ninth sector")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "none"), ("stream", "plain"), ("streamed", "no")],
        expected: Within(0.9, 1.0),
        ..claim('F', "the hot set fits into L1 where nothing streams")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "none"), ("stream", "no_allocate"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::no_allocate on the stream keeps the hot set in L1")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "none"), ("stream", "first"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::evict_first on the stream keeps the hot set in L1")
    },
    Claim {
        metric: "l1_hits",
        left: &[("hot", "last"), ("stream", "plain"), ("streamed", "yes")],
        right: Some((&[("hot", "none"), ("stream", "plain"), ("streamed", "yes")], Difference)),
        ..claim('F', "L1::evict_last on the hot set keeps it in L1")
    },
    Claim {
        metric: "latency",
        left: &[("load", "acquire_gpu"), ("place", "l2")],
        right: Some((&[("load", "relaxed_gpu"), ("place", "l2")], Ratio)),
        expected: Within(0.95, 1.25),
        ..claim('G', "an acquire from L2 takes no longer than a relaxed load")
    },
    Claim {
        metric: "l1_hits",
        left: &[("then", "acquire")],
        expected: Within(0.0, 0.05),
        ..claim('G', "nothing is left of L1 after an acquire")
    },
    Claim {
        metric: "l1_hits",
        left: &[("then", "relaxed")],
        right: Some((&[("then", "nothing")], Difference)),
        expected: ALIKE,
        ..claim('G', "a relaxed load leaves L1 as it is")
    },
    Claim {
        metric: "latency",
        left: &[("load", "weak"), ("place", "l1")],
        right: Some((&[("load", "relaxed_gpu"), ("place", "l1")], Ratio)),
        expected: Below,
        ..claim('G', "a weak load from L1 is faster than a relaxed one, which goes to L2")
    },
    Claim {
        metric: "latency",
        left: &[("load", "neighbour")],
        right: Some((&[("load", "shared")], Ratio)),
        ..claim('G', "the neighbour's shared memory is slower than the own")
    },
    Claim {
        metric: "latency",
        left: &[("load", "neighbour")],
        right: Some((&[("load", "cg"), ("place", "l2")], Ratio)),
        expected: Below,
        ..claim('G', "the neighbour's shared memory is faster than L2")
    },
    Claim {
        metric: "after_seconds",
        left: &[("store", "wb"), ("discarded", "no")],
        right: Some((&[("store", "none"), ("discarded", "no")], Ratio)),
        ..claim('H', "lines that have to be written back slow down what takes their place")
    },
    Claim {
        metric: "after_seconds",
        left: &[("store", "wb"), ("discarded", "yes")],
        right: Some((&[("store", "wb"), ("discarded", "no")], Ratio)),
        expected: Below,
        ..claim('H', "discard saves the write-back")
    },
    Claim {
        metric: "fill_seconds",
        left: &[("store", "cs"), ("discarded", "no")],
        right: Some((&[("store", "wb"), ("discarded", "no")], Ratio)),
        expected: Within(0.97, 1.03),
        ..claim('H', "stores under cs are as fast as plain ones")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "l2")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L2 brings the lines into L2")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "l2_last")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L2::evict_last brings the lines into L2")
    },
    Claim {
        metric: "hits",
        left: &[("prefetch", "bulk")],
        expected: Within(0.9, 1.0),
        ..claim('I', "cp.async.bulk.prefetch.L2 brings the lines into L2")
    },
    Claim {
        metric: "l1_hits",
        left: &[("prefetch", "l1")],
        expected: Within(0.9, 1.0),
        ..claim('I', "prefetch.L1 brings the lines into L1")
    },
    Claim {
        metric: "hits",
        left: &[("given_up", "yes")],
        right: Some((&[("given_up", "no")], Difference)),
        expected: Below,
        ..claim('I', "applypriority gives up lines that were kept")
    },
    Claim {
        metric: "seconds",
        left: &[("language", "rust"), ("without", "all")],
        right: Some((&[("language", "rust"), ("without", "nothing")], Ratio)),
        each: &["kernel", "size"],
        ..claim('J', "the kernel is slower without its hints")
    },
    Claim {
        metric: "seconds",
        left: &[("language", "rust"), ("without", "nothing")],
        right: Some((&[("language", "cuda"), ("without", "nothing")], Ratio)),
        expected: Within(0.9, 1.01),
        each: &["kernel", "size"],
        ..claim('J', "Rust is at least as fast as nvcc")
    },
    Claim {
        metric: "seconds",
        left: &[("language", "rust")],
        right: Some((&[("language", "cuda")], Ratio)),
        expected: Within(0.98, 1.02),
        each: &["kernel"],
        ..claim('K', "Rust takes as long as nvcc")
    },
];
