//! What was found, as a person reads it, or as JSON.

use std::collections::BTreeSet;

use ptx_build::error::Result;
use ptx_build::program::print;
use ptx_interpreter::{Call, Finding, Place, Record};
use serde_json::{Value, json};

use crate::names::{readable, readable_in};
use crate::orders::Orders;

/// Prints every finding of a kernel once, with the first launch and seed that showed it; then a line for each kernel. `orders` says
/// how many were asked for, of one kernel.
pub(crate) fn print_all(records: &[Record], orders: Option<&Orders>, as_json: bool) -> Result<()> {
    let mut shown: Vec<(&Record, Finding)> = Vec::new();
    for record in records {
        for finding in &record.findings {
            let is_known =
                |(first, other): &&mut (&Record, Finding)| first.kernel == record.kernel && same(other, finding);
            match shown.iter_mut().find(is_known) {
                Some((first, other)) => {
                    other.times += finding.times;
                    if first.launch == record.launch && record.seed < first.seed {
                        *first = record;
                    }
                }
                None => shown.push((record, finding.clone())),
            }
        }
    }
    let several = records.iter().any(|record| record.launch > 1);
    let mut page = String::new();
    for (record, finding) in &shown {
        let Record { kernel, launch, seed, .. } = record;
        let kernel = readable(kernel);
        page += &match (as_json, several) {
            (true, _) => format!("{}\n", line(record, finding, orders)),
            (false, _) if *launch == 0 => format!("{}\n", named(finding)),
            (false, true) => format!("{}  (launch {launch}: {kernel}, seed {seed})\n\n", named(finding)),
            (false, false) => format!("{}  (seed {seed})\n\n", named(finding)),
        };
    }
    let mut kernels: Vec<&str> = Vec::new();
    for record in records.iter().filter(|record| !as_json && record.is_of_work()) {
        if !kernels.contains(&record.kernel.as_str()) {
            kernels.push(&record.kernel);
        }
    }
    for kernel in kernels {
        let of: Vec<&Record> = records.iter().filter(|record| record.kernel == kernel).collect();
        let found = shown.iter().filter(|(record, finding)| record.kernel == kernel || names(finding, kernel)).count();
        page += &summary(kernel, &of, orders, found);
    }
    print(&page)
}

/// What of the orders of a kernel is missing; beside JSON, to standard error.
pub(crate) fn missing(kernel: &str, orders: &Orders, as_json: bool) -> Result<()> {
    printed(&orders.missing(kernel), as_json)
}

/// Which launches are compared with nothing, once for each kernel and reason; beside JSON, to standard error.
pub(crate) fn uncompared(records: &[Record], as_json: bool) -> Result<()> {
    let mut told = BTreeSet::new();
    let mut lines = String::new();
    for Record { kernel, launch, uncompared, .. } in records {
        if let Some(why) = uncompared.as_ref().filter(|why| told.insert((kernel, *why))) {
            lines += &format!("{}: what launch {launch} leaves is compared with nothing: {why}\n", readable(kernel));
        }
    }
    printed(&lines, as_json)
}

/// What the kernel printed; beside JSON, to standard error.
pub(crate) fn printed(text: &str, as_json: bool) -> Result<()> {
    if as_json {
        eprint!("{text}");
        return Ok(());
    }
    print(text)
}

/// `scale: no findings in 3 launches, each in 1 order of its threads, 18434 instructions`
fn summary(kernel: &str, records: &[&Record], orders: Option<&Orders>, findings: usize) -> String {
    let of = |count: usize, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    let found = if findings == 0 { "no findings".to_owned() } else { of(findings, "finding") };
    if records.iter().all(|record| record.is_library) {
        return format!("{}: {found} in {}\n", readable(kernel), of(records.len(), "call"));
    }
    let launches: BTreeSet<u64> = records.iter().map(|record| record.launch).collect();
    let in_each = || of(records.len().div_ceil(launches.len().max(1)), "order");
    let count = orders.map_or_else(in_each, Orders::count);
    let ran = match launches.len() {
        ..=1 => count,
        several => format!("{several} launches, each in {count}"),
    };
    let instructions: u64 = records.iter().map(|record| record.instructions).sum();
    let compared = match orders.is_some_and(Orders::is_compared) {
        true => "; what they leave is compared with orders without older values",
        false => "",
    };
    format!("{}: {found} in {ran} of its threads, {instructions} instructions{compared}\n", readable(kernel))
}

/// A finding with the names of its functions as they were written.
fn named(finding: &Finding) -> Finding {
    let mut finding = finding.clone();
    for place in &mut finding.places {
        place.function = readable(&place.function);
        place.callers.iter_mut().for_each(|call| call.function = readable(&call.function));
    }
    finding.title = readable_in(&finding.title);
    finding.notes.iter_mut().for_each(|note| *note = readable_in(note));
    finding
}

/// Whether a finding is also about a kernel that it was not found in.
fn names(finding: &Finding, kernel: &str) -> bool {
    finding.title.contains(&format!("kernel `{kernel}`"))
}

/// Whether two findings are about the same instructions or the same lines of the source, or say the same of no instruction.
fn same(one: &Finding, other: &Finding) -> bool {
    let lines = |finding: &Finding| finding.places.iter().take(2).map(Place::line).collect::<Vec<_>>();
    let mut both = [lines(one), lines(other)];
    both.iter_mut().for_each(|lines| lines.sort_unstable());
    let is_of_places = both[0] == both[1] && (!both[0].is_empty() || one.title == other.title);
    one.kind == other.kind && is_of_places || one.is_of_the_lines_of(other)
}

fn line(record: &Record, finding: &Finding, orders: Option<&Orders>) -> Value {
    let mut line = json!({
        "kernel": record.kernel,
        "launch": record.launch,
        "kind": finding.kind.word(),
        "title": finding.title,
        "places": finding.places.iter().map(place).collect::<Vec<_>>(),
        "notes": finding.notes,
        "help": finding.help,
        "times": finding.times,
        "seed": record.seed,
    });
    if let Some(orders) = orders {
        line["orders"] = orders.json();
    }
    line
}

fn place(place: &Place) -> Value {
    let (file, line) = place.source.clone().unzip();
    json!({
        "block": place.block,
        "thread": place.thread,
        "function": place.function,
        "ptx_line": place.ptx_line,
        "instruction": place.instruction,
        "file": file,
        "line": line,
        "called": lines(&place.called),
        "callers": place.callers.iter().map(call).collect::<Vec<_>>(),
        "what": place.what,
    })
}

fn call(call: &Call) -> Value {
    let (file, line) = call.source.clone().unzip();
    json!({
        "function": call.function,
        "ptx_line": call.ptx_line,
        "file": file,
        "line": line,
        "called": lines(&call.called),
    })
}

fn lines(all: &[(String, u32)]) -> Value {
    all.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect()
}
