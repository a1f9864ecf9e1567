//! Every form of the catalogue as a function of a generated crate, and what its PTX has to be.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

pub use ptx_build::explain::CUDA_NAMES;
use ptx_intrinsics::catalogue::{Form, IMPORTS, Operation};
use regex::Regex;

use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};
use crate::tools::ptx::{self, Function, Module};
use crate::tools::target::{PtxVersion, Sm};

/// One function of the generated crate: a form, and how it is written.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function's name in the PTX.
    pub name: String,
    /// The form that it holds.
    pub form: Arc<Form>,
    /// How it is written.
    pub syntax: Syntax,
}

/// A case's expression, and the rest of a function that holds it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The parameters of what it takes.
    pub parameters: String,
    /// The statements that make its values of the parameters.
    pub before: String,
    /// The type of its value, if it has one.
    pub result: Option<String>,
    /// The expression. It is unsafe to evaluate.
    pub expression: String,
}

/// How a form is written: what changes beside its mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// As the catalogue lists it: with a method where there is one, else with `ptx!`.
    Plain,
    /// The same under a predicate.
    Guarded,
    /// With `ptx!`, where there is a method too.
    Macro,
    /// With `ptx!` under a predicate, where there is a method too.
    MacroGuarded,
    /// With `.unified` after the address.
    Unified,
    /// With a sink for each lane whose bit is not set.
    Lanes(u32),
    /// By the name that CUDA C++ gives it.
    Cuda(&'static str),
}

/// Each form in every syntax that it has, and every choice of lanes of every type that can leave some out, each with
/// another of the forms of its instruction.
pub fn cases(forms: &[Arc<Form>]) -> Vec<Case> {
    forms
        .iter()
        .flat_map(syntaxes)
        .chain(lane_cases(forms))
        .enumerate()
        .map(|(number, case)| case.numbered(number))
        .collect()
}

fn syntaxes(form: &Arc<Form>) -> Vec<Case> {
    let by_method = |rust: &str| !rust.starts_with("ptx!");
    let mut syntaxes = vec![Syntax::Plain];
    if let Some(guarded) = form.rust_if() {
        syntaxes.push(Syntax::Guarded);
        syntaxes.extend(by_method(form.rust()).then_some(Syntax::Macro));
        syntaxes.extend(by_method(&guarded).then_some(Syntax::MacroGuarded));
    }
    syntaxes.extend(form.unified().map(|_| Syntax::Unified));
    let named = CUDA_NAMES
        .iter()
        .filter(|(_, begins)| form.rust().strip_prefix(begins).is_some_and(|rest| rest.starts_with('(')));
    syntaxes.extend(named.map(|(name, _)| Syntax::Cuda(name)));
    syntaxes.into_iter().map(|syntax| Case { name: String::new(), form: form.clone(), syntax }).collect()
}

fn lane_cases(forms: &[Arc<Form>]) -> Vec<Case> {
    let mut by_type: BTreeMap<(&str, &str), Vec<&Arc<Form>>> = BTreeMap::new();
    for form in forms.iter().filter(|form| form.bytes() == 32) {
        by_type.entry((form.instruction(), form.element().unwrap_or_default())).or_default().push(form);
    }
    let mut cases = Vec::new();
    for ((_, element), forms) in by_type {
        for mask in 1..(1 << lanes(element)) - 1 {
            let form = forms[mask as usize % forms.len()].clone();
            cases.push(Case { name: String::new(), form, syntax: Syntax::Lanes(mask) });
        }
    }
    cases
}

/// How many elements a vector has.
pub fn lanes(element: &str) -> u32 {
    element.strip_prefix('V').and_then(|rest| rest.split('<').next()?.parse().ok()).unwrap_or(1)
}

/// The function and the methods of an expression, without what they take; `ptx!` is one of them.
pub fn calls(rust: &str) -> Vec<&str> {
    static CALL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b([a-z]\w*!?)(?:::<(?:[^()]|\([^()]*\))*?>)?\(").expect("the pattern is valid"));
    CALL.captures_iter(rust).filter_map(|call| Some(call.get(1)?.as_str())).collect()
}

impl Case {
    fn numbered(self, number: usize) -> Case {
        let syntax = match self.syntax {
            Syntax::Plain => "form",
            Syntax::Guarded => "if",
            Syntax::Macro => "ptx",
            Syntax::MacroGuarded => "ptx_if",
            Syntax::Unified => "unified",
            Syntax::Lanes(_) => "lanes",
            Syntax::Cuda(name) => name,
        };
        Case { name: format!("{syntax}_{number}"), ..self }
    }

    fn is_guarded(&self) -> bool {
        matches!(self.syntax, Syntax::Guarded | Syntax::MacroGuarded)
    }

    /// The oldest PTX ISA version, 74 for 7.4, and SM that have it.
    pub fn needs(&self) -> (u32, u32) {
        match (self.syntax, self.form.unified()) {
            (Syntax::Unified, Some((_, sm, ptx))) => (sm, ptx),
            _ => (self.form.min_sm(), self.form.min_ptx()),
        }
    }

    /// The expression that the function holds.
    pub fn rust(&self) -> String {
        let form = &self.form;
        match self.syntax {
            Syntax::Plain => form.rust().to_owned(),
            Syntax::Guarded => form.rust_if().unwrap_or_default(),
            Syntax::Macro => form.rust_ptx().unwrap_or_default(),
            Syntax::MacroGuarded => form.rust_ptx_if().unwrap_or_default(),
            Syntax::Unified => form.unified().map(|(rust, ..)| rust).unwrap_or_default(),
            Syntax::Cuda(name) => {
                let (_, arguments) = form.rust().split_once("().").unwrap_or_default();
                arguments.replace("read", name).replace("write", name)
            }
            Syntax::Lanes(mask) => self.rust_of_lanes(mask),
        }
    }

    /// A load gets the lanes as its destination, a store as its value.
    fn rust_of_lanes(&self, mask: u32) -> String {
        let (spelled, element) = (self.form.rust_ptx().unwrap_or_default(), self.form.element().unwrap_or_default());
        if self.form.operation() == Operation::Load {
            return spelled.replacen(" [", &format!(" {{{}}}, [", sinks(mask, element, |_| "d".into())), 1);
        }
        let values = sinks(mask, element, |lane| format!("(v.0[{lane}])"));
        spelled.replacen("], v", &format!("], {{{values}}}"), 1)
    }

    /// The type of the address of a load, a store or an atomic: `ptx!` takes one of the space in shared memory.
    pub fn pointer(&self) -> &'static str {
        let in_its_space = self.rust().contains("[p.cast::<");
        match (self.form.space(), self.form.operation()) {
            (Some("shared"), _) if in_its_space => "SharedPtr<u8>",
            (Some("shared::cluster"), _) if in_its_space => "SharedClusterPtr<u8>",
            (_, Operation::Load) => "*const u8",
            _ => "*mut u8",
        }
    }

    /// The Rust function.
    fn source(&self) -> String {
        // A function's parameters are only in a function, and not in a kernel.
        let abi = if self.form.space() == Some("param::func") { "C" } else { "ptx-kernel" };
        let name = &self.name;
        format!("#[unsafe(no_mangle)]\npub unsafe extern \"{abi}\" fn {name}{}\n", self.parameters_and_body())
    }

    /// What follows the function's name, on one line.
    pub fn parameters_and_body(&self) -> String {
        let Call { parameters, before, result, expression } = self.call();
        match result {
            Some(result) => format!("(d: &mut {result}, {parameters}) {{ {before}*d = unsafe {{ {expression} }} }}"),
            None => format!("({parameters}) {{ {before}unsafe {{ {expression} }} }}"),
        }
    }

    /// The expression and what it takes and gives. Values pass through references: rustc cannot pass 256-bit ones to a
    /// kernel, and would check a raw pointer for alignment in a dev build.
    pub fn call(&self) -> Call {
        let form = &self.form;
        let guarded = self.is_guarded();
        let element = form.element().unwrap_or("u8");
        let signature = form.signature();
        let mut parameters = match (form.operation(), signature) {
            (Operation::Store, _) => format!("p: {}, v: &{element}", self.pointer()),
            (Operation::Load, _) => format!("p: {}", self.pointer()),
            (Operation::Other, signature) => signature.map_or("", |signature| signature.parameters).to_owned(),
        };
        let result = match form.operation() {
            Operation::Load => Some(element),
            Operation::Store => None,
            Operation::Other => signature.and_then(|signature| signature.result),
        };
        if form.takes_policy() {
            parameters += ", policy: CachePolicy";
        }
        if guarded {
            parameters += ", cond: bool";
        }
        let mut before = String::new();
        if form.operation() == Operation::Store {
            before += "let v = *v; ";
        }
        match (guarded, form.operation(), result) {
            (true, Operation::Load, _) => {
                parameters += &format!(", or: &{element}");
                before += "let or = *or; ";
            }
            (true, Operation::Other, Some(result)) => parameters += &format!(", or: {result}"),
            _ => {}
        }
        // Both assemblers crash where `test_wait` takes a kernel's parameter for a state, for sm_80 to sm_89.
        if parameters.contains("state: MbarrierState") {
            parameters = parameters.replace("state: MbarrierState", "state: &MbarrierState");
            before += "let state = *state; ";
        }
        Call { parameters, before, result: result.map(str::to_owned), expression: self.rust() }
    }

    /// The lines of PTX that the function's only `asm!` has to be, registers as `%`.
    ///
    /// Spelled from the ISA's syntax of the instruction, not from what the crate emits.
    pub fn expected(&self) -> Vec<String> {
        let value = self.value();
        let policy = if self.form.takes_policy() { ", %" } else { "" };
        let unified = if self.syntax == Syntax::Unified { ".unified" } else { "" };
        let converted = self.converted();
        let address = if converted.is_some() { "%address" } else { "%" };
        let operands = match self.form.operation() {
            Operation::Load => format!("{value}, [{address}]{unified}{policy}"),
            Operation::Store => format!("[{address}], {value}{policy}"),
            Operation::Other => {
                let operands = self.form.signature().map_or("", |signature| signature.operands);
                // A collective's predicates are LLVM's registers.
                let operands = operands.replace("%holds", "%").replace("%found", "%");
                let operands = if self.stores_byte() { operands.replace("], %", "], %byte") } else { operands };
                operands.replace("[%]", &format!("[{address}]")) + policy
            }
        };
        let mut lines = vec![format!("{} {operands}", self.form.ptx()).trim_end().to_owned() + ";"];
        // Predicates, which Rust has no registers for.
        if operands.contains("%ignore") {
            let before = ["{", ".reg .pred %ignore;", "setp.ne.b32 %ignore, %, 0;"].map(String::from);
            lines = before.into_iter().chain(lines).chain(["}".into()]).collect();
        }
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        if operands.contains("%response") {
            before.extend([".reg .b128 %response;", "mov.b128 %response, {%, %};"].map(String::from));
        }
        if operands.contains("%byte") {
            before.extend([".reg .b8 %byte;", "cvt.u8.u16 %byte, %;"].map(String::from));
        }
        if operands.contains("%done") {
            before.push(".reg .pred %done;".into());
            behind.push("selp.u32 %, 1, 0, %done;".into());
        }
        if !before.is_empty() {
            lines = [vec!["{".into()], before, lines, behind, vec!["}".into()]].concat();
        }
        if self.is_guarded() {
            let before = ["{", ".reg .pred %cond;", "setp.ne.b32 %cond, %, 0;"].map(String::from);
            lines = before.into_iter().chain([format!("@%cond {}", lines[0]), "}".into()]).collect();
        }
        if let Some(space) = converted {
            let before = ["{".into(), ".reg .u64 %address;".into(), format!("cvta.to.{space}.u64 %address, %;")];
            lines = before.into_iter().chain(lines).chain(["}".into()]).collect();
        }
        match self.form.operation() {
            Operation::Other if operands.contains("%value") => packed_atomic(lines, &operands, self.is_guarded()),
            Operation::Other if operands.contains("%l0") => packed_bytes(lines, &operands, self.is_guarded()),
            operation if value == "%value" => packed(lines, operation, self.is_guarded()),
            _ => lines,
        }
    }

    /// Whether it stores 8 bits later, for which the assembler takes a register of 8 bits alone.
    fn stores_byte(&self) -> bool {
        self.form.instruction().ends_with("st.async")
            && [".b8", ".u8", ".s8"].iter().any(|ty| self.form.ptx().ends_with(ty))
    }

    /// The space that the block converts the address to.
    fn converted(&self) -> Option<&str> {
        match self.form.space() {
            None if self.form.instruction() == "prefetch" => {
                ["local", "const", "param"].into_iter().find(|space| self.form.ptx().contains(&format!(".{space}.")))
            }
            None | Some("global" | "param::func") => None,
            Some("param::entry") => Some("param"),
            _ if self.pointer().starts_with("Shared") => None,
            space => space,
        }
    }

    /// The value operand: one register, or a vector of them.
    fn value(&self) -> String {
        match (self.syntax, self.form.element().unwrap_or_default()) {
            (_, "B128") => "%value".into(),
            (Syntax::Lanes(mask), element) => format!("{{{}}}", sinks(mask, element, |_| "%".into())),
            (_, element) if lanes(element) > 1 => format!("{{{}}}", sinks(u32::MAX, element, |_| "%".into())),
            _ => "%".into(),
        }
    }
}

/// The lanes of a mask: `lane` where it is moved, `_` where it is not.
fn sinks(mask: u32, element: &str, lane: impl Fn(u32) -> String) -> String {
    let all = (0..lanes(element)).map(|at| if mask >> at & 1 == 1 { lane(at) } else { "_".into() });
    all.collect::<Vec<_>>().join(", ")
}

/// A 128-bit access: the register declared, filled where its old value counts, emptied where it is the result.
fn packed(access: Vec<String>, operation: Operation, guarded: bool) -> Vec<String> {
    let pack = (operation == Operation::Store || guarded).then_some("mov.b128 %value, {%, %};");
    let unpack = (operation == Operation::Load).then_some("mov.b128 {%, %}, %value;");
    let before = ["{", ".reg .b128 %value;"].into_iter().chain(pack).map(String::from);
    let after = unpack.into_iter().chain(["}"]).map(String::from);
    before.chain(access).chain(after).collect()
}

/// A 128-bit atomic: as for an access, each of its values in a register of its own.
fn packed_atomic(atomic: Vec<String>, operands: &str, guarded: bool) -> Vec<String> {
    let compare = operands.contains("%compare");
    let before = [
        (true, "{"),
        (true, ".reg .b128 %old, %value;"),
        (guarded, "mov.b128 %old, {%, %};"),
        (true, "mov.b128 %value, {%, %};"),
        (compare, ".reg .b128 %compare;"),
        (compare, "mov.b128 %compare, {%, %};"),
    ];
    let before = before.into_iter().filter(|(stands, _)| *stands).map(|(_, line)| line.to_owned());
    let after = ["mov.b128 {%, %}, %old;", "}"].into_iter().map(String::from);
    before.chain(atomic).chain(after).collect()
}

/// Lanes of 8 bits, which Rust has no registers for: four of them in one of 32 bits. What a load gives is packed, and what it begins
/// with under a predicate is unpacked.
fn packed_bytes(access: Vec<String>, operands: &str, guarded: bool) -> Vec<String> {
    let is_load = operands.starts_with('{');
    let lanes: Vec<String> = (0..operands.matches("%l").count()).map(|lane| format!("%l{lane}")).collect();
    let (unpack, pack): (Vec<String>, Vec<String>) = lanes
        .chunks(4)
        .map(|four| four.join(", "))
        .map(|four| (format!("mov.b32 {{{four}}}, %;"), format!("mov.b32 %, {{{four}}};")))
        .unzip();
    let before = ["{".to_owned(), format!(".reg .b8 %l<{}>;", lanes.len())];
    let before = before.into_iter().chain(unpack.into_iter().filter(|_| !is_load || guarded));
    before.chain(access).chain(pack.into_iter().filter(|_| is_load)).chain(["}".to_owned()]).collect()
}

/// Writes the crate of these cases into `folder`, if it is not there already, and gives its folder.
pub fn write_crate(folder: &Path, cases: &[Case]) -> Result<PathBuf> {
    write_package(folder, "forms", &crate_source(cases))?;
    Ok(folder.to_owned())
}

/// The source of the crate of these cases.
pub fn crate_source(cases: &[Case]) -> String {
    let mut source = format!(
        "#![no_std]\n#![feature(abi_ptx)]\n#![allow(improper_ctypes_definitions, unused_imports, unused_parens, unused_unsafe, clippy::missing_safety_doc)]\n\
         {IMPORTS}\n\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{\n    loop {{}}\n}}\n",
    );
    for case in cases {
        writeln!(source, "\n{}", case.source().trim_end()).expect("a string takes all");
    }
    source
}

/// Writes a package that depends on `ptx-intrinsics`, if it is not there already.
pub fn write_package(folder: &Path, name: &str, source: &str) -> Result<()> {
    write_package_with(folder, name, &["ptx-intrinsics/l2-combinations"], source)
}

/// Writes a package that depends on these crates of this repository, if it is not there already. `crate/feature` asks for a feature.
pub fn write_package_with(folder: &Path, name: &str, crates: &[&str], source: &str) -> Result<()> {
    write_package_of(&Machine::current().repository, folder, name, crates, source)
}

/// The same, with the crates of that checkout.
pub fn write_package_of(repository: &Path, folder: &Path, name: &str, crates: &[&str], source: &str) -> Result<()> {
    let dependency = |wanted: &&str| {
        let (name, feature) = wanted.split_once('/').unwrap_or((wanted, ""));
        let features: Vec<&str> = feature.split_terminator(',').collect();
        format!("{name} = {{ path = {:?}, features = {features:?} }}\n", repository.join(name))
    };
    let dependencies: String = crates.iter().map(dependency).collect();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}\n[workspace]\n"
    );
    write_if_new(&folder.join("Cargo.toml"), &manifest)?;
    write_if_new(&folder.join("src/lib.rs"), source)
}

/// cargo rebuilds what was written, even with the same text.
fn write_if_new(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
    std::fs::write(path, text).map_err(|error| Error::io("write", path, error))
}

/// Compares every case with its function in the module, and gives what is wrong, a line each.
pub fn differences(module: &Module, cases: &[Case]) -> Vec<String> {
    let functions: HashMap<&str, &Function> =
        module.functions.iter().map(|function| (function.name.as_str(), function)).collect();
    cases.iter().filter_map(|case| difference(functions.get(case.name.as_str()).copied(), case)).collect()
}

fn difference(function: Option<&Function>, case: &Case) -> Option<String> {
    let rust = case.rust();
    let Some(function) = function else { return Some(format!("{rust}: no such function in the PTX")) };
    if let Some(call) = function.body.iter().find(|line| line.text.starts_with("call")) {
        return Some(format!("{rust}: a call is left: {}", call.text));
    }
    let blocks: Vec<Vec<String>> = function
        .inline_asm()
        .iter()
        .map(|block| block.lines.iter().map(|line| ptx::normalise(line)).collect())
        .chain(collectives(function, case))
        .collect();
    let expected = case.expected();
    (blocks != [expected.clone()]).then(|| format!("{rust}: expected {expected:?}, found {blocks:?}"))
}

/// The collectives of that case's kind, which are LLVM's own lines.
fn collectives(function: &Function, case: &Case) -> Vec<Vec<String>> {
    let name = case.form.ptx().split('.').next().unwrap_or_default();
    let is_one = |line: &&str| line.split(['.', ' ', ';']).next() == Some(name);
    let lines = function.body.iter().map(|line| line.text.as_str()).filter(is_one);
    let lines = lines.filter(|_| case.form.is_collective());
    lines.map(|line| vec![ptx::normalise(line)]).collect()
}

/// A module of some functions of another, for another target.
pub fn retarget(module: &Module, names: &[&str], sm: Sm, version: PtxVersion) -> String {
    let wanted: HashSet<&str> = names.iter().copied().collect();
    let mut text = format!(".version {version}\n.target {sm}\n.address_size 64\n");
    for function in module.functions.iter().filter(|function| wanted.contains(function.name.as_str())) {
        for line in &function.body {
            text += &line.text;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_an_expression() {
        let cases: [(&str, &[&str]); 5] = [
            ("mapa(p, 1)", &["mapa"]),
            ("ld_global::<(EvictLast, L2EvictFirst), NoPrefetch>().read(p as *const V8<B32>)", &["ld_global", "read"]),
            ("ld::<Global>().relaxed::<Gpu>().read(p)", &["ld", "relaxed", "read"]),
            ("CachePolicy::all(L2EvictFirst)", &["all"]),
            ("CachePolicy::EVICT_FIRST", &[]),
        ];
        for (rust, expected) in cases {
            assert_eq!(calls(rust), expected, "{rust}");
        }
    }
}
