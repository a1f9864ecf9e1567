//! The page of the laboratory: what its lines prove, with plots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lab::judge::{Counter, Finding, Latencies, Paid, Results, Verdict};
use lab::line::{About, Run};
use lab::paired::{Paired, paired};
use lab::profile::METRICS;
use lab::statistics::{CONFIDENCE, Estimate};
use lab::titles;
use ptx_build::error::Result;
use suite::date::date;

use super::judged::Judged;
use super::pairs;
use super::plot::{Frame, Series, bars, lines};

/// A page and the plots that it shows, by the names of their files.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) plots: Vec<(String, String)>,
}

impl Page {
    fn show(&mut self, name: &str, says: &str, svg: Result<String>) -> Result<()> {
        let file = format!("laboratory-{name}.svg");
        self.line(format_args!("![{says}]({file})\n"));
        self.plots.push((file, svg?));
        Ok(())
    }

    fn line(&mut self, text: impl std::fmt::Display) {
        writeln!(self.text, "{text}").expect("a string takes all");
    }
}

/// The page of some results.
pub(super) fn page(Judged { results, findings, paid }: &Judged) -> Result<Page> {
    let pairs = paired(results, findings);
    let mut page = Page { text: String::new(), plots: Vec::new() };
    about(results, &mut page);
    pays(paid, &mut page)?;
    latencies(results, &mut page)?;
    for (letter, title) in titles().filter(|(letter, _)| results.ends.contains_key(letter)) {
        page.line(format_args!("## {letter}: {title}\n"));
        if let Some((repetitions, Some(why))) = results.ends.get(&letter) {
            page.line(format_args!("Cut short after {repetitions} repetitions: {why}\n"));
        }
        page.line(format_args!("The machine: {}.\n", results.machine(Some(letter))));
        expectations(findings.iter().filter(|finding| finding.claim.experiment == letter), &mut page);
        plots(letter, results, &mut page)?;
        if letter == 'K' && !pairs.is_empty() {
            show_pairs(&pairs, &mut page)?;
        }
        counters(letter, results, &mut page);
    }
    failures(results, &mut page);
    Ok(page)
}

fn about(results: &Results, page: &mut Page) {
    let run = &results.run;
    page.line(format_args!("# The laboratory on {}\n", run.gpu));
    page.line("Written by `cargo xtask measured` from `laboratory.jsonl`; docs/laboratory.md says how to read it.\n");
    if run.quick {
        page.line("**A dry run: too few repetitions to say anything.**\n");
    }
    page.line("| | |\n| --- | --- |");
    let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let date = date(run.began);
    let rows = [
        ("GPU", format!("{} (sm_{})", run.gpu, run.sm)),
        ("driver", run.driver.clone()),
        ("multiprocessors", run.processors.to_string()),
        ("L2", mebibytes(run.l2)),
        ("L2 that can be set aside", mebibytes(run.set_aside)),
        ("memory", mebibytes(run.memory)),
        ("date", date),
        ("made with", run.made_with.clone()),
        ("seed", run.seed.to_string()),
        ("repetitions of each variant", run.repetitions.to_string()),
        ("shared memory of a probe's multiprocessor", carve_out(run)),
        ("clocks while the thresholds were found", results.machine(None)),
        (
            "intervals",
            format!(
                "{:.0}% each (bootstrap of the median); verdicts are corrected for their number as Holm did",
                CONFIDENCE * 100.0
            ),
        ),
    ];
    for (name, value) in rows {
        page.line(format_args!("| {name} | {value} |"));
    }
    page.line("");
}

/// What the driver says that the probes leave to L1.
fn carve_out(run: &Run) -> String {
    let percent: BTreeSet<u32> = run.carve_out.values().copied().collect();
    let percent: Vec<String> = percent.iter().map(|percent| format!("{percent}%")).collect();
    if percent.is_empty() {
        "not known: the driver did not take what was asked".into()
    } else {
        format!("{} of the most", percent.join(", "))
    }
}

fn interval(found: Estimate) -> String {
    let digits = if found.middle.abs() >= 1000.0 { 0 } else { 3 };
    let number = |value: f64| format!("{value:.digits$}");
    format!("{} [{}, {}]", number(found.middle), number(found.low), number(found.high))
}

/// When hints pay.
fn pays(rows: &[Paid], page: &mut Page) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    page.line("## Which hint pays when\n");
    page.line(
        "The time of a kernel without some of its hints, by its time with all of them: above 1 the hints pay. Sizes are in \
         sizes of L2. What is within the noise, measured by running the same kernel as two variants, is no difference.\n",
    );
    page.line(
        "| Kernel | Size | Without | Time by time with all | Noise | |\n| --- | ---: | --- | ---: | ---: | --- |",
    );
    for row in rows {
        let says = match row.verdict {
            Verdict::Proved => "**pays**",
            Verdict::Refuted => "**costs**",
            _ => "no difference seen",
        };
        let (kernel, size, without) = (&row.kernel, &row.size, in_words(&row.without));
        page.line(format_args!(
            "| {kernel} | {size} | {without} | {} | ±{:.3} | {says} |",
            interval(row.ratio),
            row.floor
        ));
    }
    page.line("");
    let mut series: BTreeMap<String, Series> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.without == "all") {
        let line = series.entry(row.kernel.clone()).or_insert_with(|| (row.kernel.clone(), Vec::new()));
        line.1.extend(row.size.parse::<f64>().ok().map(|size| (size, row.ratio)));
    }
    let mut series: Vec<Series> = series.into_values().collect();
    series.iter_mut().for_each(|(_, points)| points.sort_by(|one, other| one.0.total_cmp(&other.0)));
    let frame = Frame {
        title: "Time without hints by time with them",
        x: "bytes of the problem, in sizes of L2",
        y: "ratio of times",
    };
    page.show("pays", "time without hints by time with them", lines(&frame, &series, true))
}

fn in_words(without: &str) -> &str {
    match without {
        "l1" => "`L1::` hints",
        "sizes" => "`L2::64B` to `L2::256B`",
        "policies" => "`L2::cache_hint`",
        "stores" => "hints of stores",
        "prefetches" => "prefetches",
        "all" => "any hint",
        other => other,
    }
}

fn expectations<'f>(findings: impl Iterator<Item = &'f Finding>, page: &mut Page) {
    let findings: Vec<&Finding> = findings.collect();
    if findings.is_empty() {
        return;
    }
    page.line("| Expected | Where | Found | Noise | |\n| --- | --- | ---: | ---: | --- |");
    for finding in findings {
        let of: Vec<_> =
            finding.of.iter().map(|(label, value)| format!("{} {value}", label.replace('_', " "))).collect();
        let found = finding.found.map_or("".to_owned(), interval);
        let floor = finding.floor.map_or(String::new(), |floor| format!("±{floor:.3}"));
        let says = finding.claim.says;
        page.line(format_args!("| {says} | {} | {found} | {floor} | **{}** |", of.join(", "), finding.verdict));
    }
    page.line("");
}

/// The median and the middle half of latencies.
fn spread(clocks: &BTreeMap<u32, u32>) -> Option<Estimate> {
    let all: u32 = clocks.values().sum();
    let at = |part: f64| {
        let mut below = 0;
        clocks.iter().find_map(|(clock, count)| {
            below += count;
            (f64::from(below) >= part * f64::from(all)).then_some(f64::from(*clock))
        })
    };
    Some(Estimate { middle: at(0.5)?, low: at(0.25)?, high: at(0.75)? })
}

fn latencies(results: &Results, page: &mut Page) -> Result<()> {
    if results.latencies.is_empty() {
        return Ok(());
    }
    page.line("## Where L1, L2 and memory part\n");
    let found = &results.thresholds;
    page.line("| Threshold | Clocks | On the wrong side |\n| --- | ---: | ---: |");
    for (name, cut) in [("L1 and L2", found.l1), ("near and far L2", found.far), ("L2 and memory", found.l2)] {
        let cells =
            cut.map_or(" not told apart | ".to_owned(), |cut| format!(" {:.0} | {:.1}%", cut.at, cut.wrong * 100.0));
        page.line(format_args!("| {name} |{cells} |"));
    }
    let other =
        found.other.map_or("no other multiprocessor is nearer to the lines that it is far from".to_owned(), |other| {
            format!("multiprocessor {other} is near to the lines that it is far from")
        });
    page.line(format_args!("\nProbes run on multiprocessor {}; {other}.\n", found.multiprocessor));
    let of = |place: &str| results.latencies.iter().filter(move |all| all.place == place).collect::<Vec<&Latencies>>();
    let part = |name: String, all: &Latencies| -> Series {
        const WIDE: u32 = 16;
        let mut counted: BTreeMap<u32, u32> = BTreeMap::new();
        all.clocks.iter().for_each(|(clock, count)| *counted.entry(clock / WIDE * WIDE).or_default() += count);
        let total: u32 = counted.values().sum();
        let point = |(clock, count): (u32, u32)| {
            let part = f64::from(count) / f64::from(total.max(1));
            (f64::from(clock) + f64::from(WIDE) / 2.0, Estimate { middle: part, low: part, high: part })
        };
        (name, counted.into_iter().map(point).filter(|(clock, _)| *clock < 2000.0).collect())
    };
    let names = [("l1", "L1"), ("l2", "L2"), ("memory", "memory")];
    let series = names.iter().flat_map(|(place, name)| {
        of(place).into_iter().map(move |all| part(format!("{name}, from SM {}", all.multiprocessor), all))
    });
    let frame = Frame { title: "Latencies of single loads", x: "clocks", y: "part of the loads" };
    page.show("latencies", "how often each latency was seen", lines(&frame, &series.collect::<Vec<_>>(), false))?;
    let l1 = of("l1 sweep").into_iter().filter_map(|all| Some((all.bytes as f64 / 1024.0, spread(&all.clocks)?)));
    let frame = Frame { title: "Latency of loads through L1", x: "KiB read before, by one thread", y: "clocks" };
    let l1: Vec<_> = l1.collect();
    let series = if l1.is_empty() { Vec::new() } else { vec![("median, middle half".to_owned(), l1)] };
    show_lines(page, "l1-sweep", &frame, &series, false)?;
    let sweep =
        of("sweep").into_iter().filter_map(|all| Some((all.bytes as f64 / f64::from(1 << 20), spread(&all.clocks)?)));
    let frame = Frame { title: "Latency of loads past L1", x: "MiB read before, over and over", y: "clocks" };
    let series = vec![("median, middle half".to_owned(), sweep.collect())];
    page.show("sweep", "latency by footprint", lines(&frame, &series, false))
}

/// The cases of an experiment with these labels, as a line for each value of `by`, along `x`.
fn along(results: &Results, of: (char, &str), labels: &[(&str, &str)], x: &str, by: &str, name: &str) -> Vec<Series> {
    let mut series: BTreeMap<String, Vec<(f64, Estimate)>> = BTreeMap::new();
    for case in results.with(of.0, labels) {
        let (Some(at), Some(line)) = (case.labels.get(x), case.labels.get(by)) else { continue };
        let (Ok(at), Some(found)) = (at.parse::<f64>(), results.estimate(case, of.1)) else { continue };
        series.entry(line.clone()).or_default().push((at, found));
    }
    let sorted = series.into_iter().map(|(line, mut points)| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        (format!("{name} {line}").trim().to_owned(), points)
    });
    sorted.collect()
}

/// The cases of an experiment, as a bar each.
fn each(
    results: &Results,
    of: (char, &str),
    labels: &[(&str, &str)],
    name: impl Fn(&About) -> String,
) -> Vec<(String, Estimate)> {
    results.with(of.0, labels).filter_map(|case| Some((name(case), results.estimate(case, of.1)?))).collect()
}

/// The values of a label of an experiment.
fn values(results: &Results, experiment: char, label: &str) -> BTreeSet<String> {
    results.with(experiment, &[]).filter_map(|case| case.labels.get(label).cloned()).collect()
}

fn plots(letter: char, results: &Results, page: &mut Page) -> Result<()> {
    let label = |case: &About, name: &str| case.labels.get(name).cloned().unwrap_or_default();
    match letter {
        'A' => {
            let name = |case: &About| format!("{}, {}", label(case, "kernel"), label(case, "language"));
            let all = each(results, ('A', "bytes_per_second"), &[], name);
            let frame = Frame { title: "Bandwidth", x: "bytes read and written a second", y: "" };
            show_bars(page, "a", &frame, &all)
        }
        'B' => {
            for size in values(results, 'B', "hot_size") {
                for hot in ["none", "last"] {
                    let labels = [("hot_size", size.as_str()), ("hot", hot)];
                    let series = along(results, ('B', "hits"), &labels, "stream_size", "stream", "stream:");
                    let under = if hot == "none" { "no hint" } else { "evict_last" };
                    let title = format!("A hot set of {size} L2, read under {under}, after a stream");
                    let frame = Frame { title: &title, x: "size of the stream, in sizes of L2", y: "part still in L2" };
                    show_lines(page, &format!("b-{size}-{hot}"), &frame, &series, true)?;
                }
            }
            Ok(())
        }
        'C' => {
            for size in values(results, 'C', "hot_size") {
                let labels = [("hot_size", size.as_str()), ("hot", "last"), ("stream", "none")];
                let series = along(results, ('C', "hits"), &labels, "aside", "stream_size", "stream, L2 ×");
                let title = format!("A hot set of {size} L2 under evict_last, a part of L2 set aside");
                let frame = Frame { title: &title, x: "part of what can be set aside", y: "part still in L2" };
                show_lines(page, &format!("c-{size}"), &frame, &series, false)?;
            }
            Ok(())
        }
        'D' => {
            let fraction = along(results, ('D', "hits"), &[("policy", "fraction")], "sixteenths", "policy", "");
            let frame =
                Frame { title: "evict_last for a fraction", x: "sixteenths of the lines", y: "part still in L2" };
            show_lines(page, "d-fraction", &frame, &fraction, false)?;
            let range = along(results, ('D', "hits"), &[("policy", "range")], "block", "policy", "");
            let title = "evict_last for the first half of a range";
            let frame = Frame { title, x: "sixteenth of the range", y: "part still in L2" };
            show_lines(page, "d-range", &frame, &range, false)
        }
        'E' => {
            let series = along(results, ('E', "hits"), &[], "sector", "size", "L2 size:");
            let title = "Sectors that are in L2 after the first one was loaded";
            let frame = Frame { title, x: "sector of 32 bytes", y: "part in L2" };
            show_lines(page, "e", &frame, &series, false)
        }
        'F' => {
            let name = |case: &About| format!("hot: {}, stream: {}", label(case, "hot"), label(case, "stream"));
            let all = each(results, ('F', "l1_hits"), &[("streamed", "yes")], name);
            let frame = Frame { title: "A hot set in L1 after a stream", x: "part still in L1", y: "" };
            show_bars(page, "f", &frame, &all)
        }
        'G' => {
            for place in ["l1", "l2", "memory", "shared"] {
                let all = each(results, ('G', "latency"), &[("place", place)], |case| label(case, "load"));
                let title = match place {
                    "l1" => "Latency where the line was loaded before".to_owned(),
                    place => format!("Latency of loads from {}", if place == "l2" { "L2" } else { place }),
                };
                let frame = Frame { title: &title, x: "clocks", y: "" };
                show_bars(page, &format!("g-{place}"), &frame, &all)?;
            }
            let all: Vec<_> = each(results, ('G', "l1_hits"), &[], |case| label(case, "then"));
            let all: Vec<_> = all.into_iter().filter(|(then, _)| !then.is_empty()).collect();
            let frame = Frame { title: "A hot set in L1 after one access or fence", x: "part still in L1", y: "" };
            show_bars(page, "g-then", &frame, &all)
        }
        'H' => {
            let name = |case: &About| {
                let discarded = if label(case, "discarded") == "yes" { ", then discarded" } else { "" };
                format!("stores: {}{discarded}", label(case, "store"))
            };
            let all = each(results, ('H', "after_seconds"), &[], name);
            let frame = Frame { title: "Reading what takes the place of lines that were written", x: "seconds", y: "" };
            show_bars(page, "h", &frame, &all)
        }
        'I' => {
            let all: Vec<_> = each(results, ('I', "clocks"), &[], |case| label(case, "prefetch"));
            let all: Vec<_> = all.into_iter().filter(|(name, _)| !name.is_empty()).collect();
            let frame = Frame { title: "Latency after a prefetch and two microseconds", x: "clocks", y: "" };
            show_bars(page, "i", &frame, &all)
        }
        _ => Ok(()),
    }
}

/// The pairs of experiment K.
fn show_pairs(all: &[Paired], page: &mut Page) -> Result<()> {
    let ratios: Vec<_> = all.iter().map(|pair| (pair.kernel.clone(), pair.ratio)).collect();
    let frame = Frame { title: "Time in Rust by time in CUDA C++", x: "below 1 Rust is faster", y: "" };
    page.show("k", frame.title, bars(&frame, &ratios, Some(1.0)))?;
    page.line(format_args!("{}\n\n{}", pairs::in_short(all), pairs::table(all)));
    Ok(())
}

fn show_bars(page: &mut Page, name: &str, frame: &Frame<'_>, all: &[(String, Estimate)]) -> Result<()> {
    if all.is_empty() { Ok(()) } else { page.show(name, frame.title, bars(frame, all, None)) }
}

fn show_lines(page: &mut Page, name: &str, frame: &Frame<'_>, series: &[Series], by_factors: bool) -> Result<()> {
    if series.is_empty() { Ok(()) } else { page.show(name, frame.title, lines(frame, series, by_factors)) }
}

fn counters(letter: char, results: &Results, page: &mut Page) {
    let own: Vec<_> = results.counters.iter().filter(|counter| counter.experiment == letter).collect();
    if own.is_empty() {
        return;
    }
    page.line("Counted by `ncu`, once, in sectors of 32 bytes for L2 and in bytes for memory:\n");
    let headings = METRICS.map(|(_, heading)| heading).join(" | ");
    page.line(format_args!("| Variant | Kernel | {headings} |\n| --- | --- |{}", " ---: |".repeat(METRICS.len())));
    // The counters of a launch are in the order of their names.
    let same = |one: &&Counter, next: &&Counter| {
        (&one.case, &one.kernel) == (&next.case, &next.kernel) && one.metric < next.metric
    };
    for launch in own.chunk_by(same) {
        let cells = METRICS.map(|(metric, _)| {
            let counter = launch.iter().find(|counter| counter.metric == metric);
            counter.map_or("-".to_owned(), |counter| format!("{:.0}", counter.value))
        });
        page.line(format_args!("| {} | {} | {} |", launch[0].case, launch[0].kernel, cells.join(" | ")));
    }
    page.line("");
}

fn failures(results: &Results, page: &mut Page) {
    if results.failures.is_empty() {
        return;
    }
    page.line("## What could not be measured\n\n| Experiment | Variant | Why |\n| --- | --- | --- |");
    for (experiment, case, why) in &results.failures {
        page.line(format_args!("| {experiment} | {case} | {} |", why.replace('\n', " ").replace('|', "\\|")));
    }
    page.line("");
}
