//! PTX that a compiler has kept in a folder, for the machine code that it made of it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::settings::SETTINGS;

/// The text in the folder that this machine code is beside, or else the newest one that has all these kernels.
pub(crate) fn text_of<V>(machine_code: &[u8], kernels: &HashMap<String, V>) -> Option<String> {
    let folder = SETTINGS.kept.as_ref().filter(|_| !kernels.is_empty())?;
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder).ok()?.filter_map(file).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    let is_of = |path: &Path| fs::read(path.with_extension("cubin")).is_ok_and(|bytes| is_one(&bytes, machine_code));
    let of_this = files.iter().find(|(_, path)| is_of(path));
    let mut texts = of_this.into_iter().chain(&files).filter_map(|(_, path)| fs::read_to_string(path).ok());
    texts.find(|text| kernels.keys().all(|name| has(text, name)))
}

/// Whether machine code is that of a file. A fat binary pads it.
fn is_one(file: &[u8], machine_code: &[u8]) -> bool {
    !file.is_empty() && (file.starts_with(machine_code) || machine_code.starts_with(file))
}

/// When a file of PTX was written.
fn file(entry: std::io::Result<fs::DirEntry>) -> Option<(SystemTime, PathBuf)> {
    let path = entry.ok()?.path();
    let written = fs::metadata(&path).and_then(|data| data.modified()).ok()?;
    path.extension().is_some_and(|kind| kind == "ptx").then_some((written, path))
}

fn has(text: &str, kernel: &str) -> bool {
    let is_behind = |at: usize| text[at + kernel.len()..].trim_start().starts_with('(');
    text.match_indices(kernel).any(|(at, _)| text[..at].trim_end().ends_with(".entry") && is_behind(at))
}
