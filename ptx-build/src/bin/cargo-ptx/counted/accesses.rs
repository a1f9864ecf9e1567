//! Which accesses of memory take more than their bytes need.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use ptx_build::error::Result;
use ptx_interpreter::{CountedAccess, Moved, Record, Taken};

use super::within;
use crate::names::readable;
use crate::output::printed;

/// Lines that are shown, at most.
const SHOWN: usize = 20;

/// Says which accesses those are; beside JSON, to standard error.
pub(crate) fn tell(records: &[Record], as_json: bool) -> Result<()> {
    // Instances of a template have a name and lines in common, and not what they take.
    let mut all: BTreeMap<(&str, Moved, String), Taken> = BTreeMap::new();
    for access in records.iter().flat_map(|record| &record.accesses) {
        all.entry((&access.function, access.moved, described(access))).or_default().add(access.taken);
    }
    let (mut more, enough): (Vec<_>, Vec<_>) = all.iter().partition(|(_, taken)| taken.taken > taken.least);
    more.sort_by_key(|(_, taken)| std::cmp::Reverse(taken.taken - taken.least));
    let mut text = String::from("accesses of memory that take more than their bytes need:\n");
    for ((_, moved, access), taken) in more.iter().take(SHOWN) {
        let each = |count: u64| count as f64 / taken.warps as f64;
        let what = if *moved == Moved::Sectors { "sectors" } else { "passes" };
        let (is, least) = (each(taken.taken), each(taken.least));
        let _ = writeln!(text, "{is:6.1} {what:7} instead of {least:4.1}, {:9} times: {access}", taken.warps);
    }
    if more.is_empty() {
        text = String::from("no access of memory takes more than its bytes need\n");
    }
    if let Some(left_out) = more.len().checked_sub(SHOWN).filter(|count| *count > 0) {
        let _ = writeln!(text, "and {left_out} more");
    }
    if !enough.is_empty() && !more.is_empty() {
        let _ = writeln!(text, "{} others take what they need", enough.len());
    }
    printed(&text, as_json)
}

/// `ld.global.f32 at scale.cu:12, called at scale.cu:30 (scale)`
fn described(access: &CountedAccess) -> String {
    let CountedAccess { function, ptx_line, source, opcode, .. } = access;
    let own = |file| within(file).unwrap_or(Path::new(file)).display();
    let place = match &source[..] {
        [] => format!("PTX line {ptx_line}"),
        [(file, line)] => format!("{}:{line}", own(file)),
        [(file, line), .., (outer, call)] => format!("{}:{line}, called at {}:{call}", own(file), own(outer)),
    };
    format!("{opcode} at {place} ({})", readable(function))
}
