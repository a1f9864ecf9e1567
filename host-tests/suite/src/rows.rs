//! What a report says of the items of a stage.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal::Found;
use super::run;

/// What came of an item.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// The item.
    pub item: String,
    /// Whether it is as it should be.
    pub passed: bool,
    /// In a line.
    pub text: String,
    /// All of it; of forms it is in [`Report::forms`](super::report::Report::forms).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// Of a stage with more items, only those that failed are shown.
const MANY: usize = 100;

impl Row {
    pub(super) fn of(item: String, found: Found, has_forms: bool) -> Row {
        let data = if has_forms { Value::Null } else { found.data };
        Row { item, passed: found.passed, text: found.text, data }
    }
}

/// The rows that a reader is shown.
pub(super) fn shown(rows: &[Row], has_table: bool) -> Vec<&Row> {
    rows.iter().filter(|row| !row.passed || !has_table && rows.len() <= MANY).collect()
}

/// A form that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its PTX.
    pub ptx: String,
    /// What was wrong.
    #[serde(flatten)]
    pub failure: run::Failure,
}

/// A table of forms, if there are some.
pub(super) fn wrong_forms(form: &str, what: &str, all: &[Failure]) -> Option<String> {
    let row = |Failure { ptx, failure }: &Failure| format!("\n| `{ptx}` | {} |", one_line(&failure.what));
    let head = format!("\n| {form} | {what} |\n| --- | --- |");
    (!all.is_empty()).then(|| head + &all.iter().map(row).collect::<String>())
}

pub(super) fn one_line(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}
