//! Whether a program has CUDA's runtime in it, as nvcc links it by itself.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use object::read::File;
use object::{Object, ObjectSymbol};
use ptx_build::command::Machine;

/// A function of the runtime that each program of nvcc's calls.
const REGISTER: &str = "__cudaRegisterFatBinary";

/// Whether the program defines the functions of the runtime.
pub(crate) fn has_runtime(program: &OsStr) -> bool {
    let Some(content) = file_of(program).and_then(|path| fs::read(path).ok()) else { return false };
    let Ok(file) = File::parse(&*content) else { return false };
    file.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(REGISTER))
}

/// The file of a command.
fn file_of(program: &OsStr) -> Option<PathBuf> {
    let path = PathBuf::from(program);
    if path.components().count() > 1 {
        return Some(path);
    }
    Machine::current().which(path)
}
