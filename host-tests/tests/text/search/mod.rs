//! rustdoc's search finds every instruction and every qualifier by the word that PTX has for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use host_tests::check::forms;
use host_tests::check::forms_check::every_form;
use host_tests::check::sass::golden::Page;
use host_tests::check::sass::pages;
use host_tests::tools::command::{Command, Machine};
use host_tests::tools::target::Sm;
use ptx_intrinsics::caching::{L1PriorityWord, L2PriorityWord, OperatorWord, PrefetchSizeWord};
use ptx_intrinsics::catalogue::{Form, Operation};
use ptx_intrinsics::order::OrderWord;
use ptx_intrinsics::scope::ScopeWord;
use ptx_intrinsics::space::SpaceWord;
use regex::Regex;

/// What a search has to find, at least: fewer words mean that the catalogue was not read.
const WORDS: usize = 120;

/// Words after which an opcode says where, in what order, and how wide, and no longer what it does.
const DETAILS: [&str; 23] = [
    "L1",
    "L2",
    "1d",
    "acq_rel",
    "acquire",
    "bulk_group",
    "cluster",
    "const",
    "cta",
    "gl",
    "global",
    "gpu",
    "im2col",
    "local",
    "param",
    "read",
    "relaxed",
    "release",
    "shared",
    "sys",
    "tensor",
    "tensormap",
    "unified",
];

#[test]
fn every_word_of_ptx_is_found() {
    let found = found();
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for form in every_form() {
        for word in wanted(&form) {
            words.entry(word).or_insert_with(|| form.ptx().to_owned());
        }
    }
    let missing: Vec<String> = words
        .iter()
        .filter(|(word, _)| !found.contains(&word.to_lowercase()))
        .map(|(word, ptx)| format!("{word}, a word of {ptx}"))
        .collect();
    assert!(
        missing.is_empty(),
        "rustdoc's search does not find these; give an item a #[doc(alias = \"…\")]:\n{}",
        missing.join("\n")
    );
    assert!(words.len() >= WORDS, "words in the catalogue: {}", words.len());
}

/// What a user types who looks for this form: the instruction, and each qualifier that is named after a cache or a space.
fn wanted(form: &Form) -> Vec<String> {
    let opcode = form.ptx().split(' ').next().unwrap_or_default();
    let mut wanted = vec![form.instruction().to_owned()];
    wanted.extend(opcode.split('.').filter(|word| word.contains("::")).map(str::to_owned));
    if form.element().is_none() && !form.is_atomic() && !form.is_multimem() {
        wanted.push(what_it_does(opcode));
    }
    wanted
}

/// The words of an opcode up to its details: `mbarrier.try_wait.parity` of `mbarrier.try_wait.parity.shared.b64`. An
/// order that a fence begins with is what it does.
fn what_it_does(opcode: &str) -> String {
    let is_type = Regex::new(r"^[busf]\d+$").expect("the pattern is valid");
    let mut words = opcode.split('.');
    let mut kept = vec![words.next().unwrap_or_default()];
    for word in words {
        let is_order_of_fence = kept == ["fence"];
        let is_detail = word.contains("::") || is_type.is_match(word) || DETAILS.contains(&word);
        if is_detail && !(is_order_of_fence && !word.contains("::")) {
            break;
        }
        kept.push(word);
    }
    kept.join(".")
}

/// Each marker has a page that shows it: an example, its PTX with its machine code as in `docs/sass`, and what takes it.
#[test]
fn the_page_of_each_marker_shows_it() {
    let forms = every_form();
    let takers = takers(&forms);
    let row = Regex::new(r"\| PTX \| Machine code of sm_(\d+) \|\n\| --- \| --- \|\n\| `([^`]+)` \| `([^`]+)` \|")
        .expect("the pattern is valid");
    let taken = Regex::new(r"\(crate::(\w+)\(\)\)").expect("the pattern is valid");
    let kept = pages::kept().expect("the pages are there");
    let texts = kept.iter().filter_map(|(name, text)| Some((name.strip_suffix(".txt")?, text)));
    let pages: BTreeMap<&str, Page<'_>> =
        texts.map(|(name, text)| (name, Page::read(text).expect("it is a page"))).collect();
    let mut wrong = Vec::new();
    for marker in markers() {
        let docs = docs_of(&marker);
        if !docs.contains("```\nuse ptx_intrinsics::prelude::*;") {
            wrong.push(format!("{marker} has no example: give its row one, see isa/page.rs"));
            continue;
        }
        let Some(shown) = row.captures(&docs) else {
            wrong.push(format!("{marker} has no row of PTX and machine code: see isa/page.rs"));
            continue;
        };
        let (ptx, sm) = (&shown[2], Sm::new(shown[1].parse().expect("digits")));
        let Some(form) = made(&docs, &forms) else {
            wrong.push(format!("{marker}: no form is its example"));
            continue;
        };
        match pages.get(form.instruction()).and_then(|page| page.look_up(form.ptx(), sm)) {
            _ if form.ptx() != ptx => {
                wrong.push(format!("{marker}: its example is {}, its page says {ptx}", form.ptx()))
            }
            Some((code, _)) if code == shown[3] => {}
            code => wrong.push(format!("{marker}: {ptx} is {code:?} in docs/sass on {sm}, not {}", &shown[3])),
        }
        let said: BTreeSet<String> = taken.captures_iter(&docs).map(|taker| taker[1].to_owned()).collect();
        match takers.get(&marker) {
            Some(takers) if *takers != said => {
                wrong.push(format!("{marker} is taken by {takers:?}, its page says {said:?}"))
            }
            _ if said.is_empty() => wrong.push(format!("{marker}: its page does not say what takes it")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The form of the call in a page's example.
fn made<'f>(docs: &str, forms: &'f [std::sync::Arc<Form>]) -> Option<&'f std::sync::Arc<Form>> {
    static CALL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"unsafe \{ (\w.*)\.(read|write)\(").expect("the pattern is valid"));
    let call = CALL.captures(docs)?;
    let element = if docs.contains("V8::new") { "V8<f32>" } else { "f32" };
    let begins = format!("{}.{}(p as ", &call[1], &call[2]);
    let is_made = |form: &&std::sync::Arc<Form>| {
        form.rust().starts_with(&begins) && form.element() == Some(element) && !form.takes_policy()
    };
    forms.iter().find(is_made)
}

/// The names of all markers.
fn markers() -> Vec<String> {
    // An atomic's order, and other words for a space.
    const WORDS_ALONE: [&str; 3] = ["AcqRel", "SharedCta", "Param"];
    let mut markers: Vec<String> = ["NoHint", "NoPrefetch", "Generic"].map(String::from).into();
    markers.extend(L1PriorityWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(L2PriorityWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(OperatorWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(PrefetchSizeWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(OrderWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(ScopeWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.extend(SpaceWord::ALL.iter().map(|word| format!("{word:?}")));
    markers.retain(|marker| !WORDS_ALONE.contains(&marker.as_str()));
    markers
}

/// The functions that take each marker, by the calls of the loads and stores that the catalogue lists. A space is not said
/// in a call.
fn takers(forms: &[std::sync::Arc<Form>]) -> BTreeMap<String, BTreeSet<String>> {
    let orders: Vec<String> =
        OrderWord::ALL.iter().map(|word| format!("{word:?}")).filter(|order| order != "AcqRel").collect();
    let mut takers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let by_method = forms
        .iter()
        .filter(|form| form.operation() != Operation::Other)
        .map(|form| form.rust())
        .filter(|rust| !rust.starts_with("ptx!"));
    for rust in by_method {
        let call = rust.split([')', '(']).collect::<Vec<_>>();
        let function = forms::calls(rust).first().copied().unwrap_or_default();
        let said = rust.rsplit_once("().").map_or(call[0], |(said, _)| said);
        let mut words: Vec<String> = said
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.starts_with(char::is_uppercase))
            .map(str::to_owned)
            .collect();
        let order = orders.iter().find(|order| said.contains(&format!(".{}", order.to_lowercase())));
        words.push(order.cloned().unwrap_or_else(|| "Weak".into()));
        for word in words {
            takers.entry(word).or_default().insert(function.to_owned());
        }
    }
    takers
}

/// The documentation of a marker.
fn docs_of(marker: &str) -> String {
    let is_marker = |item: &&serde_json::Value| {
        let kind = &item["inner"];
        item["name"] == marker && (kind["struct"].is_object() || kind["type_alias"].is_object())
    };
    let items = described()["index"].as_object().expect("it has an index").values();
    items.filter(is_marker).filter_map(|item| item["docs"].as_str()).collect()
}

/// The names and the aliases of all public items, as rustdoc writes them for programs. That is not stable yet, so only
/// what is searched for is read from it.
fn found() -> BTreeSet<String> {
    let alias = Regex::new(r#"alias[^"\\]*\\?"([^"\\]+)\\?""#).expect("the pattern is valid");
    let mut found = BTreeSet::new();
    for item in described()["index"].as_object().expect("it has an index").values() {
        found.extend(item["name"].as_str().map(str::to_lowercase));
        let attributes = item["attrs"].to_string();
        found.extend(alias.captures_iter(&attributes).map(|alias| alias[1].to_lowercase()));
    }
    found
}

/// What rustdoc writes for programs. That is not stable yet, so only what is asked for is read from it.
fn described() -> &'static serde_json::Value {
    static DESCRIBED: LazyLock<serde_json::Value> = LazyLock::new(describe);
    &DESCRIBED
}

fn describe() -> serde_json::Value {
    let machine = Machine::current();
    let target = machine.target().join("search");
    let cargo = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    let arguments = ["rustdoc", "--quiet", "--package", "ptx-intrinsics", "--target-dir"];
    let cargo = cargo.args(arguments).arg(&target).args(["--", "-Zunstable-options", "--output-format", "json"]);
    cargo.env("RUSTC_BOOTSTRAP", "1").dir(&machine.repository).run().expect("rustdoc describes the crate");
    let text = std::fs::read_to_string(target.join("doc/ptx_intrinsics.json")).expect("rustdoc wrote it");
    serde_json::from_str(&text).expect("it is JSON")
}

/// A bound that a user has to satisfy is a trait that the user can look up.
#[test]
fn every_bound_is_documented() {
    let all = described();
    let mut bounds = BTreeSet::new();
    for item in all["index"].as_object().expect("it has an index").values() {
        bounds_of(&item["inner"], &mut bounds);
    }
    let ours = bounds.iter().filter_map(|bound| Some((bound, all["paths"][bound]["path"].as_array()?)));
    let ours = ours.filter(|(bound, path)| path[0] == "ptx_intrinsics" && all["index"][bound.as_str()].is_null());
    let hidden: Vec<String> = ours
        .map(|(_, path)| path.iter().filter_map(|name| name.as_str()).collect::<Vec<_>>().join("::"))
        .filter(|path| !path.contains("::sealed::"))
        .collect();
    assert!(bounds.len() > 20, "rustdoc says less about bounds than it did: {}", bounds.len());
    assert!(
        hidden.is_empty(),
        "these bounds have no page: remove #[doc(hidden)] from the trait, and document it: {hidden:?}"
    );
}

/// What `docs/from-cuda.md` says is here, is: in the catalogue, or in `ptx-kernel`.
#[test]
fn the_page_for_writers_of_cuda_names_what_is_here() {
    let repository = Machine::current().repository;
    let name = Regex::new(r"\w+").expect("the pattern is valid");
    let mut text = String::new();
    sources(&repository.join("ptx-kernel/src"), &mut text);
    every_form().iter().for_each(|form| text.extend([form.rust(), "\n"]));
    let here: BTreeSet<&str> = name.find_iter(&text).map(|found| found.as_str()).collect();
    let page = std::fs::read_to_string(repository.join("docs/from-cuda.md")).expect("the page is there");
    let told = page.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once("| ")?.1.split("; ").next());
    let told = told.filter(|told| told.starts_with('`') || told.starts_with("ptx-kernel: "));
    let named: Vec<&str> = told.flat_map(|told| told.split('`').skip(1).step_by(2)).collect();
    let missing: Vec<&&str> =
        named.iter().filter(|named| !name.find_iter(named).all(|word| here.contains(word.as_str()))).collect();
    assert!(missing.is_empty(), "docs/from-cuda.md names what is not here: {missing:?}");
    assert!(named.len() > 300, "{} names", named.len());
}

/// The texts of a folder's files.
fn sources(folder: &Path, text: &mut String) {
    for path in std::fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => sources(&path, text),
            false => text.push_str(&std::fs::read_to_string(&path).expect("it is text")),
        }
    }
}

/// The numbers of the traits that bounds name.
fn bounds_of(item: &serde_json::Value, bounds: &mut BTreeSet<String>) {
    if let Some(bound) = item["trait_bound"]["trait"]["id"].as_u64() {
        bounds.insert(bound.to_string());
    }
    match item {
        serde_json::Value::Object(fields) => fields.values().for_each(|field| bounds_of(field, bounds)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| bounds_of(item, bounds)),
        _ => {}
    }
}
