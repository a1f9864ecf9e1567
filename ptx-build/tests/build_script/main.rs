//! What a build script gets of `ptx_build::kernels`. Each build script here is this program again, in a process of its own
//! with the variables that cargo sets.

mod bare_machine;
mod launch_bounds;
mod local_memory;
mod source_lines;

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
            Some(("without", _)) => kernels.without_lines(),
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
        let (succeeded, told, complaint) = self.build(calls, &[]);
        assert!(!succeeded, "{calls} succeeds");
        // cargo shows all of it to the user.
        assert!(told.iter().all(|line| !line.starts_with("cargo::")), "{told:#?}");
        let error = complaint.split_once("error: ").map_or(complaint.as_str(), |(_, error)| error);
        let folder = self.folder.path().canonicalize().expect("it is there").display().to_string();
        error.replace(&folder, "…").replace(&self.folder.path().display().to_string(), "…")
    }
}

/// One project for all, since each compiles `core` anew; and few targets, since the crates are compiled for each.
#[test]
fn a_project() {
    let project = Project::new("a project für alle");
    a_program_gets_its_images(&project);
    a_warning_comes_once(&project);
    each_kernel_has_its_entry(&project);
    a_kernel_that_spills_is_a_warning(&project);
    local_memory::an_array_is_a_warning(&project);
    source_lines::each_access_has_its_line(&project);
    launch_bounds::loads_that_are_not_in_flight_are_a_warning(&project);
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

/// And not for each GPU.
fn a_warning_comes_once(project: &Project) {
    project.write("kernels/src/lib.rs", &SOURCE.replace("let x", "let (idle, spare) = (1, 2);\n        let x"));
    let (succeeded, lines, complaint) = project.build("../kernels|sm 80|sm 90|ptx 80", &[]);
    assert!(succeeded, "{complaint}");
    let warned: Vec<&String> = lines.iter().filter(|line| line.starts_with("cargo::warning=warning: ")).collect();
    let unused = ["idle", "spare"].map(|name| format!("cargo::warning=warning: unused variable: `{name}`"));
    assert_eq!(warned, unused.iter().collect::<Vec<_>>());
}

/// Kernels that are written in unusual places, or with unusual names.
const KINDS: &str = "
#[allow(non_upper_case_globals)]
const value: u32 = 96;
kernel! {
    /// # Safety
    /// As `double`.
    #[launch_bounds(value)]
    pub unsafe fn r#match(r#in: *mut f32) { unsafe { *r#in = 1.0 } }
}
kernel! {
    /// # Safety
    /// As `double`.
    #[cfg(any())]
    #[launch_bounds(32)]
    pub unsafe fn left_out(x: NoSuchType) {}
}
pub fn place() {
    kernel! {
        /// # Safety
        /// As `double`.
        pub unsafe fn inside(x: *mut f32) { unsafe { *x = 2.0 } }
    }
}
/// A pointer and a number.
#[repr(C)]
pub struct Part { data: *mut f32, at: u32 }
unsafe impl KernelArgument for Part {}
kernel! {
    /// # Safety
    /// As `double`.
    #[cluster_size(2)]
    #[launch_bounds(192)]
    pub unsafe fn of_a_struct(part: Part) { unsafe { *part.data.add(part.at as usize) = 3.0 } }
}
";

fn each_kernel_has_its_entry(project: &Project) {
    project.write("kernels/src/lib.rs", &[SOURCE, KINDS].concat());
    let (succeeded, lines, complaint) = project.build("../kernels|sm 90|ptx 80", &[("CUDA_HOME", &toolkit())]);
    assert!(succeeded, "{complaint}");
    assert!(lines.iter().all(|line| !line.starts_with("cargo::warning")), "{lines:#?}");
    let ptx = std::fs::read_to_string(project.path("out/kernels.sm_90.ptx")).expect("the image is there");
    let after = |line: &str, word: &str| line.split_once(word).map(|(_, name)| name.trim_end_matches('(').to_owned());
    let mut heads: Vec<(String, String)> = Vec::new();
    for line in ptx.lines() {
        heads.extend(after(line, ".visible .entry ").map(|name| (name, String::new())));
        if let (Some((_, bound)), Some(threads)) = (heads.last_mut(), after(line, ".maxntid ")) {
            *bound = threads;
        }
    }
    heads.sort();
    let expected = [("double", "256"), ("inside", ""), ("match", "96"), ("of_a_struct", "192")];
    assert_eq!(heads, expected.map(|(name, bound)| (name.to_owned(), bound.to_owned())));
    // Newer compilers take no `global_asm!` in a function.
    let inside = KINDS.replace("pub unsafe fn inside", "#[launch_bounds(160)]\n        pub unsafe fn inside");
    project.write("kernels/src/lib.rs", &[SOURCE, &inside].concat());
    let (succeeded, _, complaint) = project.build("../kernels|sm 90|ptx 80", &[]);
    let ptx = std::fs::read_to_string(project.path("out/kernels.sm_90.ptx")).expect("the image is there");
    let advice =
        "  → write `kernel!` beside the function that it is in: this compiler takes no `#[launch_bounds]` there";
    match succeeded {
        true => assert!(ptx.lines().any(|line| line == ".maxntid 160"), "{ptx}"),
        false => assert_eq!(complaint.lines().rfind(|line| line.contains('→')), Some(advice)),
    }
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
    let toolkit = toolkit();
    project.write("kernels/src/lib.rs", &[SOURCE, SPILLS].concat());
    let (succeeded, lines, complaint) = project.build("../kernels|sm 80|ptx 80|registers", &[("CUDA_HOME", &toolkit)]);
    assert!(succeeded, "{complaint}");
    let warnings: Vec<&String> = lines.iter().filter(|line| line.starts_with("cargo::warning=")).collect();
    let [spilled, plain] = warnings[..] else { panic!("{warnings:#?}") };
    let (spilled, plain) = if spilled.contains("crowded") { (spilled, plain) } else { (plain, spilled) };
    assert!(spilled.starts_with("cargo::warning=sm_80: crowded has 32 registers and spills: "), "{spilled}");
    assert!(plain.starts_with("cargo::warning=sm_80: double has "), "{plain}");
    // Not asked for, registers are not told. sm_86 holds fewer threads.
    let (_, lines, _) = project.build("../kernels|sm 80|sm 86|ptx 80", &[("CUDA_HOME", &toolkit)]);
    let warnings: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("cargo::warning=")).collect();
    let [spilled, ignored] = warnings[..] else { panic!("{warnings:#?}") };
    assert!(spilled.starts_with("sm_80: crowded has 32 registers and spills: "), "{spilled}");
    let said = "sm_86: Value of threads per SM for entry crowded is out of range. .minnctapersm will be ignored";
    assert_eq!(ignored, said);
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
    targets_that_cannot_be(project);
    a_hint_that_the_target_lacks(project);
    what_the_assembler_refuses(project);
    a_folder_that_cannot_be_written(project);
    a_crate_that_is_not_here(project);
    a_crate_with_std(project);
    // It passes on the host.
    project.write("kernels/src/lib.rs", &SOURCE.replace(".read(x)", ".read(x).exp()"));
    let wrong = project.refused("../kernels|sm 80|ptx 80");
    assert!(wrong.contains("a GPU has no `f32::exp`: write `exp2_approx(x * core::f32::consts::LOG2_E)`"), "{wrong}");
    what_a_gpu_has_no_std_for(project);
    project.write("kernels/src/lib.rs", &SOURCE.replace("2.0 *", "2 *"));
    let wrong = project.refused("../kernels|sm 80|ptx 80");
    assert!(wrong.starts_with("kernels does not compile for sm_80"), "{wrong}");
    assert!(wrong.contains("cannot multiply `{integer}` by `f32`"), "{wrong}");
}

/// All of it passes on the host.
fn what_a_gpu_has_no_std_for(project: &Project) {
    for (written, told) in [
        (
            "std::thread::yield_now();",
            "  → a GPU has no `std`: take what `core` has, or keep it from the GPU by #[cfg(",
        ),
        ("println!(\"{x:?}\");", "error: a GPU has no `println!`: store the value to memory, and print it on the host"),
        ("drop(vec![1.0; 4]);", "error: a GPU has no `vec!`: use an array, or memory that the host allocates"),
        ("let _ = 2f64.sqrt();", "note: for an `f64`, and for what no instruction does, there is the crate `libm`"),
    ] {
        let source = SOURCE.replace("unsafe { *x =", &format!("{written}\n        unsafe {{ *x ="));
        project.write("kernels/src/lib.rs", &source);
        let wrong = project.refused("../kernels|sm 80|ptx 80");
        assert!(wrong.contains(told), "{wrong}");
        assert!(!wrong.contains("cargo add std"), "{wrong}");
    }
}

/// They are told before anything is compiled, of whichever GPU.
fn targets_that_cannot_be(project: &Project) {
    let [made, aside] = ["out/device", "out/aside"].map(|name| project.path(name));
    std::fs::rename(&made, &aside).expect("it is ours");
    for (sm, calls) in [(1, "sm 1"), (42, "sm 42"), (130, "sm 80|sm 130")] {
        let unknown = project.refused(&format!("../kernels|{calls}"));
        let asked = format!("build.rs asks for .sm({sm}): this compiler cannot emit sm_{sm}\n  at ");
        assert!(unknown.starts_with(&asked), "{unknown}");
        assert!(unknown.contains("→ use one of ") && unknown.contains(" sm_90 "), "{unknown}");
    }
    let too_old = project.refused("../kernels|sm 90|ptx 74");
    let asked = "build.rs asks for .sm(90).ptx_isa(74): sm_90 needs PTX ISA 7.8, not 7.4\n";
    assert!(too_old.starts_with(asked), "{too_old}");
    assert!(too_old.contains("→ ask for 7.8 or later, or for an older GPU"), "{too_old}");
    let too_new = project.refused("../kernels|sm 90|ptx 100");
    let asked = "build.rs asks for .sm(90).ptx_isa(100): this compiler cannot emit PTX ISA 10.0\n";
    assert!(too_new.starts_with(asked), "{too_new}");
    assert!(!made.join("target/device").exists());
    let _ = std::fs::remove_dir_all(&made);
    std::fs::rename(&aside, &made).expect("it is ours");
}

/// A build script has calls, and no flags. What they have to be is the gate's: rustc may report the GPU alone.
fn a_hint_that_the_target_lacks(project: &Project) {
    let fence = SOURCE.replace("let x", "ptx_intrinsics::fence::fence_mbarrier_init_release_cluster();\n        let x");
    let prefetch = SOURCE.replace("NoPrefetch", "Prefetch256");
    let spelled = SOURCE.replace("ld_global::<Cs, NoPrefetch>().read(x)", "ptx!(ld.global.L2::256B.f32 [x])");
    for (source, calls, advice) in [
        (&fence, "sm 80", ".sm(90).ptx_isa(80)"),
        (&fence, "sm 80|ptx 80", ".sm(90)"),
        (&prefetch, "sm 75", ".sm(80).ptx_isa(74)"),
        (&spelled, "sm 75", ".sm(80).ptx_isa(74)"),
        (&spelled, "sm 80", ".sm(80).ptx_isa(74)"),
    ] {
        project.write("kernels/src/lib.rs", source);
        let gated = project.refused(&format!("../kernels|{calls}"));
        assert!(gated.starts_with("kernels does not compile for sm_"), "{gated}");
        let last = format!("  → or ask for a target that has it, in build.rs: {advice}");
        assert_eq!(gated.lines().last(), Some(last.as_str()), "{calls}: {gated}");
        assert!(!gated.contains("RUSTFLAGS") && !gated.contains("-Ctarget"), "{gated}");
    }
}

/// rustc advises to build `std`.
fn a_crate_with_std(project: &Project) {
    let (_, without) = SOURCE.split_once('\n').expect("its first line is the attribute");
    project.write("kernels/src/lib.rs", without);
    let wrong = project.refused("../kernels|sm 80|ptx 80");
    assert!(wrong.starts_with("kernels does not compile for sm_80"), "{wrong}");
    assert!(wrong.contains("can't find crate for `std`") && !wrong.contains("build-std"), "{wrong}");
    let advice = "  → a GPU has no `std`: begin …/a project für alle/kernels/src/lib.rs with \
                  `#![cfg_attr(target_arch = \"nvptx64\", no_std)]`";
    assert_eq!(wrong.lines().last(), Some(advice));
}

/// More shared memory than any GPU gives a variable.
fn what_the_assembler_refuses(project: &Project) {
    let vast = SOURCE.replace("kernel! {", "shared! { fn vast() -> [f32; 16384]; }\nkernel! {");
    let vast = vast.replace("2.0 * ld", "unsafe { vast().cast::<f32>().read() } * ld");
    project.write("kernels/src/lib.rs", &vast);
    let toolkit = toolkit();
    let (succeeded, _, complaint) = project.build("../kernels|sm 80|ptx 80", &[("CUDA_HOME", &toolkit)]);
    assert!(!succeeded);
    assert!(
        complaint.contains("error: ptxas refuses ") && complaint.contains("kernels.sm_80.ptx for sm_80"),
        "{complaint}"
    );
    assert!(complaint.contains("'double' uses too much shared data"), "{complaint}");
    assert!(complaint.contains(&format!("at {}", toolkit.join("bin/ptxas").display())), "{complaint}");
    assert!(complaint.contains("→ hold less in shared!, or take dynamic_shared"), "{complaint}");
}

/// As in a folder that may only be read, which root may write all the same.
fn a_folder_that_cannot_be_written(project: &Project) {
    let no_folder = project.path("kernels/Cargo.toml");
    let (succeeded, told, complaint) = project.build("../kernels|sm 80|ptx 80", &[("OUT_DIR", &no_folder)]);
    assert!(!succeeded && told.iter().all(|line| !line.starts_with("cargo::")), "{told:#?}");
    assert!(complaint.contains("error: could not create the folder: Not a directory"), "{complaint}");
    assert!(complaint.contains(&format!("at {}", no_folder.display())), "{complaint}");
    assert!(complaint.contains("→ name a folder that may be written to: CARGO_TARGET_DIR"), "{complaint}");
    // cargo's own folder, below.
    let [folder, aside] = ["cargo", "aside"].map(|name| project.path("out/device/target/device").join(name));
    std::fs::rename(&folder, &aside).expect("it is ours");
    std::fs::write(&folder, "no folder").expect("it is written");
    let (succeeded, _, complaint) = project.build("../kernels|sm 80|ptx 80", &[]);
    assert!(!succeeded);
    assert!(complaint.contains("error: cargo could not compile kernels for sm_80"), "{complaint}");
    assert!(complaint.contains("→ if it names a file or a folder: make sure that it may be written to"), "{complaint}");
    std::fs::remove_file(&folder).expect("it is ours");
    std::fs::rename(&aside, &folder).expect("it is ours");
}

/// And no network to bring it.
fn a_crate_that_is_not_here(project: &Project) {
    let manifest = std::fs::read_to_string(project.path("kernels/Cargo.toml")).expect("it is there");
    let more = manifest.replace("[dependencies]\n", "[dependencies]\nptx-no-such-crate = \"1\"\n");
    project.write("kernels/Cargo.toml", &more);
    let (offline, home) = (Path::new("true"), project.path("home"));
    let variables = [("CARGO_NET_OFFLINE", offline), ("CARGO_HOME", &home)];
    let (succeeded, _, complaint) = project.build("../kernels|sm 80|ptx 80", &variables);
    assert!(!succeeded);
    assert!(complaint.contains("error: cargo could not compile kernels for sm_80"), "{complaint}");
    assert!(complaint.contains("ptx-no-such-crate") && complaint.contains("offline"), "{complaint}");
    assert!(complaint.contains("→ check the network: the first build fetches"), "{complaint}");
    project.write("kernels/Cargo.toml", &manifest);
}

/// The folder of a CUDA toolkit.
fn toolkit() -> PathBuf {
    let tools = CudaTools::find_on(&Machine::current(), &Progress::kept()).unwrap_or_else(|error| panic!("{error}"));
    tools.ptxas.ancestors().nth(2).expect("ptxas is in a toolkit's bin").to_owned()
}
