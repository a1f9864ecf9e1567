//! What was found, as a person reads it, or as JSON.

use std::collections::{BTreeSet, HashMap};

use ptx_build::error::Result;
use ptx_build::program::print;
use ptx_interpreter::{Call, Finding, Place, Record};
use serde_json::{Value, json};

use crate::names::{readable, readable_in};
use crate::orders::Orders;

/// A finding, as often as it was found.
struct Shown<'r> {
    /// The first launch and seed that showed it.
    first: &'r Record,
    finding: Finding,
    /// With the names of its functions as they were written.
    named: Finding,
    /// The instances of its kernel that showed it.
    kernels: BTreeSet<&'r str>,
}

impl<'r> Shown<'r> {
    fn new(first: &'r Record, finding: &Finding) -> Shown<'r> {
        let kernels = BTreeSet::from([&*first.kernel]);
        Shown { first, finding: finding.clone(), named: named(finding), kernels }
    }

    /// Whether a finding of a kernel, or what has its cause, is this one. Instances of a template have the lines of their source in common.
    fn is(&self, other: &Shown<'_>, names: &Names<'_>) -> bool {
        let (one, that) = (&*self.first.kernel, &*other.first.kernel);
        one == that && any(&self.finding, &other.finding, same)
            || names[one] == names[that] && any(&self.named, &other.named, Finding::is_of_the_lines_of)
    }

    /// What has the cause of another one has this one's, as far as it is not known.
    fn take(&mut self, other: Shown<'r>, names: &Names<'_>) {
        let times = self.named.times + other.named.times;
        self.kernels.extend(&other.kernels);
        let all = [other.finding, other.named].map(|mut finding| finding.take_apart());
        let [finding, named] = all;
        for (finding, named) in finding.into_iter().zip(named) {
            let kernels = BTreeSet::new();
            let one = Shown { first: other.first, finding, named, kernels };
            if !self.is(&one, names) {
                self.finding.further.push(one.finding);
                self.named.further.push(one.named);
            }
        }
        self.named.times = times;
    }
}

/// Whether a finding, or what has its cause, is another one, or what has that one's.
fn any(one: &Finding, other: &Finding, is: impl Fn(&Finding, &Finding) -> bool) -> bool {
    one.and_further().any(|one| other.and_further().any(|other| is(one, other)))
}

/// The readable names of kernels: instances of a template have one.
type Names<'r> = HashMap<&'r str, String>;

/// Prints every finding of a kernel once, with the first launch and seed that showed it; then a line for each kernel. `orders` says
/// how many were asked for, of one kernel.
pub(crate) fn print_all(records: &[Record], orders: Option<&Orders>, as_json: bool) -> Result<()> {
    let all: BTreeSet<&str> = records.iter().map(|record| &*record.kernel).collect();
    let names: Names<'_> = all.into_iter().map(|kernel| (kernel, readable(kernel))).collect();
    let shown = shown(records, &names);
    let several = records.iter().any(|record| record.launch > 1);
    let mut page = String::new();
    for one in &shown {
        let Record { kernel, launch, seed, .. } = one.first;
        let instances = match one.kernels.len() {
            1 => String::new(),
            count => format!(", one of {count} instances"),
        };
        page += &match (as_json, several) {
            (true, _) => format!("{}\n", line(one, orders)),
            (false, _) if *launch == 0 => format!("{}\n", one.named),
            (false, true) => {
                let (kernel, launch) = (&names[&**kernel], one.first.title());
                format!("{}  ({launch}: {kernel}{instances}, seed {seed})\n\n", one.named)
            }
            (false, false) => format!("{}  (seed {seed})\n\n", one.named),
        };
    }
    if !as_json {
        page += &summaries(records, &shown, &names, orders);
    }
    print(&page)
}

/// A line for each kernel, in the order of their first launches.
fn summaries(records: &[Record], shown: &[Shown<'_>], names: &Names<'_>, orders: Option<&Orders>) -> String {
    let mut kernels: Vec<&str> = Vec::new();
    for record in records.iter().filter(|record| record.is_of_work()) {
        let name = &*names[&*record.kernel];
        if !kernels.contains(&name) {
            kernels.push(name);
        }
    }
    let of_kernel = |name: &str| {
        let is_of = |record: &&Record| names[&*record.kernel] == name && !record.is_unchecked;
        let of: Vec<&Record> = records.iter().filter(is_of).collect();
        let is_about = |one: &&Shown<'_>| {
            names[&*one.first.kernel] == name || of.iter().any(|record| is_named(&one.finding, &record.kernel))
        };
        summary(name, &of, orders, shown.iter().filter(is_about).count())
    };
    kernels.into_iter().map(of_kernel).collect()
}

fn shown<'r>(records: &'r [Record], names: &Names<'_>) -> Vec<Shown<'r>> {
    let mut shown: Vec<Shown<'r>> = Vec::new();
    for record in records {
        for finding in &record.findings {
            let mut new = Shown::new(record, finding);
            match shown.iter_mut().find(|one| one.is(&new, names)) {
                Some(one) => {
                    // What ends the launch in one order says more than what did not in others.
                    if finding.hangs() && !one.finding.hangs() {
                        std::mem::swap(one, &mut new);
                    }
                    one.take(new, names);
                    if one.first.launch == record.launch && record.seed < one.first.seed {
                        one.first = record;
                    }
                }
                None => shown.push(new),
            }
        }
    }
    fold(&mut shown);
    shown
}

/// What is gone with another finding is counted there.
fn fold(shown: &mut Vec<Shown<'_>>) {
    for at in (0..shown.len()).rev() {
        let one = &shown[at].finding;
        let needs = |(other, less): &(usize, &Shown<'_>)| {
            let is_less = less.finding.places.len() < one.places.len() || *other < at;
            *other != at && is_less && one.needs_what(&less.finding)
        };
        if let Some((other, _)) = shown.iter().enumerate().find(needs) {
            let gone = shown.remove(at);
            let left = &mut shown[if other > at { other - 1 } else { other }];
            left.named.times += gone.named.times;
            left.kernels.extend(gone.kernels);
        }
    }
}

/// What of the orders of a kernel is missing; beside JSON, to standard error.
pub(crate) fn missing(kernel: &str, orders: &Orders, as_json: bool) -> Result<()> {
    printed(&orders.missing(kernel), as_json)
}

/// What launches leave that is compared with nothing, once for each kernel and reason; beside JSON, to standard error.
pub(crate) fn uncompared(records: &[Record], as_json: bool) -> Result<()> {
    let mut told = BTreeSet::new();
    let mut lines = String::new();
    for Record { kernel, launch, uncompared, .. } in records {
        if let Some(why) = uncompared.as_ref().filter(|why| told.insert((kernel, *why))) {
            lines += &format!("{}: launch {launch}: {why}\n", readable(kernel));
        }
    }
    printed(&lines, as_json)
}

/// How many launches were not checked, as the user has asked; beside JSON, to standard error.
pub(crate) fn unchecked(records: &[Record], as_json: bool) -> Result<()> {
    let unchecked = || records.iter().filter(|record| record.is_unchecked);
    let kernels: BTreeSet<String> = unchecked().map(|record| readable(&record.kernel)).collect();
    match unchecked().count() {
        0 => Ok(()),
        count => {
            printed(&format!("not checked: {} of {}\n", of(count, "launch"), of(kernels.len(), "kernel")), as_json)
        }
    }
}

/// Says what is no finding and should be known.
pub(crate) fn warn(text: &str) {
    eprintln!("{} {text}", console::style("warning:").yellow().bold().for_stderr());
}

/// What the kernel printed; beside JSON, to standard error.
pub(crate) fn printed(text: &str, as_json: bool) -> Result<()> {
    if as_json {
        eprint!("{text}");
        return Ok(());
    }
    print(text)
}

/// `1 call`, `2 calls`
fn of(count: usize, one: &str) -> String {
    let ending = if one.ends_with("ch") { "es" } else { "s" };
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}{ending}") }
}

/// `scale: no findings in 3 launches, each in 1 order of its threads, 18434 instructions`
fn summary(name: &str, records: &[&Record], orders: Option<&Orders>, findings: usize) -> String {
    let found = if findings == 0 { "no findings".to_owned() } else { of(findings, "finding") };
    let instances = records.iter().map(|record| &record.kernel).collect::<BTreeSet<_>>().len();
    let name = if instances > 1 { format!("{name} ({instances} instances)") } else { name.to_owned() };
    if records.iter().all(|record| record.is_library) {
        return format!("{name}: {found} in {}\n", of(records.len(), "call"));
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
    format!("{name}: {found} in {ran} of its threads, {instructions} instructions{compared}\n")
}

/// A finding with the names of its functions as they were written.
fn named(finding: &Finding) -> Finding {
    let mut finding = finding.clone();
    for place in finding.all_places() {
        place.function = readable(&place.function);
        place.callers.iter_mut().for_each(|call| call.function = readable(&call.function));
    }
    finding.title = readable_in(&finding.title);
    finding.notes.iter_mut().for_each(|note| *note = readable_in(note));
    finding
}

/// Whether a finding is also about a kernel that it was not found in.
fn is_named(finding: &Finding, kernel: &str) -> bool {
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

fn line(shown: &Shown<'_>, orders: Option<&Orders>) -> Value {
    let Shown { first: record, finding, named, kernels } = shown;
    let mut line = json!({
        "kernel": record.kernel,
        "kernels": kernels,
        "launch": record.launch,
        "kind": finding.kind.word(),
        "title": finding.title,
        "places": finding.places.iter().map(place).collect::<Vec<_>>(),
        "notes": finding.notes,
        "help": finding.help,
        "times": named.times,
        "further": finding.further.iter().map(further).collect::<Vec<_>>(),
        "seed": record.seed,
    });
    if let Some(orders) = orders {
        line["orders"] = orders.json();
    }
    line
}

/// What has the cause of a finding.
fn further(finding: &Finding) -> Value {
    json!({
        "title": finding.title,
        "places": finding.places.iter().map(place).collect::<Vec<_>>(),
        "times": finding.times,
    })
}

fn place(place: &Place) -> Value {
    let (file, line) = place.source.clone().unzip();
    json!({
        "block": place.block,
        "thread": place.thread,
        "function": place.function,
        "gpu": place.gpu,
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
