//! `cargo ptx check` computes what programs ask cuBLAS for, and checks the memory of each call.
#![cfg(target_arch = "x86_64")]

use std::fs;

use crate::program::{Program, line_marked, source, stand_in};
use regex_lite::Regex;
use tempfile::TempDir;

/// A program that is linked to cuBLAS.
fn program(name: &str, options: &[&str]) -> (TempDir, Program) {
    let (folder, names) = stand_in("blas.h", "cublas", "13");
    assert_eq!(names, 23);
    let program = Program::linked(name, folder.path(), "cublas", options);
    (folder, program)
}

/// Runs all routines of a program, of which none may be wrong.
fn computes(name: &str, expected: &str, routines: usize, calls: usize) {
    let (_folder, program) = program(name, &[]);
    let (_, printed, complaint) = program.check(&[]);
    assert!(printed.starts_with(expected), "{printed}{complaint}");
    let summary = Regex::new(r"(?m)^cublas\w+: no findings in (\d+) calls?$").expect("it is valid");
    let counts: Vec<usize> = summary.captures_iter(&printed).map(|of| of[1].parse().expect("a number")).collect();
    assert_eq!((counts.len(), counts.iter().sum::<usize>()), (routines, calls), "{printed}");
    assert!(!printed.contains("error["), "{printed}");
}

#[test]
fn routines_compute_what_loops_compute() {
    computes("blas_values.cu", "0 wrong of 440924 values, 469 functions\n", 466, 13_924);
}

#[test]
fn products_of_the_light_library_compute_what_loops_compute() {
    computes("blas_lt.cu", "0 wrong of 26311 values, 13 functions\n", 2, 245);
}

/// A call's finding: the case, its kind, its title, what the call does, and the help.
const WRONG: [(&str, &str, &str, &str, &str); 13] = [
    (
        "small_c",
        "bounds",
        "cublasSgemm_v2 writes what is outside of every allocation, as C",
        "writes C (16 by 16), 1024 bytes in one piece: 0 bytes beyond the end of allocation 3 (cudaMalloc) of 1020 bytes",
        "allocate as many bytes as its size and its leading dimension ask for",
    ),
    (
        "column_distance",
        "bounds",
        "cublasSgemm_v2 reads what is outside of every allocation, as A",
        "reads A (16 by 16), 64 bytes in one piece: 0 bytes beyond the end of allocation 1 (cudaMalloc) of 1024 bytes",
        "allocate as many bytes as its size and its leading dimension ask for",
    ),
    (
        "unwritten",
        "uninitialised",
        "cublasSgemm_v2 reads A, which nobody has written",
        "reads A (16 by 16): byte 0 of allocation 1 (cudaMalloc) of 1024 bytes",
        "write it before the call: by a copy, a fill or a kernel",
    ),
    (
        "unwritten_c",
        "uninitialised",
        "cublasSgemm_v2 reads C, which nobody has written",
        "reads C (16 by 16): byte 0 of allocation 3 (cudaMalloc) of 1024 bytes",
        "write it before, or give 0 as beta",
    ),
    (
        "freed",
        "bounds",
        "cublasSgemm_v2 reads memory that was freed, as A",
        "reads A (16 by 16), 1024 bytes in one piece: byte 0 of allocation 1 (cudaMalloc), which was freed by cudaFree of 1024 bytes",
        "free it after the last call that uses it is done",
    ),
    (
        "host_matrix",
        "bounds",
        "cublasSgemm_v2 reads memory of the host, as A",
        "reads A (16 by 16), 1024 bytes in one piece: address *, which is memory of the host",
        "copy the bytes to device memory, or allocate them with cudaMallocManaged",
    ),
    (
        "odd_address",
        "misaligned",
        "cublasSgemm_v2 is given A, which is not aligned",
        "reads A (16 by 16): byte 2 of allocation 1 (cudaMalloc) of 1028 bytes",
        "begin it at a multiple of 4 bytes",
    ),
    (
        "alpha_on_host",
        "bounds",
        "cublasSgemm_v2 reads memory of the host, as alpha",
        "reads alpha, 4 bytes in one piece: address *, which is memory of the host",
        "set the pointer mode to CUBLAS_POINTER_MODE_HOST, or give a pointer to device memory",
    ),
    (
        "alpha_on_device",
        "bounds",
        "cublasSgemm_v2 reads device memory on the host, as alpha",
        "reads alpha: byte 0 of allocation 4 (cudaMalloc) of 4 bytes",
        "set the pointer mode to CUBLAS_POINTER_MODE_DEVICE (cublasSetPointerMode), or give a pointer of the host",
    ),
    (
        "pointers_on_host",
        "bounds",
        "cublasSgemmBatched reads memory of the host, as Aarray",
        "reads Aarray, 8 bytes in one piece: address *, which is memory of the host",
        "copy the bytes to device memory, or allocate them with cudaMallocManaged",
    ),
    (
        "member_of_batch",
        "bounds",
        "cublasSgemmBatched writes what is outside of every allocation, as C",
        "writes C (16 by 16), 1024 bytes in one piece: 0 bytes beyond the end of allocation 3 (cudaMalloc) of 512 bytes",
        "allocate as many bytes as its size and its leading dimension ask for",
    ),
    (
        "bias",
        "bounds",
        "cublasLtMatmul reads what is outside of every allocation, as bias",
        "reads bias (16 elements), 64 bytes in one piece: 0 bytes beyond the end of allocation 4 (cudaMalloc) of 60 bytes",
        "allocate as many bytes as its size and its leading dimension ask for",
    ),
    (
        "result_on_host",
        "bounds",
        "cublasSdot_v2 writes device memory on the host, as result",
        "writes result: byte 0 of allocation 2 (cudaMalloc) of 4 bytes",
        "set the pointer mode to CUBLAS_POINTER_MODE_DEVICE (cublasSetPointerMode), or give a pointer of the host",
    ),
];

/// A missing order: the case, the first, what it does, and the second with what it does.
const WITHOUT_ORDER: [(&str, &str, &str); 7] = [
    (
        "reads_too_early",
        "kernel `fill` in stream 2 writes",
        "cublasSgemm_v2 in stream 1 reads, and nothing orders the two",
    ),
    (
        "is_read_too_early",
        "cublasSgemm_v2 in stream 1 writes",
        "kernel `fill` in stream 2 writes, and nothing orders the two",
    ),
    ("two_calls", "cublasSgemm_v2 in stream 1 writes", "cublasSgemm_v2 in stream 2 reads, and nothing orders the two"),
    (
        "graph",
        "cublasSgemm_v2 in node 1 of a graph writes",
        "cublasSgemm_v2 in node 2 of a graph reads, and nothing orders the two",
    ),
    (
        "result_on_device",
        "cublasSdot_v2 in stream 1 writes",
        "a copy (cudaMemcpyAsync) in stream 2 reads, and nothing orders the two",
    ),
    ("pinned", "cublasSgemm_v2 in stream 1 writes", "the host reads without waiting"),
    ("pinned_matrix", "a copy (cublasSetMatrixAsync) in stream 1 reads", "the host writes without waiting"),
];

/// Where a case is wrong: at its own mark, or in the function that most cases call.
fn line_of(text: &str, case: &str) -> usize {
    line_marked(text, case).or_else(|| line_marked(text, "multiply")).expect("a line is marked")
}

#[test]
fn wrong_calls_are_found() {
    let text = fs::read_to_string(source("blas.cu")).expect("the program");
    let (_folder, program) = program("blas.cu", &["-Xcompiler", "-g"]);
    let address = Regex::new("address 0x[0-9a-f]+").expect("it is valid");
    for (case, kind, title, does, help) in WRONG {
        let (code, printed, complaint) = program.check(&[case]);
        assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
        let printed = address.replace_all(&printed, "address *");
        for line in [format!("error[{kind}]: {title}"), format!("   = help: {help}")] {
            assert!(printed.lines().any(|other| other.trim() == line.trim()), "{case}: no `{line}`: {printed}");
        }
        let place = format!("blas.cu:{}, ", line_of(&text, case));
        assert!(printed.contains(&place) && printed.contains(&format!("^ the call {does}\n")), "{case}: {printed}");
        assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
        program.is_silent(&["right", case]);
    }
    for (case, first, second) in WITHOUT_ORDER {
        let place = format!("blas.cu:{}, ", line_of(&text, case));
        program.is_wrong(case, &format!("error[race]: {first} bytes that {second}"), &place);
    }
}

/// Rows: a product, other routines, types, copies and handles, what is missing, and a handle that is gone.
const STATUSES: &str =
    "0 1 7 7 7 7 0\n7 7 7 7\n15 15\n7 7 7 7\n15 CUBLAS_STATUS_NOT_SUPPORTED an invalid value was given 1\n0 1\n";

/// The library takes the place of NVIDIA's, also if the program finds that by a path of its own.
#[test]
fn wrong_arguments_have_the_status_of_the_manual() {
    for options in [&[][..], &["-Xlinker", "--disable-new-dtags,-rpath=FOLDER"]] {
        let (_folder, program) = program("blas.cu", options);
        let (code, printed, complaint) = program.check(&["statuses"]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with(STATUSES), "{printed}{complaint}");
        let missing = "cargo ptx check: cublasSgetrfBatched is missing here and returns CUBLAS_STATUS_NOT_SUPPORTED: let the program do \
                       without it, or run this part on a GPU";
        assert!(complaint.lines().any(|line| line == missing), "{complaint}");
    }
}

/// Without lines of the source there is the name of the function.
#[test]
fn a_call_without_lines_names_its_function() {
    let (_folder, program) = program("blas.cu", &[]);
    let (code, printed, complaint) = program.check(&["unwritten"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let note = "   = note: the call reads A (16 by 16): byte 0 of allocation 1 (cudaMalloc) of 1024 bytes in multiply(";
    assert!(printed.lines().any(|line| line.trim().starts_with(note.trim())), "{printed}");
}
