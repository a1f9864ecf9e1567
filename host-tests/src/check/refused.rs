//! What `cargo check` says of a package for a GPU, and of lines of which it refuses some.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::check::forms::write_package;
use crate::tools::command::Command;
use crate::tools::error::{Error, Result};

/// An error of `cargo check`.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Its first line.
    pub message: String,
    /// Its notes.
    pub notes: Vec<String>,
    /// The lines of `src/lib.rs` that it is about.
    lines: Vec<usize>,
}

/// The errors of a package, which is where `cargo` runs. The command has the target and the flags.
pub fn refusals(cargo: Command) -> Result<Vec<Refusal>> {
    let finished = cargo.args(["check", "--quiet", "--message-format=json"]).finish()?;
    let refusals: Vec<Refusal> = finished.stdout.lines().filter_map(refusal).collect();
    if finished.status.success() == refusals.is_empty() { Ok(refusals) } else { Err(finished.failed()) }
}

/// An error out of a line of cargo's messages.
fn refusal(line: &str) -> Option<Refusal> {
    let line: Value = serde_json::from_str(line).ok()?;
    let (said, list) = (&line["message"], |value: &Value| value.as_array().cloned().unwrap_or_default());
    let spans = list(&said["spans"]);
    // The last error only counts the others.
    if said["level"] != "error" || spans.is_empty() {
        return None;
    }
    let text = |value: &Value| value["message"].as_str().unwrap_or_default().to_owned();
    let notes = list(&said["children"]).iter().filter(|child| child["level"] == "note").map(text).collect();
    let lines = spans.iter().filter(|span| span["is_primary"] == true).filter_map(outermost_line).collect();
    Some(Refusal { message: text(said), notes, lines })
}

/// Where the outermost macro is called, if the code is out of one.
fn outermost_line(span: &Value) -> Option<usize> {
    let mut span = span;
    while span["expansion"]["span"].is_object() {
        span = &span["expansion"]["span"];
    }
    (span["file_name"] == "src/lib.rs").then(|| usize::try_from(span["line_start"].as_u64()?).ok())?
}

/// What is said about each of these lines that is refused, under a head of some lines. Some errors hide others: so what is refused is
/// left out, and the rest is checked again, until nothing is refused or `is_enough` of what has been.
pub fn refused_lines(
    folder: &Path,
    cargo: impl Fn() -> Command,
    head: &[&str],
    lines: &[String],
    is_enough: impl Fn(&BTreeMap<usize, Vec<String>>) -> bool,
) -> Result<BTreeMap<usize, Vec<String>>> {
    let mut refused: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let left: Vec<usize> = (0..lines.len()).filter(|at| !refused.contains_key(at)).collect();
        let source: Vec<&str> = head.iter().copied().chain(left.iter().map(|at| lines[*at].as_str())).collect();
        write_package(folder, "lines", &(source.join("\n") + "\n"))?;
        let refusals = refusals(cargo().dir(folder))?;
        for Refusal { message, lines, .. } in &refusals {
            let named = lines.iter().filter_map(|line| left.get(line.checked_sub(1 + head.len())?)).next();
            let at = named
                .ok_or_else(|| Error::new("an error is not about a line").because(message).at(folder.display()))?;
            refused.entry(*at).or_default().push(message.clone());
        }
        if refusals.is_empty() || is_enough(&refused) {
            return Ok(refused);
        }
    }
    Err(Error::new(format_args!("after {ROUNDS} rounds the compiler still complains")).at(folder.display()))
}

/// How often lines are checked at most.
const ROUNDS: usize = 6;
