//! A launch that is checked, and what is found.

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::causes::by_cause;
use crate::check::{Actor, Call, Checks, Finding, Found, Kind, Pieces, Place, TELLS, Used, UsedRange};
use crate::counts::Counts;
use crate::machine::launch::{DeviceLaunch, Launch, Outside};
use crate::machine::stop::Stop;
use crate::machine::{Machine, Program};
use crate::memory::spaces::Named;
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
        finding.notes.extend(finding.may_lack_the_order_of_rust().then(|| OF_RUST.into()));
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

/// Where PTX has no order at an atomic of Rust.
const OF_RUST: &str = "the atomic has no order in the PTX: of `core::sync::atomic`, rustc before 1.101 leaves out the order of `fetch_add`, `swap` and their \
                       like, whatever the source says; `ptx!(atom.…)` keeps it";

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
}

/// What says that a kernel is given other arguments than it takes.
const OF_ARGUMENTS: &str = ", and is given ";
