//! Programs of C and of CUDA that tests compile, and run under `cargo ptx check`. Each file of tests uses a part of this.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use regex_lite::Regex;
use tempfile::TempDir;

/// The folder of nvcc's toolkit.
pub(crate) fn toolkit() -> PathBuf {
    let nvcc = CudaTools::find(&Progress::new()).and_then(|tools| tools.nvcc(&Progress::new())).expect("nvcc");
    nvcc.path.ancestors().nth(2).expect("it is in a toolkit").to_owned()
}

/// Machine code for one GPU, and PTX.
pub(crate) const WITH_PTX: &str = "arch=compute_90,code=[sm_90,compute_90]";

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(name)
}

/// The line of a program that ends with the mark of a case.
pub(crate) fn line_marked(text: &str, case: &str) -> Option<usize> {
    let place = text.lines().position(|line| line.ends_with(&format!("// ~{case}")))?;
    Some(1 + place)
}

/// A program that nvcc compiled, or a compiler of C.
pub(crate) struct Program(TempDir);

impl Program {
    pub(crate) fn of_nvcc(name: &str, options: &[String]) -> Program {
        Program::of_nvcc_with(WITH_PTX, name, options)
    }

    /// With code for other GPUs, in the words of `-gencode`.
    pub(crate) fn of_nvcc_with(code: &str, name: &str, options: &[String]) -> Program {
        let (folder, toolkit) = (TempDir::new().expect("a folder"), toolkit());
        symlink(toolkit.join("lib/libcudart.so.13"), folder.path().join("libcudart.so")).expect("a link");
        let mut compiler = Program::nvcc(&toolkit, code);
        compiler.args(["-cudart", "shared"]).args(options).arg("-L").arg(folder.path());
        Program(folder).compiled(compiler, name)
    }

    /// Linked to a library of a folder, too. `FOLDER` in an option is that folder.
    pub(crate) fn linked(name: &str, folder: &Path, library: &str, options: &[&str]) -> Program {
        let place = folder.display().to_string();
        let link = [format!("-L{place}"), "-Xlinker".into(), "--no-as-needed".into(), format!("-l{library}")];
        let options = options.iter().map(|option| option.replace("FOLDER", &place));
        let options: Vec<String> = link.into_iter().chain(["-std=c++17".into()]).chain(options).collect();
        Program::of_nvcc(name, &options)
    }

    /// With the runtime in it, as nvcc links it by itself.
    pub(crate) fn with_runtime(name: &str) -> Program {
        let toolkit = toolkit();
        let mut compiler = Program::nvcc(&toolkit, WITH_PTX);
        compiler.arg("-L").arg(toolkit.join("lib"));
        Program(TempDir::new().expect("a folder")).compiled(compiler, name)
    }

    fn nvcc(toolkit: &Path, code: &str) -> Command {
        let mut compiler = Command::new(toolkit.join("bin/nvcc"));
        compiler.args(["-gencode", code, "-lineinfo"]);
        compiler
    }

    /// In C, with the header of the driver.
    pub(crate) fn of_cc(name: &str, options: &[&str]) -> Program {
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-O1", "-pthread"]).args(options).arg("-I").arg(toolkit().join("include"));
        Program(TempDir::new().expect("a folder")).compiled(compiler, name)
    }

    fn compiled(self, mut compiler: Command, name: &str) -> Program {
        compiler.arg("-o").arg(self.path()).arg(source(name));
        assert!(compiler.status().expect("the compiler starts").success());
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("program")
    }

    /// How the check ends, and what it prints and complains of.
    pub(crate) fn check(&self, words: &[&str]) -> (Option<i32>, String, String) {
        check(&[], Command::new(self.path()).args(words))
    }

    /// A case has one finding, with this title and at this line of the program. Its twin has none.
    pub(crate) fn is_wrong(&self, case: &str, title: &str, place: &str) {
        let (code, printed, complaint) = self.check(&[case]);
        assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
        assert!(printed.lines().any(|line| line == title), "{case}: no `{title}`: {printed}");
        assert!(printed.contains(place), "{case}: no `{place}`: {printed}");
        assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
        self.is_silent(&["right", case]);
    }

    /// Nothing is found. Gives what is printed.
    pub(crate) fn is_silent(&self, words: &[&str]) -> String {
        let (code, printed, complaint) = self.check(words);
        assert_eq!(code, Some(0), "{words:?}: {printed}{complaint}");
        printed
    }
}

/// A library that stands for NVIDIA's, in a folder: each function of a source that begins with its name returns a number that is no
/// status. Gives how many there are.
pub(crate) fn stand_in(declarations: &str, library: &str, version: &str) -> (TempDir, usize) {
    let folder = TempDir::new().expect("a folder");
    let text = fs::read_to_string(source(declarations)).expect("the source");
    let name = Regex::new(&format!(r"\b{library}\w+\(")).expect("it is valid");
    let names: BTreeSet<&str> = name.find_iter(&text).map(|found| found.as_str()).collect();
    // A jump has room in each.
    let body = "volatile int status = 99; status++; status--; return status;";
    let functions: String = names.iter().map(|name| format!("int {name}void) {{ {body} }}\n")).collect();
    let file = |name: String| folder.path().join(name);
    let (code, versioned) = (file(format!("{library}.c")), format!("lib{library}.so.{version}"));
    fs::write(&code, functions).expect("it is written");
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-shared", "-fPIC", &format!("-Wl,-soname,{versioned}"), "-o"]).arg(file(versioned.clone()));
    assert!(compiler.arg(code).status().expect("the compiler starts").success());
    symlink(versioned, file(format!("lib{library}.so"))).expect("a link");
    (folder, names.len())
}

/// Set by `cargo xtask test --whole`.
const WHOLE: &str = "PTX_INTRINSICS_WHOLE";

/// The library that stands for the driver, which cargo has compiled beside the tests.
fn library() -> PathBuf {
    let library = std::env::current_exe().expect("a test is a file").with_file_name("libptx_gpu.so");
    assert!(library.is_file(), "cargo has not compiled {}", library.display());
    library
}

/// How a check ends, and what it prints and complains of. Of a whole run it compiles the library itself, with fewer features.
pub(crate) fn check(options: &[&str], program: &Command) -> (Option<i32>, String, String) {
    let mut check = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    check.args(["ptx", "check"]).args(options).arg("--").arg(program.get_program()).args(program.get_args());
    check.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if std::env::var_os(WHOLE).is_none() {
        check.env("PTX_CHECK_LIBRARY", library());
    }
    let output = check.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// How `cargo ptx` ends in a folder, and what it prints and complains of.
pub(crate) fn cargo_ptx(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    let output = program.arg("ptx").args(words).current_dir(folder).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}
