//! `cargo ptx check --weak` runs each launch of a program with older values too.

use std::process::Command;

use crate::program::{Program, check};

/// The exit code and the lines.
fn run(program: &Program, options: &[&str], case: &str) -> (Option<i32>, Vec<String>) {
    let (code, printed, complaint) = check(options, Command::new(program.path()).arg(case));
    assert!(!complaint.contains("cargo ptx check: "), "{complaint}");
    (code, printed.lines().map(str::to_owned).collect())
}

const WEAK: [&str; 3] = ["--weak", "--seeds", "20"];

#[test]
fn older_values_are_found_in_a_whole_program() {
    let program = Program::of_nvcc("weak.cu", &[]);
    // Strong accesses do not race.
    let (code, lines) = run(&program, &["--seeds", "20"], "wrong");
    assert_eq!(code, Some(0), "{lines:#?}");
    let (code, lines) = run(&program, &WEAK, "wrong");
    assert_eq!(code, Some(1), "{lines:#?}");
    // The program goes on with the newest values.
    assert_eq!(lines[..2], ["49", "49"], "{lines:#?}");
    assert_eq!(
        lines[2],
        "error[order]: older values, which the memory model lets loads return, change what the kernel leaves"
    );
    let note = "= note: allocation 1 (cudaMalloc) has 0x0 at byte 8 instead of 0x7, which every order leaves there if loads return the \
                newest values";
    assert!(lines.iter().any(|line| line.trim() == note), "{lines:#?}");
    let summary = "hand_over: 1 finding in 2 launches, each in 28 orders of its threads, ";
    assert!(lines.iter().any(|line| line.starts_with(summary)), "{lines:#?}");
    let (code, lines) = run(&program, &WEAK, "right");
    assert_eq!(code, Some(0), "{lines:#?}");
    assert!(
        lines[2].starts_with("hand_over: no findings in 2 launches, each in 28 orders of its threads, "),
        "{lines:#?}"
    );
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

#[test]
fn what_depends_on_the_order_is_not_compared() {
    let (code, lines) = run(&Program::of_nvcc("weak.cu", &[]), &WEAK, "draw");
    assert_eq!(code, Some(0), "{lines:#?}");
    let told =
        "draw: launch 1: words of allocation 1 (cudaMalloc) that depend on the order of threads are not compared";
    assert_eq!(lines.iter().filter(|line| *line == told).count(), 1, "{lines:#?}");
}
