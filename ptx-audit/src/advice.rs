//! What a kernel could do better: its local memory, its address arithmetic, the width and the space of its accesses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ptx_sass::nvdisasm::SassInstruction;

use crate::accesses::{Became, type_bytes};
use crate::finding::{Finding, Kind};
use crate::origin::{Base, Origins, registers};
use crate::ptx::{Function, Module, Statement};
use crate::report::Kernel;

/// A kernel, in PTX and in machine code.
pub(crate) struct Advice<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: Option<&'a Function>,
    pub(crate) code: &'a [SassInstruction],
    pub(crate) hot: &'a BTreeSet<u64>,
    pub(crate) became: &'a [Became<'a>],
}

/// The size of a vector in bytes.
const WIDE: i64 = 16;

impl Advice<'_> {
    pub(crate) fn findings(&self, kernel: &Kernel) -> Vec<Finding> {
        let mut all: Vec<Finding> = self.local_memory(kernel).into_iter().chain(self.wide_arithmetic(kernel)).collect();
        if let Some(function) = self.function {
            let origins = Origins::of(self.module, function);
            all.extend(self.registers_kept(function));
            all.extend(self.generic(function, &origins));
            all.extend(self.narrow(function, &origins));
            all.extend(self.only_read(function, &origins));
        }
        all
    }

    fn of_kernel(kind: Kind, text: String) -> Finding {
        Finding { kind, text, ptx_line: None, address: None, hot: false }
    }

    fn at(&self, kind: Kind, text: String, statement: &Statement) -> Finding {
        let own = self.became.iter().find(|one| one.origin.statement == statement);
        let address = own.and_then(|one| Some(self.code[*one.at.first()?].address));
        let hot = address.is_some_and(|address| self.hot.contains(&address));
        Finding { kind, text, ptx_line: Some(statement.line), address, hot }
    }

    /// Without a number of registers to begin with, `ptxas` leaves `setmaxnreg` out.
    fn registers_kept(&self, function: &Function) -> Option<Finding> {
        let moved: Vec<&Statement> =
            function.statements.iter().filter(|statement| statement.name() == "setmaxnreg").collect();
        let first = moved.first().filter(|_| self.code.iter().all(|one| one.name() != "USETMAXREG"))?;
        let text =
            format!("{} `setmaxnreg` are not in the machine code, so each warp keeps its registers", moved.len());
        Some(Finding { ptx_line: Some(first.line), ..Self::of_kernel(Kind::RegistersKept, text) })
    }

    fn local_memory(&self, kernel: &Kernel) -> Vec<Finding> {
        let spilled = kernel.spilled.unwrap_or(0);
        let mut all = Vec::new();
        if spilled > 0 {
            let text = format!("{spilled} bytes go through local memory for want of registers");
            all.push(Self::of_kernel(Kind::Spill, text));
        }
        let stack = kernel.stack.unwrap_or(0);
        let arrays = self.function.map(|function| function.locals.as_slice()).unwrap_or_default();
        let told = match arrays {
            // Without PTX it cannot be told from spills; with PTX and no array, it is all spills.
            [] if self.function.is_some() || spilled > 0 => return all,
            [] => String::new(),
            arrays => {
                let arrays: Vec<String> =
                    arrays.iter().map(|(name, bytes)| format!("`{name}` of {bytes} bytes")).collect();
                format!(": {}", arrays.join(", "))
            }
        };
        if stack > 0 {
            all.push(Self::of_kernel(Kind::StackFrame, format!("a stack frame of {stack} bytes{told}")));
        }
        all
    }

    /// Carries of 64-bit additions that make addresses in the hot loop, if there is one for each access.
    fn wide_arithmetic(&self, kernel: &Kernel) -> Option<Finding> {
        let hot: Vec<&SassInstruction> = self.code.iter().filter(|one| self.hot.contains(&one.address)).collect();
        let accesses = hot.iter().filter(|one| GLOBAL.contains(&one.name())).count();
        let carries: Vec<&SassInstruction> =
            (0..hot.len()).filter(|at| makes_address(&hot, *at)).map(|at| hot[at]).collect();
        let first = carries.first().filter(|_| kernel.has_loop && carries.len() >= accesses.max(4))?;
        let text = format!(
            "{} of the hot loop's addresses are added in 64 bits, which takes two instructions each, for {accesses} accesses to \
             global memory",
            carries.len()
        );
        let (address, ptx_line) = (Some(first.address), first.ptx_line);
        Some(Finding { hot: true, address, ptx_line, ..Self::of_kernel(Kind::WideArithmetic, text) })
    }

    /// Generic accesses whose address is known to be of one space.
    fn generic(&self, function: &Function, origins: &Origins<'_>) -> Vec<Finding> {
        let own = self.became.iter().filter(|one| std::ptr::eq(one.origin.function, function));
        let generic = own.filter(|one| {
            let machine = one.at.iter().map(|at| self.code[*at].name());
            is_generic(one.origin.statement) && machine.into_iter().any(|name| ["LD", "ST", "ATOM"].contains(&name))
        });
        let finding = |one: &Became<'_>| {
            let statement = one.origin.statement;
            let space = match origins.operand(statement.address()?.0)?.base {
                Base::Parameter(at) => {
                    format!(
                        "`{}` is a parameter of the kernel, so it points to global memory",
                        function.parameters[at].name
                    )
                }
                Base::Shared => "the address is of shared memory".into(),
                Base::Local => "the address is of local memory".into(),
                Base::Global => "the address is of global memory".into(),
                Base::Number | Base::Unknown => return None,
            };
            Some(self.at(Kind::GenericAccess, format!("`{}` is generic: {space}", statement.opcode), statement))
        };
        generic.filter_map(finding).collect()
    }

    /// Accesses of one base that fill an aligned vector, in code that no branch interrupts.
    fn narrow(&self, function: &Function, origins: &Origins<'_>) -> Vec<Finding> {
        let mut all = Vec::new();
        let mut open: BTreeMap<(&str, &str), Vec<(i64, &Statement)>> = BTreeMap::new();
        for statement in &function.statements {
            let ends = ["bra", "bar", "ret", "exit", "call", "membar", "fence", "barrier"].contains(&statement.name());
            if statement.labelled || ends {
                all.extend(std::mem::take(&mut open).into_values().filter_map(|group| self.vector(&group)));
            }
            // A new value in a register begins a new group of it.
            let written = statement.operands.first().filter(|_| statement.name() != "st");
            for register in written.into_iter().flat_map(|operand| registers(operand)) {
                let ended: Vec<(&str, &str)> = open.keys().filter(|(_, base)| *base == register).copied().collect();
                all.extend(ended.into_iter().filter_map(|key| self.vector(&open.remove(&key)?)));
            }
            let Some((base, offset)) = statement.address().filter(|_| is_plain(statement)) else { continue };
            let aligned = origins.operand(base).is_some_and(|value| value.align >= 4 && value.base != Base::Number);
            if aligned && statement.predicate.is_none() {
                open.entry((&statement.opcode, base)).or_default().push((offset, statement));
            }
        }
        all.extend(open.into_values().filter_map(|group| self.vector(&group)));
        all
    }

    fn vector(&self, group: &[(i64, &Statement)]) -> Option<Finding> {
        let (_, first) = group.first()?;
        let size = i64::from(type_bytes(first)?);
        let offsets: HashSet<i64> = group.iter().map(|(offset, _)| *offset).collect();
        let whole = |begin: i64| begin % WIDE == 0 && (0..WIDE / size).all(|at| offsets.contains(&(begin + at * size)));
        let (begin, first) = group.iter().find(|(offset, _)| whole(*offset))?;
        // What the assembler removed is no access.
        self.became.iter().find(|one| one.origin.statement == *first)?;
        let text = format!(
            "{} accesses of {size} bytes from offset {begin} are one of {WIDE} bytes, if the kernel's pointer is aligned to that",
            WIDE / size
        );
        Some(self.at(Kind::NarrowAccess, text, first))
    }

    /// Parameters whose memory the kernel reads by plain loads and does nothing else with.
    fn only_read(&self, function: &Function, origins: &Origins<'_>) -> Vec<Finding> {
        let synchronises = |one: &Statement| {
            one.has("acquire")
                || one.has("acq_rel")
                || one.has("volatile")
                || one.has("release")
                || one.name() == "call"
        };
        if function.statements.iter().any(synchronises) {
            return Vec::new();
        }
        let mut loads: BTreeMap<usize, Vec<&Statement>> = BTreeMap::new();
        let mut others: HashSet<usize> = HashSet::new();
        for statement in &function.statements {
            let base = statement.address().and_then(|(base, _)| origins.operand(base)).map(|value| value.base);
            let writes = ["st", "atom", "red", "cp"].contains(&statement.name());
            match base {
                Some(Base::Parameter(at)) if is_plain(statement) && statement.name() == "ld" => {
                    loads.entry(at).or_default().push(statement);
                }
                Some(Base::Parameter(at)) if !statement.has("nc") && !statement.has("param") => drop(others.insert(at)),
                // It may write to any of them.
                Some(Base::Unknown) if writes && !is_on_chip(statement) => return Vec::new(),
                _ => {}
            }
            // A pointer that is stored goes its own ways.
            if writes {
                let values = statement.operands.iter().flat_map(|operand| registers(operand));
                for value in values.filter(|value| statement.address().is_none_or(|(base, _)| base != *value)) {
                    if let Some(Base::Parameter(at)) = origins.operand(value).map(|value| value.base) {
                        others.insert(at);
                    }
                }
            }
        }
        let finding = |(at, loads): (&usize, &Vec<&Statement>)| {
            let name = &function.parameters[*at].name;
            let first = loads.iter().find(|load| self.became.iter().any(|one| one.origin.statement == **load))?;
            let count = if loads.len() == 1 { "a load".to_owned() } else { format!("{} loads", loads.len()) };
            let text = format!("the kernel only reads `{name}`, by {count} without `.nc`");
            Some(self.at(Kind::CouldBeNc, text, first))
        };
        loads.iter().filter(|(at, _)| !others.contains(at)).filter_map(finding).collect()
    }
}

/// What reads and writes global memory.
const GLOBAL: [&str; 5] = ["LDG", "STG", "LD", "ST", "LDGSTS"];

/// Whether the instruction at that position of a loop is the upper half of a 64-bit addition whose sum is an address there.
fn makes_address(hot: &[&SassInstruction], at: usize) -> bool {
    let words: Vec<&str> = hot[at].opcode.split('.').collect();
    if !["IADD3", "IMAD", "LEA", "IADD"].contains(&words[0]) || !words.contains(&"X") {
        return false;
    }
    let number = |operand: &String| operand.strip_prefix('R')?.parse::<u32>().ok();
    let Some(upper) = hot[at].operands.first().and_then(number) else { return false };
    let base = format!("[R{}.64", upper.wrapping_sub(1));
    let after = hot[at + 1..].iter().chain(&hot[..at]);
    let mut until = after.take_while(|one| one.operands.first().and_then(number) != Some(upper));
    until.any(|one| GLOBAL.contains(&one.name()) && one.operands.iter().any(|operand| operand.contains(&base)))
}

/// Whether an access names no state space.
fn is_generic(statement: &Statement) -> bool {
    let spaces = ["global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"];
    ["ld", "st", "atom"].contains(&statement.name()) && !spaces.iter().any(|space| statement.has(space))
}

fn is_on_chip(statement: &Statement) -> bool {
    ["shared", "shared::cta", "local"].iter().any(|space| statement.has(space))
}

/// Whether it is a load or store of global memory that has no order and is no vector, nor a load of the read-only path.
fn is_plain(statement: &Statement) -> bool {
    let marked = ["nc", "volatile", "relaxed", "acquire", "release", "mmio", "cv", "lu", "wt"];
    ["ld", "st"].contains(&statement.name())
        && statement.has("global")
        && !marked.iter().any(|word| statement.has(word))
}
