//! A litmus test as a kernel whose threads are the test's own, as an interpreter runs it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ptx::{Writer, registers};
use crate::{Instruction, Placement, Program, Proxy, Term, Thread};

/// Where a test's locations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// In a buffer.
    Global,
    /// In a block's shared memory. A thread copies them from the buffer before the test, and back after it.
    Shared,
}

/// A test's kernel.
#[derive(Clone, Debug)]
pub struct Threads {
    /// The module. Its kernel `test` takes the memory, of [`Threads::LOCATION`] bytes a location, four bytes for each register that is
    /// observed, and the number of its GPU.
    pub text: String,
    /// How many GPUs run it at the same time.
    pub gpus: u32,
    /// Blocks of the grid of each, and of a cluster.
    pub blocks: u32,
    /// See there.
    pub cluster: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The test's threads: each one's GPU, block and number there.
    pub places: Vec<(u32, u32, u32)>,
    /// By the line of the text: which thread's instruction it is, by their positions, if other threads can see it.
    pub lines: BTreeMap<u32, (usize, usize)>,
}

impl Threads {
    /// Bytes of a location.
    pub const LOCATION: usize = 4;

    /// The kernel of a test that leaves those registers, or why PTX has none.
    pub fn of(program: &Program, observed: &[Term], space: Space) -> Result<Threads, &'static str> {
        fits(program)?;
        let (gpus, blocks, cluster, places) = grid(program);
        if space == Space::Shared && gpus * blocks > 1 {
            return Err("its threads are of several blocks");
        }
        let threads = 1 + places.iter().map(|(_, _, number)| *number).max().unwrap_or_default();
        let mut writer = Writer { program, lanes: 1, text: String::new() };
        header(&mut writer);
        let mut lines = BTreeMap::new();
        for (at, thread) in program.threads.iter().enumerate() {
            begin(&mut writer, at, thread, places[at]);
            if space == Space::Shared {
                copy(&mut writer, at, "global", "shared");
                writer.line("barrier.sync 1;");
            }
            for (number, instruction) in thread.code.iter().enumerate() {
                let from = writer.text.len();
                writer.instruction(at, instruction)?;
                if space == Space::Shared {
                    let own = writer.text.split_off(from);
                    writer.text += &own.replace(".global.", ".shared.").replace("[%a", "[%s");
                }
                lines.insert(writer.text.lines().count() as u32, (at, number));
            }
            for (word, term) in observed.iter().enumerate() {
                if let Term::Register(of, register) = term
                    && *of == at
                {
                    writer.line(format!("st.global.u32 [%c1+{}], %{register};", 4 * word));
                }
            }
            if space == Space::Shared {
                writer.line("barrier.sync 1;");
                copy(&mut writer, at, "shared", "global");
            }
            writer.line("ret;");
            writer.line(format!("OTHER{at}:"));
        }
        writer.line("ret;\n}");
        let text = writer.text;
        Ok(Threads { text, gpus, blocks, cluster, threads, places, lines })
    }
}

/// The first thread copies the locations.
fn copy(writer: &mut Writer<'_>, at: usize, from: &str, to: &str) {
    let pointer = |space: &str| if space == "global" { "a" } else { "s" };
    for number in (0..writer.program.addresses.len()).filter(|_| at == 0) {
        writer.line(format!("ld.{from}.u32 %t8, [%{}{number}];", pointer(from)));
        writer.line(format!("st.{to}.u32 [%{}{number}], %t8;", pointer(to)));
    }
}

fn fits(program: &Program) -> Result<(), &'static str> {
    for (number, address) in program.addresses.iter().enumerate() {
        if address.proxy != Proxy::Generic {
            return Err("it has other proxies than the generic one");
        }
        if program.addresses[..number].iter().any(|other| other.physical == address.physical) {
            return Err("a location has a second address");
        }
    }
    let instructions = || program.threads.iter().flat_map(|thread| &thread.code);
    for instruction in instructions() {
        match instruction {
            Instruction::Load(_, memory) | Instruction::Store(memory, _) | Instruction::Atomic(_, memory, ..)
                if memory.proxy != Proxy::Generic =>
            {
                return Err("it has other proxies than the generic one");
            }
            Instruction::Barrier(barrier) if barrier.quorum.is_some() => return Err("a barrier has a quorum"),
            _ => {}
        }
    }
    Ok(())
}

/// What a thread's cluster is: a block without one is a cluster of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Cluster(u32),
    Block(u32),
}

/// A cluster, and its blocks.
type Cluster = (Own, Vec<u32>);

/// The GPUs, the blocks of each, those of a cluster, and where each thread is. All clusters are as large as the largest one, and all GPUs
/// have as many.
fn grid(program: &Program) -> (u32, u32, u32, Vec<(u32, u32, u32)>) {
    let key = |thread: &Thread| match thread.placement {
        Placement { cluster: Some(cluster), .. } => Own::Cluster(cluster),
        Placement { cta, .. } => Own::Block(cta),
    };
    let gpu = |thread: &Thread| thread.placement.gpu;
    let mut gpus: Vec<(u32, Vec<Cluster>)> = Vec::new();
    for thread in &program.threads {
        let place = gpus.iter().position(|(of, _)| *of == gpu(thread)).unwrap_or_else(|| {
            gpus.push((gpu(thread), Vec::new()));
            gpus.len() - 1
        });
        let clusters = &mut gpus[place].1;
        let place = clusters.iter().position(|(of, _)| *of == key(thread)).unwrap_or_else(|| {
            clusters.push((key(thread), Vec::new()));
            clusters.len() - 1
        });
        let blocks = &mut clusters[place].1;
        if !blocks.contains(&thread.placement.cta) {
            blocks.push(thread.placement.cta);
        }
    }
    let all = || gpus.iter().flat_map(|(_, clusters)| clusters);
    let size = all().map(|(_, blocks)| blocks.len()).max().unwrap_or(1);
    let count = gpus.iter().map(|(_, clusters)| clusters.len()).max().unwrap_or(1);
    let mut places: Vec<(u32, u32, u32)> = Vec::new();
    for thread in &program.threads {
        let own = gpus.iter().position(|(of, _)| *of == gpu(thread)).unwrap_or_default();
        let clusters = &gpus[own].1;
        let cluster = clusters.iter().position(|(of, _)| *of == key(thread)).unwrap_or_default();
        let rank = clusters[cluster].1.iter().position(|block| *block == thread.placement.cta).unwrap_or_default();
        let block = (cluster * size + rank) as u32;
        let is_beside = |(gpu, other, _): &&(u32, u32, u32)| (*gpu, *other) == (own as u32, block);
        let number = places.iter().filter(is_beside).count() as u32;
        places.push((own as u32, block, number));
    }
    (gpus.len() as u32, (count * size) as u32, size as u32, places)
}

fn header(writer: &mut Writer<'_>) {
    let program = writer.program;
    let most = program.threads.iter().flat_map(|thread| &thread.code).flat_map(registers).max().unwrap_or_default();
    writer.text += ".version 8.0\n.target sm_90\n.address_size 64\n\
                    .visible .entry test(.param .u64 memory, .param .u64 left, .param .u32 gpu)\n{\n";
    for line in [
        ".reg .pred %p<4>;".to_owned(),
        format!(".reg .b32 %r<{}>;", most + 1),
        ".reg .b32 %t<16>;".to_owned(),
        format!(".reg .b64 %a<{}>;", program.addresses.len() + 1),
        format!(".reg .b64 %s<{}>;", program.addresses.len() + 1),
        format!(".shared .align 4 .b8 locations[{}];", Threads::LOCATION * program.initial.len().max(1)),
        ".reg .b64 %c<4>;".to_owned(),
        "ld.param.u64 %c0, [memory];".to_owned(),
        "ld.param.u64 %c1, [left];".to_owned(),
        "mov.u32 %t0, %ctaid.x;".to_owned(),
        "mov.u32 %t1, %tid.x;".to_owned(),
        "ld.param.u32 %t2, [gpu];".to_owned(),
    ] {
        writer.line(line);
    }
    for (number, address) in program.addresses.iter().enumerate() {
        let at = Threads::LOCATION * address.physical;
        writer.line(format!("add.u64 %a{number}, %c0, {at};"));
        writer.line(format!("mov.u64 %s{number}, locations;"));
        writer.line(format!("add.u64 %s{number}, %s{number}, {at};"));
    }
}

/// Is it this thread, and what do its registers begin with.
fn begin(writer: &mut Writer<'_>, at: usize, thread: &Thread, (gpu, block, number): (u32, u32, u32)) {
    writer.line(format!("setp.ne.u32 %p0, %t2, {gpu};"));
    writer.line(format!("setp.ne.or.u32 %p0, %t0, {block}, %p0;"));
    writer.line(format!("setp.ne.or.u32 %p0, %t1, {number}, %p0;"));
    writer.line(format!("@%p0 bra OTHER{at};"));
    for (register, value) in &thread.initial {
        writer.line(format!("mov.u32 %{register}, {value};"));
    }
    for number in skipped(thread) {
        writer.line(format!("mov.u32 %r{number}, 0;"));
    }
}

/// The registers that a branch may leave as they were: 0, as the model has it.
fn skipped(thread: &Thread) -> BTreeSet<u32> {
    let is_branch = |instruction: &Instruction| matches!(instruction, Instruction::Branch(..));
    let Some(branch) = thread.code.iter().position(is_branch) else { return BTreeSet::new() };
    let (before, behind) = thread.code.split_at(branch + 1);
    let own = thread.initial.iter().map(|(register, _)| register.0);
    let set: BTreeSet<u32> = before.iter().flat_map(registers).chain(own).collect();
    behind.iter().flat_map(registers).filter(|number| !set.contains(number)).collect()
}
