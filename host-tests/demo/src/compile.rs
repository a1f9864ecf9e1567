//! The kernels' PTX, and the Rust that each of its instructions came from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ptx_build::device_build::DeviceBuild;
use ptx_build::error::Result;
use ptx_build::progress::Progress;
use ptx_build::ptx::{Function, Module};
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::DeviceToolchain;
use ptx_sass::line_table::{Located, Site};
use workloads::kernels_folder;

/// The oldest GPU that has all the kernels' hints, and the PTX ISA version that has them.
pub const OLDEST: (Sm, PtxVersion) = (Sm::new(80), PtxVersion::new(7, 4));

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
    let mut build = DeviceBuild::new(kernels_folder(), "kernels", sm);
    build.ptx = Some(version);
    let path = build.build(toolchain)?;
    let module = Module::read(&path)?;
    let located = Located::read(&build.with_line_table(toolchain)?);
    let sites = sites(&module, &located, &kernels_folder().join("src"))?;
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
