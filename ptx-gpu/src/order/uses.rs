//! Who has used which bytes of device memory, as far as later work has to be ordered after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ptx_interpreter::{Program, Use, UsedRange};
use smallvec::SmallVec;

use super::clock::{Clock, Line, Turn};
use super::member::Member;
use crate::caller::Caller;

/// Ranges that are remembered, at most. When there are more, all are forgotten.
const RANGES: usize = 1 << 21;

/// Which work a stream waits for by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The default stream: it waits for all streams but those that do not block, and they wait for it.
    Legacy,
    /// The default stream of one thread, which is as a stream that was created.
    OfThread,
    Blocking,
    NonBlocking,
}

/// A piece of work.
pub(crate) struct Deed {
    /// What messages call it: ``kernel `add`, launch 3``.
    pub(crate) name: String,
    /// What it does to bytes, if it neither reads nor writes them.
    pub(crate) does: Option<&'static str>,
    pub(crate) kind: Kind,
    /// What messages call its stream, and its place there.
    pub(crate) stream: String,
    pub(crate) place: String,
    pub(crate) line: Line,
    pub(crate) number: u64,
    /// Which member it is of what the program hands over together.
    pub(crate) member: Option<Member>,
    /// The program of a kernel.
    pub(crate) program: Option<Arc<Program>>,
    /// The number of a kernel's launch, which several GPUs may have part in.
    pub(crate) launch: Option<u64>,
    /// Where the program asks for it.
    pub(crate) caller: Caller,
    /// Whether it has released something to all who come later.
    pub(crate) releases: bool,
    /// Whether it is a kernel that lets the next one begin early.
    pub(crate) launches_dependents: bool,
    /// By what the host may see how far it is, before it has waited.
    pub(crate) flag: Option<UsedRange>,
}

impl Deed {
    /// Whether both are one, or one launch: that looks at what its GPUs do beside each other.
    fn is_with(self: &Arc<Deed>, other: &Arc<Deed>) -> bool {
        Arc::ptr_eq(self, other) || self.launch.is_some() && self.launch == other.launch
    }
}

/// Bytes that a piece of work uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) how: Use,
    pub(crate) by: Option<By>,
}

/// What uses bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// An instruction of a kernel.
    Instruction(UsedRange),
    /// An operand of a library's call, and a piece of its bytes.
    Operand { name: &'static str, begin: u64, end: u64 },
}

impl By {
    pub(crate) fn instruction(&self) -> Option<&UsedRange> {
        if let By::Instruction(used) = self { Some(used) } else { None }
    }
}

/// A use of bytes that later work may have to be ordered after.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) deed: Arc<Deed>,
    pub(crate) how: Use,
    pub(crate) by: Option<By>,
}

/// Two uses of the same bytes that nothing orders.
#[derive(Clone)]
pub(crate) struct Conflict {
    pub(crate) earlier: User,
    pub(crate) later: Range,
    /// The bytes of both.
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

#[derive(Clone)]
struct Part {
    end: u64,
    users: SmallVec<[User; 1]>,
}

/// Ranges by their first addresses. None overlaps another.
#[derive(Default)]
pub(crate) struct Uses {
    parts: BTreeMap<u64, Part>,
    /// How many parts there are when those that are done are removed.
    full: usize,
}

/// Fewer parts than these are not looked through.
const FEW: usize = 1 << 12;

impl User {
    /// Whether the host may learn by it how far the work is: a strong access of the whole system, or a number that a stream writes.
    pub(crate) fn is_for_the_system(&self) -> bool {
        let is_strong = matches!(self.how, Use::ReadsStrongly | Use::WritesStrongly);
        let program = self.deed.program.as_ref().zip(self.by.as_ref().and_then(By::instruction));
        is_strong && program.is_none_or(|(program, used)| program.is_for_the_system(used))
    }

    /// Whether it is done by this clock, or the host may have been told so. What the host does comes after that.
    fn is_before(&self, clock: &Clock) -> bool {
        clock.of(self.deed.line) >= self.deed.number || self.is_told()
    }

    /// Whether the host may know that it is done, although the whole work is not: a flag tells it.
    fn is_told(&self) -> bool {
        let is_released = || self.by.as_ref().and_then(By::instruction).is_some_and(|used| used.told);
        self.deed.flag.is_some() && (is_released() || self.is_for_the_system())
    }

    fn is_of(&self, turn: Turn) -> bool {
        (self.deed.line, self.deed.number) == turn
    }

    /// Whether it comes before what a kernel does that begins before this one has ended, and is seen there.
    pub(super) fn is_shown(&self) -> bool {
        self.by.as_ref().and_then(By::instruction).is_some_and(|used| used.shown)
    }

    /// The same, of the next kernel. Without `griddepcontrol.launch_dependents` that one begins when all blocks have ended: they have
    /// read what they read, but what they have written need not be visible.
    pub(super) fn is_over(&self) -> bool {
        if self.deed.launches_dependents { self.is_shown() } else { !self.how.writes() }
    }

    /// Whether what is not ordered after this one, or goes together with it, is so with a later one too.
    fn is_covered_by(&self, how: Use) -> bool {
        match how {
            Use::Writes => true,
            Use::Reads => self.how == Use::Reads,
            Use::ReadsStrongly => self.how == Use::ReadsStrongly,
            Use::WritesStrongly => matches!(self.how, Use::ReadsStrongly | Use::WritesStrongly),
        }
    }
}

impl Uses {
    /// A piece of work, before which that is known, uses bytes. What was not ordered before it is told.
    pub(crate) fn add(&mut self, deed: &Arc<Deed>, clock: &Clock, range: &Range, conflicts: &mut Vec<Conflict>) {
        let Range { begin, end, how, by } = *range;
        if begin >= end {
            return;
        }
        let new = User { deed: Arc::clone(deed), how, by };
        if self.parts.range(..end).next_back().is_none_or(|(_, part)| part.end <= begin) {
            // Nobody uses any of them.
            self.parts.insert(begin, Part { end, users: SmallVec::from_elem(new, 1) });
            return;
        }
        self.split(begin);
        self.split(end);
        for (at, part) in self.parts.range(begin..end) {
            let others = part.users.iter().filter(|old| old.how.conflicts_with(how) && !old.is_before(clock));
            let others = others.filter(|old| !old.deed.is_with(deed));
            conflicts.extend(others.map(|old| Conflict {
                earlier: old.clone(),
                later: *range,
                begin: *at,
                end: part.end,
            }));
        }
        if how == Use::Writes {
            let old: Vec<u64> = self.parts.range(begin..end).map(|(at, _)| *at).collect();
            old.iter().for_each(|at| drop(self.parts.remove(at)));
            self.parts.insert(begin, Part { end, users: SmallVec::from_elem(new, 1) });
            return;
        }
        let (mut free, mut next) = (Vec::new(), begin);
        for (at, part) in self.parts.range_mut(begin..end) {
            if next < *at {
                free.push((next, *at));
            }
            next = part.end;
            part.users.retain(|old| !(old.is_covered_by(how) && old.is_before(clock)));
            part.users.push(new.clone());
        }
        if next < end {
            free.push((next, end));
        }
        for (begin, end) in free {
            self.parts.insert(begin, Part { end, users: SmallVec::from_elem(new.clone(), 1) });
        }
    }

    /// All uses: where they begin and end, and whose they are.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64, &User)> {
        self.parts.iter().flat_map(|(at, part)| part.users.iter().map(|user| (*at, part.end, user)))
    }

    /// Those who have written some bytes by strong accesses, or by any.
    pub(crate) fn writers(&self, begin: u64, end: u64, are_strong: bool) -> impl Iterator<Item = &User> {
        let writes = move |user: &&User| user.how == Use::WritesStrongly || !are_strong && user.how == Use::Writes;
        self.overlap(begin, end).flat_map(|(_, part)| &part.users).filter(writes)
    }

    /// Who uses some bytes, as far as nobody knows by this clock that it is done.
    pub(crate) fn unfinished<'a>(
        &'a self,
        (begin, end): (u64, u64),
        clock: &'a Clock,
    ) -> impl Iterator<Item = &'a User> {
        let users = self.overlap(begin, end).flat_map(|(_, part)| &part.users);
        users.filter(|user| !user.is_before(clock))
    }

    fn overlap(&self, begin: u64, end: u64) -> impl Iterator<Item = (&u64, &Part)> {
        let first = self.parts.range(..=begin).next_back().map_or(begin, |(at, _)| *at);
        self.parts.range(first..end).filter(move |(_, part)| part.end > begin)
    }

    /// Whether a kernel has released something there, and a later one reads it strongly.
    pub(crate) fn is_flag(&self, kernel: Turn, range: &Range) -> bool {
        let tells = |user: &User| user.is_of(kernel) && user.deed.releases;
        range.how != Use::Reads && range.how != Use::Writes && self.writers(range.begin, range.end, true).any(tells)
    }

    /// What a kernel has done to bytes that a later one uses before that is known to be done.
    pub(crate) fn meet(
        &self,
        kernel: Turn,
        range: &Range,
        is_before: impl Fn(&User) -> bool,
        conflicts: &mut Vec<Conflict>,
    ) {
        for (at, part) in self.overlap(range.begin, range.end) {
            let late = |old: &&User| old.is_of(kernel) && !is_before(old) && old.how.conflicts_with(range.how);
            conflicts.extend(part.users.iter().filter(late).map(|old| Conflict {
                earlier: old.clone(),
                later: *range,
                begin: range.begin.max(*at),
                end: range.end.min(part.end),
            }));
        }
    }

    /// A part ends there, and another begins.
    fn split(&mut self, at: u64) {
        let Some((_, part)) = self.parts.range_mut(..at).next_back() else { return };
        if part.end > at {
            let behind = part.clone();
            part.end = at;
            self.parts.insert(at, behind);
        }
    }

    /// The memory is gone, or is new.
    pub(crate) fn forget(&mut self, begin: u64, end: u64) {
        self.split(begin);
        self.split(end);
        let old: Vec<u64> = self.parts.range(begin..end).map(|(at, _)| *at).collect();
        old.iter().for_each(|at| drop(self.parts.remove(at)));
    }

    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }

    /// All work that comes later knows this. What it is ordered after is forgotten, if there is much.
    pub(crate) fn forget_before(&mut self, clock: &Clock) {
        if self.parts.len() < self.full.max(FEW) {
            return;
        }
        self.parts.retain(|_, part| {
            part.users.retain(|user| !user.is_before(clock));
            !part.users.is_empty()
        });
        if self.parts.len() > RANGES {
            self.parts.clear();
        }
        self.full = 2 * self.parts.len();
    }
}
