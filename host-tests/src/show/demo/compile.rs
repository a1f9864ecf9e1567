//! The kernels' PTX, and the Rust that each of its instructions came from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::read::line_table::{Located, Site};
use crate::tools::command::Command;
use crate::tools::core_library;
use crate::tools::device_build::{DeviceBuild, Profile};
use crate::tools::error::{Error, Result};
use crate::tools::progress::Progress;
use crate::tools::ptx::{Function, Module};
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::DeviceToolchain;

/// The oldest GPU that has all the kernels' hints, and the PTX ISA version that has them.
pub const OLDEST: (Sm, PtxVersion) = (Sm::new(80), PtxVersion::new(7, 4));

/// The folder of the kernels' crate.
pub const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");

/// The kernels, compiled.
pub struct Compiled {
    /// The file that holds the PTX.
    pub path: PathBuf,
    /// The PTX.
    pub module: Module,
    /// For each function, where each of its `asm!` may stand, the likeliest first; nowhere if the compiler does not say.
    pub sites: HashMap<String, Vec<Vec<Site>>>,
}

/// Compiles the kernels once for all GPUs: PTX for the oldest that has their hints runs on every later one.
pub fn compile(toolchain: &DeviceToolchain, progress: &Progress) -> Result<Compiled> {
    let (sm, version) = OLDEST;
    let _step = progress.step(format!("Compiling the kernels to PTX {version} for {sm} with {}", toolchain.version));
    let mut build = DeviceBuild::new(KERNELS, "kernels", sm);
    build.ptx = Some(version);
    let path = build.build(toolchain)?;
    let module = Module::read(&path)?;
    let located = Located::read(&with_line_table(toolchain, &path)?);
    let sites = sites(&module, &located, &Path::new(KERNELS).join("src"))?;
    Ok(Compiled { path, module, sites })
}

/// Where each `asm!` of each function is, if the text with a line table has the same ones.
fn sites(module: &Module, located: &Located, folder: &Path) -> Result<HashMap<String, Vec<Vec<Site>>>> {
    let twin = Module::parse(&located.ptx)?;
    let pairs = module.functions.iter().map(|function| (function, twin.function(&function.name)));
    Ok(pairs.map(|(function, twin)| (function.name.clone(), sites_in(function, twin, located, folder))).collect())
}

fn sites_in(function: &Function, twin: Option<&Function>, located: &Located, folder: &Path) -> Vec<Vec<Site>> {
    let (blocks, twins) = (function.inline_asm(), twin.map(Function::inline_asm).unwrap_or_default());
    let same = blocks.iter().map(|block| &block.lines).eq(twins.iter().map(|block| &block.lines));
    let twins = if same { twins } else { Vec::new() };
    let mut sites: Vec<_> = twins.iter().map(|block| located.sites(block.line, folder)).collect();
    sites.resize(blocks.len(), Vec::new());
    sites
}

/// The same code with a line table, which ptxas would refuse. Only the kernels are compiled anew: a setting for one
/// package leaves what is already compiled of the others.
fn with_line_table(toolchain: &DeviceToolchain, ptx: &Path) -> Result<String> {
    let out = ptx.with_extension("lines");
    let mut ran = cargo(toolchain, &out)?.run()?;
    if !out.is_file() {
        // cargo does not know of this file, so it does not miss it.
        let clean = ["clean", "--package", "kernels", "--release", "--target", TARGET, "--target-dir"];
        toolchain.cargo().dir(KERNELS).args(clean).arg(target(toolchain)).run()?;
        ran = cargo(toolchain, &out)?.run()?;
    }
    std::fs::read_to_string(&out).map_err(|error| Error::io("read", &out, error).because(ran.stderr))
}

const TARGET: &str = "nvptx64-nvidia-cuda";

fn target(toolchain: &DeviceToolchain) -> PathBuf {
    toolchain.machine().target().join("device/cargo")
}

/// As in [`DeviceBuild`], whose build of everything else this uses.
fn cargo(toolchain: &DeviceToolchain, out: &Path) -> Result<Command> {
    let (sm, version) = OLDEST;
    let mut flags = vec![format!("-Ctarget-cpu={sm}"), format!("-Ctarget-feature=+{}", version.feature())];
    flags.extend(core_library::flags(toolchain, Profile::Release)?);
    let cargo = toolchain.cargo().dir(KERNELS);
    let cargo = cargo.args(["rustc", "--package", "kernels", "--lib", "--crate-type=cdylib", "--target", TARGET]);
    let cargo = cargo.args(["--release", "--quiet", "--target-dir"]).arg(target(toolchain));
    let cargo = cargo.args(["--config", "profile.release.package.kernels.debug=\"line-tables-only\""]);
    let cargo = cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env("CARGO_PROFILE_RELEASE_LTO", "fat");
    let cargo = cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    let linker = toolchain.machine().target().join("device/no-linker");
    let mut emit = std::ffi::OsString::from("--emit=asm=");
    emit.push(out);
    Ok(cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker).arg("--").arg(emit))
}
