//! The layers of `ptx-intrinsics`: a file uses what is below it, and no two files use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up.
const LAYERS: [&str; 7] = ["isa", "grammar", "emit", "cpu", "instructions", "ptx", "catalogue"];

/// The source of the crate.
fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-intrinsics/src")
}

/// Every file but lib.rs, which is the map of all: `isa/gate` with its text.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for layer in LAYERS {
        let folder = source().join(layer);
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("the folder can be read").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.file_stem().expect("a file has a name").to_string_lossy();
                let text = fs::read_to_string(&path).expect("the source can be read");
                files.insert(format!("{layer}/{name}"), text);
            }
        }
    }
    files
}

/// A path by which a file names another, and the line that does.
struct Use<'t> {
    line: usize,
    names: Vec<&'t str>,
}

/// The paths after `crate::`, `$crate::`, `self::` and `super::`, with those in braces one by one.
fn uses<'t>(file: &str, text: &'t str) -> Vec<Use<'t>> {
    let mut found = Vec::new();
    let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
    for (number, line) in text[..tests].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for (at, word) in ["crate::", "super::", "self::"].iter().flat_map(|word| line.match_indices(word)) {
            let behind = &line[at + word.len()..];
            let path: Vec<&str> =
                behind.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).take(1).collect();
            let mut names: Vec<&str> = path[0].split("::").filter(|name| !name.is_empty()).collect();
            if word != "crate::" {
                let folder = file.split('/').next().expect("a file is in a layer");
                let layer = LAYERS.iter().find(|layer| **layer == folder).expect("it is one of them");
                names.insert(0, layer);
            }
            found.push(Use { line: number + 1, names });
        }
    }
    found
}

/// The file that a path is about: `isa::gate::Needs` is `isa/gate`, `cpu::load` is `cpu/mod`.
fn file_of(names: &[&str], files: &BTreeMap<String, String>) -> Option<String> {
    let layer = names.first().filter(|name| LAYERS.contains(name))?;
    let deep = names.get(1).map(|name| format!("{layer}/{name}")).filter(|name| files.contains_key(name));
    Some(deep.unwrap_or(format!("{layer}/mod")))
}

fn layer(file: &str) -> usize {
    let name = file.split('/').next().expect("a file is in a layer");
    LAYERS.iter().position(|layer| *layer == name).expect("it is one of them")
}

#[test]
fn no_arrow_runs_upwards() {
    let files = files();
    let mut arrows = 0;
    let mut upwards = Vec::new();
    for (file, text) in &files {
        for Use { line, names } in uses(file, text) {
            let Some(used) = file_of(&names, &files) else { continue };
            arrows += 1;
            if layer(&used) > layer(file) {
                upwards.push(format!("{file}.rs:{line} uses {used}, which is above it"));
            }
        }
    }
    assert!(upwards.is_empty(), "{}", upwards.join("\n"));
    assert!(arrows > 200, "only {arrows} arrows were found: is the source read?");
}

#[test]
fn no_two_files_use_each_other() {
    let files = files();
    let mut arrows: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in &files {
        let used = uses(file, text).into_iter().filter_map(|found| file_of(&found.names, &files));
        arrows.insert(file, used.filter(|used| used != file).collect());
    }
    // What uses nothing that is left is not in a circle.
    let mut left: BTreeSet<String> = files.keys().cloned().collect();
    loop {
        let free: Vec<String> = left.iter().filter(|file| arrows[file.as_str()].is_disjoint(&left)).cloned().collect();
        if free.is_empty() {
            break;
        }
        left.retain(|file| !free.contains(file));
    }
    // And what nothing that is left uses only leads to one.
    loop {
        let used: BTreeSet<String> = left.iter().flat_map(|file| &arrows[file.as_str()]).cloned().collect();
        let ends: Vec<String> = left.iter().filter(|file| !used.contains(*file)).cloned().collect();
        if ends.is_empty() {
            break;
        }
        left.retain(|file| !ends.contains(file));
    }
    assert!(left.is_empty(), "these files use each other: {}", left.into_iter().collect::<Vec<_>>().join(", "));
}

#[test]
fn files_are_short() {
    let long: Vec<String> = files()
        .into_iter()
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .map(|(file, lines)| format!("{file}.rs has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
