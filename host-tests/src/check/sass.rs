//! The machine instructions that a form becomes, by assembler and disassembler.

mod classes;
pub mod golden;
mod module;
pub mod pages;
pub mod text;
pub mod trace;
pub mod versions;

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Family, Form};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::check::operands::is_request;
use crate::check::sass::classes::{is_fence, melts, policy_of};
use crate::check::sass::module::{HEADER_LINES, Module};
use crate::tools::command::Machine;
use crate::tools::cuda_tools::CudaTools;
use crate::tools::disassembler::Disassembler;
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::{Bar, Progress};
use crate::tools::ptxas::Assembler;
use crate::tools::target::{KNOWN_SMS, PtxVersion, Sm};

pub use classes::Shape;

/// What one access became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCode {
    /// The opcodes in order: `MEMBAR.ALL.GPU`, `STG.E.STRONG.GPU`.
    pub opcodes: Vec<String>,
    /// Whether the cache policy that it was given reaches it; it is in the access's descriptor.
    pub policy: bool,
}

impl MachineCode {
    /// On one line; instructions that repeat are counted.
    pub fn line(&self) -> String {
        let mut parts: Vec<(&str, usize)> = Vec::new();
        for opcode in &self.opcodes {
            match parts.last_mut() {
                Some((last, count)) if last == opcode => *count += 1,
                _ => parts.push((opcode, 1)),
            }
        }
        let shown =
            parts.iter().map(|&(opcode, count)| if count == 1 { opcode.into() } else { format!("{opcode} ×{count}") });
        let line = shown.collect::<Vec<_>>().join(" ; ");
        if self.policy { line + " + policy" } else { line }
    }
}

/// How many accesses are in a kernel, and how many of them are assembled at a time: `ptxas`'s time grows faster
/// than a module.
const IN_A_KERNEL: usize = 16;
const AT_A_TIME: usize = 2048;

/// An assembler and the disassembler that reads what it writes.
#[derive(Clone, Debug)]
pub struct Reader {
    assembler: Assembler,
    disassembler: Disassembler,
    version: PtxVersion,
    nothing_too: bool,
}

impl Reader {
    /// Of today's tools.
    pub fn new(tools: &CudaTools) -> Self {
        Reader::of(Assembler::new(&tools.ptxas), Disassembler::new(&tools.nvdisasm), PtxVersion::OF_EVERY_FORM)
    }

    /// Of these tools; the modules are of that PTX ISA version, or of the first one that has the GPU.
    pub fn of(assembler: Assembler, disassembler: Disassembler, version: PtxVersion) -> Self {
        Reader { assembler: assembler.lineinfo(true), disassembler, version, nothing_too: false }
    }

    /// The same, and any access may become no machine instruction.
    pub fn nothing_too(self) -> Self {
        Reader { nothing_too: true, ..self }
    }

    /// The machine code of each access, each in a kernel of its own.
    pub fn alone(&self, sm: Sm, accesses: &[&str]) -> Result<Vec<MachineCode>> {
        in_parts(sm, accesses, 1, |on, module, _| self.module(on, module))
    }

    /// The machine code of each access, many in a kernel. Answers are kept.
    pub fn read(&self, sm: Sm, accesses: &[&str], bar: &Bar<'_>) -> Result<Vec<MachineCode>> {
        let (alone, others): (Vec<usize>, Vec<usize>) = (0..accesses.len()).partition(|at| melts(accesses[*at]));
        let mut read = BTreeMap::new();
        for (own, in_a_kernel) in [(alone, 1), (others, IN_A_KERNEL)] {
            let accesses: Vec<&str> = own.iter().map(|at| accesses[*at]).collect();
            let codes = in_parts(sm, &accesses, in_a_kernel, |on, module, len| {
                let read = self.kept(on, module);
                bar.inc(len as u64);
                read
            })?;
            read.extend(own.into_iter().zip(codes));
        }
        Ok(read.into_values().collect())
    }

    /// Those that the assembler's parser refuses.
    pub fn refused<'a>(&self, sm: Sm, accesses: &[&'a str]) -> Result<BTreeSet<&'a str>> {
        let mut refused = BTreeSet::new();
        for ((are_of_kernels, on), own) in kinds(sm, accesses) {
            let own: Vec<&str> = own.iter().map(|at| accesses[*at]).collect();
            let module = Module::of(&own, IN_A_KERNEL, are_of_kernels);
            let lines = self.assembler.refused_lines(&self.text(on, &module))?;
            refused.extend(lines.iter().filter_map(|line| module.access_on(*line)).map(|access| own[access]));
        }
        Ok(refused)
    }

    fn text(&self, sm: Sm, module: &Module<'_>) -> String {
        let version = self.version.max(PtxVersion::default_for(sm));
        format!(".version {version}\n.target {sm}\n.address_size 64\n{}", module.text)
    }

    fn kept(&self, sm: Sm, module: &Module<'_>) -> Result<Vec<MachineCode>> {
        let folder = Machine::current().target().join("sass");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
        let mut hasher = DefaultHasher::new();
        let size = self.assembler.path().metadata().map(|file| file.len()).ok();
        (&module.text, sm, self.version, self.assembler.path(), size, FORMAT).hash(&mut hasher);
        let file = folder.join(format!("{:016x}.json", hasher.finish()));
        if let Some(kept) = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(kept);
        }
        let read = self.module(sm, module)?;
        write_whole(&file, serde_json::to_string(&read).map_err(Error::new)?)?;
        Ok(read)
    }

    fn module(&self, sm: Sm, module: &Module<'_>) -> Result<Vec<MachineCode>> {
        let scratch =
            tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        let text = self.text(sm, module);
        // Functions that no kernel calls stay only in a module that is to be linked.
        let assembler = self.assembler.clone();
        let assembler = if module.is_of_kernels { assembler } else { assembler.option("-c") };
        let cubin = assembler.assemble_text(&text, sm, &scratch.path().join("sass.cubin"))??;
        let functions = self.disassembler.disassemble(&cubin.path)?;
        let mut read = vec![MachineCode { opcodes: Vec::new(), policy: false }; module.lines.len()];
        for function in &functions {
            for (access, opcode) in module.attributed(function)? {
                read[access].opcodes.push(opcode.to_owned());
            }
            let policies = function.instructions.iter().filter_map(policy_of);
            policies.for_each(|access| read[access % module.lines.len()].policy = true);
        }
        let may = |(_, access): &(&mut MachineCode, &&str)| self.nothing_too || may_be_nothing(access);
        for (code, _) in read.iter_mut().zip(module.accesses).filter(may) {
            if code.opcodes.is_empty() {
                code.opcodes.push(NOTHING.to_owned());
            }
        }
        let empty = read.iter().position(|code| code.opcodes.is_empty());
        let Some(empty) = empty else { return Ok(read) };
        let access = module.lines.iter().find(|(_, access)| **access == empty).map(|(line, _)| *line);
        let line = access.and_then(|line| module.text.lines().nth(line as usize - 1)).unwrap_or_default();
        Err(Error::new(format_args!("an access became no machine instruction on {sm}")).at(line.trim()))
    }
}

/// What may become no machine instruction: the end of a barrier before sm_90, and a fence whose order the machine keeps
/// by itself.
fn may_be_nothing(access: &str) -> bool {
    access.starts_with("mbarrier.inval") || is_fence(access)
}

/// What an access becomes that the assembler leaves out.
pub const NOTHING: &str = "nothing";

/// Changes when what is kept would be read differently.
const FORMAT: u32 = 8;

/// A module that has each access in a kernel of its own, for that GPU, its target, and on which line each is.
pub fn one_each(sm: Sm, accesses: &[&str]) -> (String, Sm, Vec<u32>) {
    let module = Module::of(accesses, 1, true);
    // One with a suffix has all that the plain one has.
    let sm = accesses.iter().map(|access| target(access, sm)).max().unwrap_or(sm);
    let version = PtxVersion::OF_EVERY_FORM.max(PtxVersion::default_for(sm));
    let mut lines = vec![0; accesses.len()];
    module.lines.iter().for_each(|(line, access)| lines[*access] = line + HEADER_LINES);
    (format!(".version {version}\n.target {sm}\n.address_size 64\n{}", module.text), sm, lines)
}

fn is_of_kernels(access: &str) -> bool {
    !access.contains(".param::func")
}

/// What is in a module together, and its target: a function's parameters are only in a function, and some forms need a target with
/// a suffix.
fn kinds(sm: Sm, accesses: &[&str]) -> BTreeMap<(bool, Sm), Vec<usize>> {
    let mut kinds: BTreeMap<(bool, Sm), Vec<usize>> = BTreeMap::new();
    for (at, access) in accesses.iter().enumerate() {
        kinds.entry((is_of_kernels(access), target(access, sm))).or_default().push(at);
    }
    kinds
}

/// Reads accesses in kernels of `in_a_kernel` accesses each. The results are in the order of the accesses.
fn in_parts(
    sm: Sm,
    accesses: &[&str],
    in_a_kernel: usize,
    read: impl Fn(Sm, &Module<'_>, usize) -> Result<Vec<MachineCode>> + Sync,
) -> Result<Vec<MachineCode>> {
    let at_a_time = AT_A_TIME * in_a_kernel / IN_A_KERNEL;
    let kinds = kinds(sm, accesses);
    let parts: Vec<_> =
        kinds.iter().flat_map(|(kind, own)| own.chunks(at_a_time).map(move |part| (kind, part))).collect();
    let read = |((are_of_kernels, on), part): &(&(bool, Sm), &[usize])| {
        let accesses: Vec<&str> = part.iter().map(|at| accesses[*at]).collect();
        let module = Module::of(&accesses, in_a_kernel, *are_of_kernels);
        Ok(part.iter().copied().zip(read(*on, &module, part.len())?).collect())
    };
    let read: Vec<Vec<(usize, MachineCode)>> = parts.par_iter().map(read).collect::<Result<_>>()?;
    Ok(read.into_iter().flatten().collect::<BTreeMap<usize, MachineCode>>().into_values().collect())
}

/// The target that has a form on a GPU, if that GPU has it: with an `a` where the number is not enough.
pub fn on_gpu(form: &Form, gpu: Sm) -> Option<Sm> {
    let target = if form.targets().is_empty() { gpu } else { Sm { suffix: Some('a'), ..gpu } };
    form.is_on(&target.to_string(), u32::MAX).then_some(target)
}

/// The target that a form of that text is assembled for on a GPU, which has it.
fn target(ptx: &str, gpu: Sm) -> Sm {
    static NAMED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let forms = catalogue::forms().filter(|form| !form.targets().is_empty());
        forms.map(|form| form.full_ptx()).collect()
    });
    if NAMED.contains(ptx) { Sm { suffix: Some('a'), ..gpu } } else { gpu }
}

/// The GPUs whose machine code the pages tell: one of each number that CUDA 13.5 assembles and disassembles, and `sm_90a`.
#[rustfmt::skip]
pub const GPUS: [Sm; 14] = [
    Sm::new(75), Sm::new(80), Sm::new(86), Sm::new(87), Sm::new(88), Sm::new(89), Sm::new(90), SM_90A,
    Sm::new(100), Sm::new(103), Sm::new(107), Sm::new(110), Sm::new(120), Sm::new(121),
];

const SM_90A: Sm = Sm { number: 90, suffix: Some('a') };

/// Those of them that these tools know.
pub fn gpus(tools: &CudaTools) -> Result<Vec<Sm>> {
    let known = Assembler::new(&tools.ptxas).supported_sms()?;
    Ok(GPUS.into_iter().filter(|sm| known.contains(sm)).collect())
}

/// The machine code of accesses on many GPUs, by GPU and by access.
pub type Seen = BTreeMap<Sm, HashMap<String, MachineCode>>;

/// Reads the machine code of each access on each GPU where it exists.
pub fn see(reader: &Reader, accesses: &[Access], sms: &[Sm], progress: &Progress) -> Result<Seen> {
    let on = |sm: &Sm| -> Vec<&str> {
        accesses.iter().filter(|access| access.is_on(*sm)).map(|access| access.ptx.as_str()).collect()
    };
    let total: usize = sms.iter().map(|sm| on(sm).len()).sum();
    let bar = progress.bar(total as u64, "Machine code");
    let mut seen = Seen::new();
    for sm in sms {
        let accesses = on(sm);
        let code = reader.read(*sm, &accesses, &bar)?;
        seen.insert(*sm, accesses.into_iter().map(str::to_owned).zip(code).collect());
    }
    Ok(seen)
}

/// A form as the machine code is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction that it belongs to: `ld.global.nc`.
    pub instruction: String,
    /// Its spelling, with its operands where they tell it apart.
    pub ptx: String,
    /// The oldest GPU that has it.
    min_sm: u32,
    /// Newer ones that do not.
    without: Vec<Sm>,
    /// The first PTX ISA version that has it.
    pub min_ptx: PtxVersion,
}

impl Access {
    /// A form of the catalogue.
    pub fn of(form: &Form) -> Self {
        Access {
            instruction: form.instruction().to_owned(),
            ptx: form.full_ptx(),
            min_sm: form.min_sm(),
            without: if form.targets().is_empty() { Vec::new() } else { lacking(form) },
            min_ptx: PtxVersion::of_number(form.min_ptx()),
        }
    }
}

impl Access {
    /// Whether a GPU has it.
    pub fn is_on(&self, gpu: Sm) -> bool {
        self.min_sm <= gpu.number && !self.without.contains(&gpu)
    }
}

/// The GPUs that do not have a form.
fn lacking(form: &Form) -> Vec<Sm> {
    KNOWN_SMS.iter().copied().filter(|gpu| on_gpu(form, *gpu).is_none()).collect()
}

/// Every form of the catalogue that touches memory.
pub fn accesses() -> Vec<Access> {
    catalogue::forms().filter(touches_memory).map(|form| Access::of(&form)).collect()
}

/// Whether a form touches memory, or orders what does. Policies, addresses and the count of a state are arithmetic; what the
/// threads of a warp find out together, how those of a block or a cluster wait for each other, and what a thread does by itself touch none.
pub fn touches_memory(form: &Form) -> bool {
    is_request(form.ptx())
        || !matches!(form.family(), Family::Policy | Family::Address | Family::Warp | Family::Block | Family::Control)
            && form.ptx() != "mbarrier.pending_count.b64"
}
