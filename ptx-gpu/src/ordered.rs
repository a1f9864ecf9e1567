//! What work has used, and the order that it lacks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ptx_interpreter::{Alias, Finding, Kind, Place, Program, Record, Use, Used, UsedRange, first_address};

use crate::caller::Caller;
use crate::changed::is_checked;
use crate::children::Parent;
use crate::gpu::{Gpu, Handle};
use crate::missing_order::{BESIDE, EARLY, NOT_CONSTANT, UNTOLD, help};
use crate::order::{By, Clock, Conflict, Deed, Line, Point, Range, Turn, User};
use crate::output::tell;
use crate::visible::of_gpu;
use crate::work::{Fill, Side, Transfer, Work};

/// What is new of a deed: its name, what it does to all bytes, and the program of a kernel.
#[derive(Default)]
struct New {
    name: String,
    does: Option<&'static str>,
    launch: Option<u64>,
    program: Option<Arc<Program>>,
    /// Where the program asks for it, if that is not where its graph is launched.
    caller: Option<Caller>,
    releases: bool,
    launches_dependents: bool,
}

impl New {
    fn call(kind: &str, call: &str) -> New {
        New { name: format!("a {kind} ({})", short(call)), ..New::default() }
    }
}

/// The name of a call without its version.
fn short(call: &str) -> &str {
    call.trim_end_matches("_v2")
}

/// The bytes of each row.
fn rows(side: Side, [width, height, depth]: [usize; 3], how: Use) -> Vec<Range> {
    let is_dense = side.row == width && (depth <= 1 || side.plane == width * height);
    if is_dense {
        return vec![range(side.start, width * height * depth, how)];
    }
    let starts = (0..depth).flat_map(|plane| (0..height).map(move |row| plane * side.plane + row * side.row));
    starts.map(|at| range(side.start + at as u64, width, how)).collect()
}

fn range(begin: u64, bytes: usize, how: Use) -> Range {
    Range { begin, end: begin + bytes as u64, how, by: None }
}

fn ranges_of(used: &[UsedRange]) -> Vec<Range> {
    used.iter()
        .map(|used| Range { begin: used.begin, end: used.end, how: used.how, by: Some(By::Instruction(*used)) })
        .collect()
}

/// Ranges by the first addresses of their memory.
fn by_first_addresses(ranges: &[Range], aliases: &[Alias]) -> Vec<Range> {
    let mut all = Vec::new();
    for range in ranges {
        let mut at = range.begin;
        while at < range.end {
            let (begin, bytes, _) = first_address(aliases, at, range.end - at);
            all.push(Range { begin, end: begin + bytes, ..*range });
            at += bytes;
        }
    }
    all
}

impl Gpu {
    /// What messages call a stream.
    pub(crate) fn name_of(&self, stream: Handle) -> String {
        format!("{}{}", self.order.name_of(stream), of_gpu(self.order.gpu_of(stream)))
    }

    /// A copy was done.
    pub(crate) fn has_copied(&mut self, what: &Transfer, point: &mut Point) {
        let mut ranges = Vec::new();
        for (side, how) in [(what.from, Use::Reads), (what.to, Use::Writes)] {
            if self.memory.find(side.start).is_some() {
                ranges.extend(rows(side, what.size, how));
            }
        }
        self.tell_used(what.call, New::call("copy", what.call), point, &ranges);
    }

    /// Bytes were filled.
    pub(crate) fn has_filled(&mut self, what: &Fill, point: &mut Point) {
        let Fill { to, element, pitch, size: [width, height], call, .. } = *what;
        // Streams tell others by it that something is done.
        let (kind, how) = match call.contains("WriteValue") {
            true => ("value", Use::WritesStrongly),
            false => ("fill", Use::Writes),
        };
        let side = Side { start: to, is_device: true, row: pitch.max(width * element), plane: 0 };
        let ranges = rows(side, [width * element, height, 1], how);
        self.tell_used(call, New { releases: true, ..New::call(kind, call) }, point, &ranges);
    }

    /// Memory was allocated in a stream: only what comes after it may use it.
    pub(crate) fn has_allocated(&mut self, place: u64, call: &str, point: &mut Point) {
        self.all_of(place, call, "allocates", point);
    }

    /// Memory is freed in a stream: what uses it has to come before.
    pub(crate) fn frees(&mut self, place: u64, call: &str, point: &mut Point) {
        if let Some((begin, end)) = self.all_of(place, call, "frees", point) {
            self.order.forget(begin, end);
        }
    }

    fn all_of(&mut self, place: u64, call: &str, does: &'static str, point: &mut Point) -> Option<(u64, u64)> {
        let one = self.memory.find(place).filter(|one| one.begin == place)?;
        let (begin, end) = (one.begin, one.end());
        let new = New { name: short(call).into(), does: Some(does), ..New::default() };
        self.tell_used(call, new, point, &[Range { begin, end, how: Use::Writes, by: None }]);
        Some((begin, end))
    }

    fn tell_used(&mut self, call: &str, new: New, point: &mut Point, ranges: &[Range]) {
        let findings = self.use_bytes(new, point, ranges, &Overlap::default());
        if !findings.is_empty() {
            tell(&Record { kernel: short(call).into(), findings, ..Record::default() });
        }
    }

    /// What a library's call has used. Finds what was not ordered before it.
    pub(crate) fn library_has_used(
        &mut self,
        call: &str,
        caller: &Caller,
        point: &mut Point,
        ranges: &[Range],
    ) -> Vec<Finding> {
        let new = New { name: call.into(), caller: Some(caller.clone()), ..New::default() };
        self.use_bytes(new, point, ranges, &Overlap::default())
    }

    /// What a kernel has used, on one GPU or on several at the same time. Finds what was not ordered before it.
    pub(crate) fn have_run(
        &mut self,
        name: &str,
        program: &Arc<Program>,
        used: &Used,
        points: &mut [Point],
        parent: Option<&Parent>,
    ) -> Vec<Finding> {
        if let [point] = points {
            return self.has_run(name, Arc::clone(program), used, point, parent);
        }
        // What comes before one of them comes before all: the launch has looked at that itself.
        let before = |point: &Point| point.turn.map_or_else(|| point.clock.clone(), |turn| point.clock.before(turn));
        let before: Vec<Clock> = points.iter().map(before).collect();
        let mut known = Clock::default();
        before.iter().for_each(|before| known.join(before));
        let all: BTreeSet<(usize, u32)> = used.ranges.iter().map(|range| (range.grid, range.met)).collect();
        let mut all: Vec<(usize, u32)> = all.into_iter().collect();
        // What many have met does not take the place of what one does last.
        all.sort_by_key(|(_, met)| Reverse(met.count_ones()));
        let mut findings = Vec::new();
        for (grid, met) in all {
            let ranges = used.ranges.iter().filter(|range| (range.grid, range.met) == (grid, met)).copied().collect();
            let own = &points[grid];
            // What others have met comes before what comes after them, and what they have not does not.
            let is_alone = met == 1 << grid;
            let turn = if is_alone { own.turn } else { Some(self.order.turn_apart(self.order.gpu_of(own.stream))) };
            let number = own.turn.map(|(_, number)| number);
            let mut point = Point { clock: known.clone(), turn, number, ..own.clone() };
            let used = Used { ranges, ..used.clone() };
            findings.extend(self.has_run(name, Arc::clone(program), &used, &mut point, None));
            if is_alone {
                points[grid].grid = point.grid;
            } else if let Some((line, number)) = turn {
                let after = points.iter_mut().enumerate().filter(|(grid, _)| met >> grid & 1 == 1);
                after.for_each(|(_, own)| own.clock.raise(line, number));
            }
        }
        used.follows.iter().for_each(|(grid, other)| points[*grid].clock.join(&before[*other]));
        findings
    }

    /// The same on one GPU.
    fn has_run(
        &mut self,
        name: &str,
        program: Arc<Program>,
        used: &Used,
        point: &mut Point,
        parent: Option<&Parent>,
    ) -> Vec<Finding> {
        let ranges = ranges_of(&used.ranges);
        let mut overlap = point.grid_before.map(|before| self.overlap(before, &program, used)).unwrap_or_default();
        if let Some((parent, running)) = parent.and_then(|parent| Some((parent, parent.running?))) {
            overlap.beside = self.order.beside_parent(running, &ranges, used.acquires);
            overlap.launched_at = Some(parent.place.clone());
        }
        if used.acquires {
            let are_strong = |range: &&Range| matches!(range.how, Use::ReadsStrongly | Use::WritesStrongly);
            for range in ranges.iter().filter(are_strong) {
                self.order.follow_writers(point, (range.begin, range.end), true);
            }
        }
        let name = format!("kernel `{name}`, launch {}", self.launches);
        let new = New {
            name,
            does: None,
            launch: Some(self.launches),
            program: Some(program),
            caller: parent.map(|_| Caller::default()),
            releases: used.releases,
            launches_dependents: used.launches_dependents,
        };
        self.use_bytes(new, point, &ranges, &overlap)
    }

    /// What a kernel uses of what the one before it uses, which may still run.
    fn overlap(&self, before: Turn, program: &Program, used: &Used) -> Overlap {
        let early = self.order.too_early(before, &ranges_of(&used.early), used.acquires);
        let cached: Vec<UsedRange> = used
            .ranges
            .iter()
            .filter(|range| range.how == Use::Reads && program.is_for_constants(range))
            .copied()
            .collect();
        let mut cached = self.order.too_early(before, &ranges_of(&cached), false);
        cached.retain(|one| one.earlier.deed.launches_dependents);
        cached.retain(|one| !early.iter().any(|early| is_by_same_instructions(early, one)));
        Overlap { early, cached, ..Overlap::default() }
    }

    /// Finds what was not ordered before, and what kernels do wrong that run at the same time.
    fn use_bytes(&mut self, new: New, point: &mut Point, ranges: &[Range], overlap: &Overlap) -> Vec<Finding> {
        if !is_checked() {
            return Vec::new();
        }
        let aliases = self.mapped.aliases();
        let named = (!aliases.is_empty()).then(|| by_first_addresses(ranges, &aliases));
        let ranges = named.as_deref().unwrap_or(ranges);
        let before = point.clock.clone();
        let (line, number) = self.order.step(point);
        let stream = self.name_of(point.stream);
        let place = match &point.member {
            Some(member) => format!("{member} in {stream}"),
            None => format!("number {} in {stream}", point.number.unwrap_or(number)),
        };
        let member = point.member.clone();
        let New { name, does, launch, program, caller, releases, launches_dependents } = new;
        let kind = self.order.kind_of(point.stream);
        point.grid = program.is_some().then_some((line, number));
        let flag = program.as_ref().and_then(|program| self.flag_for_the_host(program, ranges));
        if flag.is_some() {
            // Work begins after what came before it, and so the host knows by the flag that this is done.
            self.order.host_knows(&before);
        }
        let deed = Arc::new(Deed {
            name,
            does,
            stream,
            kind,
            place,
            line,
            number,
            member,
            program,
            launch,
            caller: caller.unwrap_or_else(|| point.caller.clone()),
            releases,
            launches_dependents,
            flag,
        });
        let conflicts = self.order.use_bytes(&deed, point, ranges);
        let is_of_the_host = |range: &Range| self.memory.is_of_the_host(range.begin);
        if deed.program.is_none()
            && ranges.iter().any(|range| range.how == Use::WritesStrongly && is_of_the_host(range))
        {
            // A number that a stream writes comes after all before it.
            self.order.host_knows(&point.clock);
        }
        ranges.iter().for_each(|range| self.has_used(range.begin, range.end));
        let at = overlap.launched_at.as_ref();
        let beside = overlap.beside.chunk_by(is_by_same_instructions).map(|all| self.beside_parent(all, &deed, at));
        let early = overlap.early.chunk_by(is_by_same_instructions).map(|all| self.too_early(all, &deed));
        let cached = overlap.cached.chunk_by(is_by_same_instructions).map(|all| self.not_constant(all, &deed));
        let missing = newest(conflicts).into_values();
        let missing = missing.map(|all| self.missing(&all, &deed, before.of(all[0].earlier.deed.line)));
        beside.chain(early).chain(cached).chain(missing).collect()
    }

    /// What a kernel stores by a strong access in memory of the host, which may look at it while the kernel runs.
    fn flag_for_the_host(&self, program: &Program, ranges: &[Range]) -> Option<UsedRange> {
        let strong = ranges.iter().filter(|range| range.how == Use::WritesStrongly);
        let of_the_host = strong.filter(|range| self.memory.is_of_the_host(range.begin));
        let mut used = of_the_host.filter_map(|range| range.by.as_ref()?.instruction());
        used.find(|used| program.is_for_the_system(used)).copied()
    }

    /// What a kernel reads as constant, and the one before it may write while this one runs.
    fn not_constant(&self, all: &[Conflict], deed: &Arc<Deed>) -> Finding {
        let note = "the first lets the second begin by `griddepcontrol.launch_dependents`, and a fence between does not put the write before \
                    that; `ld.global.nc` is for data that nobody writes as long as the kernel runs, and a compiler may move it before the wait";
        let ends = " as constant, and both may run at the same time";
        Finding { kind: Kind::Nc, ..self.finding(all, deed, ends, Some(note.into()), NOT_CONSTANT.into()) }
    }

    /// What a kernel uses before it knows that the kernel before it has ended.
    fn too_early(&self, all: &[Conflict], deed: &Arc<Deed>) -> Finding {
        let note = match all[0].earlier.deed.launches_dependents {
            true => "the first lets it begin by `griddepcontrol.launch_dependents`",
            false => {
                "it may begin when the blocks of the first have ended, and what these wrote may not be visible yet"
            }
        };
        let note = format!("the second is launched with the attribute for programmatic dependent launch: {note}");
        let ends = " before `griddepcontrol.wait`, and nothing orders the two";
        self.finding(all, deed, ends, Some(note), EARLY.into())
    }

    /// What a kernel and the one that has launched it do at the same time.
    fn beside_parent(&self, all: &[Conflict], deed: &Arc<Deed>, launched_at: Option<&Place>) -> Finding {
        let note = "the first launches the second, and goes on: the second comes after what the launching thread knows when it launches it";
        let mut finding = self.finding(all, deed, ", and nothing orders the two", Some(note.into()), BESIDE.into());
        finding.places.extend(launched_at.cloned());
        finding
    }

    /// The order that one piece of work lacks to another one, up to whose line it knows so many to be done.
    fn missing(&self, all: &[Conflict], deed: &Arc<Deed>, known: u64) -> Finding {
        let earlier = &all[0].earlier.deed;
        let is_recorded_early = known > 0 && !self.order.host_has(earlier.line, known) && earlier.member.is_none();
        let note = is_recorded_early.then(|| {
            format!(
                "the second waits for what {} was given up to number {known}, and the first came later: its event is \
                 recorded too early",
                earlier.stream
            )
        });
        self.finding(all, deed, ", and nothing orders the two", note, help(earlier, deed))
    }

    /// Two pieces of work that use the same bytes. The title ends so, after what the second one does.
    fn finding(&self, all: &[Conflict], deed: &Arc<Deed>, ends: &str, note: Option<String>, help: String) -> Finding {
        let first = &all[0];
        let earlier = &first.earlier;
        let later = User { deed: Arc::clone(deed), how: first.later.how, by: first.later.by };
        let bytes: u64 = all.iter().map(|conflict| conflict.end - conflict.begin).sum();
        let both = self.memory.describe(first.begin);
        let mut notes = vec![
            format!("the first: {}", earlier.described()),
            format!("the second: {}", later.described()),
            format!("{bytes} bytes are used by both, the first of them {both}"),
        ];
        notes.extend(earlier.deed.flag.map(|_| UNTOLD.to_owned()));
        notes.extend(note);
        Finding {
            kind: Kind::Race,
            title: format!(
                "{} {} bytes that {} {}{ends}",
                earlier.deed.subject(),
                earlier.verb(),
                deed.subject(),
                later.verb()
            ),
            places: [earlier, &later].into_iter().filter_map(|user| self.place(user, first.begin)).collect(),
            notes,
            help,
            times: 1,
            further: vec![],
        }
    }

    /// Where a kernel uses bytes, or where the program asks for other work that uses what is at an address.
    pub(crate) fn place(&self, user: &User, address: u64) -> Option<Place> {
        let what = |begin, end| format!("the first of {} bytes, {}", end - begin, self.memory.describe(begin));
        match user.by {
            Some(By::Instruction(used)) => {
                let what = what(used.begin, used.end);
                Some(user.deed.program.as_ref()?.place_of(&used, format!("{} {what}", user.verb())))
            }
            Some(By::Operand { name, begin, end }) => {
                user.deed.caller.place(&format!("the call {} {name}: {}", user.verb(), what(begin, end)))
            }
            None => {
                let (name, verb, at) = (&user.deed.name, user.verb(), self.memory.describe(address));
                user.deed.caller.place(&format!("the host starts {name}, which {verb} {at}"))
            }
        }
    }

    /// Whether the host knows that work is done when its call returns.
    pub(crate) fn is_waited_for(&self, work: &Work, waits: bool) -> bool {
        let memory = &self.memory;
        let is_of_the_gpu = |address| memory.find(address).is_some() && !memory.is_of_the_host(address);
        match work {
            // What the program has allocated by itself is copied through memory of the driver's.
            Work::Copy(what) if self.memory.find(what.to.start).is_none() => true,
            Work::Copy(what) => waits && !(is_of_the_gpu(what.to.start) && is_of_the_gpu(what.from.start)),
            Work::Fill(what) => !what.call.contains("Async") && !is_of_the_gpu(what.to),
            _ => false,
        }
    }
}

/// What a kernel and the one before it both use, if that may still run: what is used before its end is known, and what is read as
/// constant. And what it and the one that has launched it use.
#[derive(Default)]
struct Overlap {
    beside: Vec<Conflict>,
    launched_at: Option<Place>,
    early: Vec<Conflict>,
    cached: Vec<Conflict>,
}

/// Whether two kernels use bytes in the same way by the same instructions.
fn is_by_same_instructions(one: &Conflict, other: &Conflict) -> bool {
    let of = |conflict: &Conflict| conflict.later.by.and_then(|by| by.instruction().copied());
    one.later.how == other.later.how
        && of(one).zip(of(other)).is_some_and(|(one, other)| one.has_instruction_of(&other))
}

/// Of the work on each line the newest piece that was not ordered before, and the bytes of both.
fn newest(conflicts: Vec<Conflict>) -> HashMap<Line, Vec<Conflict>> {
    let mut newest: HashMap<Line, Vec<Conflict>> = HashMap::new();
    for conflict in conflicts {
        let (line, number) = (conflict.earlier.deed.line, conflict.earlier.deed.number);
        let known = newest.entry(line).or_default();
        let last = known.first().map_or(0, |known| known.earlier.deed.number);
        if number > last {
            known.clear();
        }
        if number >= last {
            known.push(conflict);
        }
    }
    newest
}

impl User {
    /// The work, and of a library's call the operand.
    pub(crate) fn name(&self) -> String {
        match self.by {
            Some(By::Operand { name, .. }) => format!("{} ({name})", self.deed.name),
            _ => self.deed.name.clone(),
        }
    }

    /// The work, its place in its stream, and where the program asks for a kernel. For other work that is a place of the finding.
    pub(crate) fn described(&self) -> String {
        let deed = &self.deed;
        let called = if deed.program.is_some() { deed.caller.called() } else { String::new() };
        format!("{}, {}{called}", self.name(), deed.place)
    }

    /// What it does with the bytes.
    pub(crate) fn verb(&self) -> &'static str {
        self.deed.does.unwrap_or(match self.how {
            Use::Reads | Use::ReadsStrongly => "reads",
            Use::Writes => "writes",
            Use::WritesStrongly => "changes",
        })
    }
}
