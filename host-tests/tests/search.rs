//! rustdoc's search finds every instruction and every qualifier by the word that PTX has for it.

use std::collections::{BTreeMap, BTreeSet};

use host_tests::check::forms_check::every_form;
use host_tests::tools::command::{Command, Machine};
use ptx_intrinsics::catalogue::Form;
use regex::Regex;

/// What a search has to find: as many words as the catalogue has, and no fewer.
const WORDS: usize = 119;

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
    assert_eq!(words.len(), WORDS, "words in the catalogue");
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

/// The names and the aliases of all public items, as rustdoc writes them for programs. That is not stable yet, so only
/// what is searched for is read from it.
fn found() -> BTreeSet<String> {
    let machine = Machine::current();
    let target = machine.target().join("search");
    let cargo = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    let arguments = ["rustdoc", "--quiet", "--package", "ptx-intrinsics", "--target-dir"];
    let cargo = cargo.args(arguments).arg(&target).args(["--", "-Zunstable-options", "--output-format", "json"]);
    cargo.env("RUSTC_BOOTSTRAP", "1").dir(&machine.repository).run().expect("rustdoc describes the crate");
    let text = std::fs::read_to_string(target.join("doc/ptx_intrinsics.json")).expect("rustdoc wrote it");
    let all: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let items = all["index"].as_object().expect("it has an index");
    let alias = Regex::new(r#"alias[^"\\]*\\?"([^"\\]+)\\?""#).expect("the pattern is valid");
    let mut found = BTreeSet::new();
    for item in items.values() {
        found.extend(item["name"].as_str().map(str::to_lowercase));
        let attributes = item["attrs"].to_string();
        found.extend(alias.captures_iter(&attributes).map(|alias| alias[1].to_lowercase()));
    }
    found
}
