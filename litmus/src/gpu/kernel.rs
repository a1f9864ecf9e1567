//! A litmus test as a kernel, in PTX that a driver compiles.
//!
//! Each thread of the test is a warp, in a block of its place, whose lanes are instances of the test. Each instance has lines
//! of its own. The threads of one meet, with a bound, and dawdle, before they do what the test says.

use std::fmt::Write;

use crate::Term;
use crate::{
    Barrier, Compare, Fence, Instruction, Memory, Operation, Program, Proxy, Register, Semantics, Thread, Value,
};

/// Bytes of a location's line, of the words by which an instance meets, and of what an instance leaves.
pub const LINE: usize = 128;

/// Instances of the test in its blocks: a warp's lanes.
pub const INSTANCES: usize = 32;

/// How often a thread looks for the others, and goes through a label, before it gives up.
const LOOKS: u32 = 1024;

/// What a thread leaves that gave up, and one that came to its end, in the first words of an instance.
pub const GAVE_UP: u32 = 1;
/// See [`GAVE_UP`].
pub const ENDED: u32 = 2;

/// The most threads of a test, so that what they leave fits into a line.
const THREADS: usize = 8;

/// A test's kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The entry point.
    pub text: String,
    /// Blocks of an instance, and threads of a block.
    pub blocks: usize,
    /// See there.
    pub threads: usize,
    /// The registers that are left, after a word for each thread.
    pub left: Vec<(usize, Register)>,
    /// Why it cannot run as it is on one GPU, if so.
    pub not_run: Option<&'static str>,
}

/// What comes before kernels.
pub const HEADER: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// The kernel of a test, or why PTX has none.
pub fn kernel(name: &str, program: &Program) -> Result<Kernel, &'static str> {
    let places: Vec<(u32, u32)> =
        program.threads.iter().map(|thread| (thread.placement.gpu, thread.placement.cta)).collect();
    if places.iter().any(|(gpu, _)| *gpu != places[0].0) {
        return Err("its threads are on several GPUs");
    }
    if program.threads.len() > THREADS {
        return Err("it has more than 8 threads");
    }
    let mut ctas: Vec<u32> = places.iter().map(|(_, cta)| *cta).collect();
    ctas.sort_unstable();
    ctas.dedup();
    let mut left: Vec<(usize, Register)> = Vec::new();
    for term in program.condition.test.terms() {
        if let Term::Register(thread, register) = term
            && !left.contains(&(thread, register))
        {
            left.push((thread, register));
        }
    }
    let mut writer = Writer { program, left: &left, text: String::new() };
    let cluster = program.threads[0].placement.cluster;
    if program.threads.iter().any(|thread| thread.placement.cluster != cluster) {
        return Err("its threads are in several clusters");
    }
    if cluster.is_some() {
        return Err("it wants a cluster, which PTX for every GPU does not have");
    }
    writer.header(name);
    for (at, thread) in program.threads.iter().enumerate() {
        let block = ctas.iter().position(|cta| *cta == thread.placement.cta).unwrap_or_default();
        let warp = program.threads[..at].iter().filter(|other| other.placement.cta == thread.placement.cta).count();
        writer.thread(at, thread, block, warp, ctas.len())?;
    }
    writer.text += "    ret;\n}\n";
    let warps = |cta: &u32| program.threads.iter().filter(|thread| thread.placement.cta == *cta).count();
    let threads = 32 * ctas.iter().map(warps).max().unwrap_or(1);
    Ok(Kernel { text: writer.text, blocks: ctas.len(), threads, not_run: not_run(program), left })
}

fn not_run(program: &Program) -> Option<&'static str> {
    let of = |is: &dyn Fn(&Instruction) -> bool| program.threads.iter().flat_map(|thread| &thread.code).any(is);
    let memory = |instruction: &Instruction| match instruction {
        Instruction::Load(_, memory) | Instruction::Store(memory, _) | Instruction::Atomic(_, memory, ..) => {
            Some(*memory)
        }
        _ => None,
    };
    let used = |instruction: &Instruction| memory(instruction).map(|memory| &program.addresses[memory.address]);
    let distinct = |instruction: &Instruction| {
        used(instruction).is_some_and(|address| {
            let is_other = |other: &Instruction| {
                used(other).is_some_and(|other| {
                    other.physical == address.physical && other.virtual_address != address.virtual_address
                })
            };
            of(&is_other)
        })
    };
    if of(&|instruction| memory(instruction).is_some_and(|memory| memory.proxy != Proxy::Generic)) {
        return Some("surfaces, textures and constants cannot be laid over memory");
    }
    if of(&distinct) {
        return Some("a second address of a location wants memory that is mapped twice");
    }
    let quorum =
        |instruction: &Instruction| matches!(instruction, Instruction::Barrier(Barrier { quorum: Some(_), .. }));
    if of(&quorum) {
        return Some("a barrier with a quorum may wait for ever");
    }
    let branches = of(&|instruction| matches!(instruction, Instruction::Branch(..)));
    let meets = of(&|instruction| matches!(instruction, Instruction::Barrier(_)));
    (branches && meets).then_some("a thread that branches may leave others waiting at a barrier")
}

struct Writer<'w> {
    program: &'w Program,
    left: &'w [(usize, Register)],
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "    {}", line.as_ref()).expect("a string takes all");
    }

    fn header(&mut self, name: &str) {
        let program = self.program;
        let registers =
            program.threads.iter().flat_map(|thread| &thread.code).flat_map(registers).max().unwrap_or_default();
        write!(
            self.text,
            ".visible .entry {name}(.param .u64 memory, .param .u64 control, .param .u32 seed, .param .u64 surface)\n{{\n\
             \x20   .reg .pred %p<4>;\n    .reg .b32 %r<{}>;\n    .reg .b32 %t<16>;\n    .reg .b64 %a<{}>;\n    .reg .b64 %c<8>;\n",
            registers.max(left(self.left)) + 1,
            program.addresses.len() + 1,
        )
        .expect("a string takes all");
        for line in [
            "ld.param.u64 %c0, [memory];",
            "ld.param.u64 %c1, [control];",
            "ld.param.u64 %c5, [surface];",
            "cvta.to.global.u64 %c0, %c0;",
            "cvta.to.global.u64 %c1, %c1;",
            "mov.u32 %t0, %ctaid.x;",
            "mov.u32 %t1, %tid.x;",
            "and.b32 %t2, %t1, 31;",
            "shr.u32 %t1, %t1, 5;",
        ] {
            self.line(line);
        }
    }

    /// A thread: is it this one, where are its places, and what does it do.
    fn thread(
        &mut self,
        at: usize,
        thread: &Thread,
        block: usize,
        warp: usize,
        blocks: usize,
    ) -> Result<(), &'static str> {
        let program = self.program;
        let (places, threads) = (program.initial.len().max(1), program.threads.len());
        self.line(format!("rem.u32 %t3, %t0, {blocks};"));
        self.line(format!("setp.ne.u32 %p0, %t3, {block};"));
        self.line(format!("setp.ne.or.u32 %p0, %t1, {warp}, %p0;"));
        self.line(format!("@%p0 bra OTHER{at};"));
        self.line(format!("div.u32 %t4, %t0, {blocks};"));
        self.line(format!("mad.lo.u32 %t4, %t4, {INSTANCES}, %t2;"));
        for (number, address) in program.addresses.iter().enumerate() {
            self.line(format!("mad.lo.u32 %t5, %t4, {places}, {};", address.physical));
            self.line(format!("mad.wide.u32 %a{number}, %t5, {LINE}, %c0;"));
        }
        self.line(format!("mad.wide.u32 %c2, %t4, {LINE}, %c1;"));
        for number in
            0..=program.threads[at].code.iter().flat_map(registers).max().unwrap_or_default().max(left(self.left))
        {
            let initial =
                thread.initial.iter().find(|(register, _)| register.0 == number).map_or(0, |(_, value)| *value);
            self.line(format!("mov.u32 %r{number}, {initial};"));
        }
        // L1 has the old values before the threads meet.
        for number in 0..program.addresses.len() {
            self.line(format!("ld.weak.global.u32 %t6, [%a{number}];"));
        }
        for line in [
            "mov.u32 %t7, 0;".to_owned(),
            "mov.u32 %t10, 0;".to_owned(),
            "red.relaxed.gpu.global.add.u32 [%c2], 1;".to_owned(),
            format!("MEET{at}:"),
            "ld.relaxed.gpu.global.u32 %t6, [%c2];".to_owned(),
            "add.u32 %t7, %t7, 1;".to_owned(),
            format!("setp.ge.u32 %p0, %t6, {threads};"),
            format!("setp.ge.or.u32 %p0, %t7, {LOOKS}, %p0;"),
            format!("@!%p0 bra MEET{at};"),
            "ld.param.u32 %t6, [seed];".to_owned(),
            format!("mad.lo.u32 %t6, %t6, 40503, {};", 7919 * (at + 1)),
            "mad.lo.u32 %t6, %t4, 2654435761, %t6;".to_owned(),
            "shr.u32 %t6, %t6, 26;".to_owned(),
            format!("DAWDLE{at}:"),
            "add.s32 %t6, %t6, -1;".to_owned(),
            "setp.gt.s32 %p0, %t6, 0;".to_owned(),
            format!("@%p0 bra DAWDLE{at};"),
        ] {
            self.line(line);
        }
        for instruction in &thread.code {
            self.instruction(at, instruction)?;
        }
        self.line(format!("mov.u32 %t6, {ENDED};"));
        self.line(format!("bra LEAVE{at};"));
        self.line(format!("GIVE_UP{at}:"));
        self.line(format!("mov.u32 %t6, {GAVE_UP};"));
        self.line(format!("LEAVE{at}:"));
        self.line(format!("st.global.u32 [%c2+{}], %t6;", 4 * (1 + at)));
        for (word, (_, register)) in self.left.iter().enumerate().filter(|(_, (of, _))| *of == at) {
            self.line(format!("st.global.u32 [%c2+{}], %{register};", 4 * (1 + threads + word)));
        }
        self.line("ret;");
        self.line(format!("OTHER{at}:"));
        Ok(())
    }

    fn instruction(&mut self, at: usize, instruction: &Instruction) -> Result<(), &'static str> {
        match instruction {
            Instruction::Load(to, memory) => self.load(to, memory)?,
            Instruction::Store(memory, value) => {
                let stored = self.in_register(value, "%t8");
                match memory.proxy {
                    Proxy::Generic => {
                        self.line(format!("st{}.global.u32 [%a{}], {stored};", words(memory), memory.address))
                    }
                    Proxy::Surface => self.line(format!("sust.b.1d.b32.trap [%c5, {{%t4}}], {{{stored}}};")),
                    _ => return Err("PTX has no such store"),
                }
            }
            Instruction::Atomic(to, memory, operation, values) => {
                self.atomic(to.as_ref(), memory, *operation, values)?
            }
            Instruction::Fence(Fence::Memory(semantics, scope)) => self.line(format!("fence.{semantics}.{scope};")),
            Instruction::Fence(Fence::Alias) => self.line("fence.proxy.alias;"),
            Instruction::Fence(Fence::Proxy(Proxy::Surface)) => return Err("PTX has no fence.proxy.surface"),
            Instruction::Fence(Fence::Proxy(Proxy::Texture)) => return Err("PTX has no fence.proxy.texture"),
            Instruction::Fence(Fence::Proxy(Proxy::Constant)) => return Err("PTX has no fence.proxy.constant"),
            Instruction::Fence(Fence::Proxy(_)) => return Err("the async proxy wants sm_90"),
            Instruction::Barrier(barrier) => self.barrier(at, barrier)?,
            Instruction::Move(to, value) => {
                let value = operand(value);
                self.line(format!("mov.u32 %{to}, {value};"));
            }
            Instruction::Compute(to, operation, a, b) => {
                let word = match operation {
                    Operation::Add => "add.s32",
                    Operation::Sub => "sub.s32",
                    Operation::Mul => "mul.lo.s32",
                    Operation::Div => "div.s32",
                    _ => return Err("PTX computes so on no integers"),
                };
                let a = self.in_register(a, "%t8");
                self.line(format!("{word} %{to}, {a}, {};", operand(b)));
            }
            Instruction::Branch(compare, a, b, label) => {
                let word = match compare {
                    Compare::Equal => "eq",
                    Compare::NotEqual => "ne",
                    Compare::Less => "lt",
                    Compare::LessOrEqual => "le",
                    Compare::Greater => "gt",
                    Compare::GreaterOrEqual => "ge",
                };
                let a = self.in_register(a, "%t8");
                self.line(format!("setp.{word}.s32 %p1, {a}, {};", operand(b)));
                self.line(format!("@%p1 bra T{at}_{label};"));
            }
            Instruction::Jump(label) => self.line(format!("bra T{at}_{label};")),
            Instruction::Label(label) => {
                for line in [
                    format!("T{at}_{label}:"),
                    "add.u32 %t10, %t10, 1;".to_owned(),
                    format!("setp.gt.u32 %p1, %t10, {LOOKS};"),
                    format!("@%p1 bra GIVE_UP{at};"),
                ] {
                    self.line(line);
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, to: &Register, memory: &Memory) -> Result<(), &'static str> {
        match memory.proxy {
            Proxy::Generic => self.line(format!("ld{}.global.u32 %{to}, [%a{}];", words(memory), memory.address)),
            Proxy::Surface => self.line(format!("suld.b.1d.b32.trap {{%{to}}}, [%c5, {{%t4}}];")),
            Proxy::Texture => self.line(format!("tex.1d.v4.u32.s32 {{%{to}, %t11, %t12, %t13}}, [%c5, {{%t4}}];")),
            Proxy::Constant => self.line(format!("ld.const.u32 %{to}, [%c5];")),
            Proxy::Async => return Err("the async proxy wants sm_90"),
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        to: Option<&Register>,
        memory: &Memory,
        operation: Operation,
        values: &[Value],
    ) -> Result<(), &'static str> {
        if memory.proxy != Proxy::Generic {
            return Err("PTX has no such atomic");
        }
        let (word, negated) = match operation {
            Operation::Add => ("add.u32", false),
            // PTX has no subtraction: what is added is the negative.
            Operation::Sub => ("add.u32", true),
            Operation::And => ("and.b32", false),
            Operation::Or => ("or.b32", false),
            Operation::Xor => ("xor.b32", false),
            Operation::Exch => ("exch.b32", false),
            Operation::Cas => ("cas.b32", false),
            Operation::Mul | Operation::Div => return Err("PTX has no atomic multiplication or division"),
        };
        let mut operands: Vec<String> = values.iter().map(operand).collect();
        if negated {
            let value = self.in_register(&values[0], "%t8");
            self.line(format!("neg.s32 %t9, {value};"));
            operands = vec!["%t9".to_owned()];
        }
        // `red` takes no order that acquires.
        let to = to.map_or_else(|| "%t14".to_owned(), |to| format!("%{to}"));
        self.line(format!(
            "atom{}.global.{word} {to}, [%a{}], {};",
            words(memory),
            memory.address,
            operands.join(", ")
        ));
        Ok(())
    }

    /// A barrier that those threads of the block meet at which have it.
    fn barrier(&mut self, at: usize, barrier: &Barrier) -> Result<(), &'static str> {
        let Value::Constant(_) = barrier.resource else { return Err("the number of its barrier is in a register") };
        let mut numbers: Vec<(i64, Value)> = Vec::new();
        let all = || {
            self.program
                .threads
                .iter()
                .flat_map(|thread| thread.code.iter().map(move |instruction| (thread, instruction)))
        };
        for (_, instruction) in all() {
            if let Instruction::Barrier(other) = instruction
                && !numbers.contains(&(other.instance, other.resource))
            {
                numbers.push((other.instance, other.resource));
            }
        }
        let number =
            numbers.iter().position(|number| *number == (barrier.instance, barrier.resource)).unwrap_or_default();
        let cta = self.program.threads[at].placement.cta;
        let same = |(thread, instruction): &(&Thread, &Instruction)| {
            let is_it = matches!(instruction, Instruction::Barrier(other) if (other.instance, other.resource) == (barrier.instance, barrier.resource));
            thread.placement.cta == cta && is_it
        };
        let there = match barrier.quorum {
            None => all().filter(same).count() as i64,
            Some(Value::Constant(quorum)) => quorum,
            Some(Value::Register(_)) => return Err("the quorum of its barrier is in a register"),
        };
        let word = if barrier.waits { "sync" } else { "arrive" };
        self.line(format!("barrier.cta.{word} {number}, {};", 32 * there));
        Ok(())
    }

    /// A value in a register.
    fn in_register(&mut self, value: &Value, scratch: &str) -> String {
        match value {
            Value::Register(register) => format!("%{register}"),
            Value::Constant(value) => {
                self.line(format!("mov.u32 {scratch}, {value};"));
                scratch.to_owned()
            }
        }
    }
}

fn operand(value: &Value) -> String {
    match value {
        Value::Register(register) => format!("%{register}"),
        Value::Constant(value) => value.to_string(),
    }
}

/// `.relaxed.gpu`, `.weak`, …
fn words(memory: &Memory) -> String {
    match (memory.semantics, memory.scope) {
        (Semantics::Weak | Semantics::Volatile, _) | (_, None) => format!(".{}", memory.semantics),
        (semantics, Some(scope)) => format!(".{semantics}.{scope}"),
    }
}

fn left(left: &[(usize, Register)]) -> u32 {
    left.iter().map(|(_, register)| register.0).max().unwrap_or_default()
}

/// The numbers of an instruction's registers.
fn registers(instruction: &Instruction) -> Vec<u32> {
    let mut values: Vec<Value> = Vec::new();
    let mut to = None;
    match instruction {
        Instruction::Load(register, _) => to = Some(*register),
        Instruction::Store(_, value) => values.push(*value),
        Instruction::Atomic(register, _, _, operands) => {
            to = *register;
            values.extend(operands);
        }
        Instruction::Barrier(barrier) => values.extend([Some(barrier.resource), barrier.quorum].into_iter().flatten()),
        Instruction::Move(register, value) => {
            to = Some(*register);
            values.push(*value);
        }
        Instruction::Compute(register, _, a, b) => {
            to = Some(*register);
            values.extend([*a, *b]);
        }
        Instruction::Branch(_, a, b, _) => values.extend([*a, *b]),
        Instruction::Fence(_) | Instruction::Jump(_) | Instruction::Label(_) => {}
    }
    let values = values
        .into_iter()
        .filter_map(|value| if let Value::Register(register) = value { Some(register) } else { None });
    values.chain(to).map(|register| register.0).collect()
}
