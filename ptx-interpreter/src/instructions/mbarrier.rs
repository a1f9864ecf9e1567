//! `mbarrier`: barriers are those that the crate has on a CPU. What is sent to another block arrives there later.

use std::ops::RangeInclusive;

use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::machine::group::{Group, Thread};
use crate::machine::stop::{Result, Why, missing, stop, wrong};
use crate::machine::{Machine, Step};
use crate::memory::aligned;
use crate::ptx::access::{Arrival, Scope};
use crate::ptx::operand::{Operand, Space};

struct Barrier {
    kind: String,
    modifier: String,
    /// `.noComplete`, `.relaxed` and the scope, wherever they stand.
    arrival: Arrival,
    space: Option<Space>,
    operands: Vec<Operand>,
}

const KINDS: [&str; 9] =
    ["init", "inval", "expect_tx", "complete_tx", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count"];

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let kind = *words.get(1).filter(|kind| KINDS.contains(kind))?;
    let layout = words.iter().find(|word| word.starts_with("layout::"));
    let modifier = *layout.or(words.get(2))?;
    let space = words.iter().filter(|word| word.starts_with("shared")).find_map(|word| Space::parse(word));
    let arrival = Arrival { releases: !words.contains(&"relaxed"), scope: Scope::of(words).unwrap_or(Scope::Block) };
    Some(Box::new(Barrier { kind: kind.into(), modifier: modifier.into(), arrival, space, operands }))
}

impl Step for Barrier {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        group.threads().try_for_each(|thread| self.one(machine, thread).map_err(|stop| stop.by(thread.lane)))
    }
}

impl Barrier {
    fn one<'a>(&'a self, machine: &mut Machine<'a>, thread: Thread) -> Result<()> {
        let first = usize::from(!matches!(self.kind.as_str(), "init" | "inval" | "expect_tx" | "complete_tx"));
        if self.kind == "pending_count" {
            let state = state(machine.number(thread, &self.operands, 1)?);
            // SAFETY: it makes a number of a number.
            return machine.set(thread, &self.operands[0], unsafe { mbarrier_pending_count(state) }.into());
        }
        let operand = self.operands.get(first).ok_or_else(missing)?;
        let place = machine.address(thread, self.space.unwrap_or(Space::Generic), operand)?;
        let second = self.operands.get(first + 1).map(|_| machine.number(thread, &self.operands, first + 1));
        let value = second.transpose()?;
        let number = value.unwrap_or(1) as u32;
        aligned(place, 8)?;
        let counts = if self.modifier == "layout::v1" { COUNTS_V1 } else { COUNTS };
        if self.kind == "init" && !counts.contains(&number) {
            let (least, most) = (counts.start(), counts.end());
            return Err(wrong(format!("a phase of a barrier is of {least} to {most} threads, and not of {number}")));
        }
        match (self.kind.as_str(), self.modifier.as_str()) {
            ("expect_tx", _) | (_, "expect_tx") => machine.watch_bytes(thread, place, number.into()),
            ("complete_tx", _) => machine.watch_bytes(thread, place, -i64::from(number)),
            _ => {}
        }
        if self.space == Some(Space::Cluster) {
            machine.watch_mbarrier(thread, place, &self.kind, self.arrival)?;
            // It is sent there, and nothing comes back.
            machine.send(Box::new(move |machine| {
                // The checks tell if it is another block that nothing keeps from ending.
                if machine.has_ended(place) {
                    return Ok(());
                }
                let takes = self.takes(number);
                let what = |bar| barrier_does(bar, &self.kind, &self.modifier, number, value);
                on_barrier(machine, place, takes, what)?.map(drop)
            }));
            return Ok(());
        }
        if !self.kind.ends_with("_wait") {
            machine.watch_mbarrier(thread, place, &self.kind, self.arrival)?;
        } else if self.modifier != "parity" && value.is_some_and(|state| !is_state(state)) {
            machine.watch_no_state(thread, place, number);
        }
        let what = |bar| barrier_does(bar, &self.kind, &self.modifier, number, value);
        let result = on_barrier(machine, place, self.takes(number), what)??;
        if self.kind.ends_with("_wait") {
            machine.gives_way |= result == 0;
            if result == 1 && self.arrival.releases {
                machine.acquired(thread.warp, self.arrival.scope);
            }
            machine.watch_mbarrier_wait(
                thread,
                place,
                self.arrival,
                result == 1,
                (self.modifier == "parity").then_some(number),
            )?;
        }
        if first == 1 { machine.set(thread, &self.operands[0], result.into()) } else { Ok(()) }
    }

    /// What it takes of the phase.
    fn takes(&self, number: u32) -> Takes {
        let (arrivals, bytes) = match (self.kind.as_str(), self.modifier.as_str()) {
            ("arrive" | "arrive_drop", "expect_tx") => (1, number.into()),
            ("arrive" | "arrive_drop", _) => (number, 0),
            ("expect_tx", _) => (0, number.into()),
            ("complete_tx", _) => (0, -i64::from(number)),
            _ => (0, 0),
        };
        Takes { arrivals, drops: self.kind == "arrive_drop", bytes }
    }
}

/// What a barrier counts: arrivals of a phase, and bytes, of which a phase may also lack less than none.
const COUNTS: RangeInclusive<u32> = 1..=(1 << 20) - 1;
const COUNTS_V1: RangeInclusive<u32> = 1..=511;

/// What is taken of a barrier's phase: arrivals, which may be those of every later phase too, and bytes that it lacks then.
#[derive(Clone, Copy, Default)]
pub(crate) struct Takes {
    arrivals: u32,
    drops: bool,
    bytes: i64,
}

impl Takes {
    /// One arrival.
    pub(crate) const ARRIVAL: Takes = Takes { arrivals: 1, drops: false, bytes: 0 };

    /// Bytes that have come.
    pub(crate) fn come(bytes: usize) -> Takes {
        Takes { bytes: -(bytes as i64), ..Takes::default() }
    }

    /// A phase has to have it.
    fn from(self, word: u64) -> Result<()> {
        let Takes { arrivals, drops, bytes } = self;
        let field = |at: u32| (word >> at) as u32 & COUNTS.end();
        let (lacks, expects) = (field(0), field(20));
        if arrivals > lacks {
            return Err(wrong(format!("{arrivals} arrivals are more than the phase of the barrier expects: {lacks}")));
        }
        if drops && arrivals > expects {
            return Err(wrong(format!(
                "{arrivals} arrivals are more than the next phase of the barrier expects: {expects}"
            )));
        }
        // 21 bits, of which the highest is the sign.
        let lacked = (word << 3) as i64 >> 43;
        if (lacked + bytes).unsigned_abs() > u64::from(*COUNTS.end()) {
            let most = COUNTS.end();
            return Err(wrong(format!(
                "the phase of the barrier lacks {lacked} bytes and then {}: at most {most} are possible",
                lacked + bytes
            )));
        }
        Ok(())
    }
}

/// Lets the crate's barrier do something to the word at that address.
pub(crate) fn on_barrier<R>(
    machine: &mut Machine<'_>,
    place: u64,
    takes: Takes,
    then: impl FnOnce(SharedPtr<Mbarrier>) -> R,
) -> Result<R> {
    aligned(place, 8)?;
    let old = machine.read_number(place, 8)?;
    let mut word = old;
    let bar = SharedPtr::new((&raw mut word).cast());
    // The crate panics where a GPU's barrier would be in no known state.
    takes.from(old)?;
    let result = then(bar);
    if word != old {
        machine.write_number(place, 8, word)?;
        machine.watch_phase(place, old, word);
    }
    Ok(result)
}

/// What an instruction does to a barrier, and gives.
fn barrier_does(bar: SharedPtr<Mbarrier>, kind: &str, modifier: &str, number: u32, value: Option<u64>) -> Result<u64> {
    // SAFETY: the barrier is a word of the interpreter's own; a state is its bits.
    unsafe {
        match (kind, modifier) {
            ("init", _) => mbarrier_init(bar, number),
            ("inval", _) => mbarrier_inval(bar),
            ("expect_tx", _) => mbarrier_expect_tx(bar, number),
            ("complete_tx", _) => mbarrier_complete_tx(bar, number),
            ("test_wait" | "try_wait", "parity") => return Ok(mbarrier_test_wait_parity(bar, number).into()),
            ("test_wait" | "try_wait", _) => {
                return Ok(mbarrier_test_wait(bar, state(value.unwrap_or_default())).into());
            }
            _ => {
                let state = match (kind, modifier) {
                    ("arrive", "expect_tx") => mbarrier_arrive_expect_tx(bar, number),
                    ("arrive", "noComplete") => mbarrier_arrive_no_complete(bar, number),
                    ("arrive", _) => mbarrier_arrive_count(bar, number),
                    ("arrive_drop", "expect_tx") => mbarrier_arrive_drop_expect_tx(bar, number),
                    ("arrive_drop", "noComplete") => mbarrier_arrive_drop_no_complete(bar, number),
                    ("arrive_drop", _) => mbarrier_arrive_drop_count(bar, number),
                    _ => return stop(Why::Gap, format!("mbarrier.{kind}.{modifier}")),
                };
                return Ok(std::mem::transmute::<MbarrierState, u64>(state));
            }
        }
    }
    Ok(0)
}

/// Whether an arrival may have given it: its phase expects arrivals.
fn is_state(bits: u64) -> bool {
    (bits >> 20) as u32 & COUNTS.end() != 0
}

fn state(bits: u64) -> MbarrierState {
    // SAFETY: a state is its bits.
    unsafe { std::mem::transmute(bits) }
}
