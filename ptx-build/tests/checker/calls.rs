//! `cargo ptx check` finds calls of the host that come too early, and says where the program makes the calls of a finding.
#![cfg(target_arch = "x86_64")]

use std::fs;

use crate::program::{Program, source};

/// Of each case the title, and where the host is; `#` is the next line that is marked with the case.
const CASES: [(&str, &str, &[&str]); 12] = [
    (
        "function",
        "error[race]: a copy (cudaMemcpyAsync) in stream 1 writes bytes that a function of the host in stream 2 reads without waiting",
        &["::: #, take of the host", "--> #, function of the host"],
    ),
    (
        "callback",
        "error[race]: kernel `fill` in stream 1 writes bytes that a function of the host in stream 2 reads without waiting",
        &["::: #, take of the host"],
    ),
    (
        "graph",
        "error[race]: a copy (cudaMemcpyAsync) in stream 1 writes bytes that a function of the host in stream 2 reads without waiting",
        &["::: #, take of the host", "--> #, graph of the host"],
    ),
    (
        "free_host",
        "error[race]: a copy (cudaMemcpyAsync) in stream 1 reads memory that the host hands to cudaFreeHost without waiting",
        &["--> #, free_host of the host", "::: #, free_host of the host"],
    ),
    (
        "unregister",
        "error[race]: kernel `fill` in stream 1 writes memory that the host hands to cudaHostUnregister without waiting",
        &["::: #, unregister of the host"],
    ),
    (
        "free_of_stream",
        "error[race]: kernel `fill` in stream 1 writes memory that the host hands to cudaFree without waiting",
        &["::: #, free_of_stream of the host"],
    ),
    (
        "copies",
        "error[race]: a copy (cudaMemcpyAsync) in stream 1 writes bytes that a fill (cudaMemsetAsync) in stream 2 writes, and nothing \
         orders the two",
        &["--> #, copies of the host", "::: #, copies of the host"],
    ),
    (
        "launches",
        "error[race]: kernel `fill` in stream 1 writes bytes that kernel `fill` in stream 2 writes, and nothing orders the two",
        &[
            "= note: the first: kernel `fill`, launch 2, number 2 in stream 1, called at # in launches",
            "= note: the second: kernel `fill`, launch 3, number 1 in stream 2, called at # in launches",
        ],
    ),
    (
        "beyond",
        "error[bounds]: cudaMemcpy is given 132 bytes at byte 0 of allocation 2 (cudaMalloc) of 128 bytes",
        &["--> #, beyond of the host"],
    ),
    (
        "batch",
        "error[race]: a copy (cudaMemcpyBatchAsync) in part 1 of a call writes bytes that a copy (cudaMemcpyBatchAsync) in part 2 of a call \
         writes, and nothing orders the two",
        &["::: #, batch of the host"],
    ),
    (
        "source",
        "error[race]: a copy (cudaMemcpyWithAttributesAsync) in stream 1 reads bytes that the host writes without waiting",
        &["--> #, source of the host"],
    ),
    (
        "pool",
        "error[race]: kernel `fill` in stream 1 writes bytes that cudaFreeAsync in stream 2 frees, and nothing orders the two",
        &["::: #, pool of the host"],
    ),
];

#[test]
fn calls_that_come_too_early_are_found_and_named() {
    let text = fs::read_to_string(source("host_calls.cu")).expect("the program");
    let program = Program::of_nvcc("host_calls.cu", &["-Xcompiler".into(), "-g".into()]);
    for (case, title, places) in CASES {
        let mark = format!("~{case}");
        let is_marked = |(_, line): &(usize, &str)| line.split_whitespace().any(|word| word == mark);
        let marked: Vec<usize> = text.lines().enumerate().filter(is_marked).map(|(at, _)| at + 1).collect();
        assert_eq!(marked.len(), places.len(), "{case}");
        let (code, printed, complaint) = program.check(&[case]);
        assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        assert!(lines.contains(&title), "{case}: no `{title}`: {printed}");
        for (place, line) in places.iter().zip(marked) {
            let place = place.replace('#', &format!("{}:{line}", source("host_calls.cu").display()));
            assert!(lines.contains(&&*place), "{case}: no `{place}`: {printed}");
        }
        assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
        program.is_silent(&["right", case]);
    }
    program.is_silent(&["freed"]);
    program.is_silent(&["others"]);
}

/// The line of a kernel counts each finding that names the kernel.
#[test]
fn a_kernel_has_the_findings_that_name_it() {
    let program = Program::of_nvcc("host_calls.cu", &[]);
    for (case, count) in [("unregister", "1 finding in 2 launches"), ("copies", "no findings in 1 order")] {
        let (_, printed, complaint) = program.check(&[case]);
        let line = printed.lines().find(|line| line.starts_with("fill: ")).unwrap_or_default();
        assert!(line.starts_with(&format!("fill: {count}")), "{case}: {printed}{complaint}");
    }
}

/// A program that looks at no error ends well, but nothing of it was checked.
#[test]
fn a_kernel_that_cannot_be_run_is_named() {
    let program = Program::of_nvcc_with("arch=compute_90,code=sm_90", "host_calls.cu", &[]);
    let (code, printed, complaint) = program.check(&["freed"]);
    assert_eq!(code, Some(2), "{printed}{complaint}");
    let line = "cargo ptx check: `_Z4fillPi` is not run: the program has machine code of it alone";
    assert_eq!(complaint.lines().filter(|other| *other == line).count(), 1, "{complaint}");
    // One that only asks for it, and goes on without it, would not do so on a GPU that has its machine code.
    for (code, times) in [("sm_90", 1), ("sm_100", 0)] {
        let own = format!("arch=compute_{},code={code}", &code[3..]);
        let newer = ["-gencode".to_owned(), "arch=compute_120,code=compute_120".to_owned()];
        let (code, printed, complaint) = Program::of_nvcc_with(&own, "host_calls.cu", &newer).check(&["asks"]);
        assert_eq!(code, Some(2), "{printed}{complaint}");
        assert_eq!(complaint.lines().filter(|other| *other == line).count(), times, "{complaint}");
    }
}
