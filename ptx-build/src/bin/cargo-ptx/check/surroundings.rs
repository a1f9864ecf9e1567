//! What a program finds instead of NVIDIA's driver, runtime and assembler: files of a folder, and variables that lead there.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::error::{Error, Result};
use ptx_driver::DRIVER_VARIABLE;

use crate::library;

/// The library's name as the driver.
const DRIVER: &str = "libcuda.so.1";
/// Other names under which programs look for the driver, the runtime, cuBLAS, cuRAND, cuFFT and NVML.
const LINKS: [&str; 17] = [
    DRIVER,
    "libcuda.so",
    "libcudart.so.13",
    "libcublas.so",
    "libcublas.so.11",
    "libcublas.so.12",
    "libcublas.so.13",
    "libcublasLt.so",
    "libcublasLt.so.11",
    "libcublasLt.so.12",
    "libcublasLt.so.13",
    "libcurand.so",
    "libcurand.so.10",
    "libcufft.so",
    "libcufft.so.11",
    "libcufft.so.12",
    "libnvidia-ml.so.1",
];
/// The name of the runtime whose functions are others in part: a copy of the library, whose functions the library replaces.
const COPY: &str = "libcudart.so.12";
/// A folder like that of CUDA's toolkit.
const TOOLKIT: &str = "cuda";
/// The assembler in it.
const PTXAS: &str = "cuda/bin/ptxas";
/// The folder of PTX that a compiler keeps.
const KEPT: &str = "kept";
/// Files that Python finds before others.
const PYTHON: [(&str, &str); 5] = [
    ("sitecustomize.py", include_str!("python/sitecustomize.py")),
    ("ptx_check_torch.py", include_str!("python/ptx_check_torch.py")),
    ("ptx_check_scaled.py", include_str!("python/ptx_check_scaled.py")),
    ("ptx_check_cute.py", include_str!("python/ptx_check_cute.py")),
    ("ptx_check_jax.py", include_str!("python/ptx_check_jax.py")),
];

/// The folder.
pub(super) struct Surroundings<'a> {
    folder: &'a Path,
    /// What is loaded before the program, and opens the library.
    first: PathBuf,
}

impl<'a> Surroundings<'a> {
    /// Fills the folder.
    pub(super) fn write(library: &Path, folder: &'a Path) -> Result<Self> {
        for name in LINKS {
            let link = folder.join(name);
            symlink(library, &link).map_err(|error| Error::io("make the link", &link, error))?;
        }
        let wrote =
            |path: &Path, written: std::io::Result<()>| written.map_err(|error| Error::io("write", path, error));
        let python = folder.join("python");
        for made in [&python, &folder.join(KEPT), &folder.join(TOOLKIT).join("bin")] {
            wrote(made, fs::create_dir_all(made))?;
        }
        let copy = folder.join(COPY);
        wrote(&copy, fs::copy(library, &copy).map(drop))?;
        let ptxas = folder.join(PTXAS);
        let script = || fs::set_permissions(&ptxas, Permissions::from_mode(0o755));
        wrote(&ptxas, fs::write(&ptxas, include_str!("ptxas.sh")).and_then(|()| script()))?;
        for (name, text) in PYTHON {
            let file = python.join(name);
            wrote(&file, fs::write(&file, text))?;
        }
        Ok(Self { folder, first: library::first(library)? })
    }

    /// Lets a program find them.
    pub(super) fn hand_to(&self, command: &mut Command) {
        let Self { folder, first } = self;
        command.env("LD_LIBRARY_PATH", before(folder, "LD_LIBRARY_PATH"));
        command.env(DRIVER_VARIABLE, folder.join(DRIVER));
        // The library is there before the program begins, and replaces each runtime that comes.
        command.env("LD_PRELOAD", before(first, "LD_PRELOAD")).env("PTX_CHECK_OPENS", folder.join(DRIVER));
        for variable in ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "MODULAR_NVPTX_COMPILER_PATH"] {
            command.env(variable, folder.join(PTXAS));
        }
        // CuTe DSL loads machine code, and keeps its PTX.
        let kept = std::env::var_os("CUTE_DSL_DUMP_DIR").unwrap_or_else(|| folder.join(KEPT).into());
        // It writes nothing into a folder that is not there.
        let _ = fs::create_dir_all(&kept);
        command.env("CUTE_DSL_KEEP_PTX", "1").env("CUTE_DSL_DUMP_DIR", &kept).env("PTX_CHECK_KEPT", kept);
        command.env("CUTE_DSL_DISABLE_FILE_CACHING", "1").env("CUTE_DSL_LINEINFO", "1");
        // Quack and FlashAttention keep machine code of an earlier run, without its PTX.
        command.env("QUACK_CACHE_ENABLED", "0").env("FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED", "0");
        // JAX's own check of versions asks CUPTI, which finds no driver of NVIDIA's.
        command.env("PTX_CHECK_TOOLKIT", folder.join(TOOLKIT)).env("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1");
        ask_for_each_tensor(command);
        ask_for_each_buffer(command);
        command.env("PYTHONPATH", before(&folder.join("python"), "PYTHONPATH"));
    }
}

/// PyTorch then asks for each tensor's memory by itself, in its stream, so that its end is known and orders nothing else. Where the program chooses how
/// memory is allocated, each tensor is freed at once.
fn ask_for_each_tensor(command: &mut Command) {
    const CHOICES: [&str; 2] = ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"];
    if CHOICES.iter().all(|variable| std::env::var_os(variable).is_none()) {
        command.envs(CHOICES.map(|variable| (variable, "backend:cudaMallocAsync")));
    }
    if std::env::var_os("PYTORCH_NO_CUDA_MEMORY_CACHING").is_none() {
        command.env("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
    }
}

/// Mojo then asks for each buffer's memory by itself, so that its end is known.
fn ask_for_each_buffer(command: &mut Command) {
    const SHARES: [&str; 2] =
        ["MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE_PERCENT", "MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE"];
    for share in SHARES {
        if std::env::var_os(share).is_none() {
            command.env(share, "0");
        }
    }
}

/// A list of paths in the environment, with one before it.
fn before(first: &Path, variable: &str) -> OsString {
    let mut list = first.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
