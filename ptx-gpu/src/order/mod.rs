//! In which order a GPU may do the work of streams and graphs: what is known to be done before each piece of work.
//!
//! Each stream has a line, on which its work is done one piece after the other. The branches of a graph have lines of their own. A
//! [`Clock`] has of each line how far its work is known to be done. Work begins with the clock of its stream, and events and the
//! host have clocks too. Two pieces of work that use the same bytes need an order, and [`Uses`] knows who has used which.

mod clock;
mod member;
mod uses;

use std::collections::HashMap;
use std::sync::Arc;

use ptx_interpreter::Before;

pub(crate) use clock::{Clock, Line, Turn};
pub(crate) use member::{Group, Member};
pub(crate) use uses::{By, Conflict, Deed, Kind, Range, User};

use crate::caller::Caller;
use crate::calling::Thread;
use crate::handle::Handle;
use uses::Uses;

/// What is known of a stream.
struct Own {
    kind: Kind,
    gpu: usize,
    /// How many were created before it.
    number: usize,
    /// Its line, and those of the branches of its graphs.
    lines: Vec<Line>,
    clock: Clock,
    /// The kernel that it was given last, if it was given nothing since.
    grid: Option<Turn>,
}

/// Where a piece of work is in the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    pub(crate) stream: Handle,
    /// What is known to be done before it; when it was done, with it.
    pub(crate) clock: Clock,
    /// Which member it is of what the program hands over together.
    pub(crate) member: Option<Member>,
    /// The kernel directly before, if nothing but the stream or the edge of a graph orders the two.
    pub(crate) grid_before: Option<Turn>,
    /// The work itself, when it was done, if it is a kernel.
    pub(crate) grid: Option<Turn>,
    /// Its turn, if it had one before it could be done.
    pub(crate) turn: Option<Turn>,
    /// What messages call its number in the stream, if that is not its turn's.
    pub(crate) number: Option<u64>,
    /// Where the program asks for it.
    pub(crate) caller: Caller,
}

/// The order of all work.
#[derive(Default)]
pub(crate) struct Order {
    streams: HashMap<Handle, Own>,
    /// Of each line how many pieces of work it was given, and of which GPU's stream it is.
    counts: Vec<u64>,
    gpus: Vec<usize>,
    /// What will be done when all work is done of a GPU's streams that are gone.
    gone: HashMap<usize, Clock>,
    /// What the streams come after that a GPU will have.
    held_back: HashMap<usize, Clock>,
    /// Lines of streams that are gone.
    free: Vec<Line>,
    created: usize,
    /// What the host knows to be done, and how often it has learnt of more.
    host: Clock,
    learnt: u64,
    /// When the last launch of what a graph became will be done.
    executables: HashMap<Handle, Clock>,
    groups: u64,
    uses: Uses,
    /// Work that is held, and what threads of the host wait for that comes after some of it.
    held: Vec<Turn>,
    awaited: HashMap<Thread, Clock>,
}

impl Order {
    /// A stream is created. Some exist by themselves when they are first used.
    pub(crate) fn create(&mut self, stream: Handle, kind: Kind, gpu: usize) {
        self.created += usize::from(matches!(kind, Kind::Blocking | Kind::NonBlocking));
        let (number, line) = (self.created, self.line(gpu));
        let (lines, clock) = (vec![line], self.held_back.get(&gpu).cloned().unwrap_or_default());
        self.streams.insert(stream, Own { kind, gpu, number, lines, clock, grid: None });
    }

    /// The default stream of a GPU is used, which nobody creates.
    pub(crate) fn has_legacy(&mut self, stream: Handle, gpu: usize) {
        if !self.streams.contains_key(&stream) {
            self.create(stream, Kind::Legacy, gpu);
        }
    }

    /// A line that is free, or a new one.
    fn line(&mut self, gpu: usize) -> Line {
        let done = self.free.iter().position(|line| self.host.of(*line) >= self.counts[*line]);
        let line = done.map(|at| self.free.swap_remove(at)).unwrap_or_else(|| {
            self.counts.push(0);
            self.gpus.push(gpu);
            self.counts.len() - 1
        });
        self.gpus[line] = gpu;
        line
    }

    /// A stream is destroyed. What it was given is still done.
    pub(crate) fn destroy(&mut self, stream: Handle) {
        if let Some(own) = self.streams.remove(&stream) {
            self.gone.entry(own.gpu).or_default().join(&own.clock);
            self.free.extend(own.lines);
        }
    }

    /// Work begins in a stream, for which the caller asks.
    pub(crate) fn begin(&mut self, stream: Handle, caller: Caller) -> Point {
        let grid = self.streams.get_mut(&stream).and_then(|own| own.grid.take());
        let mut clock = self.host.clone();
        clock.join(&self.clock_of_others(stream));
        let grid_before = grid.filter(|(line, number)| clock.of(*line) < *number);
        let mut point = Point { stream, clock, grid_before, caller, ..Point::default() };
        self.follow_stream(&mut point);
        point
    }

    /// What will be done when all work of a stream is done, and of those that it waits for.
    fn clock_of(&self, stream: Handle) -> Clock {
        let mut clock = self.clock_of_others(stream);
        self.streams.get(&stream).into_iter().for_each(|own| clock.join(&own.clock));
        clock
    }

    /// What will be done when all work is done of the streams that it waits for.
    fn clock_of_others(&self, stream: Handle) -> Clock {
        let mut clock = Clock::default();
        let Some(own) = self.streams.get(&stream) else { return clock };
        let waits_for = |other: &Own| match own.kind {
            _ if other.gpu != own.gpu => false,
            Kind::Legacy => other.kind != Kind::NonBlocking,
            Kind::NonBlocking => false,
            Kind::OfThread | Kind::Blocking => other.kind == Kind::Legacy,
        };
        let others = self.streams.iter().filter(|(name, other)| **name != stream && waits_for(other));
        others.for_each(|(_, other)| clock.join(&other.clock));
        clock
    }

    /// The work of a stream comes after this.
    pub(crate) fn end(&mut self, stream: Handle, clock: &Clock) {
        if let Some(own) = self.streams.get_mut(&stream) {
            own.clock.join(clock);
        }
    }

    /// The last work of a stream was this kernel.
    pub(crate) fn ends_with(&mut self, stream: Handle, grid: Option<Turn>) {
        if let Some(own) = self.streams.get_mut(&stream) {
            own.grid = grid;
        }
    }

    /// Work comes after all that its stream was given, by other threads too.
    fn follow_stream(&self, point: &mut Point) {
        point.clock.join(&self.clock_of(point.stream));
        let lines = self.streams.get(&point.stream).map(|own| &own.lines);
        lines.into_iter().flatten().for_each(|line| point.clock.raise(*line, self.counts[*line]));
    }

    /// A piece of work is on a line of its stream: one whose last piece is known to be done before it.
    pub(crate) fn step(&mut self, point: &mut Point) -> (Line, u64) {
        if let Some(turn) = point.turn.take() {
            return turn;
        }
        if point.member.is_none() {
            self.follow_stream(point);
        }
        let lines = self.streams.get(&point.stream).map(|own| own.lines.clone()).unwrap_or_default();
        let follows = |line: &Line| point.clock.of(*line) >= self.counts[*line];
        let line = lines.into_iter().find(follows).unwrap_or_else(|| {
            let line = self.line(self.gpu_of(point.stream));
            self.streams.entry(point.stream).and_modify(|own| own.lines.push(line));
            line
        });
        self.counts[line] += 1;
        point.clock.raise(line, self.counts[line]);
        (line, self.counts[line])
    }

    /// A member of a launch or of a call, as yet without a name.
    pub(crate) fn member(&mut self, of: Group) -> Member {
        self.groups += 1;
        Member { of, group: self.groups, name: String::new() }
    }

    /// When the last launch of what a graph became will be done: the next one waits for it.
    pub(crate) fn executable(&mut self, executable: Handle) -> &mut Clock {
        self.executables.entry(executable).or_default()
    }

    pub(crate) fn forget_executable(&mut self, executable: Handle) {
        self.executables.remove(&executable);
    }

    /// The host knows that all this is done.
    pub(crate) fn host_knows(&mut self, clock: &Clock) {
        if self.host.has(clock) {
            return;
        }
        if self.is_held(clock) {
            return self.awaits().join(clock);
        }
        self.host.join(clock);
        self.learnt += 1;
        let all_done = self.counts.iter().enumerate().all(|(line, count)| self.host.of(line) >= *count);
        if all_done { self.uses.clear() } else { self.uses.forget_before(&self.host) }
    }

    /// What some of these clocks know to be done, and others do not: as [`Before`] numbers them.
    pub(crate) fn known_apart(&self, clocks: &[&Clock]) -> Vec<Before> {
        let mut all = Vec::new();
        for (begin, end, user) in self.uses.all() {
            let turn = (user.deed.line, user.deed.number);
            let knows = |at: &usize| clocks[*at].has_any(&[turn]);
            let Some(known_to) = (0..clocks.len()).find(knows) else { continue };
            let unknown = (0..clocks.len()).filter(|at| !knows(at));
            all.extend(unknown.map(|unknown_to| Before { known_to, unknown_to, begin, end, how: user.how }));
        }
        all
    }

    /// A turn on a line that is no stream's.
    pub(crate) fn turn_apart(&mut self, gpu: usize) -> Turn {
        let line = self.line(gpu);
        self.counts[line] += 1;
        self.free.push(line);
        (line, self.counts[line])
    }

    /// Work has its turn, and is not done before something else is.
    pub(crate) fn hold(&mut self, point: &mut Point) -> Turn {
        let turn = self.step(point);
        point.turn = Some(turn);
        self.held.push(turn);
        turn
    }

    /// Whether something that is held comes before this.
    pub(crate) fn is_held(&self, clock: &Clock) -> bool {
        clock.has_any(&self.held)
    }

    /// Whether something that is held, or that another thread does just now, comes before what has this turn.
    pub(crate) fn follows_held(&self, clock: &Clock, turn: Turn) -> bool {
        self.held.iter().any(|held| *held != turn && clock.has_any(&[*held]))
    }

    /// What this thread of the host waits for.
    fn awaits(&mut self) -> &mut Clock {
        self.awaited.entry(Thread::current()).or_default()
    }

    /// Whether this thread of the host waits for something that is held.
    pub(crate) fn awaits_held(&self) -> bool {
        self.awaited.get(&Thread::current()).is_some_and(|awaited| self.is_held(awaited))
    }

    /// This thread of the host waits no longer.
    pub(crate) fn await_nothing(&mut self) {
        self.awaited.remove(&Thread::current());
    }

    /// The host waits for all that is held.
    pub(crate) fn await_held(&mut self) {
        let held = self.held.clone();
        let awaits = self.awaits();
        held.iter().for_each(|(line, number)| awaits.raise(*line, *number));
    }

    /// What was held is done. Whatever comes after it comes after all that was done with it.
    pub(crate) fn let_go(&mut self, turn: Turn, done: &Clock) {
        self.held.retain(|held| *held != turn);
        let streams = self.streams.values_mut().map(|own| &mut own.clock);
        let others = self.executables.values_mut().chain(self.gone.values_mut()).chain(self.held_back.values_mut());
        let after = streams.chain(others).chain(self.awaited.values_mut()).filter(|clock| clock.has_any(&[turn]));
        after.for_each(|clock| clock.join(done));
        let held = std::mem::take(&mut self.held);
        let known: Vec<Clock> =
            self.awaited.extract_if(|_, clock| !clock.has_any(&held)).map(|(_, clock)| clock).collect();
        self.held = held;
        known.iter().for_each(|clock| self.host_knows(clock));
    }

    /// The host counts as knowing that a piece of work is done.
    pub(crate) fn host_learns_of(&mut self, line: Line, number: u64) {
        let mut clock = self.host.clone();
        clock.raise(line, number);
        self.host_knows(&clock);
    }

    /// How often the host has learnt that more is done.
    pub(crate) fn learnt(&self) -> u64 {
        self.learnt
    }

    /// Who uses some bytes, as far as the host does not know that it is done.
    pub(crate) fn unfinished(&self, begin: u64, end: u64) -> impl Iterator<Item = &User> {
        self.uses.unfinished((begin, end), &self.host)
    }

    /// The host has waited for a stream.
    pub(crate) fn host_waits(&mut self, stream: Handle) {
        self.host_knows(&self.clock_of(stream));
    }

    /// What will be done when all work of a GPU is done.
    fn clock_of_gpu(&self, gpu: usize) -> Clock {
        let mut clock = self.gone.get(&gpu).cloned().unwrap_or_default();
        self.streams.values().filter(|own| own.gpu == gpu).for_each(|own| clock.join(&own.clock));
        let lines = self.counts.iter().enumerate().filter(|(line, _)| self.gpus[*line] == gpu);
        lines.for_each(|(line, count)| clock.raise(line, *count));
        clock
    }

    /// The host has waited for all work of a GPU.
    pub(crate) fn host_waits_for_gpu(&mut self, gpu: usize) {
        self.host_knows(&self.clock_of_gpu(gpu));
    }

    /// A piece of work comes after all work of a GPU.
    pub(crate) fn follow_gpu(&self, point: &mut Point, gpu: usize) {
        point.clock.join(&self.clock_of_gpu(gpu));
    }

    /// All later work of a GPU comes after this.
    pub(crate) fn hold_back_gpu(&mut self, gpu: usize, clock: &Clock) {
        self.streams.values_mut().filter(|own| own.gpu == gpu).for_each(|own| own.clock.join(clock));
        self.held_back.entry(gpu).or_default().join(clock);
    }

    /// The GPU of a stream.
    pub(crate) fn gpu_of(&self, stream: Handle) -> usize {
        self.streams.get(&stream).map_or(0, |own| own.gpu)
    }

    /// Whether the host knows how far a line was done.
    pub(crate) fn host_has(&self, line: Line, count: u64) -> bool {
        self.host.of(line) >= count
    }

    /// A piece of work waits for those who have written some bytes.
    pub(crate) fn follow_writers(&self, point: &mut Point, (begin, end): (u64, u64), are_strong: bool) {
        for user in self.uses.writers(begin, end, are_strong) {
            let releases = user.deed.releases || !are_strong;
            if releases && point.clock.of(user.deed.line) < user.deed.number {
                let line = user.deed.line;
                let known = self.streams.values().find(|own| own.lines.contains(&line)).map(|own| &own.clock);
                known.into_iter().for_each(|known| point.clock.join(known));
                point.clock.raise(line, user.deed.number);
            }
        }
    }

    /// A piece of work has used bytes. What was not ordered before it is told, once: from now on it counts as ordered.
    pub(crate) fn use_bytes(&mut self, deed: &Arc<Deed>, point: &mut Point, ranges: &[Range]) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for range in ranges {
            self.uses.add(deed, &point.clock, range, &mut conflicts);
        }
        for Conflict { earlier, .. } in &conflicts {
            point.clock.raise(earlier.deed.line, earlier.deed.number);
        }
        self.uses.forget_before(&self.host);
        conflicts
    }

    /// What a kernel uses while the one before it may still run, and that one has used too. There is nothing if a flag tells the
    /// kernel how far the other is.
    pub(crate) fn too_early(&self, before: Turn, ranges: &[Range], acquires: bool) -> Vec<Conflict> {
        self.beside(before, ranges, acquires, User::is_over)
    }

    /// The same, while the one that has launched it still runs.
    pub(crate) fn beside_parent(&self, parent: Turn, ranges: &[Range], acquires: bool) -> Vec<Conflict> {
        self.beside(parent, ranges, acquires, User::is_shown)
    }

    /// What a kernel uses beside another one, but for what `is_before` it.
    fn beside(
        &self,
        other: Turn,
        ranges: &[Range],
        acquires: bool,
        is_before: impl Fn(&User) -> bool,
    ) -> Vec<Conflict> {
        if acquires && ranges.iter().any(|range| self.uses.is_flag(other, range)) {
            return Vec::new();
        }
        let mut conflicts = Vec::new();
        ranges.iter().for_each(|range| self.uses.meet(other, range, &is_before, &mut conflicts));
        conflicts
    }

    /// Memory is gone, or new.
    pub(crate) fn forget(&mut self, begin: u64, end: u64) {
        self.uses.forget(begin, end);
    }

    /// What messages call a stream.
    pub(crate) fn name_of(&self, stream: Handle) -> String {
        match self.streams.get(&stream) {
            Some(Own { kind: Kind::Legacy, .. }) => "the default stream".into(),
            Some(Own { kind: Kind::OfThread, .. }) => "the default stream of a thread".into(),
            Some(Own { number, .. }) => format!("stream {number}"),
            None => "a stream that is gone".into(),
        }
    }

    pub(crate) fn kind_of(&self, stream: Handle) -> Kind {
        self.streams.get(&stream).map_or(Kind::Legacy, |own| own.kind)
    }
}
