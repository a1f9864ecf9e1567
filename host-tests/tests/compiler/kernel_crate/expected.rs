//! The kernels of `kernels.rs`, as its source declares them, and the lines of PTX that bound each.

use std::collections::BTreeSet;

use host_tests::tools::ptx::Module;
use regex::Regex;

pub(crate) const KERNELS: &str = include_str!("kernels.rs");

/// The lines between the parameters and the body of the kernels that have some.
const HEADS: [(&str, &[&str]); 3] = [
    ("bounded", &[".maxntid 256", ".minnctapersm 4"]),
    ("nothing", &[".maxntid 128"]),
    ("clustered", &[".reqnctapercluster 2"]),
];

/// The names of the kernels that a source declares: of the function in each `kernel! { … }`.
pub(crate) fn declared(source: &str) -> BTreeSet<String> {
    let function = Regex::new(r"\bfn (\w+)").expect("the pattern is valid");
    let kernels = source.split("kernel! {").skip(1);
    kernels.map(|kernel| function.captures(kernel).expect("a kernel is a function")[1].to_owned()).collect()
}

/// What is wrong with a module of the crate: its entries have to be those that the source declares, with their bounds.
pub(crate) fn mistakes(text: &str) -> Vec<String> {
    let functions = Module::parse(text).expect("the compiler wrote it").functions;
    let entries: BTreeSet<String> =
        functions.into_iter().filter(|function| function.is_entry).map(|function| function.name).collect();
    let declared = declared(KERNELS);
    if entries != declared {
        return vec![format!("the source declares {declared:?}, and the module has {entries:?}")];
    }
    let expected = |name: &str| HEADS.iter().find(|(own, _)| *own == name).map_or(&[][..], |(_, lines)| lines);
    let heads = declared.iter().map(|name| (name, head(text, name), expected(name)));
    let wrong = heads.filter(|(_, found, expected)| found != expected);
    wrong.map(|(name, found, expected)| format!("{name} is bounded by {found:?}, expected {expected:?}")).collect()
}

/// The lines between the parameters of an entry and its body.
fn head<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (_, entry) = text.split_once(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no entry {name}"));
    let (_, rest) = entry.split_once(')').expect("the parameters end");
    rest.lines().map(str::trim).filter(|line| !line.is_empty()).take_while(|line| *line != "{").collect()
}
