//! The text of a module: its variables, its functions, and the statements of a function.

use std::collections::HashMap;

use crate::alu::is_video;
use crate::ptx::operand::{Operand, number};
use crate::ptx::scoped::Block;
use crate::ptx::variable::Pointer;

/// Bytes of a variable or a parameter, registers of a name, and bytes to which something is aligned: at most. What is larger is
/// none that a GPU has.
const BYTES: usize = 1 << 32;
const REGISTERS: usize = 1 << 18;
const ALIGN: usize = 1 << 20;

/// A variable of the module.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) space: String,
    pub(crate) name: String,
    pub(crate) bytes: usize,
    /// Of each element.
    pub(crate) element: usize,
    pub(crate) align: usize,
    /// Whether it is the shared memory that a launch adds: `.extern .shared .b8 name[]`.
    pub(crate) is_dynamic: bool,
    /// As of a [parameter](Parameter::is_open).
    pub(crate) is_open: bool,
    /// Whether the host may use it too: `.attribute(.managed)`.
    pub(crate) is_managed: bool,
    /// What it begins with; zeros come after it.
    pub(crate) content: Vec<u8>,
    /// Addresses of variables and functions in that.
    pub(crate) pointers: Vec<Pointer>,
}

/// A parameter, or a variable within a function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    /// Of each element: a vector has several.
    pub(crate) element: usize,
    pub(crate) align: usize,
    /// Whether it may be an array of no elements, which LLVM writes as a byte that is aligned as more: `.align 16 .b8 name`.
    pub(crate) is_open: bool,
}

/// A function that has a body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_entry: bool,
    pub(crate) results: Vec<Parameter>,
    pub(crate) parameters: Vec<Parameter>,
    /// Blocks of a cluster, if the function says it.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Threads of a block: at most, and exactly.
    pub(crate) most_threads: Option<u32>,
    pub(crate) exact_threads: Option<u32>,
    /// Blocks that fit on an SM together, at least.
    pub(crate) least_blocks: Option<u32>,
    /// Registers of a thread, at most.
    pub(crate) most_registers: Option<u32>,
    pub(crate) statements: Vec<Statement>,
    /// Whether the text has its closing brace.
    pub(crate) is_whole: bool,
    /// For each block in braces the one around it.
    pub(crate) outer: Vec<Block>,
}

/// A statement, and where it is: labels end with a colon.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// Its line in the file.
    pub(crate) line: u32,
    /// The block in braces that it stands in.
    pub(crate) block: Block,
}

/// The files that `.loc` names by their numbers.
pub(crate) fn source_files(text: &str) -> Vec<(u32, String)> {
    let file = |line: &str| {
        let (number, name) = line.trim_start().strip_prefix(".file")?.trim_start().split_once(char::is_whitespace)?;
        Some((number.parse().ok()?, name.split('"').nth(1)?.to_owned()))
    };
    text.lines().filter_map(file).collect()
}

/// Splits a module.
pub(crate) fn module(text: &str) -> (Vec<Variable>, Vec<Function>) {
    let text = without_comments(text);
    let (mut variables, mut functions) = (Vec::new(), Vec::new());
    let mut rest = text.as_str();
    let line_of = |rest: &str| 1 + text[..text.len() - rest.len()].matches('\n').count() as u32;
    while let Some(end) = rest.find([';', '{']) {
        let head = &rest[..end];
        if rest[end..].starts_with(';') || head.contains('=') {
            let (declared, after) = rest.split_once(';').unwrap_or((rest, ""));
            variables.extend(variable(declared));
            rest = after;
        } else {
            let inside = &rest[end + 1..];
            let length = body(inside);
            let (own, after) = inside.split_at(length);
            let is_whole = after.starts_with('}');
            let function = function(head, own, line_of(inside));
            functions.extend(function.map(|function| Function { is_whole, ..function }));
            rest = after.strip_prefix('}').unwrap_or_default();
        }
    }
    (variables, functions)
}

/// Directives that end with their line go, as comments do; `.loc` becomes a statement. In inline assembly it goes too: LLVM may put the line of
/// the statement there, and add the lines of the assembly to it.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_inline = false;
    for (line, whole) in plain(text).lines().zip(text.lines()) {
        match whole.trim() {
            "// begin inline asm" => is_inline = true,
            "// end inline asm" => is_inline = false,
            _ => {}
        }
        match line.split_whitespace().next() {
            Some(".loc") if is_inline => {}
            Some(".version" | ".target" | ".address_size" | ".file") => {}
            Some(".loc") => {
                kept += line;
                kept.push(';');
            }
            _ => kept += line,
        }
        kept.push('\n');
    }
    kept
}

/// A text with spaces in the place of its comments.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let begins = |rest: &str, at: usize| rest[at..].starts_with("//") || rest[at..].starts_with("/*");
    while let Some((begin, _)) = rest.match_indices('/').find(|(at, _)| begins(rest, *at)) {
        let (before, comment) = rest.split_at(begin);
        let end = match comment.starts_with("//") {
            true => comment.find('\n'),
            false => comment.find("*/").map(|end| end + 2),
        };
        let (comment, after) = comment.split_at(end.unwrap_or(comment.len()));
        plain += before;
        plain.extend(comment.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = after;
    }
    plain + rest
}

/// How long a text is up to the brace that closes it.
pub(crate) fn body(text: &str) -> usize {
    let mut depth = 1;
    let mut is_end = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    };
    text.find(&mut is_end).unwrap_or(text.len())
}

/// The bytes of a type.
pub(crate) fn bytes_of(word: &str) -> Option<usize> {
    match word {
        "pred" => Some(1),
        _ => Some(usize::from(word.strip_prefix(['b', 'u', 's', 'f'])?.parse::<u8>().ok()?) / 8)
            .filter(|bytes| *bytes > 0),
    }
}

/// `.align 16 .b8 name[128]`, `.u64 .ptr .global .align 4 name`, `.b32 a, b<4>`
fn declared(text: &str) -> Vec<Parameter> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(of_type) = words.iter().find_map(|word| bytes_of(word.strip_prefix('.')?)) else { return Vec::new() };
    let lanes = if words.contains(&".v4") { 4 } else { 1 + usize::from(words.contains(&".v2")) };
    let align = words.iter().position(|word| *word == ".align").filter(|_| !words.contains(&".ptr"));
    let align = align.and_then(|at| words.get(at + 1)?.parse().ok()).unwrap_or(of_type * lanes).clamp(1, ALIGN);
    let names = text.trim_end().rsplit(['\n', '\t', ' ']).next().unwrap_or_default();
    let (name, dimensions) = names.split_once('[').unwrap_or((names, ""));
    let count = |part: &str| part.trim_end_matches(']').trim().parse::<usize>().ok();
    let counts = dimensions.split('[').filter_map(count);
    let bytes = counts.fold(of_type * lanes, usize::saturating_mul).min(BYTES);
    let is_open = words.contains(&".b8") && bytes == 1 && align > 1 && !names.contains('[');
    vec![Parameter { name: name.to_owned(), bytes, element: of_type, align, is_open }]
}

fn list(text: &str) -> Vec<Parameter> {
    text.split(',').flat_map(|one| declared(one.trim())).collect()
}

fn variable(text: &str) -> Option<Variable> {
    let (head, content) = text.split_once('=').unwrap_or((text, ""));
    let space =
        [".shared", ".global", ".const"].into_iter().find(|space| head.split_whitespace().any(|w| w == *space))?;
    let Parameter { name, bytes, element, align, is_open } = declared(head.trim()).pop()?;
    let (mut begins, mut pointers) = (Vec::new(), Vec::new());
    for item in content.split(['{', '}', ',']).map(str::trim).filter(|item| !item.is_empty()) {
        let bits = match number(item) {
            Some(Operand::Number(bits)) => bits,
            Some(Operand::Decimal(number)) if element == 4 => (number as f32).to_bits().into(),
            Some(Operand::Decimal(number)) => number.to_bits().into(),
            _ => {
                pointers.push(pointer(item, begins.len(), element));
                0
            }
        };
        begins.extend(bits.to_le_bytes().into_iter().take(element));
    }
    let (space, bytes) = (space[1..].to_owned(), bytes.max(begins.len()));
    let is_dynamic = head.contains(".extern") && head.contains("[]");
    let is_managed = head.contains(".managed");
    Some(Variable { space, name, bytes, element, align, is_dynamic, is_open, is_managed, content: begins, pointers })
}

/// `name`, `generic(name)+4`, `0xFF00(name)`
fn pointer(item: &str, at: usize, bytes: usize) -> Pointer {
    let (mask, item) = match item.split_once('(') {
        Some((mask, rest)) if mask.starts_with("0x") => (number(mask), rest.trim_end().trim_end_matches(')')),
        _ => (None, item),
    };
    let shift = match mask {
        Some(Operand::Number(mask)) => mask.trailing_zeros() % 64,
        _ => 0,
    };
    let (name, add) = match item.rfind(['+', '-']) {
        Some(place) => (&item[..place], item[place..].trim_start_matches('+').replace(' ', "")),
        None => (item, String::new()),
    };
    let name = name.trim().trim_start_matches("generic").trim_matches(['(', ')', ' ']);
    Pointer { at, bytes, to: name.to_owned(), add: add.parse::<i64>().unwrap_or_default() as u64, shift }
}

fn function(head: &str, body: &str, line: u32) -> Option<Function> {
    let is_entry = head.contains(".entry");
    let (_, rest) = head.split_once(if is_entry { ".entry" } else { ".func" })?;
    let (results, rest) = match rest.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(')')?,
        None => ("", rest),
    };
    let (name, parameters, rest) = match rest.split_once('(') {
        Some((name, rest)) => {
            let (parameters, rest) = rest.split_once(')')?;
            (name, parameters, rest)
        }
        None => (rest, "", ""),
    };
    let name = name.split_whitespace().next()?.to_owned();
    let sizes = |directive: &str| {
        let (_, sizes) = rest.split_once(directive)?;
        let sizes = sizes.split('.').next().unwrap_or_default();
        let mut numbers = sizes.split(',').filter_map(|size| size.trim().parse::<u32>().ok());
        Some([(); 3].map(|()| numbers.next().unwrap_or(1)))
    };
    let product = |directive| sizes(directive).map(|sizes| sizes.into_iter().fold(1, u32::saturating_mul));
    let (statements, outer) = statements(body, line);
    Some(Function {
        name,
        is_entry,
        results: list(results),
        parameters: list(parameters),
        cluster: sizes(".reqnctapercluster"),
        most_threads: product(".maxntid"),
        exact_threads: product(".reqntid"),
        least_blocks: product(".minnctapersm"),
        most_registers: product(".maxnreg"),
        statements,
        is_whole: true,
        outer,
    })
}

/// The statements, and for each block in braces the one around it. Braces of vectors are kept in the text.
fn statements(body: &str, mut line: u32) -> (Vec<Statement>, Vec<Block>) {
    let (mut all, mut text, mut depth, mut quoted) = (Vec::new(), String::new(), 0, false);
    let (mut outer, mut block) = (vec![0], 0);
    let mut begin = line;
    let mut characters = body.chars().peekable();
    while let Some(c) = characters.next() {
        let empty = text.trim().is_empty();
        line += u32::from(c == '\n');
        if empty && !c.is_whitespace() {
            begin = line;
        }
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' if empty && depth == 0 => {
                outer.push(block);
                block = outer.len() - 1;
                continue;
            }
            '}' if empty && depth == 0 => {
                block = outer[block];
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' => {
                all.push(Statement { text: with_single_spaces(&text), line: begin, block });
                text.clear();
                continue;
            }
            ':' if characters.peek() != Some(&':')
                && !text.ends_with(':')
                && !text.trim().contains(char::is_whitespace) =>
            {
                all.push(Statement { text: format!("{}:", text.trim()), line: begin, block });
                text.clear();
                continue;
            }
            _ => {}
        }
        text.push(c);
    }
    all.push(Statement { text: with_single_spaces(&text), line: begin, block });
    all.retain(|statement| !statement.text.is_empty());
    (all, outer)
}

/// A statement in one line. Qualifiers may stand apart from their opcode: `cp.async.bulk .L2::cache_hint`.
fn with_single_spaces(statement: &str) -> String {
    let mut words = statement.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    let mut is_opcode = !line.starts_with('.');
    for word in words {
        is_opcode &= word.starts_with('.') || line.starts_with('@') && !line.contains(' ');
        if !(is_opcode && word.starts_with('.')) {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// A variable that is declared within a function, and its space.
pub(crate) fn declaration(statement: &str) -> Option<(&str, Vec<Parameter>)> {
    let (space, rest) = statement.strip_prefix('.')?.split_once(' ')?;
    if !matches!(space, "local" | "param" | "shared") {
        return None;
    }
    Some((space, list(rest)))
}

/// The registers of a `.reg`, where `%r<10>` are ten, and `v.x` to `v.w` those of a vector `v`; and their bits: a predicate has one.
pub(crate) fn registers(statement: &str) -> (Vec<String>, u32) {
    let declared = statement.strip_prefix(".reg").map(str::trim).unwrap_or_default();
    let mut of_vector = [(".v2", 2), (".v4", 4)].into_iter();
    let of_vector = of_vector.find_map(|(word, lanes)| Some((declared.strip_prefix(word)?.trim(), lanes)));
    let (declared, lanes) = of_vector.unwrap_or((declared, 0));
    let (of_type, names) = declared.split_once(' ').unwrap_or_default();
    let each = |name: &str| match name.trim().split_once('<') {
        Some((name, count)) => {
            let count = count.trim_end_matches('>').parse().ok().filter(|count| *count <= REGISTERS);
            (0..count.unwrap_or_default()).map(|number| format!("{name}{number}")).collect()
        }
        None => vec![name.trim().to_owned()],
    };
    let names: Vec<String> = names.split(',').filter(|name| !name.trim().is_empty()).flat_map(each).collect();
    let elements = names.iter().flat_map(|name| (0..lanes).map(move |at| element_of(name, at))).collect();
    let bits = match of_type {
        ".pred" => 1,
        other => other.strip_prefix('.').and_then(bytes_of).map_or(64, |bytes| 8 * bytes as u32),
    };
    (if lanes > 0 { elements } else { names }, bits)
}

/// An element of a vector of registers, as its name is declared.
pub(crate) fn element_of(vector: &str, at: usize) -> String {
    format!("{vector}.{}", ["x", "y", "z", "w"][at])
}

/// A vector and the number of its element, which may also have the name of a colour.
pub(crate) fn element(text: &str) -> Option<(&str, usize)> {
    let (vector, element) = text.rsplit_once('.')?;
    let at = ["x", "y", "z", "w", "r", "g", "b", "a"].into_iter().position(|name| name == element)?;
    Some((vector, at % 4))
}

/// The parts of registers that a video instruction names, as words that follow those of its opcode: `d=h0`, `a=b3`, `c=-`; and the whole
/// registers.
pub(crate) fn selectors(opcode: &str, operands: &mut [String]) -> Vec<String> {
    if !opcode.starts_with('v') || !is_video(opcode.split('.').next().unwrap_or_default()) {
        return Vec::new();
    }
    let mut words = Vec::new();
    for (name, operand) in ['d', 'a', 'b', 'c'].into_iter().zip(operands) {
        let (sign, positive) = operand.strip_prefix("-%").map_or(("", operand.as_str()), |_| ("-", &operand[1..]));
        let (whole, part) = positive.split_once('.').unwrap_or((positive, ""));
        if !sign.is_empty() || !part.is_empty() {
            words.push(format!("{name}={sign}{part}"));
        }
        *operand = whole.to_owned();
    }
    words
}

/// The GPU that a module is for.
pub(crate) fn target(module: &str) -> Option<&str> {
    head(module, ".target")
}

/// The version of PTX that a module is written in.
pub(crate) fn version(module: &str) -> Option<(u32, u32)> {
    let (major, minor) = head(module, ".version")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn head<'a>(module: &'a str, directive: &str) -> Option<&'a str> {
    let line = module.lines().find_map(|line| line.trim_start().strip_prefix(directive))?;
    line.split([',', ' ', '\t', '/']).find(|word| !word.is_empty())
}

/// The operands of an instruction: a vector is one, and so is an address.
pub(crate) fn operands(text: &str) -> Vec<String> {
    let (mut operands, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from(matches!(c, '{' | '[' | '(')) - i32::from(matches!(c, '}' | ']' | ')'));
        match operands.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => operands.push(String::new()),
        }
    }
    let trimmed = operands.into_iter().map(|operand| operand.trim().to_owned());
    trimmed.filter(|operand| !operand.is_empty()).collect()
}

/// Whether an instruction names one of these registers.
pub(crate) fn names(text: &str, registers: &[String]) -> bool {
    words(text).any(|word| registers.iter().any(|register| register == word))
}

/// What may be names in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter| !is_of_name(letter)).filter(|word| !word.is_empty())
}

/// Whether names have this letter.
pub(crate) fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '%' | '_' | '$')
}

/// The registers that a load writes.
pub(crate) fn written(text: &str) -> Vec<String> {
    let rest = text.trim_start_matches(|letter| letter != ' ' && letter != '\t').trim_start();
    let rest = if text.starts_with('@') { rest.split_once([' ', '\t']).map_or("", |(_, rest)| rest) } else { rest };
    let to = rest.split('[').next().unwrap_or_default();
    let is_name = |word: &&str| word.starts_with(|first| is_of_name(first) && !first.is_ascii_digit());
    to.split(['{', '}', ',', ' ', '\t']).filter(is_name).map(str::to_owned).collect()
}

/// A table's label is written as one, and its list after it.
pub(crate) fn tables(statements: &[Statement]) -> HashMap<String, Vec<String>> {
    let pairs = statements.windows(2);
    let lists =
        pairs.filter_map(|pair| Some((pair[0].text.strip_suffix(':')?, pair[1].text.strip_prefix(".branchtargets ")?)));
    lists.map(|(name, list)| (name.to_owned(), operands(list))).collect()
}

/// The predicate in front of an instruction, and the instruction.
pub(crate) fn guarded(statement: &str) -> (Option<&str>, &str) {
    match statement.strip_prefix('@').and_then(|rest| rest.trim_start().split_once(' ')) {
        Some((guard, rest)) => (Some(guard), rest.trim()),
        None => (None, statement),
    }
}

/// The opcode of an instruction, and what comes after it. A list or a place may follow at once.
pub(crate) fn opcode(instruction: &str) -> (&str, &str) {
    let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '{' | '[');
    instruction.split_at(instruction.find(is_end).unwrap_or(instruction.len()))
}
