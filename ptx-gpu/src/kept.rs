//! PTX that a compiler has kept in a folder, for the machine code that it made of it.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::settings::SETTINGS;

/// The newest text in the folder that has all these kernels.
pub(crate) fn text_of<V>(kernels: &HashMap<String, V>) -> Option<String> {
    let folder = SETTINGS.kept.as_ref().filter(|_| !kernels.is_empty())?;
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder).ok()?.filter_map(file).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    let texts = files.iter().filter_map(|(_, path)| fs::read_to_string(path).ok());
    texts.into_iter().find(|text| kernels.keys().all(|name| has(text, name)))
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
