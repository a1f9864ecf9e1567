//! Whether orders order: two threads, two places in memory, and what each may see of the other. Many pairs of threads
//! run each test at a time, and what they saw is counted.
//!
//! Forbidden is what the PTX memory model forbids; the rest may show or not, and is only counted.

use super::image::Entry;
use super::trial::Room;
use crate::error::Result;
use crate::gpu::{Argument, Buffer, Gpu, Launch, Module};

/// A test's shape. `x` and `y` are 0 at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Message passing: one thread writes `x`, then `y`; the other reads `y`, then `x`.
    MessagePassing,
    /// Store buffering: each writes its own place, then reads the other's.
    StoreBuffering,
    /// Load buffering: each reads its own place, then writes the other's.
    LoadBuffering,
}

/// How strong a test's accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// No order: a data race, of which nothing is promised.
    Weak,
    /// `.relaxed`.
    Relaxed(&'static str),
    /// Loads `.acquire`, stores `.release`.
    AcquireRelease(&'static str),
    /// `.relaxed` with `fence.sc` between.
    Fenced(&'static str),
}

/// A test.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// Its kernel.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// How strong its accesses are.
    pub strength: Strength,
}

const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];

/// Runs of each thread in a launch, one after the other.
const ROUNDS: usize = 8;

/// Threads of a block.
const THREADS: usize = 256;

/// Blocks of a launch for each multiprocessor: few enough to run all at once.
const BLOCKS_PER_PROCESSOR: u32 = 4;

/// Launches of each test: on 132 multiprocessors, more than four million runs.
pub const LAUNCHES: usize = 8;

impl Litmus {
    /// All tests.
    pub fn all() -> Vec<Litmus> {
        let shapes = [Shape::MessagePassing, Shape::StoreBuffering, Shape::LoadBuffering];
        let of_scope = |scope| [Strength::Relaxed(scope), Strength::AcquireRelease(scope), Strength::Fenced(scope)];
        let strengths = || std::iter::once(Strength::Weak).chain(SCOPES.into_iter().flat_map(of_scope));
        let all = shapes.into_iter().flat_map(|shape| strengths().map(move |strength| Litmus::new(shape, strength)));
        all.collect()
    }

    fn new(shape: Shape, strength: Strength) -> Litmus {
        let (order, scope) = match strength {
            Strength::Weak => ("weak", ""),
            Strength::Relaxed(scope) => ("relaxed_", scope),
            Strength::AcquireRelease(scope) => ("acquire_release_", scope),
            Strength::Fenced(scope) => ("fence_sc_", scope),
        };
        Litmus { name: format!("{}_{order}{scope}", shape.word()), shape, strength }
    }

    fn scope(&self) -> &'static str {
        match self.strength {
            Strength::Weak => "gpu",
            Strength::Relaxed(scope) | Strength::AcquireRelease(scope) | Strength::Fenced(scope) => scope,
        }
    }

    /// The outcome that the memory model forbids: what the first and the second register may not hold together.
    pub fn forbidden(&self) -> Option<(u32, u32)> {
        match (self.shape, self.strength) {
            (_, Strength::Weak | Strength::Relaxed(_)) => None,
            (Shape::MessagePassing, _) => Some((1, 0)),
            // A release and a later acquire of another place may pass each other.
            (Shape::StoreBuffering, Strength::AcquireRelease(_)) => None,
            (Shape::StoreBuffering, Strength::Fenced(_)) => Some((0, 0)),
            (Shape::LoadBuffering, _) => Some((1, 1)),
        }
    }

    fn between(&self) -> String {
        match self.strength {
            Strength::Fenced(scope) => format!("asm!(\"fence.sc.{scope};\", options(nostack));"),
            _ => String::new(),
        }
    }

    /// What each of the two threads does, and which registers it leaves.
    fn roles(&self) -> [String; 2] {
        // What is handed over needs no order of its own.
        let data = match (self.shape, self.strength) {
            (Shape::MessagePassing, Strength::AcquireRelease(_) | Strength::Fenced(_)) => Strength::Weak,
            _ => self.strength,
        };
        let [load_x, store_x] = [data.load("x"), data.store("x")];
        let [load_y, store_y] = [self.strength.load("y"), self.strength.store("y")];
        let then = self.between();
        match self.shape {
            Shape::MessagePassing => [
                format!("{store_x}; {then} {store_y};"),
                format!(
                    "let first = {load_y}; {then} let second = {load_x}; put(out, first); put(out.add(4), second);"
                ),
            ],
            Shape::StoreBuffering => [
                format!("{store_x}; {then} let first = {load_y}; put(out, first);"),
                format!("{store_y}; {then} let second = {load_x}; put(out.add(4), second);"),
            ],
            Shape::LoadBuffering => [
                format!("let first = {load_x}; {then} {store_y}; put(out, first);"),
                format!("let second = {load_y}; {then} {store_x}; put(out.add(4), second);"),
            ],
        }
    }
}

impl Strength {
    fn load(&self, place: &str) -> String {
        match self {
            Strength::Weak => format!("ptx!(ld.global.u32 [{place}.cast_const()])"),
            Strength::Relaxed(scope) | Strength::Fenced(scope) => {
                format!("ptx!(ld.relaxed.{scope}.global.u32 [{place}.cast_const()])")
            }
            Strength::AcquireRelease(scope) => format!("ptx!(ld.acquire.{scope}.global.u32 [{place}.cast_const()])"),
        }
    }

    fn store(&self, place: &str) -> String {
        match self {
            Strength::Weak => format!("ptx!(st.global.u32 [{place}], 1u32)"),
            Strength::Relaxed(scope) | Strength::Fenced(scope) => {
                format!("ptx!(st.relaxed.{scope}.global.u32 [{place}], 1u32)")
            }
            Strength::AcquireRelease(scope) => format!("ptx!(st.release.{scope}.global.u32 [{place}], 1u32)"),
        }
    }
}

impl Shape {
    fn word(self) -> &'static str {
        match self {
            Shape::MessagePassing => "message_passing",
            Shape::StoreBuffering => "store_buffering",
            Shape::LoadBuffering => "load_buffering",
        }
    }
}

impl Entry for Litmus {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> (u32, u32) {
        if self.scope() == "cluster" { (90, 78) } else { (70, 60) }
    }

    fn room(&self) -> Room {
        if self.scope() == "cluster" { Room::Cluster } else { Room::Global }
    }

    /// Threads of one block meet in two warps; threads of other scopes in two blocks that stand side by side.
    fn source(&self) -> String {
        let (role, pair) = match self.scope() {
            "cta" => ("thread / 32 % 2", format!("block() * {} + thread / 64 * 32 + thread % 32", THREADS / 2)),
            _ => ("block() % 2", format!("block() / 2 * {THREADS} + thread")),
        };
        let [one, other] = self.roles();
        let rounds: String = (0..ROUNDS)
            .map(|round| {
                format!(
                    "{{ let at = {round} * pairs + pair; let x = memory.add(at); let y = memory.add({ROUNDS} * pairs + at); \
                     let out = out.add(8 * at); if role == 0 {{ {one} }} else {{ {other} }} }}\n"
                )
            })
            .collect();
        format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {}(memory: *mut u32, out: *mut u8, pairs: usize) {{ unsafe {{\n\
             let thread = thread(); let role = {role}; let pair = {pair};\n{rounds}}} }}\n\n",
            self.name
        )
    }
}

/// What was seen.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Counted {
    /// The test.
    pub test: String,
    /// How often each outcome came: of the first and the second register 0 0, 0 1, 1 0, 1 1.
    pub outcomes: [u64; 4],
    /// The one of them that is forbidden.
    pub forbidden: Option<usize>,
}

impl Counted {
    /// How often the forbidden outcome came.
    pub fn violations(&self) -> u64 {
        self.forbidden.map_or(0, |at| self.outcomes[at])
    }
}

/// Runs a test on a GPU, so many times.
pub fn run(litmus: &Litmus, gpu: &Gpu, module: &Module, launches: usize) -> Result<Counted> {
    let blocks = (gpu.processors() * BLOCKS_PER_PROCESSOR).next_multiple_of(2);
    let pairs = blocks as usize * THREADS / 2;
    let runs = pairs * ROUNDS;
    let mut counted = Counted {
        test: litmus.name.clone(),
        outcomes: [0; 4],
        forbidden: litmus.forbidden().map(|(first, second)| (2 * first + second) as usize),
    };
    let [zeros, unset] = [vec![0; 8 * runs], vec![0xff; 8 * runs]];
    let (mut memory, mut out): (Buffer, Buffer) = (gpu.upload(&zeros)?, gpu.upload(&unset)?);
    for _ in 0..launches {
        gpu.refill(&mut memory, &zeros)?;
        gpu.refill(&mut out, &unset)?;
        let arguments =
            vec![Argument::U64(memory.address()), Argument::U64(out.address()), Argument::U64(pairs as u64)];
        let launch = Launch { kernel: litmus.name.clone(), blocks, threads: THREADS as u32, arguments };
        // SAFETY: each pair has its own words, of as many as there are runs.
        unsafe { gpu.launch(module, &launch) }?;
        gpu.wait()?;
        for seen in gpu.download(&out)?.chunks_exact(8) {
            counted.outcomes[outcome(seen, litmus)?] += 1;
        }
    }
    Ok(counted)
}

fn outcome(seen: &[u8], litmus: &Litmus) -> Result<usize> {
    match seen {
        [first @ (0 | 1), 0, 0, 0, second @ (0 | 1), 0, 0, 0] => Ok(usize::from(2 * first + second)),
        _ => Err(crate::error::Error::new(format_args!("two threads left {seen:?}, of which none is 0 or 1"))
            .at(&litmus.name)
            .fix("see whether the kernel's threads find their places")),
    }
}
