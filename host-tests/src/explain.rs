//! What a form is: its Rust, its PTX, what it needs, its machine code, what its words mean; and of a misspelt one, what
//! is wrong and what is near.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Form};
use ptx_intrinsics::grammar::access::Spelling;
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::read::Wrong;
use ptx_intrinsics::{L1PriorityWord, L2PriorityWord, OperatorWord, OrderWord, PrefetchSizeWord, ScopeWord};
use rayon::prelude::*;
use regex::Regex;

use crate::cuda_tools::CudaTools;
use crate::error::Result;
use crate::forms::CUDA_NAMES;
use crate::sass::golden::ranges;
use crate::sass::{self, Reader, Seen, trace};
use crate::target::{PtxVersion, Sm};

/// How many near forms are named.
const SHOWN: usize = 3;

/// How long a text may be. No form is so long, and what is near is found in time that grows with it.
pub const LONGEST: usize = 200;

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

/// Finds the form of a text: PTX, words in any order, or Rust; where that names no type, with `f32` or the first that fits.
pub fn find(text: &str) -> Result<Form, Misspelt> {
    let text = text.trim();
    if text.len() > LONGEST {
        let begin = text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end]);
        let why = format!("it has {} bytes, and the longest form fewer than {LONGEST}", text.len());
        return Err(Misspelt { text: format!("{begin}…"), why, near: Vec::new() });
    }
    let forms: Vec<Form> = catalogue::forms().collect();
    if let Some(spelled) = ptx_of(text) {
        return find_ptx(&spelled, &forms);
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
        let near = calls.into_iter().take(SHOWN).map(|(_, rust)| rust).collect();
        let why = asked.why_not(&forms);
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
    // A spelling keeps slices of its text. One text is asked about in a run.
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
    if wrong.word.is_empty() { wrong.why.into() } else { format!("`{}`: {}", wrong.word, wrong.why) }
}

/// The word of PTX that a type of the crate stands for; nothing where it says nothing.
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

/// The legal forms that are nearest: unknown words become the nearest known ones, then words that differ count.
fn near(text: &str, forms: &[Form]) -> Vec<String> {
    let vocabulary: BTreeSet<&str> = forms.iter().flat_map(|form| form.ptx().split('.')).collect();
    let nearest = |word: &str| {
        let distance = |known: &&&str| strsim::damerau_levenshtein(known, word);
        vocabulary.iter().min_by_key(distance).copied().unwrap_or_default().to_owned()
    };
    let meant: Vec<String> = text.split('.').map(nearest).collect();
    let apart = |form: &Form| words_apart(&meant, form.ptx());
    let mut ranked: Vec<(usize, &str)> = forms.iter().map(|form| (apart(form), form.ptx())).collect();
    ranked.sort();
    ranked.dedup();
    let furthest = ranked.get(SHOWN - 1).map_or(0, |(distance, _)| *distance);
    let mut close: Vec<(usize, bool, usize, &str)> = ranked
        .into_iter()
        .take_while(|(distance, _)| *distance <= furthest)
        // Where the type is missing, any is as near: the common one goes first.
        .map(|(distance, ptx)| (distance, !ptx.ends_with(".f32"), strsim::damerau_levenshtein(ptx, text), ptx))
        .collect();
    close.sort();
    close.into_iter().take(SHOWN).map(|(.., ptx)| ptx.to_owned()).collect()
}

/// How many words stand in one and not in the other, in any order.
fn words_apart(meant: &[String], ptx: &str) -> usize {
    let mut left: Vec<&str> = meant.iter().map(String::as_str).collect();
    let mut extra = 0;
    for word in ptx.split('.') {
        match left.iter().position(|own| *own == word) {
            Some(at) => drop(left.swap_remove(at)),
            None => extra += 1,
        }
    }
    left.len() + extra
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
        // A name of CUDA C++ stands for a constructor and its method, and a prefetch is all there is.
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
        let mut ptx = sass::golden::stem(plain.ptx()).0.to_owned();
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
        ptx += &format!(".{}", sass::golden::stem(typed.ptx()).1);
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

/// All about a form, its machine code read from the tools.
pub fn explain(form: &Form, tools: &CudaTools) -> Result<String> {
    if !sass::touches_memory(form) {
        return Ok(page(form, &Seen::new()));
    }
    let sms = sass::gpus(tools)?;
    Ok(page(form, &see(form, &Reader::new(tools), &sms)?))
}

/// The machine code of a form and of it without each hint.
fn see(form: &Form, reader: &Reader, sms: &[Sm]) -> Result<Seen> {
    // Without a hint a form is legal wherever it is with it.
    let told = form.told();
    let without = trace::without_hints(&told).into_iter().map(|(_, without)| without);
    let spellings: Vec<String> = without.chain([told.clone()]).collect();
    let accesses: Vec<&str> = spellings.iter().map(String::as_str).collect();
    let on = |sm: &Sm| Ok((*sm, spellings.iter().cloned().zip(reader.alone_and_kept(*sm, &accesses)?).collect()));
    let sms: Vec<&Sm> = sms.iter().filter(|sm| form.min_sm() <= sm.number).collect();
    Ok(sms.into_par_iter().map(on).collect::<Result<Vec<_>>>()?.into_iter().collect())
}

fn page(form: &Form, seen: &Seen) -> String {
    let mut page = String::new();
    let mut section = |name: &str, lines: Vec<String>| {
        for (at, line) in lines.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "{:<8}{line}", if at == 0 { name } else { "" });
        }
    };
    section("PTX", vec![form.told()]);
    let mut rust = vec![form.rust().to_owned()];
    rust.extend(form.rust_if());
    rust.extend(form.rust_ptx().filter(|ptx| ptx != form.rust()));
    section("Rust", rust);
    let others = catalogue::forms().filter(|other| other.ptx() == form.ptx() && other.told() != form.told());
    section("Also", others.map(|other| format!("{}   {}", other.told(), other.rust())).collect());
    let version = PtxVersion::new(form.min_ptx() / 10, form.min_ptx() % 10);
    let sm = Sm::new(form.min_sm());
    let first = Sm::new(70);
    let flags = if form.min_sm() <= first.number && version <= PtxVersion::default_for(first) {
        "every target of rustc has them".to_owned()
    } else {
        format!("-Ctarget-cpu={} -Ctarget-feature=+{}", sm.max(first), version.feature())
    };
    section("Needs", vec![format!("{sm} and PTX ISA {version}: {flags}")]);
    section("Machine", machine_code(form, seen));
    section("Words", words(form));
    section("ISA", vec![format!("{ISA}{}", anchor(form.ptx()))]);
    page
}

/// A line for all GPUs that agree.
fn machine_code(form: &Form, seen: &Seen) -> Vec<String> {
    if seen.is_empty() {
        return vec!["arithmetic on registers; of constants, two moves".into()];
    }
    let sms: Vec<Sm> = seen.keys().copied().collect();
    let mut lines: BTreeMap<String, BTreeSet<Sm>> = BTreeMap::new();
    for (sm, codes) in seen {
        let Some(code) = codes.get(&form.told()) else { continue };
        let lost = trace::lost(&form.told(), *sm, seen).concat();
        let lost = if lost.is_empty() { lost } else { format!("   no trace of {lost}") };
        lines.entry(code.line() + &lost).or_default().insert(*sm);
    }
    let mut lines: Vec<(BTreeSet<Sm>, String)> = lines.into_iter().map(|(line, on)| (on, line)).collect();
    lines.sort();
    lines.into_iter().map(|(on, line)| format!("sm_{:<12} {line}", ranges(&on, &sms))).collect()
}

fn words(form: &Form) -> Vec<String> {
    let meaning = |word: &str| {
        let opcode = form.ptx().split('.').next().unwrap_or_default();
        let own = format!("{opcode} .{word}");
        let said = MEANINGS.iter().find(|(known, _)| *known == own);
        let said = said.or_else(|| MEANINGS.iter().find(|(known, _)| *known == format!(".{word}")));
        said.map(|(_, lines)| (format!(".{word}"), *lines))
    };
    let meanings = form.ptx().split('.').skip(1).filter_map(meaning);
    let lines = meanings.flat_map(|(word, [first, second])| {
        [format!("{word:<22} {first}"), format!("{:<22} {second}", "")].map(|line| line.trim_end().to_owned())
    });
    lines.filter(|line| !line.is_empty()).collect()
}

const ISA: &str = "https://docs.nvidia.com/cuda/parallel-thread-execution/#";

fn anchor(ptx: &str) -> String {
    let barriers = "parallel-synchronization-and-communication-instructions-";
    let words: Vec<&str> = ptx.split('.').collect();
    match words[..] {
        ["mbarrier", "test_wait" | "try_wait", ..] => format!("{barriers}mbarrier-test-wait-try-wait"),
        ["mbarrier", word, ..] => format!("{barriers}mbarrier-{}", word.replace('_', "-")),
        ["atom", ..] => format!("{barriers}atom"),
        ["red", ..] => format!("{barriers}red"),
        ["fence" | "membar", ..] => format!("{barriers}membar-fence"),
        ["cp", "async", "mbarrier", ..] => format!("{barriers}cp-async-mbarrier-arrive"),
        _ => format!("data-movement-and-conversion-instructions-{}", data_movement(&words)),
    }
}

fn data_movement(words: &[&str]) -> &'static str {
    match words {
        ["cp", "async", "bulk", "prefetch", "tensor", ..] => return "cp-async-bulk-prefetch-tensor",
        ["cp", "async", "bulk", "prefetch", ..] => return "cp-async-bulk-prefetch",
        ["cp", "async", "bulk", "commit_group"] => return "cp-async-bulk-commit-group",
        ["cp", "async", "bulk", "wait_group", ..] => return "cp-async-bulk-wait-group",
        ["cp", "async", "bulk", ..] => return "cp-async-bulk",
        ["cp", "async", "commit_group"] => return "cp-async-commit-group",
        ["cp", "async", "wait_group" | "wait_all"] => return "cp-async-wait-group",
        ["cp", ..] => return "cp-async",
        _ => {}
    }
    match words.first() {
        Some(&"ld") if words.contains(&"nc") => "ld-global-nc",
        Some(&"ld") => "ld",
        Some(&"ldu") => "ldu",
        Some(&"st") => "st",
        Some(&"applypriority") => "applypriority",
        Some(&"isspacep") => "isspacep",
        Some(&"cvta") => "cvta",
        Some(&"mapa") => "mapa",
        Some(&"getctarank") => "getctarank",
        Some(&"discard") => "discard",
        Some(&"createpolicy") => "createpolicy",
        _ => "prefetch-prefetchu",
    }
}

/// What each word means, in two lines at most; `st` before a word that means something else on a store.
const MEANINGS: &[(&str, [&str; 2])] = &[
    ("cvta .u64", ["addresses of 64 bits", ""]),
    ("mapa .u64", ["addresses of 64 bits", ""]),
    ("mapa .u32", ["addresses of 32 bits", ""]),
    ("getctarank .u64", ["of an address of 64 bits", ""]),
    ("getctarank .u32", ["of an address of 32 bits", ""]),
    (
        "fence .sc",
        [
            "and all such fences stand in one order: of two threads that store, fence and load,",
            "one sees what the other stored",
        ],
    ),
    ("fence .acq_rel", ["with relaxed accesses around it, an acquire and a release at once", ""]),
    ("fence .acquire", ["nothing behind is done before what was read before", ""]),
    ("fence .release", ["what came before is seen before what is written behind", ""]),
    (".sync_restrict::shared::cluster", ["for what lies in the cluster's shared memory", ""]),
    (".sync_restrict::shared::cta", ["for what lies in this block's shared memory", ""]),
    (".mbarrier_init", ["for barriers that were just initialised", ""]),
    (".proxy", ["between two ways to reach the same memory", ""]),
    (".alias", ["by two addresses", ""]),
    ("fence .async", ["by plain accesses and by asynchronous copies", ""]),
    ("membar .async", ["by plain accesses and by asynchronous copies", ""]),
    (".async::generic", ["by asynchronous copies and by plain accesses", ""]),
    (".tensormap::generic", ["by copies through a tensor map, and by plain accesses to the map", ""]),
    ("membar .cta", ["a fence.sc among the threads of the block", ""]),
    (".gl", ["a fence.sc among all threads on this GPU", ""]),
    ("membar .sys", ["a fence.sc among all threads on all GPUs and the host", ""]),
    ("cvta .to", ["from a generic address to one in the space; without it, the other way", ""]),
    (
        ".nc",
        ["by the non-coherent path: nothing may write there while the kernel runs,", "else stale data may be read"],
    ),
    (".volatile", ["neither dropped, merged nor moved by the compilers;", "to other threads as .relaxed.sys"]),
    (".relaxed", ["strong: other threads of the scope see whole values,", "and no order with other accesses"]),
    (
        ".acquire",
        ["what follows happens after what the thread did whose released value is read;", "L1 is invalidated behind it"],
    ),
    (".release", ["what came before is seen by threads that acquire this value:", "a fence stands before the store"]),
    (
        ".acq_rel",
        [
            "both: what follows happens after what the thread did whose released value is read,",
            "and what came before is seen by threads that acquire this one",
        ],
    ),
    (".and", ["the value in memory becomes its AND with the operand", ""]),
    (".or", ["the value in memory becomes its OR with the operand", ""]),
    (".xor", ["the value in memory becomes its XOR with the operand", ""]),
    (".exch", ["the value in memory becomes the operand", ""]),
    (".cas", ["the value in memory becomes the second operand,", "if it is equal to the first"]),
    (".inc", ["the value in memory goes up by one,", "and from the operand, or above, to 0"]),
    (".dec", ["the value in memory goes down by one,", "and from 0, or above the operand, to the operand"]),
    (".add", ["the operand is added to the value in memory", ""]),
    (".min", ["the value in memory becomes the less of it and the operand", ""]),
    (".max", ["the value in memory becomes the greater of it and the operand", ""]),
    (".noftz", ["subnormal numbers stay what they are", ""]),
    (".mmio", ["for memory-mapped devices: exactly one access, as wide as written", ""]),
    (".cta", ["among the threads of the block", ""]),
    (".cluster", ["among the threads of the cluster", ""]),
    (".gpu", ["among all threads on this GPU", ""]),
    (".sys", ["among all threads on all GPUs and the host", ""]),
    (".global", ["global memory", ""]),
    (".shared", ["this block's shared memory", ""]),
    (".shared::cluster", ["shared memory of a block of the cluster", ""]),
    (".const", ["a constant bank", ""]),
    (".local", ["the thread's own memory", ""]),
    (".param::entry", ["a parameter of the kernel", ""]),
    (".param::func", ["a parameter of the function", ""]),
    (".param", ["the kernel's parameters", ""]),
    (".ca", ["cached at all levels, likely to be read again", ""]),
    ("ld .cg", ["cached in L2 and not in L1", ""]),
    ("st .cg", ["cached in L2 and not in L1", ""]),
    ("ld .cs", ["streams by, likely read once: the first to be evicted", ""]),
    ("st .cs", ["streams by: the first to be evicted", ""]),
    (".lu", ["last use: the line need not be written back", ""]),
    (".cv", ["not cached: fetched again at each read,", "as system memory that others write"]),
    (".wb", ["written back from all coherent levels", ""]),
    (".wt", ["written through L2 to system memory", ""]),
    (".L1::evict_normal", ["L1 evicts it as any line", ""]),
    (".L1::evict_unchanged", ["L1 keeps the line's priority as it is", ""]),
    (".L1::evict_first", ["L1 evicts it before others: for what streams by", ""]),
    (".L1::evict_last", ["L1 evicts it after others: for what is read again", ""]),
    (".L1::no_allocate", ["no line of L1 is taken for it: what is there stays", ""]),
    (".L2::evict_normal", ["L2 evicts it as any line", ""]),
    (".L2::evict_first", ["L2 evicts it before others: for what streams by", ""]),
    (".L2::evict_last", ["L2 evicts it after others: for what is read again", ""]),
    (".L2::cache_hint", ["L2 treats it by the cache policy that is given,", "which `CachePolicy` makes"]),
    (".L2::64B", ["L2 fetches the 64 bytes around it", ""]),
    (".L2::128B", ["L2 fetches the 128 bytes around it", ""]),
    (".L2::256B", ["L2 fetches the 256 bytes around it", ""]),
    (".L1", ["into L1", ""]),
    (".L2", ["into L2", ""]),
    ("discard .L2", ["dropped from L2, not written back: the bytes are undetermined from then on", ""]),
    ("applypriority .L2::evict_normal", ["L2 evicts it as any line again, whatever it was told before", ""]),
    (
        "createpolicy .fractional",
        ["for a fraction of the lines, chosen by their addresses;", "for all if none is given"],
    ),
    ("createpolicy .range", ["for so many bytes from the address on, and so many in all", ""]),
    ("createpolicy .cvt", ["out of an access property of CUDA's host interface", ""]),
    ("createpolicy .b64", ["a policy has 64 bits", ""]),
    ("createpolicy .L2", ["a policy of L2", ""]),
    ("createpolicy .L2::evict_unchanged", ["L2 leaves the line's priority as it is", ""]),
    (".tensormap", ["the tensor map that cp.async.bulk.tensor will use", ""]),
    (".async", ["it is only begun: the thread goes on, and waits for it later", ""]),
    (".shared::cta", ["this block's shared memory", ""]),
    ("cp .ca", ["by way of all caches", ""]),
    ("cp .cg", ["by way of L2 and past L1", ""]),
    ("cp .b64", ["a barrier has 64 bits", ""]),
    (".commit_group", ["what was begun since the last one is a group, to be waited for", ""]),
    (".wait_group", ["waits until at most so many of the newest groups are not done", ""]),
    (".wait_all", ["waits until all is done that this thread has begun", ""]),
    (".read", ["only until shared memory is read, and may be written again", ""]),
    (".mbarrier", ["a barrier in shared memory learns of it", ""]),
    (".arrive", ["one arrival less is lacking; gives the state before", ""]),
    (".arrive_drop", ["arrives for the last time: the next phases expect one less", ""]),
    (".noinc", ["the arrival is one of those that the barrier was told to expect", ""]),
    (".noComplete", ["the arrival does not complete the phase", ""]),
    (".init", ["the barrier begins, of so many arrivals", ""]),
    (".inval", ["the barrier ends: its memory may be used for something else", ""]),
    (".expect_tx", ["so many more bytes are expected in this phase", ""]),
    (".complete_tx", ["so many of the bytes that are expected have come", ""]),
    (".pending_count", ["how many arrivals the phase of a state lacked", ""]),
    (".test_wait", ["whether the phase is complete", ""]),
    (".try_wait", ["waits for a while, and says whether the phase is complete", ""]),
    (".parity", ["the phase is named by its parity, and not by a state", ""]),
    ("mbarrier .b64", ["a barrier has 64 bits", ""]),
    ("mbarrier .release", ["what came before is seen by those that see the phase complete", ""]),
    ("mbarrier .acquire", ["what those did before that arrived is seen behind it", ""]),
    ("mbarrier .relaxed", ["no order with other accesses", ""]),
    (".bulk", ["many bytes at once, a multiple of 16", ""]),
    (".mbarrier::complete_tx::bytes", ["tells the barrier how many bytes have come", ""]),
    (".bulk_group", ["one of a group that is waited for", ""]),
    (".multicast::cluster", ["to the same place in each block of a mask", ""]),
    (".ignore_oob", ["some bytes at either end are left out", ""]),
    (".cp_mask", ["of each 16 bytes those of a mask", ""]),
    (".prefetch", ["into L2 alone", ""]),
    (".tensor", ["a box of a tensor, which a tensor map tells of", ""]),
    (".1d", ["of one dimension", ""]),
    (".2d", ["of two dimensions", ""]),
    (".3d", ["of three dimensions", ""]),
    (".4d", ["of four dimensions", ""]),
    (".5d", ["of five dimensions", ""]),
    (".im2col", ["as columns of an image, at offsets in it", ""]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_meaning() {
        let words: BTreeSet<String> = catalogue::forms()
            .flat_map(|form| {
                let operation = form.ptx().split('.').next().unwrap_or_default().to_owned();
                let stem = sass::golden::stem(form.ptx()).0.to_owned();
                stem.split('.').skip(1).map(|word| format!("{operation} .{word}")).collect::<Vec<_>>()
            })
            .collect();
        let known = |word: &str| {
            let (_, plain) = word.split_once(' ').unwrap_or_default();
            MEANINGS.iter().any(|(known, _)| *known == word || *known == plain)
        };
        assert_eq!(words.iter().filter(|word| !known(word)).collect::<Vec<_>>(), [""; 0]);
        assert!(words.len() > 60, "{} words", words.len());
    }
}
