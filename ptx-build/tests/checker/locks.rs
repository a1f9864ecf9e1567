//! `cargo ptx check`, with locks that a program takes while it calls the driver.

use std::process::Command;

use tempfile::TempDir;

use crate::program::{check, source, toolkit};

/// Python's lock is waited for only a while: its owner may wait for a lock that the caller has.
#[test]
fn a_lock_of_a_library_around_its_calls_makes_no_deadlock() {
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("liblocks.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Werror", "-shared", "-fPIC", "-pthread"]).arg("-I").arg(toolkit().join("include"));
    assert!(compiler.arg("-o").arg(&library).arg(source("locks.c")).status().expect("the compiler starts").success());
    let mut program = Command::new("timeout");
    program.args(["60", "python3"]).arg(source("locks.py")).arg(&library);
    let (_, printed, complaint) = check(&[], &program);
    assert!(printed.starts_with("done\n"), "{printed}{complaint}");
    assert!(complaint.contains("the program launched no kernel"), "{complaint}");
}

/// A thread that waits for Python's lock is ended with the interpreter.
#[test]
fn calls_while_the_interpreter_ends_are_no_fault() {
    let (_, printed, complaint) = check(&[], Command::new("python3").arg(source("ends.py")));
    assert_eq!(printed, "0 0 0\n0\n0\n", "{complaint}");
    assert!(complaint.starts_with("error: the program launched no kernel\n"), "{complaint}");
    assert!(
        complaint.ends_with("→ it has used the driver: see whether it leaves out what it was to launch\n"),
        "{complaint}"
    );
}
