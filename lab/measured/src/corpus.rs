//! What NVIDIA's tools see of the corpus beside what we see: tables of a report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use host_tests::show::tables::with_text;

use suite::corpus::bare::BARE;
use suite::corpus::case::{SIDES, pair_of};
use suite::corpus::launched::{End, Launched};
use suite::corpus::order::tool_for;
use suite::corpus::sanitized::{SANITIZED, TOOLS};
use suite::report::{Report, Row, StageReport};

/// The kinds of findings, as `docs/find-the-race.md` lists them.
const KINDS: [&str; 11] =
    ["race", "order", "proxy", "async", "nc", "bounds", "misaligned", "uninitialised", "deadlock", "launch", "gpu"];

/// What a tool said of a kernel.
#[derive(Clone, Debug)]
struct Said {
    /// Its findings. None if it said nothing at all.
    findings: Option<u64>,
    line_named: bool,
    first: String,
}

/// What is known of a pair.
#[derive(Clone, Debug, Default)]
struct Seen {
    kind: String,
    here: [u64; 2],
    /// By side.
    bare: BTreeMap<String, Launched>,
    /// By side and tool.
    said: BTreeMap<(String, String), Said>,
}

/// All pairs of a report, by their names.
type All = BTreeMap<String, Seen>;

fn rows<'r>(report: &'r Report, stage: &str) -> impl Iterator<Item = &'r Row> {
    let stages = report.stages.iter().filter(move |own| own.name == stage);
    stages.flat_map(|stage| &stage.results).collect::<Vec<_>>().into_iter()
}

fn all(report: &Report) -> All {
    let mut all = All::new();
    for row in rows(report, BARE).chain(rows(report, SANITIZED)) {
        let data = &row.data;
        let Ok(launched) = serde_json::from_value::<Launched>(data["launched"].clone()) else { continue };
        let (side, name) = pair_of(&launched.kernel);
        let (side, seen) = (side.to_owned(), all.entry(name.to_owned()).or_default());
        seen.kind = data["kind"].as_str().unwrap_or_default().to_owned();
        seen.here = [0, 1].map(|at| data["here"][at].as_u64().unwrap_or_default());
        match data["tool"].as_str() {
            None => {
                seen.bare.insert(side, launched);
            }
            Some(tool) => {
                let said = Said {
                    findings: data["findings"].as_u64().filter(|_| row.passed),
                    line_named: data["line_named"].as_bool().unwrap_or_default(),
                    first: data["first"].as_str().unwrap_or_default().to_owned(),
                };
                seen.said.insert((side, tool.to_owned()), said);
            }
        }
    }
    all
}

impl Seen {
    fn said(&self, side: &str, tool: &str) -> Option<&Said> {
        self.said.get(&(side.to_owned(), tool.to_owned()))
    }

    /// Whether a tool finds something in a kernel; none if it was not run, or said nothing.
    fn is_found(&self, side: &str, tool: &str) -> Option<bool> {
        Some(self.said(side, tool)?.findings? > 0)
    }

    /// Whether any tool that was run does; none if none was.
    fn is_found_by_any(&self, side: &str) -> Option<bool> {
        let found: Vec<bool> = TOOLS.iter().filter_map(|tool| self.is_found(side, tool)).collect();
        (!found.is_empty()).then(|| found.contains(&true))
    }
}

/// How a wrong kernel ends on the GPU.
const ENDS: [&str; 5] = ["right bytes", "wrong bytes", "error", "does not end", "lost"];

fn end_of(launched: &Launched) -> &'static str {
    match launched.end {
        End::Ended if launched.differ == 0 => ENDS[0],
        End::Ended => ENDS[1],
        End::Failed | End::Refused => ENDS[2],
        End::Hung => ENDS[3],
        End::Lost => ENDS[4],
    }
}

/// How many of these are so: `3`, or `3 of 5` if only five of more are known.
fn count(of: usize, answers: impl Iterator<Item = Option<bool>>) -> String {
    let known: Vec<bool> = answers.flatten().collect();
    let yes = known.iter().filter(|yes| **yes).count();
    match known.len() {
        0 => "?".into(),
        all if all == of => yes.to_string(),
        all => format!("{yes} of {all}"),
    }
}

/// A row of the summary, about one side of some pairs.
fn summary_row(title: &str, side: &str, pairs: &[&Seen]) -> String {
    let of = pairs.len();
    let at = usize::from(side != SIDES[0]);
    let here = pairs.iter().filter(|seen| seen.here[at] > 0).count();
    let tools = TOOLS.map(|tool| count(of, pairs.iter().map(|seen| seen.is_found(side, tool))));
    let any = count(of, pairs.iter().map(|seen| seen.is_found_by_any(side)));
    let ends = ENDS.map(|end| count(of, pairs.iter().map(|seen| seen.bare.get(side).map(|one| end_of(one) == end))));
    format!("| {title} | {of} | {here} | {} | {any} | {} |\n", tools.join(" | "), ends.join(" | "))
}

fn summary_table(all: &All) -> String {
    let head = ["", "kernels", "here"].into_iter().chain(TOOLS).chain(["any of the four"]).chain(ENDS);
    let head: Vec<&str> = head.collect();
    let line = format!("| {} |\n| --- |{}\n", head.join(" | "), " ---: |".repeat(head.len() - 1));
    let pairs = |kind: &str| all.values().filter(|seen| seen.kind == kind).collect::<Vec<_>>();
    let kinds = KINDS.iter().map(|kind| (kind, pairs(kind))).filter(|(_, pairs)| !pairs.is_empty());
    let kinds: String = kinds.map(|(kind, pairs)| summary_row(&format!("`{kind}`"), "wrong", &pairs)).collect();
    let every: Vec<&Seen> = all.values().collect();
    let wrong = summary_row("all wrong kernels", "wrong", &every);
    line + &kinds + &wrong + &summary_row("their correct twins", "right", &every)
}

/// What the machine says of a program.
fn version(report: &Report, program: &str) -> String {
    let row = rows(report, "tools").find(|row| row.item == program);
    row.map_or("of an unknown version", |row| row.text.as_str()).to_owned()
}

/// What is missing in a stage, in a sentence.
fn missing(stage: &StageReport) -> Option<String> {
    let missing = stage.not_done.len() + stage.lost.len();
    let program =
        stage.missing.as_ref().map(|program| format!("The stage `{}` was not run: no {program}. ", stage.name));
    let open = (missing > 0 && stage.missing.is_none())
        .then(|| format!("Of the stage `{}`, {missing} of {} launches are missing. ", stage.name, stage.items));
    program.or(open)
}

/// The pairs that this GPU cannot run, in a sentence.
fn left_out(report: &Report) -> Option<String> {
    let stage = report.stages.iter().find(|stage| stage.name == BARE || stage.name == SANITIZED)?;
    let count = stage.with["left_out"].as_array()?.len();
    (count > 0).then(|| format!("Pairs with instructions that this GPU lacks are left out: {count}. "))
}

fn all_missing(report: &Report) -> String {
    let stages = report.stages.iter().filter(|stage| stage.name == BARE || stage.name == SANITIZED);
    let text = left_out(report).into_iter().chain(stages.filter_map(missing)).collect::<String>();
    if text.is_empty() { text } else { format!("\n{}\n", text.trim()) }
}

/// The summary of a report, if the corpus ran.
fn summary(report: &Report) -> Option<String> {
    let all = all(report);
    (!all.is_empty()).then(|| summary_of(report, &all))
}

fn summary_of(report: &Report, all: &All) -> String {
    let right = all.values().filter_map(|seen| seen.bare.get("right"));
    let (equal, right) = right.fold((0, 0), |(equal, all), one| (equal + usize::from(end_of(one) == ENDS[0]), all + 1));
    let mut text = format!(
        "On {} (sm_{}), with compute-sanitizer ({}): in how many kernels each tool finds something, and how they end on the GPU without a
tool.\n\n",
        report.machine.gpu,
        report.machine.sm,
        version(report, "compute-sanitizer"),
    );
    text += &summary_table(all);
    text += "\n`19 of 44`: 44 of the kernels were run so, and of 19 it is true. `?`: none was.\n";
    let _ = writeln!(
        text,
        "\n{equal} of {right} correct kernels leave on the GPU the bytes that the interpreter leaves. A wrong kernel with right bytes leaves
those of its twin: nothing was seen to be wrong this time. {}{}",
        named(all),
        alike(all)
    );
    text + &all_missing(report)
}

/// How many of the kernels that a tool finds have a finding that names a line that is wrong.
fn named(all: &All) -> String {
    let told = TOOLS.map(|tool| {
        let said = || all.values().filter_map(|seen| seen.said("wrong", tool)).filter(|said| said.findings > Some(0));
        format!("{tool} {} of {}", said().filter(|said| said.line_named).count(), said().count())
    });
    format!("Findings that name a line of the source where the mistake is: {}.", told.join(", "))
}

/// The wrong kernels of whose twin a tool complains too: what it says may be no finding at all.
fn alike(all: &All) -> String {
    let complains = |seen: &Seen, side: &str, tool: &str| seen.is_found(side, tool) == Some(true);
    let alike = |tool: &str| {
        let both = |(_, seen): &(&String, &Seen)| SIDES.iter().all(|side| complains(seen, side, tool));
        let names = all.iter().filter(both).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>();
        (!names.is_empty()).then(|| format!("{tool}: {}", names.join(", ")))
    };
    let tools: Vec<String> = TOOLS.into_iter().filter_map(alike).collect();
    match tools.is_empty() {
        true => String::new(),
        false => format!(" Of both, the wrong kernel and its twin, complain {}.", tools.join("; ")),
    }
}

/// What a tool says of a kernel, in a cell.
fn cell(seen: &Seen, side: &str, tool: &str) -> String {
    match seen.said(side, tool) {
        None => "".into(),
        Some(Said { findings: None, .. }) => "?".into(),
        Some(Said { findings: Some(0), .. }) => "–".into(),
        Some(Said { findings: Some(count), line_named, .. }) => {
            format!("{count}{}", if *line_named { ", line" } else { "" })
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('_', "\\_")
}

/// The page of a report, if the corpus ran.
pub(crate) fn page(report: &Report) -> Option<String> {
    let all = all(report);
    if all.is_empty() {
        return None;
    }
    let mut page =
        format!("# The corpus on {}\n\nWritten by `cargo xtask measured` from `report.json`.\n\n", report.machine.gpu);
    page += &summary_of(report, &all);
    page += "\n## By kernel\n\nIn each cell the number of findings in the wrong kernel; \"line\" if one of them names a line where the mistake is.\n";
    for kind in KINDS {
        let pairs: Vec<_> = all.iter().filter(|(_, seen)| seen.kind == kind).collect();
        if pairs.is_empty() {
            continue;
        }
        let _ = write!(page, "\n### `{kind}`\n\nThe tool for it is {}.\n\n", tool_for(kind));
        let _ = writeln!(page, "| | here | {} | on the GPU |\n| --- |{} --- |", TOOLS.join(" | "), " ---: |".repeat(5));
        for (name, seen) in pairs {
            let tools = TOOLS.map(|tool| cell(seen, "wrong", tool)).join(" | ");
            let end = seen.bare.get("wrong").map(Launched::text).unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {} | {tools} | {} |", seen.here[0], escaped(&end));
        }
    }
    page += &twins(&all);
    page += &first_lines(&all);
    Some(page)
}

/// A row for each tool that has a finding: its first line.
fn findings(kernel: &str, side: &str, seen: &Seen) -> String {
    let row = |tool: &str| {
        let said = seen.said(side, tool).filter(|said| said.findings > Some(0))?;
        Some(format!("| `{kernel}` | {tool} | {} |\n", escaped(&said.first)))
    };
    TOOLS.into_iter().filter_map(row).collect()
}

/// The right kernels that a tool complains of, or that leave other bytes.
fn twins(all: &All) -> String {
    let mut text = String::new();
    for (name, seen) in all {
        text += &findings(&format!("right_{name}"), "right", seen);
        let other = seen.bare.get("right").filter(|one| end_of(one) != ENDS[0]);
        let _ = other.map(|one| writeln!(text, "| `right_{name}` | the GPU | {} |", escaped(&one.text())));
    }
    let head = "\n## Correct kernels\n\n";
    match text.is_empty() {
        true => format!(
            "{head}No tool that ran complains of a correct kernel, and each that ran leaves the bytes of the interpreter.\n"
        ),
        false => format!("{head}What is said of correct kernels:\n\n| | by | |\n| --- | --- | --- |\n{text}"),
    }
}

/// The first line of what each tool says of each wrong kernel.
fn first_lines(all: &All) -> String {
    let head =
        "\n## What the tools say\n\nThe first finding in each wrong kernel.\n\n| | by | |\n| --- | --- | --- |\n";
    let rows = all.iter().map(|(name, seen)| findings(name, "wrong", seen));
    std::iter::once(head.to_owned()).chain(rows).collect()
}

/// Where a page has the summaries: the lines around them.
const BEGIN: &str = "<!-- corpus: `cargo xtask measured` writes this -->\n";

/// The end of the same.
const END: &str = "<!-- end of corpus -->\n";

/// A page with the summaries of these reports in its place.
pub(crate) fn with_summaries(page: &str, reports: &[Report]) -> Option<String> {
    let texts: BTreeSet<String> = reports.iter().filter(|report| !report.quick).filter_map(summary).collect();
    let text = match texts.is_empty() {
        true => "No GPU has run this yet.\n".to_owned(),
        false => texts.into_iter().collect::<Vec<_>>().join("\n"),
    };
    with_text(page, BEGIN, END, &format!("\n{text}\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(item: &str, passed: bool, data: serde_json::Value) -> Row {
        Row { item: item.into(), passed, text: String::new(), data }
    }

    fn launched(kernel: &str, end: &str, differ: usize) -> serde_json::Value {
        json!({ "kernel": kernel, "end": end, "bytes": 8, "differ": differ })
    }

    fn report() -> Report {
        let bare = |kind: &str, kernel: &str, end: &str, differ: usize| {
            row(kernel, true, json!({ "kind": kind, "here": [3, 0], "launched": launched(kernel, end, differ) }))
        };
        let of_tool = |tool: &str, kind: &str, kernel: &str, findings: u64, passed: bool| {
            let first = (findings > 0).then(|| format!("Error at {kernel}"));
            let data = json!({
                "kind": kind, "here": [3, 0], "tool": tool, "findings": findings, "line_named": true, "first": first,
                "launched": launched(kernel, "ended", 0),
            });
            row(&format!("{tool} {kernel}"), passed, data)
        };
        let bare = vec![
            bare("race", "wrong_a", "ended", 4),
            bare("race", "right_a", "ended", 0),
            bare("race", "wrong_b", "hung", 0),
            bare("race", "right_b", "ended", 1),
            bare("bounds", "wrong_c", "failed", 0),
        ];
        let tools = vec![
            of_tool("racecheck", "race", "wrong_a", 2, true),
            of_tool("racecheck", "race", "wrong_b", 0, true),
            of_tool("memcheck", "bounds", "wrong_c", 1, true),
            of_tool("memcheck", "race", "wrong_a", 0, false),
            of_tool("memcheck", "race", "right_a", 1, true),
            of_tool("synccheck", "bounds", "wrong_c", 1, true),
            of_tool("synccheck", "bounds", "right_c", 2, true),
        ];
        let stage = |name: &str, results| StageReport { name: name.into(), results, ..StageReport::default() };
        let not_done = vec!["synccheck wrong_a".to_owned()];
        let with = json!({ "left_out": ["d", "e"] });
        let tools = StageReport { not_done, with, items: 6, ..stage(SANITIZED, tools) };
        Report { stages: vec![tools, stage(BARE, bare)], ..Report::default() }
    }

    #[test]
    fn a_report_has_its_tables() {
        let text = summary(&report()).expect("the corpus ran");
        for line in [
            "| `race` | 2 | 2 | 1 | ? | ? | ? | 1 | 0 | 1 | 0 | 1 | 0 |",
            "| `bounds` | 1 | 1 | ? | 1 | ? | 1 | 1 | 0 | 0 | 1 | 0 | 0 |",
            "| all wrong kernels | 3 | 3 | 1 of 2 | 1 of 1 | ? | 1 of 1 | 2 | 0 | 1 | 1 | 1 | 0 |",
            "| their correct twins | 3 | 0 | ? | 1 of 1 | ? | 1 of 1 | 2 of 2 | 1 of 2 | 1 of 2 | 0 of 2 | 0 of 2 | 0 of 2 |",
            " Of both, the wrong kernel and its twin, complain synccheck: `c`.",
            "1 of 2 correct kernels leave",
            "\nPairs with instructions that this GPU lacks are left out: 2. Of the stage `corpus-sanitizer`, 1 of 6 launches are missing.\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let page = page(&report()).expect("the corpus ran");
        for line in [
            "| `a` | 3 | 2, line | ? |  |  | 4 of 8 bytes differ:  |",
            "| `b` | 3 | – |  |  |  | does not end |",
            "| `right_a` | memcheck | Error at right\\_a |",
            "| `right_b` | the GPU | 1 of 8 bytes differ:  |",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert_eq!(summary(&Report::default()), None);
    }

    #[test]
    fn the_summary_has_its_place() {
        let before = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(with_summaries("a", &[]), None);
        let empty = with_summaries(&before, &[]).expect("there is a place");
        assert_eq!(empty, format!("a\n{BEGIN}\nNo GPU has run this yet.\n\n{END}b\n"));
        let quick = Report { quick: true, ..report() };
        assert_eq!(with_summaries(&empty, &[quick]), Some(empty.clone()));
        let full = with_summaries(&empty, &[report()]).expect("there is a place");
        assert!(full.contains("| `race` | 2 |") && full.starts_with("a\n") && full.ends_with("b\n"), "{full}");
        assert_eq!(with_summaries(&full, &[]), Some(empty));
    }
}
