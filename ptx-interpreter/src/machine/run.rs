//! Whose turn it is.

use std::collections::HashMap;

use crate::check::Grids;
use crate::counts::{Counting, Counts};
use crate::machine::deadlock::Circles;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each, lanes_of};
use crate::machine::launch::{L1, Launch, Outside};
use crate::machine::numbered::Numbered;
use crate::machine::stop::{Result, Stop, Why, stop, wrong};
use crate::machine::{Action, Cluster, Code, Frame, Machine, Program};
use crate::memory::heap::Lent;
use crate::memory::spaces::PIECE;
use crate::parts::joint::Part;
use crate::ptx::operand::Register;
use crate::ptx::paths::Paths;
use crate::weak::older::Older;

/// Instructions of a turn, at most, in the first rounds: what happens in a short program depends on whose turn it is.
const TURN: u64 = 32;
const FIRST: u64 = 256;
/// How many lengths of turns there are later: at most 1, 2, 4, … instructions. Short turns are as frequent as long ones, which do most of
/// the work.
const TURNS: u64 = 11;
/// One turn in this number begins with the thread that has waited longest for one, and not with the one that is farthest behind.
/// So a thread that others of its warp wait for in a loop gets on as fast as on a GPU.
const STRAY: u64 = 4;
/// In one turn in this number some threads of the warp are left behind.
const SPLIT: u64 = 8;
/// Warps that take turns before the next blocks begin, and rounds after which they begin all the same.
const CROWD: usize = 64;
/// Clusters that begin at once, of a kernel that may cancel the launch of others.
const FEW: usize = 2;
const PATIENCE: u64 = 64;
/// Threads that a GPU has at one time.
const RESIDENT: usize = 132 * 2048;
/// Threads of a grid, at most.
const THREADS: u64 = 1 << 30;
/// Bytes of local memory that a thread can have.
const LOCAL: usize = 512 << 10;
/// Bytes of shared memory that a block can have on the largest GPU.
const SHARED: usize = 227 << 10;
/// Those of them that a kernel can declare with a size, unless it is for one GPU alone.
const STATIC: usize = 48 << 10;

impl<'a> Machine<'a> {
    pub(crate) fn new(
        program: &'a Program,
        outside: &'a Outside<'a>,
        launch: &'a Launch<'a>,
        part: Option<Part<'a>>,
    ) -> Result<Self> {
        let name = launch.kernel;
        let code = program.functions.get(name).filter(|code| code.is_entry);
        let code = code.ok_or_else(|| wrong(format!("there is no kernel {name}")))?;
        let given = launch.peers.iter().map(|peer| peer.arguments.len()).chain([launch.arguments.len()]);
        if let Some(given) = given.into_iter().find(|given| *given != code.parameters.len()) {
            let takes = code.parameters.len();
            return stop(Why::Wrong, format!("{name} takes {takes} arguments, and is given {given}"));
        }
        let of_peers = launch.peers.iter().map(|peer| peer.arguments);
        let parameters = [launch.arguments].into_iter().chain(of_peers).map(|arguments| parameters(code, arguments));
        let parameters = parameters.collect();
        let cluster_sizes = code.cluster.unwrap_or(launch.cluster).map(|size| size.max(1));
        let cluster = cluster_sizes.iter().fold(1, |all: usize, size| all.saturating_mul(*size as usize));
        let blocks: u64 = launch.blocks.iter().map(|size| u64::from(*size)).product();
        let threads: u64 = launch.threads.iter().map(|size| u64::from(*size)).product();
        shape(name, code, blocks, threads)?;
        let called = program.functions.values().filter(|function| !function.is_entry);
        if let Some(frame) = called.chain([code]).map(|code| code.frame).find(|frame| *frame > LOCAL) {
            return stop(Why::Wrong, format!("a thread has at most {LOCAL} bytes of local memory, not {frame}"));
        }
        let (most, bytes) = (if program.is_for_one_gpu { SHARED } else { STATIC }, code.declared);
        if bytes > most {
            return stop(Why::Wrong, format!("a block has at most {most} bytes of static shared memory, not {bytes}"));
        }
        let room = (code.dynamic as u64).saturating_add(launch.shared as u64);
        if room > PIECE {
            return stop(
                Why::Wrong,
                format!(
                    "{name} and the functions of its module name {room} bytes of shared memory; this machine runs {PIECE}"
                ),
            );
        }
        if code.declared.saturating_add(launch.shared) > SHARED {
            return stop(
                Why::Wrong,
                format!("a block has at most {SHARED} bytes of shared memory, not {}", code.declared + launch.shared),
            );
        }
        if blocks.saturating_mul(threads).saturating_mul(1 + launch.peers.len() as u64) > THREADS {
            return stop(
                Why::Wrong,
                format!("{blocks} blocks of {threads} threads are more than this machine runs: {THREADS}"),
            );
        }
        let (blocks, threads) = (blocks as usize, threads as usize);
        if (0..3).any(|axis| !launch.blocks[axis].is_multiple_of(cluster_sizes[axis])) {
            let text = format!("{:?} blocks are no clusters of {cluster_sizes:?}", launch.blocks);
            return stop(Why::Wrong, text);
        }
        let warps_of_block = threads.div_ceil(LANES);
        let gpus = [launch.gpu].into_iter().chain(launch.peers.iter().map(|peer| peer.gpu));
        let grids = Grids::new(blocks, gpus);
        if !grids.is_one() {
            program.may_have_peers(outside, launch)?;
        }
        let all = 0..blocks / cluster * grids.count();
        let own = part.as_ref().map_or(all, |part| part.clusters.clone());
        let blocks = own.start * cluster..own.end * cluster;
        Ok(Machine {
            program,
            code,
            outside,
            launch,
            cluster,
            cluster_sizes,
            grids,
            threads,
            warps_of_block,
            warps: Numbered::new(blocks.start * warps_of_block..blocks.end * warps_of_block, || None),
            blocks: Numbered::new(blocks.clone(), || None),
            spare: Vec::new(),
            clusters: Numbered::new(own.clone(), Cluster::default),
            next_cluster: own.start,
            living: 0,
            cancels: program.sites.iter().any(|site| site.text.contains("clusterlaunchcontrol.try_cancel")),
            parameters,
            l1: vec![HashMap::new(); if launch.l1 == L1::None { 0 } else { blocks.end }],
            copies_of: Default::default(),
            stored: Default::default(),
            copies: Default::default(),
            sent: Default::default(),
            // When the later clusters of a launch begin, the first rounds are over.
            round: if own.start == 0 { 0 } else { FIRST },
            steps: 0,
            counts: Counts::new(launch.counting, program.sites.len()),
            unasked: 0,
            progress: 0,
            random: launch.seed ^ 0x9e37_79b9_7f4a_7c15,
            gives_way: false,
            polled: u32::MAX,
            follows: false,
            waited: 0,
            pages: [[(u64::MAX, 0); 64]; 2],
            part,
            scratch: [[0; LANES]; 2],
            checks: None,
            weak: Box::new(Older::new(launch.seed)),
            delayed: Default::default(),
            stuck_at: Vec::new(),
            spins: false,
            heap: Lent::new(launch.heap),
            asked: HashMap::new(),
            launched: Vec::new(),
            printed: String::new(),
            malformed: false,
            paths: Paths::new(program.sites.len()),
            site: 0,
            current: Group { warp: 0, frame: 0, mask: 0 },
        })
    }

    /// Every warp has its turn, until all have ended.
    pub(crate) fn run(&mut self) -> Result<()> {
        let (mut live, mut begun) = (Vec::new(), 0);
        let mut circles = Circles::default();
        loop {
            while self.next_cluster < self.clusters.end() && self.begins(live.len(), begun) {
                live.extend(self.begin_cluster());
                begun = self.round;
            }
            if live.is_empty() {
                break;
            }
            self.happen(self.round)?;
            let (first, mut idle) = (self.draw(live.len() as u64) as usize, true);
            for at in 0..live.len() {
                let warp = live[(first + at) % live.len()];
                let Some((running, rests)) = self.warps[warp].as_ref().map(|warp| (warp.running, warp.rests)) else {
                    continue;
                };
                idle &= running == 0;
                if running != 0 && rests <= self.round {
                    self.turn(warp)?;
                }
            }
            self.round += 1;
            live.retain(|warp| {
                let block = warp / self.warps_of_block;
                let ended = self.warps[*warp].as_ref().is_none_or(|warp| warp.live == 0);
                if ended {
                    self.bury(block / self.cluster);
                }
                !ended
            });
            if self.checks.is_some() && !live.is_empty() && !idle && self.circles(&mut circles, &live) {
                return self.stuck(&live);
            }
            if idle && !live.is_empty() {
                let due = self.copies.front().into_iter().chain(self.sent.front()).map(|(due, _)| *due).min();
                match due {
                    Some(due) => self.round = self.round.max(due),
                    None if self.may_begin(live.len()) => begun = 0,
                    None => return self.stuck(&live),
                }
            }
        }
        self.happen(u64::MAX)
    }

    fn begins(&self, warps: usize, begun: u64) -> bool {
        // Where a kernel takes over the work of blocks that have not begun, most of them have not.
        let crowd = if self.cancels { (FEW * self.cluster * self.warps_of_block).min(CROWD) } else { CROWD };
        self.fits(warps) && (warps < crowd || self.round >= begun + PATIENCE)
    }

    /// Whether there are blocks that have not begun, and that may.
    pub(crate) fn may_begin(&self, warps: usize) -> bool {
        self.next_cluster < self.clusters.end() && self.fits(warps)
    }

    fn fits(&self, warps: usize) -> bool {
        let blocks = (self.living + 1) * self.cluster;
        let gpus = self.grids.count();
        let fits = (warps + self.cluster * self.warps_of_block) * LANES <= RESIDENT * gpus;
        self.living == 0 || fits && self.launch.resident.is_none_or(|most| blocks <= most * gpus)
    }

    /// A warp executes some instructions.
    fn turn(&mut self, number: usize) -> Result<()> {
        let longest = if self.round < FIRST { TURN } else { 1 << self.draw(TURNS) };
        let (mut budget, strays, splits) = (1 + self.draw(longest), self.draw(STRAY) == 0, self.draw(SPLIT) == 0);
        let stays_together = self.launch.counting == Counting::Accesses;
        self.polled = u32::MAX;
        let drawn = self.draw(1 << 32) as u32;
        let Some(mut group) = self.pick(number, strays) else { return Ok(()) };
        let now = self.steps;
        self.warp_mut(number).had_turn(group.mask, now);
        if splits && !stays_together {
            let some = group.mask & drawn;
            group.mask = if some == 0 { group.mask } else { some };
        }
        while budget > 0 {
            let (done, next) = self.go(group, budget)?;
            self.worked(done)?;
            budget = budget.saturating_sub(done);
            if std::mem::take(&mut self.gives_way) {
                break;
            }
            match next {
                Some(same) => group = same,
                None => match self.pick(number, false) {
                    Some(next) => group = next,
                    None => break,
                },
            }
        }
        Ok(())
    }

    /// The threads that go on together: with the one that is farthest behind, or that has waited longest.
    fn pick(&self, number: usize, strays: bool) -> Option<Group> {
        let warp = self.warps[number].as_ref()?;
        if warp.running == 0 {
            return None;
        }
        let first = warp.at[warp.running.trailing_zeros() as usize];
        if warp.here(first) & warp.running == warp.running {
            return Some(Group { warp: number, frame: first.0 as usize, mask: warp.running });
        }
        let at = match strays {
            false => warp.farthest_behind(),
            true => warp.at[lanes_of(warp.running).min_by_key(|lane| warp.last[*lane])?],
        };
        Some(Group { warp: number, frame: at.0 as usize, mask: warp.here(at) & warp.running })
    }

    /// A group executes instructions until it branches apart, waits or ends. Gives how many, and who goes on.
    pub(crate) fn go(&mut self, mut group: Group, budget: u64) -> Result<(u64, Option<Group>)> {
        let warp = self.warp(group.warp);
        let Frame { code, sites, .. } = warp.frames[group.frame];
        let mut next = warp.at[group.mask.trailing_zeros() as usize].1 as usize;
        let mut others = warp.others(group.mask);
        let follows = warp.follows_registers();
        let (limit, has_delays) = (self.launch.steps, self.has_delays());
        let mut count = u64::from(group.mask.count_ones());
        self.follows = follows;
        for done in 0..budget {
            self.steps += count;
            let Some(line) = code.lines.get(next) else {
                self.put(group, next);
                self.return_from(group)?;
                return Ok((done + 1, None));
            };
            self.site = sites + line.site;
            if self.steps > limit {
                return self.endless(group);
            }
            if self.follows {
                self.watch_registers(group, line, next)?;
            }
            if has_delays && !self.may_go_on(group, line)? {
                self.put(group, next);
                return Ok((budget, None));
            }
            let mut active = group;
            if let Some((register, holds)) = line.guard {
                active.mask &= self.holding(group, register, holds);
            }
            self.counts.execute(line.site, active.mask.count_ones());
            next += 1;
            match &line.action {
                Action::Straight(step) => {
                    if active.mask != 0 {
                        self.current = active;
                        step.run(self, active).map_err(|error| self.named(error))?;
                        if self.gives_way {
                            self.put(group, next);
                            return Ok((done + 1, self.after(group, next)));
                        }
                    }
                }
                Action::Branch(target) if active.mask == group.mask => next = *target,
                Action::Branch(_) if active.mask == 0 => {}
                Action::Branch(target) => {
                    self.put(group, next);
                    self.put(active, *target);
                    return Ok((done + 1, None));
                }
                Action::Control(step) => {
                    if active.mask != 0 {
                        self.put(group, next);
                        self.current = active;
                        step.run(self, active).map_err(|error| self.named(error))?;
                        return Ok((done + 1, self.after(group, next)));
                    }
                }
                Action::Unknown(opcode) => {
                    self.current = group;
                    return Err(self.named(crate::machine::stop::gap(&[opcode])));
                }
                Action::Malformed(text) => {
                    (self.current, self.malformed) = (group, true);
                    return Err(self.named(wrong(text.clone())));
                }
            }
            if others >> (next % 64) & 1 == 1 {
                let warp = self.warp(group.warp);
                group.mask |= warp.here((group.frame as u32, next as u32)) & warp.running;
                others = warp.others(group.mask);
                count = u64::from(group.mask.count_ones());
            }
        }
        self.put(group, next);
        Ok((budget, Some(group)))
    }

    /// The group after an instruction at which it may have come apart.
    fn after(&self, group: Group, next: usize) -> Option<Group> {
        let warp = self.warps[group.warp].as_ref()?;
        let mask = warp.here((group.frame as u32, next as u32)) & warp.running;
        (mask & group.mask == group.mask).then_some(Group { mask, ..group })
    }

    pub(crate) fn holding(&self, group: Group, register: Register, holds: bool) -> u32 {
        let own = &self.frame(group).registers[register.at];
        let (all, any) = own.iter().fold((1, 0), |(all, any), value| (all & value, any | value));
        let set = match (all & 1, any & 1) {
            (1, _) => u32::MAX,
            (_, 0) => 0,
            _ => own.iter().enumerate().fold(0, |set, (lane, value)| set | ((*value as u32 & 1) << lane)),
        };
        if holds { set } else { !set }
    }

    /// Lanes of a warp access memory, by the instruction that is executed.
    pub(crate) fn count_access(&mut self, mask: u32, addresses: &Lanes, bytes: usize) {
        if self.launch.counting == Counting::Accesses && mask != 0 {
            self.counts.access(self.program.known.instruction(self.site), mask, addresses, bytes);
        }
    }

    /// The threads of a group are before an instruction.
    fn put(&mut self, group: Group, next: usize) {
        let warp = self.warp_mut(group.warp);
        each(group.mask, |lane| warp.at[lane] = (group.frame as u32, next as u32));
    }

    fn return_from(&mut self, group: Group) -> Result<()> {
        let ended = self.leave(group);
        if ended == 0 { Ok(()) } else { self.end(Group { mask: ended, ..group }) }
    }

    fn endless(&self, group: Group) -> Result<(u64, Option<Group>)> {
        let text = &self.program.sites[self.site as usize].text;
        let thread = self.number_of(group.thread(group.mask.trailing_zeros() as usize));
        stop(Why::Endless, format!("no end after {} instructions; thread {thread} at {text}", self.launch.steps))
    }

    /// The error, with its instruction.
    fn named(&self, error: Stop) -> Stop {
        let line = &self.program.sites[self.site as usize].text;
        match error.why {
            Why::Late => error,
            Why::Gap => Stop { text: format!("the interpreter does not know {}", error.text), ..error },
            _ => Stop { text: format!("{line}: {}", error.text), ..error },
        }
    }
}

impl Program {
    /// Errors: what is not known of a launch on several GPUs.
    fn may_have_peers(&self, outside: &Outside<'_>, launch: &Launch<'_>) -> Result<()> {
        if launch.cooperative {
            return stop(Why::Gap, "a cooperative launch whose threads wait for those of another GPU");
        }
        let is_placed = |name: &str| {
            let peers = launch.peers.iter().map(|peer| peer.variable);
            [outside.variable].into_iter().chain(peers).all(|variable| variable(name).is_some())
        };
        match self.variables.iter().find(|variable| !is_placed(&variable.name)) {
            Some(variable) => stop(Why::Gap, format!("`{}`, of which each GPU has its own", variable.name)),
            None => Ok(()),
        }
    }
}

/// The bytes of a kernel's parameters.
fn parameters(code: &Code, arguments: &[*const u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ((parameter, place), argument) in code.parameters.iter().zip(&code.places).zip(arguments) {
        bytes.resize(*place as usize, 0);
        // SAFETY: the launch has the number of bytes that the kernel takes.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(*argument, parameter.bytes) });
    }
    bytes
}

/// What a launch may be, by the kernel's directives and by the largest GPU.
fn shape(name: &str, code: &Code, blocks: u64, threads: u64) -> Result<()> {
    if blocks == 0 || threads == 0 {
        return stop(Why::Wrong, format!("a launch of {blocks} blocks of {threads} threads is empty"));
    }
    if threads > 1024 {
        return stop(Why::Wrong, format!("a block has at most 1024 threads, and not {threads}"));
    }
    if blocks > 1 << 31 {
        return stop(Why::Wrong, format!("{blocks} blocks are more than 2147483648"));
    }
    if let Some(most) = code.most_threads.filter(|most| threads > u64::from(*most)) {
        return stop(
            Why::Wrong,
            format!("{name} is compiled for blocks of at most {most} threads (.maxntid), not {threads}"),
        );
    }
    if let Some(exact) = code.exact_threads.filter(|exact| threads != u64::from(*exact)) {
        return stop(Why::Wrong, format!("{name} is compiled for blocks of {exact} threads (.reqntid), not {threads}"));
    }
    Ok(())
}
