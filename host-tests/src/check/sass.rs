//! The machine instructions that a form becomes, by assembler and disassembler.

pub mod golden;
pub mod ldg;
pub mod pages;
pub mod text;
pub mod trace;
pub mod versions;

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

use ptx_intrinsics::catalogue::{self, Family, Form};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::check::operands::{self, Holds, Part, family};
use crate::tools::command::Machine;
use crate::tools::cuda_tools::CudaTools;
use crate::tools::disassembler::Disassembler;
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::{Bar, Progress};
use crate::tools::ptxas::Assembler;
use crate::tools::target::{PtxVersion, Sm};
use ptx_sass::nvdisasm::{SassFunction, SassInstruction};

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

/// The value of the policy of each access begins with this; no address and no other constant does.
const POLICY: u64 = 0x12f0_0000_5bc0_0000;

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
        in_parts(accesses, 1, |module, _| self.module(sm, module))
    }

    /// The same, and answers are kept: the same text is not assembled twice.
    pub fn alone_and_kept(&self, sm: Sm, accesses: &[&str]) -> Result<Vec<MachineCode>> {
        in_parts(accesses, 1, |module, _| self.kept(sm, module))
    }

    /// The machine code of each access, many in a kernel. Answers are kept.
    pub fn read(&self, sm: Sm, accesses: &[&str], bar: &Bar<'_>) -> Result<Vec<MachineCode>> {
        let (alone, others): (Vec<usize>, Vec<usize>) = (0..accesses.len()).partition(|at| melts(accesses[*at]));
        let mut read = BTreeMap::new();
        for (own, in_a_kernel) in [(alone, 1), (others, IN_A_KERNEL)] {
            let accesses: Vec<&str> = own.iter().map(|at| accesses[*at]).collect();
            let codes = in_parts(&accesses, in_a_kernel, |module, len| {
                let read = self.kept(sm, module);
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
        for are_of_kernels in [true, false] {
            let own: Vec<&str> =
                accesses.iter().copied().filter(|access| is_of_kernels(access) == are_of_kernels).collect();
            let module = Module::of(&own, IN_A_KERNEL, are_of_kernels);
            let lines = self.assembler.refused_lines(&self.text(sm, &module))?;
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

/// `.version`, `.target` and `.address_size` before a module's text.
const HEADER_LINES: u32 = 3;

/// A module that has each access in a kernel of its own, for that GPU, and on which line each is.
pub fn one_each(sm: Sm, accesses: &[&str]) -> (String, Vec<u32>) {
    let module = Module::of(accesses, 1, true);
    let version = PtxVersion::OF_EVERY_FORM.max(PtxVersion::default_for(sm));
    let mut lines = vec![0; accesses.len()];
    module.lines.iter().for_each(|(line, access)| lines[*access] = line + HEADER_LINES);
    (format!(".version {version}\n.target {sm}\n.address_size 64\n{}", module.text), lines)
}

/// Kernels around accesses, and on which line each is.
struct Module<'a> {
    accesses: &'a [&'a str],
    text: String,
    written: u32,
    lines: BTreeMap<u32, usize>,
    in_a_kernel: usize,
    is_of_kernels: bool,
}

fn is_of_kernels(access: &str) -> bool {
    !access.contains(".param::func")
}

/// Reads accesses in modules of so many, and gives what was read in their order. A function's parameters are only in a
/// function: accesses to them are in modules of functions.
fn in_parts(
    accesses: &[&str],
    in_a_kernel: usize,
    read: impl Fn(&Module<'_>, usize) -> Result<Vec<MachineCode>> + Sync,
) -> Result<Vec<MachineCode>> {
    let (kernels, functions): (Vec<usize>, Vec<usize>) =
        (0..accesses.len()).partition(|at| is_of_kernels(accesses[*at]));
    let at_a_time = AT_A_TIME * in_a_kernel / IN_A_KERNEL;
    let parts: Vec<&[usize]> = kernels.chunks(at_a_time).chain(functions.chunks(at_a_time)).collect();
    let read = |part: &&[usize]| {
        let accesses: Vec<&str> = part.iter().map(|at| accesses[*at]).collect();
        let module = Module::of(&accesses, in_a_kernel, is_of_kernels(accesses[0]));
        Ok(part.iter().copied().zip(read(&module, part.len())?).collect())
    };
    let read: Vec<Vec<(usize, MachineCode)>> = parts.par_iter().map(read).collect::<Result<_>>()?;
    Ok(read.into_iter().flatten().collect::<BTreeMap<usize, MachineCode>>().into_values().collect())
}

impl<'a> Module<'a> {
    fn of(accesses: &'a [&'a str], in_a_kernel: usize, is_of_kernels: bool) -> Self {
        let mut module =
            Module { accesses, text: String::new(), written: 0, lines: BTreeMap::new(), in_a_kernel, is_of_kernels };
        let numbered: Vec<(usize, &str)> = accesses.iter().copied().enumerate().collect();
        for part in numbered.chunks(in_a_kernel) {
            module.function(part);
        }
        module
    }

    /// A function around these accesses. What they load goes to shared memory, and what they store comes from the
    /// parameters, so that no other access to global memory is in it.
    fn function(&mut self, accesses: &[(usize, &str)]) {
        let first = accesses.first().map_or(0, |(number, _)| *number);
        let head = if self.is_of_kernels { ".entry k" } else { ".func f" };
        let bytes = SLOT * accesses.len();
        self.line(&format!(
            ".visible {head}{first}(.param .align 32 .b8 values[64], .param .u64 address) {{ .reg .u64 p;"
        ));
        self.line(&format!(".shared .align 32 .b8 buffer{first}[{bytes}];"));
        self.line("ld.param.u64 p, [address];");
        if !self.is_of_kernels {
            self.line(".reg .u64 q; mov.b64 q, values; add.u64 p, p, q;");
        }
        for (slot, (number, access)) in accesses.iter().enumerate() {
            let buffer = format!("buffer{first}+{}", slot * SLOT);
            self.access(*number, access, slot * SLOT, &buffer);
        }
        self.line("ret; }");
    }

    fn access(&mut self, number: usize, access: &str, offset: usize, buffer: &str) {
        if is_fence(access) {
            // Two in a row would be one.
            self.line(&format!("st.volatile.shared.b32 [{buffer}], {number};"));
        }
        if let Some(parts) = operands::parts(access) {
            return self.told_by_operands(number, parts, offset, buffer);
        }
        let Shape { bits, lanes } = Shape::of(access);
        // As in Rust: 8 bits are held in a register of 16.
        let register = bits.max(16);
        self.line(&format!("{{ .reg .b{register} d<{lanes}>;"));
        let registers: Vec<String> = (0..lanes).map(|lane| format!("d{lane}")).collect();
        let value = if lanes == 1 { "d0".into() } else { format!("{{{}}}", registers.join(", ")) };
        let mut policy = "";
        if access.contains("cache_hint") {
            self.line(&format!(".reg .b64 policy; mov.b64 policy, {:#x};", POLICY + number as u64));
            policy = ", policy";
        }
        let at = |lane: usize| lane * register / 8;
        if is_atomic(access) {
            self.line(".reg .b32 t; mov.u32 t, %tid.x; .reg .b64 a; mad.wide.u32 a, t, 64, p;");
            self.atomic(number, access, &format!("[a+{offset}]"), policy, buffer);
        } else if family(access) == Some(Family::Load) {
            self.noted(number, &format!("{access} {value}, [p+{offset}]{policy};"));
            for (lane, register_name) in registers.iter().enumerate() {
                self.line(&format!("st.shared.b{register} [{buffer}+{}], {register_name};", at(lane)));
            }
        } else {
            for (lane, register_name) in registers.iter().enumerate() {
                self.line(&format!("ld.param.b{register} {register_name}, [values+{}];", at(lane)));
            }
            self.noted(number, &format!("{access} [p+{offset}], {value}{policy};"));
        }
        self.line("}");
    }

    /// An atomic, inside a block that has the registers `d` of its result. Each thread has an address of its own: for one
    /// that all share the assembler first gathers what the warp adds.
    fn atomic(&mut self, number: usize, access: &str, address: &str, policy: &str, buffer: &str) {
        let Shape { bits, lanes } = Shape::of(access);
        let vector = |name: char| {
            let registers: Vec<String> = (0..lanes).map(|lane| format!("{name}{lane}")).collect();
            if lanes == 1 { registers.concat() } else { format!("{{{}}}", registers.join(", ")) }
        };
        let mut values = vec![('v', 0)];
        // What it compares with is first.
        values.extend(access.contains(".cas.").then_some(('c', 32)));
        for (name, from) in &values {
            self.line(&format!(".reg .b{bits} {name}<{lanes}>;"));
            for lane in 0..lanes {
                self.line(&format!("ld.param.b{bits} {name}{lane}, [values+{}];", from + lane * bits / 8));
            }
        }
        let values: Vec<String> = values.iter().rev().map(|(name, _)| vector(*name)).collect();
        let values = values.join(", ");
        if family(access) == Some(Family::Reduction) {
            return self.noted(number, &format!("{access} {address}, {values}{policy};"));
        }
        self.noted(number, &format!("{access} {}, {address}, {values}{policy};", vector('d')));
        for lane in 0..lanes {
            self.line(&format!("st.shared.b{bits} [{buffer}+{}], d{lane};", lane * bits / 8));
        }
    }

    /// What it takes comes from the parameters, what it gives goes to shared memory.
    fn told_by_operands(&mut self, number: usize, parts: &[Part], offset: usize, buffer: &str) {
        self.line("{ .reg .b64 policy, d<16>; .reg .b32 r<16>, one; .reg .b16 h<16>; .reg .pred ignore, done;");
        let (mut text, mut given) = (String::new(), String::new());
        for (at, part) in parts.iter().enumerate() {
            let result = at == 1 && !text_before(parts).contains('[');
            match part {
                Part::Text(part) => text += part,
                // The map of a tensor has no address beside it.
                Part::Register(Holds::Global) if matches!(parts.get(at + 1), Some(Part::Text(", {"))) => text += "p",
                Part::Register(Holds::Global) => write!(text, "p+{offset}").expect("a string takes all"),
                // The assembler takes no constant address here.
                Part::Register(Holds::Shared) if text.starts_with("st.bulk") => {
                    self.line(&format!("mov.b32 one, {buffer};"));
                    text += "one";
                }
                Part::Register(Holds::Shared) => text += buffer,
                Part::Register(Holds::Policy) => {
                    self.line(&format!("mov.b64 policy, {:#x};", POLICY + number as u64));
                    text += "policy";
                }
                Part::Register(Holds::Ignore) => {
                    self.line("ld.param.b32 one, [values]; setp.ne.b32 ignore, one, 0;");
                    text += "ignore";
                }
                Part::Register(Holds::Done) => {
                    given = format!("selp.u32 one, 1, 0, done; st.shared.b32 [{buffer}], one;");
                    text += "done";
                }
                Part::Register(of) => {
                    let (register, bits) = match of {
                        Holds::Half => ('h', 16),
                        Holds::Word => ('r', 32),
                        _ => ('d', 64),
                    };
                    let slot = at / 2;
                    let name = format!("{register}{slot}");
                    if result {
                        given = format!("st.shared.b{bits} [{buffer}], {name};");
                    } else {
                        // Not the parameter itself: the assembler crashes where a state is one, for sm_80 to sm_89.
                        self.line(&format!(
                            "ld.param.b{bits} {name}, [values+{}]; xor.b{bits} {name}, {name}, 1;",
                            8 * (slot % 8)
                        ));
                    }
                    text += &name;
                }
            }
        }
        self.noted(number, &format!("{text};"));
        self.line(&format!("{given} }}"));
    }

    /// The opcodes of the accesses. Each is on its access's line, except for what an order adds: the assembler may put
    /// that on another line. A fence belongs to the next release, an invalidation to the last acquire.
    fn attributed<'c>(&self, function: &'c SassFunction) -> Result<Vec<(usize, &'c str)>> {
        let stray =
            |opcode: &str| Err(Error::new(format_args!("{opcode} belongs to none of the accesses")).at(&function.name));
        let only = self.only(function);
        let mut attributed = Vec::new();
        let (mut fence, mut acquire): (Vec<&str>, Option<usize>) = (Vec::new(), only);
        for one in function.instructions.iter().filter(|one| !only_moves(one)) {
            let own = self.on_line_of(one).or(only.filter(|_| orders(one)));
            if let Some(access) = own.filter(|access| is_fence(self.accesses[*access])) {
                attributed.push((access, one.opcode.as_str()));
                continue;
            }
            if FENCES.contains(&one.name()) {
                fence.push(&one.opcode);
            } else if one.opcode == INVALIDATION {
                let Some(access) = acquire else { return stray(&one.opcode) };
                attributed.push((access, one.opcode.as_str()));
            } else if let Some(access) = self.on_line_of(one).or(only.filter(|_| is_access(one))) {
                // Around an atomic there is arithmetic; if the machine has no atomic of its type, a loop.
                if is_atomic(self.accesses[access]) && !touches(one) {
                    continue;
                }
                if is_async(self.accesses[access]) && AROUND.contains(&one.name()) {
                    continue;
                }
                if only.is_some() || releases(self.accesses[access]) {
                    attributed.extend(fence.drain(..).map(|opcode| (access, opcode)));
                }
                if acquires(self.accesses[access]) {
                    acquire = Some(access);
                }
                attributed.push((access, one.opcode.as_str()));
            }
        }
        fence.first().map_or(Ok(attributed), |fence| stray(fence))
    }

    /// The access of a function that has only one, which has everything there that touches memory.
    fn only(&self, function: &SassFunction) -> Option<usize> {
        let number = function.name.get(1..).and_then(|number| number.parse().ok());
        number.filter(|_| self.in_a_kernel == 1)
    }

    fn on_line_of(&self, one: &SassInstruction) -> Option<usize> {
        self.access_on(one.ptx_line?)
    }

    fn access_on(&self, line: u32) -> Option<usize> {
        self.lines.get(&line.checked_sub(HEADER_LINES)?).copied()
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes all");
        self.written += 1;
    }

    fn noted(&mut self, number: usize, line: &str) {
        self.line(line);
        self.lines.insert(self.written, number);
    }
}

fn text_before(parts: &[Part]) -> &str {
    match parts {
        [Part::Text(text), ..] => text,
        _ => "",
    }
}

/// Whether it is a load, a store or an atomic: what ends in a type.
fn moves(access: &str) -> bool {
    matches!(family(access), Some(Family::Load | Family::Store)) || is_atomic(access)
}

fn is_fence(access: &str) -> bool {
    family(access) == Some(Family::Fence)
}

/// Whether the assembler makes one thing of it and of its neighbour: of two fences one, and of the loops that add to one
/// float of 16 bits a common end. What is done later has no line of its own on sm_120.
fn melts(access: &str) -> bool {
    is_fence(access)
        || family(access) == Some(Family::Asynchronous)
        || is_atomic(access) && access.contains(".add.noftz") && Shape::of(access).total() == 16
}

fn is_atomic(access: &str) -> bool {
    matches!(family(access), Some(Family::Atomic | Family::Reduction))
}

/// The bytes of the addresses that an access has for its own.
const SLOT: usize = 64;

/// The bits of an element, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of one element.
    pub bits: usize,
    /// How many.
    pub lanes: usize,
}

impl Shape {
    /// Of what ends in its type.
    pub fn of(access: &str) -> Self {
        let words: Vec<&str> = access.split('.').collect();
        let bits = words.last().map(|ty| ty.trim_start_matches(|kind: char| kind.is_ascii_lowercase()));
        // `f16x2` has 32.
        let bits = bits.and_then(|bits| bits.parse().ok()).unwrap_or(32);
        let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
        Shape { bits, lanes }
    }

    /// The bits of all elements.
    pub fn total(self) -> usize {
        self.bits * self.lanes
    }
}

/// Whether an instruction only brings operands to an access or away from it. What is not known to do only that is
/// taken for part of the access.
fn only_moves(one: &SassInstruction) -> bool {
    let parameter = |operand: &String| operand.contains("c[0x0][0x");
    // Three of these stand before the first copy on sm_90.
    let never = one.predicate.as_deref() == Some("!PT");
    match one.name() {
        _ if never => true,
        "LDC" | "LDCU" | "ULDC" => one.operands.iter().any(parameter),
        name => MOVES.contains(&name),
    }
}

const MOVES: [&str; 31] = [
    "MOV", "UMOV", "IMAD", "UIMAD", "IADD3", "UIADD3", "IADD", "LEA", "ULEA", "PRMT", "UPRMT", "SGXT", "USGXT", "SHF",
    "USHF", "LOP3", "ULOP3", "S2R", "S2UR", "CS2R", "R2UR", "NOP", "I2IP", "HFMA2", "EXIT", "VIADD", "RET", "ISETP",
    "UISETP", "SEL", "USEL",
];

/// Whether it is a copy, a barrier, or done later.
fn is_async(access: &str) -> bool {
    matches!(family(access), Some(Family::Copy | Family::Barrier | Family::Asynchronous))
}

/// What is around some of those: a loop over the threads, whose addresses may differ, and on sm_120 and newer a call
/// for clusters of more than one block; before sm_90 the threads of a warp are counted to arrive as one.
const AROUND: [&str; 16] = [
    "BSSY", "BSYNC", "PLOP3", "ELECT", "BRA", "LDC", "LEPC", "CALL", "VOTE", "VOTEU", "FLO", "UFLO", "POPC", "UPOPC",
    "SHFL", "RPCMOV",
];

/// Whether an instruction touches memory, other than to keep a value that was loaded.
fn is_access(one: &SassInstruction) -> bool {
    one.name() != "STS" && touches(one)
}

/// Whether an instruction is part of a fence.
fn orders(one: &SassInstruction) -> bool {
    FENCES.contains(&one.name()) || ["CCTL", "FENCE", "UTMA", "DEPBAR"].iter().any(|name| one.name().starts_with(name))
}

/// Whether an instruction touches memory.
fn touches(one: &SassInstruction) -> bool {
    let parameter = matches!(one.name(), "LDC" | "LDCU");
    !parameter
        && ["LD", "ST", "ATOM", "RED", "CCTL", "UTMA", "UST", "URED"].iter().any(|name| one.name().starts_with(name))
}

/// Whether an access is a release. Arriving at a barrier is one where nothing else is said.
fn releases(access: &str) -> bool {
    access.contains(".release.")
        || access.contains(".acq_rel.")
        || access.starts_with("mbarrier.arrive") && !access.contains(".relaxed.")
}

/// Whether an access is an acquire. Who waits for copies to global memory to be written sees them.
fn acquires(access: &str) -> bool {
    access.contains(".acquire.") || access.contains(".acq_rel.") || access.starts_with("cp.async.bulk.wait_group ")
}

/// What comes after an acquire, and before a release.
const INVALIDATION: &str = "CCTL.IVALL";
const FENCES: [&str; 3] = ["MEMBAR", "ERRBAR", "CGAERRBAR"];

/// Which access's policy the instruction has: all of it, or its lower half.
fn policy_of(one: &SassInstruction) -> Option<usize> {
    let constant = |operand: &String| u64::from_str_radix(operand.strip_prefix("0x")?, 16).ok();
    let low = POLICY & u64::from(u32::MAX);
    let own = |constant: u64| [POLICY, low].into_iter().find_map(|policy| constant.checked_sub(policy));
    one.operands.iter().filter_map(constant).filter_map(own).find(|own| *own < 1 << 20).map(|own| own as usize)
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
        accesses.iter().filter(|access| access.min_sm <= sm.number).map(|access| access.ptx.as_str()).collect()
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
    pub min_sm: u32,
    /// The first PTX ISA version that has it.
    pub min_ptx: PtxVersion,
}

impl Access {
    /// A form of the catalogue.
    pub fn of(form: &Form) -> Self {
        Access {
            instruction: form.instruction().to_owned(),
            ptx: form.told(),
            min_sm: form.min_sm(),
            min_ptx: PtxVersion::of_number(form.min_ptx()),
        }
    }
}

/// Every form of the catalogue that touches memory.
pub fn accesses() -> Vec<Access> {
    catalogue::forms().filter(touches_memory).map(|form| Access::of(&form)).collect()
}

/// Whether a form touches memory, or orders what does. Policies, addresses and the count of a state are arithmetic.
pub fn touches_memory(form: &Form) -> bool {
    !matches!(form.family(), Family::Policy | Family::Address) && form.ptx() != "mbarrier.pending_count.b64"
}
