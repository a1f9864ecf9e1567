//! The PTX of a mutated crate's forms against what this crate's catalogue expects.

use std::collections::BTreeSet;
use std::sync::Arc;

use ptx_intrinsics::catalogue::Form;

use super::answer::{Answer, Failure};
use super::tree::Tree;
use crate::check::forms::{self, Case, Manner};
use crate::tools::device_build::{DeviceBuild, Profile};
use crate::tools::error::{Error, Result};
use crate::tools::ptx::Module;
use crate::tools::target::Sm;
use crate::tools::toolchain::DeviceToolchain;

/// Cases that between them have every word of PTX in every instruction, and every manner with every shape of registers.
pub fn cover(forms: &[Arc<Form>]) -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut is_new = |case: &Case| {
        let before = seen.len();
        seen.extend(kinds(case));
        seen.len() > before
    };
    forms::cases(forms).into_iter().filter(|case| is_new(case)).collect()
}

/// What a case is one of: a word of an instruction, a manner with its registers.
fn kinds(case: &Case) -> Vec<(String, String)> {
    let (form, head) = (&case.form, head(&case.form));
    let manner = match case.manner {
        Manner::Lanes(mask) => format!("Lanes {}", mask.count_ones()),
        manner => format!("{manner:?}"),
    };
    let shape =
        form.ptx().rsplit('.').take(2).find(|word| word.starts_with('v') || *word == "b128").unwrap_or_default();
    let way = format!("{manner} {shape} {} {}", case.rust().starts_with("ptx!"), form.takes_policy());
    let words: Vec<&str> = form.ptx().split('.').collect();
    // A scope stands beside each order in the source.
    let scopes = words.windows(2).filter(|pair| ["cta", "cluster", "gpu", "sys"].contains(&pair[1]));
    // Functions that emit the same words may have them from different places.
    let called = forms::calls(&case.rust()).join(".");
    let said = words.iter().skip(1).filter(|word| !is_type(word)).map(|word| (*word).to_owned());
    let by_call: Vec<_> = said.map(|word| (called.clone(), word)).collect();
    let words = words.iter().map(|word| (*word).to_owned()).chain(scopes.map(|pair| pair.join(".")));
    let words = words.map(|word| (head.clone(), word)).chain(by_call);
    // Two registers of 128 bits are in one block where something is compared.
    let compared = form.ptx().contains(".cas").then(|| (head.clone(), format!("cas {way}")));
    words.chain([(head.clone(), way)]).chain(compared).collect()
}

/// Whether a word says how wide an access is, and what it holds.
fn is_type(word: &str) -> bool {
    word.starts_with(['b', 'f', 's', 'u', 'v']) && word[1..].parse::<u32>().is_ok()
}

/// What is said in another place of the source: the mnemonic with its space.
fn head(form: &Form) -> String {
    let mnemonic: Vec<&str> = form.ptx().split('.').take(2).collect();
    let mnemonic =
        if form.bytes() > 0 || form.is_atomic() || form.is_multimem() { mnemonic[0].to_owned() } else { form.told() };
    format!("{mnemonic} {}", form.space().unwrap_or_default())
}

fn build(tree: &Tree, toolchain: &DeviceToolchain, name: &str, cases: &[Case]) -> Result<Module> {
    let folder = tree.root.join("target").join(name);
    forms::write_package_of(&tree.root, &folder, "forms", &["ptx-intrinsics"], &forms::crate_source(cases))?;
    let build =
        DeviceBuild { profile: Profile::Release, ..DeviceBuild::of_every_form(folder, "forms", Sm::OF_EVERY_FORM) };
    let (ptx, _) = build.build_quietly(toolchain)?;
    Module::read(&ptx)
}

fn is_complaint(error: &Error) -> bool {
    error.to_string().contains("does not compile")
}

/// Compiles the cases with the tree's crate: what differs. The cases are of these numbers.
pub fn differences(tree: &Tree, toolchain: &DeviceToolchain, cases: &[(usize, &Case)]) -> Result<Answer> {
    let own: Vec<Case> = cases.iter().map(|(_, case)| (*case).clone()).collect();
    let module = match build(tree, toolchain, "forms", &own) {
        Ok(module) => module,
        Err(error) if is_complaint(&error) => return Ok(Answer::Broken(error.to_string())),
        Err(error) => return Err(error),
    };
    let lines = forms::differences(&module, &own);
    let numbers: std::collections::HashMap<String, usize> =
        cases.iter().map(|(number, case)| (case.rust(), *number)).collect();
    let failure = |line: &String| {
        let (rust, rest) = line.split_once(": expected ").unwrap_or((line, ""));
        let (expected, found) = rest.split_once(", found ").unwrap_or(("", rest));
        let place = numbers.get(rust).map(|number| case_place(*number));
        Failure { place, ..Failure::new(rust, expected, found) }
    };
    Ok(Answer::Failures(lines.iter().map(failure).collect()))
}

const CASE: &str = "case ";

/// What a failure of that case names as its place.
fn case_place(number: usize) -> String {
    format!("{CASE}{number}")
}

/// The case of a place, if it is one.
pub fn case_of(place: &str) -> Option<usize> {
    place.strip_prefix(CASE)?.parse().ok()
}

/// Whether the tree's crate compiles by itself, for a GPU.
pub fn compiles(tree: &Tree, toolchain: &DeviceToolchain) -> Result<bool> {
    match build(tree, toolchain, "nothing", &[]) {
        Ok(_) => Ok(true),
        Err(error) => Ok(!is_complaint(&error)),
    }
}
