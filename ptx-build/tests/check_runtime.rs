//! `cargo ptx check`, with programs that nvcc links to the runtime of CUDA.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::cccl::CCCL;
use ptx_build::command::Machine;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use tempfile::TempDir;

/// Compiles a program, and says how the check of it ends, and what it prints and complains of.
fn check(source: &str, include: Option<PathBuf>, words: &[&str]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().expect("a folder");
    let nvcc = CudaTools::find(&Progress::new()).and_then(|tools| tools.nvcc(&Progress::new())).expect("nvcc");
    let libraries = nvcc.path.ancestors().nth(2).expect("it is in a toolkit").join("lib");
    symlink(libraries.join("libcudart.so.13"), folder.path().join("libcudart.so")).expect("a link");
    let program = folder.path().join("program");
    let mut compiler = Command::new(&nvcc.path);
    compiler.args(["-cudart", "shared", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-lineinfo", "-o"]);
    compiler.arg(&program).arg("-L").arg(folder.path());
    compiler.args(include.into_iter().map(|path| format!("-I{}", path.display())));
    compiler.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(source));
    assert!(compiler.status().expect("nvcc starts").success());
    let mut check = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    let output = check.args(["ptx", "check", "--"]).arg(program).args(words).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_program_of_nvcc_runs_with_its_own_host_code() {
    let (code, printed, complaint) = check("runtime.cu", None, &[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("sm_90: right\n"), "{printed}");
    assert_eq!(printed.matches("no findings in 1 order of its threads").count(), 2, "{printed}");
    let (code, printed, complaint) = check("runtime.cu", None, &["long"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("0 bytes beyond the end of argument 0: allocation 4 (cudaMalloc)"), "{printed}");
    assert!(printed.contains("runtime.cu:11"), "{printed}");
}

/// `printf`, `assert`, and a barrier of the whole grid.
#[test]
fn a_program_uses_the_system_of_the_gpu() {
    let (code, printed, complaint) = check("system.cu", None, &[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    let said =
        "begin\n0 in warps:  0.00|0   |a  0 -1 1e-07%\n32 in warps: 10.67|20  |b-32 -1 1e-07%\ncudaSuccess\nright\n";
    assert!(printed.starts_with(said), "{printed}");
    assert_eq!(printed.matches("no findings").count(), 2, "{printed}");
    let (code, printed, complaint) = check("system.cu", None, &["asserts"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("cudaErrorAssert\n"), "{printed}");
    assert!(printed.contains("error[launch]: an assertion of the kernel does not hold"), "{printed}");
    assert!(printed.contains("the assertion `numbers[at] < 100` does not hold"), "{printed}");
    let (code, printed, complaint) = check("system.cu", None, &["plain"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("= help: launch it cooperatively, since its blocks wait for each other"), "{printed}");
}

/// CUB takes nvcc ten seconds of one core, and its wheel has to be fetched: `cargo test -p ptx-build --test check_runtime -- --ignored`.
#[test]
#[ignore = "it fetches CUB, and nvcc needs ten seconds for it"]
fn cub_runs_with_its_own_host_code() {
    let folder = CCCL.provide(&Machine::current(), &Progress::new()).expect("CUB");
    let (code, printed, complaint) = check("cub.cu", Some(folder.join("nvidia/cu13/include/cccl")), &[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}");
}

/// Boxes go in and out through tensor maps: at the edges, with sums, and swizzled.
#[test]
fn a_program_copies_by_tensor_maps() {
    let (code, printed, complaint) = check("tensor.cu", None, &[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("0 wrong, no error\n"), "{printed}");
    assert_eq!(printed.matches("no findings").count(), 3, "{printed}");
    let (code, printed, complaint) = check("tensor.cu", None, &["forgets"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[proxy]") && printed.contains("tensor.cu:4"), "{printed}");
    let (_, printed, complaint) = check("tensor.cu", None, &["wide"]);
    let why = "cuTensorMapEncodeTiled: boxDim[0] has 128 bytes: a swizzle of 64 bytes takes 64 at most";
    assert!(printed.contains("refused: 1") && complaint.contains(why), "{printed}{complaint}");
}
