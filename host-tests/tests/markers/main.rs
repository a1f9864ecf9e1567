//! The crate's blocks as cuda-oxide's markers, held against what rustc itself makes of the same `asm!`.
//!
//! The crate is compiled for the host with `markers!` in the place of `asm!`, as cuda-oxide would compile it, and beside a
//! stand-in of the markers. Each form is called with bytes that tell each argument; the stand-in prints template,
//! constraints and arguments. The template and the constraints have to be those that stand in rustc's LLVM IR for the GPU,
//! each argument has to come where the ISA has it, and each output has to land where it belongs.
//!
//! cuda-oxide's own compiler has seen none of this: it cannot be built here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use host_tests::error::{Error, Result};
use host_tests::forms::{self, Case, Manner};
use host_tests::forms_check;
use host_tests::progress::Progress;
use host_tests::toolchain::{DeviceToolchain, Route};
use ptx_intrinsics::catalogue::{Form, Operation};
use regex::Regex;

/// How many forms of each instruction are looked at, where not all are.
const OF_EACH: usize = 12;

/// Looks at all of them.
const WHOLE_VARIABLE: &str = "MARKERS_WHOLE";

/// How many functions are compiled at a time.
const AT_A_TIME: usize = 6000;

/// One call of a marker, or one `asm` of LLVM's IR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Block {
    template: String,
    /// In LLVM's order: outputs, inputs, values that outputs hold before, clobbers.
    constraints: Vec<String>,
    options: String,
    /// The types and bytes of the arguments; of the IR, no bytes.
    arguments: Vec<(String, String)>,
}

/// What a form was seen to do.
#[derive(Debug, Default)]
struct Called {
    blocks: Vec<Block>,
    /// The bytes of what it gives.
    result: Vec<u8>,
}

#[test]
fn every_form_is_the_same_block() -> std::result::Result<(), String> {
    look().map_err(|error| error.to_string())
}

fn look() -> Result<()> {
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &Progress::kept())?;
    let all = forms_check::every_form();
    let seed = forms_check::seed()?;
    let whole = std::env::var_os(WHOLE_VARIABLE).is_some();
    let cases = if whole { forms::cases(&all) } else { forms_check::slice(&all, OF_EACH, seed) };
    let drawn = forms_of(&cases).len();
    let cases: Vec<Case> = cases.into_iter().filter(|case| !is_method(case)).collect();
    if forms_of(&cases).len() != drawn {
        return Err(Error::new("a form is written by a method alone").fix("compile the methods' arms too"));
    }
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (number, cases) in cases.chunks(AT_A_TIME).enumerate() {
        let folder = toolchain.machine().target().join("markers").join(format!("part-{number}"));
        let called = call(&toolchain, &folder.join("host"), cases)?;
        let emitted = emit(&toolchain, &folder.join("gpu"), cases)?;
        for case in cases {
            let (called, emitted) = (called.get(&case.name), emitted.get(&case.name));
            let compared = called.zip(emitted).ok_or("it is not in both".to_owned());
            let complaint = compared.and_then(|(called, emitted)| compare(case, called, emitted));
            seen += usize::from(complaint.is_ok());
            wrong.extend(complaint.err().map(|complaint| format!("{}: {complaint}", case.rust())));
        }
    }
    println!("markers: {drawn} forms of the seed {seed} in {} manners, {seen} are rustc's own blocks", cases.len());
    if wrong.is_empty() {
        return Ok(());
    }
    let shown = wrong.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n");
    Err(Error::new(format_args!("{} of {} are not what rustc makes", wrong.len(), cases.len())).because(shown))
}

fn forms_of(cases: &[Case]) -> HashSet<*const Form> {
    cases.iter().map(|case| Arc::as_ptr(&case.form)).collect()
}

/// Whether it is written by a method, whose arms the copy of the crate goes without: 17,000 of them take rustc minutes and
/// gigabytes as markers. They pass through the same macro as what `ptx!` spells.
fn is_method(case: &Case) -> bool {
    case.form.operation() != Operation::Other && !case.rust().starts_with("ptx!")
}

/// Holds what a form called against the IR, and its operands against the ISA.
fn compare(case: &Case, called: &Called, emitted: &[Block]) -> std::result::Result<(), String> {
    let ours: Vec<Block> = called.blocks.iter().map(Block::with_numbers).collect();
    let theirs: Vec<Block> = emitted.iter().map(Block::as_markers).collect();
    if ours.len() != 1 || theirs.len() != 1 {
        return Err(format!("{} markers and {} blocks", ours.len(), theirs.len()));
    }
    let (our, their) = (&ours[0], &theirs[0]);
    let widths = |block: &Block| block.arguments.iter().map(|(kind, _)| width(kind)).collect::<Vec<_>>();
    for (what, our, their) in [
        ("template", &our.template, &their.template),
        ("constraints", &our.constraints.join(","), &their.constraints.join(",")),
        ("options", &our.options, &their.options),
        ("widths", &format!("{:?}", widths(our)), &format!("{:?}", widths(their))),
    ] {
        if our != their {
            return Err(format!("{what} {our:?}, and rustc makes {their:?}"));
        }
    }
    reads_first(our)?;
    outputs_land(case, our, &called.result)?;
    match case.form.operation() {
        Operation::Load | Operation::Store => operands_stand(case, our),
        Operation::Other => Ok(()),
    }
}

fn width(kind: &str) -> u32 {
    match kind {
        "ptr" | "i64" | "u64" => 64,
        "i32" | "u32" => 32,
        "i16" | "u16" => 16,
        other => panic!("an operand of type {other}"),
    }
}

impl Block {
    fn outputs(&self) -> usize {
        self.constraints.iter().filter(|constraint| constraint.starts_with('=')).count()
    }

    /// The same with `n` operands in the text, as rustc writes them.
    fn with_numbers(&self) -> Block {
        let mut block = self.clone();
        while let Some(at) = block.constraints.iter().position(|constraint| constraint == "n") {
            let (_, bytes) = block.arguments.remove(at - block.outputs());
            block.constraints.remove(at);
            let number = u32::from_le_bytes(bytes_of(&bytes).try_into().expect("a number has 32 bits"));
            let template =
                operands().replace_all(&block.template, |found: &regex::Captures| match found[1].parse::<usize>() {
                    Ok(other) if other == at => number.to_string(),
                    Ok(other) => format!("${}", other - usize::from(other > at)),
                    Err(_) => found[0].to_owned(),
                });
            block.template = template.into_owned();
        }
        block
    }

    /// What LLVM's IR says, as markers say it: without early clobbers, the values that outputs hold before at the end.
    fn as_markers(&self) -> Block {
        let outputs = self.outputs();
        let is_tie = |constraint: &String| constraint.starts_with(|c: char| c.is_ascii_digit());
        let inputs = self.constraints.iter().skip(outputs).zip(&self.arguments);
        let (mut ties, inputs): (Vec<_>, Vec<_>) = inputs.partition(|(constraint, _)| is_tie(constraint));
        ties.sort_by_key(|(output, _)| output.parse::<usize>().unwrap_or_default());
        let early = self.constraints.iter().take(outputs).map(|constraint| constraint.replace('&', ""));
        let clobbers = self.constraints.iter().skip(outputs + self.arguments.len()).cloned();
        let (constraints, arguments): (Vec<_>, Vec<_>) =
            inputs.into_iter().chain(ties).map(|(constraint, argument)| (constraint.clone(), argument.clone())).unzip();
        Block {
            template: self.template.clone(),
            constraints: early.chain(constraints).chain(clobbers).collect(),
            options: self.options.clone(),
            arguments,
        }
    }
}

fn operands() -> &'static Regex {
    static OPERANDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$(\$|\d+)").expect("the pattern is valid"));
    &OPERANDS
}

/// Markers have no early clobber: an output may share its register with an input, so no input is read behind the first
/// write of an output. Instructions that write an output come last.
fn reads_first(block: &Block) -> std::result::Result<(), String> {
    let outputs = block.outputs();
    let mut written = false;
    for instruction in block.template.split(';') {
        let used: Vec<usize> =
            operands().captures_iter(instruction).filter_map(|found| found[1].parse().ok()).collect();
        let input = used.iter().find(|&&operand| operand >= outputs);
        if let (true, Some(input)) = (written, input) {
            return Err(format!("${input} is read behind a write of an output: {:?}", block.template));
        }
        // What an output holds before is packed into a register of the block.
        let packs = ["mov.b128 %value", "mov.b128 %old"].iter().any(|packs| instruction.trim().starts_with(packs));
        written |= !packs && used.iter().any(|&operand| operand < outputs);
    }
    Ok(())
}

/// Each output goes to its place: the lanes of a value have the bytes of the outputs in the text's order.
fn outputs_land(case: &Case, block: &Block, result: &[u8]) -> std::result::Result<(), String> {
    let outputs = block.outputs();
    if outputs == 0 || result.is_empty() {
        return Ok(());
    }
    // `bool`s are made out of numbers.
    if result.len() == 1 && outputs == 1 && case.form.operation() == Operation::Other {
        return if result == [1] { Ok(()) } else { Err(format!("the result is {result:x?}")) };
    }
    let (lanes, mask) = match case.manner {
        Manner::Lanes(mask) => (lanes(case), mask),
        _ => (outputs, u32::MAX),
    };
    let moved = result.chunks(result.len() / lanes).enumerate().filter(|(at, _)| mask >> at & 1 == 1);
    match moved.zip(0xe0..).find(|((_, lane), output)| lane.iter().any(|byte| byte != output)) {
        Some(((at, _), _)) => Err(format!("an output is not in its place: {result:x?} from lane {at} on")),
        None => Ok(()),
    }
}

fn lanes(case: &Case) -> usize {
    let element = case.form.element().unwrap_or_default();
    let lanes = element.strip_prefix('V').and_then(|rest| rest.split('<').next()?.parse().ok());
    if element == "B128" { 2 } else { lanes.unwrap_or(1) }
}

/// In a load or a store, each argument stands where the ISA has it. An argument is known by its bytes.
fn operands_stand(case: &Case, block: &Block) -> std::result::Result<(), String> {
    let outputs = block.outputs();
    let names: Vec<String> = (0..outputs)
        .map(|output| format!("d{output}"))
        .chain(block.arguments.iter().map(|(kind, bytes)| name(kind, bytes)))
        .collect();
    let text = operands().replace_all(&block.template, |found: &regex::Captures| {
        found[1].parse::<usize>().map_or("$".to_owned(), |operand| names[operand].clone())
    });
    let expected = expected(case);
    let found: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if found == expected { Ok(()) } else { Err(format!("{found:?}, and the ISA has {expected:?}")) }
}

/// Each argument has a number, its tag: byte `at` of its value is `32 * tag + at`.
const TAGS: [(&str, u8); 5] = [("p", 1), ("v", 2), ("policy", 3), ("cond", 4), ("or", 5)];

/// The name of an argument, by its bytes: of a value also its lane.
fn name(kind: &str, bytes: &str) -> String {
    let bytes = bytes_of(bytes);
    if kind == "u32" && bytes == [1, 0, 0, 0] {
        return "cond".to_owned();
    }
    let (tag, at) = (bytes[0] / 32, usize::from(bytes[0] % 32));
    let name = TAGS.iter().find(|(_, number)| *number == tag).map_or("?", |(name, _)| name);
    if name == "v" { format!("v@{at}") } else { name.to_owned() }
}

/// The lines of the block, with a name for each operand: a load's lanes are outputs, of a store's value it is said where
/// the lane begins.
fn expected(case: &Case) -> Vec<String> {
    let size = case.form.bytes() as usize / lanes(case);
    let moved = (0..lanes(case)).filter(|at| !matches!(case.manner, Manner::Lanes(mask) if mask >> at & 1 == 0));
    let values: Vec<String> = match case.form.operation() {
        Operation::Load => (0..moved.count()).map(|output| format!("d{output}")).collect(),
        _ => moved.map(|at| format!("v@{}", at * size)).collect(),
    };
    case.expected().iter().map(|line| named(line, &values)).collect()
}

/// A line with a name in the place of each `%` that is an operand; `%value` is a register of the block's own.
fn named(line: &str, values: &[String]) -> String {
    let (mut text, mut values) = (String::new(), values.iter());
    let mut parts = line.split('%');
    text += parts.next().unwrap_or_default();
    for part in parts {
        let in_brackets = text.rfind('[') > text.rfind(']');
        text += &match () {
            () if part.starts_with(char::is_alphabetic) => "%".to_owned(),
            () if line.starts_with("setp") => "cond".to_owned(),
            () if line.starts_with("cvta") || in_brackets => "p".to_owned(),
            () => values.next().cloned().unwrap_or("policy".to_owned()),
        };
        text += part;
    }
    text
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("bytes are hexadecimal"))
        .collect()
}

/// Calls every case on the host, and gives what the markers were called with.
fn call(toolchain: &DeviceToolchain, folder: &Path, cases: &[Case]) -> Result<HashMap<String, Called>> {
    let repository = &toolchain.machine().repository;
    write(&folder.join("cuda_device/Cargo.toml"), &manifest("cuda_device", ""))?;
    write(&folder.join("cuda_device/src/lib.rs"), include_str!("cuda_device.rs"))?;
    copy_crate(&repository.join("ptx-intrinsics"), &folder.join("ptx-intrinsics"))?;
    let dependencies = "cuda_device = { path = \"cuda_device\" }\nptx-intrinsics = { path = \"ptx-intrinsics\" }\n";
    write(&folder.join("Cargo.toml"), &(manifest("forms", dependencies) + "[workspace]\n"))?;
    write(&folder.join("src/main.rs"), &program(cases))?;
    let cargo = toolchain.cargo().dir(folder).args(["run", "--quiet", "--target-dir"]);
    let target = toolchain.machine().target().join("markers/cargo");
    let output = cargo.arg(target).env("CARGO_PROFILE_DEV_DEBUG", "false").run()?.stdout;
    let mut called: HashMap<String, Called> = HashMap::new();
    let mut current = Called::default();
    for line in output.lines() {
        match *line.split('\t').collect::<Vec<_>>() {
            ["=", name, result] => {
                current.result = bytes_of(result);
                called.insert(name.to_owned(), std::mem::take(&mut current));
            }
            [_, template, constraints, options, arguments] => {
                let arguments = arguments.split_whitespace().filter_map(|argument| argument.split_once(':'));
                current.blocks.push(Block {
                    template: serde_json::from_str(template).map_err(|error| Error::new(error).at(line))?,
                    constraints: constraints.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
                    options: options.to_owned(),
                    arguments: arguments.map(|(kind, bytes)| (kind.to_owned(), bytes.to_owned())).collect(),
                });
            }
            _ => return Err(Error::new("the program printed something else").at(line)),
        }
    }
    Ok(called)
}

/// The crate as for the GPU, compiled for the host, with markers in the place of `asm!`.
fn copy_crate(from: &Path, to: &Path) -> Result<()> {
    let markers = include_str!("../../src/backends/markers.rs").replace("backends::markers", "markers");
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error));
    write(&to.join("src/markers.rs"), &markers)?;
    let dependency = "cuda_device = { path = \"../cuda_device\" }\n";
    write(&to.join("Cargo.toml"), &manifest("ptx-intrinsics", dependency))?;
    write(&to.join("build.rs"), &read(&from.join("build.rs"))?)?;
    for file in files(&from.join("src"))? {
        let name = file.strip_prefix(from).expect("it is a file of that folder");
        let text = read(&file)?.replace("target_arch = \"nvptx64\"", "all()");
        let text =
            text.replace("::core::arch::asm!", "core::arch::asm!").replace("core::arch::asm!", "$crate::markers!");
        let text = text.replace("for_each_element! { impl_by_width {", "no_arms! { {");
        let text = if name.ends_with("src/lib.rs") {
            let (attributes, items) = text.split_once("#[macro_use]").unwrap_or(("", &text));
            format!("{attributes}macro_rules! no_arms {{ ($($arms:tt)*) => {{}}; }}\n#[macro_use]\npub mod markers;\n#[macro_use]{items}")
                .replace("missing_docs", "dead_code")
        } else {
            text
        };
        write(&to.join(name), &text)?;
    }
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in folder.read_dir().map_err(|error| Error::io("read", folder, error))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path)?);
        } else {
            all.push(path);
        }
    }
    Ok(all)
}

fn manifest(name: &str, dependencies: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n")
}

/// Writes a file, if it is not there already: cargo rebuilds what was written.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
    std::fs::write(path, text).map_err(|error| Error::io("write", path, error))
}

/// A program that calls each case with arguments that are known by their bytes, and prints what comes back.
fn program(cases: &[Case]) -> String {
    let mut program = String::from(
        "#![allow(unused_parens, unused_unsafe, dead_code)]\nuse ptx_intrinsics::*;\n\n\
         /// A value whose bytes tell which argument it is.\n\
         fn tagged<T: Copy>(tag: u8) -> T {\n    let mut bytes = vec![0u8; size_of::<T>() + 32];\n    \
         for at in 0..size_of::<T>() {\n        bytes[at] = tag.wrapping_mul(32).wrapping_add(at as u8);\n    }\n    \
         unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }\n}\n\n\
         fn leaked<T: Copy>(tag: u8) -> &'static mut T {\n    Box::leak(Box::new(tagged::<T>(tag)))\n}\n\n\
         fn hex<T>(value: &T) -> String {\n    \
         let bytes = unsafe { std::slice::from_raw_parts((value as *const T).cast::<u8>(), size_of::<T>()) };\n    \
         bytes.iter().map(|byte| format!(\"{byte:02x}\")).collect()\n}\n\n",
    );
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let name = &case.name;
        writeln!(program, "unsafe fn {name}{}", case.parameters_and_body()).expect("a string takes all");
        let call = case.call();
        let mut others = 8;
        let arguments: Vec<String> = parameters(&call.parameters)
            .map(|(name, kind)| {
                let tag = TAGS.iter().find(|(known, _)| *known == name).map_or_else(
                    || {
                        others -= 1;
                        others
                    },
                    |(_, tag)| *tag,
                );
                argument(kind, tag)
            })
            .collect();
        let arguments = arguments.join(", ");
        let call = match call.result {
            Some(result) => format!(
                "let mut d: {result} = tagged(0); {name}(&mut d, {arguments}); println!(\"=\\t{name}\\t{{}}\", hex(&d));"
            ),
            None => format!("{name}({arguments}); println!(\"=\\t{name}\\t\");"),
        };
        writeln!(calls, "unsafe fn call_{number}() {{ {call} }}").expect("a string takes all");
    }
    program += &calls;
    program += "\nfn main() {\n    unsafe {\n";
    for number in 0..cases.len() {
        writeln!(program, "        call_{number}();").expect("a string takes all");
    }
    program + "    }\n}\n"
}

/// The names and types of parameters.
fn parameters(text: &str) -> impl Iterator<Item = (&str, &str)> {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|, )(\w+): ").expect("the pattern is valid"));
    let found: Vec<_> = NAMES.captures_iter(text).map(|found| (found.get(0), found.get(1))).collect();
    let ends: Vec<usize> =
        found.iter().skip(1).filter_map(|(all, _)| Some((*all)?.start())).chain([text.len()]).collect();
    let one = |((all, name), end): (&(Option<regex::Match<'_>>, Option<regex::Match<'_>>), usize)| {
        Some((all.as_ref()?.end(), end, name.as_ref()?.range()))
    };
    let parts: Vec<_> = found.iter().zip(ends).filter_map(one).collect();
    parts.into_iter().map(|(begin, end, name)| (&text[name], &text[begin..end]))
}

fn argument(kind: &str, tag: u8) -> String {
    if let Some(kind) = kind.strip_prefix("&mut ") {
        return format!("leaked::<{kind}>({tag})");
    }
    match kind.strip_prefix('&') {
        Some(kind) => format!("&*leaked::<{kind}>({tag})"),
        None if kind == "bool" => "true".to_owned(),
        None => format!("tagged::<{kind}>({tag})"),
    }
}

/// The blocks of every case in rustc's LLVM IR for the GPU.
fn emit(toolchain: &DeviceToolchain, folder: &Path, cases: &[Case]) -> Result<BTreeMap<String, Vec<Block>>> {
    forms::write_crate(folder, cases)?;
    let out = folder.join("forms.ll");
    let target = toolchain.machine().target().join("markers/cargo-gpu");
    let cargo = toolchain.cargo().dir(folder).args(["rustc", "--quiet", "--release", "--lib"]);
    let cargo = cargo.args(["--target=nvptx64-nvidia-cuda", "-Zbuild-std=core", "--target-dir"]).arg(target);
    // No version is written by LLVM's IR, so that the gates alone need to open.
    let gates: Vec<String> = (20..=94).map(|gate| format!("--cfg=ptx_isa=\"{gate}\"")).collect();
    let flags = [vec!["-Ctarget-cpu=sm_100".to_owned()], gates].concat();
    let cargo =
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    let mut emit = std::ffi::OsString::from("--emit=llvm-ir=");
    emit.push(&out);
    cargo.arg("--").arg(emit).run()?;
    let text = std::fs::read_to_string(&out).map_err(|error| Error::io("read", &out, error))?;
    Ok(blocks(&text))
}

fn blocks(ir: &str) -> BTreeMap<String, Vec<Block>> {
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^define .*@(\w+)\(").expect("the pattern is valid"));
    static ASM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#" asm (sideeffect )?(?:alignstack )?"([^"]*)", "([^"]*)"\(([^)]*(?:\([^)]*\)[^)]*)*)\)( #\d+)?"#)
            .expect("the pattern is valid")
    });
    let without_memory: Vec<&str> = ir
        .lines()
        .filter(|line| line.starts_with("attributes #") && line.contains("memory(none)"))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let mut all: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    let mut name = String::new();
    for line in ir.lines() {
        if let Some(found) = FUNCTION.captures(line) {
            name = found[1].to_owned();
        }
        let Some(found) = ASM.captures(line) else { continue };
        let free = found.get(1).is_none()
            && found.get(5).is_some_and(|attributes| without_memory.contains(&attributes.as_str().trim()));
        all.entry(name.clone()).or_default().push(Block {
            template: unescaped(&found[2]),
            constraints: found[3].split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
            options: if free { "register_only,may_diverge" } else { "" }.to_owned(),
            arguments: found[4]
                .split(", ")
                .filter_map(|argument| argument.split_whitespace().next())
                .map(|kind| (kind.to_owned(), String::new()))
                .collect(),
        });
    }
    all
}

/// LLVM writes what is no letter as two digits behind `\`, and `${0}` for an operand.
fn unescaped(text: &str) -> String {
    static BRACED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\{(\d+)\}").expect("the pattern is valid"));
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let digits: String = letters.by_ref().take(2).collect();
                out.push(u8::from_str_radix(&digits, 16).map_or('?', char::from));
            }
            letter => out.push(letter),
        }
    }
    BRACED.replace_all(&out, "$$$1").into_owned()
}

#[test]
fn templates_are_those_of_their_own_macro() {
    use host_tests::backends::markers::{Operand, Way, constraints, constraints_length, template, template_length};

    const fn operand(name: &'static str, way: Way, letter: u8) -> Operand {
        Operand { name, way, letter }
    }
    macro_rules! made {
        ($text:literal, $operands:expr, $memory:literal) => {{
            const OPERANDS: &[Operand] = $operands;
            const TEMPLATE: [u8; template_length($text, OPERANDS)] = template($text, OPERANDS);
            const CONSTRAINTS: [u8; constraints_length(OPERANDS, $memory)] = constraints(OPERANDS, $memory);
            [&TEMPLATE[..], &CONSTRAINTS[..]].map(|text| String::from_utf8(text.to_vec()).expect("it is ASCII"))
        }};
    }
    use Way::{In, InOut, Out};
    // What cuda-oxide's `ptx_asm!` makes of the same, by its own tests.
    let sum = made!(
        "add.u32 {y}, {x}, {z};",
        &[operand("x", In, b'r'), operand("y", Out, b'r'), operand("z", In, b'r')],
        false
    );
    assert_eq!(sum, ["add.u32 $0, $1, $2;", "=r,r,r"]);
    let literal = made!("$L__BB0: mov.u32 {d}, %laneid;", &[operand("d", Out, b'r')], false);
    assert_eq!(literal, ["$$L__BB0: mov.u32 $0, %laneid;", "=r"]);
    let tied = made!(
        "mov.u32 {a}, {c}; add.u32 {b}, {b}, {c};",
        &[operand("a", Out, b'r'), operand("b", InOut, b'l'), operand("c", In, b'r')],
        false
    );
    assert_eq!(tied, ["mov.u32 $0, $2; add.u32 $1, $1, $2;", "=r,=l,r,1"]);
    assert_eq!(made!("membar.gl;", &[], true), ["membar.gl;", "~{memory}"]);
    let ten: [String; 2] = made!(
        "{{{d}, {i}, {j}}}",
        &[
            operand("d", Out, b'r'),
            operand("a", In, b'r'),
            operand("b", In, b'r'),
            operand("c", In, b'r'),
            operand("e", In, b'r'),
            operand("f", In, b'r'),
            operand("g", In, b'r'),
            operand("h", In, b'r'),
            operand("k", In, b'r'),
            operand("i", In, b'n'),
            operand("j", In, b'h'),
        ],
        true
    );
    assert_eq!(ten, ["{$0, $9, $10}", "=r,r,r,r,r,r,r,r,r,n,h,~{memory}"]);
}
