//! Mutations of what the crate says: found in its tokens, in macros too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use regex::Regex;

use super::{Kind, Mutant, Sign, Step};
use crate::tools::error::{Error, Result};

/// The SMs at which a gate begins, in order.
pub const SMS: [u32; 9] = [20, 30, 32, 60, 70, 75, 80, 90, 100];
/// The PTX ISA versions at which a gate begins, in order.
pub const VERSIONS: [u32; 22] =
    [20, 31, 50, 60, 62, 63, 70, 71, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 88, 91, 92, 94];

/// A token with the words around it.
struct Token<'a> {
    text: &'a str,
    range: Range<usize>,
    /// Its line, from 1.
    line: usize,
    owner: String,
    /// The innermost macro call or definition, if there is one: `lines`, `macro_rules`.
    called: String,
}

/// A gate of the table: `Name FLAG sm_80 ptx74;`.
pub struct Gate {
    name: String,
    flag: String,
    begins: [u32; 2],
}

impl Gate {
    /// The numbers that are others where this gate becomes that one.
    fn steps(&self, other: &Gate) -> Vec<Step> {
        let of = |at: usize| (["sm_", "ptx"][at], self.begins[at], other.begins[at]);
        [0, 1].map(of).into_iter().filter(|(_, from, to)| from != to).collect()
    }
}

/// The gates that a table of this source names, in their order.
pub fn gates(source: &str) -> Vec<Gate> {
    static ROW: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s+([A-Z]\w+) ([A-Z0-9_]+) sm_(\d+) ptx(\d+);").expect("the pattern is valid")
    });
    let gate = |row: regex::Captures<'_>| {
        let [name, flag] = [1, 2].map(|at| row[at].to_owned());
        Gate { name, flag, begins: [3, 4].map(|at| row[at].parse().expect("digits")) }
    };
    ROW.captures_iter(source).map(gate).collect()
}

/// The table of what others call a word of PTX; each line is of one word.
const OTHER_NAMES: &str = "ALSO_CALLED";

/// What a change of one of the texts of such a line shows: the first is the word, each of the others is a name of it.
fn other_name(tokens: &[Token<'_>], at: usize) -> Sign {
    let text = |token: &Token<'_>| token.text.trim_matches('"').to_owned();
    let is_own = |token: &&Token<'_>| token.line == tokens[at].line && token.text.starts_with('"');
    let word = tokens.iter().find(is_own).unwrap_or(&tokens[at]);
    Sign::Names(text(word), (word.range != tokens[at].range).then(|| text(&tokens[at])))
}

/// The nearest gates of the table, before and after one, that begin elsewhere.
fn near<'g>(gates: &'g [Gate], own: &Gate, at: usize) -> impl Iterator<Item = &'g Gate> {
    let other = |gate: &&Gate| gate.begins != own.begins;
    [gates[..at].iter().rev().find(other), gates[at + 1..].iter().find(other)].into_iter().flatten()
}

/// All mutants of a file, where the crate has these gates.
pub fn find(file: &str, source: &str, gates: &[Gate]) -> Result<Vec<Mutant>> {
    let wrong = |error: &dyn std::fmt::Display| Error::new(format_args!("this is not Rust: {error}")).at(file);
    let stream: TokenStream = source.parse().map_err(|error| wrong(&error))?;
    let mut tokens = Vec::new();
    flatten(source, stream, "", "", &mut tokens);
    let functions = free_functions(&tokens);
    let mut mutants = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let mutant = |kind, range: Range<usize>, with: String, sign| {
            let own = range.start.max(token.range.start)..range.end;
            let token = token.range.start.min(range.start)..token.range.end.max(range.end);
            let local = own.start - token.start..own.end - token.start;
            let before = source[token].to_owned();
            let after = replace_at(&before, local, &with);
            let Token { line, owner, .. } = &tokens[at];
            let (file, line, owner) = (file.to_owned(), *line, owner.clone());
            let gone = source[range.clone()].to_owned();
            Mutant { kind, file, line, range, gone, with, before, after, sign, steps: Vec::new(), owner }
        };
        let whole = token.range.clone();
        let called = || match functions.contains(token.owner.as_str()) {
            true => Sign::Calls(vec![token.owner.clone()]),
            false => Sign::Alone,
        };
        if token.text.starts_with('"') {
            for (kind, range, with, sign) in of_text(token.text, at) {
                let range = whole.start + range.start..whole.start + range.end;
                let sign = match token.owner.as_str() {
                    OTHER_NAMES => other_name(&tokens, at),
                    _ => sign.or_else(|| lanes(&tokens, at, &with)).unwrap_or_else(called),
                };
                mutants.push(mutant(kind, range, with, sign));
            }
        }
        // The rows of `target.rs` define the names. After machine code it is the GPU of an example in the documentation.
        if !file.ends_with("target.rs") && !in_use(&tokens, at) && !is_after_a_text(&tokens, at) {
            for step in steps(token.text) {
                let (axis, from, to) = step;
                let made = mutant(Kind::Gate, whole.clone(), format!("{axis}{to}"), Sign::Step(axis, from, to));
                mutants.push(Mutant { steps: vec![step], ..made });
            }
        }
        // One that is named becomes its neighbours in the table. `needs!` is a sentence of the documentation.
        let named = gates.iter().position(|gate| gate.name == token.text);
        let is_said = ["gates", "needs"].contains(&token.called.as_str());
        if let Some(at) = named.filter(|_| !in_use(&tokens, at) && !is_said) {
            for other in near(gates, &gates[at], at) {
                let sign = match token.called == "instructions" && functions.contains(token.owner.as_str()) {
                    true => Sign::Calls(vec![token.owner.clone()]),
                    false => Sign::Gate(gates[at].flag.clone(), other.flag.clone()),
                };
                let made = mutant(Kind::Gate, whole.clone(), other.name.clone(), sign);
                mutants.push(Mutant { steps: gates[at].steps(other), ..made });
            }
        }
        for (range, with) in of_effect(&tokens, at) {
            mutants.push(mutant(Kind::Effect, range, with, calls_of_effect(file, &tokens, at)));
        }
        if let Some((with, lanes)) = of_register(&tokens, at) {
            let sign = shape(&tokens, at).map_or(Sign::Alone, |shape| Sign::Lanes(shape, lanes));
            mutants.push(mutant(Kind::Register, whole, with, sign));
        }
    }
    let mut seen = BTreeSet::new();
    mutants.retain(|mutant| seen.insert((mutant.range.start, mutant.range.end, mutant.with.clone())));
    Ok(mutants)
}

/// The functions that a file defines once, and not as a method.
fn free_functions<'a>(tokens: &[Token<'a>]) -> BTreeSet<&'a str> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in tokens.windows(2).filter(|pair| pair[0].text == "fn") {
        *seen.entry(pair[1].text).or_default() += 1;
    }
    seen.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name).collect()
}

/// The leaves, without attributes and documentation.
fn flatten<'a>(source: &'a str, stream: TokenStream, owner: &str, called: &str, out: &mut Vec<Token<'a>>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let (mut owner, mut at) = (owner.to_owned(), 0);
    while let Some(tree) = trees.get(at) {
        let ident = |at: usize| match trees.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
            _ => None,
        };
        let punct = |at: usize| match trees.get(at) {
            Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
            _ => None,
        };
        if punct(at) == Some('#') {
            let skip = if punct(at + 1) == Some('!') { 2 } else { 1 };
            if matches!(trees.get(at + skip), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket)
            {
                at += skip + 1;
                continue;
            }
        }
        // Tests are what a mutant is shown to.
        if is_tests(&trees[..at]) && punct(at) != Some('#') {
            let end = trees[at..]
                .iter()
                .position(|tree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace));
            at += end.map_or(1, |end| end + 1);
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let before = at.checked_sub(1);
                let name = match before.and_then(punct) {
                    Some('!') => ident(at.saturating_sub(2)),
                    _ => None,
                };
                // `macro_rules! name { … }`
                let defined = before.and_then(ident).filter(|_| at >= 2 && punct(at - 2) == Some('!'));
                let inner = match (&name, &defined) {
                    (Some(name), _) => name.clone(),
                    (None, Some(_)) => "macro_rules".to_owned(),
                    // `options(…)`
                    _ => before.and_then(ident).filter(|name| name == "options").unwrap_or_else(|| called.to_owned()),
                };
                if let Some(defined) = defined {
                    owner = defined;
                }
                flatten(source, group.stream(), &owner, &inner, out);
            }
            leaf => {
                let range = leaf.span().byte_range();
                let text = &source[range.clone()];
                let is_item = ["fn", "struct", "trait", "mod", "const", "static", "type", "enum"].contains(&text);
                match ident(at + 1) {
                    Some(name) if is_item => owner = name,
                    // `fn [CachePolicy] range`
                    None if text == "fn" => owner = ident(at + 2).unwrap_or(owner),
                    // A row of a table begins with a name of its own, and no label.
                    _ if punct(at + 1) != Some(':') && row_name(text, called, source, &range) => {
                        owner = text.to_owned()
                    }
                    _ => {}
                }
                let line = leaf.span().start().line;
                out.push(Token { text, range, line, owner: owner.clone(), called: called.to_owned() });
            }
        }
        at += 1;
    }
}

/// Whether what comes next is for tests alone: `#[cfg(test)]` is before it.
fn is_tests(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Punct(hash), TokenTree::Group(group)]
        if hash.as_char() == '#' && group.to_string().replace(' ', "") == "[cfg(test)]")
}

/// Whether a name begins a line inside a table.
fn row_name(text: &str, called: &str, source: &str, range: &Range<usize>) -> bool {
    let line = source[..range.start].rsplit('\n').next().unwrap_or_default();
    !called.is_empty()
        && called != "macro_rules"
        && line.trim().is_empty()
        && text.len() > 2
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["sm_", "ptx", "unsafe", "const", "concat"].iter().any(|other| text.starts_with(other))
        && !["load", "store", "atomic", "wide", "message"].contains(&text)
}

fn is_after_a_text(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| tokens[before].text.starts_with('"'))
}

fn in_use(tokens: &[Token<'_>], at: usize) -> bool {
    let statement = tokens[..at].iter().rev().take_while(|token| token.text != ";");
    statement.take(24).any(|token| token.text == "use")
}

/// One step down and up: the axis, the number, the other number.
fn steps(text: &str) -> Vec<Step> {
    let (prefix, order): (&'static str, &[u32]) = match text {
        _ if text.starts_with("sm_") => ("sm_", &SMS),
        _ if text.starts_with("ptx") => ("ptx", &VERSIONS),
        _ => return Vec::new(),
    };
    let Some(number) = text.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok()) else { return Vec::new() };
    let Some(at) = order.iter().position(|&one| one == number) else { return Vec::new() };
    let near = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| order.get(at));
    near.map(|&near| (prefix, number, near)).collect()
}

/// Whether a literal is PTX, or a part of it, and neither a sentence nor machine code, which is there for the documentation.
fn is_ptx(text: &str) -> bool {
    static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"`|[a-z]{2,} [a-z]{2,} [a-z]{2,}|\b[A-Z][a-z]|\b[A-Z]{3}|: |::<|\(|=").expect("valid")
    });
    static PTX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\.[a-zA-Z]|\[|%|\b[a-z]+\.").expect("valid"));
    PTX.is_match(text) && !SENTENCE.is_match(text)
}

/// Mutations of the literal that is the `number`th token: where in it, what is there then, and what shows it.
#[allow(clippy::type_complexity, reason = "it is read in one place")]
fn of_text(literal: &str, number: usize) -> Vec<(Kind, Range<usize>, String, Option<Sign>)> {
    static REGISTERS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{(\w+)\}").expect("valid"));
    if !is_ptx(literal) && !literal.contains("{d0}") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for word in WORD.find_iter(literal) {
        let text = word.as_str();
        if text.starts_with(['{', '}', '\\']) || !text.contains(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let changed = other_letter(text, number + word.start());
        found.push((Kind::Text, word.range(), changed, Some(Sign::Another)));
        if text.starts_with('.') {
            found.push((Kind::Text, word.range(), String::new(), Some(Sign::Missing(text.to_owned()))));
        }
    }
    let names: Vec<regex::Captures<'_>> = REGISTERS.captures_iter(literal).collect();
    for pair in names.windows(2) {
        let ((a, a_at), (b, b_at)) = ((&pair[0][1], pair[0].get(1)), (&pair[1][1], pair[1].get(1)));
        let (Some(a_at), Some(b_at)) = (a_at, b_at) else { continue };
        if a == b {
            continue;
        }
        let swapped = format!("{b}{}{a}", &literal[a_at.end()..b_at.start()]);
        let lane = |name: &str| name.strip_prefix('d').is_some_and(|number| number.parse::<u32>().is_ok());
        let kind = if lane(a) && lane(b) { Kind::Register } else { Kind::Operand };
        found.push((kind, a_at.start()..b_at.end(), swapped, None));
    }
    found
}

/// The words of a text of PTX.
pub(super) static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{|\}\}|\\n|\{\w+\}|%\w+|\.?[A-Za-z_][\w:]*").expect("valid"));

fn replace_at(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

/// The word with its last letter changed, to another one from place to place: that tells mutants apart.
fn other_letter(word: &str, number: usize) -> String {
    const OTHERS: [&str; 8] = ["q", "z", "j", "k", "w", "y", "h", "v"];
    let at = word.rfind(|c: char| c.is_ascii_alphabetic()).unwrap_or_default();
    let other = OTHERS[number % OTHERS.len()];
    let other = if &word[at..=at] == other { OTHERS[(number + 1) % OTHERS.len()] } else { other };
    replace_at(word, at..at + 1, other)
}

/// Other effects for an `options(…)` that begins here, or for the word of a row.
fn of_effect(tokens: &[Token<'_>], at: usize) -> Vec<(Range<usize>, String)> {
    let token = &tokens[at];
    let first =
        token.called == "options" && tokens.get(at.wrapping_sub(1)).is_none_or(|before| before.called != "options");
    if first {
        let own: Vec<&Token<'_>> = tokens[at..].iter().take_while(|token| token.called == "options").collect();
        let range = token.range.start..own.last().map_or(token.range.end, |last| last.range.end);
        let words: Vec<&str> = own.iter().map(|token| token.text).filter(|text| *text != ",").collect();
        if words.iter().any(|word| word.contains('$')) {
            return Vec::new();
        }
        return other_options(&words).into_iter().map(|options| (range.clone(), options)).collect();
    }
    // What the arms of `__instruction!` are called.
    if token.owner == "__instruction" {
        return Vec::new();
    }
    let is_said = |what: &str| at.checked_sub(1).is_some_and(|before| tokens[before].text == what);
    let other = match token.text {
        // Of a table of instructions.
        "message" if is_said("effect") => "hint",
        "hint" | "compute" if is_said("effect") => "message",
        // A word of a table, and no name in a function.
        _ if token.called.is_empty() || token.called == "options" => return Vec::new(),
        "pure" => "memory",
        "memory" => "pure",
        "readonly" => "nomem",
        _ => return Vec::new(),
    };
    vec![(token.range.clone(), other.to_owned())]
}

fn other_options(words: &[&str]) -> Vec<String> {
    let without =
        |gone: &[&str]| words.iter().copied().filter(|word| !gone.contains(word)).collect::<Vec<_>>().join(", ");
    let with = |more: &str| format!("{more}, {}", words.join(", "));
    let mut all: Vec<String> = words.iter().map(|word| without(&[word])).collect();
    if words.contains(&"pure") {
        all.push(without(&["pure", "readonly", "nomem"]));
        let other = if words.contains(&"nomem") { ("nomem", "readonly") } else { ("readonly", "nomem") };
        all.push(words.join(", ").replace(other.0, other.1));
    } else {
        all.extend([with("nomem"), with("readonly"), with("pure, nomem"), with("pure, readonly")]);
    }
    all
}

/// The calls that have an effect which is said in one row, or with one instruction.
fn calls_of_effect(file: &str, tokens: &[Token<'_>], at: usize) -> Sign {
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    if tokens[at].called == "instructions" && before == "effect" {
        let own = tokens[at..].iter().take_while(|token| token.text != "instruction").map(|token| token.text);
        let words: Vec<&str> = own.collect();
        let named = words.windows(3).filter(|words| words[0] == "fn");
        return Sign::Calls(named.map(|words| words[1 + usize::from(words[1] == "CachePolicy")].to_owned()).collect());
    }
    let instruction = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let (name, verb) = match instruction {
        "ld" | "ld_global_nc" => (instruction, ".read"),
        "st" => (instruction, ".write"),
        _ => return Sign::Alone,
    };
    let global = if name.ends_with("_nc") { name.to_owned() } else { format!("{name}_global") };
    // `Cg pure` among the operators; `Shared ".shared", narrow types, cvta ".shared", [weak pure]`.
    match tokens[at].owner.as_str() {
        "hints" => Sign::Said(vec![format!("{global}::<NoHint"), verb.to_owned()]),
        "operators" => Sign::Said(vec![format!("{global}::<{before}")]),
        space if before == "weak" => {
            let snake = space.chars().fold(name.to_owned(), |name, c| match c.is_uppercase() {
                true => format!("{name}_{}", c.to_ascii_lowercase()),
                false => format!("{name}{c}"),
            });
            Sign::Said(vec![format!("{}().{}", snake.trim_end_matches("_generic"), &verb[1..])])
        }
        _ => Sign::Alone,
    }
}

/// What the lanes are of that are named in this place: `V4 reg16` of a load or store, `x4` of an atomic.
fn shape(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let line = |line: usize| tokens.iter().filter(move |token| token.line == line).map(|token| token.text);
    let own: Vec<&str> = line(tokens[at].line).collect();
    if let Some(found) = own.windows(4).find(|words| words[0].starts_with('V') && words[1..3] == ["<", "$"]) {
        return Some(format!("{} {}", found[0], found[3]));
    }
    // The rule of a shape begins with its name: `(@registers x4 …`.
    let rule = tokens[..at].windows(2).rev().find(|words| words[0].text == "registers")?;
    rule[1].text.starts_with('x').then(|| rule[1].text.to_owned())
}

/// The lanes that are swapped in this place.
fn lanes(tokens: &[Token<'_>], at: usize, with: &str) -> Option<Sign> {
    static LANE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{d(\d)\}").expect("the pattern is valid"));
    let swapped: Vec<usize> =
        LANE.captures_iter(&format!("{{{with}}}")).filter_map(|lane| lane[1].parse().ok()).collect();
    Some(Sign::Lanes(shape(tokens, at)?, swapped.try_into().ok()?))
}

/// The next register of a vector in an operand's place, `$d.1` for `$d.0`, and which lanes that are.
fn of_register(tokens: &[Token<'_>], at: usize) -> Option<(String, [usize; 2])> {
    let [.., dollar, name, dot] = &tokens[..at] else { return None };
    let number: usize = tokens[at].text.parse().ok()?;
    let is_lane = dollar.text == "$" && name.text == "d" && dot.text == ".";
    is_lane.then(|| ((number ^ 1).to_string(), [number, number ^ 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str) -> Vec<String> {
        let table = "  Early EARLY sm_20 ptx20;\n  Same SAME sm_30 ptx31;\n  Middle MIDDLE sm_30 ptx31;\n  Late LATE sm_70 ptx60;\n";
        find("f.rs", source, &gates(table)).unwrap().iter().map(Mutant::told).collect()
    }

    #[test]
    fn what_is_found() {
        let source = r#"
            /// `ld.global` is no text.
            #[doc(alias = "ld.global")]
            fn fence() where sm_70: HasSm<fence> {
                use target::sm_80;
                at::<Middle>();
                asm!("mov.b128 {{{d0}, {d1}}}, [{p}];", options(nostack))
            }
            #[cfg(test)]
            mod tests {
                fn case() { asm!("ld.global.f32", options(nostack)) }
            }
        "#;
        let expected = [
            "f.rs gate in fence: sm_70 → sm_60",
            "f.rs gate in fence: sm_70 → sm_75",
            "f.rs gate in fence: Middle → Early",
            "f.rs gate in fence: Middle → Late",
            r#"f.rs text in fence: "mov.b128 {{{d0}, {d1}}}, [{p}];" → "moz.b128 {{{d0}, {d1}}}, [{p}];""#,
            r#"f.rs text in fence: "mov.b128 {{{d0}, {d1}}}, [{p}];" → "mov.w128 {{{d0}, {d1}}}, [{p}];""#,
            r#"f.rs text in fence: "mov.b128 {{{d0}, {d1}}}, [{p}];" → "mov {{{d0}, {d1}}}, [{p}];""#,
            r#"f.rs register in fence: "mov.b128 {{{d0}, {d1}}}, [{p}];" → "mov.b128 {{{d1}, {d0}}}, [{p}];""#,
            r#"f.rs operand in fence: "mov.b128 {{{d0}, {d1}}}, [{p}];" → "mov.b128 {{{d0}, {p}}}, [{d1}];""#,
            "f.rs effect in fence: nostack → ",
            "f.rs effect in fence: nostack → nomem, nostack",
            "f.rs effect in fence: nostack → readonly, nostack",
            "f.rs effect in fence: nostack → pure, nomem, nostack",
            "f.rs effect in fence: nostack → pure, readonly, nostack",
        ];
        assert_eq!(told(source), expected);
    }

    #[test]
    fn sentences_are_no_ptx() {
        assert!(["\".global\"", "\"ld.global\"", "\"[%], %\"", "\", [{p}];\""].iter().all(|text| is_ptx(text)));
        assert!(
            !["\"it takes `.noftz`\"", "\"NoHint\"", "\"LDG.E.LTC256B\"", "\"p: *const u8\"", "\"mapa_shared(p, b)\""]
                .iter()
                .any(|text| is_ptx(text))
        );
    }
}
