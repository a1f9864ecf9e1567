//! NVIDIA's tools: found, downloaded, or missing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use ptx_build::command::{Command, Machine};
use ptx_build::cuda_tools::{CUDA_12, CUDA_13, CUDA_13_COMPILER};
use ptx_build::disassembler::Disassembler;
use ptx_build::files::write_whole;
use ptx_build::progress::Progress;
use ptx_build::ptxas::Assembler;
use ptx_build::target::Sm;

use super::machine::*;

const HAVE_CUDA: &str = "  → or install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder";

#[test]
fn without_pip() {
    let fake = Fake::new();
    let expected = "the CUDA tools are not installed, and there is no pip to download them with
  at PATH, where python3, pip3, pip and python were tried
  → install pip (on Debian: apt-get install python3-pip)
";
    let (found, said) = fake.find_tools();
    assert_eq!(found.unwrap_err(), format!("{expected}{HAVE_CUDA}"));
    assert_eq!(said, [""; 0]);
    assert_eq!(fake.cuda(), ["lock"]);
}

/// The real pip, with an index that nothing listens at.
#[test]
fn without_a_network() {
    let mut fake = Fake::new();
    let here = Machine::current();
    let path = here.path().into_iter().filter(|folder| !folder.join("ptxas").exists());
    fake.set("PATH", std::env::join_paths(path).unwrap());
    let home = here.var("HOME").unwrap_or_default().to_owned();
    fake.set("HOME", home);
    fake.set("PIP_CONFIG_FILE", "/dev/null");
    fake.set("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
    let (found, said) = fake.find_tools();
    let error = found.unwrap_err();
    assert!(error.contains("No matching distribution found for nvidia-cuda-nvcc==13.5.37"), "{error}");
    assert!(error.contains(" pip install --no-deps "), "{error}");
    assert!(error.contains("\n  → check the network, and pip's settings"), "{error}");
    assert!(error.ends_with(HAVE_CUDA), "{error}");
    let target = fake.machine.target();
    let wheels = "nvidia-cuda-nvcc==13.5.37 nvidia-cuda-nvdisasm==13.5.37";
    assert_eq!(said[0], format!("Installing {wheels} from PyPI into {}", target.join("cuda/13.5").display()));
    assert_eq!(fake.cuda(), ["lock"]);
}

#[test]
fn tools_are_downloaded_once() {
    let fake = Fake::new();
    fake.pip(&good_wheels());
    let (found, said) = fake.find_tools();
    let tools = found.unwrap();
    assert_eq!(fake.relative(tools.ptxas.display()), "@/repository/target/cuda/13.5/nvidia/cu13/bin/ptxas");
    assert_eq!(fake.relative(tools.nvdisasm.display()), "@/repository/target/cuda/13.5/nvidia/cu13/bin/nvdisasm");
    assert_eq!((tools.release, said.len()), ((13, 5), 2));
    assert_eq!(fake.find_tools().1, [""; 0]);
    assert_eq!(fake.log("pip.log"), "install\n");
    assert_eq!(fake.cuda(), ["13.5", "lock"]);
    let stamp = fake.machine.target().join("cuda/13.5/stamp");
    let wheels = "nvidia-cuda-nvcc==13.5.37\nnvidia-cuda-nvdisasm==13.5.37\n";
    assert_eq!(fs::read_to_string(&stamp).unwrap(), wheels);
    fs::write(stamp, "nvidia-cuda-nvcc==13.4.*\n").unwrap();
    fake.find_tools().0.unwrap();
    assert_eq!(fake.log("pip.log"), "install\ninstall\n");
}

#[test]
fn two_at_once_download_once() {
    let fake = Fake::new();
    fake.pip(&format!("sleep 0.3\n{}", good_wheels()));
    std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| fake.find_tools()));
        both.into_iter().for_each(|one| assert!(one.join().unwrap().0.is_ok()));
    });
    assert_eq!(fake.log("pip.log"), "install\n");
    assert_eq!(fake.cuda(), ["13.5", "lock"]);
}

#[test]
fn an_install_that_dies_leaves_nothing() {
    let fake = Fake::new();
    fake.pip("mkdir -p $to/nvidia; echo half > $to/nvidia/half; kill -9 $$");
    let error = fake.find_tools().0.unwrap_err();
    assert!(error.starts_with("@/bin/python3 was killed by signal 9\n"), "{error}");
    assert_eq!(fake.cuda(), ["lock"]);
}

#[test]
fn what_a_killed_process_left_is_swept() {
    let fake = Fake::new();
    fake.pip(&good_wheels());
    let home = fake.machine.target().join("cuda");
    fs::create_dir_all(home.join(".new-13.5-abc/unpacked/nvidia")).unwrap();
    fs::create_dir_all(home.join("13.5/nvidia/cu13/bin")).unwrap();
    fs::create_dir_all(home.join(".new-12.9-abc")).unwrap();
    fake.find_tools().0.unwrap();
    assert_eq!(fake.cuda(), [".new-12.9-abc", "13.5", "lock"]);
}

#[test]
fn a_wheel_that_is_another_file_is_not_installed() {
    let fake = Fake::new();
    let pip_says = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.";
    fake.pip(&format!(
        "for last; do :; done; cp $last $HERE/requirements; mkdir -p $to/nvidia; echo '{pip_says}' >&2; exit 1"
    ));
    let error = fake.find_tools().0.unwrap_err();
    let expected = "a wheel is not the file that was pinned, so nothing is installed
  at nvidia-cuda-nvcc==13.5.37 nvidia-cuda-nvdisasm==13.5.37
";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains(pip_says), "{error}");
    assert!(error.ends_with(HAVE_CUDA), "{error}");
    assert_eq!(fake.cuda(), ["lock"]);
    let asked = fake.log("requirements");
    let lines: Vec<Vec<&str>> = asked.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), CUDA_13.wheels.len(), "{asked}");
    for (line, wheel) in lines.iter().zip(CUDA_13.wheels) {
        let hashes: Vec<String> = wheel.sha256.iter().map(|hash| format!("--hash=sha256:{hash}")).collect();
        assert_eq!(
            (line[0], &line[1..]),
            (
                format!("{}=={}", wheel.name, wheel.version).as_str(),
                &hashes.iter().map(String::as_str).collect::<Vec<_>>()[..]
            )
        );
        assert!(hashes.iter().all(|hash| hash.len() == "--hash=sha256:".len() + 64), "{hashes:?}");
    }
}

/// Each wheel is pinned: one version, and what its file is.
#[test]
fn every_wheel_is_pinned() {
    let sets = [&CUDA_13, &CUDA_12, &CUDA_13_COMPILER];
    let wheels: Vec<_> = sets.iter().flat_map(|set| set.wheels).collect();
    assert_eq!(wheels.len(), 7);
    for wheel in wheels {
        assert!(!wheel.version.contains('*') && !wheel.sha256.is_empty(), "{wheel:?}");
    }
}

/// The process that [`a_full_disk`] lets write only so much.
fn child_that_writes(folder: &Path) {
    let file = folder.join("report.json");
    let error = write_whole(&file, vec![b'x'; 1 << 20]).unwrap_err().to_string();
    assert!(error.starts_with("could not write: File too large"), "{error}");
    assert_eq!(fs::read_to_string(file).unwrap(), "old");
}

/// A limit on the size of files is used for the disk: what is written is refused on the way.
#[test]
fn a_full_disk() {
    if let Some(folder) = std::env::var_os("FULL") {
        return child_that_writes(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("report.json"), "old").unwrap();
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact tools::a_full_disk";
    let test = std::env::current_exe().unwrap();
    let run = Command::new("/bin/sh").args(["-c", limited]).arg(test).env("FULL", folder.path()).finish().unwrap();
    assert!(run.stdout.contains("test result: ok. 1 passed; 0 failed"), "{}{}", run.stdout, run.stderr);
    assert_eq!(listing(folder.path()), ["report.json"]);
}

/// The process whose tools hang.
fn child_whose_tools_hang(folder: &Path) {
    let ptx = folder.join("load.ptx");
    fs::write(&ptx, LOAD).unwrap();
    let hung = |line: &str| {
        format!(
            "{tool} has not ended after 1 s and was stopped
  at {tool}{line}
  → type that line yourself: if it hangs, use another release of the tool
  → if it is only slow here, set PTX_INTRINSICS_TOOL_SECONDS to more seconds",
            tool = folder.join("hangs").display(),
        )
    };
    let assembled = Assembler::new(folder.join("hangs")).assemble(&ptx, Sm::new(80), &folder.join("out/load.cubin"));
    let error = assembled.unwrap_err().to_string();
    let begins = format!("{} has not ended after 1 s and was stopped\n", folder.join("hangs").display());
    assert!(error.starts_with(&begins), "{error}");
    assert_eq!(listing(&folder.join("out")), [""; 0]);
    let error = Disassembler::new(folder.join("hangs")).disassemble(&ptx).unwrap_err();
    assert_eq!(error.to_string(), hung(&format!(" -gp -c -ndf {}", ptx.display())));
}

#[test]
fn tools_that_hang() {
    if let Some(folder) = std::env::var_os("HANGS") {
        return child_whose_tools_hang(Path::new(&folder));
    }
    let fake = Fake::new();
    fake.script("hangs", "exec sleep 1000");
    fs::create_dir(fake.at("out")).unwrap();
    let test = Command::new(std::env::current_exe().unwrap()).args(["--exact", "tools::tools_that_hang"]);
    let run = test.env("HANGS", fake.folder.path()).env("PTX_INTRINSICS_TOOL_SECONDS", "1").finish().unwrap();
    assert!(run.stdout.contains("test result: ok. 1 passed; 0 failed"), "{}{}", run.stdout, run.stderr);
}

/// The process that [`ctrl_c_leaves_nothing`] interrupts.
fn child_that_installs(folder: PathBuf) {
    let vars = BTreeMap::from([(OsString::from("PATH"), folder.join("bin").into_os_string())]);
    let machine = Machine { vars, uid: 0, repository: folder.join("repository"), usr: folder.join("usr") };
    let error = CUDA_13.provide(&machine, &Progress::kept()).unwrap_err();
    assert!(error.to_string().starts_with("interrupted\n"), "{error}");
}

#[test]
fn ctrl_c_leaves_nothing() {
    if let Some(folder) = std::env::var_os("FAKE") {
        return child_that_installs(folder.into());
    }
    let fake = Fake::new();
    fake.pip("mkdir -p $to/nvidia; echo $$ > $HERE/pid; exec sleep 600");
    let child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tools::ctrl_c_leaves_nothing"])
        .env("FAKE", fake.folder.path())
        .stdout(process::Stdio::piped())
        .spawn();
    let child = child.unwrap();
    let begun = Instant::now();
    while fake.log("pid").is_empty() && begun.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // As a terminal does: to the program and to what it started.
    for pid in [child.id().to_string(), fake.log("pid").trim().to_owned()] {
        Command::new("kill").args(["-INT", &pid]).run().unwrap();
    }
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.contains("test result: ok. 1 passed; 0 failed"), "{said}");
    assert_eq!(fake.cuda(), ["lock"]);
}

#[test]
fn broken_tools_of_a_toolkit() {
    let good = tool("nvdisasm", "13.5");
    let cases = [
        ("kill -SEGV $$", "ptxas does not work: it was killed by signal 11", ""),
        ("echo no licence >&2; exit 3", "ptxas does not work: it exited with status 3", "\n  | no licence"),
        ("echo hello", "ptxas does not work: asked for its version, it printed something else", "\n  | hello"),
        (
            &good,
            "ptxas does not work: asked for its version, it printed something else",
            "\n  | nvdisasm: NVIDIA (R) fake\n  | Cuda compilation tools, release 13.5, V13.5.1",
        ),
    ];
    for (body, what, printed) in cases {
        let mut fake = Fake::new();
        fake.script("toolkit/bin/ptxas", body);
        fake.script("toolkit/bin/nvdisasm", &good);
        fake.set("CUDA_HOME", fake.at("toolkit"));
        let fix = "repair that toolkit, or take it out of CUDA_HOME: the tools are then downloaded";
        let expected = format!("{what}\n  at @/toolkit/bin/ptxas{printed}\n  → {fix}");
        assert_eq!(fake.find_tools().0.unwrap_err(), expected);
        assert_eq!(fake.cuda(), [""; 0]);
    }
}

#[test]
fn an_old_toolkit_is_passed_over() {
    let mut fake = Fake::new();
    for name in ["ptxas", "nvdisasm"] {
        fake.script(&format!("toolkit/bin/{name}"), &tool(name, "12.4"));
    }
    fake.set("CUDA_HOME", fake.at("toolkit"));
    fake.pip(&good_wheels());
    let (found, said) = fake.find_tools();
    assert_eq!(found.unwrap().release, (13, 5));
    assert_eq!(fake.relative(&said[0]), "Passing over CUDA 12.4 in @/toolkit/bin: 13 is needed");
}

#[test]
fn a_toolkit_is_preferred_to_a_download() {
    let mut fake = Fake::new();
    for name in ["ptxas", "nvdisasm"] {
        fake.script(&format!("toolkit/bin/{name}"), &tool(name, "13.0"));
    }
    fake.set("PATH", fake.at("toolkit/bin"));
    let tools = fake.find_tools().0.unwrap();
    assert_eq!((tools.ptxas, tools.release), (fake.at("toolkit/bin/ptxas"), (13, 0)));
    assert_eq!(fake.cuda(), [""; 0]);
}
