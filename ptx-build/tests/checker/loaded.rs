//! `cargo ptx check`, with what a program loads besides CUDA's libraries: libraries of nvcc's, NVRTC, and what Python brings.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Program, check, source, toolkit};
use tempfile::TempDir;

const BEYOND: &str = "0 bytes beyond the end of argument 0: allocation 1 (cudaMalloc), which has 400 bytes";

/// A library with the runtime in it.
fn library(folder: &Path) -> PathBuf {
    let (library, toolkit) = (folder.join("libtwice.so"), toolkit());
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args([
        "-shared",
        "-Xcompiler",
        "-fPIC,-O2",
        "-gencode",
        "arch=compute_90,code=[sm_90,compute_90]",
        "-lineinfo",
    ]);
    nvcc.arg("-L").arg(toolkit.join("lib")).arg("-o").arg(&library).arg(source("loaded.cu"));
    assert!(nvcc.status().expect("nvcc starts").success());
    library
}

#[test]
fn a_library_with_the_runtime_in_it_runs() {
    let folder = TempDir::new().expect("a folder");
    let library = library(folder.path());
    let library = library.to_str().expect("the path is text");
    let (linked, opens) = (
        Program::of_cc("loaded.c", &["-DLINKED", "-Wl,--no-as-needed", library]),
        Program::of_cc("loaded.c", &["-ldl"]),
    );
    let run = || {
        for (program, words) in [(&linked, vec![]), (&opens, vec![library])] {
            let printed = program.is_silent(&words);
            assert!(printed.starts_with("198\ntwice: no findings"), "{words:?}: {printed}");
            let (code, printed, complaint) = program.check(&[words, vec!["beyond"]].concat());
            assert_eq!(code, Some(1), "{printed}{complaint}");
            assert!(printed.contains(BEYOND) && printed.contains("loaded.cu:6"), "{printed}");
        }
    };
    run();
    let symbols = std::fs::metadata(library).expect("it is there").len();
    assert!(Command::new("strip").arg(library).status().expect("strip starts").success());
    assert!(std::fs::metadata(library).expect("it is there").len() < symbols);
    run();
}

/// A program with machine code alone runs, if its compiler has kept the PTX.
#[test]
fn machine_code_runs_whose_ptx_is_kept() {
    let folder = TempDir::new().expect("a folder");
    let (library, toolkit) = (folder.path().join("libtwice.so"), toolkit());
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args(["-shared", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_90,code=sm_90", "-lineinfo", "--keep"]);
    nvcc.arg("--keep-dir").arg(folder.path()).arg("-L").arg(toolkit.join("lib"));
    assert!(nvcc.arg("-o").arg(&library).arg(source("loaded.cu")).status().expect("nvcc starts").success());
    let program = Program::of_cc("loaded.c", &["-ldl"]);
    let run = |kept: &Path| {
        let mut command = Command::new("env");
        command.arg(format!("PTX_CHECK_KEPT={}", kept.display())).arg(program.path()).arg(&library);
        check(&[], &command)
    };
    let (code, printed, complaint) = run(folder.path());
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("198\ntwice: no findings"), "{printed}");
    // Another kernel of this name is younger.
    let text = std::fs::read_to_string(folder.path().join("loaded.ptx")).expect("it is read");
    let other = text.replace("add.f32", "sub.f32");
    std::fs::write(folder.path().join("other.ptx"), other).expect("it is written");
    let (code, printed, complaint) = run(folder.path());
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("198\ntwice: no findings"), "{printed}");
    let (code, _, complaint) = run(&folder.path().join("none"));
    assert_eq!(code, Some(2), "{complaint}");
    assert!(complaint.contains("the image has machine code of sm_90 alone"), "{complaint}");
}

/// A program that is linked to a library in the place of NVIDIA's, which is made of the same source.
fn linked_to(folder: &Path, library: &str, file: &str) -> Program {
    let path = folder.join(library);
    let mut compiler = Command::new("cc");
    let soname = format!("-Wl,-soname,{library}");
    compiler.args(["-O0", "-shared", "-fPIC", "-DLIBRARY", &soname, "-o"]).arg(&path);
    assert!(compiler.arg(source(file)).status().expect("the compiler starts").success());
    let rpath = format!("-Wl,-rpath,{}", folder.display());
    Program::of_cc(file, &["-Wl,--no-as-needed", path.to_str().expect("text"), &rpath])
}

/// A program that asks NVRTC for machine code gets the PTX, with lines, and a program without the check what it asks for.
#[test]
fn nvrtc_gives_ptx() {
    let folder = TempDir::new().expect("a folder");
    let program = linked_to(folder.path(), "libnvrtc.so.13", "nvrtc.c");
    let alone = Command::new(program.path()).output().expect("it starts");
    assert_eq!(alone.stdout, b"[] [-G] 0 5 \x7fELF\n");
    // It launches no kernel.
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!((code, printed.as_str()), (Some(2), "[-lineinfo] [-G] 0 6 //ptx\n"), "{complaint}");
}

/// So it is with nvJitLink: of PTX, of what is compiled for its linker alone, and of machine code that nobody has PTX of.
#[test]
fn nvjitlink_gives_ptx() {
    let folder = TempDir::new().expect("a folder");
    let program = linked_to(folder.path(), "libnvJitLink.so.13", "jit_link.c");
    let other = folder.path().join("other.ptx");
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .func other() { ret; }\n";
    std::fs::write(&other, text).expect("it is written");
    let alone = Command::new(program.path()).arg(&other).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&alone.stdout), "0 10001 0\n".repeat(3));
    let (code, printed, complaint) = program.check(&[other.to_str().expect("text")]);
    let expected = "0 00111 0\n0 01011 0\n0 10001 0\n";
    assert_eq!((code, printed.as_str()), (Some(2), expected), "{complaint}");
}

/// Triton calls an assembler for its modules. Here that gives the PTX, and its version is one of its own.
#[test]
fn the_assembler_gives_ptx() {
    let calls = r#"set -e; cd "$1"; "$TRITON_PTXAS_PATH" --version; "$TRITON_PTXAS_BLACKWELL_PATH" -v --opt-level 0 a.ptx -o a.o
        cat a.o; "$TRITON_PTXAS_PATH" a.ptx"#;
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("a.ptx"), "// nothing\n").expect("it is written");
    let (_, printed, complaint) = check(&[], Command::new("sh").args(["-c", calls, "sh"]).arg(folder.path()));
    let version = "Cuda compilation tools, release 12.9, V12.9.0 (cargo ptx check)\n";
    assert_eq!(printed, format!("{version}// nothing\n"), "{complaint}");
    assert!(complaint.contains("ptxas of cargo ptx check: name a file of PTX, and another after -o"), "{complaint}");
}

/// CuTe DSL writes its PTX only into a folder that is there. Libraries on it keep no machine code.
#[test]
fn cute_dsl_has_a_folder_for_its_ptx() {
    let folder = TempDir::new().expect("a folder");
    let kept = folder.path().join("not/there");
    let calls = r#"cd "$CUTE_DSL_DUMP_DIR" && pwd && echo "$QUACK_CACHE_ENABLED""#;
    let (_, printed, complaint) = check(&[], Command::new("sh").args(["-c", calls]).env("CUTE_DSL_DUMP_DIR", &kept));
    assert!(printed.ends_with("not/there\n0\n"), "{printed}{complaint}");
}

/// Mojo has PTX from the same assembler, and each of its buffers is an allocation, unless the program says otherwise.
#[test]
fn mojo_has_an_assembler_and_a_buffer_for_each() {
    let calls = r#"test "$MODULAR_NVPTX_COMPILER_PATH" = "$TRITON_PTXAS_PATH" && echo "$MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE_PERCENT" \
        "$MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE""#;
    let mut shell = Command::new("sh");
    shell.args(["-c", calls]).env("MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE", "4096");
    let (_, printed, complaint) = check(&[], &shell);
    assert_eq!(printed, "0 4096\n", "{complaint}");
}

/// Compilers ask NVIDIA's management library for which GPU to compile.
#[test]
fn the_management_library_knows_the_gpu() {
    let program = Program::of_cc("management.c", &["-ldl"]);
    for (sm, capability) in [("90", "9.0"), ("120", "12.0")] {
        let (code, printed, complaint) = check(&["--sm", sm], &Command::new(program.path()));
        // It launches no kernel.
        assert_eq!(code, Some(2), "{printed}{complaint}");
        assert_eq!(printed, format!("13050 {capability} PTX on a CPU, as sm_{sm}\nright\n"), "{complaint}");
    }
}

/// A Python with PyTorch, Triton and NVRTC.
pub(crate) fn python() -> PathBuf {
    python_with("python-torch-2.15.0", &["numpy", "torch==2.15.0", "triton==3.9.0"])
}

/// A Python with packages, which is installed in `target/` once.
pub(crate) fn python_with(name: &str, packages: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let python = folder.join("bin/python");
    if !folder.join("done").is_file() {
        let run = |command: &mut Command| assert!(command.status().expect("it starts").success());
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages));
        std::fs::write(folder.join("done"), "").expect("it is written");
    }
    python
}

/// `cargo test -p ptx-build --test checker loaded -- --ignored`
#[test]
#[ignore = "it installs PyTorch, which has six gigabytes"]
fn triton_and_pytorch_run() {
    let python = python();
    let run = |words: &[&str]| check(&[], Command::new(&python).arg(source("python/kernels.py")).args(words));
    let (code, printed, complaint) = run(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.contains("right\n") && printed.matches("no findings").count() == 2, "{printed}");
    assert_eq!(complaint.matches("PyTorch's own operators are done by the CPU").count(), 1, "{complaint}");
    let (code, printed, complaint) = run(&["bounds"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[bounds]") && printed.contains("kernels.py:20"), "{printed}");
    let (code, printed, complaint) = run(&["early"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    for (host, line) in [("reads", "print(\"sum\", there.sum().item())"), ("writes", "pinned.add_(1)")] {
        let title = format!("bytes that the host {host} without waiting\n");
        assert!(printed.contains(&title) && printed.contains(&format!(" | {line}\n")), "{host}: {printed}");
    }
    assert_eq!(printed.matches("error[").count(), 2, "{printed}");
    let (code, printed, complaint) = run(&["stream"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(
        printed.contains("error[race]: kernel `product` in stream") && printed.contains("nothing orders the two"),
        "{printed}"
    );
    assert!(printed.contains(" | torch.testing.assert_close(d + 1, c + 1)\n"), "{printed}");
    assert_eq!(printed.matches("error[").count(), 1, "{printed}");
}

/// Whatever operator is handed a number gives what it gives on the host.
#[test]
#[ignore = "it installs PyTorch, which has six gigabytes"]
fn pytorchs_operators_take_numbers() {
    let (_, printed, complaint) = check(&[], Command::new(python()).arg(source("python/scalars.py")));
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["1398 compared, 632 refused by the host"], "{complaint}");
}

/// Also where a conjugate or a sign is only noted.
#[test]
#[ignore = "it installs PyTorch, which has six gigabytes"]
fn pytorchs_operators_take_conjugates() {
    let (_, printed, complaint) = check(&[], Command::new(python()).arg(source("python/conjugates.py")));
    assert_eq!(printed, "20 compared\n", "{complaint}");
}

/// Products with scales of blocks, which PyTorch's kernel for CPUs does not know.
#[test]
#[ignore = "it installs PyTorch, which has six gigabytes"]
fn pytorchs_products_take_scales_of_blocks() {
    let (_, printed, complaint) = check(&[], Command::new(python()).arg(source("python/scaled.py")));
    assert_eq!(printed, "right\n", "{complaint}");
}

/// Warp has a stripped runtime in it, and so has CuTe DSL, which loads machine code.
#[test]
#[ignore = "it installs Warp and CuTe DSL, which have half a gigabyte"]
fn warp_and_cute_run() {
    let python = python_with("python-cute-4.8.1", &["numpy", "warp-lang==1.19.0", "nvidia-cutlass-dsl==4.8.1"]);
    let run = |words: &[&str]| check(&[], Command::new(&python).arg(source("python/compilers.py")).args(words));
    let (code, printed, complaint) = run(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.contains("right\n") && printed.matches("no findings").count() == 2, "{printed}");
    let cases =
        [("warp", "of allocation 2 (cudaMallocAsync), which has 4000 bytes"), ("cute", "compilers.py:30, PTX line")];
    for (case, words) in cases {
        let (code, printed, complaint) = run(&[case]);
        assert_eq!(code, Some(1), "{printed}{complaint}");
        assert!(printed.contains("error[bounds]") && printed.contains(words), "{case}: {printed}");
    }
}

/// NVIDIA's own.
#[test]
#[ignore = "it installs PyTorch, which has six gigabytes"]
fn a_kernel_of_nvrtc_runs() {
    let python = python();
    let library = python.ancestors().nth(2).expect("its folder").join("lib");
    let find = format!("find {} -name libnvrtc.so.13", library.display());
    let found = Command::new("sh").args(["-c", &find]).output().expect("it starts").stdout;
    let library = String::from_utf8(found).expect("text");
    let mut command = Command::new(&python);
    let (code, printed, complaint) = check(&[], command.arg(source("python/nvrtc.py")).arg(library.trim()));
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[bounds]") && printed.contains("fill.cu:1"), "{printed}");
    assert!(
        printed.contains("0 bytes beyond the end of argument 0: allocation 1 (cuMemAlloc), which has 128 bytes"),
        "{printed}"
    );
}
