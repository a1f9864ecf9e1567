//! Whether orders order: a few threads, a few places in memory, and what each thread may see of the others.
//!
//! Each test is a litmus test of [`litmus`]: what it may show is what the model allows, and its kernel is made of the
//! same instructions. Each has its mutants, which lack one of its orders. A mutant has to show on the machine what the test
//! may not; else the test could not see either whether the machine keeps the order.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::entry::Entry;
use super::room::Room;
use super::shapes::*;
use litmus::{
    Fence, Instruction, Memory, Model, Outcome, Program, Proxy, Register, Scope, Semantics, Term, Value, outcomes,
    parse,
};

/// Threads of a block.
pub(super) const THREADS: usize = 256;

/// Counts of outcomes, and of what is none.
pub(super) const COUNTS: usize = 258;
pub(super) const STRANGE: usize = 256;
pub(super) const APART: usize = 257;

/// How much of each test is run.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Launches.
    pub launches: u32,
    /// Rounds of each launch.
    pub rounds: u32,
    /// Blocks for each multiprocessor that test. One more for each makes stress. More than one empty each other's L1.
    pub blocks: u32,
}

/// On 132 multiprocessors more than a hundred million runs of each test.
pub const LAUNCHES: Amount = Amount { launches: 4, rounds: 4000, blocks: 1 };

/// A dry run, in which nothing need be seen.
pub const FEW: Amount = Amount { launches: 1, rounds: 2, blocks: 1 };

/// How a test's flag is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    /// As its instructions say.
    Memory,
    /// By arriving at an `mbarrier`, and testing it. What is loaded after it is loaded only if the phase is over: programs wait in
    /// a loop.
    Mbarrier {
        /// What is loaded after it is loaded in any case.
        at_once: bool,
    },
}

/// A test, and its mutants.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// Its kernel.
    pub name: String,
    /// What its threads do.
    pub program: Program,
    /// What is looked at in the end.
    pub observed: Vec<Term>,
    /// What the model allows of that.
    pub allowed: BTreeSet<Outcome>,
    /// The same with less order, each of which may show what the test may not.
    pub mutants: Vec<Mutant>,
    scope: Scope,
    flag: Flag,
}

/// A test that lacks some of its order.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its kernel.
    pub name: String,
    /// What it lacks.
    pub lacks: String,
    /// What its threads do.
    pub program: Program,
    /// What the model allows of it.
    pub allowed: BTreeSet<Outcome>,
}

static ALL: LazyLock<Vec<Litmus>> = LazyLock::new(|| {
    let all = |place, scopes: &[Scope], flag| -> Vec<Litmus> {
        let of_scope = |scope: &Scope| shapes(place).map(|shape| Litmus::new(&shape, *scope, flag)).collect::<Vec<_>>();
        scopes.iter().flat_map(of_scope).collect()
    };
    [
        all("every", &SCOPES, Flag::Memory),
        all("system", &[Scope::Sys], Flag::Memory),
        all("barrier", &[Scope::Cta, Scope::Cluster], Flag::Mbarrier { at_once: false }),
        all("at_once", &[Scope::Cta], Flag::Mbarrier { at_once: true }),
    ]
    .concat()
});

impl Litmus {
    /// All tests.
    pub fn all() -> Vec<Litmus> {
        ALL.clone()
    }

    fn new(shape: &Shape, scope: Scope, flag: Flag) -> Litmus {
        let Shape { name: word, threads, condition } = shape;
        let name = format!("litmus_{word}_{scope}");
        let program = parse(&text(&name, threads, condition, scope)).expect("the suite's tests are litmus tests");
        let terms = program.condition.test.terms();
        let observed: Vec<Term> = terms.into_iter().filter(|term| !matches!(term, Term::Constant(_))).collect();
        let allowed = ends(&program, &observed);
        let mut mutants: Vec<Mutant> = Vec::new();
        for (lacks, program) in weakened(&program) {
            let of_mutant = ends(&program, &observed);
            // What shows no more than the test does proves nothing.
            if !of_mutant.is_subset(&allowed) {
                mutants.push(Mutant {
                    name: format!("{name}_mutant_{}", mutants.len()),
                    lacks,
                    program,
                    allowed: of_mutant,
                });
            }
        }
        Litmus { name, program, observed, allowed, mutants, scope, flag }
    }

    /// Why a GPU shows what the model forbids, where that is known.
    pub fn known(&self) -> Option<&'static str> {
        (self.flag == Flag::Mbarrier { at_once: true }).then_some(NOT_WAITED_FOR)
    }

    /// What the model forbids, of the values that the test writes.
    pub fn forbidden(&self) -> BTreeSet<Outcome> {
        let all = |term: &Term| match term {
            Term::Memory(at) => self.written(*at),
            Term::Register(thread, register) => self.read(*thread, *register),
            Term::Constant(value) => BTreeSet::from([*value]),
        };
        let mut outcomes = vec![Vec::new()];
        for values in self.observed.iter().map(all) {
            let longer = |outcome: &Outcome| {
                values.iter().map(|value| [outcome.as_slice(), &[*value]].concat()).collect::<Vec<_>>()
            };
            outcomes = outcomes.iter().flat_map(longer).collect();
        }
        outcomes.into_iter().filter(|outcome| !self.allowed.contains(outcome)).collect()
    }

    /// The values that a location may hold.
    fn written(&self, physical: usize) -> BTreeSet<i64> {
        let code = self.program.threads.iter().flat_map(|thread| &thread.code);
        let values = code.filter_map(|instruction| match instruction {
            Instruction::Store(memory, Value::Constant(value)) => Some((memory, *value)),
            Instruction::Atomic(_, memory, _, values) => match values[..] {
                [Value::Constant(value)] => Some((memory, value)),
                _ => None,
            },
            _ => None,
        });
        let here = values.filter(|(memory, _)| self.program.addresses[memory.address].physical == physical);
        here.map(|(_, value)| value).chain([0]).collect()
    }

    fn read(&self, thread: usize, register: Register) -> BTreeSet<i64> {
        let load = self.program.threads[thread].code.iter().find_map(|instruction| match instruction {
            Instruction::Load(to, memory) | Instruction::Atomic(Some(to), memory, ..) if *to == register => {
                Some(memory)
            }
            _ => None,
        });
        load.map_or_else(BTreeSet::new, |memory| self.written(self.program.addresses[memory.address].physical))
    }

    fn is_async(&self) -> bool {
        let mut code = self.program.threads.iter().flat_map(|thread| &thread.code);
        code.any(|instruction| matches!(instruction, Instruction::Load(_, Memory { proxy: Proxy::Async, .. })))
    }

    /// Blocks of which each has threads of its own roles.
    pub(super) fn blocks(&self) -> usize {
        match self.scope {
            Scope::Cta => 1,
            Scope::Cluster => 2,
            Scope::Gpu | Scope::Sys => self.program.threads.len(),
        }
    }

    /// Into how many parts, by warps, a block's threads are divided.
    fn parts(&self) -> usize {
        self.program.threads.len().div_ceil(self.blocks()).next_power_of_two()
    }

    /// Tests that the threads of some blocks do side by side.
    pub(super) fn tests(&self) -> usize {
        THREADS / self.parts()
    }
}

/// The text of a test. Threads of the cluster's scope are in two blocks, of wider scopes each in its own.
fn text(name: &str, threads: &[Vec<&str>], condition: &str, scope: Scope) -> String {
    let place = |role: usize| match scope {
        Scope::Cta => format!("P{role}@cta 0,gpu 0"),
        Scope::Cluster => format!("P{role}@cta {},cluster 0,gpu 0", role % 2),
        Scope::Gpu | Scope::Sys => format!("P{role}@cta {role},gpu 0"),
    };
    let rows = threads.iter().map(|thread| thread.len()).max().unwrap_or_default();
    let row = |at: usize| {
        threads.iter().map(|thread| thread.get(at).copied().unwrap_or_default()).collect::<Vec<_>>().join(" | ")
    };
    let code: String = (0..rows).map(|at| format!("{} ;\n", row(at).replace(".S", &format!(".{scope}")))).collect();
    let places: Vec<String> = (0..threads.len()).map(place).collect();
    format!("PTX {name}\n{{ }}\n{} ;\n{code}exists ({condition})\n", places.join(" | "))
}

fn ends(program: &Program, observed: &[Term]) -> BTreeSet<Outcome> {
    outcomes(program, &Model::new(), observed, &Default::default()).expect("the suite's tests are small")
}

/// The test with one order less, in every way, and with none.
fn weakened(program: &Program) -> Vec<(String, Program)> {
    let is_fence = |instruction: &Instruction| matches!(instruction, Instruction::Fence(_));
    let code =
        || program.threads.iter().enumerate().flat_map(|(thread, of)| (0..of.code.len()).map(move |at| (thread, at)));
    let at = |(thread, at): (usize, usize)| &program.threads[thread].code[at];
    let ordered = |place: &(usize, usize)| is_fence(at(*place)) || semantics(at(*place)).is_some_and(has_order);
    let mut places: Vec<(usize, usize)> = code().filter(ordered).collect();
    if places.is_empty() {
        places = code()
            .filter(|place| semantics(at(*place)).is_some_and(|semantics| semantics != Semantics::Weak))
            .collect();
    }
    let one = |&(thread, at): &(usize, usize)| {
        (format!("the order of instruction {} of P{thread}", at + 1), without(program, &[(thread, at)]))
    };
    let mut mutants: Vec<(String, Program)> = places.iter().map(one).collect();
    if places.len() > 1 {
        mutants.push(("every order".into(), without(program, &places)));
    }
    mutants
}

fn semantics(instruction: &Instruction) -> Option<Semantics> {
    match instruction {
        Instruction::Load(_, memory) | Instruction::Store(memory, _) | Instruction::Atomic(_, memory, ..) => {
            Some(memory.semantics)
        }
        _ => None,
    }
}

fn has_order(semantics: Semantics) -> bool {
    matches!(semantics, Semantics::Acquire | Semantics::Release | Semantics::AcqRel)
}

/// Without these fences; with these accesses `.relaxed`, or weak if they were that.
fn without(program: &Program, places: &[(usize, usize)]) -> Program {
    let mut program = program.clone();
    for &(thread, at) in places {
        match &mut program.threads[thread].code[at] {
            Instruction::Load(_, memory) | Instruction::Store(memory, _) | Instruction::Atomic(_, memory, ..) => {
                if has_order(memory.semantics) {
                    memory.semantics = Semantics::Relaxed;
                } else {
                    (memory.semantics, memory.scope) = (Semantics::Weak, None);
                }
            }
            _ => {}
        }
    }
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let is_gone = |at: usize, instruction: &Instruction| {
            places.contains(&(number, at)) && matches!(instruction, Instruction::Fence(_))
        };
        let mut at = 0;
        thread.code.retain(|instruction| {
            at += 1;
            !is_gone(at - 1, instruction)
        });
    }
    program
}

impl Entry for Litmus {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> (u32, u32) {
        match (self.flag, self.is_async(), self.scope) {
            (Flag::Mbarrier { .. }, ..) => (90, 86),
            (_, true, _) => (90, 80),
            (.., Scope::Cluster) => (90, 78),
            _ => (70, 60),
        }
    }

    fn room(&self) -> Room {
        if self.scope == Scope::Cluster { Room::Cluster } else { Room::Global }
    }

    fn functions(&self) -> Vec<String> {
        self.mutants.iter().map(|mutant| mutant.name.clone()).chain([self.name.clone()]).collect()
    }

    /// A slot of shared memory for each thread: what is copied to it, and a barrier.
    fn shared(&self) -> usize {
        if self.is_async() || self.flag != Flag::Memory { THREADS * 32 } else { 0 }
    }

    fn common() -> &'static str {
        include_str!("litmus.rs.txt")
    }

    fn source(&self) -> String {
        let kernels =
            self.mutants.iter().map(|mutant| (&mutant.name, &mutant.program)).chain([(&self.name, &self.program)]);
        kernels.map(|(name, program)| self.kernel(name, program)).collect()
    }
}

impl Litmus {
    /// A kernel: which part each thread plays, and what it does in each round.
    ///
    /// A round has two halves, and a barrier of the block between them. In one half threads wait until the test's last round
    /// is over, and count: fences may empty L1. In the other half nothing empties it but the test itself. There a thread
    /// first loads all places weakly: L1 has their old values then, and an acquire that does not throw them out is seen. The
    /// threads of a test meet after that, dawdle, do what the test says, and leave what they saw.
    fn kernel(&self, name: &str, program: &Program) -> String {
        let (blocks, parts, tests) = (self.blocks(), self.parts(), self.tests());
        let (roles, places) = (program.threads.len(), program.initial.len());
        let declared: String =
            (0..places).map(|at| format!("let p{at} = part.place(test * {places} + {at}); ")).collect();
        let warm: Vec<String> = (0..places).map(|at| format!("ptx!(ld.global.u32 [p{at}.cast_const()])")).collect();
        let arms: String = (0..roles).map(|role| format!("{role} => {{ {} }}\n", self.part(program, role))).collect();
        let saw: Vec<String> = self.observed.iter().map(|term| self.seen(*term)).collect();
        let is_remote = self.flag != Flag::Memory && self.scope == Scope::Cluster;
        let all_there = if is_remote { "sync_cluster();" } else { "core::arch::nvptx::_syncthreads();" };
        let begin = if self.shared() > 0 {
            format!(
                "let own = shared().add(thread as usize * 32); mbarrier_init(SharedPtr::new(own.add(16).cast::<Mbarrier>()), 1); \
                 fence_proxy_async_shared_cta(); {all_there}"
            )
        } else {
            String::new()
        };
        // A barrier tells one phase from the next and not from the next but one. So whoever waits for it sees to it that the
        // phase is over, and takes no part any more if it is not.
        let settled = if self.flag != Flag::Memory {
            format!(
                "on = role == 0 || landed({BARRIER}, round); let saw = if met && on {{ saw }} else {{ APART << 3 | APART }};"
            )
        } else {
            String::new()
        };
        // No block ends while the other one may reach its memory.
        let end = if is_remote { "leave_cluster();" } else { "" };
        format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}(memory: *mut u32, control: *mut u32, counts: *mut u32, \
             scratch: *mut u32, groups: u32, last: u32, rounds: u32, seed: u32) {{ unsafe {{\n\
             let (thread, block) = (thread() as u32, block() as u32); let mut random = (seed ^ (block * {warps_of_block} + thread / 32) << 3).wrapping_mul(0x9e37_79b1) | 1; {begin}\n\
             let (group, role) = (block / {blocks}, block % {blocks} + {blocks} * (thread / 32 % {parts}));\n\
             if group >= groups {{ return stress(scratch, last, rounds, random ^ thread << 8); }}\n\
             let mut on = role < {roles};\n\
             let part = Part {{ memory, control, counts, role, index: thread / {warps} * 32 + thread % 32, among: {tests}, first: group * {tests}, last, rounds }};\n\
             for round in 1..=rounds {{\n\
             let test = part.test(round); let control = part.control(test); let base = round << 2; {declared}\n\
             on = on && is_over(control, 2 * (round - 1) * {roles});\n\
             core::arch::nvptx::_syncthreads();\n\
             if on {{\n\
             let warm = {warm}; let met = meet(control, (2 * round - 1) * {roles}, warm); dawdle(&mut random);\n\
             let saw: u32 = match role {{\n{arms}_ => 0 }}; {settled}\n\
             part.leave(control, round, saw); if on && role != 0 {{ done(control); }}\n\
             }}\n\
             core::arch::nvptx::_syncthreads();\n\
             if on && role == 0 {{ let all = part.have_left(control, round, {roles}); part.count(all, &[{saw}]); done(control); }}\n\
             }} {end} }} }}\n\n",
            warps_of_block = THREADS / 32,
            warps = 32 * parts,
            warm = warm.join(" | "),
            saw = saw.join(", "),
        )
    }

    /// What the thread of a role does, and what it saw: three bits for each register that is looked at.
    fn part(&self, program: &Program, role: usize) -> String {
        let code: String =
            program.threads[role].code.iter().map(|instruction| self.instruction(program, instruction)).collect();
        let registers = self.looked_at(role).into_iter().enumerate();
        let saw: Vec<String> =
            registers.map(|(at, register)| format!("part.decode({register}, round) << {}", 3 * at)).collect();
        format!("{code}{}", if saw.is_empty() { "0".into() } else { saw.join(" | ") })
    }

    /// The registers of a thread that are looked at.
    fn looked_at(&self, role: usize) -> Vec<Register> {
        let own = self.observed.iter().filter_map(|term| match term {
            Term::Register(thread, register) if *thread == role => Some(*register),
            _ => None,
        });
        own.collect()
    }

    fn seen(&self, term: Term) -> String {
        match term {
            Term::Register(role, register) => {
                let at = self.looked_at(role).iter().position(|own| *own == register).unwrap_or_default();
                format!("part.saw(control, round, {role}, {at})")
            }
            Term::Memory(at) => format!("part.decode(ptx!(ld.relaxed.sys.global.u32 [p{at}.cast_const()]), round)"),
            Term::Constant(value) => value.to_string(),
        }
    }

    /// An instruction in the crate's words. What is written says in which round.
    fn instruction(&self, program: &Program, instruction: &Instruction) -> String {
        let place = |memory: &Memory| format!("p{}", program.addresses[memory.address].physical);
        let words = |memory: &Memory| match (memory.semantics, memory.scope) {
            (Semantics::Weak, _) => String::new(),
            (semantics, None) => format!(".{semantics}"),
            (semantics, Some(scope)) => format!(".{semantics}.{scope}"),
        };
        let value = |value: &Value| match value {
            Value::Constant(0) => "0u32".to_owned(),
            Value::Constant(value) => format!("base + {value}u32"),
            Value::Register(register) => register.to_string(),
        };
        let order = |memory: &Memory, strong: &str| {
            let order = if memory.semantics == Semantics::Relaxed { "Relaxed" } else { strong };
            format!("{order}<{:?}>", self.scope)
        };
        match (instruction, self.flag) {
            (Instruction::Load(to, memory), Flag::Mbarrier { at_once: false })
                if memory.semantics == Semantics::Weak =>
            {
                let load = format!("ptx!(ld.global.u32 [{}.cast_const()])", place(memory));
                format!("let {to} = if r0 != 0 {{ {load} }} else {{ 0 }}; ")
            }
            (Instruction::Load(to, memory), Flag::Mbarrier { .. }) if memory.semantics != Semantics::Weak => {
                let order = order(memory, "Acquire");
                format!(
                    "let {to} = if mbarrier_test_wait_parity_as::<{order}>({BARRIER}, round - 1 & 1) \
                     {{ base + 1 }} else {{ 0 }}; "
                )
            }
            (Instruction::Atomic(None, memory, ..), Flag::Mbarrier { .. }) => {
                let barrier = if self.scope == Scope::Cluster { REMOTE } else { BARRIER };
                format!("mbarrier_arrive_as::<{}, _>({barrier}); ", order(memory, "Release"))
            }
            (Instruction::Load(to, memory), _) if memory.proxy == Proxy::Async => {
                format!("let {to} = copied({}, own, round); ", place(memory))
            }
            (Instruction::Load(to, memory), _) => {
                format!("let {to} = ptx!(ld{}.global.u32 [{}.cast_const()]); ", words(memory), place(memory))
            }
            (Instruction::Store(memory, stored), _) => {
                format!("ptx!(st{}.global.u32 [{}], {}); ", words(memory), place(memory), value(stored))
            }
            (Instruction::Atomic(to, memory, operation, values), _) => {
                let bits = if matches!(operation, litmus::Operation::Add) { "u32" } else { "b32" };
                let to = to.map_or_else(|| "_".to_owned(), |to| to.to_string());
                format!(
                    "let {to} = ptx!(atom{}.global.{operation}.{bits} [{}], {}); ",
                    words(memory),
                    place(memory),
                    value(&values[0])
                )
            }
            (Instruction::Fence(Fence::Proxy(Proxy::Async)), _) => "fence_proxy_async(); ".into(),
            (Instruction::Fence(Fence::Memory(semantics, scope)), _) => {
                let scope = format!("{scope:?}");
                format!("fence_{semantics}::<{scope}>(); ")
            }
            (other, _) => unreachable!("no test of the suite has {other:?}"),
        }
    }
}

/// Of a load right after `mbarrier.test_wait`, which does not depend on its result.
const NOT_WAITED_FOR: &str =
    "ptxas (13.0 to 13.5) issues a load behind SYNCS.PHASECHK before that has its result; one under a branch waits";

/// The barrier of a test, in the block of the thread that waits for it.
const BARRIER: &str = "SharedPtr::new(shared().add((test - part.first) as usize * 32 + 16).cast::<Mbarrier>())";

/// The same, from the other block.
const REMOTE: &str =
    "SharedClusterPtr::new(of_rank(shared().add((test - part.first) as usize * 32 + 16), 1).cast::<Mbarrier>())";
