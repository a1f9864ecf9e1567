//! Mutants of what the crates do on a CPU, made and judged by cargo-mutants.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::{Fate, Kind, Mutant, Sign};
use crate::tools::command::{Command, Machine};
use crate::tools::error::{Error, Result};

/// What runs on a CPU alone: of what is compiled for a GPU, no test of cargo's would notice.
const FILES: [&str; 3] = ["ptx-intrinsics/src/**/cpu/**", "ptx-intrinsics/src/**/slices.rs", "ptx-kernel/src/cpu/**"];

/// Seconds after which a mutant's tests are taken to hang.
const TIMEOUT: &str = "30";

/// What becomes of a mutant in `outcomes.json`.
#[derive(Deserialize)]
struct Outcome {
    scenario: Value,
    summary: String,
}

/// Whether cargo-mutants is there.
pub fn is_installed(machine: &Machine) -> bool {
    machine.which("cargo-mutants").is_some()
}

fn cargo_mutants(machine: &Machine) -> Result<Command> {
    let program = machine.which("cargo-mutants").ok_or_else(|| {
        Error::new("cargo-mutants is not installed: it makes the mutants of Rust code")
            .at("PATH")
            .fix("type: cargo install cargo-mutants --locked")
    })?;
    let command = machine.command(program).dir(&machine.repository).arg("mutants");
    let files = FILES.iter().flat_map(|files| ["--file", files]);
    Ok(command.args(["--package=ptx-intrinsics", "--package=ptx-kernel", "--colors=never"]).args(files))
}

/// All of them.
pub fn every(machine: &Machine) -> Result<Vec<Mutant>> {
    let listed = cargo_mutants(machine)?.args(["--list", "--json"]).run()?;
    let all: Vec<Value> = serde_json::from_str(&listed.stdout)
        .map_err(|error| Error::new(format_args!("cargo-mutants listed what is no JSON: {error}")))?;
    Ok(all.iter().filter_map(mutant).collect())
}

fn mutant(of: &Value) -> Option<Mutant> {
    let (file, name) = (of["file"].as_str()?, of["name"].as_str()?);
    let function = of["function"]["function_name"].as_str().unwrap_or_default();
    let line = usize::try_from(of["span"]["start"]["line"].as_u64()?).ok()?;
    let column = of["span"]["start"]["column"].as_u64()?;
    let (_, change) = name.split_once(": ")?;
    let (before, after) = change.split_once(" with ").unwrap_or((change, ""));
    Some(Mutant {
        kind: Kind::Code,
        file: file.to_owned(),
        line,
        range: 0..0,
        gone: String::new(),
        with: name.to_owned(),
        // Of two on a line, the column tells.
        before: format!("{before} at {column}"),
        after: after.to_owned(),
        sign: Sign::Alone,
        steps: Vec::new(),
        owner: function.to_owned(),
    })
}

/// Judges these of them, and gives those that were reached.
pub fn judge<'m>(machine: &Machine, mutants: Vec<&'m Mutant>, jobs: usize) -> Result<Vec<(&'m Mutant, Fate)>> {
    let folder: PathBuf = machine.target().join("mutants/code");
    std::fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
    let names = mutants.iter().flat_map(|mutant| ["--re".to_owned(), format!("^{}$", regex::escape(&mutant.with))]);
    let command = cargo_mutants(machine)?.args(names).args(["--timeout", TIMEOUT, "--jobs", &jobs.to_string()]);
    // The examples in the documentation would take longer than all tests.
    let finished = command.arg("--output").arg(&folder).args(["--", "--tests"]).finish()?;
    // 2: some are missed; 3: the tests of some hang.
    if !matches!(finished.status.code(), Some(0 | 2 | 3)) {
        return Err(finished.failed());
    }
    let kept = folder.join("mutants.out/outcomes.json");
    let outcomes = std::fs::read_to_string(&kept).map_err(|error| Error::io("read", &kept, error))?;
    let wrong =
        |error: serde_json::Error| Error::new(format_args!("not what was expected: {error}")).at(kept.display());
    let outcomes: Value = serde_json::from_str(&outcomes).map_err(wrong)?;
    let outcomes: Vec<Outcome> = serde_json::from_value(outcomes["outcomes"].clone()).map_err(wrong)?;
    let fate = |mutant: &Mutant| {
        let is_own = |outcome: &&Outcome| outcome.scenario["Mutant"]["name"] == mutant.with.as_str();
        match outcomes.iter().find(is_own)?.summary.as_str() {
            "CaughtMutant" | "Timeout" => Some(Fate::Killed("the tests on a CPU".to_owned())),
            "Unviable" => Some(Fate::Refused),
            "MissedMutant" => Some(Fate::Alive),
            _ => None,
        }
    };
    Ok(mutants.into_iter().filter_map(|mutant| Some((mutant, fate(mutant)?))).collect())
}
