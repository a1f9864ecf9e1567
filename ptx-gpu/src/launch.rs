//! A launch: its arguments, its run in each order, and what is reported of it.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use ptx_interpreter::{
    Before, Counting, Counts, DeviceLaunch, Finding, Gaps, Heap, Kind, Launch, Newest, Order, Outside, Overwritten,
    Peer, Piece, Program, Record, Report, Stop, Used, Why,
};

use crate::access::without_access;
use crate::allowed::Refusal;
use crate::at_end::at_end;
use crate::caller::Caller;
use crate::changed::{changed, is_checked};
use crate::children::{Children, Parent};
use crate::counted::Counted;
use crate::driver::launch::plain;
use crate::gpu::{Function, Gpu, HEAP_SIZE, Handle, Variables, any};
use crate::memory::{FREED, host_mapping};
use crate::order::Point;
use crate::output::{note, print, tell};
use crate::reach::Reach;
use crate::seeds::{Runs, seeds};
use crate::settings::SETTINGS;
use crate::status::{
    ASSERT, ILLEGAL_ADDRESS, INVALID_VALUE, LAUNCH_FAILED, LAUNCH_TIMEOUT, MISALIGNED_ADDRESS, Result, Status,
};
use crate::visible::one_of_several;
use crate::work::{Kernel, Shape, Work};

/// Where the constant bank begins, which may be anywhere.
const CONSTANT_BANK: u64 = 4096;
/// Instructions of a launch that is not checked; after them it has no end.
const STEPS: u64 = 1 << 30;
/// GPUs from sm_90 on begin a kernel before the one before it has ended.
const PROGRAMMATIC: u32 = 90;
/// What messages call memory of the host.
const OF_THE_HOST: &str = "memory of the host";

/// A kernel, as one GPU runs it.
pub(crate) struct Grid<'a> {
    function: Handle,
    /// The bytes of each argument.
    values: &'a [Vec<u8>],
}

impl Grid<'_> {
    fn of(kernel: &Kernel) -> Grid<'_> {
        Grid { function: kernel.function, values: &kernel.arguments.values }
    }

    fn arguments(&self) -> Vec<*const u8> {
        self.values.iter().map(Vec::as_ptr).collect()
    }
}

impl Gpu {
    /// Runs a kernel, and then what it has launched.
    /// Of one kernel on several GPUs all run at the same time. Gives whether it waits for what is done later, if it `may`: then
    /// nothing was done.
    pub(crate) fn launch(&mut self, kernels: &[&Kernel], points: &mut [Point], may: bool) -> Result<bool> {
        let grids: Vec<Grid<'_>> = kernels.iter().map(|kernel| Grid::of(kernel)).collect();
        let first = self.function(grids[0].function)?;
        let (module, may) = (first.module, may && self.may_wait(first));
        let Some(launched) = self.launch_one(&grids, &kernels[0].shape, points, None, may)? else { return Ok(true) };
        let mut children = Children::default();
        children.add(launched, points[0].grid);
        while let Some((child, parent)) = children.next().filter(|_| self.fault.is_none()) {
            let function = self.kernel(module, &child.kernel)?;
            let shape = plain(child.blocks, child.threads, child.shared, self.function(function)?);
            let grid = Grid { function, values: &child.arguments };
            let launched = self.launch_one(&[grid], &shape, &mut points[..1], Some(&parent), false)?;
            children.add(launched.unwrap_or_default(), points[0].grid);
        }
        Ok(false)
    }

    /// Whether a kernel may wait for what is done later.
    fn may_wait(&self, function: &Function) -> bool {
        let module = self.modules.get(&function.module);
        is_checked() && module.is_some_and(|module| module.program.may_wait(&function.name()))
    }

    /// Runs a kernel, and says what it has launched. None, if it `may` wait for what is done later, and does.
    fn launch_one(
        &mut self,
        grids: &[Grid<'_>],
        shape: &Shape,
        points: &mut [Point],
        parent: Option<&Parent>,
        may: bool,
    ) -> Result<Option<Vec<DeviceLaunch>>> {
        let function = self.function(grids[0].function)?.clone();
        self.launches += 1;
        self.may_launch(&function, shape, parent)?;
        let name = function.name();
        if let Some(room) = self.limits.get(&HEAP_SIZE) {
            self.heap().resize(*room);
        }
        if let Some(launched) = self.launch_unchecked(grids, (&function, shape), points, (parent, may)) {
            return Ok(Some(launched));
        }
        let seeds = seeds();
        // What an order overwrites is put back before the next one.
        let overwritten = (may || seeds.len() > 1).then(|| (Mutex::<Overwritten>::default(), self.heap().clone()));
        let (mut kept_used, mut kept_launched) = (Used::default(), Vec::new());
        let (mut after, mut newest) = (None, SETTINGS.weak.then(|| Newest::new(SETTINGS.seed)));
        let begins_early = shape.is_programmatic && self.device.sm >= PROGRAMMATIC && points[0].grid_before.is_some();
        // The first order's own uses are no earlier work to the others.
        let before = if grids.len() > 1 {
            self.order.known_apart(&points.iter().map(|point| &point.clock).collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        for (at, seed) in seeds.iter().copied().enumerate() {
            if let Some((overwritten, heap)) = overwritten.as_ref().filter(|_| at > 0) {
                self.take_back(overwritten, heap);
            }
            let kept = overwritten.as_ref().map(|(overwritten, _)| overwritten);
            let run = |order: &Order<'_>, goes_on| {
                self.run((grids, &before), &name, shape, (order, goes_on, begins_early), kept)
            };
            let report = run(&seed.order, seed.goes_on());
            let (report, fault) = match report {
                Ok(report) => {
                    let fault = fault(&report);
                    (report, fault)
                }
                Err(fault) => (Report::default(), Some(fault)),
            };
            if let Some((overwritten, heap)) = overwritten.as_ref().filter(|_| may && at == 0 && report.spins) {
                self.take_back(overwritten, heap);
                self.launches -= 1;
                return Ok(None);
            }
            let mut differs = Vec::new();
            if let Some((newest, (overwritten, heap))) = newest.as_mut().zip(overwritten.as_ref()) {
                let mut runs = Runs { gpu: self, run: |order: &Order<'_>| run(order, false), overwritten, heap };
                differs = runs.compare(newest, seed, &report).unwrap_or_default();
            }
            let stop = report.stop.as_ref().map(ToString::to_string);
            self.has_counted(&function, &report.counts);
            let Report { mut findings, instructions, printed, used, launched, .. } = report;
            if seed.goes_on() || fault.is_some() {
                print(&printed);
            }
            findings.extend(differs);
            findings.iter_mut().for_each(name_the_memory);
            if let Some(module) = self.modules.get(&function.module).filter(|_| seed.goes_on() && fault.is_none()) {
                let program = Arc::clone(&module.program);
                findings.extend(self.have_run(&name, &program, &used, points, parent));
            }
            if seed.goes_on() {
                (kept_used, kept_launched) = (used, launched);
            }
            let (kernel, launch, blocks, threads) = (name.clone(), self.launches, shape.blocks, shape.threads);
            let uncompared = newest.as_ref().filter(|_| seed.is_weak).and_then(Newest::uncompared);
            let (goes_on, seed) = (seed.goes_on(), seed.order.seed);
            let record = Record {
                kernel,
                launch,
                gpu: one_of_several(self.gpu_of(&function)),
                blocks,
                threads,
                seed,
                instructions,
                findings,
                stop,
                uncompared,
                ..Record::default()
            };
            tell(&record);
            match fault {
                // A launch that cannot be is refused at once; what goes wrong on the GPU shows later.
                Some(INVALID_VALUE) => return Err(INVALID_VALUE),
                Some(fault) => {
                    self.fault = Some(fault);
                    break;
                }
                None if goes_on && at + 1 < seeds.len() => after = kept.map(|kept| self.after(kept)),
                None => {}
            }
        }
        if let Some(((overwritten, heap), after)) = overwritten.zip(after) {
            self.take_back(&overwritten, &heap);
            self.put(&after);
        }
        match kept_used.writes() {
            Some(ranges) => self.memory.written_to(ranges),
            None => self.memory.written(),
        }
        self.memory.stored_undefined(&kept_used.undefined);
        Ok(Some(kept_launched))
    }

    /// Keeps how often its instructions were executed.
    pub(crate) fn has_counted(&mut self, function: &Function, counts: &Counts) {
        static ONCE: Once = Once::new();
        if SETTINGS.counting == Counting::Nothing {
            return;
        }
        at_end(&ONCE, end_counting);
        if let Some(module) = self.modules.get_mut(&function.module) {
            module.counted.get_or_insert_with(|| Counted::new(&module.program)).add(counts);
        }
    }

    pub(crate) fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is found; of a launch that is not checked, what it ends with.
    fn run(
        &self,
        (grids, before): (&[Grid<'_>], &[Before]),
        name: &str,
        shape: &Shape,
        (order, goes_on, begins_early): (&Order<'_>, bool, bool),
        overwritten: Option<&Mutex<Overwritten>>,
    ) -> std::result::Result<Report, Status> {
        self.with_launch((grids, name), shape, |program, outside, launch| {
            let launch = as_changed(Launch {
                seed: order.seed,
                delays: order.delays,
                only: order.only,
                tells_used: goes_on,
                overwritten,
                begins_early: begins_early && goes_on,
                before,
                ..launch
            });
            if !is_checked() {
                let launch = Launch { steps: STEPS, takes_launched: false, ..launch };
                // SAFETY: the values are as long as the parameters, and the allocations are there to be used.
                let ended = unsafe { program.run(outside, &launch) };
                return ended.map(|_| Report::default()).map_err(|stop| ending(&stop));
            }
            // SAFETY: as above.
            Ok(unsafe { program.check(outside, &launch, self.pieces(grids, launch.gpu as usize)) })
        })
    }

    /// What a launch needs that knows its program, its memory and its arguments.
    pub(crate) fn with_launch(
        &self,
        (grids, name): (&[Grid<'_>], &str),
        shape: &Shape,
        run: impl FnOnce(&Program, &Outside<'_>, Launch<'_>) -> std::result::Result<Report, Status>,
    ) -> std::result::Result<Report, Status> {
        let function = self.function(grids[0].function)?;
        let of =
            |grid: &Grid<'_>| Some((grid.arguments(), self.modules.get(&self.function(grid.function).ok()?.module)?));
        let Some(all) = grids.iter().map(of).collect::<Option<Vec<_>>>() else { return Ok(Report::default()) };
        let reaches: Vec<Reach> = all.iter().map(|(_, module)| self.reach(module.gpu)).collect();
        let holds = |address: u64, bytes: usize| reaches.iter().any(|reach| reach.holds(address, bytes));
        let variables: Vec<_> = all.iter().map(|(_, module)| |name: &str| place_of(&module.variables, name)).collect();
        let peer = |at: usize| Peer { gpu: all[at].1.gpu as u32, arguments: &all[at].0, variable: &variables[at] };
        let peers: Vec<Peer<'_>> = (1..all.len()).map(peer).collect();
        let (arguments, module) = &all[0];
        let program = Arc::clone(&module.program);
        let (objects, aliases) = (self.objects(), self.mapped.aliases());
        let launch = Launch {
            blocks: shape.blocks,
            threads: shape.threads,
            shared: shape.shared as usize,
            cluster: shape.cluster,
            cooperative: shape.is_cooperative,
            resident: Some(self.resident_blocks(function, shape)),
            steps: u64::MAX,
            deadline: SETTINGS.deadline,
            heap: Some(&self.heap),
            counting: SETTINGS.counting,
            takes_launched: true,
            objects: Some(&objects),
            aliases: &aliases,
            gpu: module.gpu as u32,
            peers: &peers,
            ..Launch::new(name, arguments)
        };
        run(&program, &Outside { holds: &holds, variable: &variables[0] }, launch)
    }

    /// What messages call memory: by the argument that points to it, if one does.
    fn pieces(&self, grids: &[Grid<'_>], gpu: usize) -> Vec<Piece> {
        let mut pieces = if grids.len() == 1 { self.pieces_for(gpu) } else { self.memory.pieces() };
        // Each GPU has arguments of its own.
        let values = if grids.len() == 1 { grids[0].values } else { &[] };
        for (number, value) in values.iter().enumerate() {
            let Ok(address) = value[..].try_into().map(u64::from_le_bytes) else { continue };
            let holds = |piece: &&mut Piece| (piece.begin..piece.begin + piece.bytes).contains(&address);
            if let Some(piece) = pieces.iter_mut().find(holds) {
                if !piece.name.starts_with("argument") {
                    piece.name = format!("argument {number}: {}", piece.name).into();
                }
            } else if let Some((begin, end)) = host_mapping(address) {
                let name = format!("{OF_THE_HOST}, to which argument {number} points").into();
                pieces.push(Piece {
                    name,
                    begin,
                    bytes: end - begin,
                    unwritten: Gaps::default(),
                    undefined: Gaps::default(),
                    shared_with_grid_before: false,
                });
            }
        }
        pieces
    }

    /// Whether work may be given to a graph: what is known before it is done.
    pub(crate) fn check(&self, work: &Work) -> Result {
        let Work::Kernel(kernel) = work else { return Ok(()) };
        self.may_launch(self.function(kernel.function)?, &kernel.shape, None)
    }

    /// A launch that is refused is a finding. What only the interpreter knows is checked there.
    fn may_launch(&self, function: &Function, shape: &Shape, parent: Option<&Parent>) -> Result {
        let Err(Refusal { status, title, help }) = self.allows(function, shape) else { return Ok(()) };
        let place = match parent {
            Some(parent) => Some(parent.place.clone()),
            None => Caller::of_call().place("the host launches it"),
        };
        let places = place.into_iter().collect();
        let finding = Finding { kind: Kind::Launch, title, places, notes: vec![], help, times: 1, further: vec![] };
        let kernel = function.name();
        let (launch, blocks, threads) = (self.launches, shape.blocks, shape.threads);
        let (gpu, findings) = (one_of_several(self.gpu_of(function)), vec![finding]);
        tell(&Record { kernel, launch, gpu, blocks, threads, findings, ..Record::default() });
        Err(status)
    }
}

/// A launch, as who has this library in his own changes it.
pub(crate) fn as_changed(mut launch: Launch<'_>) -> Launch<'_> {
    if let Some(changed) = changed() {
        (changed.launch)(&mut launch);
    }
    launch
}

/// Where a variable is, or the constant bank.
fn place_of(variables: &Variables, name: &str) -> Option<u64> {
    match name {
        "" => Some(CONSTANT_BANK),
        name => variables.get(name).map(|(place, _)| *place),
    }
}

/// The program ends.
extern "C" fn end_counting() {
    any().modules.values_mut().filter_map(|module| module.counted.as_mut()).for_each(Counted::end);
}

/// An access outside of every allocation may be one of what was freed, or of the host's own memory.
fn name_the_memory(finding: &mut Finding) {
    let is_in = |what: &str| finding.places.iter().any(|place| place.what.contains(what));
    if finding.kind != Kind::Bounds {
        return;
    }
    let without = finding.places.iter().find_map(|place| without_access(&place.what));
    if let Some((title, help)) = without {
        (finding.title, finding.help) = (title, help.into());
    } else if is_in(FREED) {
        finding.title = "a kernel accesses memory that was freed".into();
        finding.help = "free it after the last kernel that uses it has ended".into();
    } else if is_in(OF_THE_HOST) {
        finding.title = "a kernel accesses memory of the host".into();
        finding.help =
            "copy the bytes to device memory, or allocate them with cuMemAllocManaged or cuMemHostAlloc".into();
    }
}

/// What a GPU would end with, where nothing was checked.
fn ending(stop: &Stop) -> Status {
    note(&stop.to_string());
    match stop.why {
        Why::Misaligned => MISALIGNED_ADDRESS,
        Why::Astray | Why::NotGiven | Why::Deep => ILLEGAL_ADDRESS,
        Why::Endless | Why::Late => LAUNCH_TIMEOUT,
        Why::Gap | Why::Trap | Why::Wrong => LAUNCH_FAILED,
    }
}

/// What a GPU would end with.
fn fault(report: &Report) -> Option<Status> {
    if report.stop.is_some() {
        return Some(LAUNCH_FAILED);
    }
    let of = |finding: &Finding| match finding.kind {
        _ if finding.went_on() => None,
        _ if finding.hangs() => Some(LAUNCH_TIMEOUT),
        Kind::Bounds => Some(ILLEGAL_ADDRESS),
        Kind::Misaligned => Some(MISALIGNED_ADDRESS),
        Kind::Deadlock => Some(LAUNCH_TIMEOUT),
        Kind::Launch if finding.title.contains("assertion") => Some(ASSERT),
        // Refused before it began, or ended by itself.
        Kind::Launch if report.instructions == 0 => Some(INVALID_VALUE),
        Kind::Launch => Some(LAUNCH_FAILED),
        _ => None,
    };
    report.findings.iter().find_map(of)
}
