//! Kernels that wait for another GPU, another stream or the host, and work that comes after them.

use std::process::Command;

use crate::program::{Program, check};

/// A case has one finding, with these words, and its twin has none: with so many GPUs.
fn finds(program: &Program, gpus: &str, case: &str, words: &[&str]) {
    let run = |words: &[&str]| check(&["--gpus", gpus, "--seeds", "2"], Command::new(program.path()).args(words));
    let (code, printed, complaint) = run(&[case]);
    assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
    for words in words {
        assert!(printed.contains(words), "{case}: no `{words}`: {printed}");
    }
    assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
    let (code, printed, complaint) = run(&["right", case]);
    assert_eq!(code, Some(0), "right {case}: {printed}{complaint}");
    assert!(printed.starts_with("done\n"), "right {case}: {printed}");
}

fn program() -> Program {
    Program::of_nvcc("together.cu", &["-Xcompiler".into(), "-g".into(), "-Xcompiler".into(), "-pthread".into()])
}

#[test]
fn gpus_wait_for_each_other() {
    let program = program();
    let (sum, tells) = ("together.cu:55", "together.cu:38");
    for gpus in ["2", "3"] {
        let title =
            "error[order]: a thread reads what earlier work of another GPU has written, and nothing orders the two";
        finds(&program, gpus, "fence", &[title, sum, "__threadfence_system()"]);
        finds(&program, gpus, "threads", &[title, sum]);
        let title = "reads bytes that kernel `fill` in stream 1 of GPU 0 writes, and nothing orders the two";
        finds(&program, gpus, "end", &["error[race]: kernel `all_reduce` in stream ", title, sum]);
        let title = " reads bytes that kernel `fill` in stream 1 of GPU 0 writes, and nothing orders the two";
        finds(&program, gpus, "ring", &["error[race]: kernel `pass_on` in stream ", title, "together.cu:79"]);
        let title =
            "error[order]: a thread writes what earlier work of another GPU has read, and nothing orders the two";
        finds(&program, gpus, "buffers", &[title, "together.cu:108"]);
        finds(&program, gpus, "early", &["error[uninitialised]: bytes are read that nobody has written", sum]);
        let title = "error[order]: two strong accesses race, because the scope of one is narrower than `.sys`";
        finds(&program, gpus, "atomic", &[title, "called at", "together.cu:58", "of GPU 1 "]);
        let title = "error[bounds]: a kernel of GPU 0 uses memory of GPU 1, and peer access is not enabled";
        finds(&program, gpus, "peer", &[title, tells, "cudaDeviceEnablePeerAccess"]);
    }
}

#[test]
fn a_kernel_waits_for_a_stream_or_the_host() {
    let program = program();
    let title = "error[race]: kernel `tells` in stream 2 writes bytes that kernel `waits` in stream 1 reads, and nothing orders the two";
    finds(&program, "1", "stream", &[title]);
    let title = "error[race]: kernel `adds` in stream 2 writes bytes that kernel `waits` in stream 1 writes, and nothing orders the two";
    finds(&program, "1", "event", &[title]);
    let title = "error[deadlock]: all threads wait, and nobody is left who could end that";
    finds(&program, "1", "host", &[title, "together.cu:90", "goes around in a loop"]);
    finds(&program, "1", "nobody", &[title, "together.cu:90"]);
}

#[test]
fn a_stream_waits_for_a_function_of_the_host() {
    let title = "error[race]: kernel `adds` in stream 2 writes bytes that kernel `adds` in stream 1 writes, and nothing orders the two";
    finds(&program(), "1", "function", &[title]);
}
