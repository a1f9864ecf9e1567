//! rust-cuda: rustc with a code generator that hands LLVM's IR to NVIDIA's libnvvm.
//!
//! It is not on crates.io as it is needed here, so the user has a checkout with the code generator built in it, and names
//! the folder in `RUST_CUDA`. Everything else is found or installed: the nightly that it belongs to, and libnvvm.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ptx_intrinsics::catalogue::Form;
use serde_json::Value;

use crate::check::forms::{self, Case};
use crate::check::forms_check;
use crate::check::verdicts::Verdicts;
use crate::tools::command::{Command, Machine, tail};
use crate::tools::cuda_tools::{CUDA_13_COMPILER, CudaTools};
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::Progress;
use crate::tools::ptx::Module;
use crate::tools::ptxas::On;
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::{DeviceToolchain, Route};

/// Names the folder of a checkout of rust-cuda, with its code generator built.
pub const CHECKOUT_VARIABLE: &str = "RUST_CUDA";

/// What was tried: the head of Rust-GPU/rust-cuda's pull request 375, which brings LLVM 19 and, with it, compute_100.
pub const REVISION: &str = "ebfe81ba0a4e113a3bfb1e4b050dcc2cc8d26f99";

/// The toolchain that this revision belongs to.
pub const NIGHTLY: &str = "nightly-2026-04-02";

/// Where its crates are that the registry does not have as they are needed here.
const URL: &str = "https://github.com/Rust-GPU/rust-cuda";

/// The files of `examples/rust-cuda`.
const EXAMPLE: [&str; 6] =
    ["Cargo.toml", "host/Cargo.toml", "host/build.rs", "host/src/main.rs", "kernels/Cargo.toml", "kernels/src/lib.rs"];

/// The newest glam that its `cuda_std` compiles with; it asks for any.
const GLAM: &str = "0.30.9";

/// The oldest GPU that its LLVM 19 takes, which has every form.
pub const BUILT_FOR: Sm = Sm::new(100);

/// Of the wheels: where libnvvm lies.
const LIBNVVM: &str = "nvidia/cu13/lib";

/// rust-cuda, with all of its pieces found.
#[derive(Debug)]
pub struct RustCuda {
    checkout: PathBuf,
    generator: PathBuf,
    libnvvm: PathBuf,
    toolchain: DeviceToolchain,
}

/// What a crate was compiled to.
#[derive(Debug)]
pub struct Compiled {
    /// The file.
    pub ptx: PathBuf,
    /// What is in it.
    pub module: Module,
}

/// A copy of `examples/rust-cuda`.
#[derive(Debug)]
pub struct Example<'r> {
    rust_cuda: &'r RustCuda,
    folder: PathBuf,
    /// A folder as a CUDA toolkit has it.
    root: PathBuf,
}

impl Example<'_> {
    /// What cargo prints with these arguments.
    pub fn cargo(&self, arguments: &[&str]) -> Result<String> {
        let cargo = self.rust_cuda.environment(self.rust_cuda.toolchain.cargo())?.env("CUDA_PATH", &self.root);
        Ok(cargo.dir(&self.folder).args(arguments).run()?.stdout)
    }
}

/// Whether the user has named a checkout: without one there is nothing to try, and nothing is installed.
pub fn is_named(machine: &Machine) -> bool {
    machine.var(CHECKOUT_VARIABLE).is_some()
}

impl RustCuda {
    /// Finds the pieces. An error says which one is missing, and how to get it.
    pub fn find(machine: &Machine, progress: &Progress) -> Result<RustCuda> {
        let checkout = machine.var(CHECKOUT_VARIABLE).map(PathBuf::from).ok_or_else(|| {
            Error::new("rust-cuda is not here: no checkout of it is named")
                .at(format_args!("the environment variable {CHECKOUT_VARIABLE}"))
                .fix(format_args!(
                    "check out Rust-GPU/rust-cuda at {REVISION} (pull request 375), build its package rustc_codegen_nvvm with \
                     the feature llvm19, as its guide says, and set {CHECKOUT_VARIABLE} to the folder"
                ))
        })?;
        let generator = checkout.join("target/release/librustc_codegen_nvvm.so");
        if !generator.is_file() {
            return Err(Error::new("the code generator of rust-cuda is not built").at(generator.display()).fix(
                format_args!(
                    "build the package rustc_codegen_nvvm there with {NIGHTLY}, in release, with the feature llvm19; it needs \
                     LLVM 19 (on Debian: llvm-19-dev) and a CUDA toolkit 13"
                ),
            ));
        }
        let toolchain = nightly(machine, progress)?;
        let libnvvm = CUDA_13_COMPILER.provide(machine, progress)?.join(LIBNVVM);
        let rust_cuda = RustCuda { checkout, generator, libnvvm, toolchain };
        if let Some(other) = rust_cuda.revision().filter(|revision| revision != REVISION) {
            progress.note(&format!("rust-cuda is at {other}; {REVISION} is what was tried"));
        }
        Ok(rust_cuda)
    }

    /// The compiler's own line about itself.
    pub fn version(&self) -> &str {
        &self.toolchain.version
    }

    /// The commit that is checked out, if git can tell.
    fn revision(&self) -> Option<String> {
        let git = self.toolchain.machine().command("git").args(["rev-parse", "HEAD"]).dir(&self.checkout);
        git.run().ok().map(|finished| finished.stdout.trim().to_owned())
    }

    /// Compiles the library of the package in that folder to PTX, as cuda_builder does.
    pub fn build(&self, folder: &Path) -> Result<Compiled> {
        let target = self.toolchain.machine().target().join("backends/rust-cuda");
        let cargo = self.environment(self.toolchain.cargo())?.dir(folder);
        let cargo = cargo.args(["rustc", "--lib", "--crate-type=cdylib", "--release", "--quiet"]);
        let cargo = cargo.args(["--target=nvptx64-nvidia-cuda", "-Zbuild-std=core,alloc", "--message-format=json"]);
        let cargo = cargo.arg("--target-dir").arg(&target).args(self.patches());
        let cargo =
            cargo.env("CARGO_ENCODED_RUSTFLAGS", self.flags().join("\x1f")).env("CARGO_FEATURE_NO_F16_F128", "1");
        // libnvvm writes a version of its own, which no flag changes: all gates are open.
        let newest = PtxVersion::OF_EVERY_FORM.feature();
        let finished = cargo.env("PTX_INTRINSICS_TARGET", format!("{BUILT_FOR},{newest}")).finish()?;
        let messages: Vec<Value> = finished.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if !finished.status.success() {
            let place = format!("{} (rust-cuda, {})", folder.display(), self.toolchain.version);
            let errors: String = messages.iter().filter_map(rendered_error).collect();
            let cause = if errors.is_empty() { tail(&finished.stderr) } else { errors };
            return Err(Error::new(format_args!("the package does not compile for {BUILT_FOR}"))
                .at(place)
                .because(cause)
                .fix("correct what the compiler points at"));
        }
        let files = messages.iter().filter_map(|message| message["filenames"].as_array()).flatten();
        let ptx = files.filter_map(Value::as_str).rfind(|file| file.ends_with(".ptx"));
        let ptx = PathBuf::from(ptx.ok_or_else(|| {
            Error::new("rust-cuda compiled the package and wrote no PTX")
                .at(folder.display())
                .fix("see that the package has a kernel in it")
        })?);
        let module = Module::read(&ptx)?;
        if module.target != BUILT_FOR {
            return Err(Error::new(format_args!("the module is for {}, and {BUILT_FOR} was asked for", module.target))
                .at(ptx.display())
                .fix("use the revision of rust-cuda that was tried"));
        }
        Ok(Compiled { ptx, module })
    }

    /// rustc's flags: those of cuda_builder.
    fn flags(&self) -> Vec<String> {
        let arch = BUILT_FOR.to_string().replace("sm_", "compute_");
        let mut flags = vec![format!("-Zcodegen-backend={}", self.generator.display())];
        let others = [
            "-Zunstable-options",
            "-Zcrate-attr=feature(register_tool)",
            "-Zcrate-attr=register_tool(nvvm_internal)",
            "-Zcrate-attr=no_std",
            "-Zsaturating_float_casts=false",
            "-Cpanic=immediate-abort",
        ];
        flags.extend(others.map(str::to_owned));
        flags.push(format!("-Cllvm-args=-arch={arch} --override-libm"));
        flags
    }

    /// `cuda_std` of crates.io does not compile with this nightly: that of the checkout is used instead.
    fn patches(&self) -> Vec<String> {
        ["cuda_std", "cuda_builder"]
            .into_iter()
            .flat_map(|name| {
                let folder = self.checkout.join("crates").join(name);
                ["--config".to_owned(), format!("patch.crates-io.{name}.path={:?}", folder.display().to_string())]
            })
            .collect()
    }

    /// The code generator is loaded into rustc, and it loads libnvvm.
    fn environment(&self, command: Command) -> Result<Command> {
        let machine = self.toolchain.machine();
        let generators = self.generator.parent().unwrap_or(Path::new("/")).to_owned();
        let libraries = self.toolchain.rustc.ancestors().nth(2).unwrap_or(Path::new("/")).join("lib");
        let mut folders = vec![generators, libraries, self.libnvvm.clone()];
        folders.extend(machine.var("LD_LIBRARY_PATH").into_iter().flat_map(std::env::split_paths));
        let joined: OsString = std::env::join_paths(folders).map_err(|error| {
            Error::new(error).at("LD_LIBRARY_PATH").fix("use folders without a colon in their names")
        })?;
        Ok(command.env("LD_LIBRARY_PATH", joined))
    }

    /// Compiles these cases in a crate of their own.
    fn forms(&self, name: &str, cases: &[Case]) -> Result<Compiled> {
        let folder = self.toolchain.machine().target().join("forms").join(name);
        forms::write_package(&folder, "forms", &source(cases))?;
        self.build(&folder)
    }

    /// The crate of the worked kernels, with every kernel that it has. `cuda_std` brings its indices and barriers.
    pub fn kernels(&self) -> Result<Compiled> {
        let folder = self.package("worked", &["kernels/rust-cuda,parameters,cluster"], "pub use kernels::*;\n")?;
        let update = self.toolchain.cargo().dir(&folder).args(["update", "--quiet"]).args(self.patches());
        update.args(["glam", "--precise", GLAM]).run()?;
        self.build(&folder)
    }

    /// Makes a copy of `examples/rust-cuda`, whose pieces of rust-cuda are those of the checkout.
    pub fn example(&self) -> Result<Example<'_>> {
        let machine = self.toolchain.machine();
        let example =
            Example { rust_cuda: self, folder: machine.target().join("backends/example"), root: self.cuda_root()? };
        let folder = &example.folder;
        let from_checkout = |name: &str| {
            let path = self.checkout.join("crates").join(name).display().to_string();
            (format!("{name} = {{ git = {URL:?}, rev = {REVISION:?}"), format!("{name} = {{ path = {path:?}"))
        };
        // cuda_builder starts a cargo of its own, which reads this too.
        let from_here = |name: &str| {
            let path = machine.repository.join(name).display().to_string();
            format!("{name} = {{ path = {path:?} }}\n")
        };
        let crates = ["ptx-intrinsics", "ptx-kernel", "ptx-build", "ptx-driver"].map(from_here).concat();
        write_whole(&folder.join(".cargo/config.toml"), format!("[patch.crates-io]\n{crates}"))?;
        for file in EXAMPLE {
            let (from, to) = (machine.repository.join("examples/rust-cuda").join(file), folder.join(file));
            let text = std::fs::read_to_string(&from).map_err(|error| Error::io("read", &from, error))?;
            let replaced = ["cuda_std", "cuda_builder"].map(from_checkout);
            let text = replaced.iter().fold(text, |text, (git, path)| text.replace(git, path));
            write_whole(&to, text)?;
        }
        example.cargo(&["generate-lockfile", "--quiet"])?;
        // The README of the examples asks for this.
        let newest = std::fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
        let versions = newest.split("name = \"glam\"\nversion = \"").skip(1).filter_map(|rest| rest.split('"').next());
        if let Some(version) = versions.filter(|version| version.starts_with("0.3")).last() {
            example.cargo(&["update", "--quiet", &format!("glam@{version}"), "--precise", GLAM])?;
        }
        Ok(example)
    }

    /// A folder as a CUDA toolkit has it, which cuda_builder looks for.
    fn cuda_root(&self) -> Result<PathBuf> {
        let wheel = self.libnvvm.parent().unwrap_or(Path::new("/"));
        let root = self.toolchain.machine().target().join("backends/cuda");
        let links = [
            ("include", wheel.join("include")),
            ("lib64", self.libnvvm.clone()),
            ("nvvm/include", wheel.join("include")),
            ("nvvm/libdevice", wheel.join("nvvm/libdevice")),
            ("nvvm/lib64/libnvvm.so", self.libnvvm.join("libnvvm.so.4")),
        ];
        for (name, to) in links {
            let link = root.join(name);
            let folder = link.parent().unwrap_or(&root);
            std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
            if !link.exists() {
                std::os::unix::fs::symlink(&to, &link).map_err(|error| Error::io("create the link", &link, error))?;
            }
        }
        Ok(root)
    }

    /// A crate of kernels on `ptx-kernel`, of that source.
    pub fn kernel_crate(&self, source: &str) -> Result<Compiled> {
        let folder = self.package("kernel-crate", &["ptx-intrinsics", "ptx-kernel"], source)?;
        self.build(&folder)
    }

    fn package(&self, name: &str, crates: &[&str], source: &str) -> Result<PathBuf> {
        let folder = self.toolchain.machine().target().join("backends").join(name);
        forms::write_package_with(&folder, name, crates, source)?;
        Ok(folder)
    }
}

fn rendered_error(message: &Value) -> Option<String> {
    let message = &message["message"];
    (message["level"] == "error").then(|| message["rendered"].as_str().map(str::to_owned))?
}

/// The pinned nightly; rustup is asked for it if it is not there.
fn nightly(machine: &Machine, progress: &Progress) -> Result<DeviceToolchain> {
    let mut machine = machine.clone();
    machine.vars.insert("RUSTUP_TOOLCHAIN".into(), NIGHTLY.into());
    let found = || DeviceToolchain::find_on(&machine, Route::Active, progress);
    found().or_else(|_| {
        progress.note(&format!("Installing {NIGHTLY} with rustup, which rust-cuda needs"));
        let _step = progress.step(format!("rustup toolchain install {NIGHTLY}"));
        let install = machine.command("rustup").args(["toolchain", "install", NIGHTLY, "--profile", "minimal"]);
        install.args(["--component", "rust-src"]).run().map_err(|error| {
            error.fix(format_args!(
                "rust-cuda works with this nightly alone: rustup toolchain install {NIGHTLY} --component rust-src"
            ))
        })?;
        found()
    })
}

/// The crate of these cases: rust-cuda's kernels have the ABI of C, and an attribute.
fn source(cases: &[Case]) -> String {
    forms::crate_source(cases)
        .replace("pub unsafe extern \"ptx-kernel\" fn", "#[nvvm_internal::kernel]\npub unsafe extern \"C\" fn")
}

/// How many functions are compiled at a time.
const AT_A_TIME: usize = 6000;

/// What the check showed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The `.version` that libnvvm wrote.
    pub version: Option<PtxVersion>,
    /// Forms compiled.
    pub forms: usize,
    /// Functions compiled and compared: each form in every syntax.
    pub compared: usize,
    /// Functions left out: what is no kernel does not stay in the module.
    pub left_out: usize,
    /// How long it took.
    pub seconds: f64,
    /// What was wrong, a line each.
    pub wrong: Vec<String>,
}

/// Compiles these cases with rust-cuda, compares each to the letter, and has the assembler take each.
pub fn check(rust_cuda: &RustCuda, tools: &CudaTools, cases: Vec<Case>, progress: &Progress) -> Result<Report> {
    let began = Instant::now();
    let assembler = tools.assembler(BUILT_FOR, progress)?;
    let on = On { sm: BUILT_FOR, version: assembler.newest_version()?, assembler };
    let all = cases.len();
    let cases: Vec<Case> = cases.into_iter().filter(|case| case.form.space() != Some("param::func")).collect();
    let forms: std::collections::HashSet<*const Form> = cases.iter().map(|case| Arc::as_ptr(&case.form)).collect();
    let mut report = Report { forms: forms.len(), left_out: all - cases.len(), ..Report::default() };
    let count = cases.len().div_ceil(AT_A_TIME);
    for (number, cases) in cases.chunks(AT_A_TIME).enumerate() {
        let _step = progress.step(format!("rust-cuda: part {} of {count}", number + 1));
        let compiled = rust_cuda.forms(&format!("rust-cuda-{number}"), cases)?;
        report.version = Some(compiled.module.version);
        report.compared += cases.len();
        report.wrong.extend(forms::differences(&compiled.module, cases));
        let kept = rust_cuda.toolchain.machine().target().join("forms/accepted");
        let verdicts = Verdicts { module: &compiled.module, kept };
        report.wrong.extend(verdicts.refusals(&on.assembler, &cases.iter().collect::<Vec<_>>(), on.sm, on.version)?);
    }
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// All cases of these forms, or so many forms of each instruction, drawn by a seed.
pub fn cases(forms: &[Arc<Form>], sample: Option<usize>) -> Result<Vec<Case>> {
    Ok(match sample {
        Some(of_each) => forms_check::slice(forms, of_each, forms_check::seed()?),
        None => forms::cases(forms),
    })
}

impl Report {
    /// The numbers, for people.
    pub fn table(&self) -> String {
        let version = self.version.map_or("?".to_owned(), |version| version.to_string());
        let lines = [
            (self.forms, "forms, with rust-cuda for compute_100".to_owned()),
            (self.compared, format!("functions compared to the letter, and assembled, in PTX ISA {version}")),
            (self.left_out, "functions left out: `.param::func` is in no kernel".to_owned()),
            (self.wrong.len(), "wrong".to_owned()),
        ];
        let table: String = lines.into_iter().map(|(count, what)| format!("{count:>9}  {what}\n")).collect();
        table + &format!("{:>9.0}  seconds\n", self.seconds)
    }

    /// An error that names the first wrong ones, if there is one.
    pub fn verify(&self) -> Result<()> {
        forms_check::none(&self.wrong)
    }
}
