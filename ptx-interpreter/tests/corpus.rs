//! Wrong kernels, each with a correct twin: the wrong one is found, the finding is of the right kind, at the right lines and with
//! the right words, and the twin has no finding.
//!
//! Beside each kernel its source says how it is launched and what has to be found:
//! `//# NAME KIND BLOCKSxTHREADS ARGUMENTS… ; WORDS`, and `//~ NAME` at the end of each line that the finding has to name.
//! The kernels are `wrong_NAME` and `right_NAME`. `cargo xtask corpus` compiles the sources anew and compares.

mod in_parts;
mod mutated;
mod pairs;

use std::collections::BTreeSet;
use std::fmt::Write;

use pairs::{FILES, Pair, pairs};
use ptx_interpreter::{Finding, Program, Report};

/// Orders of the threads in which each kernel runs.
const SEEDS: u64 = 8;

/// How many findings a kernel has in some order of its threads, if there are several.
const SEVERAL: [(&str, usize); 21] = [
    ("zeroed_late", 2),
    ("pipeline_stage", 2),
    ("bulk_wait", 2),
    ("bulk_parity", 2),
    ("bulk_unexpected", 3),
    ("ring_parity", 2),
    ("restricted", 2),
    ("multicast_init", 2),
    ("multicast_order", 2),
    ("product_early", 2),
    ("tensor_early", 2),
    ("tensor_free", 2),
    ("pair_free", 3),
    ("ring_law", 2),
    ("leader_arrives", 2),
    ("same_number", 3),
    ("counted_bare", 2),
    ("versioned", 2),
    ("shared_done", 2),
    ("plain_roots", 2),
    ("moved_on", 2),
];

/// Whether a finding is what the pair asks for, or has its cause.
fn is_named(pair: &Pair, finding: &Finding) -> bool {
    let has_lines = |one: &Finding| {
        let lines = one.places.iter().flat_map(|place| place.source.iter().chain(&place.called));
        pair.lines.is_subset(&lines.map(|(_, line)| *line).collect::<BTreeSet<u32>>())
    };
    let is_at_lines = finding.and_further().any(has_lines);
    finding.kind.word() == pair.kind && is_at_lines && finding.to_string().contains(&pair.words)
}

#[test]
fn wrong_kernels_are_found_and_their_twins_are_not() {
    let (mut all, mut found, mut named, mut silent) = (0, 0, 0, 0);
    let mut wrong = String::new();
    for file in &FILES {
        let program = Program::parse(file.ptx);
        let pairs = pairs(file);
        assert_eq!(program.kernels().len(), 2 * pairs.len(), "{}: each pair has a row", file.name);
        all += pairs.len();
        for pair in &pairs {
            let reports: Vec<Report> = (0..SEEDS).map(|seed| pair.run(&program, "wrong", seed)).collect();
            if let Some(stop) = reports.iter().find_map(|report| report.stop.as_ref()) {
                writeln!(wrong, "wrong_{}: {stop}", pair.name).unwrap();
            }
            let findings: Vec<&Finding> = reports.iter().flat_map(|report| &report.findings).collect();
            found += usize::from(!findings.is_empty());
            if findings.iter().any(|finding| is_named(pair, finding)) {
                named += 1;
            } else {
                let Pair { name, kind, lines, words, .. } = pair;
                writeln!(wrong, "wrong_{name}: expected {kind} at the lines {lines:?} with {words:?}, found").unwrap();
                findings.iter().take(4).for_each(|finding| writeln!(wrong, "{finding}").unwrap());
            }
            let twins: Vec<Report> = (0..SEEDS).map(|seed| pair.run(&program, "right", seed)).collect();
            match twins.iter().find(|report| report.stop.is_some() || !report.findings.is_empty()) {
                None => silent += 1,
                Some(report) => {
                    writeln!(wrong, "right_{}: {:?}", pair.name, report.stop).unwrap();
                    report.findings.iter().take(4).for_each(|finding| writeln!(wrong, "{finding}").unwrap());
                }
            }
        }
    }
    println!("{all} pairs: {found} found, {named} named, {silent} twins silent");
    assert!(wrong.is_empty(), "{wrong}\n{all} pairs: {found} found, {named} named, {silent} twins silent");
    assert!(all >= 100, "{all} pairs are fewer than there were");
}

/// Most mistakes are one finding. Some are of two kinds, or make others: a lock that is free too early, a barrier that never ends.
#[test]
fn few_kernels_have_several_findings() {
    let mut several = Vec::new();
    for file in &FILES {
        let program = Program::parse(file.ptx);
        for pair in &pairs(file) {
            let counts = (0..SEEDS).map(|seed| pair.run(&program, "wrong", seed).findings.len());
            several.push((pair.name.clone(), counts.max().unwrap_or_default()));
        }
    }
    several.retain(|(_, count)| *count > 1);
    let several: Vec<(&str, usize)> = several.iter().map(|(name, count)| (&**name, *count)).collect();
    assert_eq!(several, SEVERAL);
}

/// The whole text of a finding, as it is printed.
#[test]
fn a_finding_says_what_is_missing() {
    let (program, pair) = pairs::find("release");
    let text = pair.run(&program, "wrong", 0).findings[0].to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "error[order]: a flag says that bytes are ready, but its write does not release them");
    assert!(text.contains("st.global.u32") && text.contains("st.relaxed.gpu.global.u32"), "{text}");
    assert!(text.contains("order.cu:"), "{text}");
    assert!(text.contains("= help: write the flag with `st.release.gpu`"), "{text}");
}

/// What the load and the store of one line lack is one finding: an order, or an atomic.
#[test]
fn a_line_that_loads_and_stores_is_one_finding() {
    for name in ["unlocked", "lost"] {
        let (program, pair) = pairs::find(name);
        for seed in 0..SEEDS {
            let findings = pair.run(&program, "wrong", seed).findings;
            assert_eq!(findings.len(), 1, "{name}, seed {seed}: {findings:#?}");
        }
    }
}

/// A barrier that others may use before it is initialised is one mistake, also where that is why all threads wait in the end.
#[test]
fn an_unordered_initialisation_is_one_finding() {
    let (program, pair) = pairs::find("init_unordered");
    let all: Vec<Finding> = (0..SEEDS)
        .flat_map(|seed| {
            let findings = pair.run(&program, "wrong", seed).findings;
            assert_eq!(findings.len(), 1, "seed {seed}: {findings:#?}");
            findings
        })
        .collect();
    assert!(all.iter().all(|finding| finding.is_of_the_lines_of(&all[0])), "{all:#?}");
    assert!(all.iter().any(Finding::hangs) && !all.iter().all(Finding::hangs), "{all:#?}");
}

/// A seed replays.
#[test]
fn a_seed_replays() {
    let (program, pair) = pairs::find("histogram");
    let told = |seed| {
        let report = pair.run(&program, "wrong", seed);
        (report.instructions, report.findings)
    };
    for seed in 0..4 {
        assert_eq!(told(seed), told(seed));
    }
}
