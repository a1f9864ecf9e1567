//! Which kernels there are, which forms each holds, and where their bytes lie.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use ptx_intrinsics::catalogue::{Form, IMPORTS, Operation};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::entry::Entry;
use super::room::{PARAMETER, Room, SLOT, THREADS};
use super::trial::{self, NoCheck};
use super::{asynchronous, policy};
use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::forms_check::by_instruction;
use host_tests::check::sass::on_gpu;
use ptx_build::target::Sm;

/// Trials of a kernel at most: of 32 slots of 32 bytes each, in shared memory.
pub(super) const TRIALS: usize = 32;

/// What tells a form from all others: its Rust, its PTX, and its parameters, which alone may say what it copies, or where
/// its barrier is.
pub type Key<'f> = (&'f str, &'f str, &'f str);

/// A form's key.
pub fn key(form: &Form) -> Key<'_> {
    (form.rust(), form.ptx(), form.signature().map_or("", |signature| signature.parameters))
}

/// The targets of which a form needs one.
type Named = &'static [&'static str];

/// A kernel: some trials one after the other, all in the same room and for the same GPUs.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its addresses lie.
    pub room: Room,
    /// The oldest SM and PTX ISA version that have its forms.
    pub needs: (u32, u32),
    /// Its trials.
    pub trials: Vec<Case>,
}

/// All kernels, and what cannot be tried.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Forms that no check is written for.
    pub unchecked: Vec<NoCheck>,
}

impl Plan {
    /// The kernels of these forms: each as it is, with each choice of lanes, and, where it takes one, under a predicate,
    /// with a null address where that does not hold.
    pub fn new(forms: &[Arc<Form>]) -> Plan {
        let wanted = |case: &Case| matches!(case.syntax, Syntax::Plain | Syntax::Lanes(_) | Syntax::Guarded);
        let mut rooms: BTreeMap<(u32, u32, Named, Room, bool), Vec<Case>> = BTreeMap::new();
        let mut plan = Plan::default();
        for case in forms::cases(forms).into_iter().filter(wanted) {
            match trial::room_of(&case.form) {
                Ok(room) => {
                    let (sm, ptx) = case.needs();
                    let is_store = case.form.operation() == Operation::Store;
                    rooms.entry((sm, ptx, case.form.targets(), room, is_store)).or_default().push(case);
                }
                Err(no_check) => plan.unchecked.push(no_check),
            }
        }
        for ((sm, ptx, _, room, _), cases) in rooms {
            for trials in cases.chunks(trials_of(room)) {
                let name = format!("{}_{}", room.word(), plan.kernels.len());
                plan.kernels.push(Kernel { name, room, needs: (sm, ptx), trials: trials.to_vec() });
            }
        }
        plan
    }
}

/// So many forms of each instruction, drawn by the seed, in the catalogue's order, and one of each type that a load, a store or an atomic
/// moves; of those that move no value, all. 256-bit types have 254 choices of lanes each: those of one instruction are enough for a slice.
pub fn slice(forms: &[Arc<Form>], of_each: usize, seed: u64) -> Vec<Arc<Form>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut drawn = Vec::new();
    for (name, own) in by_instruction(forms) {
        let of_each = if own.iter().all(moves_values) { of_each } else { own.len() };
        let drawn_here = own.sample(&mut random, of_each).filter(|form| form.bytes() < 32 || name == "ld.global.nc");
        drawn.extend(drawn_here.cloned());
    }
    let mut of_types: BTreeMap<_, Vec<&Arc<Form>>> = BTreeMap::new();
    for form in forms.iter().filter(|form| moves_values(form) && form.bytes() < 32) {
        let (operation, ty) = (form.ptx().split('.').next(), form.element().or(form.ptx().rsplit('.').next()));
        of_types.entry((operation, ty)).or_default().push(form);
    }
    drawn.extend(of_types.into_values().filter_map(|own| own.choose(&mut random).copied().cloned()));
    let wanted: HashSet<Key> = drawn.iter().map(|form: &Arc<Form>| key(form)).collect();
    forms.iter().filter(|form| wanted.contains(&key(form))).cloned().collect()
}

fn moves_values(form: &Arc<Form>) -> bool {
    form.signature().is_none() || form.is_atomic() || form.is_multimem()
}

/// A thread's slot in the other block's memory, which is laid out as this one's: that block's own half of a trial.
fn of_neighbour(slot: usize) -> String {
    format!("of_rank(shared(), 1 - rank as u32).add(thread * {slot} + (1 - rank) * {})", THREADS * slot)
}

/// Lines are longer than slots, and two blocks have twice as many. Of a parameter no two trials read the same bytes: the
/// assembler would make one load of both.
fn trials_of(room: Room) -> usize {
    let wanted = if room.has_parameter() { PARAMETER / THREADS / SLOT } else { TRIALS };
    (wanted * SLOT / room.slot() / room.blocks()).max(1)
}

/// What a thread has to leave of a trial.
type Expect = fn(&Case, usize, usize, &[u8], &[u8], &mut [u8]);

impl Kernel {
    /// Bytes of one of its buffers.
    pub fn bytes(&self) -> usize {
        self.trials.len() * self.trial_bytes()
    }

    /// Bytes of one trial.
    fn trial_bytes(&self) -> usize {
        self.room.blocks() * THREADS * self.room.slot()
    }

    fn write_body(&self, source: &mut String) {
        let (slot, bytes, is_store) = (self.room.slot(), self.trial_bytes(), self.is_store());
        let (count, name) = (self.trials.len(), &self.name);
        let mut line = |text: String| writeln!(source, "{text}").expect("a string takes all");
        line("let thread = thread();".into());
        line(format!("let at = thread * {slot};"));
        let in_all = match self.room {
            Room::Cluster | Room::ClusterLines | Room::TensorCluster | Room::TensorWideCluster => {
                format!("let rank = rank() as usize; let at = at + rank * {};", THREADS * slot)
            }
            _ => String::new(),
        };
        line(format!("{in_all} let (from, other, to) = (from.add(at), other.add(at), to.add(at));"));
        match (self.room, is_store) {
            (Room::Shared, false) => line(format!("let room = shared().add(at); fill({count}, {bytes}, from, room);")),
            (Room::Shared, true) | (Room::SharedLines | Room::TensorShared | Room::TensorWide, _) => {
                line("let room = shared().add(at);".into())
            }
            // What is sent there is set up by the trial.
            (Room::ClusterLines | Room::TensorCluster | Room::TensorWideCluster, _) => {
                line(format!("let room = {};", of_neighbour(slot)))
            }
            // The other block's room is laid out as this one's: its own half of a trial.
            (Room::Cluster, _) => {
                let filled = if is_store { "to.cast_const()" } else { "from" };
                line(format!("let own = shared().add(at); fill({count}, {bytes}, {filled}, own);"));
                line(format!("let room = {};", of_neighbour(slot)));
                line("sync_cluster();".into());
            }
            (Room::Const, _) => line("let room = constants().add(at).cast_mut();".into()),
            (Room::Entry, _) => line(format!("let room = parameter!(\"{name}_param_0\").add(at);")),
            (Room::EntryTensorMap, _) => line(format!("let room = parameter!(\"{name}_param_0\");")),
            (Room::ConstTensorMap, _) => line("let room = tensor_map().cast_mut();".into()),
            _ => {}
        }
        for number in 0..count {
            let offset = number * bytes;
            let slots = format!("let (from, other, to) = (from.add({offset}), other.add({offset}), to.add({offset}));");
            let address = match self.room {
                Room::Func => {
                    line(format!("{{ {slots} {name}_{number}(get::<Slot>(from), thread, from, other, to); }}"));
                    continue;
                }
                Room::Global | Room::Multimem | Room::Mapped | Room::Lines | Room::TensorMap if is_store => "let p = to;".into(),
                Room::Global | Room::Multimem | Room::Mapped | Room::Lines | Room::TensorMap => "let p = from.cast_mut();".into(),
                Room::Local => "let mut local = Slot([0; 4]); let room = (&raw mut local).cast::<u8>(); copy(from, room); let p = room;".into(),
                Room::Shared | Room::SharedLines | Room::Cluster | Room::ClusterLines | Room::TensorShared | Room::TensorCluster | Room::TensorWide | Room::TensorWideCluster | Room::Const => format!("let room = room.add({offset}); let p = room;"),
                Room::Entry => format!("let p = room.add({});", offset % PARAMETER),
                Room::EntryTensorMap | Room::ConstTensorMap => "let p = room;".into(),
            };
            line(format!("{{ {slots} {address} {name}_{number}(p, thread, from, other, to); }}"));
        }
        if self.room.is_of_cluster() {
            // No block ends while the other one may reach its memory.
            line("sync_cluster();".into());
            if is_store && self.room == Room::Cluster {
                line(format!("fill({count}, {bytes}, own, to);"));
            }
        }
    }

    fn trial_body(&self, case: &Case, number: usize) -> String {
        let body = trial::body(case, self.room, number);
        if self.room.slot() == SLOT { body } else { body.replace("copy(", "copy_line(") }
    }

    /// A function for each: the compiler's time grows faster than a function.
    fn write_trial(&self, source: &mut String, number: usize, case: &Case) {
        let name = format!("{}_{number}", self.name);
        let policy = if case.rust().contains("policy") { "let policy = POLICY; " } else { "" };
        let body = policy.to_owned() + &self.trial_body(case, number);
        let rest = format!("thread: usize, from: *const u8, other: *const u8, to: *mut u8) {{ unsafe {{ {body} }} }}");
        let function = if self.room == Room::Func {
            let address = format!("keep(_slot); let p = function_parameter!(\"{name}_param_0\");");
            format!("#[unsafe(no_mangle)]\n#[inline(never)]\npub unsafe extern \"C\" fn {name}(_slot: Slot, {rest}")
                .replacen("unsafe { ", &format!("unsafe {{ {address} "), 1)
        } else {
            format!("#[inline(always)]\nunsafe fn {name}(p: *mut u8, {rest}")
        };
        writeln!(source, "{function}\n").expect("a string takes all");
    }

    fn is_store(&self) -> bool {
        self.trials[0].form.operation() == Operation::Store
    }

    /// Where a thread's slot of a trial begins in the kernel's part of a buffer.
    fn slot_at(&self, trial: usize, block: usize, thread: usize) -> usize {
        ((trial * self.room.blocks() + block) * THREADS + thread) * self.room.slot()
    }

    /// Where the bytes come from that end in this slot.
    fn source_at(&self, trial: usize, block: usize, thread: usize) -> usize {
        let thread = if trial::is_uniform(&self.trials[trial].form) { 0 } else { thread };
        match self.room {
            room if room.is_of_cluster() => self.slot_at(trial, 1 - block, thread),
            Room::Entry => self.slot_at(trial, block, thread) % PARAMETER,
            _ => self.slot_at(trial, block, thread),
        }
    }

    /// What a trial has to leave in the kernel's part of the output, which holds poison.
    pub fn expect(&self, trial: usize, from: &[u8], other: &[u8], to: &mut [u8]) {
        self.expect_as(trial::expected, trial, [from, other], to);
    }

    /// What a trial leaves, in the same place, on a GPU that does something else; and why, if that is known.
    pub(super) fn expect_if_known(&self, trial: usize, read: [&[u8]; 2], to: &mut [u8]) -> Option<&'static str> {
        let why = trial::known(&self.trials[trial])?;
        self.expect_as(trial::expected_if_known, trial, read, to);
        Some(why)
    }

    fn expect_as(&self, expected: Expect, trial: usize, [from, other]: [&[u8]; 2], to: &mut [u8]) {
        let slot = self.room.slot();
        for (block, thread) in (0..self.room.blocks()).flat_map(|block| (0..THREADS).map(move |thread| (block, thread)))
        {
            let (at, source) = (self.slot_at(trial, block, thread), self.source_at(trial, block, thread));
            let (read, or) = (&from[source..source + slot], &other[at..at + slot]);
            expected(&self.trials[trial], trial, thread, read, or, &mut to[at..at + slot]);
        }
    }

    /// The bytes of a trial.
    pub fn range(&self, trial: usize) -> std::ops::Range<usize> {
        trial * self.trial_bytes()..(trial + 1) * self.trial_bytes()
    }
}

impl Entry for Kernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> (u32, u32) {
        self.needs
    }

    /// Its forms name the same targets.
    fn target(&self, gpu: Sm) -> Option<Sm> {
        on_gpu(&self.trials[0].form, gpu)
    }

    fn room(&self) -> Room {
        self.room
    }

    fn shared(&self) -> usize {
        use Room::{Shared, SharedLines, TensorShared, TensorWide};
        let is_shared = matches!(self.room, Shared | SharedLines | TensorShared | TensorWide);
        if is_shared || self.room.is_of_cluster() { self.bytes() } else { 0 }
    }

    fn source(&self) -> String {
        let mut source = String::new();
        for (number, case) in self.trials.iter().enumerate() {
            self.write_trial(&mut source, number, case);
        }
        let first = if self.room.has_parameter() { "_parameter: Parameter, " } else { "" };
        let name = &self.name;
        writeln!(
            source,
            "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}({first}from: *const u8, other: *const u8, to: *mut u8) {{ unsafe {{"
        )
        .expect("a string takes all");
        self.write_body(&mut source);
        source + "} }\n\n"
    }

    fn functions(&self) -> Vec<String> {
        let callees = if self.room == Room::Func { self.trials.len() } else { 0 };
        (0..callees).map(|number| format!("{}_{number}", self.name)).chain([self.name.clone()]).collect()
    }
}

/// What the crate of some kernels begins with.
pub(super) fn prelude() -> String {
    let numbers = [
        ("$PROPERTY", policy::PROPERTY.bits()),
        ("$ADDRESS", policy::ADDRESS),
        ("$PARAMETER", PARAMETER as u64),
        ("$MASK", asynchronous::MASK.into()),
        ("$HALF", asynchronous::HALF as u64),
    ];
    let text = PRELUDE.replace("$IMPORTS", IMPORTS);
    let text = numbers.into_iter().fold(text, |text, (name, number)| text.replace(name, &number.to_string()));
    text + SIZES
}

const PRELUDE: &str = include_str!("prelude.rs.txt");
const SIZES: &str = include_str!("sizes.rs");
