//! Every form of the catalogue as a function of a generated crate, and what its PTX has to be.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use ptx_intrinsics::catalogue::{self, Form, Operation};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::ptx::{self, Function, Module};
use crate::ptxas::Assembler;
use crate::target::{PtxVersion, Sm};

/// One function of the generated crate: a form, and how it is written.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function's name in the PTX.
    pub name: String,
    /// The form that it holds.
    pub form: Form,
    /// How it is written.
    pub manner: Manner,
}

/// How a form is written: what changes beside its mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As the catalogue lists it.
    Plain,
    /// Under a predicate.
    Guarded,
    /// With a sink for each lane whose bit is not set.
    Lanes(u32),
    /// By the name that CUDA C++ gives it.
    Cuda(&'static str),
}

/// The names of CUDA C++, and how the forms that they stand for begin.
const CUDA_NAMES: [(&str, &str); 10] = [
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

/// Each form of the catalogue, its predicated form where there is one, and every choice of lanes of every type that
/// can leave some unread, each with another of the type's forms.
pub fn cases() -> Vec<Case> {
    let forms: Vec<Form> = catalogue::forms().collect();
    let mut cases: Vec<Case> = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        cases.push(Case { name: format!("form_{number}"), form: form.clone(), manner: Manner::Plain });
        if form.rust_if().is_some() {
            cases.push(Case { name: format!("if_{number}"), form: form.clone(), manner: Manner::Guarded });
        }
        for (cuda, begins) in CUDA_NAMES {
            if form.rust().strip_prefix(begins).is_some_and(|rest| rest.starts_with('(')) {
                cases.push(Case { name: format!("{cuda}_{number}"), form: form.clone(), manner: Manner::Cuda(cuda) });
            }
        }
    }
    let mut by_type: BTreeMap<(&str, &str), Vec<&Form>> = BTreeMap::new();
    for form in forms.iter().filter(|form| form.operation() == Operation::Load && form.bytes() == 32) {
        by_type.entry((form.instruction(), form.element().unwrap_or_default())).or_default().push(form);
    }
    for ((_, element), forms) in by_type {
        for mask in 1..(1 << lanes(element)) - 1 {
            let name = format!("lanes_{}", cases.len());
            let form = forms[mask as usize % forms.len()].clone();
            cases.push(Case { name, form, manner: Manner::Lanes(mask) });
        }
    }
    cases
}

/// How many elements a vector has.
fn lanes(element: &str) -> u32 {
    element.strip_prefix('V').and_then(|rest| rest.split('<').next()?.parse().ok()).unwrap_or(1)
}

impl Case {
    /// The expression that the function holds.
    pub fn rust(&self) -> String {
        let form = &self.form;
        let mask = match self.manner {
            Manner::Plain => return form.rust().to_owned(),
            Manner::Guarded => return form.rust_if().unwrap_or_default().to_owned(),
            Manner::Cuda(name) => {
                let (_, arguments) = form.rust().split_once("().").unwrap_or_default();
                return arguments.replace("read", name).replace("write", name);
            }
            Manner::Lanes(mask) => mask,
        };
        let (load, _) = form.rust().split_once("()").unwrap_or_default();
        let element = form.element().unwrap_or_default();
        let policy = if form.takes_policy() { ", policy" } else { "" };
        format!("read_lanes!({load}, {element} {{{}}}, p as *const {element}{policy})", sinks(mask, element, "d"))
    }

    /// The Rust function. Values pass through references: rustc cannot pass 256-bit ones to a kernel, and would
    /// check a raw pointer for alignment in a dev build.
    fn source(&self) -> String {
        let Case { name, form, manner } = self;
        let guarded = *manner == Manner::Guarded;
        let element = form.element().unwrap_or("u8");
        let mut parameters = match form.operation() {
            Operation::Store => format!("p: *mut u8, v: &{element}"),
            Operation::Load => format!("p: *const u8, d: &mut {element}"),
            Operation::Prefetch => "p: *const u8".to_owned(),
        };
        if form.takes_policy() {
            parameters += ", policy: CachePolicy";
        }
        if guarded {
            parameters += ", cond: bool";
        }
        if guarded && form.operation() == Operation::Load {
            parameters += &format!(", or: &{element}");
        }
        let expression = self.rust();
        let body = match form.operation() {
            Operation::Load if guarded => format!("let or = *or; *d = unsafe {{ {expression} }}"),
            Operation::Load => format!("*d = unsafe {{ {expression} }}"),
            Operation::Store => format!("let v = *v; unsafe {{ {expression} }}"),
            Operation::Prefetch => format!("unsafe {{ {expression} }}"),
        };
        format!("#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}({parameters}) {{ {body} }}\n")
    }

    /// The lines of PTX that the function's only `asm!` has to be, registers as `%`.
    ///
    /// Spelled from the ISA's syntax of the instruction, not from what the crate emits.
    pub fn expected(&self) -> Vec<String> {
        let value = self.value();
        let guarded = self.manner == Manner::Guarded;
        let policy = if self.form.takes_policy() { ", %" } else { "" };
        let operands = match self.form.operation() {
            Operation::Load => format!("{value}, [%]{policy}"),
            Operation::Store => format!("[%], {value}{policy}"),
            Operation::Prefetch => return prefetch(self.form.ptx()),
        };
        let mut lines = vec![format!("{} {operands};", self.form.ptx())];
        if guarded {
            lines = ["{", ".reg .pred %cond;", "setp.ne.b32 %cond, %, 0;"].map(String::from).to_vec();
            lines.extend([format!("@%cond {} {operands};", self.form.ptx()), "}".into()]);
        }
        if value == "%value" {
            lines = packed(lines, self.form.operation(), guarded);
        }
        lines
    }

    /// The value operand: one register, or a vector of them.
    fn value(&self) -> String {
        match (self.manner, self.form.element().unwrap_or_default()) {
            (_, "B128") => "%value".into(),
            (Manner::Lanes(mask), element) => format!("{{{}}}", sinks(mask, element, "%")),
            (_, element) if lanes(element) > 1 => format!("{{{}}}", sinks(u32::MAX, element, "%")),
            _ => "%".into(),
        }
    }
}

/// The lanes of a mask: `lane` where it is read, `_` where it is not.
fn sinks(mask: u32, element: &str, lane: &str) -> String {
    let all = (0..lanes(element)).map(|at| if mask >> at & 1 == 1 { lane } else { "_" });
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

/// A prefetch: in a space of its own the address is converted in the block.
fn prefetch(ptx: &str) -> Vec<String> {
    let space = ["local", "const", "param"].into_iter().find(|space| ptx.contains(&format!(".{space}.")));
    match space {
        None => vec![format!("{ptx} [%];")],
        Some(space) => {
            vec![
                "{".into(),
                ".reg .u64 %address;".into(),
                format!("cvta.to.{space}.u64 %address, %;"),
                format!("{ptx} [%address];"),
                "}".into(),
            ]
        }
    }
}

/// Writes the crate of these cases into `folder`, if it is not there already, and gives its folder.
pub fn write_crate(folder: &Path, cases: &[Case]) -> Result<PathBuf> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-intrinsics");
    let manifest = format!(
        "[package]\nname = \"forms\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nptx-intrinsics = {{ path = {library:?} }}\n\n[workspace]\n"
    );
    let mut source = String::from(
        "#![no_std]\n#![feature(abi_ptx, asm_experimental_arch)]\n#![allow(improper_ctypes_definitions, clippy::missing_safety_doc)]\n\
         use ptx_intrinsics::*;\n\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n",
    );
    for case in cases {
        writeln!(source, "\n{}", case.source().trim_end()).expect("a string takes all");
    }
    write_if_new(&folder.join("Cargo.toml"), &manifest)?;
    write_if_new(&folder.join("src/lib.rs"), &source)?;
    Ok(folder.to_owned())
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
        .collect();
    let expected = case.expected();
    (blocks != [expected.clone()]).then(|| format!("{rust}: expected {expected:?}, found {blocks:?}"))
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

/// How many functions go to the assembler at a time: its time grows faster than a module.
const AT_A_TIME: usize = 500;

/// An assembler's verdicts about functions of one module.
pub struct Verdicts<'a> {
    /// The module that the functions stand in.
    pub module: &'a Module,
    /// Where verdicts already given are kept, by what was asked.
    pub kept: &'a Path,
}

impl Verdicts<'_> {
    /// Assembles these functions, and gives the assembler's messages about those that it refuses.
    ///
    /// What was accepted once is not assembled again: the same text, for the same target, by the same assembler.
    pub fn refusals(&self, assembler: &Assembler, cases: &[&Case], sm: Sm, version: PtxVersion) -> Result<Vec<String>> {
        let parts: Vec<&[&Case]> = cases.chunks(AT_A_TIME).collect();
        let refusals: Vec<Option<String>> =
            parts.par_iter().map(|part| self.refusal(assembler, part, sm, version)).collect::<Result<_>>()?;
        Ok(refusals.into_iter().flatten().collect())
    }

    fn refusal(&self, assembler: &Assembler, cases: &[&Case], sm: Sm, version: PtxVersion) -> Result<Option<String>> {
        let text = retarget(self.module, &names(cases), sm, version);
        let mut question = DefaultHasher::new();
        (&text, sm, assembler.path(), assembler.path().metadata().map(|file| file.len()).ok()).hash(&mut question);
        let kept = self.kept.join(format!("{:016x}", question.finish()));
        if kept.is_file() {
            return Ok(None);
        }
        std::fs::create_dir_all(self.kept).map_err(|error| Error::io("create the folder", self.kept, error))?;
        let scratch =
            tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        match assembler.assemble_text(&text, sm, &scratch.path().join("forms.cubin"))? {
            Err(rejected) => Ok(Some(rejected.to_string())),
            Ok(_) => std::fs::write(&kept, "").map(|()| None).map_err(|error| Error::io("write", &kept, error)),
        }
    }

    /// Those of these functions about which the assembler has nothing to complain.
    pub fn accepted<'c>(
        &self,
        assembler: &Assembler,
        cases: &[&'c Case],
        sm: Sm,
        version: PtxVersion,
    ) -> Result<Vec<&'c Case>> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let text = retarget(self.module, &names(cases), sm, version);
        let scratch =
            tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        let Err(rejected) = assembler.assemble_text(&text, sm, &scratch.path().join("forms.cubin"))? else {
            return Ok(cases.to_vec());
        };
        let module = Module::parse(&text)?;
        let refused: HashSet<String> = rejected
            .messages
            .iter()
            .filter_map(|message| Some(module.function_at(message.line?)?.name.clone()))
            .collect();
        Ok(cases.iter().copied().filter(|case| !refused.contains(&case.name)).collect())
    }
}

fn names<'c>(cases: &[&'c Case]) -> Vec<&'c str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}
