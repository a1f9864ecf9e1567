//! A reader of PTX, of any compiler or written by hand: kernels, their parameters, and their instructions by line.

use std::collections::BTreeMap;

/// A module of PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The functions that have a body, in the order of the text.
    pub functions: Vec<Function>,
    /// The state space of each variable outside the functions: `.shared`, `.global`…
    pub variables: BTreeMap<String, String>,
}

/// A kernel, or a function that kernels call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether the host can launch it.
    pub is_entry: bool,
    /// The line on which it begins.
    pub line: u32,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The most threads of a block, by `.maxntid` or `.reqntid`.
    pub threads: Option<u32>,
    /// The least blocks of a multiprocessor, by `.minnctapersm`.
    pub blocks: Option<u32>,
    /// Arrays in local memory: name and bytes.
    pub locals: Vec<(String, u32)>,
    /// The state space of each variable of the function.
    pub variables: BTreeMap<String, String>,
    /// Its instructions, in order.
    pub statements: Vec<Statement>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type: `u64`, `f32`, `b8`.
    pub ty: String,
    /// What its pointer is aligned to, by `.ptr .align`.
    pub align: Option<u32>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// `%p1` or `!%p1`.
    pub predicate: Option<String>,
    /// The opcode with its modifiers: `ld.global.nc.v4.f32`.
    pub opcode: String,
    /// Its operands; those in braces are one.
    pub operands: Vec<String>,
    /// Whether a label stands before it.
    pub labelled: bool,
}

impl Statement {
    /// It as one line of text.
    pub fn text(&self) -> String {
        let predicate = self.predicate.as_ref().map(|predicate| format!("@{predicate} ")).unwrap_or_default();
        format!("{predicate}{} {}", self.opcode, self.operands.join(", ")).trim_end().to_owned()
    }

    /// The opcode without its modifiers.
    pub fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Whether the opcode has that word.
    pub fn has(&self, word: &str) -> bool {
        self.opcode.split('.').any(|own| own == word)
    }

    /// The register and the offset of the first operand in brackets.
    pub fn address(&self) -> Option<(&str, i64)> {
        let inside = self.operands.iter().find_map(|operand| operand.strip_prefix('[')?.strip_suffix(']'))?;
        let (base, offset) = match inside.rfind(['+', '-']).filter(|at| *at > 0) {
            Some(at) => (inside[..at].trim(), inside[at..].trim_start_matches('+').trim()),
            None => (inside.trim(), "0"),
        };
        Some((base.trim_end_matches('+').trim(), number(offset)?))
    }
}

/// A number as PTX writes it.
pub(crate) fn number(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let digits = digits.trim_end_matches('U');
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?.cast_signed(),
        None => digits.parse::<u64>().ok()?.cast_signed(),
    };
    Some(value.wrapping_mul(sign))
}

impl Module {
    /// Reads a text. What is no PTX is passed over.
    pub fn read(text: &str) -> Module {
        let mut reader = Reader::default();
        let text = without_comments(text);
        for (number, line) in (1..).zip(text.lines()) {
            reader.line(line, number);
        }
        reader.module
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// The text with comments blanked out, every line where it was.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        out += &rest[..at];
        let tail = &rest[at..];
        let length = if tail.starts_with("//") {
            tail.find('\n').unwrap_or(tail.len())
        } else if tail.starts_with("/*") {
            tail.find("*/").map_or(tail.len(), |end| end + 2)
        } else {
            out.push('/');
            1
        };
        if length > 1 {
            out.extend(tail[..length].chars().filter(|c| *c == '\n'));
            out.push(' ');
        }
        rest = &tail[length..];
    }
    out + rest
}

#[derive(Default)]
struct Reader {
    module: Module,
    /// What has been read of a statement or a header, and the line on which it began.
    open: String,
    began: u32,
    /// How deep in braces: of a function's body, and of the operands of an instruction.
    body: u32,
    operands: u32,
    /// How deep in the braces of a variable's value.
    value: u32,
    labelled: bool,
}

impl Reader {
    fn line(&mut self, line: &str, number: u32) {
        // A directive that ends with its line.
        if self.body == 0 && self.open.trim().is_empty() {
            let alone = [".version", ".target", ".address_size", ".file", ".loc", ".pragma"];
            if alone.iter().any(|word| line.trim_start().starts_with(word)) {
                return;
            }
        }
        for (at, c) in line.char_indices() {
            if self.open.is_empty() && !c.is_whitespace() {
                self.began = number;
            }
            self.character(c, &line[at + c.len_utf8()..], number);
        }
        if !self.open.is_empty() {
            self.open.push(' ');
        }
    }

    fn character(&mut self, c: char, rest: &str, number: u32) {
        match c {
            ';' if self.operands == 0 && self.value == 0 => self.end(),
            '{' if self.value > 0 || self.body == 0 && !self.is_header() => self.value += 1,
            '}' if self.value > 0 => self.value -= 1,
            '{' if self.body == 0 => {
                let header = std::mem::take(&mut self.open);
                self.module.functions.extend(function(&header, self.began));
                self.body = 1;
            }
            '{' if self.open.trim().is_empty() => self.body += 1,
            '{' => {
                self.operands += 1;
                self.open.push(c);
            }
            '}' if self.operands > 0 => {
                self.operands -= 1;
                self.open.push(c);
            }
            '}' => {
                self.open.clear();
                self.body = self.body.saturating_sub(1);
            }
            ':' if self.body > 0 && self.is_label() && !rest.starts_with(':') => {
                self.open.clear();
                self.labelled = true;
            }
            c if self.open.is_empty() && c.is_whitespace() => {}
            c => {
                if self.open.is_empty() {
                    self.began = number;
                }
                self.open.push(c);
            }
        }
    }

    fn is_header(&self) -> bool {
        self.open.split_whitespace().any(|word| word == ".entry" || word == ".func")
    }

    fn is_label(&self) -> bool {
        self.open.chars().all(|c| c.is_ascii_alphanumeric() || "_$%".contains(c)) && !self.open.is_empty()
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.open);
        let text = text.trim();
        if self.body == 0 {
            self.module.variables.extend(variable(text).map(|(name, space, _)| (name, space)));
            return;
        }
        let Some(function) = self.module.functions.last_mut() else { return };
        if text.starts_with('.') {
            let Some((name, space, bytes)) = variable(text) else { return };
            if space == "local" {
                function.locals.push((name.clone(), bytes));
            }
            function.variables.insert(name, space);
        } else if let Some(statement) = statement(text, self.began, self.labelled) {
            function.statements.push(statement);
            self.labelled = false;
        }
    }
}

/// Name, state space and bytes of a variable: `.local .align 16 .b8 __local_depot3[256]`.
fn variable(text: &str) -> Option<(String, String, u32)> {
    let text = text.split('=').next()?;
    let space = text.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('.')?;
        ["local", "shared", "global", "const"].contains(&word).then_some(word)
    })?;
    let name = text.split_whitespace().rfind(|word| !word.starts_with(['.', '[']))?;
    let (name, array) = name.split_once('[').map_or((name, None), |(name, rest)| (name, Some(rest)));
    let count = array.and_then(|rest| rest.split(']').next()?.parse().ok()).unwrap_or(1);
    Some((name.to_owned(), space.to_owned(), count * type_bytes(text)))
}

fn type_bytes(text: &str) -> u32 {
    let bits = text.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('.')?;
        word.strip_prefix(['b', 'u', 's', 'f'])?.parse::<u32>().ok()
    });
    bits.map_or(1, |bits| bits.div_ceil(8))
}

fn statement(text: &str, line: u32, labelled: bool) -> Option<Statement> {
    let (predicate, rest) = match text.strip_prefix('@') {
        Some(rest) => {
            let (predicate, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            (Some(predicate.to_owned()), rest.trim_start())
        }
        None => (None, text),
    };
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let operands = split(operands);
    Some(Statement { line, predicate, opcode: opcode.to_owned(), operands, labelled })
}

/// Parts at the commas that are in no brackets.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// `.visible .entry k( .param .u64 p, … ) .maxntid 256, 1, 1 .minnctapersm 2`.
fn function(header: &str, line: u32) -> Option<Function> {
    let is_entry = header.split_whitespace().any(|word| word == ".entry");
    let keyword = if is_entry { ".entry" } else { ".func" };
    let mut rest = header.split_once(keyword)?.1.trim_start();
    // What a function returns stands before its name.
    if rest.starts_with('(') {
        rest = rest.split_once(')')?.1.trim_start();
    }
    let end = rest.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let (parameters, directives) = match after.trim_start().strip_prefix('(') {
        Some(inside) => inside.split_once(')').unwrap_or((inside, "")),
        None => ("", after),
    };
    let product = |directive: &str| {
        let numbers = directives.split_once(directive)?.1;
        let numbers = numbers.split('.').next()?.split(',');
        numbers.map(|number| number.trim().parse::<u32>().ok()).product::<Option<u32>>()
    };
    Some(Function {
        name: name.to_owned(),
        is_entry,
        line,
        parameters: split(parameters).iter().filter_map(|text| parameter(text)).collect(),
        threads: product(".maxntid").or_else(|| product(".reqntid")),
        blocks: product(".minnctapersm"),
        ..Function::default()
    })
}

fn parameter(text: &str) -> Option<Parameter> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.last()?.split('[').next()?.to_owned();
    let is_pointer = words.contains(&".ptr");
    let align = words.iter().position(|word| *word == ".align").and_then(|at| words.get(at + 1)?.parse().ok());
    let ty = words.iter().rev().find_map(|word| {
        let word = word.strip_prefix('.')?;
        word.strip_prefix(['b', 'u', 's', 'f'])?.parse::<u32>().ok().map(|_| word.to_owned())
    })?;
    // LLVM writes 1 where it knows nothing.
    Some(Parameter { name, ty, align: align.filter(|align| is_pointer && *align > 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 8.0
.target sm_80 // a comment; with one
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.func (.param .b32 r) helper(.param .b32 a)
{
	ret;
}
.visible .entry k(
	.param .u64 .ptr .global .align 16 k_param_0,
	.param .f32 k_param_1
)
.maxntid 16, 16, 1
.minnctapersm 2
{
	.local .align 16 .b8 	__local_depot0[256];
	.shared .f32 tile[8];
	/* two
	   lines */ ld.param.u64 %rd1, [k_param_0];
$L__BB0_1:
	@!%p1 ld.global.nc.L1::evict_last.v2.f32 	{%f1, %f2}, [%rd1+-8];
	{ // callseq 0, 0
	call.uni (r), helper, (a);
	}
	ret;
}
";

    #[test]
    fn a_module_is_read() {
        let module = Module::read(TEXT);
        assert_eq!(module.variables, BTreeMap::from([("table".to_owned(), "global".to_owned())]));
        let names: Vec<_> = module.functions.iter().map(|one| (one.name.as_str(), one.is_entry, one.line)).collect();
        assert_eq!(names, [("helper", false, 5), ("k", true, 9)]);
        let kernel = &module.functions[1];
        assert_eq!((kernel.threads, kernel.blocks), (Some(256), Some(2)));
        let parameter = |name: &str, ty: &str, align| Parameter { name: name.into(), ty: ty.into(), align };
        assert_eq!(kernel.parameters, [parameter("k_param_0", "u64", Some(16)), parameter("k_param_1", "f32", None)]);
        assert_eq!(kernel.locals, [("__local_depot0".to_owned(), 256)]);
        assert_eq!(kernel.variables["tile"], "shared");
        let told: Vec<_> = kernel.statements.iter().map(|one| (one.line, one.text(), one.labelled)).collect();
        let expected = [
            (19, "ld.param.u64 %rd1, [k_param_0]", false),
            (21, "@!%p1 ld.global.nc.L1::evict_last.v2.f32 {%f1, %f2}, [%rd1+-8]", true),
            (23, "call.uni (r), helper, (a)", false),
            (25, "ret", false),
        ];
        assert_eq!(told, expected.map(|(line, text, label)| (line, text.to_owned(), label)));
        assert_eq!(kernel.statements[1].address(), Some(("%rd1", -8)));
        assert_eq!(kernel.statements[0].address(), Some(("k_param_0", 0)));
    }

    #[test]
    fn numbers_are_read_as_ptx_writes_them() {
        assert_eq!(number("0x12f0000000000000"), Some(0x12f0_0000_0000_0000));
        assert_eq!(number("-8"), Some(-8));
        assert_eq!(number("18446744073709551615"), Some(-1));
        assert_eq!(number("%r1"), None);
    }
}
