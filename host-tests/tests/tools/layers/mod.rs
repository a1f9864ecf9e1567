//! The layers of each crate: a file uses what is below it, no two files use each other, and no file is long.
//!
//! All crates of the workspace are read, and their tests. A path counts, and so does the name of a macro. `lib.rs` and `main.rs` are
//! the map of the others, and no arrow leads to or from them.

mod code;
mod inline;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use self::code::{Token, tokens};
use self::paths::{Use, uses};

/// The crates whose folders are layers, from the ground up.
const LAYERS: [(&str, &[&str]); 2] = [
    ("ptx-intrinsics/src", &["isa", "grammar", "emit", "cpu", "instructions", "ptx", "catalogue"]),
    ("host-tests/src", &["check", "show"]),
];

/// `__ptx!` takes the words one by one, and asks other macros, which ask its own arms. So the arms of `ptx!` are a circle, and names of
/// macros do not count in this folder.
const ONE_MACRO: &str = "ptx-intrinsics/src/ptx/";

/// How long a file may be, with its unit tests.
const LONGEST: usize = 500;

/// The files of a crate, or of a program of tests.
struct House {
    /// Its folder in the repository.
    name: String,
    /// Every file but the map: `isa/gate` with its tokens, without unit tests.
    files: BTreeMap<String, Vec<Token>>,
}

/// What uses what in a house: the file that uses, the line, the path, the file that is used.
struct Arrow<'h> {
    from: &'h str,
    line: usize,
    path: String,
    to: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of the workspace's packages.
fn members() -> Vec<String> {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("the workspace has a manifest");
    let list = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list of members");
    list.lines().filter_map(|line| Some(line.trim().strip_prefix('"')?.split('"').next()?.to_owned())).collect()
}

/// Every crate of the workspace, and every program of tests in a folder of its own.
fn houses() -> Vec<House> {
    let mut houses = Vec::new();
    for member in members() {
        let folder = repository().join(&member);
        match folder.join("src").is_dir() {
            true => houses.push(House::read(format!("{member}/src"), &rust_files(&folder.join("src"), true))),
            false => houses.push(House::read(member.clone(), &rust_files(&folder, false))),
        }
        let tests =
            fs::read_dir(folder.join("tests")).into_iter().flatten().map(|entry| entry.expect("a folder").path());
        for program in tests.filter(|path| path.join("main.rs").is_file()) {
            let name = program.file_name().expect("a folder has a name").to_str().expect("the name is text");
            houses.push(House::read(format!("{member}/tests/{name}"), &rust_files(&program, true)));
        }
    }
    houses
}

impl House {
    fn read(name: String, paths: &[PathBuf]) -> House {
        let folder = repository().join(&name);
        let mut files = BTreeMap::new();
        for path in paths {
            let file = path.strip_prefix(&folder).expect("it is in the folder").with_extension("");
            let file = file.to_str().expect("the name is text").replace('\\', "/");
            if ["lib", "main", "build"].contains(&file.as_str()) || file.starts_with("bin/") {
                continue;
            }
            let text = fs::read_to_string(path).expect("the source can be read");
            let text = text.split("#[cfg(test)]\nmod ").next().expect("there is a first part");
            files.insert(file, tokens(text));
        }
        House { name, files }
    }

    /// Its arrows from one file to another.
    fn arrows(&self) -> Vec<Arrow<'_>> {
        let macros = self.macros();
        let mut arrows = Vec::new();
        for (from, tokens) in &self.files {
            let paths = uses(from, tokens).into_iter();
            let paths = paths.filter_map(|Use { line, names }| Some((line, names.join("::"), self.file_of(&names)?)));
            let of_macros = macros_in(tokens)
                .filter_map(|(line, name)| Some((line, format!("{name}!"), (*macros.get(name)?).to_owned())));
            let one_macro = format!("{}/{from}", self.name).starts_with(ONE_MACRO);
            let of_macros = of_macros.filter(|_| !one_macro);
            let found = paths.chain(of_macros).filter(|(.., to)| to != from);
            arrows.extend(found.map(|(line, path, to)| Arrow { from, line, path, to }));
        }
        arrows
    }

    /// The macros that one file alone defines, and that file.
    fn macros(&self) -> BTreeMap<&str, &str> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (file, tokens) in &self.files {
            for defined in tokens.windows(3).filter(|three| three[0].text == "macro_rules" && three[1].text == "!") {
                found.entry(&defined[2].text).or_default().push(file);
            }
        }
        found.into_iter().filter_map(|(name, files)| (files.len() == 1).then(|| (name, files[0]))).collect()
    }

    /// The file that a path is about: `isa::gate::Needs` is `isa/gate`, `cpu::load` is `cpu/mod`.
    fn file_of(&self, names: &[String]) -> Option<String> {
        let prefixes = (1..=names.len()).rev().map(|length| names[..length].join("/"));
        prefixes.flat_map(|path| [path.clone(), path + "/mod"]).find(|path| self.files.contains_key(path))
    }

    /// Uses of a layer above.
    fn upwards(&self, layers: &[&str]) -> Vec<String> {
        let layer = |file: &str| {
            let folder = file.split('/').next().expect("a file has a name");
            layers.iter().position(|layer| *layer == folder).unwrap_or_else(|| panic!("{file} is in no layer"))
        };
        let upwards = self.arrows().into_iter().filter(|arrow| layer(&arrow.to) > layer(arrow.from));
        let told = |Arrow { from, line, path, .. }: Arrow<'_>| {
            format!("{}/{from}.rs, line {line}: {path} is in a layer above {}", self.name, layers[layer(from)])
        };
        upwards.map(told).collect()
    }

    /// Files that use each other, in a line each.
    fn circles(&self) -> Vec<String> {
        let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for arrow in self.arrows() {
            used.entry(arrow.from).or_default().insert(arrow.to);
        }
        let of = |file: &str| used.get(file).cloned().unwrap_or_default();
        // What uses nothing that is left is not in a circle.
        let mut left: BTreeSet<String> = self.files.keys().cloned().collect();
        loop {
            let free: Vec<String> = left.iter().filter(|file| of(file).is_disjoint(&left)).cloned().collect();
            if free.is_empty() {
                break;
            }
            left.retain(|file| !free.contains(file));
        }
        // And what nothing that is left uses only leads to one.
        loop {
            let used: BTreeSet<String> = left.iter().flat_map(|file| of(file)).collect();
            let ends: Vec<String> = left.iter().filter(|file| !used.contains(*file)).cloned().collect();
            if ends.is_empty() {
                break;
            }
            left.retain(|file| !ends.contains(file));
        }
        let shown = |file: &String| {
            format!(
                "{}: {file} uses {}",
                self.name,
                of(file).intersection(&left).cloned().collect::<Vec<_>>().join(", ")
            )
        };
        left.iter().map(shown).collect()
    }
}

/// The names before `!` and a bracket, with their lines.
fn macros_in(tokens: &[Token]) -> impl Iterator<Item = (usize, &str)> {
    let called = tokens.windows(3).filter(|three| {
        three[0].is_name() && three[1].text == "!" && ["(", "{", "["].contains(&three[2].text.as_str())
    });
    called.map(|three| (three[0].line, three[0].text.as_str()))
}

fn rust_files(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true if deep => rust_files(&path, deep),
        true => Vec::new(),
        false => vec![path],
    });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn no_arrow_runs_upwards() {
    let houses = houses();
    for (name, layers) in LAYERS {
        let house = houses.iter().find(|house| house.name == name).unwrap_or_else(|| panic!("{name} is no crate"));
        let upwards = house.upwards(layers);
        assert!(upwards.is_empty(), "{}", upwards.join("\n"));
    }
}

#[test]
fn no_two_files_use_each_other() {
    let circles: Vec<String> = houses().iter().flat_map(House::circles).collect();
    assert!(circles.is_empty(), "these files use each other:\n{}", circles.join("\n"));
}

/// Fewer arrows mean that the sources were not read.
#[test]
fn all_sources_are_read() {
    let houses = houses();
    let arrows: usize = houses.iter().map(|house| house.arrows().len()).sum();
    let files: usize = houses.iter().map(|house| house.files.len()).sum();
    println!("{} crates and programs of tests, {files} files, {arrows} arrows", houses.len());
    assert!(houses.len() > 30 && files > 300 && arrows > 1500, "{} {files} {arrows}", houses.len());
}

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    for member in members() {
        let folder = repository().join(&member);
        let parts = ["src", "tests"].into_iter().map(|part| folder.join(part)).filter(|part| part.is_dir());
        let files = parts.flat_map(|part| rust_files(&part, true)).chain(rust_files(&folder, false));
        for file in files {
            let lines = fs::read_to_string(&file).expect("the source can be read").lines().count();
            let name = file.strip_prefix(repository()).expect("it is in the repository").display().to_string();
            if lines > LONGEST {
                long.push(format!("{name}: {lines} lines"));
            }
        }
    }
    assert!(long.is_empty(), "more than {LONGEST} lines:\n{}", long.join("\n"));
}

/// What cargo is told not to test would never run.
#[test]
fn what_is_not_tested_has_no_tests() {
    let mut looked_at = 0;
    for member in members() {
        let folder = repository().join(&member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a package has a manifest");
        let targets =
            manifest.split("\n[").filter(|section| section.starts_with("lib]") || section.starts_with("[bin]]"));
        let targets: Vec<&str> = targets.collect();
        let has = |line: &str| !targets.is_empty() && targets.iter().all(|target| target.contains(line));
        let unwanted =
            [("\ntest = false\n", "#[test]"), ("\ntest = false\n", "cfg(test)"), ("\ndoctest = false\n", "/// ```")];
        let unwanted: Vec<&str> = unwanted.iter().filter(|(line, _)| has(line)).map(|(_, word)| *word).collect();
        let sources = ["src", "."].map(|part| folder.join(part)).into_iter().filter(|part| part.is_dir());
        for file in sources.flat_map(|part| rust_files(&part, part.ends_with("src"))) {
            let text = fs::read_to_string(&file).expect("the source can be read");
            let found = unwanted.iter().find(|word| text.contains(**word));
            assert_eq!(found, None, "{}: {member}/Cargo.toml says that it has none", file.display());
            looked_at += unwanted.len();
        }
    }
    assert!(looked_at > 100, "{looked_at}");
}

#[test]
fn macros_are_names_before_an_exclamation_mark() {
    let tokens = tokens("rows! { a!(b) }\nif !c { d != e }\nf!(g)");
    let found: Vec<_> = macros_in(&tokens).collect();
    assert_eq!(found, [(1, "rows"), (1, "a"), (3, "f")]);
}
