//! Who notices a mutant: the catalogue, the text of forms, and tests of this checkout about the crate of a copy.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use ptx_intrinsics::catalogue::Form;
use serde_json::Value;

use super::answer::{Answer, BRIEF_VARIABLE, Failure};
use super::table::{SMS, VERSIONS};
use super::tree::Tree;
use super::{Kind, Mutant, Step, catalogue, device};
use crate::check::forms::Case;
use crate::check::forms_check;
use crate::tools::command::{Command, Machine, REPOSITORY_VARIABLE};
use crate::tools::error::{Error, Result};
use crate::tools::toolchain::DeviceToolchain;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judge {
    /// [`catalogue`].
    Catalogue,
    /// [`device`].
    Device,
    /// A test of this checkout.
    Test(&'static str),
}

impl Judge {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Judge::Catalogue => "the catalogue",
            Judge::Device => "the text of forms",
            Judge::Test(name) => name,
        }
    }

    /// Those that can notice such a mutant, the cheapest first.
    pub fn of(mutant: &Mutant) -> &'static [Judge] {
        // What is compiled for cuda-oxide alone, one test looks at.
        if mutant.file.ends_with("emit/markers.rs") {
            return &[Judge::Test("markers")];
        }
        match mutant.kind {
            Kind::Text => {
                &[Judge::Catalogue, Judge::Device, Judge::Test("shared_ptr"), Judge::Test("search"), Judge::Test("ui")]
            }
            Kind::Gate => &[Judge::Catalogue, Judge::Test("bounds"), Judge::Test("search"), Judge::Device],
            Kind::Effect => &[Judge::Test("effects"), Judge::Test("order")],
            Kind::Operand | Kind::Register => &[Judge::Test("lanes")],
            // cargo-mutants runs the tests of the crate.
            Kind::Code => &[],
        }
    }
}

/// A place to ask in: a copy of the checkout.
pub struct Bench {
    /// The copy.
    pub tree: Tree,
    /// What compiles in it.
    pub toolchain: DeviceToolchain,
}

static FORMS: LazyLock<Vec<Arc<Form>>> = LazyLock::new(forms_check::every_form);

/// What is compiled for a GPU, unless less will do.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| device::cover(&FORMS));

impl Bench {
    /// Asks a judge about these mutants, which are made in the tree. Of the cases only those are compiled that are named.
    pub fn ask(&self, judge: Judge, batch: &[Mutant], cases: &[usize]) -> Result<Answer> {
        match judge {
            Judge::Catalogue => catalogue::differences(&self.tree, &self.toolchain),
            Judge::Device => {
                let cases: Vec<(usize, &Case)> = cases.iter().map(|at| (*at, &CASES[*at])).collect();
                device::differences(&self.tree, &self.toolchain, &cases)
            }
            Judge::Test(name) => self.ask_test(name, batch),
        }
    }

    /// Whether the crate with these mutants compiles by itself.
    pub fn compiles(&self) -> Result<bool> {
        let host = !matches!(catalogue::differences(&self.tree, &self.toolchain)?, Answer::Broken(_));
        Ok(host && device::compiles(&self.tree, &self.toolchain)?)
    }

    fn ask_test(&self, name: &'static str, batch: &[Mutant]) -> Result<Answer> {
        let program = executable(name)?;
        let module = format!("{name}::");
        let test = Command::new(&program).args([&module]).dir(self.tree.root.join("host-tests"));
        let test = test.env(REPOSITORY_VARIABLE, &self.tree.root);
        let test = if batch.is_empty() { test } else { test.env(BRIEF_VARIABLE, told(name, batch)) };
        let finished = test.finish()?;
        if finished.status.success() {
            return Ok(Answer::Failures(Vec::new()));
        }
        let said = finished.stdout + &finished.stderr;
        if said.contains("does not compile for") || said.contains("could not compile `ptx-intrinsics`") {
            return Ok(Answer::Broken(said));
        }
        Ok(Answer::Failures(said.lines().map(Failure::line).collect()))
    }
}

/// What a test need not do: of `bounds` only these steps are asked about. About one that is alone, it is asked wherever the
/// gate is another: what else a call needs may hide the lowest of these steps.
fn told(name: &str, batch: &[Mutant]) -> String {
    let between = |(axis, from, to): &Step| {
        let (low, high) = (*from.min(to), *from.max(to));
        let high = if batch.len() == 1 { high } else { low + 1 };
        let all: &[u32] = if *axis == "sm_" { &SMS } else { &VERSIONS };
        all.iter()
            .filter(move |step| (low..high).contains(step))
            .map(|step| format!("{axis}{step}"))
            .collect::<Vec<_>>()
    };
    let steps: BTreeSet<String> = batch.iter().flat_map(|mutant| &mutant.steps).flat_map(between).collect();
    if name == "bounds" { steps.into_iter().collect::<Vec<_>>().join(" ") } else { "1".to_owned() }
}

/// The program of tests that has a module: the folder that the module is in.
fn program_of(module: &str, machine: &Machine) -> Result<String> {
    let tests = machine.repository.join("host-tests/tests");
    let entries = std::fs::read_dir(&tests).map_err(|error| Error::io("read", &tests, error))?;
    let mut folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let has = |folder: &PathBuf| {
        [format!("{module}.rs"), format!("{module}/mod.rs")].iter().any(|file| folder.join(file).is_file())
    };
    let found = folders.find(has).and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
    found.ok_or_else(|| Error::new(format_args!("no program of tests has the module `{module}`")).at(tests.display()))
}

/// The program of this checkout that has a module of tests, compiled once.
fn executable(name: &'static str) -> Result<PathBuf> {
    static KNOWN: Mutex<Vec<(&str, PathBuf)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(|error| error.into_inner());
    if let Some((_, program)) = known.iter().find(|(own, _)| *own == name) {
        return Ok(program.clone());
    }
    let machine = Machine::current();
    let cargo = machine.command(machine.var("CARGO").unwrap_or("cargo".as_ref())).dir(&machine.repository);
    let cargo = cargo.args(["test", "--quiet", "--no-run", "--message-format=json", "--package=host-tests", "--test"]);
    let test = program_of(name, &machine)?;
    let finished = cargo.arg(&test).run()?;
    let messages = finished.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages
        .filter(|message| message["target"]["name"] == *test)
        .filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    let program = programs.next().ok_or_else(|| {
        Error::new(format_args!("cargo names no program of the test `{name}`"))
            .fix("see what `cargo test --no-run` says of it")
    })?;
    known.push((name, program.clone()));
    Ok(program)
}
