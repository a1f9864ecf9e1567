//! What was found, as a person reads it, or as JSON.

use ptx_build::error::Result;
use ptx_build::program::print;
use ptx_interpreter::{Finding, Place};
use serde_json::{Value, json};

use super::Ran;

/// Prints every finding once, with the first seed that showed it.
pub(crate) fn tell(ran: &[Ran], kernel: &str, as_json: bool) -> Result<()> {
    let mut told: Vec<(u64, Finding)> = Vec::new();
    for one in ran {
        for finding in &one.report.findings {
            match told.iter_mut().find(|(_, other)| same(other, finding)) {
                Some((_, other)) => other.times += finding.times,
                None => told.push((one.seed, finding.clone())),
            }
        }
    }
    let mut page = String::new();
    for (seed, finding) in &told {
        if as_json {
            page += &format!("{}\n", line(*seed, finding));
        } else {
            page += &format!("{finding}  (seed {seed})\n\n");
        }
    }
    if !as_json {
        let instructions: u64 = ran.iter().map(|ran| ran.report.instructions).sum();
        let count = match told.len() {
            0 => "no findings".to_owned(),
            1 => "1 finding".to_owned(),
            count => format!("{count} findings"),
        };
        let orders = if ran.len() == 1 { "1 order".to_owned() } else { format!("{} orders", ran.len()) };
        page += &format!("{kernel}: {count} in {orders} of its threads, {instructions} instructions\n");
    }
    print(&page)
}

/// Whether two findings are about the same instructions.
fn same(one: &Finding, other: &Finding) -> bool {
    let lines = |finding: &Finding| finding.places.iter().take(2).map(|place| place.ptx_line).collect::<Vec<_>>();
    let mut both = [lines(one), lines(other)];
    both.iter_mut().for_each(|lines| lines.sort_unstable());
    one.kind == other.kind && both[0] == both[1]
}

fn line(seed: u64, finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.word(),
        "title": finding.title,
        "places": finding.places.iter().map(place).collect::<Vec<_>>(),
        "notes": finding.notes,
        "help": finding.help,
        "times": finding.times,
        "seed": seed,
    })
}

fn place(place: &Place) -> Value {
    let (file, line) = place.source.clone().map_or((None, None), |(file, line)| (Some(file), Some(line)));
    json!({
        "block": place.block,
        "thread": place.thread,
        "function": place.function,
        "ptx_line": place.ptx_line,
        "instruction": place.instruction,
        "file": file,
        "line": line,
        "what": place.what,
    })
}
