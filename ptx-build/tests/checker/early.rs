//! `cargo ptx check` finds what a kernel uses while the kernel before it may still run: programmatic dependent launch.

use std::fs;
use std::process::Command;

use crate::program::{Program, check, source};
use regex_lite::Regex;

/// What a kernel begins by, of the attribute.
const BY_FIRST: &str = "the first lets it begin by `griddepcontrol.launch_dependents`";
const AT_END: &str =
    "it may begin when the blocks of the first have ended, and what these wrote may not be visible yet";

/// Of each case the first kernel, what it does, the second kernel, what it does too early, how many bytes, and what lets it begin.
const TOO_EARLY: [(&str, [&str; 4], u32, &str); 14] = [
    ("read", ["fill", "writes", "read", "reads"], 800, AT_END),
    ("late", ["fill_late", "writes", "read", "reads"], 800, BY_FIRST),
    ("overwrite", ["fill_late", "writes", "write", "writes"], 800, BY_FIRST),
    ("write", ["look_late", "reads", "write", "writes"], 800, BY_FIRST),
    // Of 200 numbers in two blocks of 128 threads, 64 and 64 are read after the wait.
    ("branch", ["fill_late", "writes", "branch", "reads"], 4 * (200 - 64 - 64), BY_FIRST),
    ("leader", ["fill_late", "writes", "leader", "reads"], 4 * (200 - 2), BY_FIRST),
    ("count", ["fill_late", "writes", "count", "reads"], 4, BY_FIRST),
    ("never", ["fill_late", "writes", "never", "reads"], 800, BY_FIRST),
    ("add", ["fill_late", "writes", "add", "changes"], 800, BY_FIRST),
    ("copy", ["fill_late", "writes", "copy", "reads"], 800, BY_FIRST),
    ("bulk", ["fill_late", "writes", "bulk", "reads"], 512, BY_FIRST),
    ("fence", ["fill_early", "writes", "never", "reads"], 800, BY_FIRST),
    ("look_after", ["look_early", "reads", "write", "writes"], 800, BY_FIRST),
    ("third", ["look_late", "writes", "never", "reads"], 800, BY_FIRST),
];

/// The line of a kernel that is marked to do this.
fn line_of(text: &str, kernel: &str, verb: &str) -> usize {
    let begin = text.find(&format!("__global__ void {kernel}(")).expect("the kernel is there");
    let marked = text[begin..].find(&format!("~{verb}")).expect("its line is marked");
    text[..begin + marked].lines().count()
}

/// The lines of the program that findings name. An atomic is in a header of the toolkit, and they name the program's line too.
fn lines_in(printed: &str) -> Vec<usize> {
    let place = Regex::new(r"(?m)pdl\.cu:(\d+)(?:, PTX line .*)?$").expect("it is valid");
    place.captures_iter(printed).map(|found| found[1].parse().expect("a number")).collect()
}

#[test]
fn what_a_kernel_uses_too_early_is_found() {
    let text = fs::read_to_string(source("pdl.cu")).expect("the program");
    let program = Program::of_nvcc("pdl.cu", &[]);
    for (case, [first, does, second, uses], bytes, begins) in TOO_EARLY {
        let (code, printed, complaint) = program.check(&[case]);
        assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
        let stream = if case == "third" { "the default stream" } else { "stream 1" };
        let title = format!(
            "error[race]: kernel `{first}` in {stream} {does} bytes that kernel `{second}` in {stream} {uses} before \
             `griddepcontrol.wait`, and nothing orders the two\n"
        );
        let help =
            "help: execute `griddepcontrol.wait` (cudaGridDependencySynchronize()) in every thread before this access";
        for words in [&title, begins, help, &format!("{bytes} bytes are used by both")] {
            assert!(printed.contains(words), "{case}: no `{words}`: {printed}");
        }
        assert_eq!(
            lines_in(&printed),
            [line_of(&text, first, does), line_of(&text, second, uses)],
            "{case}: {printed}"
        );
        program.is_silent(&["right", case]);
    }
    let printed = program.is_silent(&["silent"]);
    assert!(printed.starts_with("done\n"), "{printed}");
}

/// A kernel waits, and reads as constant what the one before it has written while it may have run.
#[test]
fn what_changes_under_a_kernel_is_no_constant() {
    let text = fs::read_to_string(source("pdl.cu")).expect("the program");
    let program = Program::of_nvcc("pdl.cu", &[]);
    let (code, printed, complaint) = program.check(&["cached"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let title = "error[nc]: kernel `fill_late` in stream 1 writes bytes that kernel `cached` in stream 1 reads as constant, and both may run \
                 at the same time\n";
    assert!(printed.contains(title) && printed.contains("800 bytes are used by both"), "{printed}");
    assert_eq!(
        lines_in(&printed),
        [line_of(&text, "fill_late", "writes"), line_of(&text, "cached", "reads")],
        "{printed}"
    );
    program.is_silent(&["right", "cached"]);
}

/// Of a graph that a stream captured, an edge to such a kernel is one of programmatic dependent launch.
#[test]
fn what_a_node_of_a_graph_uses_too_early_is_found() {
    let program = Program::of_nvcc("pdl.cu", &[]);
    let (code, printed, complaint) = program.check(&["captured"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let title = "error[race]: kernel `fill` in node 1 of a graph writes bytes that kernel `read` in node 2 of a graph reads before \
                 `griddepcontrol.wait`, and nothing orders the two\n";
    assert!(printed.contains(title) && printed.matches("error[").count() == 1, "{printed}");
    for case in ["captured", "captured_silent"] {
        program.is_silent(&["right", case]);
    }
}

/// The attribute does nothing on GPUs before sm_90.
#[test]
fn an_older_gpu_launches_one_kernel_after_the_other() {
    let program = Program::of_nvcc("pdl.cu", &["-gencode".into(), "arch=compute_80,code=compute_80".into()]);
    for (sm, expected) in [("80", 0), ("90", 1)] {
        let (code, printed, complaint) = check(&["--sm", sm], Command::new(program.path()).arg("never"));
        assert_eq!(code, Some(expected), "sm_{sm}: {printed}{complaint}");
    }
}
