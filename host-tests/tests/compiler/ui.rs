//! An illegal spelling, or one that the stated target lacks, is an error whose words are kept beside it.
//!
//! `ui/any` and `ui/pass` are checked with every gate open, `ui/sm_80_ptx70` as for sm_80 and PTX ISA 7.0. To accept
//! new words after reading them: `TRYBUILD=overwrite cargo xtask test ui`. It takes all cases, as `cargo xtask test --whole ui` does;
//! otherwise some are drawn.
//!
//! trybuild compiles the cases and writes what rustc said; what we compare is the part of it that we answer for. The
//! rest, drawings of our own source and lists of other types, differs from one rustc to the next and with every edit
//! of that source. A case whose whole error is rustc's own is in `gates.rs`.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use host_tests::check::forms_check;
use host_tests::check::whole;
use host_tests::tools::command::Machine;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;

/// How many cases there are, so that none goes missing unseen.
const CASES: usize = 164;

/// Every so many cases of a folder one is drawn, and so many at least.
const DRAWN: usize = 4;
const LEAST: usize = 2;

/// Folders of older targets of which cases are drawn: the crate is compiled for each.
const OLDER: usize = 1;

/// How notes begin that are rustc's and not ours.
const NOTES_OF_RUSTC: [&str; 9] = [
    "cannot satisfy ",
    "required for ",
    "this error originates ",
    "this note originates ",
    "in this macro ",
    "consult the function's documentation ",
    "the following trait bounds ",
    "the type must also implement ",
    "`#[warn(",
];

/// What other notes of rustc's say.
const WORDS_OF_RUSTC: [&str; 2] = [" implements similarly named trait ", " is a \"sealed trait\""];

/// How rustc shows a function of ours in which the evaluation of a constant stopped.
const INSIDE: [&str; 2] = ["note: inside `ptx_intrinsics::", "note: inside `ptx_kernel::"];

struct Folder {
    path: PathBuf,
    cases: BTreeSet<PathBuf>,
}

impl Folder {
    fn read(path: PathBuf) -> Folder {
        let cases = files(&path, "rs");
        assert!(!cases.is_empty(), "{} holds no case: add one or remove the folder", path.display());
        Folder { path, cases }
    }

    /// The same with a few of its cases.
    fn draw(&mut self, random: &mut StdRng) {
        let of_each = (self.cases.len() / DRAWN).max(LEAST);
        self.cases = self.cases.iter().cloned().sample(random, of_each).into_iter().collect();
    }

    fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).expect("folders have plain names")
    }

    fn passes(&self) -> bool {
        self.name() == "pass"
    }

    /// `sm_80,ptx70` of `sm_80_ptx70`.
    fn target(&self) -> Option<String> {
        self.name().starts_with("sm_").then(|| self.name().replace("_ptx", ",ptx"))
    }

    /// Names copies of the cases, beside which trybuild writes what rustc says.
    fn add_to(&self, cases: &trybuild::TestCases, scratch: &Path) {
        fs::create_dir(scratch).expect("a folder can be made");
        for case in &self.cases {
            let copy = scratch.join(case.file_name().expect("a file has a name"));
            fs::copy(case, &copy).expect("a case can be copied");
            if self.passes() { cases.pass(copy) } else { cases.compile_fail(copy) }
        }
    }

    fn compare(&self, scratch: &Path, overwrite: bool) -> Vec<String> {
        let found: BTreeSet<_> = files(scratch, "stderr");
        let goldens = files(&self.path, "stderr").into_iter();
        let left_over = goldens
            .filter(|golden| !golden.with_extension("rs").is_file())
            .map(|golden| format!("{}: no case of this name; remove it", golden.display()));
        let mut wrong: Vec<String> = left_over.collect();
        if found.len() != self.cases.len() {
            wrong.push(format!("{}: {} cases gave {} errors", self.path.display(), self.cases.len(), found.len()));
        }
        for said in found {
            let golden = self.path.join(said.file_name().expect("a file has a name"));
            let said = fs::read_to_string(said).expect("trybuild wrote it");
            if INSIDE.iter().any(|inside| said.contains(inside)) {
                wrong.push(format!("{}: it shows the inside of the crate: add `#[track_caller]`", golden.display()));
            }
            let said = ours(&said);
            let kept = fs::read_to_string(&golden).unwrap_or_default();
            if overwrite {
                fs::write(&golden, said).expect("a golden can be written");
            } else if said != kept && (*IS_OURS || !alike(&said, &kept)) {
                wrong.push(format!("{}\n--- kept\n{kept}--- now\n{said}", golden.display()));
            }
        }
        wrong
    }
}

/// A package whose dependencies trybuild gives the cases: the crates that they are about, and nothing else. The harness would bring its
/// kernels, which the older targets refuse, and a crate of them what its own tests need.
fn user() -> PathBuf {
    let repository = &Machine::current().repository;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let [intrinsics, kernel] = ["ptx-intrinsics", "ptx-kernel"].map(|name| repository.join(name));
    let manifest = format!(
        "[package]\nname = \"ui\"\nedition = \"2024\"\n\n[dependencies]\nptx-intrinsics = {{ path = {intrinsics:?} }}\n\
         ptx-kernel = {{ path = {kernel:?} }}\n\n[workspace]\n"
    );
    fs::create_dir_all(folder.join("src")).expect("cargo makes the folder around it for tests");
    for (name, text) in [("Cargo.toml", &*manifest), ("src/main.rs", "fn main() {}\n")] {
        fs::write(folder.join(name), text).expect("a file can be written here");
    }
    fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock is there");
    folder
}

/// What is wrong with the cases of folders for one target: the crates are compiled once for all of them.
fn check(folders: &[Folder], overwrite: bool) -> Vec<String> {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo makes this folder for tests");
    let of = |folder: &Folder| scratch.path().join(folder.name());
    if catch_unwind(|| compile(folders, of)).is_err() {
        let names: Vec<&str> = folders.iter().map(Folder::name).collect();
        return vec![format!("{}: see what trybuild says above", names.join(", "))];
    }
    let failing = folders.iter().filter(|folder| !folder.passes());
    failing.flat_map(|folder| folder.compare(&of(folder), overwrite)).collect()
}

/// Compiles the cases of folders for one target in other folders.
fn compile(folders: &[Folder], scratch: impl Fn(&Folder) -> PathBuf) {
    let package = user();
    env::set_current_dir(&package).expect("the package is there");
    // SAFETY: this is the only test of this process (see `PROCESS_VARIABLE`), and no other thread looks at the environment.
    unsafe {
        env::set_var("CARGO_MANIFEST_DIR", package);
        env::set_var("TRYBUILD", "overwrite");
        match folders[0].target() {
            Some(target) => env::set_var("PTX_INTRINSICS_TARGET", target),
            None => env::remove_var("PTX_INTRINSICS_TARGET"),
        }
    }
    let cases = trybuild::TestCases::new();
    folders.iter().for_each(|folder| folder.add_to(&cases, &scratch(folder)));
}

/// The release of rustc that drew what is kept.
const DRAWN_BY: &str = "rustc 1.97.";

/// Whether this rustc is of that release.
static IS_OURS: LazyLock<bool> = LazyLock::new(|| {
    let version = Machine::current().command("rustc").arg("--version").run().expect("rustc says its version").stdout;
    println!(
        "{version}what is kept was drawn by {DRAWN_BY}: other releases may leave out an error beside another, and label otherwise"
    );
    version.starts_with(DRAWN_BY)
});

/// Whether another release of rustc says the same: each error is like one that is kept; and of several errors about one line
/// of source at least one is said.
fn alike(said: &str, kept: &str) -> bool {
    let (said, kept) = (errors(said), errors(kept));
    let told = |error: &Error<'_>| said.iter().any(|other| other.source == error.source);
    let known = |error: &Error<'_>| kept.iter().any(|other| error.is_like(other));
    !said.is_empty() && said.iter().all(known) && kept.iter().all(told)
}

#[derive(PartialEq, Eq)]
struct Error<'t> {
    first: &'t str,
    source: Option<&'t str>,
    notes: Vec<&'t str>,
}

impl Error<'_> {
    /// Whether it is the other one in the words of another release: about the same line of source, and the same where the words
    /// are ours. Of the bounds of a load or a store, another release may name the outer one, whose notes say what the inner ones do.
    fn is_like(&self, other: &Error<'_>) -> bool {
        let outer = self.first.contains(" is not known to move a ") && other.first.contains(" cannot move a ");
        self == other || self.source == other.source && (outer || self.is_of_rustc() && other.is_of_rustc())
    }

    /// Whether the words are the compiler's: ours are about bounds, about constants, or have no number.
    fn is_of_rustc(&self) -> bool {
        let ours = ["error: ", "error[E0277]: ", "error[E0080]: "];
        ours.iter().all(|begin| !self.first.starts_with(begin))
    }
}

fn errors(text: &str) -> Vec<Error<'_>> {
    let mut errors: Vec<Error<'_>> = Vec::new();
    for line in text.lines() {
        let drawn = line.strip_prefix('|').map(str::trim).filter(|drawn| !drawn.is_empty());
        match errors.last_mut() {
            _ if line.starts_with("error") => errors.push(Error { first: line, source: None, notes: Vec::new() }),
            Some(error) if line.starts_with("= ") => error.notes.push(line),
            Some(error) => error.source = error.source.or(drawn),
            None => {}
        }
    }
    errors
}

/// What we answer for: each error's first line, the drawing of the user's source, and our notes. How often an error is
/// repeated is the compiler's.
fn ours(stderr: &str) -> String {
    let mut errors: Vec<String> = Vec::new();
    let mut drawing = false;
    for line in stderr.lines() {
        let words = line.trim_start();
        if line.starts_with("error") {
            drawing = true;
            errors.push(String::new());
        } else if !line.starts_with(|first: char| first == ' ' || first.is_ascii_digit())
            || words.starts_with("::: ")
            || words.starts_with("= ")
        {
            drawing = false;
        }
        let rustcs = |note: &str| {
            NOTES_OF_RUSTC.iter().any(|begin| note.starts_with(begin))
                || WORDS_OF_RUSTC.iter().any(|words| note.contains(words))
        };
        let our_note = words.strip_prefix("= note: ").is_some_and(|note| !rustcs(note));
        if let Some(error) = errors.last_mut()
            && (our_note || drawing && !words.starts_with("--> "))
        {
            // Where lines are numbered depends on where the case lies, and this label on the compiler.
            let line = line.split(" evaluation of `").next().unwrap_or_default();
            *error += line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            *error += "\n";
        }
    }
    let mut said = BTreeSet::new();
    errors.retain(|error| said.insert(error.lines().next().unwrap_or_default().to_owned()));
    errors.concat()
}

fn files(folder: &Path, extension: &str) -> BTreeSet<PathBuf> {
    entries(folder).filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    read.map(|entry| entry.expect("the folder can be read").path())
}

/// Set in the process that compiles the cases.
const PROCESS_VARIABLE: &str = "UI_PROCESS";

/// trybuild reads the working directory and the environment, which all tests of a process share. So the cases are compiled in a
/// process of their own: this program with this test alone.
#[test]
fn every_mistake_is_a_clear_error() {
    if env::var_os(PROCESS_VARIABLE).is_some() {
        return every_case();
    }
    let this = env::current_exe().expect("this program has a path");
    let arguments = ["ui::every_mistake_is_a_clear_error", "--exact", "--nocapture"];
    let output = Command::new(this).args(arguments).env(PROCESS_VARIABLE, "1").output().expect("this program starts");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn every_case() {
    let overwrite = env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite");
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let mut folders: Vec<Folder> = entries(&ui).map(Folder::read).collect();
    folders.sort_by(|a, b| a.path.cmp(&b.path));
    let count: usize = folders.iter().map(|folder| folder.cases.len()).sum();
    assert_eq!(count, CASES, "cases came or went: correct CASES");
    if !overwrite && !whole::is_set() {
        let mut random = forms_check::random("the cases are");
        let older: BTreeSet<PathBuf> =
            folders.iter().filter(|folder| folder.target().is_some()).map(|folder| folder.path.clone()).collect();
        let kept = older.iter().sample(&mut random, OLDER);
        folders.retain(|folder| !older.contains(&folder.path) || kept.contains(&&folder.path));
        folders.iter_mut().for_each(|folder| folder.draw(&mut random));
    }
    folders.sort_by_key(Folder::target);
    let of_targets = folders.chunk_by(|one, other| one.target() == other.target());
    let wrong: Vec<String> = of_targets.flat_map(|folders| check(folders, overwrite)).collect();
    let ran: usize = folders.iter().map(|folder| folder.cases.len()).sum();
    println!("{ran} of {count} cases in {} folders", folders.len());
    let advice = "if the new words are better, accept them: TRYBUILD=overwrite cargo xtask test ui";
    assert!(wrong.is_empty(), "{} wrong; {advice}\n\n{}", wrong.len(), wrong.join("\n"));
    let least = if whole::is_set() || overwrite { CASES } else { CASES / DRAWN / 2 };
    assert!(ran >= least, "{ran} cases");
}
