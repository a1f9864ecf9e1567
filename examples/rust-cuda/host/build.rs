//! Compiles the kernels by rust-cuda, and puts their launch bounds in place.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use cuda_builder::{CudaBuilder, NvvmArch};

fn main() -> Result<(), Box<dyn Error>> {
    let out = Path::new(&env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("kernels.ptx");
    CudaBuilder::new("../kernels").arch(NvvmArch::Compute100).copy_to(&out).build().map_err(|error| error.to_string())?;
    let ptx = fs::read_to_string(&out)?;
    fs::write(&out, ptx_build::ptx::with_entry_lines(&ptx)?)?;
    println!("cargo::rerun-if-changed=../kernels");
    Ok(())
}
