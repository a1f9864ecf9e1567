//! Pages that the program must not access now. They are protected, so that an access is a signal. Its handler notes the access and
//! opens the page, and the program goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{c_int, c_void, siginfo_t};

use crate::caller::Caller;
use crate::calling;
use crate::handle::Handle;

pub(crate) const PAGE: u64 = 1 << 12;
/// Accesses that are noted between two calls of the program, at most.
const ACCESSES: usize = 256;
/// Runs of pages that are closed at one time until something is done, at most: the system gives a process 65,530 mappings. Device memory
/// that is closed is as what lies between two allocations.
const RUNS: usize = 1 << 13;

/// What the program must not do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closed {
    ToWrites,
    ToAll,
    /// To all, whatever is done: device memory.
    Always,
}

/// What the program did while it must not.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) address: u64,
    pub(crate) writes: bool,
    pub(crate) caller: Caller,
    /// The stream that calls the function of the program's in which it is.
    pub(crate) stream: Option<Handle>,
}

#[derive(Default)]
struct Guard {
    /// What is closed: where each run of pages begins, where it ends, and how.
    runs: BTreeMap<u64, (u64, Closed)>,
    /// Where those begin that are closed until something is done.
    waiting: BTreeSet<u64>,
    /// What was opened since somebody asked.
    opened: Vec<(u64, u64)>,
    accesses: Vec<Access>,
    /// What is done about all other signals.
    others: Option<libc::sigaction>,
}

static GUARD: Mutex<Guard> = Mutex::new(Guard {
    runs: BTreeMap::new(),
    waiting: BTreeSet::new(),
    opened: Vec::new(),
    accesses: Vec::new(),
    others: None,
});

/// Whether something is closed, and whether accesses were noted: most programs have neither.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
static HAS_ACCESSES: AtomicBool = AtomicBool::new(false);

fn guard() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this is known of the processor: what an access was is in the registers that a handler gets.
pub(crate) const IS_KNOWN: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// This library accesses these bytes.
pub(crate) fn open(begin: u64, bytes: u64) {
    if bytes > 0 && IS_CLOSED.load(Ordering::Acquire) {
        guard().open(begin, begin.saturating_add(bytes));
    }
}

/// What was opened since somebody asked, and if more is done, what is closed until then.
pub(crate) fn pages(more_is_done: bool) -> Vec<(u64, u64)> {
    let mut guard = guard();
    let mut pages = std::mem::take(&mut guard.opened);
    if more_is_done {
        pages.extend(guard.waiting.iter().map(|begin| (*begin, guard.runs[begin].0)));
    }
    pages
}

/// From now on the program must not do this with these pages.
pub(crate) fn close(pages: impl Iterator<Item = (u64, u64, Option<Closed>)>) {
    let mut guard = guard();
    for (begin, end, how) in pages {
        guard.set(begin, end, how);
    }
    if guard.waiting.len() > RUNS {
        let all: Vec<(u64, u64)> = guard.waiting.iter().map(|begin| (*begin, guard.runs[begin].0)).collect();
        all.into_iter().for_each(|(begin, end)| guard.open(begin, end));
    }
    if !guard.runs.is_empty() {
        guard.handle();
    }
    IS_CLOSED.store(!guard.runs.is_empty(), Ordering::Release);
}

/// What the program has accessed since somebody asked.
pub(crate) fn take_accesses() -> Vec<Access> {
    if HAS_ACCESSES.swap(false, Ordering::AcqRel) { std::mem::take(&mut guard().accesses) } else { Vec::new() }
}

fn protect(begin: u64, end: u64, how: Option<Closed>) -> bool {
    let protection = match how {
        None => libc::PROT_READ | libc::PROT_WRITE,
        Some(Closed::ToWrites) => libc::PROT_READ,
        Some(Closed::ToAll | Closed::Always) => libc::PROT_NONE,
    };
    // SAFETY: the pages are of an allocation that the program may use, and nothing of this library is in them.
    unsafe { libc::mprotect(begin as *mut c_void, (end - begin) as usize, protection) == 0 }
}

impl Guard {
    fn insert(&mut self, begin: u64, end: u64, how: Closed) {
        self.runs.insert(begin, (end, how));
        if how != Closed::Always {
            self.waiting.insert(begin);
        }
    }

    /// Takes out what is closed in a range. The rest of a run stays.
    fn cut(&mut self, begin: u64, end: u64) -> Vec<(u64, u64, Closed)> {
        let before = self.runs.range(..begin).next_back().map_or(begin, |(at, _)| *at);
        let all: Vec<_> = self.runs.range(before..end).map(|(at, (end, how))| (*at, *end, *how)).collect();
        let within = |(from, to, how): (u64, u64, Closed)| {
            let (cut, until) = (from.max(begin), to.min(end));
            if cut >= until {
                return None;
            }
            self.runs.remove(&from);
            self.waiting.remove(&from);
            let rest = [(from, cut), (until, to)].into_iter().filter(|(from, to)| from < to);
            rest.for_each(|(from, to)| self.insert(from, to, how));
            Some((cut, until, how))
        };
        all.into_iter().filter_map(within).collect()
    }

    fn open(&mut self, begin: u64, end: u64) {
        let (begin, end) = (begin & !(PAGE - 1), end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX));
        let all: Vec<_> = self.cut(begin, end).into_iter().map(|(begin, end, _)| (begin, end)).collect();
        let are_open = all.iter().fold(true, |are, (begin, end)| are & protect(*begin, *end, None));
        self.opened.extend(all);
        if !are_open {
            // The process has no more mappings. Those that are alike become one.
            self.waiting.clear();
            self.opened.extend(std::mem::take(&mut self.runs).into_iter().map(|(begin, (end, _))| (begin, end)));
            for (begin, end) in &self.opened {
                protect(*begin, *end, None);
            }
        }
    }

    fn set(&mut self, begin: u64, end: u64, how: Option<Closed>) {
        let old = self.cut(begin, end);
        if let Some(how) = how {
            if old[..] != [(begin, end, how)] {
                protect(begin, end, Some(how));
            }
            self.insert(begin, end, how);
        } else {
            for (begin, end, _) in old {
                protect(begin, end, None);
            }
        }
    }

    /// The handler is there, also if the program has put its own in its place.
    fn handle(&mut self) {
        // SAFETY: both structures are the system's, and the handler is a function of this library, which is never unloaded.
        unsafe {
            let mut now = MaybeUninit::<libc::sigaction>::zeroed();
            libc::sigaction(libc::SIGSEGV, std::ptr::null(), now.as_mut_ptr());
            let now = now.assume_init();
            if now.sa_sigaction == on_signal as *const () as usize {
                return;
            }
            self.others = Some(now);
            let mut own = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            own.sa_sigaction = on_signal as *const () as usize;
            own.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGSEGV, &own, std::ptr::null_mut());
        }
    }

    /// Whether an address was closed. It is open now.
    fn opens(&mut self, address: u64) -> bool {
        let page = address & !(PAGE - 1);
        let before = self.opened.len();
        self.open(page, page + PAGE);
        self.opened.len() > before
    }
}

/// Notes an access. Another thread may hold Python's lock, and access a closed page meanwhile.
fn note(address: u64, At { instruction, writes }: At) {
    let access = Access { address, writes, caller: Caller::of_access(instruction), stream: calling::stream() };
    guard().accesses.push(access);
    HAS_ACCESSES.store(true, Ordering::Release);
}

thread_local! {
    /// What the last signal was about that was none of a closed page.
    static OTHER: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over what belongs to the signal.
    let (address, at) = unsafe { ((*info).si_addr() as u64, at(context)) };
    let mut guard = guard();
    if guard.opens(address) {
        let is_noted = guard.accesses.len() < ACCESSES;
        drop(guard);
        // What this library accesses says nothing of the program.
        if is_noted && calling::name().is_none() {
            note(address, at);
        }
        return;
    }
    // Another thread may have opened the page meanwhile. Then the access does not fail again.
    if OTHER.replace(address) != address {
        return;
    }
    let others = guard.others;
    drop(guard);
    pass_on(others, signal, info, context);
}

/// Does what is done about other signals.
fn pass_on(others: Option<libc::sigaction>, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = others.map_or(libc::SIG_DFL, |others| others.sa_sigaction);
    // SAFETY: it is the handler that the program has set, and it gets what the system hands over.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // The access is done again, and ends the program.
            libc::signal(signal, libc::SIG_DFL);
        } else if others.is_some_and(|others| others.sa_flags & libc::SA_SIGINFO != 0) {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}

/// Where a signal was raised.
struct At {
    instruction: usize,
    writes: bool,
}

/// # Safety
/// The system has handed over the context of a signal.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn at(context: *mut c_void) -> At {
    const WRITE: libc::greg_t = 2;
    // SAFETY: the caller's promise.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let of = |register: c_int| registers[register as usize];
    At { instruction: of(libc::REG_RIP) as usize, writes: of(libc::REG_ERR) & WRITE != 0 }
}

/// # Safety
/// None: no page is closed here.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
unsafe fn at(_: *mut c_void) -> At {
    At { instruction: 0, writes: false }
}
