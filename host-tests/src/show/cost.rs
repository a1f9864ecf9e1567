//! What the crate costs a build: itself, cold, and a kernel that uses one form of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::check::forms::write_package_with;
use crate::tools::command::Command;
use crate::tools::error::{Error, Result};
use crate::tools::progress::Progress;
use crate::tools::toolchain::DeviceToolchain;

/// How often each is built; the quickest counts, since all else is the machine's other work.
const TIMES: u32 = 3;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Seconds for the crate alone, `core` not counted: as it is, and with the feature that has the rest.
    pub crate_seconds: [f64; 2],
    /// Bytes of its rlib.
    pub rlib: u64,
    /// Seconds for a kernel of one load: with `asm!` of its own, by the crate's method, by `ptx!`.
    pub kernel_seconds: [(&'static str, f64); 3],
}

const ASM: &str = "let v: f32; core::arch::asm!(\"ld.global.nc.L1::evict_last.L2::256B.f32 {v}, [{p}];\", \
                   v = out(reg32) v, p = in(reg64) p, options(pure, readonly, nostack)); v";
const METHOD: &str = "ld_global_nc::<EvictLast, Prefetch256>().read(p)";
const SPELLED: &str = "ptx!(ld.global.nc.L1::evict_last.L2::256B.f32 [p])";

/// A kernel of one load; the round makes it new to cargo.
fn source(load: &str, round: u32) -> String {
    let (feature, import) =
        if load == ASM { (", asm_experimental_arch", "") } else { ("", "use ptx_intrinsics::prelude::*;\n") };
    format!(
        "#![no_std]\n#![feature(abi_ptx{feature})]\n{import}\
         #[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn kernel(p: *const f32, out: *mut f32) {{\n    \
         unsafe {{ *out = {{ {load} }} }} // {round}\n}}\n"
    )
}

/// Measures it.
pub fn measure(toolchain: &DeviceToolchain, progress: &Progress) -> Result<Cost> {
    let folder = toolchain.machine().target().join("cost");
    let step = progress.step("Building core and the crate for nvptx64");
    let of = |dependency: &str, load: &str, round: u32| {
        write_package_with(&folder, "cost", &[dependency], &source(load, round))
    };
    let package = |load: &str, round: u32| of("ptx-intrinsics", load, round);
    package(METHOD, 0)?;
    let target = folder.join("target");
    let cargo = |command: &str| cargo(toolchain, &folder, &target, command);
    cargo("build").args(["-Zbuild-std=core"]).run()?;
    drop(step);
    let step = progress.step("Building the crate alone");
    let alone = |dependency: &str| {
        of(dependency, METHOD, 0)?;
        quickest(|_| {
            cargo("clean").args(["--package", "ptx-intrinsics"]).run()?;
            timed(cargo("build").args(["-Zbuild-std=core", "--package", "ptx-intrinsics"]))
        })
    };
    let with_all = alone("ptx-intrinsics/l2-combinations")?;
    let crate_seconds = [alone("ptx-intrinsics")?, with_all];
    drop(step);
    let step = progress.step("Building a kernel of one load");
    let kernel = |what, load| -> Result<(&'static str, f64)> {
        let seconds = quickest(|round| {
            package(load, round)?;
            timed(cargo("build").args(["-Zbuild-std=core"]))
        })?;
        Ok((what, seconds))
    };
    let kernel_seconds =
        [kernel("asm! of its own", ASM)?, kernel("by the method", METHOD)?, kernel("by ptx!", SPELLED)?];
    drop(step);
    Ok(Cost { crate_seconds, rlib: rlib(&target)?, kernel_seconds })
}

fn cargo(toolchain: &DeviceToolchain, folder: &Path, target: &Path, command: &str) -> Command {
    let flags = ["-Ctarget-cpu=sm_100", "-Ctarget-feature=+ptx88"].join("\x1f");
    let cargo = toolchain.cargo().dir(folder).env("CARGO_ENCODED_RUSTFLAGS", flags);
    cargo.args([command, "--quiet", "--release", "--target", "nvptx64-nvidia-cuda", "--target-dir"]).arg(target)
}

fn timed(command: Command) -> Result<f64> {
    let began = Instant::now();
    command.run()?;
    Ok(began.elapsed().as_secs_f64())
}

fn quickest(mut build: impl FnMut(u32) -> Result<f64>) -> Result<f64> {
    (1..=TIMES).try_fold(f64::INFINITY, |best, round| Ok(best.min(build(round)?)))
}

/// The size of the crate's rlib.
fn rlib(target: &Path) -> Result<u64> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![target.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| Error::io("read the folder", &folder, error))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match path.is_dir() {
                true => folders.push(path),
                false if name.starts_with("libptx_intrinsics") && name.ends_with(".rlib") => found.push(path),
                false => {}
            }
        }
    }
    let sizes = found.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len());
    sizes
        .max()
        .ok_or_else(|| Error::new("cargo left no rlib").at(target.display()).fix("see what it says: cargo build"))
}

impl Cost {
    /// The numbers, for people.
    pub fn table(&self) -> String {
        let [seconds, with_all] = self.crate_seconds;
        let mut table = format!(
            "{seconds:>8.2} s   ptx-intrinsics for nvptx64, cold, without core\n{:>8.1} MB  its rlib\n\
             {with_all:>8.2} s   the same with the feature l2-combinations\n",
            self.rlib as f64 / 1e6
        );
        for (what, seconds) in self.kernel_seconds {
            table += &format!("{seconds:>8.2} s   a kernel of one load, {what}\n");
        }
        table
    }
}
