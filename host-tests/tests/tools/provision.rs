//! What a newcomer's machine can get wrong, and what the harness says then. Each test has a machine of its own:
//! a folder with fake programs, of which `PATH` names nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use host_tests::tools::command::{Command, Machine};
use host_tests::tools::cuda_tools::{CUDA_12, CUDA_13, CUDA_13_COMPILER, CudaTools, NVDISASM_12};
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::error::Error;
use host_tests::tools::files::write_whole;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use host_tests::tools::toolchain::{DeviceToolchain, Route};

struct Fake {
    folder: tempfile::TempDir,
    machine: Machine,
}

impl Fake {
    fn new() -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["bin", "repository", "usr"] {
            fs::create_dir(at(name)).unwrap();
        }
        let vars = BTreeMap::from([(OsString::from("PATH"), at("bin").into_os_string())]);
        let machine = Machine { vars, uid: 1000, repository: at("repository"), usr: at("usr") };
        Fake { folder, machine }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a shell script; in it, `$HERE` is the machine's folder.
    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let here = self.folder.path().display();
        fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin HERE='{here}'\n{body}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A pip that logs each install and then does `body`; in it, `$to` is the folder to install into.
    fn pip(&self, body: &str) {
        let script = "[ \"$3\" = --version ] && { echo pip 26.0; exit; }
            while [ \"$1\" != --target ]; do shift; done; to=$2; echo install >> $HERE/pip.log
            [ \"$RUSTUP_AUTO_INSTALL\" = 0 ] || { echo 'pip starts rustc, which may install' >&2; exit 9; }\n";
        self.script("bin/python3", &format!("{script}{body}"));
    }

    /// A toolchain in that folder: a compiler of that version, its cargo, and the source of `core` or not.
    fn toolchain(&self, folder: &str, version: &str, core: bool) {
        self.script(&format!("{folder}/bin/rustc"), &rustc(version));
        self.script(&format!("{folder}/bin/cargo"), "exit 1");
        if core {
            self.script(&format!("{folder}-core"), &format!("cd $HERE/{folder}\n{CORE}"));
            Command::new(self.at(&format!("{folder}-core"))).run().unwrap();
        }
    }

    /// The `rustc` in `PATH`, which resolves to that toolchain.
    fn active(&self, folder: &str) {
        self.script("bin/rustc", &format!("[ $RUSTUP_AUTO_INSTALL = 0 ] && echo $HERE/{folder}"));
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.machine.vars.insert(name.into(), value.into());
    }

    fn find_tools(&self) -> (Result<CudaTools, String>, Vec<String>) {
        let progress = Progress::kept();
        let found = CudaTools::find_on(&self.machine, &progress);
        (found.map_err(|error| self.relative(&error)), progress.lines())
    }

    fn find_toolchain(&self, route: Route) -> (Result<DeviceToolchain, String>, Vec<String>) {
        let progress = Progress::kept();
        let found = DeviceToolchain::find_on(&self.machine, route, &progress);
        (
            found.map_err(|error| self.relative(&error)),
            progress.lines().iter().map(|line| self.relative(line)).collect(),
        )
    }

    /// A text in which the machine's own folder is called `@`.
    fn relative(&self, text: impl std::fmt::Display) -> String {
        text.to_string().replace(&self.folder.path().display().to_string(), "@")
    }

    /// What lies in `target/cuda`.
    fn cuda(&self) -> Vec<String> {
        listing(&self.machine.target().join("cuda"))
    }

    fn log(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Shell lines that make a tool which says that it is of that release.
fn tool(name: &str, release: &str) -> String {
    format!("echo '{name}: NVIDIA (R) fake'; echo 'Cuda compilation tools, release {release}, V{release}.1'")
}

/// Shell lines that install working tools into `$to`.
fn good_wheels() -> String {
    let write = |name: &str| {
        let tool = tool(name, "13.5");
        format!("f=$to/nvidia/cu13/bin/{name}; echo '#!/bin/sh' > $f; cat >> $f <<'END'\n{tool}\nEND\nchmod +x $f\n")
    };
    format!("mkdir -p $to/nvidia/cu13/bin\n{}{}", write("ptxas"), write("nvdisasm"))
}

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

#[test]
fn with_a_python_that_has_no_pip() {
    let fake = Fake::new();
    fake.script("bin/python3", "echo 'No module named pip' >&2; exit 1");
    let (found, _) = fake.find_tools();
    assert!(found.unwrap_err().starts_with("the CUDA tools are not installed, and there is no pip"));
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

/// Triton's wheel is big, and one program of it is wanted.
#[test]
fn of_a_big_wheel_only_the_named_file_is_kept() {
    let fake = Fake::new();
    let nvdisasm = tool("nvdisasm", "12.8");
    let triton = format!(
        "f=$to/triton/backends/nvidia/bin/nvdisasm; mkdir -p $to/triton/backends/nvidia/bin; echo big > $to/triton/big
         echo '#!/bin/sh' > $f; cat >> $f <<'END'\n{nvdisasm}\nEND\nchmod +x $f; echo \"$@\" >> $HERE/arguments.log\n"
    );
    fake.pip(&format!("{}{triton}", good_wheels()));
    let tools = fake.find_tools().0.unwrap();
    let found = tools.nvdisasm12(&Progress::kept()).unwrap();
    let program = "cuda/nvdisasm-12.8/triton/backends/nvidia/bin/nvdisasm";
    assert_eq!(found, fake.machine.target().join(program));
    tools.nvdisasm12(&Progress::kept()).unwrap();
    let folder = fake.machine.target().join("cuda/nvdisasm-12.8");
    assert_eq!(listing(&folder), ["stamp", "triton"]);
    assert_eq!(listing(&folder.join("triton")), ["backends"]);
    assert_eq!(fake.log("pip.log"), "install\ninstall\n");
    let arguments = fake.log("arguments.log");
    assert!(arguments.contains("--python-version=3.11 --platform=manylinux_2_28_x86_64"), "{arguments}");
    assert!(arguments.contains("--require-hashes --requirement"), "{arguments}");
    assert_eq!(fake.cuda(), ["13.5", "lock", "nvdisasm-12.8"]);
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
fn wheels_without_the_tool_are_not_installed() {
    let fake = Fake::new();
    fake.pip("mkdir -p $to/nvidia");
    let expected = "the wheel nvidia-cuda-nvcc==13.5.37 lacks a file
  at nvidia/cu13/bin/ptxas
  → install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder";
    assert_eq!(fake.find_tools().0.unwrap_err(), expected);
    assert_eq!(fake.cuda(), ["lock"]);
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
    let sets = [&CUDA_13, &CUDA_12, &NVDISASM_12, &CUDA_13_COMPILER];
    let wheels: Vec<_> = sets.iter().flat_map(|set| set.wheels).collect();
    assert_eq!(wheels.len(), 8);
    for wheel in wheels {
        assert!(!wheel.version.contains('*') && !wheel.sha256.is_empty(), "{wheel:?}");
    }
}

/// Nothing can be created in /proc, not even by root.
#[test]
fn a_folder_that_may_not_be_written_to() {
    let mut fake = Fake::new();
    fake.machine.repository = "/proc/self".into();
    let error = fake.find_tools().0.unwrap_err();
    assert!(error.starts_with("could not create the folder: "), "{error}");
    assert!(error.ends_with("\n  at /proc/self/target/cuda"), "{error}");
    let error = write_whole(Path::new("/proc/self/report.json"), "{}").unwrap_err().to_string();
    assert!(error.starts_with("could not write: "), "{error}");
    let expected =
        "\n  at /proc/self/report.json\n  → make sure that its folder may be written to, and that the disk is not full";
    assert!(error.ends_with(expected), "{error}");
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
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact provision::a_full_disk";
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
    let test = Command::new(std::env::current_exe().unwrap()).args(["--exact", "provision::tools_that_hang"]);
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
        .args(["--exact", "provision::ctrl_c_leaves_nothing"])
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
fn a_tool_that_is_not_executable() {
    let mut fake = Fake::new();
    let ptxas = fake.script("toolkit/bin/ptxas", &tool("ptxas", "13.5"));
    fake.script("toolkit/bin/nvdisasm", &tool("nvdisasm", "13.5"));
    fs::set_permissions(ptxas, Permissions::from_mode(0o644)).unwrap();
    fake.set("CUDA_PATH", fake.at("toolkit"));
    let error = fake.find_tools().0.unwrap_err();
    let begin = "ptxas does not work: could not start @/toolkit/bin/ptxas: Permission denied";
    assert!(error.starts_with(begin), "{error}");
    assert!(error.contains("\n  → make it executable: chmod +x @/toolkit/bin/ptxas"), "{error}");
    assert!(error.contains("take it out of CUDA_PATH"), "{error}");
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

#[test]
fn broken_tools_of_a_download() {
    let fix = "delete @/repository/target/cuda/13.5 and run this again; or set CUDA_HOME to a CUDA 13 toolkit";
    let cases = [
        (tool("ptxas", "12.9"), "ptxas has the wrong version: it is of CUDA 12.9, not 13", ""),
        ("exit 126".to_owned(), "ptxas does not work: it exited with status 126", ""),
    ];
    for (body, what, printed) in cases {
        let fake = Fake::new();
        fake.pip(&good_wheels());
        fake.find_tools().0.unwrap();
        fake.script("repository/target/cuda/13.5/nvidia/cu13/bin/ptxas", &body);
        let at = "@/repository/target/cuda/13.5/nvidia/cu13/bin/ptxas";
        assert_eq!(fake.find_tools().0.unwrap_err(), format!("{what}\n  at {at}{printed}\n  → {fix}"));
    }
}

const DEBIAN: &str = "apt-get update && apt-get install --no-install-recommends rustc-web cargo-web rust-web-src";

#[test]
fn debian_packages_need_root() {
    let fake = Fake::new();
    fake.script("bin/apt-get", "echo \"$*\" >> $HERE/apt.log");
    let (found, said) = fake.find_toolchain(Route::Debian);
    let expected = format!(
        "only root may install Debian packages; this is user 1000\n  at @/usr\n  → type: sudo sh -c '{DEBIAN}'"
    );
    assert_eq!(found.unwrap_err(), expected);
    assert_eq!((said.len(), fake.log("apt.log").as_str()), (0, ""));
}

#[test]
fn debian_packages_need_debian() {
    let fake = Fake::new();
    let expected = "Debian's Rust packages are not installed, and this is not a Debian system: it has no apt-get
  at @/usr
  → use rustup: rustup toolchain install stable --component rust-src";
    assert_eq!(fake.find_toolchain(Route::Debian).0.unwrap_err(), expected);
}

#[test]
fn debian_packages_that_do_not_exist() {
    let mut fake = Fake::new();
    fake.machine.uid = 0;
    fake.script(
        "bin/apt-get",
        "echo \"$1\" >> $HERE/apt.log; [ $1 = update ] || { echo 'E: no such package' >&2; exit 100; }",
    );
    let error = fake.find_toolchain(Route::Debian).0.unwrap_err();
    let packages = "rustc-web cargo-web rust-web-src";
    let expected = format!(
        "@/bin/apt-get exited with status 100
  at @/bin/apt-get install -y -oDPkg::Lock::Timeout=600 --no-install-recommends {packages}
  | E: no such package
  → type it yourself to see more: {DEBIAN}
  → the packages are in bookworm-security and later"
    );
    assert_eq!((error, fake.log("apt.log")), (expected, "install\nupdate\ninstall\n".to_owned()));
    assert_eq!(listing(&fake.at("usr")), [""; 0]);
}

/// Shell lines that put the source of `core` into a toolchain's folder.
const CORE: &str = "to=lib/rustlib/src/rust/library; mkdir -p $to/core/src $to/std $to/windows-sys
echo 'members = [\n  \"std\",\n]\nwindows-sys = { path = '\"'windows-sys' }\" > $to/Cargo.toml
touch $to/core/src/lib.rs $to/std/Cargo.toml $to/windows-sys/Cargo.toml";

/// Shell lines that are a compiler of that version.
fn rustc(version: &str) -> String {
    format!(
        "case \"$*\" in --version) echo 'rustc {version} (0000 2026-01-01)';;
         *target-cpus*) echo ' sm_80 sm_90';; *target-features*) echo ' ptx70 ptx74 ptx78 x';;
         *bootstrap*) echo $RUSTC_BOOTSTRAP;; esac"
    )
}

#[test]
fn debian_packages_are_announced_and_used() {
    let mut fake = Fake::new();
    fake.machine.uid = 0;
    fake.script("source/rustc", &rustc("1.96.0"));
    fake.script("source/cargo", "exit 1");
    fake.script("bin/apt-get", &format!("mv $HERE/source $HERE/usr/bin; cd $HERE/usr\n{CORE}"));
    let (found, said) = fake.find_toolchain(Route::Debian);
    let found = found.unwrap();
    assert_eq!((found.route, fake.relative(found.rustc.display())), (Route::Debian, "@/usr/bin/rustc".to_owned()));
    let expected = [
        "Installing rustc-web, cargo-web, rust-web-src into @/usr with apt-get",
        "apt-get install rustc-web cargo-web rust-web-src",
    ];
    assert_eq!(said, expected);
    assert_eq!(found.default_ptx(Sm::new(75)), PtxVersion::new(6, 3));
}

/// The lists of packages are from the day on which the machine was installed.
#[test]
fn debian_packages_of_an_old_list() {
    let mut fake = Fake::new();
    fake.machine.uid = 0;
    fake.script("old/rustc", &rustc("1.85.0"));
    fake.script("new/rustc", &rustc("1.96.0"));
    fake.script(
        "bin/apt-get",
        &format!(
            "echo \"$1\" >> $HERE/apt.log; cd $HERE/usr; [ $1 = update ] && {{ touch $HERE/updated; exit; }}
             mkdir -p bin; touch bin/cargo; [ -e $HERE/updated ] && cp ../new/rustc bin || cp ../old/rustc bin\n{CORE}"
        ),
    );
    let found = fake.find_toolchain(Route::Debian).0.unwrap();
    assert_eq!(
        (found.version.as_str(), fake.log("apt.log").as_str()),
        ("rustc 1.96.0 (0000 2026-01-01)", "install\nupdate\ninstall\n")
    );
    // Once is enough.
    fake.find_toolchain(Route::Debian).0.unwrap();
    assert_eq!(fake.log("apt.log").lines().count(), 3);
}

#[test]
fn a_toolchain_that_is_too_old() {
    let fake = Fake::new();
    fake.toolchain("usr", "1.63.0", true);
    fake.active("usr");
    let expected = "`rustc 1.63.0 (0000 2026-01-01)` is not a Rust 1.95 or later
  at @/usr/bin/rustc
  → install a newer one: rustup toolchain install stable --component rust-src";
    assert_eq!(fake.find_toolchain(Route::Active).0.unwrap_err(), expected);
}

#[test]
fn a_target_the_compiler_does_not_have() {
    let fake = Fake::new();
    fake.toolchain("usr", "1.97.0-nightly", true);
    fake.active("usr");
    let toolchain = fake.find_toolchain(Route::Active).0.unwrap();
    let check = |sm: u32, ptx: Option<(u32, u32)>| {
        let ptx = ptx.map(|(major, minor)| PtxVersion::new(major, minor));
        toolchain.check_target(Sm::new(sm), ptx).map_err(|error| fake.relative(error))
    };
    let at = "  at @/usr/bin/rustc (rustc 1.97.0-nightly (0000 2026-01-01))";
    let older = "  → or another toolchain: those up to 1.96 go down to sm_20, newer ones add newer GPUs";
    let expected = format!("this compiler cannot emit sm_61\n{at}\n  → use one of sm_80 sm_90\n{older}");
    assert_eq!(check(61, None), Err(expected));
    let expected = format!("this compiler cannot emit PTX ISA 8.6\n{at}\n  → use one that it knows: 7.0 7.4 7.8");
    assert_eq!(check(90, Some((8, 6))), Err(expected));
    let expected = format!("sm_90 needs PTX ISA 7.8, not 7.4\n{at}\n  → ask for 7.8 or later, or for an older GPU");
    assert_eq!(check(90, Some((7, 4))), Err(expected));
    assert_eq!((check(80, Some((7, 4))), check(90, None)), (Ok(()), Ok(())));
}

/// A folder of rustup's, as `Fake::toolchain` names it.
const STABLE: &str = "rustup/toolchains/stable";
const NIGHTLY: &str = "rustup/toolchains/nightly";

/// Whether a toolchain's compiler is let use what is unstable.
fn bootstrap(toolchain: &DeviceToolchain) -> String {
    toolchain.rustc().args(["--print", "bootstrap"]).run().unwrap().stdout.trim().to_owned()
}

/// What a toolchain lacks of it, rustup would install before cargo is started at all: where nothing can be fetched that is the
/// end, and where it is interrupted the toolchain is damaged.
#[test]
fn rustup_is_asked_for_no_part_of_a_toolchain() {
    let file = Machine::current().repository.join("rust-toolchain.toml");
    let text = fs::read_to_string(file).unwrap_or_default();
    let keys = text.lines().filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim());
    assert!(keys.clone().all(|key| key == "channel"), "{:?}", keys.collect::<Vec<_>>());
}

#[test]
fn stable_alone_where_rustup_fetches() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(STABLE, "1.99.1", false);
    fake.active(STABLE);
    fake.script("bin/rustup", &format!("echo \"$*\" >> $HERE/rustup.log; cd $HERE/{STABLE}\n{CORE}"));
    let (found, said) = fake.find_toolchain(Route::Auto);
    let found = found.unwrap();
    assert_eq!((found.route, fake.relative(found.rustc.display())), (Route::Rustup, format!("@/{STABLE}/bin/rustc")));
    // A stable compiler has to be let use what is unstable.
    assert_eq!(bootstrap(&found), "1");
    let announced = format!("Installing rust-src for stable into @/{STABLE}");
    assert_eq!(said, [announced, "rustup component add rust-src".to_owned()]);
    assert_eq!(fake.log("rustup.log"), "component add rust-src --toolchain stable\n");
    // The next time it is there.
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert_eq!((found.unwrap().route, said.len()), (Route::Active, 0));
    assert_eq!(fake.log("rustup.log").lines().count(), 1);
}

/// A rustup that fetches nothing, and says so.
const OFFLINE: &str = "echo \"$*\" >> $HERE/rustup.log; echo 'error: could not download file' >&2; exit 1";

#[test]
fn a_bare_nightly_where_nothing_is_fetched() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(NIGHTLY, "1.101.0-nightly", false);
    fake.active(NIGHTLY);
    fake.script("bin/rustup", OFFLINE);
    let error = fake.find_toolchain(Route::Auto).0.unwrap_err();
    let lacks = format!(
        "  | Active: this toolchain lacks the source of core, which has to be compiled for the GPU
  |   at @/{NIGHTLY}/lib/rustlib/src/rust/library/core
  |   → rustup component add rust-src --toolchain nightly
  | Installed: rustup has no other toolchain with the source of core
  |   at @/rustup/toolchains
  |   → rustup toolchain install stable --component rust-src
  | Rustup: @/bin/rustup exited with status 1
  |   at @/bin/rustup component add rust-src --toolchain nightly
  |   | error: could not download file
"
    );
    assert!(error.contains(&lacks), "{error}");
    assert_eq!(fake.log("rustup.log"), "component add rust-src --toolchain nightly\n");

    // On a Debian machine its packages do; the nightly is left as it is.
    fake.machine.uid = 0;
    fake.script("source/rustc", &rustc("1.96.0"));
    fake.script("source/cargo", "exit 1");
    fake.script("bin/apt-get", &format!("mv $HERE/source $HERE/usr/bin; cd $HERE/usr\n{CORE}"));
    let found = fake.find_toolchain(Route::Auto).0.unwrap();
    assert_eq!((found.route, bootstrap(&found).as_str()), (Route::Debian, "1"));
}

#[test]
fn another_of_rustups_toolchains_has_the_source() {
    let mut fake = Fake::new();
    fake.set("HOME", fake.at("home"));
    // Where rustup is if nothing else is said.
    fake.toolchain("home/.rustup/toolchains/stable", "1.95.0", false);
    for (name, version) in [("nightly", "1.101.0-nightly"), ("1.99.1", "1.99.1"), ("1.88.0", "1.88.0")] {
        fake.toolchain(&format!("home/.rustup/toolchains/{name}"), version, true);
    }
    fake.active("home/.rustup/toolchains/stable");
    fake.script("bin/rustup", OFFLINE);
    let (found, said) = fake.find_toolchain(Route::Auto);
    let found = found.unwrap();
    let nightly = "@/home/.rustup/toolchains/nightly/bin/rustc";
    assert_eq!((found.route, fake.relative(found.rustc.display()).as_str()), (Route::Installed, nightly));
    assert_eq!((said, fake.log("rustup.log"), bootstrap(&found)), (vec![], String::new(), String::new()));
}

#[test]
fn an_incomplete_rust_src() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(NIGHTLY, "1.101.0-nightly", true);
    fake.active(NIGHTLY);
    fake.script("bin/rustup", OFFLINE);
    assert_eq!(fake.find_toolchain(Route::Auto).0.unwrap().route, Route::Active);

    fs::remove_file(fake.at(NIGHTLY).join("lib/rustlib/src/rust/library/windows-sys/Cargo.toml")).unwrap();
    let again = "rustup toolchain uninstall nightly && rustup toolchain install nightly --component rust-src";
    let damaged = format!(
        "this toolchain's source of core is incomplete: a file is missing
  at @/{NIGHTLY}/lib/rustlib/src/rust/library/windows-sys/Cargo.toml
  → {again}"
    );
    for route in [Route::Active, Route::Rustup] {
        assert_eq!(fake.find_toolchain(route).0.unwrap_err(), damaged);
    }
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert!(found.unwrap_err().starts_with("no Rust toolchain here can compile for the GPU\n"));
    let told = format!("Passing over the active toolchain: {damaged}");
    assert_eq!(said, [told.as_str()]);
    // rustup would say that it is up to date.
    assert_eq!(fake.log("rustup.log"), "");

    fake.toolchain(STABLE, "1.99.1", true);
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert_eq!((found.unwrap().route, said), (Route::Installed, vec![told]));
}

/// The source that a real toolchain has, in a folder of links, without one file after the other.
#[test]
fn what_the_source_of_core_cannot_be_without() {
    let real = DeviceToolchain::find(Route::chosen(None).unwrap(), &Progress::new()).unwrap();
    let real = real.rustc.parent().and_then(Path::parent).unwrap().join("lib/rustlib");
    let library = "src/rust/library";
    let cases = ["Cargo.toml", "core/src/lib.rs", "std/Cargo.toml", "windows-sys/Cargo.toml"];
    for without in [""].iter().chain(&cases) {
        let fake = Fake::new();
        fake.toolchain("usr", "1.99.1", false);
        fake.active("usr");
        let here = fake.at("usr/lib/rustlib");
        link_without(&real.join(library), &here.join(library), Path::new(without));
        let expected = format!(
            "this toolchain's source of core is incomplete: a file is missing
  at @/usr/lib/rustlib/{library}/{without}
  → apt-get install --reinstall rust-web-src"
        );
        let found = fake.find_toolchain(Route::Active).0.map(|found| found.route);
        assert_eq!(found, if without.is_empty() { Ok(Route::Active) } else { Err(expected) });
    }
    // Of a file that only rustup's own list names, the list tells.
    let fake = Fake::new();
    fake.toolchain("usr", "1.99.1", true);
    fake.active("usr");
    fs::write(fake.at("usr/lib/rustlib/manifest-rust-src"), "file:lib/rustlib/src/rust/library/core/src/num/mod.rs\n")
        .unwrap();
    let error = fake.find_toolchain(Route::Active).0.unwrap_err();
    assert!(error.contains("  at @/usr/lib/rustlib/src/rust/library/core/src/num/mod.rs\n"), "{error}");
}

/// Links to what `from` holds, but for the file `without`.
fn link_without(from: &Path, to: &Path, without: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut parts = without.components();
    let first = parts.next().map(|part| part.as_os_str().to_owned());
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if Some(&name) != first.as_ref() {
            std::os::unix::fs::symlink(entry.path(), to.join(&name)).unwrap();
        } else if entry.path().is_dir() {
            link_without(&entry.path(), &to.join(&name), parts.as_path());
        }
    }
}

#[test]
fn debians_compiler_alone() {
    let fake = Fake::new();
    fake.toolchain("usr", "1.96.0", true);
    fake.active("usr");
    let (found, said) = fake.find_toolchain(Route::Auto);
    let found = found.unwrap();
    assert_eq!((found.route, bootstrap(&found).as_str(), said.len()), (Route::Active, "1", 0));
}

#[test]
fn every_way_that_fails_is_told() {
    let fake = Fake::new();
    let error = fake.find_toolchain(Route::Auto).0.unwrap_err();
    assert!(error.starts_with("no Rust toolchain here can compile for the GPU\n"), "{error}");
    for part in [
        "| Active: could not start rustc",
        "| Installed: rustup has no other toolchain",
        "| Rustup: could not start rustc",
        "| Debian: Debian's Rust packages",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn the_variable_picks_the_route() {
    let mut fake = Fake::new();
    let chosen = |fake: &Fake, flag| Route::chosen_on(&fake.machine, flag).map_err(|error| error.to_string());
    assert_eq!(chosen(&fake, None), Ok(Route::Auto));
    fake.set("PTX_INTRINSICS_TOOLCHAIN", "debian");
    assert_eq!(chosen(&fake, None), Ok(Route::Debian));
    assert_eq!(chosen(&fake, Some(Route::Active)), Ok(Route::Active));
    fake.set("PTX_INTRINSICS_TOOLCHAIN", "gentoo");
    let expected = "`gentoo` is not a way to a toolchain
  at the environment variable PTX_INTRINSICS_TOOLCHAIN
  → set it to auto, active, installed, rustup or debian, or unset it";
    assert_eq!(chosen(&fake, None), Err(expected.to_owned()));
}

#[test]
fn an_unknown_gpu() {
    let expected = "`sm_91` is not a GPU architecture
  → use one of sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a \
    sm_100 sm_100a sm_100f sm_101 sm_101a sm_101f sm_103 sm_103a sm_103f sm_107 sm_107a sm_107f sm_110 sm_110a \
    sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f";
    assert_eq!("sm_91".parse::<Sm>().unwrap_err().to_string(), expected);
}

const LOAD: &str = "\
.version 7.4
.target sm_80
.address_size 64

.visible .entry _RNvCs1234_4demo4load(.param .u64 from)
{
	.reg .b32 	%r<2>;
	.reg .b64 	%rd<2>;
	ld.param.u64 	%rd1, [from];
	ld.global.nc.L1::evict_last.f32 	%r1, [%rd1];
	st.global.b32 	[%rd1+4], %r1;
	ret;
}
";

/// The real assembler, and its own words.
#[test]
fn ptx_that_is_refused() {
    let tools = CudaTools::find(&Progress::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("load.ptx");
    fs::write(&ptx, LOAD.replace(".version 7.4", ".version 7.3")).unwrap();
    let refused = tools.assembler(Sm::new(80), &Progress::new()).unwrap().assemble(
        &ptx,
        Sm::new(80),
        &folder.path().join("load.cubin"),
    );
    let refused = refused.unwrap().unwrap_err();
    let expected = format!(
        "ptxas refuses {} for sm_80
  Modifier '.evict_last' on 'ld' requires PTX ISA .version 7.4 or later
    10 | ld.global.nc.L1::evict_last.f32 \t%r1, [%rd1];
    in demo::load",
        ptx.display()
    );
    assert_eq!((refused.crashed, Error::from(refused).to_string()), (false, expected));
    assert_eq!(listing(folder.path()), ["load.ptx"]);
}

#[test]
fn ptx_that_is_accepted() {
    let tools = CudaTools::find(&Progress::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let assembler = Assembler::new(&tools.ptxas).lineinfo(true);
    let cubin = assembler.assemble_text(LOAD, Sm::new(80), &folder.path().join("load.cubin")).unwrap().unwrap();
    assert_eq!(listing(folder.path()), ["load.cubin"]);
    let functions = Disassembler::new(&tools.nvdisasm).disassemble(&cubin.path).unwrap();
    assert_eq!(functions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["_RNvCs1234_4demo4load"]);
    let code = functions[0].instructions.iter();
    let memory: Vec<_> = code.filter(|one| one.ptx_line == Some(10)).map(|one| one.opcode.as_str()).collect();
    assert_eq!(memory.last(), Some(&"LDG.E.EL.CONSTANT"));
    assert_eq!(functions[0].instructions.last().unwrap().text, "EXIT");
}

#[test]
fn an_assembler_that_dies() {
    let fake = Fake::new();
    let ptxas = fake.script("ptxas", "echo half > \"$3\"; echo 'internal error' >&2; kill -SEGV $$");
    let ptx = fake.at("load.ptx");
    fs::write(&ptx, LOAD).unwrap();
    let out = fake.at("usr/load.cubin");
    let refused = Assembler::new(ptxas).assemble(&ptx, Sm::new(80), &out).unwrap().unwrap_err();
    assert!(refused.crashed);
    let expected = "ptxas crashes on @/load.ptx for sm_80\n  ptxas was killed by signal 11 internal error";
    assert_eq!(fake.relative(refused), expected);
    assert_eq!(listing(&fake.at("usr")), [""; 0]);
}
