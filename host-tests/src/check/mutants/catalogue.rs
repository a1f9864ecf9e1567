//! The catalogue of a mutated crate against the catalogue of this one, on the host.
//!
//! Tests hold this one against the ISA's syntax and every GPU's assembler: `catalogue_is_the_isa`, `text_release`,
//! `accepted_…`, `refused_…`, `ptx_isa_versions`, and against the crate's own table of features. So what differs from it
//! is what those tests complain about, and they need not be asked again.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Form};

use super::answer::{Answer, Failure};
use super::tree::Tree;
use crate::check::other_names::MISTAKES;
use crate::tools::error::Result;
use crate::tools::toolchain::DeviceToolchain;

/// The word that is meant by a mistake.
const MEANT: &str = include_str!("../meant.rs");

/// Prints for which word it takes each of the mistakes, after a tab. Then it prints a form a line: what [`row`] makes of it here.
/// Before the instruction is the crate's own test of its features; these come last.
const DUMP: &str = "
use std::collections::HashMap;

use ptx_intrinsics::features::Features;

const SMS: [u32; 11] = [30, 32, 50, 61, 70, 75, 80, 89, 90, 100, 121];
const VERSIONS: [u32; 25] =
    [30, 31, 50, 60, 62, 63, 70, 71, 73, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 87, 88, 90, 91, 92, 94];

fn main() {
    for (spelling, name, word) in MISTAKES {
        println!(\"\\t{name}\\t{word}\\t{}\", meant(spelling).unwrap_or_default());
    }
    let mut known = HashMap::new();
    for form in ptx_intrinsics::catalogue::forms() {
        let signature = form.signature();
        let operands = signature.map_or(String::new(), |own| format!(\"{} {}\", own.operands, own.parameters));
        let unified = form.unified();
        let features = form.features();
        let has = |sm, ptx| form.min_sm() <= sm && form.min_ptx() <= ptx && form.targets().is_empty();
        let told = known.entry((features, form.min_sm(), form.min_ptx())).or_insert_with(|| SMS.iter().all(|&sm| {
            VERSIONS.iter().all(|&ptx| Features::of(sm, ptx).contains(features) == has(sm, ptx))
        }));
        println!(
            \"{}\\t{}\\t{}\\t{}\\t{}\\t{:?}\\t{}\\t{}\\t{features:?}\",
            form.rust(), form.told(), operands, form.min_sm(), form.min_ptx(), unified, told, form.instruction()
        );
    }
}
";

/// What tests compare, and the features, which tell whose a difference is.
type Row = ([String; 7], String);

fn row(form: &Form) -> Row {
    let operands = form.signature().map_or(String::new(), |own| format!("{} {}", own.operands, own.parameters));
    let unified = form.unified();
    let [sm, ptx] = [form.min_sm(), form.min_ptx()].map(|number| number.to_string());
    let row =
        [form.told(), operands, sm, ptx, format!("{unified:?}"), "true".to_owned(), form.instruction().to_owned()];
    (row, format!("{:?}", form.features()))
}

type Rows = HashMap<String, Vec<Row>>;

static EXPECTED: LazyLock<Rows> = LazyLock::new(|| {
    let mut rows = Rows::new();
    for form in catalogue::forms() {
        rows.entry(form.rust().to_owned()).or_default().push(row(&form));
    }
    rows
});

/// How the catalogue of the tree's crate differs from this crate's, form by form.
pub fn differences(tree: &Tree, toolchain: &DeviceToolchain) -> Result<Answer> {
    let library = tree.root.join("ptx-intrinsics");
    tree.write(
        "target/dump/Cargo.toml",
        &format!(
            "[package]\nname = \"dump\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nptx-intrinsics = {{ path = {library:?} }}\n\n\
             [profile.dev]\ndebug = false\nopt-level = 0\nincremental = false\n\n[workspace]\n"
        ),
    )?;
    let source = format!("{MEANT}\nconst MISTAKES: &[(&str, &str, &str)] = &{MISTAKES:?};\n{DUMP}");
    tree.write("target/dump/src/main.rs", &source)?;
    let folder = tree.root.join("target/dump");
    let finished = toolchain.cargo().dir(&folder).args(["run", "--quiet", "--offline"]).finish()?;
    if !finished.status.success() {
        return Ok(Answer::Broken(finished.stderr));
    }
    let (names, forms): (Vec<&str>, Vec<&str>) = finished.stdout.lines().partition(|line| line.starts_with('\t'));
    let mut failures: Vec<Failure> = names.into_iter().filter_map(wrong_name).collect();
    let mut expected = EXPECTED.clone();
    let mut strangers: Vec<(&str, Row)> = Vec::new();
    for text in forms {
        let mut parts = text.split('\t');
        let rust = parts.next().unwrap_or_default();
        let found: [String; 7] = std::array::from_fn(|_| parts.next().unwrap_or_default().to_owned());
        let features = parts.next().unwrap_or_default().to_owned();
        let known = expected.get_mut(rust);
        match known.and_then(|rows| Some((rows.iter().position(|(row, _)| *row == found)?, rows))) {
            Some((at, rows)) => drop(rows.swap_remove(at)),
            None => strangers.push((rust, (found, features))),
        }
    }
    for (rust, (found, features)) in strangers {
        let (own, expected_features) = expected.get_mut(rust).and_then(Vec::pop).unwrap_or_default();
        let step = |axis, at: usize| Some((axis, own[at].parse().ok()?, found[at].parse().ok()?));
        let steps = [step("sm_", 2), step("ptx", 3)].into_iter().flatten().filter(|(_, from, to)| from != to).collect();
        let gates = moved(&expected_features, &features);
        let (expected, found) = (own.join(" "), found.join(" "));
        failures.push(Failure { form: rust.to_owned(), expected, found, steps, gates, place: None });
    }
    for (rust, rows) in expected {
        failures.extend(rows.into_iter().map(|(row, _)| Failure::missing(&rust, row.join(" "))));
    }
    Ok(Answer::Failures(failures))
}

/// The place of a word's other names.
pub fn names_of(word: &str) -> String {
    format!("names of {word}")
}

/// A mistake that leads to another word: what it is called, the word, the one that it leads to.
fn wrong_name(line: &str) -> Option<Failure> {
    let [_, name, word, meant] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    (word != meant).then(|| Failure { place: Some(names_of(word)), ..Failure::new(name, word, meant) })
}

/// The flags that are gone, and those that are new: `Features(CACHE_HINT | WIDE)`.
fn moved(was: &str, is: &str) -> [BTreeSet<String>; 2] {
    let flags = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).skip(1).map(str::to_owned).collect()
    };
    let (was, is) = (flags(was), flags(is));
    [was.difference(&is).cloned().collect(), is.difference(&was).cloned().collect()]
}
