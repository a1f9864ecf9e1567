//! What a build script gets of `ptx_build::kernels`. Each build script here is this program again, in a process of its own
//! with the variables that cargo sets.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::command::Machine;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use tempfile::TempDir;

/// Says that this process is a build script, and what it calls: a folder, GPUs, a PTX ISA version.
const BUILD_SCRIPT: &str = "PTX_BUILD_TEST";

/// Not a test: what the build scripts run.
#[test]
fn build_script() {
    let Ok(calls) = std::env::var(BUILD_SCRIPT) else { return };
    let mut calls = calls.split('|');
    let mut kernels = ptx_build::kernels(calls.next().unwrap_or_default());
    for call in calls {
        kernels = match call.split_once(' ') {
            Some(("sm", number)) => kernels.sm(number.parse().expect("a number")),
            Some(("ptx", number)) => kernels.ptx_isa(number.parse().expect("a number")),
            Some(("feature", name)) => kernels.feature(name),
            _ => kernels.report_registers(),
        };
    }
    kernels.build();
}

const SOURCE: &str = "\
#![cfg_attr(target_arch = \"nvptx64\", no_std)]
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

kernel! {
    /// Doubles each element.
    ///
    /// # Safety
    /// `x` points at an element for each thread.
    #[launch_bounds(256, 2)]
    pub unsafe fn double(x: *mut f32) {
        let x = unsafe { x.add(global_index() as usize) };
        unsafe { *x = 2.0 * ld_global::<Cs, NoPrefetch>().read(x) }
    }
}
";

/// A kernel that holds 48 numbers in the registers of 32.
const SPILLS: &str = "
kernel! {
    /// # Safety
    /// As `double`.
    #[launch_bounds(1024, 2)]
    pub unsafe fn crowded(x: *mut f32) {
        let mut all = [0.0f32; 48];
        let mut i = 0;
        while i < 48 {
            all[i] = unsafe { ld_global::<NoHint, NoPrefetch>().volatile().read(x.add(i)) };
            i += 1;
        }
        while i > 0 {
            i -= 1;
            unsafe { st_global::<NoHint>().volatile().write(x.add(i), all[i]) };
        }
    }
}
";

/// A project of a user's: a crate of kernels, and beside it the package whose build script runs.
struct Project {
    folder: TempDir,
    name: &'static str,
}

impl Project {
    fn new(name: &'static str) -> Project {
        let project = Project { folder: tempfile::tempdir().expect("a folder"), name };
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is there");
        let [intrinsics, kernel] = ["ptx-intrinsics", "ptx-kernel"].map(|name| repository.join(name));
        project.write(
            "kernels/Cargo.toml",
            &format!(
                "[package]\nname = \"kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 ptx-intrinsics = {{ path = {intrinsics:?} }}\nptx-kernel = {{ path = {kernel:?} }}\n\n[features]\nmore = []\n\n\
                 [workspace]\n"
            ),
        );
        std::fs::create_dir_all(project.path("app")).expect("a folder");
        std::fs::create_dir_all(project.path("out")).expect("a folder");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(self.name).join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("it is written");
    }

    /// Whether the build script succeeded, what it told cargo, and what it complained of. An empty variable is taken away.
    fn build(&self, calls: &str, variables: &[(&str, &Path)]) -> (bool, Vec<String>, String) {
        let mut script = Command::new(std::env::current_exe().expect("this program has a path"));
        script.args(["--exact", "build_script", "--nocapture"]).env(BUILD_SCRIPT, calls);
        script.env("OUT_DIR", self.path("out")).env("CARGO_MANIFEST_DIR", self.path("app"));
        for variable in ["CUDA_HOME", "CUDA_PATH"] {
            script.env_remove(variable);
        }
        // A build script inherits what cargo was told for the host.
        script.env("PTX_INTRINSICS_TARGET", "sm_100,ptx88").env("RUSTFLAGS", "-Ctarget-cpu=native");
        for (name, value) in variables {
            match value.as_os_str().is_empty() {
                true => script.env_remove(name),
                false => script.env(name, value),
            };
        }
        let output = script.output().expect("it starts");
        let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        (output.status.success(), lines, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The error of a build that has to fail, without the paths.
    fn refused(&self, calls: &str) -> String {
        let (succeeded, _, complaint) = self.build(calls, &[]);
        assert!(!succeeded, "{calls} succeeds");
        let error = complaint.split_once("error: ").map_or(complaint.as_str(), |(_, error)| error);
        let folder = self.folder.path().canonicalize().expect("it is there").display().to_string();
        error.replace(&folder, "…").replace(&self.folder.path().display().to_string(), "…")
    }
}

/// One project for all, since each compiles `core` anew.
#[test]
fn a_project() {
    let project = Project::new("a project für alle");
    a_program_gets_its_images(&project);
    a_kernel_that_spills_is_a_warning(&project);
    mistakes_are_told(&project);
}

fn a_program_gets_its_images(project: &Project) {
    project.write("kernels/src/lib.rs", SOURCE);
    let (succeeded, lines, complaint) = project.build("../kernels|sm 80|sm 90|ptx 80", &[]);
    assert!(succeeded, "{complaint}");
    for sm in [80, 90] {
        let file = project.path(&format!("out/kernels.sm_{sm}.ptx"));
        let told = format!("cargo::rustc-env=KERNELS_SM_{sm}={}", file.display());
        assert!(lines.contains(&told), "{told} is missing in {lines:#?}");
        let ptx = std::fs::read_to_string(file).expect("the image is there");
        let ptx: Vec<&str> = ptx.lines().map(str::trim).collect();
        for line in [".version 8.0", &format!(".target sm_{sm}"), ".maxntid 256", ".minnctapersm 2"] {
            assert!(ptx.contains(&line), "{line} is missing for sm_{sm}");
        }
        assert!(ptx.iter().any(|line| line.starts_with("ld.global.cs.f32")), "the load is missing for sm_{sm}");
    }
    // What is changed is compiled again: the crate of kernels, and what it takes from this disk.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is there");
    for file in [
        project.path("app").join("../kernels/src"),
        repository.join("ptx-intrinsics/src"),
        repository.join("ptx-intrinsics/build.rs"),
        repository.join("ptx-kernel/Cargo.toml"),
    ] {
        let told = format!("cargo::rerun-if-changed={}", file.display());
        assert!(lines.contains(&told), "{told} is missing in {lines:#?}");
    }
    assert!(lines.iter().all(|line| !line.starts_with("cargo::warning")), "{lines:#?}");
    the_list_is_rust(project);
}

/// A program that includes the list finds the image for its GPU.
fn the_list_is_rust(project: &Project) {
    let program = "include!(concat!(env!(\"OUT_DIR\"), \"/kernels.rs\"));\n\
                   fn main() {\n    let sm = |sm| image(sm).map(|ptx| ptx.contains(\".target sm_90\"));\n    \
                   print!(\"{} {:?} {:?} {:?} {:?}\", IMAGES.len(), sm(75), sm(80), sm(89), sm(100));\n}\n";
    project.write("app/main.rs", program);
    let binary = project.path("app/main");
    let compile = Command::new("rustc")
        .arg("--edition=2024")
        .arg(project.path("app/main.rs"))
        .arg("-o")
        .arg(&binary)
        .env("OUT_DIR", project.path("out"))
        .status();
    assert!(compile.is_ok_and(|status| status.success()), "the list compiles");
    let printed = Command::new(&binary).output().expect("it runs").stdout;
    assert_eq!(String::from_utf8_lossy(&printed), "2 None Some(false) Some(false) Some(true)");
}

fn a_kernel_that_spills_is_a_warning(project: &Project) {
    let tools = CudaTools::find_on(&Machine::current(), &Progress::kept()).unwrap_or_else(|error| panic!("{error}"));
    let toolkit = tools.ptxas.ancestors().nth(2).expect("ptxas is in a toolkit's bin").to_owned();
    project.write("kernels/src/lib.rs", &[SOURCE, SPILLS].concat());
    let (succeeded, lines, complaint) = project.build("../kernels|sm 80|registers", &[("CUDA_HOME", &toolkit)]);
    assert!(succeeded, "{complaint}");
    let warnings: Vec<&String> = lines.iter().filter(|line| line.starts_with("cargo::warning=")).collect();
    let [spilled, plain] = warnings[..] else { panic!("{warnings:#?}") };
    let (spilled, plain) = if spilled.contains("crowded") { (spilled, plain) } else { (plain, spilled) };
    assert!(spilled.starts_with("cargo::warning=sm_80: crowded has 32 registers and spills: "), "{spilled}");
    assert!(plain.starts_with("cargo::warning=sm_80: double has "), "{plain}");
    // Not asked for, registers are not told.
    let (_, lines, _) = project.build("../kernels|sm 80", &[("CUDA_HOME", &toolkit)]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("cargo::warning=")).count(), 1, "{lines:#?}");
}

fn mistakes_are_told(project: &Project) {
    assert_eq!(
        project.refused("../kernel|sm 80"),
        "there is no crate of kernels\n  at …/a project für alle/app/../kernel\n  → name the folder of its Cargo.toml, from the folder \
         of this package's: kernels(\"../kernels\")\n"
    );
    assert_eq!(
        project.refused("../kernels"),
        "no GPU is named\n  at build.rs\n  → say for which one, such as .sm(80)\n"
    );
    let unknown = project.refused("../kernels|sm 42");
    assert!(unknown.starts_with("`sm_42` is not a GPU architecture"), "{unknown}");
    let too_old = project.refused("../kernels|sm 90|ptx 74");
    assert!(too_old.starts_with("sm_90 needs PTX ISA 7.8, not 7.4"), "{too_old}");
    project.write("kernels/src/lib.rs", &SOURCE.replace("2.0 *", "2 *"));
    let wrong = project.refused("../kernels|sm 80");
    assert!(wrong.starts_with("kernels does not compile for sm_80"), "{wrong}");
    assert!(wrong.contains("cannot multiply `{integer}` by `f32`"), "{wrong}");
}

/// What a machine lacks is told before anything is compiled.
#[test]
fn a_bare_machine_is_told_what_it_lacks() {
    let project = Project::new("auf bloßem Boden");
    project.write("kernels/src/lib.rs", SOURCE);
    let nothing = project.path("nothing");
    // No toolchain has the source of core.
    let sysroot = project.path("stable");
    for program in ["rustc", "cargo"] {
        project.write(&format!("stable/bin/{program}"), "");
    }
    let rustc = format!("#!/bin/sh\necho '{}'\n", sysroot.display());
    project.write("bin/rustc", &rustc);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/rustc"), executable).expect("it is ours");
    let bin = project.path("bin");
    let (succeeded, _, complaint) = project.build(
        "../kernels|sm 80",
        &[("PATH", &bin), ("RUSTUP_HOME", &nothing), ("PTX_INTRINSICS_TOOLCHAIN", Path::new(""))],
    );
    assert!(!succeeded);
    assert!(complaint.contains("error: this toolchain lacks the source of core"), "{complaint}");
    assert!(complaint.contains("→ rustup component add rust-src --toolchain stable"), "{complaint}");
    // No network, and a crate that is not here.
    let manifest = std::fs::read_to_string(project.path("kernels/Cargo.toml")).expect("it is there");
    project.write(
        "kernels/Cargo.toml",
        &manifest.replace("[dependencies]\n", "[dependencies]\nptx-no-such-crate = \"1\"\n"),
    );
    let (offline, home) = (Path::new("true"), project.path("home"));
    let (succeeded, _, complaint) =
        project.build("../kernels|sm 80", &[("CARGO_NET_OFFLINE", offline), ("CARGO_HOME", &home)]);
    assert!(!succeeded);
    assert!(complaint.contains("error: kernels does not compile for sm_80"), "{complaint}");
    assert!(complaint.contains("ptx-no-such-crate") && complaint.contains("offline"), "{complaint}");
    assert!(
        complaint.contains("→ see what cargo says above; if it wants to download something, check the network"),
        "{complaint}"
    );
}
