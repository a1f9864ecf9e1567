//! A module of kernels around accesses, and which machine instruction belongs to which of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_intrinsics::catalogue::Family;
use ptx_sass::nvdisasm::{SassFunction, SassInstruction};

use crate::check::operands::{self, Holds, Part, family};
use crate::check::sass::classes::{
    AROUND, FENCES, INVALIDATION, POLICY, SLOT, Shape, acquires, is_access, is_async, is_atomic, is_fence, is_multimem,
    only_moves, orders, releases, touches,
};
use crate::tools::error::{Error, Result};

/// `.version`, `.target` and `.address_size` before a module's text.
pub(super) const HEADER_LINES: u32 = 3;

/// Kernels around accesses, and on which line each is.
pub(super) struct Module<'a> {
    pub(super) accesses: &'a [&'a str],
    pub(super) text: String,
    pub(super) written: u32,
    pub(super) lines: BTreeMap<u32, usize>,
    pub(super) in_a_kernel: usize,
    pub(super) is_of_kernels: bool,
}

impl<'a> Module<'a> {
    pub(super) fn of(accesses: &'a [&'a str], in_a_kernel: usize, is_of_kernels: bool) -> Self {
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
            return self.by_operands(number, parts, offset, buffer);
        }
        let Shape { bits, lanes } = Shape::of(access);
        // As in Rust: 8 bits are held in a register of 16, but where the assembler takes those of 8 alone.
        let register = if is_multimem(access) { bits } else { bits.max(16) };
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
        let mut values = if access.starts_with("multimem.ld_reduce") { Vec::new() } else { vec![('v', 0)] };
        // What it compares with is first.
        values.extend(access.contains(".cas.").then_some(('c', 32)));
        for (name, from) in &values {
            self.line(&format!(".reg .b{bits} {name}<{lanes}>;"));
            for lane in 0..lanes {
                self.line(&format!("ld.param.b{bits} {name}{lane}, [values+{}];", from + lane * bits / 8));
            }
        }
        let values: Vec<String> = values.iter().rev().map(|(name, _)| vector(*name)).collect();
        let operands = [vec![address.to_owned()], values].concat().join(", ");
        if family(access) == Some(Family::Reduction) || is_multimem(access) && !access.contains(".ld_reduce") {
            return self.noted(number, &format!("{access} {operands}{policy};"));
        }
        self.noted(number, &format!("{access} {}, {operands}{policy};", vector('d')));
        for lane in 0..lanes {
            self.line(&format!("st.shared.b{bits} [{buffer}+{}], d{lane};", lane * bits / 8));
        }
    }

    /// What it takes comes from the parameters, what it gives goes to shared memory.
    fn by_operands(&mut self, number: usize, parts: &[Part], offset: usize, buffer: &str) {
        self.line("{ .reg .b64 policy, d<16>; .reg .b32 r<16>, one; .reg .b16 h<16>; .reg .b8 b<16>; .reg .pred ignore, done;");
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
                        Holds::Byte => ('b', 8),
                        Holds::Half => ('h', 16),
                        Holds::Word => ('r', 32),
                        _ => ('d', 64),
                    };
                    let slot = at / 2;
                    let name = format!("{register}{slot}");
                    if result {
                        given = format!("st.shared.b{bits} [{buffer}], {name};");
                    } else {
                        self.line(&format!("ld.param.b{bits} {name}, [values+{}];", 8 * (slot % 8)));
                        // Not the parameter itself: the assembler crashes where a state is one, for sm_80 to sm_89.
                        if bits > 8 {
                            self.line(&format!("xor.b{bits} {name}, {name}, 1;"));
                        }
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
    pub(super) fn attributed<'c>(&self, function: &'c SassFunction) -> Result<Vec<(usize, &'c str)>> {
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

    pub(super) fn access_on(&self, line: u32) -> Option<usize> {
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
