//! What the page of a method says of PTX is what all calls of it have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use host_tests::check::forms::{self, Syntax};
use ptx_intrinsics::catalogue::Form;
use regex::Regex;
use serde_json::Value;

use crate::search::pages::{chosen, difference, stranger};

/// Methods whose page says what they are in PTX, at least.
const METHODS: usize = 29;

/// What loads and stores call their parameters.
const PARAMETERS: [&str; 3] = ["p", "value", "policy"];

/// A method, and the functions that make what it is called on.
pub(crate) struct Method<'d> {
    of: &'d str,
    made_by: BTreeSet<&'d str>,
    name: &'d str,
    text: &'d str,
}

/// The methods that rustdoc lists.
pub(crate) fn documented(described: &Value) -> Vec<Method<'_>> {
    let index = described["index"].as_object().expect("it has an index");
    let item = |id: &Value| index.get(&id.to_string());
    let mut made_by: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for function in index.values() {
        let output = &function["inner"]["function"]["sig"]["output"]["resolved_path"]["id"];
        if let (Some(id), Some(name)) = (output.as_u64(), function["name"].as_str()) {
            made_by.entry(id).or_default().insert(name);
        }
    }
    let mut methods = Vec::new();
    for (id, of) in index {
        let impls = of["inner"]["struct"]["impls"].as_array().into_iter().flatten().filter_map(item);
        let own = impls.map(|own| &own["inner"]["impl"]).filter(|own| own["trait"].is_null());
        for method in own.flat_map(|own| own["items"].as_array().into_iter().flatten()).filter_map(item) {
            if let (Some(of), Some(name), Some(text)) =
                (of["name"].as_str(), method["name"].as_str(), method["docs"].as_str())
            {
                let made_by = match of {
                    "SharedPtr" => BTreeSet::from(["ld_shared", "st_shared"]),
                    _ => id.parse().ok().and_then(|id: u64| made_by.get(&id).cloned()).unwrap_or_default(),
                };
                methods.push(Method { of, made_by, name, text });
            }
        }
    }
    methods
}

/// All calls of a method.
#[derive(Default)]
struct Calls {
    ptx: BTreeSet<String>,
    parameters: BTreeSet<String>,
}

/// The calls of a function and, on what it gives, a method.
fn made(forms: &[Arc<Form>]) -> BTreeMap<(String, String), Calls> {
    let mut made: BTreeMap<(String, String), Calls> = BTreeMap::new();
    for case in forms::cases(forms).iter().filter(|case| matches!(case.syntax, Syntax::Plain | Syntax::Guarded)) {
        if let [function, method, ..] = forms::calls(&case.rust())[..] {
            let calls = made.entry((function.into(), method.into())).or_default();
            calls.ptx.insert(case.form.ptx().to_owned());
            let parameters = case.form.signature().map_or("", |signature| signature.parameters).split(", ");
            calls.parameters.extend(parameters.filter_map(|parameter| Some(parameter.split_once(':')?.0.to_owned())));
        }
    }
    made
}

/// What is wrong with the pages of methods.
pub(crate) fn wrong(methods: &[Method], forms: &[Arc<Form>]) -> Vec<String> {
    let made = made(forms);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for Method { of, made_by, name, text } in methods {
        let of_method = |function: &&str| made.get(&(function.to_string(), name.to_string()));
        let calls: Vec<&Calls> = made_by.iter().filter_map(of_method).collect();
        let forms: BTreeSet<&str> = calls.iter().flat_map(|calls| &calls.ptx).map(String::as_str).collect();
        let named = calls.iter().flat_map(|calls| &calls.parameters).cloned();
        let parameters = named.chain(PARAMETERS.map(String::from)).collect();
        let text = text.split("# Safety").next().unwrap_or_default();
        let said = text.split('`').skip(1).step_by(2).find(|span| span.ends_with(';'));
        let part = text.split_once("PTX:").and_then(|(_, rest)| rest.split('`').nth(1));
        let complaint = match (said, part) {
            _ if forms.is_empty() => continue,
            (Some(said), _) => wrong_instruction(name, said, &forms, &parameters),
            (None, Some(part)) => wrong_part(part, &forms),
            (None, None) => continue,
        };
        count += 1;
        wrong.extend(
            complaint
                .map(|expected| difference(&format!("{of}::{name}"), &expected, said.or(part).unwrap_or_default())),
        );
    }
    wrong.extend((count < METHODS).then(|| format!("{count} methods say what they are in PTX")));
    wrong
}

/// What an instruction has to be that is said for a method. `…` stands for words in which its calls differ.
fn wrong_instruction(name: &str, said: &str, forms: &BTreeSet<&str>, parameters: &BTreeSet<String>) -> Option<String> {
    let plain = said.strip_prefix("@cond ");
    if plain.is_some() != name.contains("_if") {
        return Some("a predicate where the method has one".into());
    }
    let said = plain.unwrap_or(said);
    if let Some(stranger) = stranger(said, parameters) {
        return Some(format!("an operand of {parameters:?}, not {stranger}"));
    }
    let words = said.split(' ').next().unwrap_or_default();
    let parts: Vec<String> = words.split('…').map(chosen).collect();
    let pattern = Regex::new(&format!("^{}$", parts.join(r"(\.[\w:]+)*"))).expect("the pattern is valid");
    if let Some(other) = forms.iter().find(|ptx| !pattern.is_match(ptx)) {
        return Some((*other).into());
    }
    let said: BTreeSet<&str> = words.split(['.', '…', '{', '}']).collect();
    let unsaid = common(forms).into_iter().find(|word| !said.contains(word));
    unsaid.map(|word| format!("{word}, which all calls have"))
}

/// What the words after the mnemonic have to be that a method stands for.
fn wrong_part(part: &str, forms: &BTreeSet<&str>) -> Option<String> {
    let pattern = Regex::new(&format!(r"^(ld|st){}\.", chosen(part))).expect("the pattern is valid");
    forms.iter().find(|ptx| !pattern.is_match(ptx)).map(|ptx| (*ptx).into())
}

/// The words that all of them have.
fn common<'f>(forms: &BTreeSet<&'f str>) -> BTreeSet<&'f str> {
    let forms = forms.iter().map(|ptx| ptx.split('.').collect::<BTreeSet<_>>());
    forms.reduce(|common, words| &common & &words).unwrap_or_default()
}
