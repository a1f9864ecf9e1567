//! What the kernels' hints become: each access in Rust, in PTX and in machine code, side by side.

pub mod compile;
pub mod expression;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use ptx_intrinsics::catalogue::{self, Form};
use serde::Serialize;

use crate::compile::{Compiled, OLDEST};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::disassembler::Disassembler;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::Function;
use ptx_build::target::Sm;
use ptx_sass::line_table::Site;
use ptx_sass::nvdisasm::{SassFunction, SassInstruction};
use workloads::{ALL, Workload};

/// An access of a kernel: one expression of its source, which unrolling may have made several instructions of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Access {
    /// The expression, as it is in the source; as the catalogue spells it if the compiler does not say.
    pub rust: String,
    /// The definition of the policy that it names.
    pub policy: Option<String>,
    /// Where it is: `gather.rs:53`.
    pub place: Option<String>,
    /// Its first instruction in PTX.
    pub ptx: String,
    /// How many instructions of PTX it became.
    pub ptx_count: usize,
    /// What these became, GPU for GPU.
    pub sass: Vec<Sass>,
    #[serde(skip)]
    lines: Vec<u32>,
}

/// An access on one GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sass {
    /// The GPU.
    pub sm: Sm,
    /// The instructions that differ in more than their operands.
    pub instructions: Vec<Counted>,
    /// What of the hint the machine code does not say.
    pub note: Option<String>,
}

/// Instructions of the same opcode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// The first of them.
    pub text: String,
    /// How many there are.
    pub count: usize,
}

/// Machine code for one GPU.
pub struct Assembled {
    /// The GPU.
    pub sm: Sm,
    /// The file.
    pub cubin: PathBuf,
    /// What is in it.
    pub functions: Vec<SassFunction>,
}

/// The workloads of those names, all of them if there is none.
pub fn workloads(names: &[String]) -> Result<Vec<&'static dyn Workload>> {
    let known = || ALL.map(|workload| workload.name()).join(" ");
    let find = |name: &String| {
        let found = ALL.into_iter().find(|workload| workload.name() == name);
        found.ok_or_else(|| {
            Error::new(format_args!("there is no kernel `{name}`"))
                .at("--kernel")
                .fix(format_args!("use one of {}", known()))
        })
    };
    if names.is_empty() { Ok(ALL.to_vec()) } else { names.iter().map(find).collect() }
}

/// The GPUs of that list, which must have the kernels' hints.
pub fn architectures(names: &[String]) -> Result<Vec<Sm>> {
    let mut sms = Vec::new();
    for name in names {
        let sm: Sm = name.parse().map_err(|error: Error| error.at("--sm"))?;
        let (oldest, _) = OLDEST;
        if sm < oldest {
            return Err(Error::new(format_args!("{sm} is too old for the kernels: it lacks some of their hints"))
                .at("--sm")
                .fix(format_args!("use {oldest} or later"))
                .fix("`cargo xtask forms` lists what each hint needs"));
        }
        if !sms.contains(&sm) {
            sms.push(sm);
        }
    }
    Ok(sms)
}

/// Assembles the kernels for each of these GPUs, all at once.
pub fn assemble_all(compiled: &Compiled, sms: &[Sm], tools: &CudaTools, progress: &Progress) -> Result<Vec<Assembled>> {
    std::thread::scope(|scope| {
        let begin = |sm: &Sm| {
            let sm = *sm;
            scope.spawn(move || assemble(compiled, sm, tools, progress))
        };
        let all: Vec<_> = sms.iter().map(begin).collect();
        all.into_iter().map(|one| one.join().expect("the assembler's thread does not panic")).collect()
    })
}

/// Assembles the kernels for one GPU and disassembles them again.
pub fn assemble(compiled: &Compiled, sm: Sm, tools: &CudaTools, progress: &Progress) -> Result<Assembled> {
    let _step = progress.step(format!("Assembling and disassembling for {sm}"));
    let cubin = compiled.path.with_extension(format!("{sm}.cubin"));
    let assembler = tools.assembler(sm, progress)?.lineinfo(true);
    assembler.assemble(&compiled.path, sm, &cubin)?.map_err(Error::from)?;
    let functions = Disassembler::new(&tools.nvdisasm).disassemble(&cubin)?;
    Ok(Assembled { sm, cubin, functions })
}

/// What each access of a kernel became on each GPU.
pub fn accesses(compiled: &Compiled, workload: &dyn Workload, assembled: &[Assembled]) -> Result<Vec<Access>> {
    let missing = |what: &str| {
        Error::new(format_args!("{what} has no function `{}`", workload.name()))
            .at(workload.source())
            .fix("a kernel's entry point has the workload's name")
    };
    let function = compiled.module.function(workload.name()).ok_or_else(|| missing("the PTX"))?;
    let sites = compiled.sites.get(workload.name()).map(Vec::as_slice).unwrap_or_default();
    let mut accesses = in_ptx(function, sites, &read)?;
    for one in assembled {
        let function = one.functions.iter().find(|function| function.name == workload.name());
        let function = function.ok_or_else(|| missing(&format!("the machine code for {}", one.sm)))?;
        accesses.iter_mut().for_each(|access| access.add_sass(one.sm, function));
    }
    Ok(accesses)
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).map_err(|error| Error::io("read", file, error))
}

/// The accesses in a function, in the order of their source; `sites` says where each of its `asm!` may stand.
pub fn in_ptx(function: &Function, sites: &[Vec<Site>], read: &dyn Fn(&Path) -> Result<String>) -> Result<Vec<Access>> {
    let accesses = catalogue::forms().filter(|form| !form.is_collective());
    let forms: HashMap<String, Form> = accesses.map(|form| (form.ptx().to_owned(), form)).collect();
    let mut accesses: BTreeMap<(Option<Site>, String), Access> = BTreeMap::new();
    let sites = sites.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    for (block, sites) in function.inline_asm().iter().zip(sites) {
        let found = block.lines.iter().find_map(|line| Some((line, forms.get(mnemonic(line))?)));
        let Some((text, form)) = found else { continue };
        let call = Call::choose(sites, form, text.starts_with('@'), read)?;
        let mut numbered = function.body.iter().filter(|line| line.number >= block.line);
        let line = numbered.find(|line| line.text == *text).map_or(block.line, |line| line.number);
        let key = (call.as_ref().map(|call| call.site.clone()), form.ptx().to_owned());
        accesses.entry(key).or_insert_with(|| Access::new(text, form, call)).lines.push(line);
    }
    Ok(accesses.into_values().map(|access| Access { ptx_count: access.lines.len(), ..access }).collect())
}

/// A call in the source.
struct Call {
    site: Site,
    rust: String,
    policy: Option<String>,
}

impl Call {
    /// The call at the only site, or at the first of several whose Rust spells that form.
    fn choose(
        sites: &[Site],
        form: &Form,
        guarded: bool,
        read: &dyn Fn(&Path) -> Result<String>,
    ) -> Result<Option<Call>> {
        for site in sites {
            let source = read(&site.file)?;
            let Some(rust) = expression::call_at(&source, site.line, site.column) else { continue };
            let policy = expression::policy_of(&source, &rust);
            if sites.len() == 1 || spells(&rust, policy.as_deref(), form, guarded) {
                return Ok(Some(Call { site: site.clone(), rust, policy }));
            }
        }
        Ok(None)
    }
}

/// Whether a call, by the policy that it names or by its own qualifiers, is of that form.
fn spells(rust: &str, policy: Option<&str>, form: &Form, guarded: bool) -> bool {
    let head = form.rust().split('(').next().unwrap_or_default();
    let is_guarded = [".read_if", ".write_if"].iter().any(|method| rust.contains(method));
    guarded == is_guarded
        && match policy {
            Some(policy) => policy.contains(&format!(": {} =", type_of(head))),
            None => rust.starts_with(&format!("{head}(")),
        }
}

/// `LdGlobalNc<A, B>` of `ld_global_nc::<A, B>`.
fn type_of(head: &str) -> String {
    let (function, qualifiers) = head.split_once("::").unwrap_or((head, ""));
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    function.split('_').filter(|word| !word.is_empty()).map(capital).collect::<String>() + qualifiers
}

/// The instruction's name with its qualifiers, without its predicate.
fn mnemonic(line: &str) -> &str {
    let mut words = line.trim_end_matches(';').split_whitespace().skip_while(|word| word.starts_with('@'));
    words.next().unwrap_or_default()
}

impl Access {
    fn new(ptx: &str, form: &Form, call: Option<Call>) -> Self {
        let guarded = ptx.starts_with('@').then(|| form.rust_if()).flatten();
        let spelled = guarded.unwrap_or_else(|| form.rust().to_owned());
        let name = |site: &Site| site.file.file_name().unwrap_or_default().display().to_string();
        let place = call.as_ref().map(|call| format!("{}:{}", name(&call.site), call.site.line));
        let (rust, policy) = call.map_or((spelled, None), |call| (call.rust, call.policy));
        Access { rust, policy, place, ptx: ptx.to_owned(), ptx_count: 0, sass: Vec::new(), lines: Vec::new() }
    }

    /// Adds what it became in that function's machine code.
    pub fn add_sass(&mut self, sm: Sm, function: &SassFunction) {
        let mut instructions: Vec<(String, Counted)> = Vec::new();
        let own = |one: &&SassInstruction| one.ptx_line.is_some_and(|line| self.lines.contains(&line));
        for one in function.instructions.iter().filter(own).filter(|one| accesses_memory(&one.opcode)) {
            match instructions.iter_mut().find(|(opcode, _)| *opcode == one.opcode) {
                Some((_, counted)) => counted.count += 1,
                None => instructions.push((one.opcode.clone(), Counted { text: one.text.clone(), count: 1 })),
            }
        }
        let note = instructions.iter().find_map(|(opcode, _)| other_size(&self.ptx, opcode));
        let instructions = instructions.into_iter().map(|(_, counted)| counted).collect();
        self.sass.push(Sass { sm, instructions, note });
    }
}

/// Says so if PTX and machine code name different prefetch sizes, as they do on sm_80.
fn other_size(ptx: &str, opcode: &str) -> Option<String> {
    let size = |text: &str, begin: &str| {
        let (_, rest) = text.split_once(begin)?;
        rest.split('B').next()?.parse::<u32>().ok()
    };
    let (asked, made) = (size(ptx, ".L2::")?, size(opcode, ".LTC"));
    (made != Some(asked)).then(|| match made {
        Some(made) => format!("ptxas makes the prefetch {made} bytes on this GPU, not {asked}"),
        None => format!("ptxas leaves the prefetch of {asked} bytes out on this GPU"),
    })
}

/// Whether the instruction goes to memory, rather than getting its address or its predicate ready.
fn accesses_memory(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or_default();
    matches!(name, "LD" | "LDG" | "LDS" | "LDL" | "ST" | "STG" | "STS" | "STL" | "CCTL" | "CCTLL" | "UBLKPF")
}
