//! `cargo ptx check` finds what the host does with memory that the GPU may still use, and with memory that is the GPU's alone.
#![cfg(target_arch = "x86_64")]

use std::fs;

use tempfile::TempDir;

use crate::program::{Program, line_marked, source};

/// Of each case what uses the bytes, how, and what the host does.
const TOO_EARLY: [(&str, &str, &str, &str); 13] = [
    ("read", "kernel `fill` in stream 1", "writes", "reads"),
    ("last", "kernel `fill` in stream 1", "writes", "reads"),
    ("counter", "kernel `sum` in the default stream", "changes", "reads"),
    ("overwrite", "kernel `sum` in the default stream", "reads", "writes"),
    ("copy_to", "a copy (cudaMemcpyAsync) in stream 1", "writes", "reads"),
    ("copy_from", "a copy (cudaMemcpyAsync) in stream 1", "reads", "writes"),
    ("early_event", "kernel `fill` in stream 1", "writes", "reads"),
    ("wrong_stream", "kernel `fill` in stream 1", "writes", "reads"),
    ("in_registered", "kernel `fill` in stream 1", "writes", "reads"),
    ("graph", "kernel `fill` in node 1 of a graph", "writes", "reads"),
    ("other_thread", "kernel `fill` in stream 1", "writes", "reads"),
    ("second_time", "kernel `fill` in stream 1", "writes", "reads"),
    ("variable", "kernel `count` in the default stream", "changes", "reads"),
];

/// Where the host is wrong in a case.
fn line_of(text: &str, case: &str) -> usize {
    line_marked(text, case).expect("the line is marked")
}

#[test]
fn what_the_host_does_is_checked() {
    let (program, text) = (
        Program::of_nvcc("host.cu", &["-Xcompiler".into(), "-g".into()]),
        fs::read_to_string(source("host.cu")).expect("the program"),
    );
    finds_what_it_uses_too_early(&program, &text);
    finds_flags_that_tell_nothing(&program, &text);
    finds_pointers_to_device_memory(&program, &text);
    is_silent_otherwise(&program);
}

/// A case has one finding, with these words, and its twin has none.
fn finds(program: &Program, case: &str, words: &[&str]) {
    let (code, printed, complaint) = program.check(&[case]);
    assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
    for words in words {
        assert!(printed.contains(words), "{case}: no `{words}`: {printed}");
    }
    assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
    program.is_silent(&["right", case]);
}

fn finds_what_it_uses_too_early(program: &Program, text: &str) {
    for (case, first, does, host) in TOO_EARLY {
        let title = format!("error[race]: {first} {does} bytes that the host {host} without waiting\n");
        let place = format!("host.cu:{}, ", line_of(text, case));
        let what = format!("^ the host {host} byte ");
        finds(program, case, &[&title, &place, " of the host\n", &what, "help: let the host wait before that, for "]);
    }
}

fn finds_flags_that_tell_nothing(program: &Program, text: &str) {
    let flag = format!("host.cu:{}, PTX line ", line_of(text, "flag"));
    let untold = "note: the flag tells the host nothing of the first: between the two is no release for the system";
    for case in ["flag_early", "flag_narrow", "flag_barrier"] {
        let title = "error[race]: kernel `tell_of_all` in stream 1 writes bytes that the host reads without waiting\n";
        let place = format!("host.cu:{}, ", line_of(text, case));
        let help = "help: put `fence.acq_rel.sys` (__threadfence_system()) between the first and the flag, or store ";
        finds(program, case, &[title, &flag, " stores what the host may look at, byte 0 ", &place, untold, help]);
    }
    let title =
        "error[race]: kernel `tell_of_all` in stream 1 writes bytes that kernel `sum` in stream 2 reads, and nothing";
    let place = format!("host.cu:{} in flag_next\n", line_of(text, "flag_next"));
    finds(program, "flag_next", &[title, untold, &place]);
}

fn finds_pointers_to_device_memory(program: &Program, text: &str) {
    for (case, does) in [("pointer_read", "reads"), ("pointer_write", "writes"), ("pointer_of_many", "reads")] {
        let title = format!("error[bounds]: the host {does} device memory\n");
        let place = format!("host.cu:{}, ", line_of(text, case));
        finds(program, case, &[&title, &place, "help: copy the bytes (cudaMemcpy)"]);
    }
}

fn is_silent_otherwise(program: &Program) {
    let printed = program.is_silent(&["silent"]);
    assert!(printed.starts_with("found "), "{printed}");
    let printed = program.is_silent(&["handled"]);
    assert!(printed.starts_with("10\n"), "{printed}");
}

/// Without lines of the source there is the name of the function.
#[test]
fn a_program_without_lines_names_its_function() {
    let (code, printed, complaint) = Program::of_nvcc("host.cu", &[]).check(&["read"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(
        printed.contains("note: the host reads byte 0 of allocation 2 (cudaMallocManaged) of 12000 bytes in read()"),
        "{printed}"
    );
}

/// What Cargo has fetched is somebody else's: a finding names the line of the program that calls it.
#[test]
fn a_line_of_the_program_is_named_and_not_one_of_a_crate() {
    let text = fs::read_to_string(source("crates.c")).expect("the program");
    for fetched in ["registry/src/index", "git/checkouts/copied"] {
        let folder = TempDir::new().expect("a folder");
        let crates = folder.path().join(fetched);
        fs::create_dir_all(&crates).expect("a folder of Cargo's");
        fs::copy(source("copied.h"), crates.join("copied.h")).expect("the crate");
        let program = Program::of_cc("crates.c", &["-g", "-I", &crates.display().to_string()]);
        let (code, printed, complaint) = program.check(&[]);
        assert_eq!(code, Some(1), "{printed}{complaint}");
        let place = format!("crates.c:{}, main of the host", line_of(&text, "copied"));
        assert!(printed.lines().any(|line| line.ends_with(&place)), "{fetched}: no `{place}`: {printed}");
    }
}
