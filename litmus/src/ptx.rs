//! The instructions of litmus tests in PTX.

use std::fmt::Write;

use crate::{
    Barrier, Compare, Fence, Instruction, Memory, Operation, Program, Proxy, Register, Semantics, Thread, Value,
};

/// The text of a kernel. The registers of a test are `%r`, its addresses `%a`; `%t8` to `%t14` and `%p1` are for use in between.
pub(crate) struct Writer<'w> {
    pub(crate) program: &'w Program,
    /// Threads of the kernel that each thread of the test is.
    pub(crate) lanes: u32,
    pub(crate) text: String,
}

impl Writer<'_> {
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "    {}", line.as_ref()).expect("a string takes all");
    }

    /// What a thread, by its position, does.
    pub(crate) fn instruction(&mut self, at: usize, instruction: &Instruction) -> Result<(), &'static str> {
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
            Instruction::Label(label) => writeln!(self.text, "{}", place_of(at, label)).expect("a string takes all"),
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
        self.line(format!("barrier.cta.{word} {number}, {};", i64::from(self.lanes) * there));
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

/// A label of a thread.
pub(crate) fn place_of(at: usize, label: &str) -> String {
    format!("T{at}_{label}:")
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

/// The numbers of an instruction's registers.
pub(crate) fn registers(instruction: &Instruction) -> Vec<u32> {
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
