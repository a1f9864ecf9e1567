//! What every form means on a CPU, walked from the catalogue: a form without a test here is named.

mod accesses;
mod atomics;
#[macro_use]
mod functions;
mod barriers;
mod blocks;
mod copies;
mod later;
mod multimem;
mod tensors;
mod threads;
mod warp;

use std::collections::BTreeSet;

use ptx_intrinsics::catalogue::{self, Form, Operation};

/// How many forms are tried: loads and stores, atomics, functions, `multimem`.
const FORMS: [usize; 4] = [69_903, 10_447, functions::FORMS, multimem::FORMS];

/// Sixteen lines of memory, aligned for all that is done with it.
#[derive(Clone)]
#[repr(align(128))]
struct Memory([u8; 2048]);

impl Memory {
    /// No two neighbours are the same.
    fn numbered() -> Box<Self> {
        Box::new(Self(std::array::from_fn(|at| (at * 7 + at / 256 + 1) as u8)))
    }
}

/// What kind of form it is: its place in `FORMS`.
fn kind(form: &Form) -> usize {
    match form.operation() {
        Operation::Other if form.is_atomic() => 1,
        Operation::Other if form.is_multimem() => 3,
        Operation::Other => 2,
        _ => 0,
    }
}

/// An expression or parameters without the blanks that `stringify!` puts in or leaves out.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<String>().replace(",)", ")")
}

#[test]
#[cfg_attr(miri, ignore = "it walks the whole catalogue, which takes an hour there")]
fn all_forms_are_of_a_kind_that_is_tried() {
    let mut count = [0; 4];
    let mut instructions = BTreeSet::new();
    for form in catalogue::forms() {
        count[kind(&form)] += 1;
        if kind(&form) == 2 {
            instructions.insert(form.instruction().to_owned());
        }
    }
    let here = "ptx-intrinsics/tests/meaning/functions.rs";
    let (listed, tried) = (instructions.iter().map(String::as_str).collect(), functions::instructions());
    let missing: Vec<_> = BTreeSet::difference(&listed, &tried).collect();
    let strange: Vec<_> = tried.difference(&listed).collect();
    assert!(
        missing.is_empty() && strange.is_empty(),
        "without a test in {here} that calls all their functions: {missing:?}; tried and not in the catalogue: {strange:?}"
    );
    assert_eq!(count, FORMS, "call the functions, and correct FORMS, in {here}");
}
