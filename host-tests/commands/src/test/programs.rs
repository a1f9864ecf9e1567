//! The programs of tests: which there are, and how cargo makes them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::error::ErrorKind;
use host_tests::tools::error::{Error, Result};
use serde_json::Value;

use super::processor::{self, Ended};
use crate::cargo::{in_the_environment_of, line_of, not_started};

/// A program, and what the summary calls it.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) command: Command,
}

/// What is compiled, and what of it is run.
pub(super) struct Selected {
    /// Arguments for `cargo test`.
    pub(super) cargo: Vec<String>,
    /// Only these programs and modules of programs; without any, all.
    only: BTreeSet<String>,
    /// Programs and modules that are not run.
    without: &'static [&'static str],
}

/// Packages that stand on the instructions: the checker, the audit, the memory model and the laboratory.
const PRODUCTS: [&str; 8] =
    ["lab", "lab-kernels", "litmus", "measured", "pairs", "ptx-audit", "ptx-gpu", "ptx-interpreter"];

/// Programs and modules that test those, in packages beside them.
const OF_PRODUCTS: [&str; 6] = ["audit", "audit_orders", "checker", "corpus", "orders", "weakened"];

impl Selected {
    /// All that cargo compiles.
    pub(super) fn all(cargo: &[&str]) -> Selected {
        Selected { cargo: cargo.iter().map(|word| (*word).to_owned()).collect(), only: BTreeSet::new(), without: &[] }
    }

    /// All but the products.
    pub(super) fn instructions(cargo: Command) -> Result<Selected> {
        let targets = targets(cargo)?;
        if let Some(name) = OF_PRODUCTS.iter().find(|name| !targets.iter().any(|target| target.has(name))) {
            unknown(name, &targets);
        }
        let excluded = PRODUCTS.iter().map(|package| format!("--exclude={package}"));
        let cargo = ["--workspace".to_owned()].into_iter().chain(excluded).collect();
        Ok(Selected { cargo, only: BTreeSet::new(), without: &OF_PRODUCTS })
    }

    /// The tests of some packages.
    pub(super) fn packages(names: &[String]) -> Selected {
        let cargo: Vec<String> = names.iter().map(|name| format!("--package={name}")).collect();
        Selected { cargo, only: BTreeSet::new(), without: &[] }
    }

    /// Tests by the names of their programs, or of the modules in them. A name that none has ends this process.
    pub(super) fn named(names: &[String], cargo: Command) -> Result<Selected> {
        let targets = targets(cargo)?;
        let mut words = BTreeSet::new();
        for name in names {
            let found: Vec<&Target> = targets.iter().filter(|target| target.has(name)).collect();
            if found.is_empty() {
                unknown(name, &targets);
            }
            let chosen =
                found.iter().flat_map(|of| [format!("--package={}", of.package), format!("--test={}", of.name)]);
            words.extend(chosen);
        }
        Ok(Selected { cargo: words.into_iter().collect(), only: names.iter().cloned().collect(), without: &[] })
    }

    fn has(&self, program: &str, module: Option<&str>) -> bool {
        let is_in = |listed: &dyn Fn(&str) -> bool| listed(program) || module.is_some_and(listed);
        let chosen = self.only.is_empty() || is_in(&|name| self.only.contains(name));
        chosen && !is_in(&|name| self.without.contains(&name))
    }
}

/// Ends as a wrong argument does.
fn unknown(name: &str, targets: &[Target]) -> ! {
    let known = targets.iter().flat_map(|target| [&target.name].into_iter().chain(&target.modules));
    let known: BTreeSet<&str> = known.map(String::as_str).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(" ");
    let error = format!("there is no test `{name}`\n  → use one of {known}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::InvalidValue, error).exit()
}

/// A program of tests.
struct Target {
    package: String,
    name: String,
    modules: Vec<String>,
}

impl Target {
    fn has(&self, name: &str) -> bool {
        self.name == name || self.modules.iter().any(|module| module == name)
    }
}

/// Every program of tests of the workspace.
fn targets(mut cargo: Command) -> Result<Vec<Target>> {
    cargo.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| not_started(&cargo, &error))?;
    let described: Value = serde_json::from_slice(&output.stdout).map_err(Error::new)?;
    let packages = described["packages"].as_array().into_iter().flatten();
    let of = |package: &Value| -> Vec<Target> {
        let tests = package["targets"].as_array().into_iter().flatten();
        let tests = tests.filter(|target| target["kind"][0] == "test");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let target = |target: &Value| Target {
            package: text(&package["name"]),
            name: text(&target["name"]),
            modules: modules(Path::new(&text(&target["src_path"]))),
        };
        tests.map(target).collect()
    };
    Ok(packages.flat_map(of).collect())
}

/// The modules of a program whose `main.rs` is nothing but their list: each is a part of the tests.
fn modules(main: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(main).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let module = |line: &str| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned());
    lines.map(module).collect::<Option<_>>().unwrap_or_default()
}

/// Compiles tests, and gives the programs, each in the environment that cargo would run it in, and the processor time that it took. A
/// program with several modules is given once for each, so that they run side by side and are told apart.
pub(super) fn compile(
    selected: &Selected,
    part: &str,
    cargo: impl Fn() -> Command,
) -> Result<(std::result::Result<Vec<Program>, String>, f64)> {
    let mut command = cargo();
    command.args(["test", "--no-run"]).args(&selected.cargo);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let Ended { status, stdout, processor } =
        processor::run(&mut command).map_err(|error| not_started(&command, &error))?;
    if !status.success() {
        return Ok((Err(format!("`{}`: {status}", line_of(&command))), processor));
    }
    let text = String::from_utf8_lossy(&stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs = |message: Value| {
        let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let manifest = Path::new(message["manifest_path"].as_str()?);
        let (package, target) = (manifest.parent()?, &message["target"]);
        let command = || {
            let mut command = in_the_environment_of(&cargo(), program);
            // What cargo would add to that.
            command.env("CARGO_MANIFEST_DIR", package).env("CARGO_MANIFEST_PATH", manifest);
            command.env("CARGO_PKG_NAME", package.file_name().unwrap_or_default());
            // What a test compiles is not compiled again after a change.
            command.env("CARGO_INCREMENTAL", "0").current_dir(package);
            command
        };
        let prefix = format!("{part}, {}: ", package.file_name()?.display());
        let (name, modules) = (target["name"].as_str()?, modules(Path::new(target["src_path"].as_str()?)));
        if modules.is_empty() {
            let program = Program { name: prefix + name, command: command() };
            return selected.has(name, None).then(|| vec![program]);
        }
        let chosen: Vec<&String> = modules.iter().filter(|module| selected.has(name, Some(module))).collect();
        let tests = if chosen.is_empty() { Vec::new() } else { names(command()) };
        let of = |module: &&String| of_module(module, &tests, prefix.clone() + module, command());
        Some(chosen.iter().filter_map(of).collect())
    };
    Ok((Ok(messages.filter_map(programs).flatten().collect()), processor))
}

/// The names of a program's tests.
fn names(mut program: Command) -> Vec<String> {
    let listed = program.args(["--list", "--format=terse"]).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
}

/// A program that runs the tests of a module, if it has any. Its filter is looked for anywhere in a name, so a module of that name in
/// another one would be run too.
fn of_module(module: &str, tests: &[String], name: String, mut command: Command) -> Option<Program> {
    let filter = format!("{module}::");
    let found = |test: &&String| test.contains(&filter);
    let own: Vec<&String> = tests.iter().filter(|test| test.starts_with(&filter)).collect();
    match tests.iter().filter(found).count() == own.len() {
        true => command.arg(&filter),
        false => command.arg("--exact").args(&own),
    };
    (!own.is_empty()).then_some(Program { name, command })
}
