//! `cargo ptx audit` with what compilers leave behind: nvcc's programs and objects, the caches of Triton and of CuTe, rustc's PTX.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use serde_json::Value;
use tempfile::TempDir;

const SOURCE: &str = "\
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * __ldcs(x + i);
}
int main() { scale<<<1, 32>>>(nullptr, nullptr, 0); }
";

static TOOLS: LazyLock<(CudaTools, PathBuf)> = LazyLock::new(|| {
    let tools = CudaTools::find(&Progress::new()).unwrap_or_else(|error| panic!("{error}"));
    let nvcc = tools.nvcc(&Progress::new()).unwrap_or_else(|error| panic!("{error}"));
    (tools, nvcc.path)
});

fn run(folder: &Path, program: &Path, words: &[&str]) {
    let output = Command::new(program).args(words).current_dir(folder).output().expect("it starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A folder with the source, and nvcc run in it.
fn compiled(words: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("scale.cu"), SOURCE).expect("it is written");
    run(folder.path(), &TOOLS.1, words);
    folder
}

/// The lines of JSON, or what it complained of.
fn audit(folder: &Path, words: &[&str]) -> Result<Vec<Value>, String> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    let output = program.args(["ptx", "audit", "--json"]).args(words).current_dir(folder).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    match output.status.code() {
        Some(0) => Ok(text(output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()),
        _ => Err(text(output.stderr)),
    }
}

/// The GPUs, whether PTX was read, and the words of loads that were judged.
fn told(lines: &[Value]) -> Vec<(String, bool, String)> {
    let of = |line: &Value| {
        let accesses = line["accesses"].as_array().cloned().unwrap_or_default();
        let words = accesses.iter().flat_map(|one| one["words"].as_array().cloned().unwrap_or_default());
        let words: Vec<String> =
            words.map(|one| format!("{} {}", one["word"].as_str().unwrap_or("?"), one["fate"])).collect();
        (line["gpu"].as_str().unwrap_or("?").to_owned(), !line["assembler"].is_null(), words.join(" "))
    };
    lines.iter().map(of).collect()
}

const KEPT: &str = ".cs \"kept\"";

/// Machine code for sm_90, and PTX that is assembled for the GPU that it names, compressed in each way.
#[test]
fn programs_and_objects_of_nvcc() {
    const BOTH: [&str; 4] = ["-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_80,code=compute_80"];
    for compression in ["none", "speed", "size"] {
        let mode = format!("-compress-mode={compression}");
        let words = [&BOTH[..], &["-c", "-o", "scale.o", "scale.cu", &mode]].concat();
        let folder = compiled(&words);
        let mut found = told(&audit(folder.path(), &["scale.o"]).expect("it is read"));
        found.sort();
        let expected = [("sm_80".to_owned(), true, KEPT.to_owned()), ("sm_90".to_owned(), false, String::new())];
        assert_eq!(found, expected, "{compression}");
    }
    // Linked, as a library that a program loads.
    let folder = compiled(
        &[
            &BOTH[..],
            &[
                "-shared",
                "-cudart",
                "none",
                "-Xcompiler",
                "-fPIC",
                "-Xlinker",
                "--unresolved-symbols=ignore-all",
                "-o",
                "scale.so",
                "scale.cu",
            ],
        ]
        .concat(),
    );
    assert_eq!(told(&audit(folder.path(), &["scale.so"]).expect("it is read")).len(), 2);
}

/// As Triton keeps them: a folder for each hash, with every stage of the kernel.
#[test]
fn a_cache_of_triton() {
    let folder = compiled(&["-ptx", "-arch=compute_90", "-lineinfo", "-o", "scale.ptx", "scale.cu"]);
    let cache = folder.path().join("cache/XKCDPOLYVIDQ7NSIXLBGQ");
    fs::create_dir_all(&cache).expect("a folder");
    fs::copy(folder.path().join("scale.ptx"), cache.join("scale.ptx")).expect("it is copied");
    run(
        folder.path(),
        &TOOLS.0.ptxas,
        &["-arch=sm_90", "-lineinfo", "scale.ptx", "-o", "cache/XKCDPOLYVIDQ7NSIXLBGQ/scale.cubin"],
    );
    for stage in ["ttir", "ttgir", "llir", "json", "source"] {
        fs::write(cache.join(format!("scale.{stage}")), "{\"name\": \"scale\"}").expect("it is written");
    }
    fs::write(cache.join("__grp__scale.json"), "{\"child_paths\": {}}").expect("it is written");
    let lines = audit(folder.path(), &["cache"]).expect("it is read");
    let expected = [("sm_90".to_owned(), false, String::new()), ("sm_90".to_owned(), true, KEPT.to_owned())];
    assert_eq!(told(&lines), expected);
    // The machine code names the source too.
    let accesses = lines[0]["accesses"].as_array().expect("a list");
    let mut files = accesses.iter().filter_map(|one| one["place"]["file"].as_str());
    assert!(files.any(|file| file.ends_with("scale.cu")), "{accesses:?}");
    // A folder without any of it.
    fs::remove_dir_all(&cache).expect("it is ours");
    let complaint = audit(folder.path(), &["cache"]).expect_err("nothing is there");
    assert!(complaint.contains("no file in this folder has PTX or machine code by its name"), "{complaint}");
}

/// The same by Triton itself, which needs no GPU for it.
#[test]
#[ignore = "it needs Triton in python3 (pip install triton): cargo test -p ptx-build --test audit inputs -- --ignored"]
fn a_cache_that_triton_wrote() {
    let folder = TempDir::new().expect("a folder");
    let mut triton = Command::new("python3");
    triton.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/add.py"));
    let output = triton.env("TRITON_CACHE_DIR", folder.path().join("cache")).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = audit(folder.path(), &["cache"]).expect("it is read");
    let found = told(&lines);
    let [machine, ptx] = &found[..] else { panic!("{found:?}") };
    assert_eq!((machine.0.as_str(), machine.1, ptx.0.as_str(), ptx.1), ("sm_90a", false, "sm_90a", true));
    for word in [".L1::evict_first", ".L1::evict_last", ".L2::cache_hint", ".cs"] {
        assert!(ptx.2.contains(&format!("{word} \"kept\"")), "{word}: {}", ptx.2);
    }
    let places =
        lines[1]["accesses"].as_array().expect("a list").iter().filter_map(|one| one["place"]["file"].as_str());
    assert!(places.into_iter().all(|file| file.ends_with("add.py")), "{found:?}");
}

/// As CuTe's compiler keeps them: a module in MLIR's bytecode, with the machine code among its other bytes.
#[test]
fn a_cache_of_cute() {
    let folder = compiled(&["-cubin", "-arch=sm_90a", "-o", "scale.cubin", "scale.cu"]);
    let cubin = fs::read(folder.path().join("scale.cubin")).expect("nvcc wrote it");
    let module = [&b"ML\xefR\x0dMLIR21.0.0git\0gpu.binary\0\x7fELF"[..], &cubin, b"\0nvvm.target\0sm_90a"].concat();
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join("cute").join(name), bytes).expect("it is written");
    fs::create_dir(folder.path().join("cute")).expect("a folder");
    write("scale_8f3a.mlir", &module);
    let lines = audit(folder.path(), &["cute"]).expect("it is read");
    assert_eq!(told(&lines), [("sm_90a".to_owned(), false, String::new())]);
    assert_eq!(lines[0]["accesses"][0]["opcodes"][0], "LDG.E.EF");
    // What is cut off is no machine code.
    write("scale_8f3a.mlir", &module[..module.len() - 200]);
    let complaint = audit(folder.path(), &["cute"]).expect_err("it is cut off");
    assert!(complaint.contains("this is neither PTX nor machine code of a GPU"), "{complaint}");
}
