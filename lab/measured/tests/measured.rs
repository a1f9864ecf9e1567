//! `cargo xtask measured` on lines that are made up: they are nobody's measurement.

use std::path::Path;
use std::process::Command;

const LINES: &str = include_str!("laboratory/synthetic.jsonl");
const PAGE: &str = include_str!("laboratory/synthetic.md");

fn measured(file: &Path) -> (bool, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_measured")).arg(file).env("NO_COLOR", "1").output().expect("xtask starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// The page to the letter; and its plots are there, with their titles and what is on their axes.
#[test]
fn lines_become_a_page_with_plots() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines = folder.path().join("laboratory.jsonl");
    std::fs::write(&lines, LINES).expect("a temporary folder takes it");
    let (done, stdout, stderr) = measured(&lines);
    assert!(done, "{stderr}");
    let page = std::fs::read_to_string(folder.path().join("laboratory.md")).expect("the page is there");
    assert!(page == PAGE, "the page is now:\n{page}");
    let plots: Vec<&str> = page.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')')).collect();
    let names = ["pays", "latencies", "l1-sweep", "sweep", "a", "k"].map(|name| format!("laboratory-{name}.svg"));
    assert_eq!(plots, names);
    assert_eq!(stdout.lines().count(), 7, "{stdout}");
    let words = [
        ["Time without hints by time with them", "bytes of the problem, in sizes of L2", "ratio of times"],
        ["Latencies of single loads", "clocks", "part of the loads"],
        ["Latency of loads through L1", "KiB read before, by one thread", "clocks"],
        ["Latency of loads past L1", "MiB read before, over and over", "clocks"],
        ["Bandwidth", "bytes read and written a second", "copy128, rust"],
        ["Time in Rust by time in CUDA C++", "below 1 Rust is faster", "softmax"],
    ];
    for (plot, words) in plots.iter().zip(words) {
        let svg = std::fs::read_to_string(folder.path().join(plot)).expect("the plot is there");
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{plot}");
        let has = |word: &&str| svg.lines().any(|line| line == *word);
        assert!(words.iter().all(has), "{plot} lacks one of {words:?}");
    }
}

#[test]
fn a_line_that_is_none_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines = folder.path().join("laboratory.jsonl");
    std::fs::write(&lines, "{\"line\":\"nonsense\"}\n").expect("a temporary folder takes it");
    let (done, _, stderr) = measured(&lines);
    assert!(!done && stderr.contains("this is no line of the laboratory's results"), "{stderr}");
    assert!(!folder.path().join("laboratory.md").exists());
}

#[test]
fn a_report_becomes_a_page_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    std::fs::write(&report, include_str!("../../../host-tests/suite/tests/suite/report.json")).unwrap();
    let (done, _, stderr) = measured(&report);
    assert!(done && stderr.is_empty(), "{stderr}");
    let page = std::fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert_eq!(page, include_str!("../../../host-tests/suite/tests/suite/report.md"));
    std::fs::write(&report, "{}").unwrap();
    let (done, _, stderr) = measured(&report);
    let message = format!("error: this is no report of the suite\n  at {}\n", report.display());
    assert!(!done && stderr.starts_with(&message), "{stderr}");
}
