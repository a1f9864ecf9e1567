//! Which lines of the source of kernels threads have executed, as a file that editors and `genhtml` read: LCOV's.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use ptx_build::error::Result;
use ptx_build::files::write_whole;
use ptx_interpreter::{CountedLine, Record};

use super::within;
use crate::output::{printed, warn};

/// The lines of each file, and how many threads executed them.
type Files<'r> = BTreeMap<&'r str, BTreeMap<u32, u64>>;

/// Writes the file, and says which lines of the user's own files no thread has executed; beside JSON, to standard error.
pub(crate) fn tell(path: &Path, records: &[Record], as_json: bool) -> Result<()> {
    let mut files = Files::new();
    for CountedLine { file, line, threads } in records.iter().flat_map(|record| &record.lines) {
        *files.entry(file).or_default().entry(*line).or_default() += threads;
    }
    if files.is_empty() {
        let text = format!("no kernel ran whose PTX names lines: {} is not written", path.display());
        warn(&format!("{text}\n  → compile with `-lineinfo`"));
        return Ok(());
    }
    write_whole(path, trace(&files))?;
    printed(&summary(&files), as_json)
}

/// LCOV's trace file.
fn trace(files: &Files<'_>) -> String {
    let mut text = String::new();
    for (file, lines) in files {
        let _ = writeln!(text, "SF:{file}");
        for (line, threads) in lines {
            let _ = writeln!(text, "DA:{line},{threads}");
        }
        let _ = writeln!(text, "LH:{}\nLF:{}\nend_of_record", executed(lines), lines.len());
    }
    text
}

fn executed(lines: &BTreeMap<u32, u64>) -> usize {
    lines.values().filter(|threads| **threads > 0).count()
}

/// `scale.cu: threads executed 9 of 12 lines, and not 14, 20-21`
fn summary(files: &Files<'_>) -> String {
    let mut text = String::new();
    for (file, lines) in files {
        let Some(own) = within(file) else { continue };
        let _ = write!(text, "{}: threads executed {} of {} lines", own.display(), executed(lines), lines.len());
        let left_out = ranges(lines);
        let _ = if left_out.is_empty() { writeln!(text) } else { writeln!(text, ", and not {left_out}") };
    }
    text
}

/// The lines that nobody executed, neighbours together. What is between two such lines and has no instruction parts no neighbours.
fn ranges(lines: &BTreeMap<u32, u64>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut is_open = false;
    for (line, threads) in lines {
        match ranges.last_mut() {
            Some((_, last)) if is_open && *threads == 0 => *last = *line,
            _ if *threads == 0 => ranges.push((*line, *line)),
            _ => {}
        }
        is_open = *threads == 0;
    }
    let shown = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(shown).collect::<Vec<_>>().join(", ")
}
