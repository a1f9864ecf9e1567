//! The layers of each crate: a file uses what is below it, and no two files use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate's source: its layers are folders, from the ground up.
struct House {
    source: &'static str,
    layers: &'static [&'static str],
    /// The paths that are found, at least: fewer mean that the source was not read.
    arrows: usize,
}

const CRATE: House = House {
    source: "ptx-intrinsics/src",
    layers: &["isa", "grammar", "emit", "cpu", "instructions", "ptx", "catalogue"],
    arrows: 400,
};

const HARNESS: House = House { source: "host-tests/src", layers: &["check", "show"], arrows: 60 };

/// All its files are in one folder.
const TOOLS: House = House { source: "ptx-build/src", layers: &[], arrows: 40 };

const INTERPRETER: House = House { source: "ptx-interpreter/src", layers: &[], arrows: 100 };

/// The driver without a GPU, the crates that are no part of the harness, and what runs on a GPU.
const OTHERS: [House; 4] = [
    House { source: "ptx-gpu/src", layers: &[], arrows: 60 },
    House { source: "litmus/src", layers: &[], arrows: 40 },
    House { source: "lab/src", layers: &[], arrows: 40 },
    House { source: "host-tests/suite/src", layers: &[], arrows: 60 },
];

const SASS: House = House { source: "ptx-sass/src", layers: &[], arrows: 5 };

const AUDIT: House = House { source: "ptx-audit/src", layers: &[], arrows: 20 };

/// A path by which a file names another.
struct Use {
    line: usize,
    names: Vec<String>,
}

impl House {
    /// Every file but `lib.rs`, which is the map of all: `isa/gate` with its text, without comments and unit tests.
    fn files(&self) -> BTreeMap<String, String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(self.source);
        let mut files = BTreeMap::new();
        for path in rust_files(&source) {
            let name = path.strip_prefix(&source).expect("it is in the source").with_extension("");
            let name = name.to_str().expect("the name is text").replace('\\', "/");
            if name == "lib" || name.starts_with("bin/") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("the source can be read");
            let text = text.split("#[cfg(test)]\nmod ").next().expect("there is a first part");
            let code = |line: &str| line.split("//").next().expect("there is a first part").to_owned();
            files.insert(name, text.lines().map(code).collect::<Vec<_>>().join("\n"));
        }
        files
    }

    /// The position of the layer that a file is in.
    fn layer(&self, file: &str) -> usize {
        let folder = file.split('/').next().expect("a file has a name");
        self.layers.iter().position(|layer| *layer == folder).unwrap_or_else(|| panic!("{file} is in no layer"))
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The paths after `crate::`, `$crate::`, `self::` and `super::`, with those in braces one by one.
fn uses(file: &str, text: &str) -> Vec<Use> {
    let mut own: Vec<&str> = file.split('/').collect();
    if own.last() == Some(&"mod") {
        own.pop();
    }
    let mut found = Vec::new();
    for (at, word) in ["crate::", "super::", "self::"].iter().flat_map(|word| text.match_indices(word)) {
        // The second `super` of a chain is read with the first.
        if text[..at].ends_with("super::") || text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut from = match word {
            "crate::" => Vec::new(),
            "super::" => own[..own.len() - 1].to_vec(),
            _ => own.clone(),
        };
        let mut rest = &text[at + word.len()..];
        while let Some(after) = rest.strip_prefix("super::") {
            from.pop();
            rest = after;
        }
        let mut paths = Vec::new();
        tree(rest, &from.iter().map(ToString::to_string).collect::<Vec<_>>(), &mut paths);
        let line = text[..at].matches('\n').count() + 1;
        found.extend(paths.into_iter().map(|names| Use { line, names }));
    }
    found
}

/// Reads `a::b`, or `a::{b, c::d}`, and gives what follows.
fn tree<'t>(text: &'t str, from: &[String], paths: &mut Vec<Vec<String>>) -> &'t str {
    let mut names = from.to_vec();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end > 0 {
            names.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        if let Some(group) = rest.strip_prefix('{') {
            rest = group.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let after = tree(rest, &names, paths).trim_start();
                // An alias, or a `*`: the path is read.
                let next = after.find([',', '}']).unwrap_or(after.len());
                rest = after[next..].trim_start_matches(',').trim_start();
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        match rest.strip_prefix("::") {
            Some(after) if end > 0 => rest = after,
            _ => break,
        }
    }
    paths.push(names);
    rest
}

/// The file that a path is about: `isa::gate::Needs` is `isa/gate`, `cpu::load` is `cpu/mod`.
fn file_of(names: &[String], files: &BTreeMap<String, String>) -> Option<String> {
    let prefixes = (1..=names.len()).rev().map(|length| names[..length].join("/"));
    prefixes.flat_map(|path| [path.clone(), path + "/mod"]).find(|path| files.contains_key(path))
}

fn no_arrow_runs_upwards(house: &House) {
    let files = house.files();
    let mut arrows = 0;
    let mut upwards = Vec::new();
    for (file, text) in &files {
        for Use { line, names } in uses(file, text) {
            let Some(used) = file_of(&names, &files) else { continue };
            arrows += 1;
            if !house.layers.is_empty() && house.layer(&used) > house.layer(file) {
                upwards.push(format!(
                    "{}/{file}.rs, line {line}: {} is in a layer above {}",
                    house.source,
                    names.join("::"),
                    house.layers[house.layer(file)]
                ));
            }
        }
    }
    println!("{}: {} files, {arrows} arrows, {} upwards", house.source, files.len(), upwards.len());
    assert!(upwards.is_empty(), "{}", upwards.join("\n"));
    assert!(arrows >= house.arrows, "{}: only {arrows} arrows were found: is the source read?", house.source);
}

fn no_two_files_use_each_other(house: &House) {
    let files = house.files();
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
    let shown = |file: &String| {
        let used = arrows[file.as_str()].intersection(&left).cloned().collect::<Vec<_>>();
        format!("{file} uses {}", used.join(", "))
    };
    let circle: Vec<String> = left.iter().map(shown).collect();
    assert!(circle.is_empty(), "{}: these files use each other:\n{}", house.source, circle.join("\n"));
}

#[test]
fn no_arrow_of_the_crate_runs_upwards() {
    no_arrow_runs_upwards(&CRATE);
}

#[test]
fn no_arrow_of_the_harness_runs_upwards() {
    no_arrow_runs_upwards(&HARNESS);
}

#[test]
fn no_two_files_of_the_crate_use_each_other() {
    no_two_files_use_each_other(&CRATE);
}

#[test]
fn no_two_files_of_the_harness_use_each_other() {
    no_two_files_use_each_other(&HARNESS);
}

#[test]
fn no_two_files_of_the_tools_use_each_other() {
    no_arrow_runs_upwards(&TOOLS);
    no_two_files_use_each_other(&TOOLS);
    no_arrow_runs_upwards(&INTERPRETER);
    no_two_files_use_each_other(&INTERPRETER);
}

#[test]
fn no_two_files_of_the_other_crates_use_each_other() {
    for house in &OTHERS {
        no_arrow_runs_upwards(house);
        no_two_files_use_each_other(house);
    }
}

#[test]
fn no_two_files_of_the_audit_use_each_other() {
    for house in [&SASS, &AUDIT] {
        no_arrow_runs_upwards(house);
        no_two_files_use_each_other(house);
    }
}

#[test]
fn paths_in_braces_are_read_one_by_one() {
    let text = "use crate::{a::{self, b as c}, d};\nuse super::super::e::F;\nlet x = $crate::g::h(self::i);";
    let found = uses("one/two/mod", text);
    let found: Vec<(usize, String)> = found.into_iter().map(|used| (used.line, used.names.join("::"))).collect();
    let expected = [(1, "a::self"), (1, "a::b"), (1, "d"), (3, "g::h"), (2, "e::F"), (3, "one::two::i")];
    assert_eq!(found, expected.map(|(line, names)| (line, names.to_owned())));
}

#[test]
fn files_are_short() {
    let long: Vec<String> = [CRATE, HARNESS, TOOLS, INTERPRETER, SASS, AUDIT]
        .iter()
        .chain(&OTHERS)
        .flat_map(|house| house.files())
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .map(|(file, lines)| format!("{file}.rs has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
