//! Reading a form: PTX as it is written anywhere, `ptx!`, or a call as the documentation or a program has it; and of what is none,
//! what is wrong with it and what is near.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::LazyLock;

use ptx_intrinsics::caching::{L1PriorityWord, L2PriorityWord, OperatorWord, PrefetchSizeWord};
use ptx_intrinsics::catalogue::{self, Form};
use ptx_intrinsics::grammar::access::Spelling;
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::multimem::judge_multimem;
use ptx_intrinsics::grammar::read::Wrong;
use ptx_intrinsics::order::OrderWord;
use ptx_intrinsics::scope::ScopeWord;
use regex_lite::Regex;

use super::elsewhere::place_of;
use super::equivalents::equivalents;
use super::near::near;

/// How long a text may be. No form is so long, and what is near is found in time that grows with it.
pub const LONGEST: usize = 200;

/// The names of CUDA C++, and how the forms that they stand for begin.
pub const CUDA_NAMES: [(&str, &str); 10] = [
    ("ldg", "ld_global_nc::<NoHint, NoPrefetch>().read"),
    ("ldca", "ld_global::<Ca, NoPrefetch>().read"),
    ("ldcg", "ld_global::<Cg, NoPrefetch>().read"),
    ("ldcs", "ld_global::<Cs, NoPrefetch>().read"),
    ("ldlu", "ld_global::<Lu, NoPrefetch>().read"),
    ("ldcv", "ld_global::<Cv, NoPrefetch>().read"),
    ("stwb", "st_global::<Wb>().write"),
    ("stcg", "st_global::<Cg>().write"),
    ("stcs", "st_global::<Cs>().write"),
    ("stwt", "st_global::<Wt>().write"),
];

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

impl std::error::Error for Misspelt {}

/// All forms, and where each way to write one leads.
struct Forms {
    all: Vec<Form>,
    /// PTX with and without operands, and the expressions of what is neither a load nor a store, without blanks.
    exact: HashMap<String, usize>,
    /// PTX with its words sorted.
    sorted: HashMap<String, usize>,
    /// Functions without their arguments.
    functions: HashMap<String, usize>,
}

static FORMS: LazyLock<Forms> = LazyLock::new(Forms::of_the_catalogue);

/// The methods, of each type and of any. They are read where one is asked for.
static CALLS: LazyLock<HashMap<(Called, Option<&'static str>), usize>> = LazyLock::new(|| {
    let mut calls = HashMap::new();
    let methods = |form: &Form| form.signature().is_none() && !form.rust().starts_with("ptx!");
    for (at, form) in FORMS.all.iter().enumerate().filter(|(_, form)| methods(form)) {
        let called = Call::read(form.rust()).called();
        calls.entry((called.clone(), form.element())).or_insert(at);
        // Where no type is named, `f32` is meant, or the first.
        let any = calls.entry((called, None)).or_insert(at);
        if form.element() == Some("f32") && FORMS.all[*any].element() != Some("f32") {
            *any = at;
        }
    }
    calls
});

impl Forms {
    fn of_the_catalogue() -> Forms {
        let mut forms = Forms {
            all: catalogue::forms().collect(),
            exact: HashMap::new(),
            sorted: HashMap::new(),
            functions: HashMap::new(),
        };
        for (at, form) in forms.all.iter().enumerate() {
            // Of two that are written alike the first one is meant.
            forms.exact.entry(form.full_ptx()).or_insert(at);
            forms.exact.entry(form.ptx().to_owned()).or_insert(at);
            forms.sorted.entry(sorted(form.ptx())).or_insert(at);
            if form.signature().is_some() {
                forms.exact.entry(without_blanks(form.rust())).or_insert(at);
                forms.functions.entry(function(form.rust())).or_insert(at);
            }
        }
        forms
    }

    fn get(&self, at: Option<&usize>) -> Option<Form> {
        at.map(|at| self.all[*at].clone())
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn sorted(ptx: &str) -> String {
    let mut words: Vec<&str> = ptx.split('.').collect();
    words[1..].sort();
    words.join(".")
}

/// Finds the form of a text: PTX, words in any order, with or without operands; `ptx!`; or a call, as far as it goes; where that
/// names no type, with `f32` or the first that fits.
pub fn find(text: &str) -> Result<Form, Misspelt> {
    let text = text.trim().trim_end_matches(';');
    if text.len() > LONGEST {
        let begin = text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end]);
        let why = format!("it has {} bytes, and the longest form fewer than {LONGEST}", text.len());
        return Err(Misspelt { text: format!("{begin}…"), why, near: Vec::new() });
    }
    let forms = &*FORMS;
    let exact = forms.exact.get(text).or_else(|| forms.exact.get(&without_blanks(text)));
    if let Some(form) = forms.get(exact) {
        return Ok(form);
    }
    if let Some(spelled) = ptx_of(text) {
        return if spelled.starts_with("mov.") { find_mov(text, spelled, forms) } else { find_ptx(spelled, forms) };
    }
    if let Some(form) = forms.get(forms.functions.get(&function(text))) {
        return Ok(form);
    }
    let asked = Call::read(text);
    let element = asked
        .element
        .as_deref()
        .map(|asked| forms.all.iter().find_map(|form| form.element().filter(|own| *own == asked)));
    let found = match element {
        None => CALLS.get(&(asked.called(), None)),
        Some(Some(element)) => CALLS.get(&(asked.called(), Some(element))),
        Some(None) => None,
    };
    forms.get(found).ok_or_else(|| {
        let apart = |call: Call| {
            let [name, whole] = [Call::name, Call::written].map(|part| (part(&call), part(&asked)));
            (strsim::damerau_levenshtein(&name.0, &name.1), strsim::damerau_levenshtein(&whole.0, &whole.1))
        };
        let methods = forms.all.iter().map(Form::rust).filter(|rust| !rust.starts_with("ptx!"));
        let mut calls: Vec<_> = methods.map(|rust| (apart(Call::read(rust)), rust.to_owned())).collect();
        calls.sort();
        let near = calls.into_iter().take(3).map(|(_, rust)| rust).collect();
        let why = asked.why_not(&forms.all);
        Misspelt { text: text.into(), why, near }
    })
}

/// A call without its arguments.
fn function(rust: &str) -> String {
    without_blanks(rust.rsplit_once('(').map_or(rust, |(function, _)| function))
}

/// The PTX in a text that is PTX or `ptx!`, without predicate and operands; none if it is another Rust expression.
fn ptx_of(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("ptx!").map(|rest| rest.trim_start().trim_start_matches(['(', '[', '{']));
    let is_rust = text.contains(['(', '<']) || text.starts_with(char::is_uppercase);
    if is_rust && inner.is_none() {
        return None;
    }
    let words = without_predicate(inner.unwrap_or(text).trim_start()).split([' ', '\t', '\n', '[']);
    words.map(|word| word.trim_end_matches([';', ')'])).find(|word| !word.is_empty())
}

/// What follows `@name`, `@!name` or `@(expression)`.
fn without_predicate(text: &str) -> &str {
    let Some(predicate) = text.strip_prefix('@') else { return text };
    let mut open = 0usize;
    let end = predicate.find(|c: char| {
        open = match c {
            '(' => open + 1,
            ')' => open.saturating_sub(1),
            _ => open,
        };
        open == 0 && c.is_whitespace()
    });
    end.map_or("", |end| predicate[end..].trim_start())
}

/// A `mov` of a special register that the crate has.
fn find_mov(text: &str, spelled: &str, forms: &Forms) -> Result<Form, Misspelt> {
    let register = text.rsplit_once('%').map_or("", |(_, register)| register.trim());
    let found = forms.get(forms.exact.get(&format!("{spelled} %, %{register}")));
    found.ok_or_else(|| Misspelt {
        text: text.into(),
        why: place_of(spelled, true).unwrap_or_default().into(),
        near: Vec::new(),
    })
}

fn find_ptx(text: &str, forms: &Forms) -> Result<Form, Misspelt> {
    let spelled = |ptx: &str| forms.get(forms.exact.get(ptx));
    // One of the functions, its words in any order.
    let function = |text: &str| {
        let all = std::iter::once(text.to_owned()).chain(equivalents(text));
        all.into_iter().find_map(|text| spelled(&text).or_else(|| forms.get(forms.sorted.get(&sorted(&text)))))
    };
    let said = |why: &str, near: Vec<String>| Misspelt { text: text.into(), why: why.into(), near };
    let misspelt = |why: &str| said(why, near(text, &forms.all));
    let opcode = text.split('.').next().unwrap_or_default();
    let begins = |begin: &[&str]| begin.iter().any(|begin| text.starts_with(begin));
    let later = begins(&["st.async", "red.async", "st.bulk", "multimem.st.async", "multimem.red.async"]);
    if ["atom", "red"].contains(&opcode) && !later {
        return match judge_atomic(text, text.contains("::cache_hint")) {
            Ok((atomic, _)) => spelled(&atomic.ptx()).ok_or_else(|| misspelt(NOT_LISTED)),
            Err(wrong) => Err(misspelt(&said_wrong(wrong))),
        };
    }
    if opcode == "multimem" && !later {
        return match judge_multimem(text) {
            Ok((multimem, _)) => {
                let ptx = multimem.ptx();
                spelled(&ptx).or_else(|| spelled(&ptx.replace(".weak", ""))).ok_or_else(|| misspelt(NOT_LISTED))
            }
            Err(wrong) => Err(misspelt(&said_wrong(wrong))),
        };
    }
    if !["ld", "ldu", "st"].contains(&opcode) || later {
        return function(text).ok_or_else(|| {
            let opcodes: BTreeSet<&str> = forms.all.iter().filter_map(|form| form.ptx().split('.').next()).collect();
            if let Some(place) = place_of(text, opcodes.contains(opcode)) {
                return said(place, Vec::new());
            }
            if opcodes.contains(opcode) {
                let name =
                    if later { text.splitn(3, '.').take(2).collect::<Vec<_>>().join(".") } else { opcode.into() };
                return misspelt(&format!(
                    "`{name}` has a function for each of its spellings, and none has these words"
                ));
            }
            let opcodes: Vec<String> = opcodes.into_iter().map(|opcode| format!("`{opcode}`")).collect();
            misspelt(&format!("the instructions are {}", opcodes.join(", ")))
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
            spelled(&short).or_else(|| spelled(&entry)).ok_or_else(|| misspelt(NOT_LISTED))
        }
        Err(wrong) => Err(misspelt(&said_wrong(wrong))),
    }
}

const NOT_LISTED: &str = "the catalogue does not list it";

fn said_wrong(wrong: Wrong<'_>) -> String {
    let meant = wrong.suggestion().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
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

/// What a method is called by: the constructor, whether under a policy, whether it writes.
type Called = (String, bool, bool);

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

    fn called(&self) -> Called {
        (self.constructor.clone(), self.with_policy, self.writes)
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
        let mut ptx = stem(plain).0.to_owned();
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
        ptx += &format!(".{}", stem(typed).1);
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

/// A spelling without its type, and the type: `v4.f32`.
fn stem(form: &Form) -> (&str, &str) {
    let ptx = form.ptx();
    if form.element().is_none() {
        return (ptx, "-");
    }
    let (rest, scalar) = ptx.rsplit_once('.').unwrap_or((ptx, ""));
    match rest.rsplit_once('.') {
        Some((stem, vector)) if vector.len() == 2 && vector.starts_with('v') => (stem, &ptx[stem.len() + 1..]),
        _ => (rest, scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a page prints leads back to it.
    #[test]
    fn what_is_printed_is_read() {
        let mut read = 0;
        for form in
            FORMS.all.iter().step_by(41).chain(
                FORMS.all.iter().filter(|form| form.element().is_none() && !form.is_atomic() && !form.is_multimem()),
            )
        {
            assert_eq!(find(&form.full_ptx()).map(|found| found.full_ptx()), Ok(form.full_ptx()));
            let printed = [
                Some(form.full_ptx()),
                Some(form.rust().to_owned()),
                form.rust_if(),
                form.rust_ptx(),
                form.rust_ptx_if(),
            ];
            for text in printed.into_iter().flatten() {
                let found = find(&text).unwrap_or_else(|misspelt| panic!("{misspelt}"));
                // One call may be of several forms, and one form may have several calls, which its page lists.
                let same = found.rust() == form.rust() || found.ptx() == form.ptx();
                assert!(same, "{text}: {} and not {}", found.full_ptx(), form.full_ptx());
                read += 1;
            }
        }
        assert!(read > 8000, "{read}");
    }

    #[test]
    fn a_form_is_read_as_it_stands_in_programs() {
        for (text, ptx) in [
            ("ldg(p)", "ld.global.nc.f32"),
            ("ldg(x.add(i) as *const V4<f32>)", "ld.global.nc.v4.f32"),
            ("ptx!(ld.acquire.gpu.global.u32 [p as *const u32])", "ld.acquire.gpu.global.u32"),
            ("ptx!(@(i < n) ld.global.f32[p], else 0.0);", "ld.global.f32"),
            ("@%p1 ld.global.nc.L1::evict_last.f32 %f1, [%rd1+16];", "ld.global.nc.L1::evict_last.f32"),
            ("st.global.cs.v2.f32 [%rd4], {%f1, %f2};", "st.global.cs.v2.f32"),
            ("ld_shared().read_if(cond, p as *const f32, or)", "ld.shared.f32"),
            ("prefetch.L2::evict_last.global [a];", "prefetch.global.L2::evict_last"),
        ] {
            assert_eq!(find(text).map(|form| form.ptx().to_owned()), Ok(ptx.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_elsewhere_is_told() {
        for (text, why) in [
            ("shfl.sync.bfly.b32", "`ptx-kernel` has it: `shuffle_xor(value, mask)`"),
            ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "`ptx_kernel::matrix` has the dense ones"),
            ("bar.warp.sync -1;", "`ptx-kernel` has it: `sync_warp()`"),
            ("wgmma.fence.sync.aligned;", "it is not covered: docs/coverage.md"),
        ] {
            let misspelt = find(text).expect_err(text).to_string();
            assert!(misspelt.contains(&format!("is no form: {why}")), "{misspelt}");
            assert!(!misspelt.contains("near"), "{misspelt}");
        }
    }
}
