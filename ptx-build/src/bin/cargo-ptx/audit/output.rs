//! What was found, as a person reads it.

use std::collections::BTreeSet;
use std::fmt::Write;

use console::style;
use ptx_audit::budget::Difference;
use ptx_audit::finding::{Finding, Level};
use ptx_audit::report::Record;
use ptx_build::ptx::demangle;

/// Where the lessons are.
const LESSONS: &str = "docs/fast-kernels.md";

/// A finding, and all places where it was found.
struct Shown<'a> {
    finding: &'a Finding,
    record: &'a Record,
    /// The lines of PTX or addresses after the first.
    more: BTreeSet<u64>,
    made: Vec<String>,
}

/// The page of all findings, each once, with the GPUs and assemblers that show it, and the table of the kernels.
pub(crate) fn page(records: &[Record]) -> String {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for record in records {
        for finding in &record.kernel.findings {
            let same = |one: &&mut Shown<'_>| {
                (&one.record.file, &one.record.kernel.name) == (&record.file, &record.kernel.name)
                    && (one.finding.kind, &one.finding.text) == (finding.kind, &finding.text)
            };
            let Some(one) = shown.iter_mut().find(same) else {
                shown.push(Shown { finding, record, more: BTreeSet::new(), made: vec![record.made()] });
                continue;
            };
            if !one.made.contains(&record.made()) {
                one.made.push(record.made());
            }
            if place(finding) != place(one.finding) {
                one.more.extend(place(finding));
            }
        }
    }
    shown.sort_by_key(|one| one.finding.kind.level());
    let mut page: String = shown.iter().map(Shown::text).collect();
    page += &table(records);
    let count = |level| shown.iter().filter(|one| one.finding.kind.level() == level).count();
    let [errors, warnings, notes] = [Level::Error, Level::Warning, Level::Note].map(count);
    // Writing to a string cannot fail.
    let _ = writeln!(page, "\n{errors} errors, {warnings} warnings, {notes} notes");
    page
}

/// The line of PTX, or the address where there is none.
fn place(finding: &Finding) -> Option<u64> {
    finding.ptx_line.map(u64::from).or(finding.address)
}

impl Shown<'_> {
    fn text(&self) -> String {
        let Shown { finding, record, more, made } = self;
        let kind = finding.kind;
        let head = format!("[{}]", kind.name());
        let head = match kind.level() {
            Level::Error => style(format!("error{head}")).red().bold(),
            Level::Warning => style(format!("warning{head}")).yellow().bold(),
            Level::Note => style(format!("note{head}")).cyan().bold(),
        };
        let mut text = format!("{head}: {}\n", style(&finding.text).bold());
        let loop_of = if finding.hot && record.kernel.has_loop { "the hot loop of " } else { "" };
        let mut accesses = record.kernel.accesses.iter();
        let access = accesses.find(|one| match finding.ptx_line {
            Some(line) => one.ptx_line == Some(line),
            None => one.addresses.first() == finding.address.as_ref() && finding.address.is_some(),
        });
        let place = access.and_then(|access| access.place.as_ref());
        let place = place.map(|place| format!("{}:{}:{}, ", place.file, place.line, place.column)).unwrap_or_default();
        let line = finding.ptx_line.map(|line| format!(":{line}")).unwrap_or_default();
        let name = demangle(&record.kernel.name);
        let _ = writeln!(text, "  --> {place}{}{line}, in {loop_of}`{name}`", record.file);
        if let Some(access) = access {
            let number = finding.ptx_line.map(|line| line.to_string()).unwrap_or_default();
            let gap = " ".repeat(number.len());
            let _ = writeln!(text, " {gap} |\n {number} | {}", access.ptx.as_deref().unwrap_or_default());
            let _ = writeln!(text, " {gap} |   {}", access.opcodes.join(" ; "));
        }
        if !more.is_empty() {
            let shown = more.iter().take(SHOWN).map(|at| match finding.ptx_line {
                Some(_) => at.to_string(),
                None => format!("{at:#06x}"),
            });
            let dots = if more.len() > SHOWN { format!(" and {} more", more.len() - SHOWN) } else { String::new() };
            let _ = writeln!(text, "  = also at: {}{dots}", shown.collect::<Vec<_>>().join(", "));
        }
        let _ = writeln!(text, "  = on: {}", made.join(", "));
        let _ = writeln!(text, "  = help: {}", kind.help());
        if !kind.lesson().is_empty() {
            let _ = writeln!(text, "  = lesson: {LESSONS}#{}", kind.lesson());
        }
        text + "\n"
    }
}

/// How many further lines of a finding are listed.
const SHOWN: usize = 8;

const COLUMNS: [&str; 10] =
    ["kernel", "GPU", "registers", "stack", "spilled", "hot loop", "loads", "in flight", "weakened", "lost"];

fn table(records: &[Record]) -> String {
    let number = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
    let row = |record: &Record| {
        let kernel = &record.kernel;
        [
            demangle(&kernel.name),
            record.made(),
            number(kernel.registers),
            number(kernel.stack),
            number(kernel.spilled),
            format!("{} of {}", if kernel.has_loop { kernel.hot_instructions } else { 0 }, kernel.instructions),
            kernel.loads.to_string(),
            kernel.in_flight.to_string(),
            kernel.weakened().to_string(),
            kernel.lost().to_string(),
        ]
    };
    // A function that a kernel calls is listed only if it has findings.
    let shown = records.iter().filter(|record| !record.kernel.name.contains('$') || !record.kernel.findings.is_empty());
    let rows: Vec<[String; 10]> = std::iter::once(COLUMNS.map(str::to_owned)).chain(shown.map(row)).collect();
    let widths: Vec<usize> =
        (0..10).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 10]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// What is not as it must be.
pub(crate) fn differences(title: &str, differences: &[Difference]) -> String {
    let lines: String = differences.iter().map(|one| format!("  {one}\n")).collect();
    format!("{}\n{lines}", style(title).red().bold())
}
