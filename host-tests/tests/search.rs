//! rustdoc's search finds every instruction and every qualifier by the word that PTX has for it, and every bound has a page.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use host_tests::check::forms_check::every_form;
use host_tests::show::coverage;
use host_tests::tools::command::{Command, Machine};
use ptx_intrinsics::catalogue::Form;
use regex::Regex;
use serde_json::Value;

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
    if form.element().is_none() && !form.is_atomic() {
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

/// A bound that a user has to satisfy is a trait that the user can look up.
#[test]
fn every_bound_is_documented() {
    let all = &*DOCUMENTED;
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

/// The page of what is covered is that of the catalogue.
#[test]
fn the_page_of_coverage_is_up_to_date() {
    let kept = std::fs::read_to_string(coverage::path()).expect("the page is there");
    assert!(kept == coverage::page(), "docs/coverage.md is old; run: cargo xtask forms --coverage --write");
}

/// The numbers of the traits that bounds name.
fn bounds_of(item: &Value, bounds: &mut BTreeSet<String>) {
    if let Some(bound) = item["trait_bound"]["trait"]["id"].as_u64() {
        bounds.insert(bound.to_string());
    }
    match item {
        Value::Object(fields) => fields.values().for_each(|field| bounds_of(field, bounds)),
        Value::Array(items) => items.iter().for_each(|item| bounds_of(item, bounds)),
        _ => {}
    }
}

/// The names and the aliases of all public items.
fn found() -> BTreeSet<String> {
    let items = DOCUMENTED["index"].as_object().expect("it has an index");
    let alias = Regex::new(r#"alias[^"\\]*\\?"([^"\\]+)\\?""#).expect("the pattern is valid");
    let mut found = BTreeSet::new();
    for item in items.values() {
        found.extend(item["name"].as_str().map(str::to_lowercase));
        let attributes = item["attrs"].to_string();
        found.extend(alias.captures_iter(&attributes).map(|alias| alias[1].to_lowercase()));
    }
    found
}

/// What rustdoc writes for programs. That is not stable yet, so only what is asked for is read from it.
static DOCUMENTED: LazyLock<Value> = LazyLock::new(|| {
    let machine = Machine::current();
    let target = machine.target().join("search");
    let cargo = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    let arguments = ["rustdoc", "--quiet", "--package", "ptx-intrinsics", "--target-dir"];
    let cargo = cargo.args(arguments).arg(&target).args(["--", "-Zunstable-options", "--output-format", "json"]);
    cargo.env("RUSTC_BOOTSTRAP", "1").dir(&machine.repository).run().expect("rustdoc describes the crate");
    let text = std::fs::read_to_string(target.join("doc/ptx_intrinsics.json")).expect("rustdoc wrote it");
    serde_json::from_str(&text).expect("it is JSON")
});
