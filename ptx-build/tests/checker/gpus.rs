//! `cargo ptx check --gpus 2`: each GPU has its own streams, memory and variables, and work of two GPUs needs an order.

use std::process::Command;

use crate::loaded::python;
use crate::program::{Program, check, source};

/// What a program with two GPUs prints and is found to do.
fn with_two(program: &Program, words: &[&str]) -> (Option<i32>, String, String) {
    check(&["--gpus", "2"], Command::new(program.path()).args(words))
}

/// A case has one finding, with these words, and its twin has none.
fn finds(program: &Program, case: &str, words: &[&str]) {
    let (code, printed, complaint) = with_two(program, &[case]);
    assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
    for words in words {
        assert!(printed.contains(words), "{case}: no `{words}`: {printed}");
    }
    assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
    let (code, printed, complaint) = with_two(program, &["right", case]);
    assert_eq!(code, Some(0), "right {case}: {printed}{complaint}");
    assert!(printed.starts_with("cudaSuccess\ncudaSuccess\n"), "{case}: {printed}");
}

fn program() -> Program {
    Program::of_nvcc("gpus.cu", &["-Xcompiler".into(), "-g".into()])
}

#[test]
fn two_gpus_need_an_order() {
    let program = program();
    let title = "error[race]: kernel `fill` in stream 3 of GPU 1 writes bytes that kernel `add` in stream 1 of GPU 0 reads, \
                 and nothing orders the two\n";
    let memory = "byte 0 of allocation 5 (cudaMalloc) of GPU 1 of 256 bytes";
    finds(&program, "event", &[title, memory, "let stream 1 of GPU 0 wait for it", "(launch 2 of GPU 0: add, seed 0)"]);
    let title =
        "kernel `fill` in stream 3 of GPU 1 writes bytes that a copy (cudaMemcpyPeerAsync) in stream 1 of GPU 0 reads";
    finds(&program, "copy", &[title]);
    finds(
        &program,
        "back",
        &["in stream 1 of GPU 0 writes bytes that a copy (cudaMemcpyAsync) in stream 3 of GPU 1 reads"],
    );
    let title = "in the default stream of GPU 1 writes bytes that kernel `add` in the default stream of GPU 0 reads";
    finds(&program, "defaults", &[title]);
    finds(
        &program,
        "managed",
        &["kernel `count` in stream 3 of GPU 1 writes bytes that the host reads without waiting"],
    );
    let title = "a copy (cudaMemcpyPeerAsync) in stream 1 of GPU 0 writes memory that the host hands to cudaFree without waiting";
    finds(&program, "freed", &[title, "no document says that cudaFree waits for a GPU that has no access"]);
    // The copy comes too early, and what is filled behind it too.
    let (code, printed, complaint) = with_two(&program, &["whole"]);
    assert_eq!((code, printed.matches("error[race]").count()), (Some(1), 2), "{printed}{complaint}");
    let (code, printed, complaint) = with_two(&program, &["right", "whole"]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
}

#[test]
fn memory_of_another_gpu_needs_access() {
    let program = program();
    let title = "error[bounds]: a kernel of GPU 0 uses memory of GPU 1, and peer access is not enabled\n";
    let (end, help) =
        ("cudaErrorIllegalAddress\ncudaErrorIllegalAddress\n", "= help: enable it (cudaDeviceEnablePeerAccess)");
    let memory = "argument 1: allocation 5 (cudaMalloc) of GPU 1, to which GPU 0 has no access";
    finds(&program, "peer", &[title, memory, help, end]);
    finds(&program, "backwards", &[title, memory, help, end]);
    finds(&program, "disabled", &[title, memory, help, end]);
    finds(&program, "variable", &[title, "argument 1: the variable calls of GPU 1, to which GPU 0 has no access", end]);
    let title = "error[bounds]: a kernel of GPU 0 uses memory of GPU 1, and has no access to its pool\n";
    finds(&program, "pool", &[title, "= help: give it access: cudaMemPoolSetAccess", end]);
}

const ANSWERS: &str = "\
GPU 0: calls 6, value 10, variable of 0, of all 8
GPU 1: calls 7, value 20, variable of 1, of all 9
bus 0 1, uuid other
a third: cudaErrorInvalidDevice
a negative one: cudaErrorInvalidDevice
can access: 1
itself: 0
attribute: 1
attribute of one: cudaErrorInvalidDevice
enable: cudaSuccess
enable again: cudaErrorPeerAccessAlreadyEnabled
disable: cudaSuccess
disable again: cudaErrorPeerAccessNotEnabled
enable a third: cudaErrorInvalidDevice
record in another GPU's stream: cudaErrorInvalidResourceHandle
wait for another GPU's event: cudaSuccess
ask for another GPU's event: cudaSuccess
launch in another GPU's stream: cudaErrorInvalidResourceHandle
copy in another GPU's stream: cudaSuccess
copy to a third: cudaErrorInvalidDevice
time between two GPUs: cudaErrorInvalidResourceHandle
stream of 1
taken here: 1, there: 0
";

/// Each GPU has its own copy of a variable, and what CUDA refuses is refused.
#[test]
fn two_gpus_have_cudas_answers() {
    for program in [program(), Program::with_runtime("gpus.cu")] {
        let (code, printed, complaint) = with_two(&program, &["answers"]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with(ANSWERS), "{printed}");
    }
}

#[test]
fn the_driver_has_two_gpus() {
    let program = Program::of_cc("gpus.c", &["-ldl", "-Wno-missing-braces"]);
    let (code, printed, complaint) = with_two(&program, &[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
    let (code, printed, complaint) = with_two(&program, &["access"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let title = "error[bounds]: a kernel of GPU 0 uses memory of GPU 1, and has no access to it\n";
    let memory = "argument 0: mapped memory 8 (cuMemMap) of GPU 1, to which GPU 0 has no access";
    for words in [title, memory, "= help: give it access: cuMemSetAccess"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[test]
fn the_management_library_has_two_gpus() {
    let program = Program::of_cc("management.c", &["-ldl"]);
    let (_, printed, complaint) = with_two(&program, &["2"]);
    assert!(printed.ends_with("\nright\n"), "{printed}{complaint}");
}

#[test]
fn pytorch_has_two_devices() {
    let python = python();
    let run = |words: &[&str]| check(&["--gpus", "2"], Command::new(&python).arg(source("python/gpus.py")).args(words));
    let (code, printed, complaint) = run(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
    for (word, second) in
        [("before", "that kernel `twice` in stream"), ("behind", "that a copy (cudaMemcpyAsync) in stream")]
    {
        let (code, printed, complaint) = run(&[word]);
        assert_eq!(code, Some(1), "{word}: {printed}{complaint}");
        assert!(printed.contains("error[race]: kernel `twice` in ") && printed.contains(second), "{word}: {printed}");
        assert_eq!(printed.matches("error[").count(), 1, "{word}: {printed}");
    }
}

#[test]
fn a_variable_says_which_gpus_are_visible() {
    let program = program();
    let count = |gpus: &[&str], visible: Option<&str>| {
        let mut command = Command::new(program.path());
        command.arg("count");
        visible.map(|visible| command.env("CUDA_VISIBLE_DEVICES", visible));
        check(gpus, &command).1.lines().next().map(str::to_owned)
    };
    let four = &["--gpus", "4"];
    assert_eq!(count(&[], None).as_deref(), Some("cudaSuccess 1"));
    assert_eq!(count(&[], Some("3")).as_deref(), Some("cudaSuccess 1"), "it does not count without --gpus");
    assert_eq!(count(four, None).as_deref(), Some("cudaSuccess 4"));
    assert_eq!(count(four, Some("2,0")).as_deref(), Some("cudaSuccess 2"));
    assert_eq!(count(four, Some("2,7,1")).as_deref(), Some("cudaSuccess 1"));
    assert_eq!(count(four, Some("GPU-7074782d-696e-7465-7270-726574657203")).as_deref(), Some("cudaSuccess 1"));
    assert_eq!(count(four, Some("1,1")).as_deref(), Some("cudaErrorNoDevice 0"));
    assert_eq!(count(four, Some("")).as_deref(), Some("cudaErrorNoDevice 0"));
}
