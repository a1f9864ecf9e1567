//! A litmus test as a kernel, in PTX that a driver compiles.
//!
//! Each thread of the test is a warp, in a block of its place, whose lanes are instances of the test. Each instance has lines
//! of its own. The threads of one meet, with a bound, and dawdle, before they do what the test says.

use std::fmt::Write;

use crate::ptx::{Writer, registers};
use crate::{Barrier, Instruction, Program, Proxy, Register, Term, Thread};

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
    let writer = Writer { program, lanes: INSTANCES as u32, text: String::new() };
    let mut writer = Instances { writer, left: &left };
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
    writer.line("ret;\n}");
    let warps = |cta: &u32| program.threads.iter().filter(|thread| thread.placement.cta == *cta).count();
    let threads = 32 * ctas.iter().map(warps).max().unwrap_or(1);
    Ok(Kernel { text: writer.writer.text, blocks: ctas.len(), threads, not_run: not_run(program), left })
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

struct Instances<'w> {
    writer: Writer<'w>,
    left: &'w [(usize, Register)],
}

impl Instances<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.writer.line(line);
    }

    fn header(&mut self, name: &str) {
        let program = self.writer.program;
        let registers =
            program.threads.iter().flat_map(|thread| &thread.code).flat_map(registers).max().unwrap_or_default();
        write!(
            self.writer.text,
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
        let program = self.writer.program;
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
        self.writer.instruction(at, instruction)?;
        if let Instruction::Label(_) = instruction {
            for line in [
                "add.u32 %t10, %t10, 1;".to_owned(),
                format!("setp.gt.u32 %p1, %t10, {LOOKS};"),
                format!("@%p1 bra GIVE_UP{at};"),
            ] {
                self.writer.line(line);
            }
        }
        Ok(())
    }
}

fn left(left: &[(usize, Register)]) -> u32 {
    left.iter().map(|(_, register)| register.0).max().unwrap_or_default()
}
