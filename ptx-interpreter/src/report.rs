//! A launch that is checked, and what is found.

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::causes::by_cause;
use crate::check::{
    Actor, Call, Checks, Finding, Found, Kind, LATE, OF_OTHER_BLOCK, Pieces, Place, TELLS, Used, UsedRange, is_freed,
};
use crate::counts::Counts;
use crate::machine::launch::{DeviceLaunch, Launch, Outside};
use crate::machine::stop::{Stop, Why};
use crate::machine::{Machine, Program};
use crate::memory::spaces::{Named, Owner, is_shared, owner};
use crate::ptx::paths::Paths;
use crate::ptx::text;

/// What came of a launch that was checked.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is wrong with the kernel or its launch.
    pub findings: Vec<Finding>,
    /// Why it could not be run to its end, if that is no fault of the kernel: an instruction that the interpreter does not
    /// know, or a text that is no PTX.
    pub stop: Option<Stop>,
    /// Whether it could not go on because threads look again and again at memory that none of its own changes: what they wait for may
    /// come from another launch, or from the host.
    pub spins: bool,
    /// What the threads printed: `printf`.
    pub printed: String,
    /// How many instructions all threads together took.
    pub instructions: u64,
    /// How many bytes the threads accessed, in pages of a kilobyte, and how many the checks remembered of them. Of a launch in
    /// parts it is the sum.
    pub shadow: (u64, u64),
    /// Of a [weak](crate::Trial::weak) launch the loads that returned another value than the newest one, and the stores that came
    /// before others, the first of each instruction.
    pub older: Vec<Place>,
    /// How many of its accesses the seed let go another way than the usual one, if there was one.
    pub deviations: u64,
    /// How many parts of the launch ran without knowing of each other; 0 if it ran as a whole. See [`Parts`](crate::Parts).
    pub parts: usize,
    /// Which memory it has used, if the launch [asks for that](Launch::tells_used).
    pub used: Used,
    /// How often instructions were executed, if the launch [asks for that](Launch::counting).
    pub counts: Counts,
    /// What the kernel has launched, if somebody [takes it](Launch::takes_launched), in the order of the calls.
    pub launched: Vec<DeviceLaunch>,
}

impl Report {
    /// Whether it ran to its end and nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.stop.is_none()
    }

    /// Of a launch that cannot be.
    pub(crate) fn refused(stop: &Stop) -> Report {
        Report { findings: vec![refused(stop)], ..Report::default() }
    }
}

/// Every finding, and why it stopped.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        self.stop.iter().try_for_each(|stop| writeln!(f, "{stop}"))
    }
}

impl Program {
    /// Runs a launch as a whole, and checks it: the machine is run so.
    ///
    /// # Safety
    /// As of [`check`](Program::check).
    pub(crate) unsafe fn checked<'a>(
        &'a self,
        outside: &'a Outside<'a>,
        launch: &'a Launch<'a>,
        pieces: Arc<Pieces>,
        run: impl FnOnce(&mut Machine<'a>) -> crate::machine::stop::Result<()>,
    ) -> Report {
        let known = self.functions.get(launch.kernel).is_some_and(|code| code.is_entry);
        let mut machine = match Machine::new(self, outside, launch, None) {
            Ok(machine) => machine,
            Err(stop) if known => return Report::refused(&stop),
            Err(stop) => {
                return Report { stop: Some(stop), ..Report::default() };
            }
        };
        self.add_checks(&mut machine, pieces);
        machine.tell(|checks, _| checks.know_aliases(launch.aliases));
        if !launch.peers.is_empty() {
            machine.tell(|checks, _| checks.know_peers(launch.before));
        }
        if launch.begins_early {
            machine.tell(|checks, _| checks.begins_early());
        }
        machine.tell(|checks, machine| checks.know_heap(machine.heap.heap.pieces(), machine.heap.heap.next()));
        let ended = run(&mut machine);
        let mut stop = None;
        if let Err(error) = ended {
            stop = machine.explain(error);
        }
        machine.judge_unwritten();
        machine.tell(|checks, _| checks.judge_barriers());
        let checks = machine.checks.as_mut();
        let (found, older, shadow) = checks
            .map(|checks| (checks.take(), std::mem::take(&mut checks.older), checks.shadow.size()))
            .unwrap_or_default();
        let mut findings = by_cause(found, self, &machine.paths);
        let mut older: Vec<Place> = older.into_iter().map(|load| self.place(load, &machine.paths)).collect();
        let places = findings.iter_mut().flat_map(Finding::all_places);
        places.chain(&mut older).for_each(|place| machine.grids.name(place));
        let used = if launch.tells_used { machine.used() } else { Used::default() };
        let deviations = machine.weak.deviations;
        let Machine { steps: instructions, counts, spins, printed, launched, .. } = machine;
        Report {
            findings,
            stop,
            spins,
            printed,
            instructions,
            shadow,
            older,
            deviations,
            used,
            counts,
            launched,
            parts: 0,
        }
    }

    /// Runs a launch to its end without checking it: the report has no findings, and not what was [used](Report::used). What went wrong
    /// is why it [stopped](Report::stop).
    ///
    /// # Safety
    /// As of [`run`](Program::run).
    pub unsafe fn run_only(&self, outside: &Outside<'_>, launch: &Launch<'_>) -> Report {
        let mut machine = match Machine::new(self, outside, launch, None) {
            Ok(machine) => machine,
            Err(stop) => return Report { stop: Some(stop), ..Report::default() },
        };
        let named = |stop: Stop| Stop { text: format!("{}: {}", launch.kernel, stop.text), ..stop };
        let stop = machine.run().err().map(named);
        let Machine { steps: instructions, counts, printed, launched, .. } = machine;
        Report { stop, printed, instructions, counts, launched, ..Report::default() }
    }

    pub(crate) fn add_checks(&self, machine: &mut Machine<'_>, pieces: Arc<Pieces>) {
        let sites = Arc::clone(&self.known);
        let variables = self.in_shared(machine.launch.kernel);
        let shape = (machine.threads, machine.cluster);
        let mut checks = Checks::new(shape, machine.grids.clone(), pieces, variables, sites);
        checks.reserved = self.names_reserved.then(|| machine.reserved(0) as u64);
        checks.dynamic = (machine.launch.shared > 0).then_some(machine.code.dynamic as u64);
        machine.checks = Some(Box::new(checks));
    }

    /// What a kernel has in shared memory.
    fn in_shared(&self, kernel: &str) -> Vec<Named> {
        let own = self.functions.get(kernel).map(|code| &code.shared);
        self.shared.iter().chain(own.into_iter().flatten()).cloned().collect()
    }

    /// The instruction by which a launch of this program has used memory. `what` says what its thread does.
    pub fn place_of(&self, used: &UsedRange, what: String) -> Place {
        let site = used.path * self.sites.len() as u32 + used.by.1;
        self.place((used.by.0, site, what), &self.paths())
    }

    /// Whether an instruction by which a launch of this program has used memory is a strong access for the whole system.
    pub fn is_for_the_system(&self, used: &UsedRange) -> bool {
        self.has_word(used, &["sys", "volatile", "mmio"])
    }

    /// Whether it is a load of what nobody writes as long as the kernel runs: `ld.global.nc` or `ldu`.
    pub fn is_for_constants(&self, used: &UsedRange) -> bool {
        self.has_word(used, &["nc", "ldu"])
    }

    /// Whether the instruction's opcode has one of some words.
    fn has_word(&self, used: &UsedRange, words: &[&str]) -> bool {
        let (opcode, _) = text::opcode(text::guarded(&self.sites[used.by.1 as usize].text).1);
        opcode.split('.').any(|word| words.contains(&word))
    }

    pub(crate) fn place(&self, (actor, site, what): (Actor, u32, String), paths: &Paths) -> Place {
        let callers = paths.to(site).into_iter().map(|call| self.call(call)).collect();
        let site = &self.sites[site as usize];
        let mut lines = site.shown();
        Place {
            gpu: None,
            block: actor.block,
            thread: actor.number as u32,
            function: site.function.clone(),
            ptx_line: site.line,
            instruction: site.text.clone(),
            source: lines.next(),
            called: lines.collect(),
            callers,
            comments: site.comments.clone(),
            what,
        }
    }

    fn call(&self, site: u32) -> Call {
        let site = &self.sites[site as usize];
        let mut lines = site.shown();
        Call { function: site.function.clone(), ptx_line: site.line, source: lines.next(), called: lines.collect() }
    }

    pub(crate) fn finding(&self, found: Found, paths: &Paths) -> Finding {
        let places = found.places.into_iter().map(|place| self.place(place, paths)).collect();
        let Found { kind, title, notes, help, times, .. } = found;
        let mut finding = Finding { kind, title, places, notes, help, times, further: vec![] };
        if finding.reads_constants() {
            finding.notes = vec![OF_CONSTANTS.0.into()];
            finding.help = OF_CONSTANTS.1.into();
        }
        // Who tells of all threads of a block too early may well change a value for them.
        let is_update = finding.is_of_an_update() && !finding.notes.iter().any(|note| note.contains(TELLS));
        let help = if is_update { OF_AN_UPDATE } else { &finding.help };
        Finding { help: finding.in_its_language(help), ..finding }
    }

    /// What a launch has used tells its calls by the program's own paths.
    fn keep_paths(&self, used: &mut Used, paths: &Paths) {
        if paths.is_empty() {
            return;
        }
        let count = self.sites.len() as u32;
        let numbers = self.paths().enter_all(paths);
        for range in &mut used.ranges {
            range.path = numbers[(range.by.1 / count) as usize];
            range.by.1 %= count;
        }
    }

    fn paths(&self) -> MutexGuard<'_, Paths> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where threads change a value by a load and a store.
const OF_AN_UPDATE: &str = "change it by an atomic (`atomicAdd` and its like; `atom` or `red`), or let one thread do it: several that load the same \
                            value and store another lose updates";

/// Where a thread reads by `ld.const` what its grid writes: why that goes wrong, and what to write instead.
const OF_CONSTANTS: (&str, &str) = (
    "`ld.const` may return old bytes, even after a barrier or an acquire: a kernel must not write what it reads as constant memory",
    "read it with plain `ld.global`, from a `__device__` variable, or write it in a kernel before or by a copy (cudaMemcpyToSymbol)",
);

fn refused(stop: &Stop) -> Finding {
    let help = if stop.text.contains(OF_ARGUMENTS) {
        "give one argument for each parameter, in their order and of their sizes (`--arg` of `cargo ptx run`): `buf:` or `u64:` for 8 bytes, `u32:` or `f32:` for 4"
    } else {
        "launch it as it was compiled, within what a GPU has"
    };
    Finding {
        kind: Kind::Launch,
        title: stop.text.clone(),
        places: vec![],
        notes: vec![],
        help: help.into(),
        times: 1,
        further: vec![],
    }
}

impl Machine<'_> {
    /// What was used of the memory outside.
    pub(crate) fn used(&mut self) -> Used {
        let mut used = self.checks.as_mut().map(|checks| checks.used()).unwrap_or_default();
        let ranges = used.ranges.iter_mut().chain(&mut used.early);
        ranges.for_each(|range| range.by.0.block = self.grids.own(range.by.0.block));
        self.program.keep_paths(&mut used, &self.paths);
        used
    }

    /// What ended a launch early becomes a finding. Gives back what is no fault of the kernel.
    pub(crate) fn explain(&mut self, stop: Stop) -> Option<Stop> {
        // It is no instruction, or none that is known.
        if stop.why == Why::Gap || self.malformed {
            let line = self.program.sites[self.site as usize].line;
            return Some(Stop { text: format!("PTX line {line}: {}", stop.text), ..stop });
        }
        // What goes astray where a block ends is a copy.
        let text = text::guarded(&self.program.sites[self.site as usize].text).1;
        let is_end = matches!(text, "ret" | "exit") && stop.why == Why::Astray;
        if is_end && self.checks.as_ref().is_some_and(|checks| checks.has(Kind::Async)) {
            return None;
        }
        let (kind, help) = match stop.why {
            Why::Astray if is_end => (Kind::Async, "let the block wait for every copy that it began, before it ends"),
            Why::Misaligned if stop.text.contains(OF_A_SIZE) => {
                (Kind::Misaligned, "copy a multiple of 16 bytes, and the rest by loads and stores")
            }
            Why::Misaligned => {
                (Kind::Misaligned, "align the address to the size of the whole access, vectors included")
            }
            Why::Astray if stop.text.contains("tensor memory") => (
                Kind::Bounds,
                "allocate the columns with `tcgen05.alloc`; warp number `n` loads and stores lanes `32 * (n % 4)` to `32 * (n % 4) + 31`",
            ),
            Why::Astray if stop.text.contains(OF_A_SURFACE) => (
                Kind::Bounds,
                "compare the coordinates with the sizes of the surface (the first one is in bytes), or take \
                 cudaBoundaryModeClamp or cudaBoundaryModeZero",
            ),
            Why::Astray if stop.text.contains(NO_OBJECT) => (
                Kind::Bounds,
                "hand over what cudaCreateTextureObject or cudaCreateSurfaceObject gave; destroy it, and free its memory, after \
                 the last kernel that uses it",
            ),
            Why::NotGiven => (Kind::Bounds, "free what `malloc` gave, by its first address, once"),
            Why::Astray => (Kind::Bounds, "compare the index with the length of the buffer before the access"),
            Why::Trap if self.program.grid_workspace.is_some() && !self.launch.cooperative => (
                Kind::Launch,
                "launch it cooperatively, since its blocks wait for each other: `cudaLaunchCooperativeKernel`, or `--cooperative` here",
            ),
            Why::Trap if stop.text.contains(ASSERTION) => {
                (Kind::Launch, "look at why the condition is false in this thread")
            }
            Why::Trap => {
                (Kind::Launch, "an assertion of the kernel does not hold: look at the condition before the `trap`")
            }
            Why::Late => (
                Kind::Deadlock,
                "if blocks end, it takes its time: launch less, or give it a later deadline. If none ends, see what each thread \
                 waits for",
            ),
            Why::Deep => (
                Kind::Bounds,
                "end the recursion earlier, or ask for less by `alloca`: a GPU has at most 512 KB of stack for a thread, and 1 KB without `cudaLimitStackSize`",
            ),
            Why::Endless => (Kind::Deadlock, self.advice()),
            Why::Wrong if stop.text.contains("mask") => {
                (Kind::Deadlock, "every thread that executes it has to be in the mask, with the same mask")
            }
            Why::Wrong if stop.text.contains("arrivals") => (
                Kind::Async,
                "wait for the end of the phase before the next arrival (who fills a stage again, for the barrier by which it was given \
                     back), or let `mbarrier.init` have the number of arrivals of a phase",
            ),
            Why::Wrong if stop.text.contains(TWO_NUMBERS) => (
                Kind::Launch,
                "let every `bar.sync` and `bar.arrive` of this barrier name the same number: of all threads that wait at it or arrive",
            ),
            Why::Wrong | Why::Gap => (Kind::Launch, "see the PTX ISA for what the instruction takes"),
        };
        let deadlock = std::mem::take(&mut self.stuck_at);
        let lane = stop.lane.unwrap_or(self.current.mask.trailing_zeros() as usize % 32);
        let thread = self.current.thread(lane);
        let actor = Actor { block: self.block_of(thread) as u32, number: self.number_of(thread) };
        let (site, current) = (self.site, stop.text.clone());
        let (size, blocks) = (self.shared_bytes(), self.cluster);
        let checks = self.checks.as_mut()?;
        let mut found = Found {
            kind,
            title: title(kind, &stop).into(),
            places: vec![(actor, site, "does it".into())],
            notes: vec![],
            help: help.into(),
            times: 1,
        };
        match address(&current) {
            Some(address) => {
                let bytes = bytes(&current).unwrap_or(1);
                found.places[0].2 = match kind {
                    Kind::Bounds if stop.why == Why::NotGiven => format!("frees {}", checks.place_of(address)),
                    Kind::Bounds => checks.extent(address, bytes),
                    _ => format!("accesses {}", checks.place_of(address)),
                };
                let is_beyond = kind == Kind::Bounds && is_beyond_shared(address.saturating_add(bytes), blocks, size);
                found.notes.extend(is_beyond.then(|| format!("a block has {size} bytes of shared memory")));
                if is_beyond && size == 0 {
                    found.help = "let the launch add shared memory: `--shared` of `cargo ptx run`, the third number of `<<<…>>>`".into();
                }
                let multiple = current.split_once("multiple of ").and_then(|(_, rest)| rest.split(' ').next());
                found.notes.extend(multiple.map(|of| format!("the address has to be a multiple of {of}")));
            }
            None if deadlock.is_empty() => {
                let instruction = &self.program.sites[site as usize].text;
                let own = current.strip_prefix(instruction.as_str()).and_then(|rest| rest.strip_prefix(": "));
                found.notes.push(own.unwrap_or(&current).to_owned());
            }
            None => {}
        }
        if let Some(help) =
            address(&current).filter(|_| kind == Kind::Bounds).and_then(|at| of_other_block(at, actor, blocks))
        {
            found.help = help.into();
        }
        if is_freed(&found.places[0].2) && stop.why != Why::NotGiven {
            found.title = "memory is accessed that a thread has freed".into();
            found.help = "free it after the last access".into();
        }
        if is_end {
            found.title = "a block ends before a copy into its shared memory is known to be done".into();
        }
        if let Some((actor, _, wait)) = deadlock.first() {
            let bar = checks.waits.get(&(actor.block, actor.number)).map(|(bar, ..)| *bar);
            if bar.is_some_and(|bar| checks.hangs_by_early_use(bar, wait)) {
                return None;
            }
            found.places = deadlock;
        }
        checks.find(found);
        None
    }
}

/// What to do about an access of the shared memory of a block that the thread cannot reach.
fn of_other_block(address: u64, actor: Actor, blocks: usize) -> Option<&'static str> {
    match owner(address, blocks).0 {
        Owner::Nobody if is_shared(address) => Some(
            "compare the rank with the number of blocks in the cluster (`%cluster_nctarank`, cluster.num_blocks()) before `mapa`",
        ),
        Owner::Shared(block) if block / blocks != actor.block as usize / blocks => Some(OF_OTHER_BLOCK),
        _ => None,
    }
}

/// Whether bytes that end at an address are behind a block's shared memory, which has this size.
fn is_beyond_shared(end: u64, blocks: usize, size: usize) -> bool {
    matches!(owner(end.saturating_sub(1), blocks), (Owner::Shared(_), last) if last >= size as u64)
}

/// What says that a condition of the kernel's own is false.
const ASSERTION: &str = "the assertion `";

/// What says that a kernel is given other arguments than it takes.
const OF_ARGUMENTS: &str = ", and is given ";
/// What says that two threads come to a barrier with two numbers.
const TWO_NUMBERS: &str = "a thread waits for ";
/// What says that a size is no multiple of what it has to be.
const OF_A_SIZE: &str = " bytes are no multiple";
/// What says that a surface is accessed outside.
const OF_A_SURFACE: &str = " outside of its surface";
/// What says that a number stands for no texture and no surface.
const NO_OBJECT: &str = " object";

fn title(kind: Kind, stop: &Stop) -> &'static str {
    match kind {
        Kind::Misaligned if stop.text.contains(OF_A_SIZE) => {
            "a bulk copy or prefetch has a size that is no multiple of 16 bytes"
        }
        Kind::Misaligned => "an address is not as aligned as its access",
        Kind::Bounds if stop.why == Why::Deep => "a stack overflows",
        Kind::Bounds if stop.text.contains("space") => {
            "an address is not in the state space that the instruction names"
        }
        Kind::Bounds if stop.text.contains("tensor memory") => {
            "tensor memory is used that the block has not allocated, or that belongs to other lanes"
        }
        Kind::Bounds if stop.why == Why::NotGiven => {
            "memory is freed that `malloc` has not given, or that is freed already"
        }
        Kind::Bounds if stop.text.contains(OF_A_SURFACE) => "an access is outside of a surface",
        Kind::Bounds if stop.text.contains(NO_OBJECT) => {
            "a number is used that stands for no texture or surface of the program"
        }
        Kind::Bounds => "an access is outside of every piece of memory",
        Kind::Deadlock if stop.why == Why::Late => LATE,
        Kind::Deadlock if stop.text.contains("no end") => "the kernel does not end",
        Kind::Deadlock if stop.text.contains("mask") => "threads of a warp do not agree on who takes part",
        Kind::Deadlock => "all threads wait, and nobody is left who could end that",
        Kind::Async => "threads arrive at a barrier more often than its phase expects",
        _ if stop.text.contains(ASSERTION) => "an assertion of the kernel does not hold",
        _ if stop.text.contains(TWO_NUMBERS) => "a barrier is used with two numbers of threads",
        _ if stop.why == Why::Trap => "the kernel ended itself",
        _ => "an instruction is used as it must not be",
    }
}

/// How many bytes a message is about.
fn bytes(text: &str) -> Option<u64> {
    text.split_once(" bytes at")?.0.rsplit(' ').next()?.parse().ok()
}

/// The address in a message.
fn address(text: &str) -> Option<u64> {
    let (_, digits) = text
        .rsplit_once("0x")
        .filter(|_| text.contains("bytes at") || text.contains("multiple of") || text.contains("is not in"))?;
    let digits: String = digits.chars().take_while(char::is_ascii_hexdigit).collect();
    u64::from_str_radix(&digits, 16).ok()
}
