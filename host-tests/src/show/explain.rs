//! What a form is: its Rust, its PTX, what it needs, its machine code, what its words mean; and of a misspelt one, what
//! is wrong and what is near.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

pub use ptx_build::explain::LONGEST;
use ptx_build::explain::{near, page};
use ptx_intrinsics::caching::{L1PriorityWord, L2PriorityWord, OperatorWord, PrefetchSizeWord};
use ptx_intrinsics::catalogue::{self, Form};
use ptx_intrinsics::grammar::access::Spelling;
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::read::Wrong;
use ptx_intrinsics::order::OrderWord;
use ptx_intrinsics::scope::ScopeWord;
use rayon::prelude::*;
use regex::Regex;

use crate::check::forms::CUDA_NAMES;
use crate::check::sass::text::ranges;
use crate::check::sass::{self, Reader, Seen, trace};
use crate::tools::cuda_tools::CudaTools;
use crate::tools::error::Result;
use crate::tools::target::Sm;

/// A text that is no form: what is wrong, and the forms that are near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelt {
    text: String,
    why: String,
    near: Vec<String>,
}

impl fmt::Display for Misspelt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is no form: {}", self.text, self.why)?;
        let near = self.near.iter().enumerate();
        near.into_iter()
            .try_for_each(|(at, near)| write!(out, "\n{} {near}", if at == 0 { "  near are" } else { "          " }))
    }
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| catalogue::forms().collect());

/// Finds the form of a text: PTX, words in any order, or Rust; where that names no type, with `f32` or the first that fits.
pub fn find(text: &str) -> Result<Form, Misspelt> {
    let text = text.trim();
    if text.len() > LONGEST {
        let begin = text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end]);
        let why = format!("it has {} bytes, and the longest form fewer than {LONGEST}", text.len());
        return Err(Misspelt { text: format!("{begin}…"), why, near: Vec::new() });
    }
    let forms = FORMS.as_slice();
    if let Some(spelled) = ptx_of(text) {
        return find_ptx(&spelled, forms);
    }
    if let Some(form) = forms.iter().find(|form| form.signature().is_some() && function(form.rust()) == function(text))
    {
        return Ok(form.clone());
    }
    let asked = Call::read(text);
    let called = |element: Option<&str>| {
        let same = |form: &&Form| {
            let call = Call::read(form.rust());
            call.begins_as(&asked) && (element.is_none() || call.element.as_deref() == element)
        };
        forms.iter().find(same).cloned()
    };
    let found = match asked.element.as_deref() {
        Some(element) => called(Some(element)),
        None => called(Some("f32")).or_else(|| called(None)),
    };
    found.ok_or_else(|| {
        let apart = |call: Call| {
            let [name, whole] = [Call::name, Call::written].map(|part| (part(&call), part(&asked)));
            (strsim::damerau_levenshtein(&name.0, &name.1), strsim::damerau_levenshtein(&whole.0, &whole.1))
        };
        let methods = forms.iter().map(Form::rust).filter(|rust| !rust.starts_with("ptx!"));
        let mut calls: Vec<_> = methods.map(|rust| (apart(Call::read(rust)), rust.to_owned())).collect();
        calls.sort();
        let near = calls.into_iter().take(3).map(|(_, rust)| rust).collect();
        let why = asked.why_not(forms);
        Misspelt { text: text.into(), why, near }
    })
}

/// A call without its arguments.
fn function(rust: &str) -> String {
    rust.rsplit_once('(').map_or(rust, |(function, _)| function).split_whitespace().collect()
}

/// The PTX in a text that is PTX or `ptx!`, without predicate and operands; none if it is another Rust expression.
fn ptx_of(text: &str) -> Option<String> {
    let inner = text.strip_prefix("ptx!").map(|rest| rest.trim_start().trim_start_matches(['(', '[', '{']));
    let is_rust = text.contains(['(', '<']) || text.starts_with(char::is_uppercase);
    let is_ptx = !is_rust || inner.is_some();
    let words = inner.unwrap_or(text).split_whitespace().find(|word| !word.starts_with('@'))?;
    is_ptx.then(|| words.trim_end_matches([';', ')']).to_owned())
}

fn find_ptx(text: &str, forms: &[Form]) -> Result<Form, Misspelt> {
    let spelled = |ptx: &str| forms.iter().find(|form| form.ptx() == ptx || form.told() == ptx).cloned();
    let misspelt = |why: String| Misspelt { text: text.into(), why, near: near(text, forms) };
    let opcode = text.split('.').next().unwrap_or_default();
    if ["atom", "red"].contains(&opcode) {
        return match judge_atomic(text, text.contains("::cache_hint")) {
            Ok((atomic, _)) => spelled(&atomic.ptx()).ok_or_else(|| misspelt(NOT_LISTED.into())),
            Err(wrong) => Err(misspelt(said_wrong(wrong))),
        };
    }
    if !["ld", "ldu", "st"].contains(&opcode) {
        let opcodes: BTreeSet<&str> = forms.iter().filter_map(|form| form.ptx().split('.').next()).collect();
        return spelled(text).ok_or_else(|| match opcodes.contains(opcode) {
            true => misspelt(format!("`{opcode}` has a function for each of its spellings, and none has these words")),
            false => {
                let opcodes: Vec<String> = opcodes.into_iter().map(|opcode| format!("`{opcode}`")).collect();
                misspelt(format!("the instructions are {}", opcodes.join(", ")))
            }
        });
    }
    // A spelling keeps slices of its text. A few texts are asked about in a run.
    let kept: &'static str = text.to_owned().leak();
    let spelling = Spelling::read(kept).and_then(|spelling| spelling.check().map(|_| spelling));
    match spelling {
        // What is meant anyway is left out in the catalogue.
        Ok(spelling) => {
            let short = spelling.ptx().replace(".weak", "").replace(".shared::cta", ".shared");
            let entry = short.replace(".param.", ".param::entry.");
            spelled(&short).or_else(|| spelled(&entry)).ok_or_else(|| misspelt(NOT_LISTED.into()))
        }
        Err(wrong) => Err(misspelt(said_wrong(wrong))),
    }
}

const NOT_LISTED: &str = "the catalogue does not list it";

fn said_wrong(wrong: Wrong<'_>) -> String {
    let meant = wrong.meant().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    if wrong.word.is_empty() { wrong.why.into() } else { format!("`{}`: {}{meant}", wrong.word, wrong.why) }
}

/// The word of PTX that a type of the crate means; none if it says nothing.
fn marker(name: &str) -> Option<&'static str> {
    macro_rules! words {
        ($($kind:ident)*) => {
            [("NoHint", ""), ("NoPrefetch", "")].into_iter()
                $(.chain($kind::ALL.iter().map(|word| (word.rust(), word.ptx()))))*
        };
    }
    words!(OperatorWord L1PriorityWord L2PriorityWord PrefetchSizeWord ScopeWord)
        .find(|(known, _)| *known == name)
        .map(|(_, word)| word)
}

/// A Rust expression as far as it tells a form: the constructor with its parameters and orders, the method's end, the
/// type.
#[derive(Debug)]
struct Call {
    constructor: String,
    with_policy: bool,
    writes: bool,
    element: Option<String>,
}

impl Call {
    fn read(text: &str) -> Call {
        static CAST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"as\*(?:const|mut)(.+?)[,)]").expect("valid"));
        static METHOD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\.(read|write)(_if)?(_with)?\(").expect("valid"));
        let text = ["as *const ", "as *mut "]
            .into_iter()
            .fold(text.to_owned(), |text, cast| text.replace(cast, &cast.replace(' ', "")));
        let text: String = text.split_whitespace().collect();
        let method = METHOD.captures(&text);
        let begin = method.as_ref().and_then(|method| method.get(0)).map_or(text.len(), |method| method.start());
        let element = CAST.captures(&text).map(|cast| cast[1].to_owned());
        let (head, with_policy) = (&text[..begin], method.as_ref().is_some_and(|method| method.get(3).is_some()));
        let writes = method.is_some_and(|method| &method[1] == "write") || head.starts_with("St");
        // A name of CUDA C++ is a constructor and its method together, and a prefetch is all there is.
        let (constructor, writes) = match CUDA_NAMES.iter().find(|(name, _)| head.split('(').next() == Some(name)) {
            Some((_, long)) => {
                let (constructor, method) = long.rsplit_once("().").unwrap_or((long, ""));
                (format!("{}()", constructor.replace(' ', "")), method == "write")
            }
            None => (constructor(head), writes),
        };
        Call { constructor, with_policy, writes, element }
    }

    fn begins_as(&self, other: &Call) -> bool {
        let told = |call: &Call| (call.constructor.clone(), call.with_policy, call.writes);
        told(self) == told(other)
    }

    /// Why no method is written so: the first parameter that is none, or what is wrong with the words in PTX.
    fn why_not(&self, forms: &[Form]) -> String {
        let name = self.name();
        let Some(plain) = forms.iter().find(|form| Call::read(form.rust()).name() == name) else {
            return format!("`{name}`: the crate has no such function");
        };
        let (_, parameters) = self.constructor.split_once("::").unwrap_or_default();
        let parameters =
            parameters.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_uppercase));
        let mut ptx = sass::text::stem(plain.ptx()).0.to_owned();
        for parameter in parameters {
            match marker(parameter) {
                Some(word) => ptx += word,
                None => return format!("`{parameter}`: the crate has no such qualifier"),
            }
        }
        let called = |order: &&OrderWord| match order.rust().split(['(', ':']).next() {
            Some(method) if !method.is_empty() => self.constructor.contains(method),
            _ => false,
        };
        for order in OrderWord::ALL.iter().filter(called) {
            ptx += if *order == OrderWord::Mmio { ".mmio.relaxed.sys" } else { order.ptx() };
        }
        let element = self.element.as_deref().unwrap_or("f32");
        let Some(typed) = forms.iter().find(|form| form.element() == Some(element)) else {
            return format!("`{element}`: PTX does not move this type");
        };
        ptx += &format!(".{}", sass::text::stem(typed.ptx()).1);
        let said = Spelling::read(ptx.leak()).and_then(|spelling| spelling.check());
        said.map_or_else(said_wrong, |_| {
            "it lacks parameters or operands; what a method does not reach is written with `ptx!`".into()
        })
    }

    fn name(&self) -> String {
        self.constructor.split(['(', ':']).next().unwrap_or_default().to_owned()
    }

    fn written(&self) -> String {
        format!("{} {}", self.constructor, self.element.as_deref().unwrap_or("f32"))
    }
}

/// `LdGlobalNc<A, B>` as `ld_global_nc::<A,B>()`: the type's name is its constructor's.
fn constructor(head: &str) -> String {
    if !head.starts_with(char::is_uppercase) {
        return head.to_owned();
    }
    let (name, parameters) = head.split_once('<').unwrap_or((head, ""));
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    if parameters.is_empty() { snake + "()" } else { format!("{snake}::<{parameters}()") }
}

/// All about forms, a page each, their machine code read from the tools.
pub fn explain(forms: &[Form], tools: &CudaTools) -> Result<Vec<String>> {
    let in_memory: Vec<&Form> = forms.iter().filter(|form| sass::touches_memory(form)).collect();
    let sms = if in_memory.is_empty() { Vec::new() } else { sass::gpus(tools)? };
    let seen = see(&in_memory, &Reader::new(tools), &sms)?;
    Ok(forms.iter().map(|form| page(form, &machine_code(form, &seen))).collect())
}

/// The machine code of forms and of them without each hint. A GPU's are read together: the disassembler takes longer to start
/// than to read.
fn see(forms: &[&Form], reader: &Reader, sms: &[Sm]) -> Result<Seen> {
    let on = |sm: &Sm| {
        // Without a hint a form is legal wherever it is with it.
        let legal = forms.iter().filter(|form| form.min_sm() <= sm.number).map(|form| form.told());
        let spellings: BTreeSet<String> = legal
            .flat_map(|told| {
                let without = trace::without_hints(&told).into_iter().map(|(_, without)| without);
                without.chain([told.clone()]).collect::<Vec<_>>()
            })
            .collect();
        let accesses: Vec<&str> = spellings.iter().map(String::as_str).collect();
        let read = reader.alone_and_kept(*sm, &accesses)?;
        Ok((*sm, spellings.iter().cloned().zip(read).collect()))
    };
    Ok(sms.par_iter().map(on).collect::<Result<Vec<_>>>()?.into_iter().collect())
}

/// A line for all GPUs that agree.
fn machine_code(form: &Form, seen: &Seen) -> Vec<String> {
    if !sass::touches_memory(form) {
        return vec!["arithmetic on registers; of constants, two moves".into()];
    }
    let legal = || seen.iter().filter(|(sm, _)| form.min_sm() <= sm.number);
    let sms: Vec<Sm> = legal().map(|(sm, _)| *sm).collect();
    let mut lines: BTreeMap<String, BTreeSet<Sm>> = BTreeMap::new();
    for (sm, codes) in legal() {
        let Some(code) = codes.get(&form.told()) else { continue };
        let lost = trace::lost(&form.told(), *sm, seen).concat();
        let lost = if lost.is_empty() { lost } else { format!("   no trace of {lost}") };
        lines.entry(code.line() + &lost).or_default().insert(*sm);
    }
    let mut lines: Vec<(BTreeSet<Sm>, String)> = lines.into_iter().map(|(line, on)| (on, line)).collect();
    lines.sort();
    lines.into_iter().map(|(on, line)| format!("sm_{:<12} {line}", ranges(&on, &sms))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_meaning() {
        let words: BTreeSet<String> = catalogue::forms()
            .flat_map(|form| {
                let operation = form.ptx().split('.').next().unwrap_or_default().to_owned();
                let stem = sass::text::stem(form.ptx()).0.to_owned();
                stem.split('.').skip(1).map(|word| format!("{operation} .{word}")).collect::<Vec<_>>()
            })
            .collect();
        let known = |word: &str| {
            let (operation, plain) = word.split_once(" .").unwrap_or_default();
            ptx_build::explain::meaning(operation, plain).is_some()
        };
        let unknown: Vec<&String> = words.iter().filter(|word| !known(word)).collect();
        assert!(unknown.is_empty(), "say what these mean in MEANINGS, ptx-build/src/explain.rs: {unknown:?}");
        assert!(words.len() > 60, "{} words", words.len());
    }
}
