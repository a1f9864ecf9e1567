//! Threads that wait for what never happens.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::check::Actor;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{Lanes, each, lanes_of, lanes_where};
use crate::machine::launch::Delays;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Action, Code, Frame, Machine, Warp};
use crate::memory::spaces::{Owner, owner};
use crate::ptx::site::Site;

/// Rounds without progress after which somebody looks whether threads go around in circles.
const PATIENCE: u64 = 32;
/// The same where loads are performed late: all that were executed before have been performed then.
const PATIENCE_WITH_DELAYS: u64 = 256;
/// Looks of a warp at memory that does not change, after which it is taken to wait.
const POLLS: u64 = 1 << 16;
/// Waits that a message tells.
const TOLD: usize = 8;
/// What is said of a thread that looks at memory again and again, and of blocks that it may wait for.
const AROUND: &str = "goes around in a loop";
const ON_THE_SPOT: &str = "turns in a loop that reads nothing";
const NO_ROOM: &str = "the GPU has no room for block";

/// What is said of a phase in which nobody has arrived: of a first one, and of others.
const FIRST: &str = "nobody has arrived in its first phase";
const OVER: &str = "nobody has arrived in this one, and a wait for the one before has parity";

/// What to do about threads that wait, by what is said of the first of them.
fn advice(wait: &str, has_copied_arrivals: bool) -> &'static str {
    let advice = [
        ("bytes too many", "let `mbarrier.expect_tx` have the sum of the bytes of all copies of the phase"),
        ("lacks 0 arrivals", "begin the copies that bring these bytes, or let `mbarrier.expect_tx` have fewer of them"),
        ("nobody has initialised", "initialise it in one thread, then a barrier of the block before others use it"),
        (
            FIRST,
            "let as many threads arrive in each phase as `mbarrier.init` counts. Of a new barrier, a wait for parity 0 waits for the end of its \
             first phase, and one for parity 1 returns at once: who need not wait in the first turn (who fills empty stages) begins with 1",
        ),
        (
            OVER,
            "let as many threads arrive in each phase as `mbarrier.init` counts, and wait for the parity of the phase that is meant: 0 of the \
             first one, 1 of the second one, and so on. A wait for the phase that is over returns at once",
        ),
        (
            "of the barrier at",
            match has_copied_arrivals {
                true => {
                    "let as many threads arrive in each phase as `mbarrier.init` counts (`cp.async.mbarrier.arrive` without `.noinc` does \
                         not count: it adds one that the phase waits for), and wait for the parity of the phase that comes next"
                }
                false => {
                    "let as many threads arrive in each phase as `mbarrier.init` counts, and wait for the parity of the phase that comes \
                          next: it changes with each phase"
                }
            },
        ),
        ("of its warp", "let all threads of the warp execute it, or name in its mask only those that do"),
        ("waits at barrier", "let each thread that the barrier counts execute it, as often as the others"),
        (
            "for registers",
            "let `setmaxnreg.inc` take no more in all than `setmaxnreg.dec` gives back, or let the kernel begin with more: fewer blocks \
             on an SM (the second number of `__launch_bounds__`), or another `.maxnreg`",
        ),
        ("for its cluster", "let all threads of the cluster arrive, and wait, as often as the others"),
        (
            ON_THE_SPOT,
            "read what it waits for anew in each turn, by an atomic, `volatile` or `ld.acquire`: of a plain load the compiler makes one, before the \
             loop",
        ),
        ("goes around", "let another thread change what the loop reads, and do not make that one wait for this"),
    ];
    let found = advice.iter().find(|(words, _)| wait.contains(words)).map(|(_, advice)| *advice);
    found.unwrap_or("see what each thread waits for, and who should have come")
}

/// Where threads were since anything last changed.
#[derive(Default)]
pub(crate) struct Circles {
    progress: u64,
    since: u64,
    /// The round in which somebody looks again.
    next: u64,
    /// Of each thread the states in which it was, and the last of them.
    seen: HashMap<(usize, usize), (HashSet<u64>, u64)>,
    /// Threads that have been twice in the same state.
    circling: HashSet<(usize, usize)>,
}

impl Machine<'_> {
    /// Whether every thread waits or goes around in a circle: it has been at the same instruction with the same registers, and
    /// memory has not changed in between.
    pub(crate) fn circles(&mut self, circles: &mut Circles, live: &[usize]) -> bool {
        let pending = !self.copies.is_empty() || !self.sent.is_empty() || self.may_begin(live.len());
        if self.progress != circles.progress || pending {
            *circles = Circles { progress: self.progress, since: self.round, ..Circles::default() };
            return false;
        }
        let patience = if self.launch.delays == Delays::None { PATIENCE } else { PATIENCE_WITH_DELAYS };
        if self.round < circles.since + patience || self.round < circles.next {
            return false;
        }
        // A kernel that computes for long is looked at less and less often.
        circles.next = self.round + (self.round - circles.since) / PATIENCE;
        let mut all = true;
        for number in live {
            let Some(warp) = self.warps[*number].as_ref() else { continue };
            let states = states(warp);
            for lane in lanes_of(warp.running) {
                let key = (*number, lane);
                if circles.circling.contains(&key) || stays(warp, lane) {
                    continue;
                }
                let (seen, last) = circles.seen.entry(key).or_default();
                let state = states[lane];
                // A thread that had no turn is where it was.
                if seen.insert(state) || *last == state {
                    all = false;
                } else {
                    circles.circling.insert(key);
                }
                *last = state;
            }
        }
        all || live.iter().all(|number| self.polls_in_vain(*number))
    }

    /// Whether a warp waits, or has looked very often at memory that nothing changes. A loop that counts its turns or reads a clock is
    /// never twice in the same state.
    fn polls_in_vain(&self, number: usize) -> bool {
        let warp = self.warps[number].as_ref();
        warp.is_none_or(|warp| warp.running == 0 || warp.polls.progress == self.progress && warp.polls.count > POLLS)
    }

    /// What to do about the threads that wait.
    pub(crate) fn advice(&self) -> &'static str {
        if self.stuck_at.iter().any(|(_, _, wait)| wait.contains(NO_ROOM)) {
            return "let no block wait for one that may begin after it has ended: launch no more blocks than run at one time, which \
                    cudaLaunchCooperativeKernel asks for, or let each block take its part of the work from an atomic counter";
        }
        advice(self.stuck_at.first().map_or("", |(_, _, wait)| wait), self.has_copied_arrivals())
    }

    fn has_copied_arrivals(&self) -> bool {
        let is_other = |name: &str| {
            name != self.launch.kernel && self.program.functions.get(name).is_some_and(|code| code.is_entry)
        };
        let arrives = |site: &Site| site.text.contains("cp.async.mbarrier.arrive") && !is_other(&site.function);
        self.program.sites.iter().any(arrives)
    }

    /// Every thread waits.
    pub(crate) fn stuck(&mut self, live: &[usize]) -> Result<()> {
        let mut told: Vec<(Actor, u32, String)> = Vec::new();
        let mut counts: HashMap<(u32, usize), usize> = HashMap::new();
        for number in live {
            for (thread, site, what) in self.waits_of(*number) {
                self.spins |= what.contains(AROUND);
                let actor = Actor { block: self.block_of(thread) as u32, number: self.number_of(thread) };
                let count = counts.entry((site, actor.block as usize)).or_default();
                *count += 1;
                if *count == 1 && told.len() < TOLD {
                    told.push((actor, site, what));
                }
            }
        }
        for (actor, site, what) in &mut told {
            let count = counts[&(*site, actor.block as usize)];
            *what = format!("{what} ({count} threads of the block)");
        }
        // The others mostly wait for those that wait for registers.
        told.sort_by_key(|(_, _, what)| !what.starts_with("waits for registers"));
        let (actor, site, _) = told.first().cloned().unwrap_or((Actor { block: 0, number: 0 }, 0, String::new()));
        let line = &self.program.sites[site as usize].text;
        let mut text = format!("every thread waits; thread {} of block {} at {line}", actor.number, actor.block);
        let mut spinning = told.iter_mut().filter(|(_, _, what)| what.contains(AROUND));
        if let Some((_, _, what)) = spinning.next().filter(|_| self.next_cluster < self.clusters.end()) {
            let begun = self.next_cluster * self.cluster;
            let rest = format!("; {NO_ROOM} {begun} and those after it before others end");
            what.push_str(&rest);
            text.push_str(&rest);
        }
        self.stuck_at = told;
        self.tell_unbalanced(live);
        stop(Why::Endless, text)
    }

    /// Barriers whose phase lacks nothing but bytes, or has too many.
    fn tell_unbalanced(&mut self, live: &[usize]) {
        let warps = live.iter().map(|number| (*number, self.warp(*number).running));
        let threads = warps.flat_map(|(warp, mask)| Group { warp, frame: 0, mask }.threads());
        let bars = threads.filter_map(|thread| self.phase_of(thread).map(|(bar, ..)| *bar));
        let bars: BTreeSet<u64> = bars.filter(|bar| matches!(self.lacks(*bar), Some((0, _)))).collect();
        self.tell(|checks, _| bars.iter().for_each(|bar| checks.unbalanced(*bar, 8, "the phase never ends")));
    }

    /// The word of a barrier in shared memory.
    fn word_of(&self, bar: u64) -> Option<u64> {
        let (Owner::Shared(block), at) = owner(bar, self.cluster) else { return None };
        let bytes = self.blocks[block].as_ref()?.shared.get(at as usize..at as usize + 8)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Arrivals and bytes that the phase of a barrier lacks.
    fn lacks(&self, bar: u64) -> Option<(u64, i64)> {
        let word = self.word_of(bar)?;
        // 21 bits, of which the highest is the sign.
        Some((word & 0xf_ffff, ((word >> 40 & 0x1f_ffff) << 43) as i64 >> 43))
    }

    /// What the threads of a warp wait for.
    fn waits_of(&self, number: usize) -> Vec<(Thread, u32, String)> {
        let warp = self.warp(number);
        let threads = Group { warp: number, frame: 0, mask: warp.live }.threads();
        threads
            .map(|thread| {
                let (frame, next) = warp.at[thread.lane];
                let Frame { code: Code { lines, .. }, sites, .. } = &warp.frames[frame as usize];
                let spins = warp.running >> thread.lane & 1 == 1;
                let place = (next as usize).saturating_sub(usize::from(!spins)).min(lines.len() - 1);
                let site = sites + lines[place].site;
                let what = self.wait_of(thread, site);
                // A loop may stand anywhere between two looks at its barrier or flag.
                let is_look = spins && warp.polls.count > 0 && warp.polls.progress == self.progress;
                let looks = if is_look { warp.polls.site } else { site };
                let asks = self
                    .phase_of(thread)
                    .filter(|_| spins && !self.is_product_wait(site))
                    .map_or(looks, |(_, _, site)| *site);
                (thread, asks, what)
            })
            .collect()
    }

    fn wait_of(&self, thread: Thread, site: u32) -> String {
        let warp = self.warp(thread.warp);
        let is = |mask: u32| mask >> thread.lane & 1 == 1;
        if is(warp.at_cluster) {
            let (arrived, living) = self.at_cluster(warp.block / self.cluster);
            return format!("waits for its cluster, where {arrived} of {living} threads have arrived");
        }
        if is(warp.waiting) && warp.is_blocked {
            return match self.program.sites[site as usize].text.contains("setmaxnreg") {
                true => self.wait_for_registers(thread),
                false => self.wait_for_columns(thread).into(),
            };
        }
        if is(warp.waiting) {
            let text = &self.program.sites[site as usize].text;
            let of = |lane: usize| Thread { frame: warp.at[lane].0 as usize, lane, ..thread };
            let is_here =
                |lane: usize| warp.at[lane] == warp.at[thread.lane] || self.exchange_alike(of(thread.lane), of(lane));
            let here = lanes_where(warp.live & warp.waiting, is_here);
            let missing = warp.live & !here;
            return format!("waits for other threads of its warp at `{text}`; lanes {missing:#010x} are elsewhere");
        }
        if is(warp.running) {
            if self.is_product_wait(site) {
                return "waits for the other warps that multiply together, which have not committed as many groups"
                    .into();
            }
            return match self.phase_of(thread) {
                Some((bar, parity, _)) => self.wait_for_phase(*bar, *parity),
                None if stays(warp, thread.lane) => ON_THE_SPOT.into(),
                None => format!("{AROUND}, and nothing that it reads changes"),
            };
        }
        let barriers = self.blocks[warp.block].iter().flat_map(|block| &block.barriers);
        let waits = |group: &Group| group.warp == thread.warp && is(group.mask);
        let mut own = barriers.filter(|(_, barrier)| barrier.waiting.iter().any(|(group, _)| waits(group)));
        match own.next() {
            Some((number, barrier)) => {
                let (arrived, all) = match barrier.expected() {
                    Some(count) => (barrier.counted(), count),
                    None => (barrier.arrived, self.threads),
                };
                format!("waits at barrier {number}, where {arrived} of {all} threads have arrived")
            }
            None => "waits".into(),
        }
    }

    fn is_product_wait(&self, site: u32) -> bool {
        self.program.sites[site as usize].text.contains("wgmma.wait_group")
    }

    /// The barrier in memory that a thread has last looked at in vain, the parity, and where.
    fn phase_of(&self, thread: Thread) -> Option<&(u64, Option<u32>, u32)> {
        let actor = (self.block_of(thread) as u32, self.number_of(thread));
        self.checks.as_ref()?.waits.get(&actor)
    }

    fn wait_for_registers(&self, thread: Thread) -> String {
        let pool = self.blocks[self.block_of(thread)].as_deref().map(|block| &block.pool);
        let own = pool.and_then(|pool| pool.of(thread.warp % self.warps_of_block)).unwrap_or_default();
        let free = pool.map_or(0, |pool| pool.free);
        let began = self.code.registers_at_entry.unwrap_or_default();
        format!(
            "waits for registers: its warp has {own} for each thread, and the others have given back {free}; the block began with {began} \
             for each thread"
        )
    }

    fn wait_for_columns(&self, thread: Thread) -> &'static str {
        let block = self.block_of(thread);
        let asked = |block: usize| {
            let tensor = self.blocks.get(block)?.as_ref()?.tensor.as_ref()?;
            tensor.asked
        };
        let peer = if self.rank(block).is_multiple_of(2) { block + 1 } else { block - 1 };
        if asked(block).is_some() && asked(peer).is_none() {
            return "waits for the other block of its pair, which does not execute `tcgen05.alloc.cta_group::2`";
        }
        "waits for columns of tensor memory, of which too few are free"
    }

    fn wait_for_phase(&self, bar: u64, parity: Option<u32>) -> String {
        let (Some(word), Some((arrivals, bytes))) = (self.word_of(bar), self.lacks(bar)) else { return String::new() };
        let place = self.checks.as_ref().map(|checks| checks.place_of(bar)).unwrap_or_default();
        let Some(init) = self.checks.as_ref().and_then(|checks| checks.init_of(bar)) else {
            return format!("waits for a phase of the barrier at {place}, which nobody has initialised");
        };
        let Site { source, line, .. } = &self.program.sites[init as usize];
        let init = source.as_ref().map_or(format!("PTX line {line}"), |(file, line)| {
            format!("{}:{line}", Path::new(file).file_name().unwrap_or_default().display())
        });
        let asked = parity.map(|parity| format!(" of parity {parity}")).unwrap_or_default();
        let is_untouched = arrivals == word >> 20 & 0xf_ffff && bytes == 0 && !self.has_copied_arrivals();
        let bytes = match bytes {
            ..0 => format!(", has {} bytes too many", -bytes),
            _ => format!(" and {bytes} bytes"),
        };
        let phases_over = self.checks.as_ref().map_or(0, |checks| checks.phases_over(bar));
        let nobody = match parity.filter(|_| is_untouched) {
            Some(_) if phases_over == 0 => format!("; {FIRST}"),
            Some(parity) => format!("; {OVER} {}", parity ^ 1),
            None => String::new(),
        };
        let over = match phases_over {
            0 => String::new(),
            1 => "; one phase is over".into(),
            over => format!("; {over} phases are over"),
        };
        let state = format!("lacks {arrivals} arrivals{bytes}, and has parity {}{over}{nobody}", word >> 63);
        format!("waits for the phase{asked} of the barrier at {place} (initialised at {init}), whose phase {state}")
    }
}

/// Whether a thread is at a branch to itself.
fn stays(warp: &Warp<'_>, lane: usize) -> bool {
    let (frame, next) = warp.at[lane];
    let line = warp.frames[frame as usize].code.lines.get(next as usize);
    line.is_some_and(|line| {
        line.guard.is_none() && matches!(line.action, Action::Branch(target) if target == next as usize)
    })
}

/// Of each thread that runs a number that stands for its place, the registers of all functions that it is in, and its local memory.
fn states(warp: &Warp<'_>) -> Lanes {
    let mix = |state: u64, value: u64| {
        let mixed = (state ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    };
    let mut states = warp.at.map(|(frame, next)| mix(0, u64::from(frame) << 32 | u64::from(next)));
    for frame in &warp.frames {
        for register in &frame.registers {
            each(warp.running & frame.mask, |lane| states[lane] = mix(states[lane], register[lane]));
        }
    }
    for lane in lanes_of(warp.running) {
        let number = |word: &[u8]| word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let words = warp.local[lane].bytes.chunks(8).map(number);
        states[lane] = words.fold(states[lane], mix);
    }
    states
}
