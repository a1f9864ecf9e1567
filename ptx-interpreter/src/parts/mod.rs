//! A large launch in parts, on all cores.
//!
//! Each part is some clusters, with checks and pages of its own. Nobody writes memory before all parts have ended. They count only
//! if nothing was found in any of them, and no byte that one writes is used by another one: then no order of the whole launch could
//! have made a difference between the parts. If not, what they did is forgotten, and the launch runs as a whole.

pub(crate) mod beneath;
pub(crate) mod joint;
pub(crate) mod later;
pub(crate) mod overlay;
pub(crate) mod written;

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::check::{Finding, Footprint, Piece, Pieces, Used, are_changes};
use crate::counts::{Counting, Counts};
use crate::machine::launch::{Delays, L1, Launch, Outside, Parts};
use crate::machine::resources::{available_memory, cores};
use crate::machine::stop::Why;
use crate::machine::{Machine, Program};
use crate::memory::overwritten::Overwritten;
use crate::memory::spaces::{Owner, owner};
use crate::parts::joint::{Blocks, Joint, Part};
use crate::parts::later::Later;
use crate::parts::overlay::Overlay;
use crate::parts::written::{Written, place_of, written};
use crate::report::Report;

/// Warps of a part, at least: of a kernel without loops, and of one that has some.
const WARPS: [usize; 2] = [64, 8];
/// Parts, at most.
const PARTS: usize = 256;
/// Bytes of pages that the parts have whatever memory there is.
const PAGES: u64 = 256 << 20;

/// A launch, as all of its parts need it.
struct Whole<'a> {
    program: &'a Program,
    outside: &'a Outside<'a>,
    arguments: Vec<Vec<u8>>,
    asked: Asked<'a>,
    pieces: Arc<Pieces>,
    /// Clusters of the grid, and of a part.
    clusters: usize,
    each: usize,
    joint: Joint,
    /// What the parts have used that have ended, and the bytes of their pages.
    used: Mutex<(Footprint, u64)>,
}

/// What a launch is asked for, without the places of its arguments.
struct Asked<'a> {
    kernel: &'a str,
    blocks: [u32; 3],
    threads: [u32; 3],
    shared: usize,
    cluster: [u32; 3],
    seed: u64,
    steps: u64,
    deadline: Option<Instant>,
    tells_used: bool,
    counting: Counting,
    parts: Parts,
    overwritten: Option<&'a Mutex<Overwritten>>,
}

/// What came of a part.
enum Outcome {
    /// Nothing was found.
    Clean(Done),
    Late(Finding),
    /// The launch has to run as a whole.
    InVain,
}

struct Done {
    written: Vec<Written>,
    later: Later,
    used: Used,
    counts: Counts,
    shadow: (u64, u64),
}

impl Program {
    /// Runs a launch to its end, and checks what its threads do. The kernel may use memory that `outside` holds; `pieces`
    /// says what messages call it. Where loads are [late](Delays::Loads), they may also return older values, and stores may come
    /// before others, as the memory model allows.
    ///
    /// # Safety
    /// The arguments are as long as the kernel's parameters. The memory that `outside` holds is readable and writable, and so is
    /// that of the launch's [objects](Launch::objects). Nobody else writes it.
    pub unsafe fn check(&self, outside: &Outside<'_>, launch: &Launch<'_>, pieces: Vec<Piece>) -> Report {
        let pieces = Arc::new(Pieces::new(pieces));
        // SAFETY: the caller promises the same.
        let in_parts = unsafe { self.check_in_parts(outside, launch, &pieces) };
        // SAFETY: the caller promises the same.
        in_parts.unwrap_or_else(|| unsafe {
            self.checked(outside, launch, pieces, |machine| {
                if launch.delays == Delays::Loads {
                    machine.weaken();
                }
                machine.run()
            })
        })
    }

    /// What came of the parts of a launch, if it can be cut and the parts have nothing to do with each other.
    ///
    /// # Safety
    /// As of `check`.
    unsafe fn check_in_parts(
        &self,
        outside: &Outside<'_>,
        launch: &Launch<'_>,
        pieces: &Arc<Pieces>,
    ) -> Option<Report> {
        let (clusters, each) = self.cut(launch)?;
        let sizes = self.sizes(launch.kernel)?;
        // SAFETY: the caller says that the arguments are so long.
        let bytes = |(place, size): (&*const u8, &usize)| unsafe { std::slice::from_raw_parts(*place, *size) }.to_vec();
        let whole = Whole {
            program: self,
            outside,
            arguments: launch.arguments.iter().zip(&sizes).map(bytes).collect(),
            asked: Asked::of(launch),
            pieces: Arc::clone(pieces),
            clusters,
            each,
            joint: Joint::default(),
            used: Mutex::default(),
        };
        let outcomes = whole.run();
        let report = outcomes.and_then(|outcomes| whole.together(outcomes));
        if report.is_none() {
            self.run_together(launch.kernel);
        }
        report
    }

    /// The clusters of a launch, and of each of its parts. The cut depends on the kernel and the grid alone.
    fn cut(&self, launch: &Launch<'_>) -> Option<(usize, usize)> {
        let is_plain = launch.delays == Delays::None && launch.l1 == L1::None;
        if launch.parts == Parts::None
            || !is_plain
            || launch.cooperative
            || launch.begins_early
            || !launch.peers.is_empty()
            || !launch.aliases.is_empty()
        {
            return None;
        }
        let code = self.functions.get(launch.kernel).filter(|code| code.is_entry)?;
        let count = |sizes: [u32; 3]| sizes.iter().fold(1, |all: usize, size| all.saturating_mul(*size as usize));
        let (blocks, cluster) = (count(launch.blocks), count(code.cluster.unwrap_or(launch.cluster)).max(1));
        let (clusters, warps) = (blocks / cluster, count(launch.threads).div_ceil(32).saturating_mul(cluster));
        let each = |loops: bool| WARPS[usize::from(loops)].div_ceil(warps.max(1)).max(clusters.div_ceil(PARTS));
        let is_small = clusters <= if launch.parts == Parts::OfOneCluster { 1 } else { each(true) };
        let blocks = if is_small { Blocks::Together } else { self.blocks_of(launch.kernel) };
        let each = match blocks {
            Blocks::Together => return None,
            Blocks::Apart { .. } if launch.parts == Parts::OfOneCluster => 1,
            Blocks::Apart { loops } => each(loops),
        };
        (clusters > each).then_some((clusters, each))
    }
}

impl<'a> Asked<'a> {
    fn of(launch: &Launch<'a>) -> Asked<'a> {
        let Launch {
            kernel,
            blocks,
            threads,
            shared,
            cluster,
            seed,
            steps,
            deadline,
            tells_used,
            counting,
            parts,
            overwritten,
            ..
        } = *launch;
        Asked {
            kernel,
            blocks,
            threads,
            shared,
            cluster,
            seed,
            steps,
            deadline,
            tells_used,
            counting,
            parts,
            overwritten,
        }
    }

    /// The launch, as a part of a number runs it.
    fn launch<'l>(&'l self, number: usize, arguments: &'l [*const u8]) -> Launch<'l> {
        let Asked {
            kernel, blocks, threads, shared, cluster, seed, steps, deadline, tells_used, counting, parts, ..
        } = *self;
        let seed = seed.wrapping_add((number as u64).wrapping_mul(0x9e6c_63d0_876a_3f6b));
        let new = Launch::new(kernel, arguments);
        Launch { blocks, threads, shared, cluster, seed, steps, deadline, tells_used, counting, parts, ..new }
    }
}

impl Whole<'_> {
    fn count(&self) -> usize {
        self.clusters.div_ceil(self.each)
    }

    /// Runs the parts. None if that was in vain.
    fn run(&self) -> Option<Vec<Outcome>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut all = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.count() || self.joint.is_over() {
                    return all;
                }
                all.push((number, self.part(number)));
            }
        };
        let cores = match self.asked.parts {
            Parts::OnOneCore => 1,
            _ => cores().min(self.count()),
        };
        let mut all = thread::scope(|scope| {
            // Where there is no thread to be had, the others do its work.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..cores).filter_map(spawn).collect();
            let mut all = work();
            for other in others {
                match other.join() {
                    Ok(outcomes) => all.extend(outcomes),
                    // What went wrong in a part goes wrong in the whole.
                    Err(_) => self.joint.end(),
                }
            }
            all
        });
        all.sort_by_key(|(number, _)| *number);
        (!self.joint.is_over()).then(|| all.into_iter().map(|(_, outcome)| outcome).collect())
    }

    fn part(&self, number: usize) -> Outcome {
        let clusters = number * self.each..self.clusters.min((number + 1) * self.each);
        let arguments: Vec<*const u8> = self.arguments.iter().map(Vec::as_ptr).collect();
        let outcome = self.run_part(&self.asked.launch(number, &arguments), clusters);
        if let Outcome::InVain = outcome {
            self.joint.end();
        }
        outcome
    }

    fn run_part(&self, launch: &Launch<'_>, clusters: Range<usize>) -> Outcome {
        let part = Part { clusters, joint: &self.joint, overlay: Overlay::default(), later: Later::default(), told: 0 };
        let Ok(mut machine) = Machine::new(self.program, self.outside, launch, Some(part)) else {
            return Outcome::InVain;
        };
        self.program.add_checks(&mut machine, Arc::clone(&self.pieces));
        match machine.run() {
            Ok(()) => self.done(machine).map_or(Outcome::InVain, Outcome::Clean),
            Err(stop) if stop.why == Why::Late && !self.joint.is_over() => self.late(machine, stop),
            Err(_) => Outcome::InVain,
        }
    }

    /// The deadline came. What was found by then is told.
    fn late(&self, mut machine: Machine<'_>, stop: crate::machine::stop::Stop) -> Outcome {
        machine.explain(stop);
        let found = machine.checks.as_mut().map(|checks| checks.take()).unwrap_or_default();
        match &found[..] {
            [(late, _)] => Outcome::Late(self.program.finding(late.clone(), &machine.paths)),
            _ => Outcome::InVain,
        }
    }

    /// What a part leaves that has ended, if it goes with those that have ended before.
    fn done(&self, mut machine: Machine<'_>) -> Option<Done> {
        let blocks = machine.blocks.end() - machine.blocks.first();
        machine.tell_the_others();
        machine.judge_unwritten();
        let (steps, _) = self.joint.add(0, blocks as u64);
        let checks = machine.checks.as_ref()?;
        if steps > self.asked.steps || !checks.is_clean() || !machine.printed.is_empty() {
            return None;
        }
        let footprint = checks.footprint()?;
        let later = std::mem::take(&mut machine.part.as_mut()?.later);
        if !later.places().all(|(address, bytes)| are_changes(&footprint, address, bytes)) {
            return None;
        }
        let shadow = checks.shadow.size();
        let used = if self.asked.tells_used { machine.used() } else { Used::default() };
        machine.checks = None;
        let counts = std::mem::take(&mut machine.counts);
        let written = written(&mut machine, &footprint)?;
        let size = size_of_val(&*written) as u64 + written.iter().map(Written::size).sum::<u64>() + later.size();
        self.goes_with_the_others(footprint, size).then_some(Done { written, later, used, counts, shadow })
    }

    /// Whether no byte that one part writes is used by another one, and there is room for what they write.
    fn goes_with_the_others(&self, footprint: Footprint, size: u64) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, held) = &mut *used;
        *held += size;
        let has_room = *held <= PAGES || available_memory().is_none_or(|available| *held / 2 <= available);
        has_room
            && footprint.into_iter().all(|(page, own)| match all.entry(page) {
                Entry::Vacant(entry) => {
                    entry.insert(own);
                    true
                }
                Entry::Occupied(mut entry) => {
                    let goes = entry.get().goes_with(&own);
                    entry.get_mut().join(&own);
                    goes
                }
            })
    }

    /// The launch that the parts are together.
    fn together(&self, outcomes: Vec<Outcome>) -> Option<Report> {
        let instructions = self.joint.add(0, 0).0;
        let (mut used, mut all, mut later, mut shadow) = (Vec::new(), Vec::new(), Vec::new(), (0, 0));
        let (parts, mut counts) = (self.count(), Counts::default());
        for outcome in outcomes {
            match outcome {
                Outcome::Clean(done) => {
                    used.push(done.used);
                    counts.add(&done.counts);
                    all.extend(done.written);
                    later.push(done.later);
                    shadow = (shadow.0 + done.shadow.0, shadow.1 + done.shadow.1);
                }
                Outcome::Late(finding) => {
                    return Some(Report { findings: vec![finding], instructions, parts, ..Report::default() });
                }
                Outcome::InVain => return None,
            }
        }
        if let Some(overwritten) = self.asked.overwritten {
            let mut overwritten = overwritten.lock().unwrap_or_else(PoisonError::into_inner);
            let changed =
                later.iter().flat_map(Later::places).filter(|(address, _)| owner(*address, 1).0 == Owner::Outside);
            for (address, bytes) in all.iter().flat_map(Written::outside).chain(changed) {
                // SAFETY: the bytes were there when they were written, and nothing else uses them now.
                unsafe { overwritten.keep(self.outside.holds, address, bytes) };
            }
        }
        let mut module = self.program.module.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        unsafe {
            all.iter().for_each(|page| page.keep(&mut module));
            later.iter().for_each(|later| later.keep(|address| place_of(address, &mut module)));
        }
        Some(Report { instructions, shadow, parts, counts, used: Used::merged(used), ..Report::default() })
    }
}
