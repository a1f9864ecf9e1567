//! In which order kernels are launched, and which of them share a process. To make a context on the GPU takes longer than most launches,
//! and contexts are made one after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::case::{Case, pair_of};
use super::launched::{End, Launched};
use super::processes::{Job, Pairs};
use crate::journal::Found;

/// Right kernels that one process launches without a tool.
const RIGHT: usize = 24;

/// Wrong kernels that one process launches without a tool: each may be the last one.
const WRONG: usize = 8;

/// Kernels that one process launches under a tool.
const TOGETHER: usize = 9;

/// A tool, and a kernel.
pub type Pair = (&'static str, String);

/// The tool that is to find a kind, if one does.
pub fn tool_for(kind: &str) -> &'static str {
    match kind {
        "bounds" | "misaligned" | "launch" => "memcheck",
        "uninitialised" => "initcheck",
        "deadlock" => "synccheck",
        _ => "racecheck",
    }
}

/// How kernels ended without a tool, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Ends(BTreeMap<String, End>);

impl Ends {
    /// Those of a stage's results.
    pub fn of(found: &[(String, Found)]) -> Ends {
        let end = |(kernel, found): &(String, Found)| {
            let launched: Launched = serde_json::from_value(found.data["launched"].clone()).ok()?;
            Some((kernel.clone(), launched.end))
        };
        Ends(found.iter().filter_map(end).collect())
    }

    /// Whether it will not end, as far as one can know.
    fn hangs(&self, case: &Case, kernel: &str) -> bool {
        match self.0.get(kernel) {
            Some(end) => *end == End::Hung,
            None => is_wrong(kernel) && case.kind == "deadlock",
        }
    }

    /// Whether the process can launch another kernel behind it, as far as one can know.
    fn ends_well(&self, case: &Case, kernel: &str) -> bool {
        match self.0.get(kernel) {
            Some(end) => *end == End::Ended,
            None => !is_wrong(kernel) || !matches!(case.kind.as_str(), "bounds" | "misaligned" | "launch" | "deadlock"),
        }
    }

    /// Whether a kernel has a process of its own: it ends the process; or it ends too early, and what is still on its way hits the next.
    fn is_alone(&self, tool: &str, case: &Case, kernel: &str) -> bool {
        let is_stopped = tool == "memcheck" && tool_for(&case.kind) == tool;
        is_wrong(kernel) && (is_stopped || case.name.contains("exit")) || !self.ends_well(case, kernel)
    }
}

fn is_wrong(kernel: &str) -> bool {
    pair_of(kernel).0 == "wrong"
}

/// The jobs without a tool. What may never end is last: the driver takes long to end it, and others wait for that.
pub fn bare(kernels: &[String], limit: Duration, pairs: &Pairs) -> Vec<Job> {
    let ends = Ends::default();
    let case = |kernel: &str| pairs.case(kernel).ok();
    let rank = |kernel: &String| {
        let Some(case) = case(kernel) else { return 0 };
        [is_wrong(kernel), ends.is_alone("", case, kernel), ends.hangs(case, kernel)].iter().filter(|is| **is).count()
    };
    let mut kernels = kernels.to_vec();
    kernels.sort_by_key(rank);
    let shares = |job: &Job, kernel: &String| {
        let most = if is_wrong(kernel) { WRONG } else { RIGHT };
        let all = || job.kernels.iter().chain([kernel]);
        let is_alone = all().any(|kernel| case(kernel).is_none_or(|case| ends.is_alone("", case, kernel)));
        job.kernels.len() < most && !is_alone && all().all(|other| is_wrong(other) == is_wrong(kernel))
    };
    let mut jobs: Vec<Job> = Vec::new();
    for kernel in kernels {
        match jobs.last_mut() {
            Some(job) if shares(job, &kernel) => job.kernels.push(kernel),
            _ => jobs.push(Job { kernels: vec![kernel], limit, ..Job::default() }),
        }
    }
    jobs
}

/// The jobs under tools. First the tool for its kind on each wrong kernel and on its twin, but for kernels that never end; then those;
/// then what is left, in an order that the seed draws; and kernels that never end under tools that are not made for it at the very end.
pub fn under_tools(left: Vec<Pair>, limit: Duration, pairs: &Pairs, ends: &Ends, seed: u64) -> Vec<Job> {
    let mut parts: [Vec<Pair>; 4] = Default::default();
    for (tool, kernel) in left {
        let Ok(case) = pairs.case(&kernel) else { continue };
        let part = usize::from(tool_for(&case.kind) != tool) * 2 + usize::from(ends.hangs(case, &kernel));
        parts[part].push((tool, kernel));
    }
    let mut random = StdRng::seed_from_u64(seed);
    let [first, hang, mut others, mut hang_too] = parts;
    others.shuffle(&mut random);
    hang_too.shuffle(&mut random);
    let jobs = |items: Vec<Pair>| together(items, limit, pairs, ends);
    let mut sample = jobs(others);
    sample.shuffle(&mut random);
    [jobs(first), jobs(hang), sample, jobs(hang_too)].concat()
}

/// Kernels of one tool and side share a process.
fn together(items: Vec<Pair>, limit: Duration, pairs: &Pairs, ends: &Ends) -> Vec<Job> {
    let (mut jobs, mut alone): (Vec<Job>, Vec<Job>) = (Vec::new(), Vec::new());
    let mut open: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for (tool, kernel) in items {
        let Ok(case) = pairs.case(&kernel) else { continue };
        let key = (tool, is_wrong(&kernel));
        if ends.is_alone(tool, case, &kernel) {
            alone.push(Job { tool, kernels: vec![kernel], limit, tried: 0 });
            continue;
        }
        match open.get(&key).map(|at| &mut jobs[*at]).filter(|job| job.kernels.len() < TOGETHER) {
            Some(job) => job.kernels.push(kernel),
            None => {
                open.insert(key, jobs.len());
                jobs.push(Job { tool, kernels: vec![kernel], limit, tried: 0 });
            }
        }
    }
    jobs.extend(alone);
    jobs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unpacked(pairs: &[(&str, &str)]) -> Pairs {
        let case = |(name, kind): &(&str, &str)| {
            let case = json!({
                "name": name, "kind": kind, "file": "a.cu", "lines": [1], "target": "sm_90", "blocks": 1, "threads": 32,
                "shared": 0, "arguments": [], "expected": [], "here": [1, 0],
            });
            serde_json::from_value::<Case>(case).expect("a pair")
        };
        Pairs { cases: pairs.iter().map(case).collect(), left_out: Vec::new() }
    }

    fn kernels(pairs: &Pairs) -> Vec<String> {
        ["right", "wrong"].iter().flat_map(|side| pairs.cases.iter().map(|case| case.kernel(side))).collect()
    }

    fn names(jobs: &[Job]) -> Vec<String> {
        jobs.iter().map(|job| format!("{} {}", job.tool, job.kernels.join(","))).collect()
    }

    #[test]
    fn what_may_take_the_gpu_away_is_alone_and_late() {
        let unpacked =
            unpacked(&[("hang", "deadlock"), ("beyond", "bounds"), ("a", "race"), ("exit", "race"), ("b", "order")]);
        let jobs = bare(&kernels(&unpacked), Duration::from_secs(1), &unpacked);
        let right = " right_hang,right_beyond,right_a,right_exit,right_b";
        assert_eq!(names(&jobs), [right, " wrong_a,wrong_b", " wrong_beyond", " wrong_exit", " wrong_hang"]);
    }

    #[test]
    fn the_tool_of_a_kind_comes_first_and_what_hangs_comes_late() {
        let unpacked = unpacked(&[("hang", "race"), ("a", "race"), ("b", "race"), ("beyond", "bounds")]);
        let ends = Ends([("wrong_hang".to_owned(), End::Hung), ("wrong_a".to_owned(), End::Ended)].into());
        let both = |tool: &'static str| kernels(&unpacked).into_iter().map(move |kernel| (tool, kernel));
        let left: Vec<Pair> = both("racecheck").chain(both("memcheck")).collect();
        let jobs = |seed| names(&under_tools(left.clone(), Duration::from_secs(1), &unpacked, &ends, seed));
        let first = ["racecheck right_hang,right_a,right_b", "racecheck wrong_a,wrong_b", "memcheck right_beyond"];
        assert_eq!(jobs(1)[..3], first);
        assert_eq!(jobs(1)[3..5], ["memcheck wrong_beyond", "racecheck wrong_hang"]);
        assert_eq!(jobs(1).last().map(String::as_str), Some("memcheck wrong_hang"));
        let all = |seed| jobs(seed).iter().map(|job| job.split(',').count()).sum::<usize>();
        assert_eq!((all(1), all(2)), (16, 16));
        assert!((2..9).any(|seed| jobs(seed) != jobs(1)), "the seed draws the order");
    }

    #[test]
    fn many_are_in_several_processes() {
        let names: Vec<String> = (0..20).map(|number| format!("p{number}")).collect();
        let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "race")).collect();
        let unpacked = unpacked(&pairs);
        let left = kernels(&unpacked).into_iter().map(|kernel| ("racecheck", kernel)).collect();
        let jobs = under_tools(left, Duration::from_secs(1), &unpacked, &Ends::default(), 7);
        assert_eq!(jobs.iter().map(|job| job.kernels.len()).collect::<Vec<_>>(), [9, 9, 2, 9, 9, 2]);
        let bare = bare(&kernels(&unpacked), Duration::from_secs(1), &unpacked);
        assert_eq!(bare.iter().map(|job| job.kernels.len()).collect::<Vec<_>>(), [20, 8, 8, 4]);
    }
}
