//! Compiles a crate to the PTX of one module.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use ptx_sass::inlined_at::with_inlined_at;
use serde_json::Value;

use crate::command::{Command, Finished};
use crate::core_library;
use crate::error::{Error, Result};
use crate::files::write_whole;
pub use crate::profile::Profile;
use crate::profile::{NO_SPACE, TARGET, failed_cargo, linker};
use crate::ptx::{self, Module};
use crate::shared_rows::with_shared_rows;
use crate::shared_variables;
use crate::source_lines::is_library;
use crate::target::{PtxVersion, Sm};
use crate::toolchain::DeviceToolchain;

/// A crate to compile, and for what.
#[derive(Clone, Debug, Hash)]
pub struct DeviceBuild {
    /// The folder of the crate's `Cargo.toml`; it need not belong to this workspace.
    pub manifest_dir: PathBuf,
    /// The package in it.
    pub package: String,
    /// The architecture.
    pub sm: Sm,
    /// The PTX ISA version, if another than the compiler's default for the architecture.
    pub ptx: Option<PtxVersion>,
    /// A PTX ISA version up to which the crate's gates open, though the compiler may not write so new a one.
    pub gates: Option<PtxVersion>,
    /// Whether a user's build script names the target. What the crate says of a target that is too old is about that, and not
    /// about flags.
    pub by_build_script: bool,
    /// Whether the PTX says of which lines of the source it is. A call of `ptx-intrinsics` or of `core` is of the line that calls it.
    pub lines: bool,
    /// The profile.
    pub profile: Profile,
    /// The crate's cargo features, besides its default ones.
    pub features: Vec<String>,
}

impl DeviceBuild {
    /// A release build with the compiler's default PTX ISA version and the crate's default features.
    pub fn new(manifest_dir: impl Into<PathBuf>, package: impl Into<String>, sm: Sm) -> Self {
        let (manifest_dir, package) = (manifest_dir.into(), package.into());
        DeviceBuild {
            manifest_dir,
            package,
            sm,
            ptx: None,
            gates: None,
            by_build_script: false,
            lines: false,
            profile: Profile::Release,
            features: Vec::new(),
        }
    }

    /// The same, with the gates of every form open: some are newer than what a compiler writes.
    pub fn of_every_form(manifest_dir: impl Into<PathBuf>, package: impl Into<String>, sm: Sm) -> Self {
        let (ptx, gates) = (Some(PtxVersion::new(8, 8)), Some(PtxVersion::OF_EVERY_FORM));
        DeviceBuild { ptx, gates, ..DeviceBuild::new(manifest_dir, package, sm) }
    }

    /// Compiles with warnings printed on stderr, and gives the file that holds the PTX.
    pub fn build(&self, toolchain: &DeviceToolchain) -> Result<PathBuf> {
        let (ptx, warnings) = self.build_quietly(toolchain)?;
        eprint!("{warnings}");
        Ok(ptx)
    }

    /// Compiles, and gives the file that holds the PTX and the compiler's warnings.
    pub fn build_quietly(&self, toolchain: &DeviceToolchain) -> Result<(PathBuf, String)> {
        self.build_in_lane(toolchain, 0)
    }

    /// The same; builds in different lanes run side by side, where cargo lets one wait for the other else.
    pub fn build_in_lane(&self, toolchain: &DeviceToolchain, lane: usize) -> Result<(PathBuf, String)> {
        let (compiled, warnings) = self.compile(toolchain, lane, "s", &[])?;
        let ptx = compiled.with_extension("ptx");
        // This program may have learned to make something else of it.
        if is_older(&ptx, &compiled) || std::env::current_exe().is_ok_and(|program| is_older(&ptx, &program)) {
            self.finish(&compiled, &ptx)?;
        }
        Ok((ptx, warnings))
    }

    /// The compiler's text with a line table, which ptxas would refuse. Only the crate itself is compiled anew: a setting for one
    /// package leaves what is already compiled of the others.
    pub fn with_line_table(&self, toolchain: &DeviceToolchain) -> Result<String> {
        let setting = format!("profile.{}.package.{}.debug=\"line-tables-only\"", self.profile.name(), self.package);
        let (compiled, _) = self.compile(toolchain, 0, "lines", &["--config", &setting])?;
        std::fs::read_to_string(&compiled).map_err(|error| Error::io("read", &compiled, error))
    }

    /// A name that no other build shares: cargo does not rewrite a file that another build has overwritten.
    fn stem(&self, toolchain: &DeviceToolchain) -> String {
        let mut hasher = DefaultHasher::new();
        (self, &toolchain.rustc, &toolchain.version).hash(&mut hasher);
        let ptx = self.ptx.unwrap_or_else(|| toolchain.default_ptx(self.sm));
        let profile = self.profile.name();
        format!("{}-{}-{}-{profile}-{:016x}", self.package, self.sm, ptx.feature(), hasher.finish())
    }

    /// Has the compiler write its text to a file with that extension, with these arguments for cargo besides: the file, and
    /// the warnings.
    fn compile(
        &self,
        toolchain: &DeviceToolchain,
        lane: usize,
        extension: &str,
        settings: &[&str],
    ) -> Result<(PathBuf, String)> {
        toolchain.check_target(self.sm, self.ptx)?;
        let folder = toolchain.machine().target().join("device");
        let modules = folder.join("ptx");
        std::fs::create_dir_all(&modules).map_err(|error| Error::io("create the folder", &modules, error))?;
        let out = modules.join(format!("{}.{extension}", self.stem(toolchain)));
        // A folder of cargo's own making: it refuses to clean any other.
        let target = folder.join(if lane == 0 { "cargo".to_owned() } else { format!("cargo-{lane}") });
        let linker = linker(&folder)?;
        let core = core_library::flags(toolchain, self.profile)?;
        let cargo = || self.cargo(toolchain, &core, &target, &linker).args(settings).arg("--").arg(emit(&out)).finish();
        let mut finished = cargo()?;
        if finished.status.success() && !out.is_file() {
            // cargo does not know of this file, so it does not miss it.
            self.forget(toolchain, &target)?;
            finished = cargo()?;
        }
        let (errors, warnings) = diagnostics(&finished.stdout);
        if finished.status.success() && out.is_file() {
            return Ok((out, warnings));
        }
        Err(self.failed(&finished, &errors, toolchain))
    }

    fn cargo(&self, toolchain: &DeviceToolchain, core: &[String], target: &Path, linker: &Path) -> Command {
        let mut flags = vec![format!("-Ctarget-cpu={}", self.sm)];
        // What the compiler writes by itself needs no flag: with other flags all crates are compiled anew.
        let asked = self.ptx.filter(|ptx| *ptx != toolchain.default_ptx(self.sm));
        flags.extend(asked.map(|ptx| format!("-Ctarget-feature=+{}", ptx.feature())));
        // The crate's build script opens the gates up to what the compiler writes.
        flags.extend(self.beyond().map(|version| format!("--cfg=ptx_isa=\"{version}\"")));
        flags.extend(self.by_build_script.then(|| "--cfg=ptx_by_build_script".to_owned()));
        flags.extend(self.profile.flags());
        flags.extend(toolchain.flags_that_keep_calls().unwrap_or_default().iter().map(|&flag| flag.to_owned()));
        flags.extend_from_slice(core);
        let cargo = toolchain.cargo().dir(&self.manifest_dir).args(["rustc", "--package", &self.package]);
        let cargo = cargo.args(["--lib", "--crate-type=cdylib", "--target", TARGET]);
        let cargo = cargo.args([message_format(), "--quiet"]).arg("--target-dir").arg(target);
        let cargo = cargo.args(self.features.iter().flat_map(|feature| ["--features", feature]));
        let cargo = self.profile.cargo(cargo, self.lines).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker)
    }

    /// The numbers of the versions above the compiler's own up to which the gates open.
    fn beyond(&self) -> impl Iterator<Item = u32> {
        let gates = self.gates.map_or(0, PtxVersion::number);
        self.ptx.map_or(0, PtxVersion::number) + 1..=gates
    }

    fn forget(&self, toolchain: &DeviceToolchain, target: &Path) -> Result<()> {
        let clean = toolchain.cargo().dir(&self.manifest_dir).args(["clean", "--package", &self.package]);
        let clean = clean.args(["--target", TARGET, "--target-dir"]).arg(target);
        clean.args((self.profile == Profile::Release).then_some("--release")).run().map(drop)
    }

    fn failed(&self, finished: &Finished, errors: &str, toolchain: &DeviceToolchain) -> Error {
        let Self { package, sm, .. } = self;
        let place = format!("{} (with {})", self.manifest_dir.display(), toolchain.version);
        if errors.is_empty() || finished.was_interrupted() {
            return failed_cargo(format_args!("cargo could not compile {package} for {sm}"), place, finished);
        }
        let error = Error::new(format_args!("{package} does not compile for {sm}")).at(place).because(first(errors));
        if NO_SPACE.iter().any(|words| errors.contains(words)) {
            return error.fix("make room on the disk");
        }
        if errors.contains("non-statement macro in statement position: ::core::arch::global_asm") {
            return error.fix(
                "write `kernel!` beside the function that it is in: this compiler takes no `#[launch_bounds]` there",
            );
        }
        if errors.contains("crate `std` in this scope") {
            return error.fix(
                "a GPU has no `std`: take what `core` has, or keep it from the GPU by #[cfg(not(target_arch = \"nvptx64\"))]",
            );
        }
        match needs_std(&finished.stdout) {
            Some(source) => error.fix(format_args!(
                "a GPU has no `std`: begin {source} with `#![cfg_attr(target_arch = \"nvptx64\", no_std)]`"
            )),
            None => error.fix("correct what the compiler points at"),
        }
    }

    /// Makes the module from what the compiler wrote: without the parts of `core` that nothing in it uses, which
    /// an unoptimised build still holds.
    fn finish(&self, compiled: &Path, ptx: &Path) -> Result<()> {
        let text = std::fs::read_to_string(compiled).map_err(|error| Error::io("read", compiled, error))?;
        let text = shared_variables::with_names(&text).map_err(|error| error.because(compiled.display()))?;
        // `ptxas` cannot read the debug sections that LLVM writes.
        let text = with_inlined_at(&text, is_library);
        let text = ptx::with_entry_lines(&text).map_err(|error| error.at(compiled.display()))?;
        let text = if self.profile == Profile::Dev { ptx::reachable(&text) } else { text };
        let text = with_shared_rows(&ptx::with_memcmp(&text));
        let module = Module::parse(&text).map_err(|error| error.at(compiled.display()))?;
        if module.target != self.sm || self.ptx.is_some_and(|ptx| ptx != module.version) {
            let made = format!("{} with PTX ISA {}", module.target, module.version);
            return Err(Error::new(format_args!(
                "the compiler made PTX for {made}, which is not what it was asked for"
            ))
            .at(compiled.display())
            .fix("use another toolchain, GPU or PTX ISA version"));
        }
        write_whole(ptx, &text)
    }
}

/// The compiler's messages reach this program alone; they are coloured if what it prints is.
fn message_format() -> &'static str {
    let coloured = console::colors_enabled_stderr();
    if coloured { "--message-format=json-diagnostic-rendered-ansi" } else { "--message-format=json" }
}

fn emit(out: &Path) -> OsString {
    let mut emit = OsString::from("--emit=asm=");
    emit.push(out);
    emit
}

fn is_older(made: &Path, from: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    time(made).is_none_or(|made| time(from).is_none_or(|from| made < from))
}

/// The compiler's errors and its warnings, as it rendered them, each whole.
fn diagnostics(stdout: &str) -> (String, String) {
    let (mut errors, mut warnings) = (String::new(), String::new());
    for line in stdout.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let message = &message["message"];
        let Some(rendered) = message["rendered"].as_str() else {
            continue;
        };
        let text = message["message"].as_str().unwrap_or_default();
        match message["level"].as_str() {
            // The PTX ISA version has no other way to rustc than these.
            Some("warning") if text.contains("unstable feature specified for `-Ctarget-feature`") => {}
            Some("warning") if text.ends_with("warning emitted") || text.ends_with("warnings emitted") => {}
            Some("warning") => warnings += rendered,
            _ => {
                let shown = rendered.lines().filter(|line| !OF_STD.iter().any(|words| line.contains(words)));
                shown.for_each(|line| errors.extend([line, "\n"]));
            }
        }
    }
    (errors, warnings)
}

/// The crate, by the file that it begins with, that asks for `std`. rustc advises to build that, which no GPU has.
fn needs_std(stdout: &str) -> Option<String> {
    let mut messages = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let asks = messages.find(|line| {
        let text = line["message"]["message"].as_str();
        text.is_some_and(|text| text.starts_with("can't find crate for `std`"))
    })?;
    asks["target"]["src_path"].as_str().map(str::to_owned)
}

/// The help of rustc's that no GPU can follow.
const OF_STD: [&str; 3] = ["may not support the standard library", "-Zbuild-std", "`cargo add std`"];

/// Lines of the compiler's errors that are shown: one mistake in generated code may be ten thousand errors.
const SHOWN: usize = 200;

/// The first lines of the compiler's errors, and how many there are.
fn first(errors: &str) -> String {
    let all = errors.lines().count();
    if all <= SHOWN {
        return errors.to_owned();
    }
    let shown = errors.lines().take(SHOWN).collect::<Vec<_>>().join("\n");
    format!("{shown}\n… {} more lines", all - SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_noise_is_kept_from_the_user() {
        let message = |level: &str, text: &str| {
            let rendered = format!("{level}: {text}\n");
            let message = serde_json::json!({ "level": level, "message": text, "rendered": rendered });
            serde_json::json!({ "reason": "compiler-message", "message": message }).to_string()
        };
        let lines = [
            message("warning", "unstable feature specified for `-Ctarget-feature`: `ptx86`"),
            message("warning", "unused variable: `x`"),
            message("warning", "2 warnings emitted"),
            message("error", "mismatched types"),
            message("failure-note", "Some errors have detailed explanations"),
            r#"{"reason":"build-finished","success":false}"#.to_owned(),
        ];
        let errors = "error: mismatched types\nfailure-note: Some errors have detailed explanations\n";
        let expected = (errors.to_owned(), "warning: unused variable: `x`\n".to_owned());
        assert_eq!(diagnostics(&lines.join("\n")), expected);
    }

    #[test]
    fn many_errors_are_counted_and_not_shown() {
        let errors: String = (0..SHOWN + 7).map(|line| format!("error {line}\n")).collect();
        let shown = first(&errors);
        assert_eq!(shown.lines().last(), Some("… 7 more lines"));
        assert_eq!(shown.lines().count(), SHOWN + 1);
        assert_eq!(first("error: one\n"), "error: one\n");
    }

    #[test]
    fn builds_that_differ_have_files_that_differ() {
        let build = DeviceBuild::new("kernels", "kernels", Sm::new(80));
        let others = [
            DeviceBuild { manifest_dir: "elsewhere".into(), ..build.clone() },
            DeviceBuild { ptx: Some(PtxVersion::new(7, 4)), ..build.clone() },
            DeviceBuild { profile: Profile::Dev, ..build.clone() },
            DeviceBuild { features: vec!["half".to_owned()], ..build.clone() },
        ];
        let hash = |build: &DeviceBuild| {
            let mut hasher = DefaultHasher::new();
            build.hash(&mut hasher);
            hasher.finish()
        };
        let hashes: std::collections::BTreeSet<u64> = others.iter().chain([&build]).map(hash).collect();
        assert_eq!(hashes.len(), 5);
    }
}
