//! What a page of rustdoc says of PTX is what the catalogue has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use host_tests::check::forms::{self, Syntax};
use ptx_intrinsics::caching::{L1PriorityWord, L2PriorityWord, OperatorWord, PrefetchSizeWord};
use ptx_intrinsics::catalogue::Form;
use ptx_intrinsics::order::OrderWord;
use ptx_intrinsics::scope::ScopeWord;
use ptx_intrinsics::space::SpaceWord;
use regex::Regex;

/// Functions whose page says what they are in PTX, and what they need, at least.
const FUNCTIONS: usize = 130;
/// Markers whose page does, at least.
const MARKERS: usize = 17;

/// What a page says in place of words that a parameter chooses, as a pattern.
const CHOSEN: [(&str, &str); 14] = [
    (r"\{", "("),
    (r"\}", ")?"),
    ("…", r"\d+"),
    (r"\.cop", r"\.(c[agsv]|lu)"),
    (r"\.vec", r"\.v[248]"),
    (r"\.type", r"(\.v[248])?\.[bfsu]\d+"),
    (r"\.sem", r"\.(relaxed|acquire|release)"),
    (r"\.scope", r"\.(cta|cluster|gpu|sys)"),
    (r"\.dim", r"\.[1-5]d"),
    (r"\.cta_group", r"\.cta_group::[12]"),
    ("primary", r"evict_\w+"),
    ("secondary", r"evict_\w+"),
    ("eviction_priority", r"evict_\w+"),
    ("prefetch_size", r"\d+B"),
];

/// What pages call a result.
const RESULTS: [&str; 21] = [
    "_", "address", "all", "count", "cycles", "d", "done", "elected", "found", "lane", "lanes", "p", "policy", "rank",
    "same", "state", "there", "time", "x", "y", "z",
];
/// What they call a parameter of a function's type.
const SIZES: [&str; 5] = ["FILL", "LAYOUT", "N", "REGISTERS", "size"];
/// What loads and stores have, of which the catalogue says no parameters.
const OF_ACCESSES: &str = "p: *const T, value: T";

/// A page: its item's name, whether it is of a function, and its text.
pub(crate) struct Page<'d> {
    pub(crate) name: &'d str,
    pub(crate) is_function: bool,
    pub(crate) text: &'d str,
}

/// What a function makes.
struct Made {
    /// The PTX of each form, and whether its qualifiers are taken one after the other.
    forms: BTreeSet<(String, bool)>,
    /// The oldest SM and PTX ISA version that have one of them.
    begins: (u32, u32),
    /// What the parameters of its calls are called.
    parameters: BTreeSet<String>,
}

fn made(forms: &[Arc<Form>]) -> BTreeMap<String, Made> {
    let mut made: BTreeMap<String, Made> = BTreeMap::new();
    for case in forms::cases(forms) {
        if !matches!(case.syntax, Syntax::Plain | Syntax::Cuda(_)) {
            continue;
        }
        let rust = case.rust();
        let Some(name) = forms::calls(&rust).first().copied() else { continue };
        // One that takes the qualifiers one after the other has a page of its plain form alone.
        let chained = rust.contains(").");
        let of = made.entry(name.to_owned()).or_insert_with(|| Made {
            forms: BTreeSet::new(),
            begins: (u32::MAX, u32::MAX),
            parameters: BTreeSet::new(),
        });
        let parameters = case.form.signature().map_or(OF_ACCESSES, |signature| signature.parameters);
        let names = parameters.split(", ").filter_map(|parameter| Some(parameter.split_once(':')?.0.to_owned()));
        of.parameters.extend(names);
        of.forms.insert((case.form.ptx().to_owned(), chained));
        of.begins = (of.begins.0.min(case.form.min_sm()), of.begins.1.min(case.form.min_ptx()));
    }
    made
}

/// The word of PTX of each marker that has one.
pub(crate) fn words() -> BTreeMap<String, &'static str> {
    let l1 = L1PriorityWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let l2 = L2PriorityWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let operators = OperatorWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let sizes = PrefetchSizeWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let orders = OrderWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let scopes = ScopeWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    let spaces = SpaceWord::ALL.iter().map(|word| (format!("{word:?}"), word.ptx()));
    l1.chain(l2).chain(operators).chain(sizes).chain(orders).chain(scopes).chain(spaces).collect()
}

/// The instructions that a page says the item is.
fn said(text: &str) -> Vec<&str> {
    let Some((_, rest)) = text.split_once("PTX: `") else { return Vec::new() };
    let paragraph = rest.split("\n\n").next().unwrap_or_default();
    paragraph.split('`').step_by(2).filter(|span| span.ends_with(';')).collect()
}

/// A register that we put between the instruction and the caller's operand: nothing that a reader knows. Only a predicate
/// that is the result, and the special registers, have no other name.
fn own_register(said: &str) -> Option<&str> {
    let at = said.find('%')?;
    said[at..]
        .split([']', ',', ';'])
        .next()
        .filter(|name| !matches!(*name, "%done" | "%clock" | "%clock64" | "%globaltimer"))
}

/// A name among the operands that is neither a parameter's nor, as the first of them, a result's.
pub(crate) fn stranger<'s>(said: &'s str, parameters: &BTreeSet<String>) -> Option<&'s str> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*").expect("the pattern is valid"));
    let (_, operands) = said.split_once(' ')?;
    // `{x, y, z, _}`: four results; `lanes|same`: two.
    let results = match operands.split(',').next() {
        Some(first) if first.starts_with('{') => operands.split('}').next().map_or(1, |all| all.split(',').count()),
        Some(first) if first.contains('|') => 2,
        _ => 1,
    };
    let is_special = |name: &str| operands.contains(&format!("%{name}"));
    let is_known = |at: usize, name: &str| {
        parameters.contains(name)
            || SIZES.contains(&name)
            || is_special(name)
            || at < results && RESULTS.contains(&name)
    };
    let mut names = NAME.find_iter(operands).map(|name| name.as_str()).enumerate();
    names.find(|(at, name)| !is_known(*at, name)).map(|(_, name)| name)
}

/// The gate that a page says first: that of the item without what its parameters add.
fn said_gate(text: &str) -> Option<(u32, u32)> {
    static GATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Needs sm_(\d+)[af]?(?:,? (?:or )?sm_\d+[af])*,? and ptx(\d+)\.").expect("the pattern is valid")
    });
    let said = GATE.captures(text)?;
    Some((said[1].parse().ok()?, said[2].parse().ok()?))
}

fn pattern(said: &str) -> Regex {
    Regex::new(&format!("^{}$", chosen(said))).expect("the pattern is valid")
}

/// What a text stands for.
pub(crate) fn chosen(said: &str) -> String {
    CHOSEN.iter().fold(regex::escape(said), |text, (word, pattern)| text.replace(word, pattern))
}

/// What is wrong with the pages of functions and of markers.
pub(crate) fn wrong<'d>(pages: impl Iterator<Item = Page<'d>>, forms: &[Arc<Form>]) -> Vec<String> {
    let (made, words) = (made(forms), words());
    let (mut wrong, mut functions, mut gated, mut markers) = (Vec::new(), 0, 0, 0);
    for Page { name, is_function, text } in pages {
        if let (true, Some(Made { forms, begins, parameters })) = (is_function, made.get(name)) {
            let gate = said_gate(text);
            gated += usize::from(gate.is_some());
            // With the order that is PTX's own, `mbarrier_arrive_as` is `mbarrier_arrive`.
            let plain = name.strip_suffix("_as").and_then(|name| made.get(name));
            let begins = plain.map_or(begins, |plain| &plain.begins);
            let other = gate.filter(|gate| gate != begins);
            wrong.extend(other.map(|gate| difference(name, &format!("{begins:?}"), &format!("{gate:?}"))));
            let said = said(text);
            functions += usize::from(!said.is_empty());
            let own = said.iter().find_map(|said| own_register(said));
            wrong.extend(own.map(|own| difference(name, "an operand", own)));
            let stranger = said.iter().find_map(|said| stranger(said, parameters));
            wrong.extend(stranger.map(|stranger| difference(name, &format!("an operand of {parameters:?}"), stranger)));
            let said: Vec<&str> = said.iter().filter_map(|said| said.split([' ', ';']).next()).collect();
            wrong.extend(wrong_function(name, &said, forms));
        } else if let (false, Some(word)) = (is_function, words.get(name))
            && let Some((_, rest)) = text.split_once("PTX: `")
        {
            let said = rest.split('`').next().unwrap_or_default();
            markers += 1;
            wrong.extend((said != *word).then(|| difference(name, word, said)));
        }
    }
    let enough = functions >= FUNCTIONS && gated >= FUNCTIONS && markers >= MARKERS;
    wrong.extend((!enough).then(|| {
        format!(
            "{functions} functions and {markers} markers say what they are in PTX, {gated} functions what they need"
        )
    }));
    wrong
}

/// Each form of a function is one that its page says, and none is said that it does not make.
fn wrong_function(name: &str, said: &[&str], forms: &BTreeSet<(String, bool)>) -> Option<String> {
    if said.is_empty() {
        return None;
    }
    let patterns: Vec<Regex> = said.iter().map(|said| pattern(said)).collect();
    let is_made = |pattern: &Regex| forms.iter().any(|(ptx, _)| pattern.is_match(ptx));
    let is_said = |ptx: &str| patterns.iter().any(|pattern| pattern.is_match(ptx));
    let unsaid = forms.iter().find(|(ptx, chained)| !chained && !is_said(ptx));
    let right = patterns.iter().all(is_made) && unsaid.is_none();
    let (first, _) = unsaid.or(forms.first())?;
    (!right).then(|| difference(name, first, &said.join(", ")))
}

/// What is wrong with a text.
pub(crate) fn difference(place: &str, expected: &str, found: &str) -> String {
    format!("{place}: expected {expected}, found {found}")
}
