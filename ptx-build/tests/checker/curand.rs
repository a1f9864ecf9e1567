//! `cargo ptx check` draws the numbers that programs ask cuRAND for, and checks the memory of each call.
#![cfg(target_arch = "x86_64")]

use std::fs;

use crate::program::{Program, line_marked, source, stand_in};
use tempfile::TempDir;

/// A program that is linked to cuRAND.
fn program(options: &[&str]) -> (TempDir, Program) {
    let (folder, names) = stand_in("rand.cu", "curand", "10");
    assert_eq!(names, 18);
    let program = Program::linked("rand.cu", folder.path(), "curand", options);
    (folder, program)
}

/// Their mean and their spread are as asked for. Then: all are above 0 and up to 1, an offset skips numbers, and host and device have
/// the same.
const VALUES: &str = "\
bits: right, 0.50 below 2.14748e+09
uniform: right, 0.25 below 0.25
uniform double: right, 0.25 below 0.25
normal: right, 0.16 below 1
normal double: right, 0.84 below 3
log-normal: right, 0.50 below 1
log-normal double: right, 0.50 below 1
Poisson: right, 0.43 below 3.5
1 1 1
";

/// Rows: kinds of generators and none; offsets and orders; a count that is odd and a mean below 0; what is missing; one that is
/// gone.
const STATUSES: &str = "103 103 101\n103 104\n105 104\n103 103\n101\n";

#[test]
fn numbers_are_distributed_as_they_are_asked_for() {
    // Also if the program finds NVIDIA's library by a path of its own.
    for options in [&[][..], &["-Xlinker", "--disable-new-dtags,-rpath=FOLDER"]] {
        let (_folder, program) = program(options);
        let printed = program.is_silent(&["values"]);
        assert!(printed.starts_with(VALUES), "{printed}");
        assert!(printed.contains("\ncurandGenerate: no findings in 2 calls\n"), "{printed}");
        let printed = program.check(&["statuses"]).1;
        assert!(printed.starts_with(STATUSES), "{printed}");
    }
}

#[test]
fn memory_of_a_call_is_checked() {
    let text = fs::read_to_string(source("rand.cu")).expect("the program");
    let (_folder, program) = program(&["-Xcompiler", "-g"]);
    for (case, title) in [
        ("outside", "error[bounds]: curandGenerateUniform writes what is outside of every allocation, as outputPtr"),
        (
            "order",
            "error[race]: curandGenerateNormal in stream 1 writes bytes that a copy (cudaMemcpyAsync) in stream 2 reads, and nothing \
             orders the two",
        ),
    ] {
        let line = line_marked(&text, case).expect("a line is marked");
        program.is_wrong(case, title, &format!("rand.cu:{line}, "));
    }
}
