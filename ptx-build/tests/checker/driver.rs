//! `cargo ptx check`, with programs that know nothing of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A program in C on the functions of the driver, compiled once for a test.
struct Program {
    folder: TempDir,
}

impl Program {
    fn new() -> Program {
        let folder = TempDir::new().expect("a folder");
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-O1", "-o"]).arg(folder.path().join("program"));
        compiler.arg(here().join("tests/check/program.c")).arg("-ldl");
        assert!(compiler.status().expect("a C compiler").success());
        Program { folder }
    }

    /// How the check ends, and what it prints and complains of.
    fn check(&self, options: &[&str], image: &Path, words: &[&str]) -> (Option<i32>, String, String) {
        crate::program::check(options, Command::new(self.folder.path().join("program")).arg(image).args(words))
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_that_knows_nothing_of_it_runs_and_is_checked() {
    let program = Program::new();
    let corpus = here().join("../ptx-interpreter/tests/corpus/shared.ptx");
    let check = |options: &[&str], words: &[&str]| program.check(options, &corpus, words);

    let (code, printed, complaint) = check(&["--sm", "100", "--seeds", "3"], &["right_reduce"]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("sm_100: 32640 98176\n"), "{printed}");
    assert!(printed.contains("right_reduce: no findings in 3 orders of its threads, "), "{printed}");

    let (code, printed, complaint) = check(&[], &["wrong_reduce"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[race]: ") && printed.contains("shared.cu:"), "{printed}");

    let allowed = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(allowed.path(), "race wrong_reduce it is meant to be wrong").expect("it is written");
    let allow = ["--allow", allowed.path().to_str().expect("the path is text")];
    let (code, printed, complaint) = check(&allow, &["wrong_reduce"]);
    // The program sees that its sums are wrong, and no finding says it before.
    assert_eq!(code, Some(2), "{printed}{complaint}");
    assert!(complaint.contains("the program ended with exit status: 5"), "{complaint}");
    assert!(printed.contains("1 finding is silenced, with a reason") && !printed.contains("error["), "{printed}");

    let (code, printed, complaint) = check(&["--json"], &["wrong_reduce"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let lines = printed.lines().filter(|line| line.starts_with('{'));
    let findings: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!findings.is_empty() && findings.iter().all(|finding| finding["kernel"] == "wrong_reduce"), "{printed}");
    assert_eq!(findings[0]["kind"], "race");
}

#[test]
fn mistakes_of_the_host_are_found() {
    let program = Program::new();
    let corpus = here().join("../ptx-interpreter/tests/corpus/shared.ptx");
    let says = |words: &[&str], expected: &str| {
        let (code, printed, complaint) = program.check(&[], &corpus, words);
        assert_eq!(code, Some(1), "{printed}{complaint}");
        assert!(printed.contains(expected), "{printed}");
    };
    says(&["right_reduce", "short"], "error[uninitialised]: bytes are read that nobody has written");
    says(&["right_reduce", "freed"], "error[bounds]: a kernel accesses memory that was freed");
    says(&["right_reduce", "host"], "error[bounds]: a kernel accesses memory of the host");
    says(
        &["right_reduce", "twice"],
        "cuMemFree_v2 frees what is free already: allocation 2 (cuMemAlloc), which was freed by",
    );
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let program = Program::new();
    let fat = here().join("../ptx-sass/tests/fatbin/zstd.fatbin");
    let says = |options: &[&str], image: &Path, kernel: &str, expected: &str| {
        let (code, printed, complaint) = program.check(options, image, &[kernel]);
        assert_eq!(code, Some(2), "{printed}{complaint}");
        assert!(complaint.contains(expected), "{complaint}");
    };
    says(&["--sm", "75"], &fat, "scale", "the image has PTX of sm_80, and the GPU is sm_75");
    says(&[], &fat, "no_kernel", "the program ended with exit status: 3");
    says(&[], &here().join("Cargo.toml"), "scale", "this is no PTX");
}

/// Cargo compiles a client into a folder of its own. The programs are in the second path.
fn client(manifest: &Path) -> (TempDir, PathBuf) {
    let target = TempDir::new().expect("a folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(target.path());
    assert!(cargo.status().expect("cargo starts").success());
    let programs = target.path().join("debug");
    (target, programs)
}

#[test]
#[ignore = "it downloads cudarc and compiles it: cargo test -p ptx-build --test checker -- --ignored cudarc"]
fn a_program_on_cudarc_runs() {
    // Cargo writes a lock file beside the manifest.
    let copy = TempDir::new().expect("a folder");
    let from = here().join("tests/check/cudarc");
    std::fs::create_dir(copy.path().join("src")).expect("a folder");
    for file in ["Cargo.toml", "src/main.rs"] {
        std::fs::copy(from.join(file), copy.path().join(file)).expect("a copy");
    }
    let (_target, programs) = client(&copy.path().join("Cargo.toml"));
    let shared = here().join("../ptx-interpreter/tests/corpus/shared.ptx");
    let check = |kernel: &str| {
        let mut check = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
        check.args(["ptx", "check", "--"]).arg(programs.join("cudarc-client")).arg(&shared).arg(kernel);
        let output = check.output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let (code, printed) = check("right_reduce");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.starts_with("(9, 0) [32640, 98176]\n"), "{printed}");
    let (code, printed) = check("wrong_reduce");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("error[race]: "), "{printed}");
}

#[test]
#[ignore = "it downloads cust and compiles a new project with it, a minute of one core: cargo test -p ptx-build --test checker -- --ignored driver"]
fn a_new_project_on_cust_runs() {
    let folder = TempDir::new().expect("a folder");
    let repository = here().parent().expect("the crate is in the repository");
    let mut new = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    new.args(["ptx", "new", "hello", "--path"]).arg(repository).current_dir(folder.path());
    assert!(new.status().expect("it starts").success());
    let project = folder.path().join("hello");
    let mut check = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    check.args(["ptx", "check", "--", "cargo", "run", "--quiet"]).current_dir(&project);
    let output = check.output().expect("it starts");
    let (printed, complaint) = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text")).into();
    assert_eq!(output.status.code(), Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("PTX on a CPU, as sm_90 (sm_90) runs the kernel.\nAll 1048576 elements"), "{printed}");
    assert!(printed.contains("axpy: no findings in 1 order of its threads"), "{printed}");
}
