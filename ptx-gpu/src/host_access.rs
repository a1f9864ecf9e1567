//! What the host does with memory that work of the GPU may still use: pinned, registered and managed memory, where both have the same
//! addresses.

use std::sync::Once;

use ptx_interpreter::{Finding, Kind, Place, Record, Use};

use crate::at_end::at_end;
use crate::caller::Caller;
use crate::calling;
use crate::changed::is_checked;
use crate::gpu::{Gpu, any};
use crate::guard::{self, Access, Closed, PAGE};
use crate::memory::{Allocation, Home};
use crate::missing_order::{RELEASE_FLAG, UNTOLD, wait_for, wait_in_stream};
use crate::order::User;
use crate::output::tell;

/// What messages and lists of silenced findings call it.
const HOST: &str = "the host";

/// Tells what the program has accessed since its last call.
pub(crate) fn tell_accesses() {
    let accesses = guard::take_accesses();
    if !accesses.is_empty() {
        any().tell_accesses(&accesses);
    }
}

/// Closes what the host must not access until it has waited, and opens what it may access again.
pub(crate) fn close_unfinished() {
    any().close_unfinished();
}

/// The program ends, without another call.
extern "C" fn at_exit() {
    tell_accesses();
}

impl Gpu {
    /// Work has used bytes.
    pub(crate) fn has_used(&mut self, begin: u64, end: u64) {
        if guard::IS_KNOWN && self.memory.is_of_the_host(begin) {
            self.recent.ranges.push((begin, end));
        }
    }

    /// Memory was allocated, in which nobody has used anything.
    pub(crate) fn has_allocation(&mut self, begin: u64) {
        let end = self.memory.find(begin).filter(|one| one.home == Home::Device).map(Allocation::end);
        self.recent.ranges.extend(end.filter(|_| guard::IS_KNOWN).map(|end| (begin, end)));
    }

    fn close_unfinished(&mut self) {
        let has_learnt = self.recent.learnt != self.order.learnt();
        let pages = self.recent.pages(guard::pages(has_learnt));
        if pages.is_empty() {
            return;
        }
        self.recent.learnt = self.order.learnt();
        let states: Vec<_> = pages.into_iter().flat_map(|(begin, end)| self.states(begin, end)).collect();
        if states.iter().any(|(_, _, how)| how.is_some()) {
            static ONCE: Once = Once::new();
            at_end(&ONCE, at_exit);
        }
        guard::close(states.into_iter());
    }

    /// What the host must not do with pages.
    fn states(&self, begin: u64, end: u64) -> Vec<(u64, u64, Option<Closed>)> {
        let mut states: Vec<(u64, u64, Option<Closed>)> = Vec::new();
        let mut page = begin;
        while page < end {
            let (next, how) = match self.memory.find(page) {
                Some(one) if one.home == Home::Device => {
                    let how = (!self.recent.for_both.contains(&one.begin)).then_some(Closed::Always);
                    (one.end().next_multiple_of(PAGE).min(end), how)
                }
                Some(one) if one.is_whole_page(page) => {
                    (page + PAGE, self.order.unfinished(page, page + PAGE).filter_map(closes).max())
                }
                _ => (page + PAGE, None),
            };
            match states.last_mut() {
                Some((_, last, same)) if *same == how => *last = next,
                _ => states.push((page, next, how)),
            }
            page = next;
        }
        states
    }

    fn tell_accesses(&mut self, accesses: &[Access]) {
        for access in accesses {
            let found = match self.memory.find(access.address) {
                Some(one) if one.home == Home::Device => self.of_device_memory(one.begin, access),
                Some(_) => self.without_waiting(access),
                None => None,
            };
            if let Some(finding) = found {
                tell(&Record { kernel: HOST.into(), findings: vec![finding], ..Record::default() });
            }
        }
    }

    /// The host accesses memory that is the GPU's alone. It is told once of an allocation.
    fn of_device_memory(&mut self, begin: u64, access: &Access) -> Option<Finding> {
        if !self.recent.for_both.insert(begin) {
            return None;
        }
        let title = format!("the host {} device memory", access.verb());
        let help = "copy the bytes (cudaMemcpy), or allocate them with cudaMallocManaged".into();
        let (place, note) = self.place_of_host(access);
        let places = place.into_iter().collect();
        Some(Finding {
            kind: Kind::Bounds,
            title,
            places,
            notes: note.into_iter().collect(),
            help,
            times: 1,
            further: vec![],
        })
    }

    /// The host accesses what work may still use.
    fn without_waiting(&mut self, access: &Access) -> Option<Finding> {
        let Access { address, writes, .. } = *access;
        let is_against = |user: &&User| closes(user).is_some_and(|how| writes || how == Closed::ToAll);
        let users = self.order.unfinished(address, address + 1).filter(is_against);
        let user = users.max_by_key(|user| user.deed.number)?.clone();
        // A missing order is told once.
        self.order.host_learns_of(user.deed.line, user.deed.number);
        let (subject, verb) = (user.deed.subject(), user.verb());
        let (place, note) = self.place_of_host(access);
        let first = format!("the first: {}", user.described());
        let who = access.stream.map(|stream| self.name_of(stream));
        let help = who.as_ref().map_or_else(|| wait_for(&user.deed), |stream| wait_in_stream(&user.deed, stream));
        let flag = self.flag(&user);
        let help = if flag.is_some() { format!("{RELEASE_FLAG}; or {help}") } else { help };
        let untold = flag.as_ref().map(|_| UNTOLD.to_owned());
        let who = who.map_or("the host".into(), |stream| format!("a function of the host in {stream}"));
        Some(Finding {
            kind: Kind::Race,
            title: format!("{subject} {verb} bytes that {who} {} without waiting", access.verb()),
            places: self.place(&user, address).into_iter().chain(flag).chain(place).collect(),
            notes: [first].into_iter().chain(untold).chain(note).collect(),
            help,
            times: 1,
            further: vec![],
        })
    }

    /// Where a kernel stores what may tell the host how far it is.
    fn flag(&self, user: &User) -> Option<Place> {
        let (flag, program) = (user.deed.flag?, user.deed.program.as_ref()?);
        let what = format!("stores what the host may look at, {}", self.memory.describe(flag.begin));
        Some(program.place_of(&flag, what))
    }

    /// The host frees memory by a call of which nothing says that it waits. Whoever uses it has to be done.
    pub(crate) fn frees_without_waiting(&mut self, place: u64) {
        let call = calling::name().unwrap_or_default().trim_end_matches("_v2");
        let Some((begin, end)) = self.memory.find(place).map(|one| (one.begin, one.end())) else { return };
        let users = self.order.unfinished(begin, end).filter(|_| is_checked());
        let Some(user) = users.max_by_key(|user| user.deed.number).cloned() else {
            return self.order.forget(begin, end);
        };
        let what = format!("the host hands {} to {call}", self.memory.piece_of(begin).0);
        let waits = self.memory.find(place).is_some_and(|one| one.home == Home::Device && !one.is_of_stream());
        let of_whom = if waits { " for a GPU that has no access to the memory by itself" } else { "" };
        let finding = Finding {
            kind: Kind::Race,
            title: format!(
                "{} {} memory that the host hands to {call} without waiting",
                user.deed.subject(),
                user.verb()
            ),
            places: self.place(&user, begin).into_iter().chain(Caller::of_call().place(&what)).collect(),
            notes: vec![
                format!("the first: {}", user.described()),
                format!("no document says that {call} waits{of_whom}"),
            ],
            help: wait_for(&user.deed),
            times: 1,
            further: vec![],
        };
        tell(&Record { kernel: call.into(), findings: vec![finding], ..Record::default() });
        self.order.host_learns_of(user.deed.line, user.deed.number);
        self.order.forget(begin, end);
    }

    /// Where the host does it, or a note where that is not known.
    fn place_of_host(&self, access: &Access) -> (Option<Place>, Option<String>) {
        let what = format!("the host {} {}", access.verb(), self.memory.describe(access.address));
        match access.caller.place(&what) {
            Some(place) => (Some(place), None),
            None => (None, Some(format!("{what}{}", access.caller.function()))),
        }
    }
}

impl Access {
    fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }
}

/// What the host must not do while this goes on. A strong access of the whole system may tell the host how far it is.
fn closes(user: &User) -> Option<Closed> {
    match user.how {
        _ if user.is_for_the_system() => None,
        Use::Writes | Use::WritesStrongly => Some(Closed::ToAll),
        Use::Reads | Use::ReadsStrongly => Some(Closed::ToWrites),
    }
}
