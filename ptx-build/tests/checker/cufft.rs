//! `cargo ptx check` computes what programs ask cuFFT for, and checks the memory of each call.
#![cfg(target_arch = "x86_64")]

use std::fs;

use crate::program::{Program, line_marked, source, stand_in};
use tempfile::TempDir;

/// A program that is linked to cuFFT.
fn program(options: &[&str]) -> (TempDir, Program) {
    let (folder, names) = stand_in("fft.cu", "cufft", "12");
    assert_eq!(names, 26);
    let program = Program::linked("fft.cu", folder.path(), "cufft", options);
    (folder, program)
}

/// For each type: eleven shapes, each in six ways. Complex ones are transformed in both directions.
const VALUES: &str = "\
0x29: 132 of 132
0x2a: 66 of 66
0x2c: 66 of 66
0x69: 132 of 132
0x6a: 66 of 66
0x6c: 66 of 66
";

/// Rows: sizes, and a type; dimensions; plans that are not made or not there; a direction, and another type; no memory, and a plan
/// that is made; what is missing; a plan that is gone.
const STATUSES: &str = "8 8 4\n4\n1 1 1\n4 4\n4 1\n14 14\n1 12\n";

#[test]
fn transforms_are_plain_sums() {
    // Also if the program finds NVIDIA's library by a path of its own.
    for options in [&[][..], &["-Xlinker", "--disable-new-dtags,-rpath=FOLDER"]] {
        let (_folder, program) = program(options);
        let printed = program.is_silent(&["values"]);
        assert!(printed.starts_with(VALUES), "{printed}");
        assert!(printed.contains("\ncufftExecC2C: no findings in 132 calls\n"), "{printed}");
        let printed = program.is_silent(&["made"]);
        assert!(printed.starts_with("13 right 1 1\n"), "{printed}");
        let (_, printed, complaint) = program.check(&["statuses"]);
        assert!(printed.starts_with(STATUSES), "{printed}");
        for missing in ["cufftXtMakePlanMany for numbers of 16 bits is missing here", "cufftXtSetGPUs is missing here"]
        {
            assert!(complaint.contains(missing), "{complaint}");
        }
    }
}

#[test]
fn memory_of_a_transform_is_checked() {
    let text = fs::read_to_string(source("fft.cu")).expect("the program");
    let (_folder, program) = program(&["-Xcompiler", "-g"]);
    for (case, title) in [
        (
            "order",
            "error[race]: kernel `fill` in stream 2 writes bytes that cufftExecC2C in stream 1 writes, and nothing orders the two",
        ),
        (
            "apart",
            "error[race]: kernel `fill` in stream 2 writes bytes that cufftExecC2R in stream 1 reads, and nothing orders the two",
        ),
        (
            "area",
            "error[race]: cufftExecC2C in stream 1 writes bytes that cufftExecC2C in stream 2 writes, and nothing orders the two",
        ),
        ("outside", "error[bounds]: cufftExecR2C reads what is outside of every allocation, as idata"),
        ("unwritten", "error[uninitialised]: cufftExecR2C reads idata, which nobody has written"),
    ] {
        let line = line_marked(&text, case).expect("a line is marked");
        program.is_wrong(case, title, &format!("fft.cu:{line}, "));
    }
}
