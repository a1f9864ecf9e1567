//! Rust's `core` for the GPU, compiled once for all builds of a toolchain.
//!
//! `-Zbuild-std` compiles it again for each GPU and each PTX ISA version. It is the same each time, and takes longer than a
//! crate of kernels.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::profile::{Profile, TARGET, failed_cargo, linker};
use crate::toolchain::DeviceToolchain;

const MANIFEST: &str = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n[workspace]\n";

const SOURCE: &str = "#![no_std]\n\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n";

/// The file beside the library that has the other flags, a line each.
const FLAGS: &str = "flags";

/// The crates of the library.
const CRATES: [&str; 2] = ["core", "compiler_builtins"];

/// Newer compilers refuse crates of another `-Ctarget-cpu`, without this flag. Older ones do not know it.
const OF_ANY_GPU: &str = "-Cunsafe-allow-abi-mismatch=target-cpu";

/// The flags of rustc that make it take `core` for the GPU from a folder, which is made if it is not there.
pub fn flags(toolchain: &DeviceToolchain, profile: Profile) -> Result<Vec<String>> {
    let mut hasher = DefaultHasher::new();
    (&toolchain.rustc, &toolchain.version, profile).hash(&mut hasher);
    let root = toolchain.machine().target().join("device/core");
    let sysroot = root.join(format!("{}-{:016x}", profile.name(), hasher.finish()));
    if !sysroot.is_dir() {
        make(toolchain, profile, &root, &sysroot)?;
    }
    let more = sysroot.join(FLAGS);
    let more = std::fs::read_to_string(&more).map_err(|error| Error::io("read", &more, error))?;
    Ok([format!("--sysroot={}", sysroot.display())].into_iter().chain(more.lines().map(str::to_owned)).collect())
}

fn make(toolchain: &DeviceToolchain, profile: Profile, root: &Path, sysroot: &Path) -> Result<()> {
    let files = compiled(toolchain, profile, &root.join("empty"))?;
    let scratch = tempfile::tempdir_in(root).map_err(|error| Error::io("create a folder in", root, error))?;
    let made = scratch.path().join("sysroot");
    let libraries = made.join("lib/rustlib").join(TARGET).join("lib");
    std::fs::create_dir_all(&libraries).map_err(|error| Error::io("create the folder", &libraries, error))?;
    for file in files {
        let to = libraries.join(file.file_name().unwrap_or_default());
        std::fs::copy(&file, &to).map_err(|error| Error::io("write", &to, error))?;
    }
    let flags = if takes_any_gpu(toolchain, scratch.path())? { format!("{OF_ANY_GPU}\n") } else { String::new() };
    write_whole(&made.join(FLAGS), flags)?;
    match std::fs::rename(&made, sysroot) {
        // Another process has made it meanwhile.
        Err(_) if sysroot.is_dir() => Ok(()),
        renamed => renamed.map_err(|error| Error::io("write", sysroot, error)),
    }
}

fn takes_any_gpu(toolchain: &DeviceToolchain, scratch: &Path) -> Result<bool> {
    write_whole(&scratch.join("empty.rs"), "#![feature(no_core)]\n#![no_core]\n")?;
    let rustc = toolchain.rustc().dir(scratch).args(["empty.rs", "--crate-type=lib", "--emit=metadata"]);
    let finished = rustc.env("RUSTC_BOOTSTRAP", "1").args(["--target", TARGET, OF_ANY_GPU]).finish()?;
    Ok(finished.status.success())
}

/// The libraries, as cargo makes them beside an empty crate. Of two processes that want them, cargo lets one wait.
fn compiled(toolchain: &DeviceToolchain, profile: Profile, folder: &Path) -> Result<Vec<PathBuf>> {
    write_whole(&folder.join("Cargo.toml"), MANIFEST)?;
    write_whole(&folder.join("src/lib.rs"), SOURCE)?;
    let cargo = profile.cargo(toolchain.cargo().dir(folder).args(["build", "--quiet", "--message-format=json"]), false);
    let cargo = cargo.args(["--target", TARGET, "-Zbuild-std=core", "--target-dir"]).arg(folder.join("target"));
    let cargo = cargo.env("CARGO_ENCODED_RUSTFLAGS", profile.flags().join("\x1f"));
    let cargo = cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker(folder)?);
    let finished = cargo.finish()?;
    if !finished.status.success() {
        return Err(failed_cargo("cargo could not compile Rust's `core` for the GPU", &toolchain.version, &finished));
    }
    let files: Vec<PathBuf> = finished.stdout.lines().flat_map(libraries_in).collect();
    if CRATES.iter().all(|name| files.iter().any(|file| is_of(file, name))) {
        return Ok(files);
    }
    Err(Error::new("cargo compiled `core` for the GPU and does not say where it is")
        .at(format_args!("{files:?} (with {})", toolchain.version))
        .fix("use another toolchain"))
}

/// The files that a line of cargo's tells of: `.rlib` has the code, and with newer compilers `.rmeta` alone has the types.
fn libraries_in(line: &str) -> Vec<PathBuf> {
    let Ok(message) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from);
    files.filter(|file| CRATES.iter().any(|name| is_of(file, name))).collect()
}

fn is_of(file: &Path, name: &str) -> bool {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    file.starts_with(&format!("lib{name}-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_those_that_cargo_names() {
        let line = |name: &str, files: &[&str]| {
            serde_json::json!({ "reason": "compiler-artifact", "target": { "name": name }, "filenames": files })
                .to_string()
        };
        let core = ["/t/build/core/5a/out/libcore-5a.rlib", "/t/build/core/5a/out/libcore-5a.rmeta"];
        assert_eq!(libraries_in(&line("core", &core)), core.map(PathBuf::from));
        let builtins = ["/t/deps/libcompiler_builtins-8f.rlib"];
        assert_eq!(libraries_in(&line("compiler_builtins", &builtins)), builtins.map(PathBuf::from));
        let script = ["/t/release/build/compiler_builtins-3a/build-script-build"];
        assert_eq!(libraries_in(&line("build-script-build", &script)), Vec::<PathBuf>::new());
        assert_eq!(libraries_in(&line("empty", &["/t/release/empty.ptx"])), Vec::<PathBuf>::new());
        assert_eq!(libraries_in("not JSON"), Vec::<PathBuf>::new());
    }
}
