//! The library that stands for NVIDIA's driver: the crate `ptx-gpu`, compiled. And what opens it in a program.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ptx_build::command::Machine;
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;

use crate::installed::cache;

/// Names a library that is compiled already. Without it cargo is asked each time.
const LIBRARY: &str = "PTX_CHECK_LIBRARY";

/// Compiles it: that of the checkout which this program is of, or the published one of the same version.
pub(crate) fn find() -> Result<PathBuf> {
    if let Some(library) = std::env::var_os(LIBRARY) {
        return Ok(library.into());
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-gpu/Cargo.toml");
    if manifest.is_file() {
        return compile(&manifest, !cfg!(debug_assertions));
    }
    compile(&published()?, true)
}

/// What is loaded before a program, and opens the library: compiled, beside that.
pub(crate) fn first(library: &Path) -> Result<PathBuf> {
    const TEXT: &str = include_str!("check/first.rs");
    let (file, source) = (library.with_file_name("ptx_check_first.so"), library.with_file_name("ptx_check_first.rs"));
    if file.is_file() && fs::read_to_string(&source).is_ok_and(|text| text == TEXT) {
        return Ok(file);
    }
    let failed = |error: std::io::Error| Error::new(error).at("rustc").fix("install Rust: https://rustup.rs");
    let folder = tempfile::tempdir_in(source.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    let (text, compiled) = (folder.path().join("first.rs"), folder.path().join("first.so"));
    write_whole(&text, TEXT)?;
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "-O", "-C", "panic=abort"]);
    let status = rustc.arg("-o").arg(&compiled).arg(&text).status().map_err(failed)?;
    if !status.success() {
        return Err(Error::new("what opens the driver without a GPU could not be compiled")
            .at(text.display())
            .fix("see what rustc says"));
    }
    fs::rename(&compiled, &file).map_err(|error| Error::io("write", &file, error))?;
    write_whole(&source, TEXT)?;
    Ok(file)
}

/// A package in the user's cache that depends on the published crate alone: its manifest.
fn published() -> Result<PathBuf> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = cache(&Machine::current())
        .ok_or_else(|| Error::new("there is no folder for caches").at("HOME").fix("set HOME or XDG_CACHE_HOME"))?
        .join(format!("ptx-gpu-{version}"));
    let package = format!(
        "[package]\nname = \"ptx-gpu-here\"\nedition = \"2024\"\n\n\
         [dependencies]\nptx-gpu = \"={version}\"\n\n[workspace]\n"
    );
    let manifest = folder.join("Cargo.toml");
    for (file, text) in [(folder.join("src/lib.rs"), ""), (manifest.clone(), &package)] {
        // cargo compiles a newer file anew.
        if fs::read_to_string(&file).ok().as_deref() != Some(text) {
            write_whole(&file, text)?;
        }
    }
    Ok(manifest)
}

/// Compiles the package, or the one that a package depends on: optimised, or as this program was, so that little is left to do.
fn compile(manifest: &Path, optimised: bool) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--message-format=json-render-diagnostics", "--manifest-path"]).arg(manifest);
    if optimised {
        cargo.arg("--release");
        cargo.args(wide().map(|cpu| format!("--config=build.rustflags=[\"-Ctarget-cpu={cpu}\"]")));
    }
    // Its progress is of interest only if there is something to compile.
    let failed = |error: std::io::Error| Error::new(error).at("cargo").fix("install Rust: https://rustup.rs");
    let mut child = cargo.stdout(Stdio::piped()).env_remove("RUSTFLAGS").spawn().map_err(failed)?;
    let mut library = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(failed)?;
            library = artifact(&line).or(library);
        }
    }
    let status = child.wait().map_err(failed)?;
    library.filter(|_| status.success()).ok_or_else(|| {
        Error::new("the driver without a GPU could not be compiled").at(manifest.display()).fix("see what cargo says")
    })
}

/// The vectors of this machine, if it has wide ones. Where several machines have one folder, each has a library of its own.
fn wide() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let (vectors, bits) = (has!("avx2") && has!("fma") && has!("f16c"), has!("bmi1") && has!("bmi2"));
        if vectors && bits && has!("lzcnt") && has!("movbe") {
            return Some("x86-64-v3");
        }
    }
    None
}

/// The library, if a message of cargo's is about it.
fn artifact(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    if message["target"]["name"] != "ptx_gpu" {
        return None;
    }
    let files = message["filenames"].as_array()?;
    files.iter().filter_map(|file| file.as_str()).find(|file| file.ends_with(".so")).map(PathBuf::from)
}
