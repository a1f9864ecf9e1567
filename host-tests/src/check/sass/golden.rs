//! Machine code as a page: a line for all types and GPUs that agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::Family;

use crate::check::operands::family;
use crate::check::sass::text::{ranges, runs, stem};
use crate::check::sass::{Access, GPUS, MachineCode, Seen, Shape, trace};
use crate::tools::error::{Error, Result};
use crate::tools::target::{Release, Sm};

/// The pages of these accesses, by instruction.
pub fn pages(accesses: &[Access], seen: &Seen, release: Release) -> BTreeMap<String, String> {
    let mut by_instruction: BTreeMap<&str, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        by_instruction.entry(&access.instruction).or_default().push(access);
    }
    let page = |(name, own): (&str, Vec<&Access>)| (name.to_owned(), page(name, &own, seen, release));
    by_instruction.into_iter().map(page).collect()
}

fn page(name: &str, accesses: &[&Access], seen: &Seen, (major, minor): Release) -> String {
    let (forms, lines) = (accesses.len(), lines(accesses, seen));
    format!("# {name}: {forms} forms, assembled by CUDA {major}.{minor}\n{HEAD}{lines}")
}

const HEAD: &str = "\
# spelling without its type | bits of the type, or the type | sm_ | machine code | hints without a trace in it
# `.W` is the width: `.U8` `.S8` `.U16` `.S16`, nothing for 32 bits, `.64` `.128` `.256`.
# A spelling with `.L2::cache_hint` and no line is as the one without, + policy.
";

/// A line for all types and GPUs of a spelling that agree.
pub fn lines(accesses: &[&Access], seen: &Seen) -> String {
    let sms: Vec<Sm> = seen.keys().copied().collect();
    let mut order: Vec<&str> = Vec::new();
    let mut by_stem: BTreeMap<&str, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        let stem = stem(&access.ptx).0;
        if !by_stem.contains_key(stem) {
            order.push(stem);
        }
        by_stem.entry(stem).or_default().push(access);
    }
    let told = order.into_iter().filter(|stem| !by_stem[stem].iter().all(|access| only_adds_its_policy(access, seen)));
    told.map(|stem| stem_lines(stem, &by_stem[stem], &sms, seen)).collect()
}

const HINT: &str = ".L2::cache_hint";
const WITH_POLICY: &str = " + policy";

/// Whether a form has a policy, and on every GPU the machine code is that of the form without, with the policy.
fn only_adds_its_policy(access: &Access, seen: &Seen) -> bool {
    let without = access.ptx.replacen(HINT, "", 1);
    let same = |(sm, codes): (&Sm, &HashMap<String, MachineCode>)| {
        let Some(code) = codes.get(&access.ptx) else { return true };
        let plain = codes.get(&without).map(|plain| plain.line() + WITH_POLICY);
        plain == Some(code.line()) && trace::lost(&access.ptx, *sm, seen) == trace::lost(&without, *sm, seen)
    };
    without != access.ptx && seen.iter().all(same)
}

fn stem_lines(own_stem: &str, accesses: &[&Access], sms: &[Sm], seen: &Seen) -> String {
    // What a GPU shows of a type: the machine code, its width replaced, and what is lost.
    let mut cells: BTreeMap<(Sm, &str), String> = BTreeMap::new();
    for sm in sms {
        let own = accesses.iter().filter_map(|access| Some((access, seen[sm].get(&access.ptx)?)));
        let templates: BTreeSet<String> =
            own.clone().filter_map(|(access, code)| template(&access.ptx, &code.line())).collect();
        for (access, code) in own {
            let line = code.line();
            let without_width = || templates.iter().find(|template| template.replacen(".W", "", 1) == line).cloned();
            let shown = template(&access.ptx, &code.line()).or_else(without_width).unwrap_or(line);
            let lost = trace::lost(&access.ptx, *sm, seen).concat();
            let lost = if lost.is_empty() { lost } else { format!(" | no trace: {lost}") };
            cells.insert((*sm, stem(&access.ptx).1), shown + &lost);
        }
    }
    // The GPUs on which a type is shown so.
    let mut on: BTreeMap<(&str, &str), BTreeSet<Sm>> = BTreeMap::new();
    for ((sm, ty), shown) in &cells {
        on.entry((ty, shown)).or_default().insert(*sm);
    }
    let mut types: BTreeMap<(BTreeSet<Sm>, &str), BTreeSet<&str>> = BTreeMap::new();
    for ((ty, shown), sms) in &on {
        types.entry((sms.clone(), shown)).or_default().insert(ty);
    }
    let all: BTreeSet<&str> = accesses.iter().map(|access| stem(&access.ptx).1).collect();
    let lines = types.into_iter().map(|((on, shown), types)| {
        format!("{own_stem} | {} | {} | {shown}\n", type_names(&types, &all), ranges(&on, sms))
    });
    lines.collect()
}

/// How the machine spells the width of a type, and where nothing is said, nothing.
fn width(ptx: &str) -> &'static str {
    let shape = Shape::of(ptx);
    let signed = stem(ptx).1.contains('s') && (shape.lanes == 1 || family(ptx) == Some(Family::Load));
    match (shape.total(), signed) {
        (8, true) => ".S8",
        (8, false) => ".U8",
        (16, true) => ".S16",
        (16, false) => ".U16",
        (64, _) => ".64",
        (128, _) => ".128",
        (256, _) => ".256",
        _ => "",
    }
}

/// The line of the machine code with its width replaced by `.W`, where it shows one.
pub(super) fn template(ptx: &str, line: &str) -> Option<String> {
    let width = width(ptx);
    let at = |(at, _): (usize, &str)| !line[at + width.len()..].starts_with(|next: char| next.is_alphanumeric());
    let (at, _) = line.match_indices(width).filter(|_| !width.is_empty()).find(|found| at(*found))?;
    Some(format!("{}.W{}", &line[..at], &line[at + width.len()..]))
}

const BITS: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// `8-64,128`: the bits of the types, where all types of those bits are in it, else the types themselves.
pub(super) fn type_names(types: &BTreeSet<&str>, all: &BTreeSet<&str>) -> String {
    let bits = |ty: &str| Shape::of(ty).total();
    let of = |set: &BTreeSet<&str>, wanted: usize| set.iter().filter(|ty| bits(ty) == wanted).count();
    if all.contains("-") {
        return "-".into();
    }
    let present: Vec<usize> = BITS.into_iter().filter(|&bits| of(all, bits) > 0).collect();
    let whole: BTreeSet<usize> = present.iter().copied().filter(|&bits| of(types, bits) == of(all, bits)).collect();
    let named = types.iter().filter(|ty| !whole.contains(&bits(ty))).map(|ty| (*ty).to_owned());
    let spans = runs(&whole, &present);
    spans.into_iter().chain(named).collect::<Vec<_>>().join(",")
}

/// A line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row<'a> {
    stem: &'a str,
    types: &'a str,
    sms: &'a str,
    code: &'a str,
    lost: &'a str,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut parts = line.split(" | ");
        let mut next = || parts.next();
        let (stem, types, sms, code) = (next()?, next()?, next()?, next()?);
        Some(Row { stem, types, sms, code, lost: next().unwrap_or_default() })
    }
}

/// What a page says: the lines of each spelling.
#[derive(Debug)]
pub struct Page<'a> {
    rows: BTreeMap<&'a str, Vec<Row<'a>>>,
}

impl<'a> Page<'a> {
    /// Reads a page about all of [`GPUS`].
    pub fn read(text: &'a str) -> Result<Self> {
        let mut rows: BTreeMap<&str, Vec<Row<'_>>> = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let row = Row::read(line).ok_or_else(|| {
                Error::new(format_args!("line {} is not of this page's columns: {line}", number + 1))
                    .fix("run cargo xtask sass --write")
            })?;
            rows.entry(row.stem).or_default().push(row);
        }
        Ok(Page { rows })
    }

    /// The machine code that the page gives for a form on a GPU, and the hints that it says are not in it.
    pub fn look_up(&self, ptx: &str, sm: Sm) -> Option<(String, String)> {
        let (stem, ty) = stem(ptx);
        if stem.contains(HINT) && !self.rows.contains_key(stem) {
            let (code, lost) = self.look_up(&ptx.replacen(HINT, "", 1), sm)?;
            return Some((code + WITH_POLICY, lost));
        }
        let has_sm = |row: &&Row<'_>| row.sms.split(',').any(|run| within(run, sm));
        let rows: Vec<&Row<'_>> = self.rows.get(stem)?.iter().filter(has_sm).collect();
        let named = |row: &&&Row<'_>| row.types.split(',').any(|own| own == ty);
        let by_bits = |row: &&&Row<'_>| row.types.split(',').any(|run| within_bits(run, Shape::of(ty).total()));
        let row = rows.iter().find(named).or_else(|| rows.iter().find(by_bits))?;
        let lost = row.lost.strip_prefix("no trace: ").unwrap_or_default();
        // Without a type `.W` is a word of the machine code: along the width of an image.
        let code = if ty == "-" { row.code.to_owned() } else { row.code.replacen(".W", width(ptx), 1) };
        Some((code, lost.to_owned()))
    }
}

fn within(run: &str, sm: Sm) -> bool {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| GPUS.iter().map(ToString::to_string).collect());
    let at = |name: &str| NAMES.iter().position(|known| known["sm_".len()..] == *name);
    let (first, last) = run.split_once('-').unwrap_or((run, run));
    let own = GPUS.iter().position(|known| *known == sm);
    at(first).zip(at(last)).zip(own).is_some_and(|((first, last), own)| (first..=last).contains(&own))
}

fn within_bits(run: &str, bits: usize) -> bool {
    let (first, last) = run.split_once('-').unwrap_or((run, run));
    let read = |text: &str| text.parse::<usize>().ok();
    read(first).zip(read(last)).is_some_and(|(first, last)| (first..=last).contains(&bits))
}

/// How many forms on GPUs were looked at, and what the pages say otherwise than what was seen, a line each.
pub fn disagreements(
    pages: &BTreeMap<String, String>,
    accesses: &[Access],
    seen: &Seen,
) -> Result<(usize, Vec<String>)> {
    let read: BTreeMap<&str, Page<'_>> =
        pages.iter().map(|(name, text)| Ok((name.as_str(), Page::read(text)?))).collect::<Result<_>>()?;
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for access in accesses {
        for (sm, codes) in seen {
            let Some(code) = codes.get(&access.ptx) else { continue };
            looked_at += 1;
            let expected = (code.line(), trace::lost(&access.ptx, *sm, seen).concat());
            let found = read.get(access.instruction.as_str()).and_then(|page| page.look_up(&access.ptx, *sm));
            if found.as_ref() != Some(&expected) {
                wrong.push(format!("{} on {sm}: {expected:?} was seen, and the page says {found:?}", access.ptx));
            }
        }
    }
    Ok((looked_at, wrong))
}
