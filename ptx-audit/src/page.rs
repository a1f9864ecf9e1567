//! The audit as one page of HTML: source, PTX and machine code beside each other. It needs no network.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use ptx_sass::nvdisasm::SassFunction;
use serde_json::{Value, json};

use crate::fate::Fate;
use crate::finding::{Finding, Kind};
use crate::ptx::Module;
use crate::report::{Kernel, Record};
use crate::source::{Place, Text};

/// A kernel with its code, as the page shows it.
#[derive(Debug)]
pub struct Sheet {
    /// What was found.
    pub record: Record,
    /// The kernel's name as its source spells it.
    pub shown: String,
    /// Its machine code.
    pub code: SassFunction,
    /// The registers that are live at each address, where nvdisasm said it.
    pub live: BTreeMap<u64, u32>,
    /// The PTX that it was assembled from.
    pub text: Option<Rc<Text>>,
}

/// How many lines of a source are shown around those that code came from.
const AROUND: u32 = 3;

/// The page. `source` gives the text of a source file, if it is there.
pub fn page(title: &str, sheets: &[Sheet], source: impl Fn(&str) -> Option<String>) -> String {
    let data = data(sheets, source).to_string().replace('<', "\\u003c");
    let title: String = title.chars().flat_map(escaped).collect();
    let parts = [
        ("@style@", include_str!("page/page.css")),
        ("@script@", include_str!("page/page.js")),
        ("@title@", &title),
        // Last, so that nothing in it is taken for a place to fill.
        ("@data@", &data),
    ];
    parts.iter().fold(include_str!("page/page.html").to_owned(), |page, (name, part)| page.replace(name, part))
}

fn escaped(c: char) -> Vec<char> {
    match c {
        '<' => "&lt;".chars().collect(),
        '&' => "&amp;".chars().collect(),
        c => vec![c],
    }
}

/// The files of source that are shown, in the order in which they were met, and the lines of each that code came from.
#[derive(Default)]
struct Sources {
    names: Vec<String>,
    lines: Vec<BTreeSet<u32>>,
}

impl Sources {
    fn at(&mut self, place: &Place) -> usize {
        let at = self.names.iter().position(|name| *name == place.file).unwrap_or_else(|| {
            self.names.push(place.file.clone());
            self.lines.push(BTreeSet::new());
            self.names.len() - 1
        });
        self.lines[at].insert(place.line);
        at
    }

    fn json(&self, source: impl Fn(&str) -> Option<String>) -> Vec<Value> {
        let shown = |(name, lines): (&String, &BTreeSet<u32>)| {
            let (first, last) = (lines.first().copied().unwrap_or(1), lines.last().copied().unwrap_or(1));
            let first = first.saturating_sub(AROUND).max(1);
            let text = source(name).unwrap_or_default();
            let own = text.lines().skip(first as usize - 1).take((last + AROUND - first + 1) as usize);
            json!({"name": name, "first": first, "lines": own.collect::<Vec<_>>()})
        };
        self.names.iter().zip(&self.lines).map(shown).collect()
    }
}

fn data(sheets: &[Sheet], source: impl Fn(&str) -> Option<String>) -> Value {
    let mut texts: Vec<&Rc<Text>> = Vec::new();
    let mut modules: Vec<Module> = Vec::new();
    let mut sources = Sources::default();
    let mut shown = Vec::new();
    // A function that a kernel calls is shown if there is something to tell.
    let told = |sheet: &&Sheet| !sheet.record.kernel.name.contains('$') || !sheet.record.kernel.findings.is_empty();
    for sheet in sheets.iter().filter(told) {
        let text = sheet.text.as_ref().map(|text| {
            texts.iter().position(|known| Rc::ptr_eq(known, text)).unwrap_or_else(|| {
                texts.push(text);
                modules.push(Module::read(&text.ptx));
                texts.len() - 1
            })
        });
        let lines = text.and_then(|at| lines(&modules[at], &sheet.record.kernel.name, &texts[at].ptx));
        shown.push(one(sheet, text, lines, &mut sources));
    }
    let files: Vec<Vec<&str>> = texts.iter().map(|text| text.ptx.lines().collect()).collect();
    json!({"files": files, "sources": sources.json(source), "sheets": shown})
}

/// The first and the last line of a function.
fn lines(module: &Module, name: &str, text: &str) -> Option<(u32, u32)> {
    let at = module.functions.iter().position(|function| function.name == name)?;
    let next = module.functions.get(at + 1).map(|function| function.line - 1);
    Some((module.functions[at].line, next.unwrap_or(text.lines().count() as u32)))
}

fn one(sheet: &Sheet, text: Option<usize>, lines: Option<(u32, u32)>, sources: &mut Sources) -> Value {
    let Sheet { record, shown, code, live, .. } = sheet;
    let kernel = &record.kernel;
    let used = code.instructions.iter().filter_map(|one| one.ptx_line).collect::<BTreeSet<u32>>();
    let places = sheet.text.as_ref().map(|text| text.places(used.into_iter())).unwrap_or_default();
    let places: Vec<Value> = places.iter().map(|(line, place)| json!([line, sources.at(place), place.line])).collect();
    let hot = hot(kernel, code);
    let instructions = code.instructions.iter().map(|one| {
        let mut row = vec![
            json!(one.address),
            json!(one.text),
            json!(one.ptx_line.unwrap_or(0)),
            json!(u8::from(hot.contains(&one.address))),
            json!(live.get(&one.address)),
        ];
        row.extend(one.source.as_ref().map(|own| {
            let place = Place { file: own.file.to_string(), line: own.line, column: 0 };
            json!([sources.at(&place), own.line])
        }));
        Value::from(row)
    });
    let code: Vec<Value> = instructions.collect();
    let words = kernel.accesses.iter().filter(|access| !access.words.is_empty()).map(|access| {
        let words = access.words.iter().map(|word| match &word.fate {
            Fate::Kept => json!([word.word, "kept"]),
            Fate::Lost => json!([word.word, "lost"]),
            Fate::Default => json!([word.word, "default"]),
            Fate::Weakened(to) => json!([word.word, "weakened", to]),
        });
        json!([access.ptx_line, words.collect::<Vec<_>>()])
    });
    let words: Vec<Value> = words.collect();
    let (from, to) = lines.unwrap_or((1, 0));
    json!({
        "kernel": shown, "file": record.file, "made": record.made(), "text": text, "from": from, "to": to,
        "registers": kernel.registers, "stack": kernel.stack, "spilled": kernel.spilled, "loads": kernel.loads,
        "in_flight": kernel.in_flight, "weakened": kernel.weakened(), "lost": kernel.lost(), "code": code, "places": places,
        "words": words, "findings": findings(&kernel.findings),
    })
}

/// The addresses of the hot loop; none if there is no loop.
fn hot(kernel: &Kernel, code: &SassFunction) -> BTreeSet<u64> {
    let hot = ptx_sass::hot_loop::hot_loop(&code.instructions).filter(|_| kernel.has_loop);
    hot.into_iter().flatten().map(|one| one.address).collect()
}

/// The findings of a kernel: those of one text are one, with all their places.
fn findings(all: &[Finding]) -> Vec<Value> {
    let mut groups: Vec<(&Finding, Vec<Value>)> = Vec::new();
    let mut known: HashMap<(Kind, &str), usize> = HashMap::new();
    for finding in all {
        let at = *known.entry((finding.kind, &finding.text)).or_insert_with(|| {
            groups.push((finding, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(json!([finding.ptx_line, finding.address]));
    }
    let told = groups.into_iter().map(|(finding, places)| {
        json!({
            "kind": finding.kind, "level": finding.kind.level(), "text": finding.text, "help": finding.kind.help(),
            "places": places,
        })
    });
    told.collect()
}
