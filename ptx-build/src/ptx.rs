//! A reader of the PTX that rustc writes, and of PTX written by hand in a like layout.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::error::{Error, Result};
use crate::target::{PtxVersion, Sm};

macro_rules! pattern {
    ($text:literal) => {
        LazyLock::new(|| Regex::new($text).expect("the pattern is valid"))
    };
}

/// A module: what it asks of the assembler, and its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The `.version`.
    pub version: PtxVersion,
    /// The `.target`.
    pub target: Sm,
    /// The functions that have a body, in the order of the text.
    pub functions: Vec<Function>,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, mangled as rustc wrote it.
    pub name: String,
    /// Whether the host can launch it.
    pub is_entry: bool,
    /// The line its header begins on, from 1.
    pub line: u32,
    /// Its lines, from the header to the closing brace.
    pub body: Vec<Line>,
}

/// A line of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its text, trimmed.
    pub text: String,
}

/// What one `asm!` became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineAsm {
    /// The number of its first line, from 1.
    pub line: u32,
    /// Its lines, trimmed, blank ones left out.
    pub lines: Vec<String>,
}

impl Module {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Module> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read the PTX", path, error))?;
        Module::parse(&text).map_err(|error| error.at(path.display()))
    }

    /// Reads a text.
    pub fn parse(text: &str) -> Result<Module> {
        let items = items(text);
        let directive = |name: &str| {
            let value = items.iter().find_map(|item| item.text.trim().strip_prefix(name)).unwrap_or_default();
            let value = value.split("//").next().unwrap_or_default();
            value.split(',').next().unwrap_or_default().trim().to_owned()
        };
        let wrong = |error: Error| {
            Error::new("this is not a PTX module").because(error).fix("a module begins with .version and .target")
        };
        let target = directive(".target");
        Ok(Module {
            version: directive(".version").parse().map_err(wrong)?,
            target: Sm::read(&target).ok_or_else(|| wrong(Error::new(format_args!("`{target}` is no .target"))))?,
            functions: items.iter().filter_map(Item::function).collect(),
        })
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The function that the line is in.
    pub fn function_at(&self, line: u32) -> Option<&Function> {
        self.functions.iter().find(|function| {
            let last = function.body.last().map_or(function.line, |last| last.number);
            (function.line..=last).contains(&line)
        })
    }
}

impl Function {
    /// What is between each `// begin inline asm` and `// end inline asm`, but for comments, and the lone `exit;`
    /// that is LLVM's own way to mark unreachable code.
    pub fn inline_asm(&self) -> Vec<InlineAsm> {
        let mut blocks = Vec::new();
        let mut open: Option<InlineAsm> = None;
        for line in &self.body {
            match (line.text.as_str(), &mut open) {
                ("// begin inline asm", _) => open = Some(InlineAsm { line: line.number + 1, lines: Vec::new() }),
                ("// end inline asm", _) => {
                    blocks.extend(open.take().filter(|block| !block.lines.is_empty() && block.lines != ["exit;"]));
                }
                ("", _) | (_, None) => {}
                (text, _) if text.starts_with("/*") && text.ends_with("*/") => {}
                (text, Some(block)) => block.lines.push(text.to_owned()),
            }
        }
        blocks
    }

    /// Its name as Rust spells it.
    pub fn demangled(&self) -> String {
        demangle(&self.name)
    }
}

/// A symbol's name as Rust spells it; one that is not Rust's stays as it is.
pub fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// The kinds of registers that compilers name.
const REGISTERS: [&str; 10] = ["p", "rs", "rd", "rq", "r", "fd", "f", "hh", "h", "b"];

/// The line with every register's number gone and single spaces, so that lines compare whole.
pub fn normalise(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    let mut parts = line.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "%" + after_register(part).unwrap_or(part))
}

/// What follows `rd12`, if the text begins with a register.
fn after_register(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let kind = text[..end].trim_end_matches(|c: char| c.is_ascii_digit());
    (kind.len() < end && REGISTERS.contains(&kind)).then_some(&text[end..])
}

/// The module without the functions and variables that none of its entries, nor anything else the host can see,
/// can reach. A dev build's one module holds all of `core`, as no linker has thrown anything out.
pub fn reachable(text: &str) -> String {
    let items = items(text);
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        by_name.entry(item.name().unwrap_or_default()).or_default().push(at);
    }
    let mut queue: Vec<usize> = (0..items.len()).filter(|at| items[*at].is_root()).collect();
    let mut kept: HashSet<usize> = queue.iter().copied().collect();
    while let Some(at) = queue.pop() {
        let named = words(items[at].text).filter_map(|word| by_name.get(word)).flatten();
        queue.extend(named.filter(|at| kept.insert(**at)));
    }
    let kept = items.iter().enumerate().filter(|(at, _)| kept.contains(at));
    kept.map(|(_, item)| format!("{}\n", item.text)).collect()
}

/// How `ptx_kernel::kernel!` asks for a line of PTX that rustc cannot write: a comment at the top of the module.
const OF_AN_ENTRY: &str = "// ptx-kernel: entry ";

/// How it asks for the alignment of a parameter: `.param 2 .align 64`.
const OF_A_PARAMETER: &str = ".param ";

/// The module with the lines that its kernels ask for, such as `.maxntid 256`, each after the parameters of its entry, and with the
/// alignments of parameters.
pub fn with_entry_lines(text: &str) -> Result<String> {
    let asked_for = |line: &'_ str| -> Option<(String, String)> {
        let (name, asked) = line.trim().strip_prefix(OF_AN_ENTRY)?.split_once(": ")?;
        // As the source writes it: the entry of `r#match` is `match`.
        Some((name.trim_start_matches("r#").to_owned(), asked.to_owned()))
    };
    let mut asked: Vec<(String, String)> = text.lines().filter_map(asked_for).collect();
    let mut with = String::with_capacity(text.len());
    let mut head_of: Option<&str> = None;
    for line in text.lines() {
        with += &head_of.map_or_else(|| line.to_owned(), |name| with_alignment(line, name, &mut asked));
        with.push('\n');
        head_of = line.split_once(".entry ").map(|(_, head)| head.split('(').next().unwrap_or(head).trim()).or(head_of);
        let Some(name) = head_of.filter(|_| line.ends_with(')')) else { continue };
        for (_, line) in asked.extract_if(.., |(of, _)| of == name) {
            with += &line;
            with.push('\n');
        }
        head_of = None;
    }
    match asked.first() {
        None => Ok(with),
        Some((name, line)) => {
            Err(Error::new(format_args!("the module has no entry {name}, which is to have `{line}`"))
                .fix("see whether the kernel's crate is the one that is compiled, and not only one that it uses"))
        }
    }
}

/// The line of a parameter of an entry, with the alignment that its kernel asks for.
fn with_alignment(line: &str, entry: &str, asked: &mut Vec<(String, String)>) -> String {
    let place = asked.iter().position(|(of, asked)| {
        let parameter = asked.strip_prefix(OF_A_PARAMETER).and_then(|asked| asked.split_once(' '));
        parameter.is_some_and(|(number, _)| of == entry && line.contains(&format!(" {entry}_param_{number}[")))
    });
    let Some(place) = place else { return line.to_owned() };
    let (_, parameter) = asked.swap_remove(place);
    let align = parameter.rsplit_once(' ').map_or("", |(_, align)| align);
    let words = line.split(' ').scan("", |before, word| {
        let word = if *before == ".align" { align } else { word };
        *before = word;
        Some(word)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The module with a body for `memcmp`, if it calls it: `core` leaves that one to the linker.
pub fn with_memcmp(text: &str) -> String {
    let items = items(text);
    let missing = items.iter().find(|item| item.name() == Some("memcmp") && item.function().is_none());
    missing.map_or_else(|| text.to_owned(), |item| text.replacen(item.text, MEMCMP, 1))
}

const MEMCMP: &str = "\
.func (.param .b32 memcmp_result) memcmp(
	.param .b64 memcmp_left,
	.param .b64 memcmp_right,
	.param .b64 memcmp_bytes
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<4>;

	ld.param.b64 	%rd1, [memcmp_left];
	ld.param.b64 	%rd2, [memcmp_right];
	ld.param.b64 	%rd3, [memcmp_bytes];
	mov.b32 	%r3, 0;
$memcmp_next:
	setp.eq.s64 	%p1, %rd3, 0;
	@%p1 bra 	$memcmp_done;
	ld.u8 	%r1, [%rd1];
	ld.u8 	%r2, [%rd2];
	sub.s32 	%r3, %r1, %r2;
	setp.ne.s32 	%p2, %r3, 0;
	@%p2 bra 	$memcmp_done;
	add.s64 	%rd1, %rd1, 1;
	add.s64 	%rd2, %rd2, 1;
	sub.s64 	%rd3, %rd3, 1;
	bra 	$memcmp_next;
$memcmp_done:
	st.param.b32 	[memcmp_result], %r3;
	ret;
}";

/// A statement at the module's top level: a directive, a variable, a function's declaration or the function.
struct Item<'a> {
    line: u32,
    text: &'a str,
}

impl<'a> Item<'a> {
    fn function(&self) -> Option<Function> {
        static HEADER: LazyLock<Regex> = pattern!(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)");
        let (header, _) = self.text.split_once('{')?;
        let header = HEADER.captures(header)?;
        let numbered = (self.line..).zip(self.text.lines());
        Some(Function {
            name: header[2].to_owned(),
            is_entry: &header[1] == "entry",
            line: self.line,
            body: numbered.map(|(number, text)| Line { number, text: text.trim().to_owned() }).collect(),
        })
    }

    fn name(&self) -> Option<&'a str> {
        static NAME: LazyLock<Regex> = pattern!(
            r"(?x) ^ \s* (?: \.(?:visible|weak|extern|common) \s+ )*
              (?: \.(?:entry|func) \s+ (?: \([^)]*\) \s* )?
                | \.(?:global|const|shared) \s+ (?: \.\w+ \s+ (?: \d+ \s+ )? )* )
              ([A-Za-z_$%][\w$]*)"
        );
        NAME.captures(self.text).and_then(|name| name.get(1)).map(|name| name.as_str())
    }

    /// Whether it stays even if nothing names it.
    fn is_root(&self) -> bool {
        let seen = [".entry", ".visible", ".weak"];
        let header = self.text.split(['{', '(', '=']).next().unwrap_or_default();
        self.name().is_none() || seen.iter().any(|word| header.split_whitespace().any(|part| part == *word))
    }
}

/// Splits a module at its top level: line by line, braces counted, as rustc and people lay it out.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut open: Option<(u32, usize)> = None;
    let (mut depth, mut offset) = (0_i32, 0);
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        let code = whole.split("//").next().unwrap_or_default().trim();
        let end = offset + whole.trim_end().len();
        if open.is_none() && !code.is_empty() {
            open = Some((number, offset));
        }
        offset += whole.len();
        depth += code.chars().map(|c| i32::from(c == '{') - i32::from(c == '}')).sum::<i32>();
        let Some((line, start)) = open else { continue };
        if depth == 0 && ends_item(code, &text[start..end]) {
            items.push(Item { line, text: &text[start..end] });
            open = None;
        }
    }
    items
}

fn ends_item(last: &str, whole: &str) -> bool {
    static DIRECTIVE: LazyLock<Regex> = pattern!(r"^\s*\.(version|target|address_size|file|loc)\b");
    last.ends_with(';') || last.ends_with('}') && !whole.contains('=') | is_code(whole) || DIRECTIVE.is_match(whole)
}

fn is_code(item: &str) -> bool {
    let header = item.split('{').next().unwrap_or_default();
    [".func", ".entry", ".section"].iter().any(|word| header.contains(word))
}

/// The text in which all lines that have the word are changed. Patterns are slow without optimisation, as a build script has them.
pub(crate) fn with_lines_of(text: &str, word: &str, change: impl Fn(&str) -> String) -> String {
    let changed = |line| if str::contains(line, word) { Cow::Owned(change(line)) } else { Cow::Borrowed(line) };
    text.split_inclusive('\n').map(changed).collect()
}

/// The names, numbers and opcodes of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c))).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "//
.version 8.6
.target sm_90
.address_size 64

.extern .func  (.param .b32 func_retval0) memcmp
(
	.param .b64 memcmp_param_0
)
;
.global .align 1 .b8 used[2] = {1, 2};
.global .align 1 .b8 unused[2] = {1, 2};
	// .globl	k
.visible .entry k(
	.param .u64 .ptr .align 1 k_param_0
)
{
	.reg .b32 	%r<2>;

	// begin inline asm
	{
.reg .pred q;
@q ld.global.nc.f32 %r1, [%rd1];
}
	// end inline asm
	mov.b64 	%rd2, used;
	{ // callseq 0, 0
	call.uni (retval0), memcmp, (param0);
	} // callseq 0
	ret;

}
.func _RNvCs1234_4core4dead()
{
	call.uni _RNvCs1234_4core4dead, ();
	// begin inline asm
	exit;
	// end inline asm
	// begin inline asm
	/* %r1 */
	// end inline asm
	ret;
}
";

    #[test]
    fn a_module_reads_as_functions_and_their_inline_asm() {
        let module = Module::parse(MODULE).unwrap();
        assert_eq!((module.version, module.target), (PtxVersion::new(8, 6), Sm::new(90)));
        let heads: Vec<_> = module.functions.iter().map(|one| (one.demangled(), one.is_entry, one.line)).collect();
        assert_eq!(heads, [("k".to_owned(), true, 14), ("core::dead".to_owned(), false, 33)]);
        let lines = ["{", ".reg .pred q;", "@q ld.global.nc.f32 %r1, [%rd1];", "}"];
        let block = InlineAsm { line: 21, lines: lines.map(str::to_owned).to_vec() };
        assert_eq!(module.functions[0].inline_asm(), [block]);
        assert_eq!(module.functions[1].inline_asm(), []);
        let end = module.functions[0].body.last().unwrap();
        assert_eq!((end.number, end.text.as_str()), (32, "}"));
        assert_eq!(module.function_at(23).unwrap().name, "k");
        assert_eq!(module.function_at(4), None);
        assert!(Module::parse("hello").is_err());
    }

    #[test]
    fn registers_lose_their_numbers_and_nothing_else() {
        let line = "@%p1  ld.global.nc.L2::256B.v2.u64 {%rd12, %rq1},\t[%rd3+16]; // %tid.x %f2x";
        let expected = "@% ld.global.nc.L2::256B.v2.u64 {%, %}, [%+16]; // %tid.x %f2x";
        assert_eq!(normalise(line), expected);
    }

    #[test]
    fn what_nothing_reaches_goes() {
        let kept = reachable(MODULE);
        let names =
            |text: &str| items(text).iter().filter_map(|item| item.name().map(str::to_owned)).collect::<Vec<_>>();
        assert_eq!(names(MODULE), ["memcmp", "used", "unused", "k", "_RNvCs1234_4core4dead"]);
        assert_eq!(names(&kept), ["memcmp", "used", "k"]);
        assert_eq!(Module::parse(&kept).unwrap().functions.len(), 1);
        assert_eq!(names(&with_memcmp(&kept)), ["memcmp", "used", "k"]);
        assert_eq!(Module::parse(&with_memcmp(&kept)).unwrap().functions.len(), 2);
    }

    #[test]
    fn an_entry_gets_the_lines_that_its_kernel_asks_for() {
        let module = "// ptx-kernel: entry k: .maxntid 64\n// ptx-kernel: entry none: .maxntid 32\n\
                      // ptx-kernel: entry k: .minnctapersm 2\n.visible .entry kk(\n)\n{\n}\n\
                      .visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n}\n.visible .entry none()\n{\n}\n";
        let with = with_entry_lines(module).expect("its entries are there");
        let heads: Vec<&str> = with.lines().filter(|line| line.starts_with(['.', ')'])).collect();
        let expected = [
            ".visible .entry kk(",
            ")",
            ".visible .entry k(",
            ")",
            ".maxntid 64",
            ".minnctapersm 2",
            ".visible .entry none()",
            ".maxntid 32",
        ];
        assert_eq!(heads, expected);
        assert_eq!(with_entry_lines(MODULE).expect("it asks for nothing"), MODULE);
        let of_map = "// ptx-kernel: entry k: .param 1 .align 64\n// ptx-kernel: entry k: .maxntid 64\n.visible .entry k(\n\
                      \t.param .align 16 .b8 k_param_0[128],\n\t.param .align 16 .b8 k_param_1[128]\n)\n{\n}\n";
        let with = with_entry_lines(of_map).expect("its entry is there");
        let (_, head) = with.split_once("entry k(\n").expect("the entry");
        assert_eq!(
            head,
            "\t.param .align 16 .b8 k_param_0[128],\n\t.param .align 64 .b8 k_param_1[128]\n)\n.maxntid 64\n{\n}\n"
        );
        let error =
            with_entry_lines(&module.replace("entry none()", "entry some()")).expect_err("there is no such entry");
        assert!(
            error.to_string().starts_with("the module has no entry none, which is to have `.maxntid 32`"),
            "{error}"
        );
    }
}
