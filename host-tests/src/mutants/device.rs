//! The PTX of a mutated crate's forms against what this crate's catalogue expects.

use std::collections::BTreeSet;
use std::sync::Arc;

use ptx_intrinsics::catalogue::Form;

use super::tree::Tree;
use crate::device_build::{DeviceBuild, Profile};
use crate::error::Result;
use crate::forms::{self, Case, Manner};
use crate::ptx::Module;
use crate::target::Sm;
use crate::toolchain::DeviceToolchain;

/// Cases that between them have every word of PTX in every instruction that these files are about, and every manner with
/// every shape of registers.
pub fn cover(forms: &[Arc<Form>], files: &BTreeSet<&str>) -> Vec<Case> {
    let about: Vec<Arc<Form>> =
        forms.iter().filter(|form| files.iter().any(|file| is_about(file, form))).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut is_new = |case: &Case| {
        let before = seen.len();
        seen.extend(kinds(case));
        seen.len() > before
    };
    forms::cases(&about).into_iter().filter(|case| is_new(case)).collect()
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
    let words = form.ptx().split('.').map(|word| (head.clone(), word.to_owned()));
    words.chain([(head.clone(), way)]).collect()
}

/// What is said in another place of the source: the mnemonic with its space.
fn head(form: &Form) -> String {
    let mnemonic: Vec<&str> = form.ptx().split('.').take(2).collect();
    let mnemonic = if form.bytes() > 0 || form.is_atomic() { mnemonic[0].to_owned() } else { form.told() };
    format!("{mnemonic} {}", form.space().unwrap_or_default())
}

/// Whether a file of the crate can change that form.
fn is_about(file: &str, form: &Form) -> bool {
    let name = file.rsplit("src/").next().unwrap_or(file).trim_end_matches(".rs");
    let (ptx, access) = (form.ptx(), form.bytes() > 0);
    let begins = |words: &[&str]| words.iter().any(|word| ptx == *word || ptx.starts_with(&format!("{word}.")));
    match name {
        "ld" => access && begins(&["ld"]) && form.instruction() != "ld.global.nc",
        "ld_global_nc" => form.instruction() == "ld.global.nc",
        "st" => begins(&["st"]),
        "cuda" => form.instruction().starts_with("ld.global") || form.instruction() == "st.global",
        "atom" | "atom/emit" | "atom/forms" | "atom/host" => form.is_atomic(),
        "cp_async" => begins(&["cp"]) && !begins(&["cp.async.bulk"]),
        "cp_async_bulk" => begins(&["cp.async.bulk"]),
        "fence" => begins(&["fence", "membar"]),
        "line" => begins(&["prefetch", "prefetchu", "applypriority", "discard"]),
        "prefetch" => begins(&["prefetch", "prefetchu"]),
        "mapa" => begins(&["mapa", "getctarank"]),
        "applypriority" | "createpolicy" | "cvta" | "discard" | "isspacep" | "mbarrier" => begins(&[name]),
        "issue" => {
            begins(&["cp", "mbarrier", "fence", "membar", "mapa", "getctarank", "cvta", "isspacep", "createpolicy"])
        }
        "qualifier/policy"
        | "qualifier/prefetch_size"
        | "qualifier/space"
        | "qualifier/caching"
        | "qualifier/order" => true,
        _ => access || form.is_atomic(),
    }
}

/// Compiles the cases with the tree's crate: what differs, as form, expected, found.
pub fn differences(tree: &Tree, toolchain: &DeviceToolchain, cases: &[Case]) -> Result<Vec<(String, String, String)>> {
    let folder = tree.root.join("target/forms");
    forms::write_package_of(&tree.root, &folder, "forms", &["ptx-intrinsics"], &forms::crate_source(cases))?;
    let build = DeviceBuild { profile: Profile::Release, ..DeviceBuild::of_every_form(folder, "forms", Sm::new(100)) };
    let (ptx, _) = build.build_quietly(toolchain)?;
    let module = Module::read(&ptx)?;
    let lines = forms::differences(&module, cases);
    Ok(lines.iter().map(|line| split(line)).collect())
}

fn split(line: &str) -> (String, String, String) {
    let (rust, rest) = line.split_once(": expected ").unwrap_or((line, ""));
    let (expected, found) = rest.split_once(", found ").unwrap_or(("", rest));
    (rust.to_owned(), expected.to_owned(), found.to_owned())
}
