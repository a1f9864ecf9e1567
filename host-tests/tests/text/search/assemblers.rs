//! The page of what some assembler of CUDA 13 does not make says so.

use std::collections::BTreeSet;

use host_tests::check::forms::{self, Syntax};
use host_tests::check::forms_check::every_form;
use ptx_build::explain::versions::{self, Row};
use ptx_intrinsics::catalogue::Form;

use super::described;

/// Items with such a form.
const ITEMS: usize = 5;

/// Whether these assemblers leave out the form, or a machine instruction of it: others write other words, or something besides.
fn is_broken(row: &Row<'_>) -> bool {
    matches!(row.then, "refused" | "internal error" | "nothing") || row.then.is_empty() && !row.now.is_empty()
}

/// The item whose page tells of a form: of a load or a store it is the order, since no other word of it is to blame.
fn item(form: &Form) -> Option<String> {
    if form.signature().is_none() {
        return form.ptx().contains(".relaxed.cluster").then(|| "Relaxed".to_owned());
    }
    let cases = forms::cases(&[form.clone().into()]);
    let rust = cases.iter().find(|case| case.syntax == Syntax::Plain)?.rust();
    forms::calls(&rust).first().map(|&name| name.to_owned())
}

#[test]
fn the_page_of_what_an_assembler_breaks_says_so() {
    let broken: Vec<Row<'_>> = versions::all().into_iter().filter(is_broken).collect();
    let mut told = BTreeSet::new();
    for form in every_form() {
        for row in broken.iter().filter(|row| row.tells_of(form.ptx())) {
            let name = item(&form).unwrap_or_else(|| panic!("{}: no page tells of it", form.ptx()));
            told.insert((name, format!("CUDA {}", row.releases.replace('-', " to ")), row.then));
        }
    }
    let items = described()["index"].as_object().expect("it has an index");
    for (name, releases, then) in &told {
        let is_told = |item: &serde_json::Value| {
            item["name"] == **name && item["docs"].as_str().is_some_and(|docs| docs.contains(releases))
        };
        assert!(items.values().any(is_told), "the page of {name} does not say what {releases} makes of it: {then}");
    }
    let names: BTreeSet<&str> = told.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.len(), ITEMS, "{names:?}");
    println!("{} items tell of {} faults of assemblers", names.len(), told.len());
}
