//! `cargo ptx check`, with programs that nvcc links to the runtime of CUDA.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use ptx_build::cccl::CCCL;
use ptx_build::command::Machine;
use ptx_build::progress::Progress;
use regex_lite::Regex;
use tempfile::TempDir;

use crate::program::{Program, check, source, toolkit};

#[test]
fn a_program_of_nvcc_runs_with_its_own_host_code() {
    let program = Program::of_nvcc("runtime.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("sm_90: right\n"), "{printed}");
    assert_eq!(printed.matches("no findings in ").count(), 3, "{printed}");
    let (code, printed, complaint) = program.check(&["long"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("0 bytes beyond the end of argument 0: allocation 4 (cudaMalloc)"), "{printed}");
    assert!(printed.contains("runtime.cu:11"), "{printed}");
    // The kernels before have written to other memory. What reads it first writes to it too.
    let (code, printed, complaint) = program.check(&["unset"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert_eq!(printed.matches("error[uninitialised]: bytes are read that nobody has written").count(), 1, "{printed}");
    assert!(printed.contains("of argument 0: allocation 5 (cudaMalloc)"), "{printed}");
    assert!(printed.contains("(launch 3: swap_in_cluster, seed 0)"), "{printed}");
    // Half of an allocation has been written.
    let (code, printed, complaint) = program.check(&["part"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert_eq!(printed.matches("error[").count(), 1, "{printed}");
    assert!(printed.contains("among them byte 128 of argument 0: allocation 5 (cudaMalloc)"), "{printed}");
}

/// The functions of the runtime in a program are replaced, and each ends in this library.
#[test]
fn a_program_with_the_runtime_in_it_runs() {
    let program = Program::with_runtime("runtime.cu");
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(!complaint.contains("cargo ptx check:"), "{complaint}");
    assert!(printed.starts_with("sm_90: right\n"), "{printed}");
    assert_eq!(printed.matches("no findings in ").count(), 3, "{printed}");
    let (code, printed, complaint) = program.check(&["long"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("0 bytes beyond the end of argument 0: allocation 4 (cudaMalloc)"), "{printed}");
    // Another program starts it.
    let (code, printed, complaint) = check(&[], Command::new("env").arg(program.path()));
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("sm_90: right\n"), "{printed}");
}

/// What `runtime12.c` prints: its own functions would give 999.
const OF_12: &str = "0 9 0 132 1\n0 0 0 0 0 0\n0 0 0 0 0 0 0 3 1 7\n0 0 0 0 0 0\n0 400\n0 999\n";

/// CUDA 11 has smaller structures, and functions whose later versions take other arguments.
#[test]
fn a_program_with_the_runtime_of_cuda_11_runs() {
    let (code, printed, complaint) = Program::of_cc("runtime11.c", &["-O0"]).check(&[]);
    // It launches no kernel.
    assert_eq!(code, Some(2), "{printed}{complaint}");
    assert_eq!(printed, format!("0 9 132 0 {}\n0 0 0 0 0 0\n0 0 1\n", 0x0707_0707), "{complaint}");
}

/// Functions of CUDA 12's runtime are replaced by those that take the same arguments, and the program's own stay.
#[test]
fn a_program_with_the_runtime_of_cuda_12_runs() {
    let (code, printed, complaint) = Program::of_cc("runtime12.c", &["-O0"]).check(&[]);
    // It launches no kernel.
    assert_eq!(code, Some(2), "{printed}{complaint}");
    assert_eq!(printed, OF_12, "{complaint}");
}

/// The same functions out of a library, beside the driver's: both know the same streams.
#[test]
fn a_program_linked_to_the_runtime_of_cuda_12_runs() {
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("libcudart.so.12");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-DLIBRARY", "-Wl,-soname,libcudart.so.12", "-o"]).arg(&library);
    assert!(compiler.arg(source("runtime12.c")).status().expect("the compiler starts").success());
    let library = library.to_str().expect("the path is text");
    let program = Program::of_cc("runtime12.c", &["-O0", "-DPROGRAM", "-Wl,--no-as-needed", library]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(2), "{printed}{complaint}");
    assert_eq!(printed, OF_12, "{complaint}");
}

/// One mistake in a template is one finding, whatever its instances.
#[test]
fn instances_of_a_template_are_told_together() {
    let program = Program::of_nvcc("instances.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert_eq!(printed.matches("error[").count(), 1, "{printed}");
    assert!(printed.contains("(launch 1: mirror<…>, one of 2 instances, seed 0)"), "{printed}");
    let summary = "\nmirror<…> (2 instances): 1 finding in 3 launches, each in 1 order of its threads, ";
    assert!(printed.contains(summary), "{printed}");
    let (_, printed, complaint) = check(&["--json"], &Command::new(program.path()));
    let findings: Vec<serde_json::Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(findings.len(), 1, "{printed}{complaint}");
    assert_eq!(findings[0]["kernels"].as_array().map(Vec::len), Some(2), "{printed}");
}

/// Pieces of memory that are mapped side by side are one array, which grows, has holes, and is closed.
#[test]
fn a_program_maps_memory() {
    let program = Program::of_cc("virtual.c", &["-Wno-missing-braces"]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
    assert!(printed.contains("store: no findings in 3 launches"), "{printed}");
    for (word, expected) in [
        ("long", "0 bytes beyond the end of argument 0: mapped memory 1 (cuMemMap), which has 6291456 bytes"),
        ("hole", "4 bytes before mapped memory 1 (cuMemMap)"),
        ("closed", "byte 0 of argument 0: mapped memory 1 (cuMemMap), which was freed by cuMemSetAccess"),
    ] {
        let (code, printed, complaint) = program.check(&[word]);
        assert_eq!(code, Some(1), "{word}: {printed}{complaint}");
        assert!(printed.contains("error[bounds]") && printed.contains(expected), "{word}: {printed}");
    }
}

/// One piece that is mapped twice is one memory: for kernels and copies, in every order, and in the order between streams.
#[test]
fn a_program_maps_memory_twice() {
    let program = Program::of_cc("alias.c", &["-Wno-missing-braces"]);
    for seeds in ["1", "3"] {
        let (code, printed, complaint) = check(&["--seeds", seeds], &Command::new(program.path()));
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with("right\n"), "{printed}");
    }
    for (word, kind, expected) in [
        ("plain", "proxy", "byte 0 of argument 0: mapped memory 1 (cuMemMap), which is another address"),
        ("streams", "race", "kernel `store` in stream 1 writes bytes that kernel `store` in stream 2 writes"),
        ("closed", "bounds", "byte 0 of argument 0: mapped memory 1 (cuMemMap), which was freed by cuMemUnmap"),
    ] {
        let (code, printed, complaint) = program.check(&[word]);
        assert_eq!(code, Some(1), "{word}: {printed}{complaint}");
        let kind = format!("error[{kind}]");
        assert!(printed.contains(&kind) && printed.contains(expected), "{word}: {printed}");
    }
}

/// A library of objects stands for the device's runtime, whose barrier of the grid is PTX here.
#[test]
fn a_kernel_calls_the_runtime_of_the_device() {
    let (code, printed, complaint) = Program::of_cc("grid_sync.c", &[]).check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\nturn: no findings in 3 launches"), "{printed}");
}

/// `printf`, `assert`, and a barrier of the whole grid.
#[test]
fn a_program_uses_the_system_of_the_gpu() {
    let program = Program::of_nvcc("system.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    let said =
        "begin\n0 in warps:  0.00|0   |a  0 -1 1e-07%\n32 in warps: 10.67|20  |b-32 -1 1e-07%\ncudaSuccess\nright\n";
    assert!(printed.starts_with(said), "{printed}");
    assert_eq!(printed.matches("no findings").count(), 2, "{printed}");
    let (code, printed, complaint) = program.check(&["asserts"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("cudaErrorAssert\n"), "{printed}");
    assert!(printed.contains("error[launch]: an assertion of the kernel does not hold"), "{printed}");
    assert!(printed.contains("the assertion `numbers[at] < 100` does not hold"), "{printed}");
    let (code, printed, complaint) = program.check(&["plain"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("= help: launch it cooperatively, since its blocks wait for each other"), "{printed}");
}

/// `malloc` and `free` of kernels, `new` and `delete`.
#[test]
fn kernels_allocate_memory() {
    let program = Program::of_nvcc("heap.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right, cudaErrorInvalidValue, 8388608, some given\n"), "{printed}");
    let found = |word: &str, kind: &str, what: &str, line: &str| {
        let (code, printed, complaint) = program.check(&[word]);
        assert_eq!(code, Some(1), "{printed}{complaint}");
        assert!(printed.contains(kind) && printed.contains(what) && printed.contains(line), "{printed}");
    };
    found("forgets", "error[uninitialised]", "memory that malloc gave", "heap.cu:22");
    found("twice", "error[bounds]: memory is freed", "which the kernel has freed", "heap.cu:40");
    found(
        "beyond",
        "error[bounds]: an access is outside",
        "0 bytes beyond the end of memory that malloc gave",
        "heap.cu:38",
    );
}

/// What has no value has none after kernels and the driver have copied it.
#[test]
fn undefined_values_are_followed_from_launch_to_launch() {
    let program = Program::of_nvcc("undefined.cu", &[]);
    for word in ["", "set"] {
        let (code, printed, complaint) = program.check(&[word]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with("right\n"), "{printed}");
    }
    let (code, printed, complaint) = program.check(&["wrong"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert_eq!(printed.matches("error[").count(), 1, "{printed}");
    for words in [
        "error[uninitialised]: bytes are read that nobody has written",
        "of argument 1: allocation 3 (cudaMalloc)",
        "undefined.cu:31",
        "= note: a launch or a copy before has put there what it had read of such bytes",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

/// CUB takes nvcc ten seconds of one core, and its wheel has to be fetched: `cargo test -p ptx-build --test checker runtime -- --ignored`.
#[test]
#[ignore = "it downloads CUB, and nvcc compiles it: cargo test -p ptx-build --test checker -- --ignored runtime"]
fn cub_runs_with_its_own_host_code() {
    let folder = CCCL.provide(&Machine::current(), &Progress::new()).expect("CUB");
    let include = format!("-I{}", folder.join("nvidia/cu13/include/cccl").display());
    let (code, printed, complaint) = Program::of_nvcc("cub.cu", &[include]).check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
}

/// Boxes go in and out through tensor maps: at the edges, with sums, and swizzled.
#[test]
fn a_program_copies_by_tensor_maps() {
    let program = Program::of_nvcc("tensor.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("0 wrong, no error\n"), "{printed}");
    assert_eq!(printed.matches("no findings").count(), 3, "{printed}");
    let (code, printed, complaint) = program.check(&["forgets"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[proxy]") && printed.contains("tensor.cu:4"), "{printed}");
    let (_, printed, complaint) = program.check(&["wide"]);
    let why = "cuTensorMapEncodeTiled: boxDim[0] has 128 bytes: a swizzle of 64 bytes takes 64 at most";
    assert!(printed.contains("refused: 1") && complaint.contains(why), "{printed}{complaint}");
}

/// Each of 12,000 tensor maps is made, or refused with a reason, as an H100's driver does.
#[test]
fn tensor_maps_are_refused_as_by_a_gpu() {
    let (code, printed, complaint) = Program::of_nvcc("maps.cu", &[]).check(&[]);
    // It launches no kernel.
    assert_eq!(code, Some(2), "{complaint}");
    let expected = fs::read_to_string(source("maps.txt")).expect("the answers");
    let expected = expected.chars().filter(|answer| !answer.is_whitespace());
    let mut reasons = complaint.lines().filter(|line| line.starts_with("cargo ptx check: cuTensorMapEncode"));
    let mut count = 0;
    for (map, answer) in printed.lines().zip(expected.clone()) {
        let reason = if map.starts_with('0') { "" } else { reasons.next().expect("each refusal has a reason") };
        assert!(map.starts_with(answer), "map {count} has {answer} on a GPU, and here {map}\n{reason}");
        count += 1;
    }
    assert_eq!((count, expected.count(), printed.lines().count(), reasons.count()), (12_000, 12_000, 12_000, 0));
}

/// Programs whose default stream is each thread's own call functions of other names.
#[test]
fn the_default_stream_of_each_thread() {
    let program = Program::of_nvcc("per_thread.cu", &["--default-stream".into(), "per-thread".into()]);
    let calls = Command::new("nm").args(["-D", "--undefined-only"]).arg(program.path()).output().expect("nm starts");
    let calls = String::from_utf8(calls.stdout).expect("text");
    assert_eq!((calls.matches("_ptsz").count(), calls.matches("_ptds").count()), (8, 3), "{calls}");
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("0 0 apart\n"), "{printed}");
    assert_eq!(printed.matches("no findings in 4 launches").count(), 1, "{printed}");
    let (code, printed, complaint) = program.check(&["long"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("per_thread.cu:10"), "{printed}");

    let program = Program::of_cc("per_thread.c", &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]);
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-interpreter/tests/corpus/shared.ptx");
    let (code, printed, complaint) = program.check(&[image.to_str().expect("the path is text")]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    let expected = "cuLaunchKernel_ptsz: 32640 98176, 32896 98432, apart, found\n";
    assert!(printed.starts_with(expected), "{printed}");
}

/// Every function of NVIDIA's that a program may be linked with is there, or named when it is called. One that is there has its
/// other name too, for programs whose default stream is each thread's own.
#[test]
fn every_function_has_its_names() {
    let names = |text: &str| -> BTreeSet<String> {
        let name = Regex::new(r"\b(?:__)?cu(?:da)?[A-Z]\w*").expect("it is valid");
        name.find_iter(text).map(|name| name.as_str().to_owned()).collect()
    };
    let exported = |path: &str| {
        let (_, printed, complaint) =
            check(&[], Command::new("sh").args(["-c", &format!("nm -D --defined-only {path}")]));
        assert!(printed.contains(" T "), "{printed}{complaint}");
        names(&printed)
    };
    let ours = exported("\"${LD_LIBRARY_PATH%%:*}/libcudart.so.13\"");
    let runtime = exported(toolkit().join("lib/libcudart.so.13").to_str().expect("the path is text"));
    let driver = names_of_driver();
    for (all, part, counts) in [(&runtime, "runtime", (458, 329, 74, 65)), (&driver, "driver", (684, 438, 105, 86))] {
        let lost: Vec<_> = all.difference(&ours).collect();
        assert!(lost.is_empty(), "{part}: {lost:?}");
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../ptx-gpu/src/{part}/missing.rs"));
        let missing = names(&fs::read_to_string(list).expect("the list of what is missing"));
        let of_thread = |name: &&String| name.ends_with("_ptsz") || name.ends_with("_ptds");
        for name in all.iter().filter(of_thread) {
            let plain = &name[..name.len() - "_ptsz".len()];
            assert_eq!(missing.contains(name), missing.contains(plain), "{name}");
        }
        let there: Vec<_> = all.difference(&missing).collect();
        let of_threads = (all.iter().filter(of_thread).count(), there.iter().filter(|name| of_thread(name)).count());
        assert_eq!((all.len(), there.len(), of_threads.0, of_threads.1), counts, "{part}");
    }
}

/// What the header of the driver declares, and what it makes of the names.
fn names_of_driver() -> BTreeSet<String> {
    let header = fs::read_to_string(toolkit().join("include/cuda.h")).expect("the header");
    let of_thread = Regex::new(r"__CUDA_API_PT([SD])[ZS]\((cu\w+)\)").expect("it is valid");
    let of_thread = of_thread.captures_iter(&header).flat_map(|found| {
        let ending = if &found[1] == "S" { "_ptsz" } else { "_ptds" };
        [found[2].to_owned(), format!("{}{ending}", &found[2])]
    });
    let plain = Regex::new(r"CUDAAPI\s+(cu\w+)\s*\(|#define cu\w+\s+(cu\w+_v\d)\b").expect("it is valid");
    let plain =
        plain.captures_iter(&header).filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str().to_owned()));
    of_thread.chain(plain).collect()
}

/// Graphs that streams captured or that were made node by node, launched many times, and changed.
#[test]
fn graphs_are_launched_and_checked() {
    let program = Program::of_nvcc("graphs.cu", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
    assert_eq!(printed.matches("no findings in 24 launches").count(), 3, "{printed}");
    let (code, printed, complaint) = program.check(&["long"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.starts_with("cudaErrorIllegalAddress\n"), "{printed}");
    assert!(printed.contains("beyond the end of argument 0: allocation 1 (cudaMalloc)"), "{printed}");

    let program = Program::of_cc("graphs.c", &[]);
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-interpreter/tests/corpus/shared.ptx");
    let (code, printed, complaint) = program.check(&[image.to_str().expect("the path is text")]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\nright_reduce: no findings in 5 launches"), "{printed}");
}

/// Each mistake has CUDA's error, and a capture that it spoils ends with none.
#[test]
fn mistakes_with_graphs_have_their_errors() {
    let (code, printed, complaint) = Program::of_nvcc("graph_mistakes.cu", &[]).check(&[]);
    let expected = fs::read_to_string(source("graph_mistakes.txt")).expect("the errors");
    assert!(printed.starts_with(&expected), "{printed}");
    // Two kernels of a graph cannot be launched as they are.
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert_eq!(printed.matches("error[launch]").count(), 2, "{printed}");
    assert_eq!(complaint.matches("the capture ends without a graph").count(), 19, "{complaint}");
}

/// What wrong calls return is what an H100's driver returned, line by line. A finding is no line of the program.
#[test]
fn mistakes_have_the_errors_of_a_real_driver() {
    let (code, printed, complaint) = Program::of_nvcc("mistakes.cu", &[]).check(&[]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let expected = fs::read_to_string(source("mistakes.txt")).expect("the errors");
    let mut lines = printed.lines();
    for line in expected.lines() {
        assert!(lines.any(|other| other == line), "not returned, or not here: {line}\n{printed}");
    }
    assert_eq!(expected.lines().count(), 233);
}

/// What two pieces of work use lacks an order, and the twin has it. The title, and words of what else is said.
const WITHOUT_ORDER: [(&str, &str, &str); 17] = [
    ("two_streams", "kernel `add` in stream 1 writes bytes that kernel `add` in stream 2 writes", "streams.cu:8"),
    (
        "read_after_write",
        "a fill (cudaMemsetAsync) in stream 1 writes bytes that kernel `sum` in stream 2 reads",
        "streams.cu:13",
    ),
    (
        "write_after_read",
        "kernel `sum` in stream 1 reads bytes that a fill (cudaMemsetAsync) in stream 2 writes",
        "40 bytes are used by both, the first of them byte 40 of allocation 1 (cudaMalloc)",
    ),
    (
        "too_early",
        "kernel `add` in stream 1 writes bytes that kernel `sum` in stream 2 reads",
        "up to number 1, and the first came later: its event is recorded too early",
    ),
    (
        "non_blocking",
        "kernel `add` in the default stream writes bytes that kernel `add` in stream 3 writes",
        "a stream that does not block does not wait for the default stream",
    ),
    (
        "host_copy",
        "kernel `add` in stream 3 writes bytes that a copy (cudaMemcpy) in the default stream reads",
        "record an event in stream 3 after the first",
    ),
    (
        "device_copy",
        "a copy (cudaMemcpy) in the default stream writes bytes that kernel `add` in stream 3 writes",
        "launch 1, number 1 in stream 3",
    ),
    (
        "pinned_copy",
        "a copy (cudaMemcpyAsync) in stream 1 writes bytes that a copy (cudaMemcpyAsync) in stream 2 reads",
        "of allocation 3 (cudaHostAlloc)",
    ),
    ("freed", "kernel `add` in stream 1 writes bytes that cudaFreeAsync in stream 2 frees", "or free it in stream 1"),
    (
        "allocated",
        "cudaMallocAsync in stream 1 allocates bytes that a fill (cudaMemsetAsync) in stream 2 writes",
        "or allocate it in stream 2",
    ),
    (
        "edge",
        "a copy (cudaGraphAddMemcpyNode1D) in node 1 of a graph writes bytes that kernel `add` in node 2 of a graph writes",
        "add an edge from the first node to the second",
    ),
    (
        "child",
        "a copy (cudaGraphAddMemcpyNode1D) in node 1 of a graph reads bytes that a fill (cuGraphAddMemsetNode) in node 2.1 of a graph writes",
        "add an edge",
    ),
    (
        "captured",
        "kernel `add` in node 1 of a graph writes bytes that kernel `add` in node 2 of a graph writes",
        "let the stream of the second wait for it",
    ),
    (
        "after_graph",
        "a copy (cudaGraphAddMemcpyNode1D) in node 1 of a graph writes bytes that kernel `add` in stream 2 writes",
        "node 1 of a graph in stream 1",
    ),
    ("flag", "kernel `hand_over` in stream 1 writes bytes that kernel `take_over` in stream 2 reads", "streams.cu:25"),
    ("value", "kernel `add` in stream 1 writes bytes that kernel `add` in stream 2 writes", "streams.cu:8"),
    (
        "event_node",
        "a copy (cudaGraphAddMemcpyNode1D) in node 1 of a graph writes bytes that kernel `add` in stream 2 writes",
        "streams.cu:8",
    ),
];

#[test]
fn work_without_an_order_is_found() {
    let program = Program::of_nvcc("streams.cu", &[]);
    for (name, title, words) in WITHOUT_ORDER {
        let (code, printed, complaint) = program.check(&[name]);
        assert_eq!(code, Some(1), "{name}: {printed}{complaint}");
        assert!(printed.contains(&format!("error[race]: {title}, and nothing orders the two\n")), "{name}: {printed}");
        assert!(printed.contains(words) && printed.matches("error[").count() == 1, "{name}: {printed}");
        program.is_silent(&["right", name]);
    }
    program.is_silent(&["silent"]);
}

/// The same form as other findings: as JSON, and silenced by a kernel, a line or a call.
#[test]
fn work_without_an_order_is_told_as_other_findings_are() {
    let program = Program::of_nvcc("streams.cu", &[]);
    let check = |options: &[&str], case: &str| {
        let (code, printed, _) = check(options, Command::new(program.path()).arg(case));
        (code, printed)
    };
    let (code, printed) = check(&["--json"], "too_early");
    assert_eq!(code, Some(1), "{printed}");
    let line = printed.lines().find(|line| line.starts_with('{')).expect("a finding");
    let finding: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let places = finding["places"].as_array().expect("a list");
    let lines: Vec<_> = places.iter().map(|place| (place["function"].as_str(), place["line"].as_u64())).collect();
    assert_eq!(lines, [(Some("_Z3addPiii"), Some(8)), (Some("_Z3sumPKiPii"), Some(13))], "{finding}");
    assert_eq!((finding["kind"].as_str(), finding["launch"].as_u64()), (Some("race"), Some(3)), "{finding}");

    for (case, place) in
        [("too_early", "_Z3sumPKiPii"), ("too_early", "streams.cu:8"), ("pinned_copy", "cudaMemcpyAsync")]
    {
        let allowed = tempfile::NamedTempFile::new().expect("a file");
        fs::write(allowed.path(), format!("race {place} it is meant to be wrong")).expect("it is written");
        let (code, printed) = check(&["--allow", allowed.path().to_str().expect("the path is text")], case);
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.contains("1 finding is silenced"), "{printed}");
    }
}
