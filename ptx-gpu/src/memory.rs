//! Device memory: pieces of this process's memory, each apart from the others. No address is used twice, so that a pointer to
//! what was freed never leads to something else.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ptx_interpreter::{Gaps, Piece, available_memory};

use crate::guard::{self, PAGE};
use crate::handle::Handle;
use crate::mapped::Accessible;
use crate::output::{note, wrong_call};
use crate::status::{HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, OUT_OF_MEMORY, Result};
use crate::visible::of_gpu;

/// Addresses for all allocations of a process.
const ADDRESSES: usize = 1 << 42;
/// Between two allocations there is so much room at least.
const ROOM: u64 = 1 << 16;
/// How many freed allocations are remembered.
const REMEMBERED: usize = 4096;
/// How the name of an allocation goes on when it is freed.
pub(crate) const FREED: &str = ", which was freed by ";

/// Where an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Device,
    /// Host and GPU may both use it: managed memory.
    Managed,
    /// Memory of the host that the GPU may use.
    Host,
    /// The same, which the program allocated by itself.
    Registered,
    /// A variable of a module.
    Variable,
    /// One that host and GPU may both use: `__managed__`.
    ManagedVariable,
    /// What a graph allocates each time that it is launched, at the same place.
    Graph,
    /// Pieces of memory at addresses that the program has reserved.
    Mapped,
    /// An array, which no pointer reaches.
    Array,
}

#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) begin: u64,
    pub(crate) bytes: usize,
    pub(crate) home: Home,
    pub(crate) number: u64,
    /// The GPU of which it is, or for which it was allocated.
    pub(crate) gpu: usize,
    /// The pool of which it was allocated in a stream.
    pub(crate) pool: Option<Handle>,
    /// What messages call it.
    name: Arc<str>,
    /// What of it nobody has written.
    pub(crate) unwritten: Gaps,
    /// What of that was stored all the same: it was undefined before too.
    pub(crate) undefined: Gaps,
    /// Of registered memory, that the GPU only reads: the program itself may have no more.
    is_read_only: bool,
}

impl Allocation {
    /// All of its bytes have values.
    fn new(home: Home, gpu: usize, number: u64, name: Arc<str>, begin: u64, bytes: usize) -> Allocation {
        Allocation {
            begin,
            bytes,
            home,
            number,
            gpu,
            pool: None,
            name,
            unwritten: Gaps::default(),
            undefined: Gaps::default(),
            is_read_only: false,
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.begin + self.bytes as u64
    }

    /// Whether a page has nothing else in it, and host and GPU may both use it.
    pub(crate) fn is_whole_page(&self, page: u64) -> bool {
        match self.home {
            Home::Managed | Home::ManagedVariable | Home::Host => true,
            Home::Registered => !self.is_read_only && page + PAGE <= self.end(),
            _ => false,
        }
    }

    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.home, Home::Managed | Home::ManagedVariable)
    }

    /// Whether it is the host's, and stays there.
    pub(crate) fn is_pinned(&self) -> bool {
        matches!(self.home, Home::Host | Home::Registered)
    }

    /// Whether it was allocated in a stream.
    pub(crate) fn is_of_stream(&self) -> bool {
        self.pool.is_some()
    }

    /// Whether the host may look at it too.
    pub(crate) fn is_of_the_host(&self) -> bool {
        self.is_managed() || self.is_pinned()
    }

    /// Whether it is written by launches and calls alone, which name it by these addresses.
    pub(crate) fn is_written_by_calls(&self) -> bool {
        !self.is_of_the_host() && self.home != Home::Mapped
    }

    fn freed_by(&self, call: &str) -> Allocation {
        Allocation {
            name: format!("{}{FREED}{call}", self.name).into(),
            unwritten: Gaps::default(),
            undefined: Gaps::default(),
            ..self.clone()
        }
    }

    fn piece(&self) -> Piece {
        let Allocation { begin, bytes, .. } = *self;
        let (unwritten, undefined) = (self.unwritten.clone(), self.undefined.clone());
        let (name, bytes) = (self.name.clone(), bytes as u64);
        Piece { name, begin, bytes, unwritten, undefined, shared_with_grid_before: false }
    }
}

/// What graphs have used at most, and what stays with them between their launches.
#[derive(Default)]
pub(crate) struct OfGraphs {
    pub(crate) used_most: u64,
    pub(crate) reserved: u64,
    pub(crate) reserved_most: u64,
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) live: BTreeMap<u64, Allocation>,
    /// Those that have bytes which nobody has written, and some more.
    pub(crate) unwritten: Vec<u64>,
    freed: BTreeMap<u64, Allocation>,
    /// What graphs will allocate.
    asleep: BTreeMap<u64, Allocation>,
    pub(crate) graphs: OfGraphs,
    /// The addresses that nobody has used, and where they end.
    next: u64,
    end: u64,
    count: u64,
    /// Bytes in use of each GPU's memory.
    used: BTreeMap<usize, usize>,
}

impl Memory {
    /// A piece of memory. Its name says which call asked for it.
    pub(crate) fn allocate(&mut self, bytes: usize, home: Home, gpu: usize, call: &str) -> Result<u64> {
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if available_memory().is_some_and(|free| bytes as u64 > free) {
            note(&format!("{call}: this machine has no {bytes} bytes of free memory"));
            return Err(OUT_OF_MEMORY);
        }
        let begin = self.reserve(bytes)?;
        self.count += 1;
        let (number, what) = (self.count, call.trim_end_matches("_v2"));
        let name = match home {
            Home::Variable | Home::ManagedVariable => format!("the variable {call}"),
            _ => format!("allocation {number} ({what})"),
        };
        let is_one_gpus = !matches!(home, Home::ManagedVariable | Home::Managed | Home::Host);
        let name = if is_one_gpus { format!("{name}{}", of_gpu(gpu)) } else { name };
        self.uses(gpu, bytes);
        let name = name.into();
        let unwritten = match home {
            Home::Variable | Home::ManagedVariable | Home::Host | Home::Managed => Gaps::default(),
            _ => Gaps::all(begin, begin + bytes as u64),
        };
        self.insert(Allocation { unwritten, ..Allocation::new(home, gpu, number, name, begin, bytes) });
        Ok(begin)
    }

    /// It was allocated of a pool, in a stream.
    pub(crate) fn is_of_pool(&mut self, begin: u64, pool: Handle) {
        self.live.entry(begin).and_modify(|one| one.pool = Some(pool));
    }

    /// Bytes in use of a GPU's memory.
    pub(crate) fn used(&self, gpu: usize) -> usize {
        self.used.get(&gpu).copied().unwrap_or_default()
    }

    /// Bytes of a GPU's memory are in use from now on.
    pub(crate) fn uses(&mut self, gpu: usize, bytes: usize) {
        *self.used.entry(gpu).or_default() += bytes;
    }

    /// The same, no longer.
    pub(crate) fn gives_back(&mut self, gpu: usize, bytes: usize) {
        *self.used.entry(gpu).or_default() -= bytes;
    }

    fn insert(&mut self, one: Allocation) {
        self.unwritten.extend((!one.unwritten.is_empty()).then_some(one.begin));
        self.live.insert(one.begin, one);
    }

    /// Addresses for what a graph will allocate.
    pub(crate) fn allocate_asleep(&mut self, bytes: usize, gpu: usize, call: &str) -> Result<u64> {
        let begin = self.allocate(bytes, Home::Graph, gpu, call)?;
        self.sleep(begin);
        Ok(begin)
    }

    /// A graph allocates its memory. Nobody has written there yet.
    pub(crate) fn wake(&mut self, begin: u64) -> Result {
        let mut one = self.asleep.remove(&begin).ok_or(INVALID_VALUE)?;
        one.unwritten = Gaps::all(one.begin, one.end());
        self.uses(one.gpu, one.bytes);
        self.insert(one);
        self.graphs_grew();
        Ok(())
    }

    /// Memory of a graph is freed, if it is not yet, until the graph allocates it again.
    pub(crate) fn sleep(&mut self, begin: u64) {
        if let Some(one) = self.live.remove(&begin) {
            // SAFETY: the addresses are of this allocation alone.
            unsafe { libc::madvise(begin as *mut _, one.bytes.next_multiple_of(PAGE as usize), libc::MADV_DONTNEED) };
            self.gives_back(one.gpu, one.bytes);
            self.asleep.insert(begin, one);
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<u64> {
        let size = (bytes as u64).next_multiple_of(PAGE);
        let begin = self.addresses(size, PAGE)?;
        // SAFETY: these addresses are ours, and nobody uses them.
        if unsafe { libc::mprotect(begin as *mut _, size as usize, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(OUT_OF_MEMORY);
        }
        Ok(begin)
    }

    /// Addresses that nobody uses.
    fn addresses(&mut self, size: u64, alignment: u64) -> Result<u64> {
        if self.end == 0 {
            // SAFETY: this asks for addresses alone, wherever they are free.
            let place = unsafe { map(ADDRESSES) };
            if place == libc::MAP_FAILED {
                note("the system gives no addresses for device memory: raise the limit of `ulimit -v`");
                return Err(OUT_OF_MEMORY);
            }
            self.next = place as u64;
            self.end = self.next + ADDRESSES as u64;
        }
        let begin = (self.next + ROOM).next_multiple_of(alignment);
        if begin.checked_add(size + ROOM).is_none_or(|end| end > self.end) {
            return Err(OUT_OF_MEMORY);
        }
        self.next = begin + size;
        Ok(begin)
    }

    /// Addresses alone. Gives the number that messages have of them, too.
    pub(crate) fn reserve_addresses(&mut self, size: u64, alignment: u64) -> Result<(u64, u64)> {
        let begin = self.addresses(size, alignment)?;
        self.count += 1;
        Ok((begin, self.count))
    }

    /// What may be accessed of reserved addresses becomes allocations, and what no longer may be is freed.
    pub(crate) fn accessible_changed(&mut self, all: &Accessible, call: &str) {
        let old: Vec<Allocation> = self.live.range(all.begin..all.end).map(|(_, one)| one.clone()).collect();
        for one in &old {
            self.live.remove(&one.begin);
            if !all.parts.iter().any(|(from, end)| (*from..*end).contains(&one.begin)) {
                self.freed.insert(one.begin, one.freed_by(call));
            }
        }
        for &(begin, end) in &all.parts {
            let unwritten = unwritten_of(begin, end, &old);
            self.freed.retain(|at, _| !(begin..end).contains(at));
            let name = format!("mapped memory {} (cuMemMap){}", all.number, of_gpu(all.gpu)).into();
            let bytes = (end - begin) as usize;
            self.insert(Allocation {
                unwritten,
                ..Allocation::new(Home::Mapped, all.gpu, all.number, name, begin, bytes)
            });
        }
    }

    /// Memory of the program's own becomes memory that the GPU may use.
    pub(crate) fn register(&mut self, begin: u64, bytes: usize, gpu: usize, is_read_only: bool) -> Result {
        if begin == 0 || bytes == 0 {
            return Err(INVALID_VALUE);
        }
        let behind = self.live.range(..begin + bytes as u64).next_back();
        if behind.is_some_and(|(_, other)| other.end() > begin) {
            return Err(HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.count += 1;
        let (number, name) = (self.count, format!("registered memory {} (cuMemHostRegister)", self.count).into());
        let home = Home::Registered;
        let one = Allocation { is_read_only, ..Allocation::new(home, gpu, number, name, begin, bytes) };
        self.live.insert(begin, one);
        Ok(())
    }

    pub(crate) fn unregister(&mut self, begin: u64) -> Result {
        match self.live.get(&begin) {
            Some(one) if one.home == Home::Registered => {
                guard::open(begin, one.bytes as u64);
                self.live.remove(&begin);
                Ok(())
            }
            _ if self.find(begin).is_some_and(|one| one.home == Home::Registered) => Err(INVALID_VALUE),
            _ => Err(HOST_MEMORY_NOT_REGISTERED),
        }
    }

    /// Frees what one of these kinds of call gave.
    pub(crate) fn free(&mut self, begin: u64, homes: &[Home], call: &str) -> Result {
        if begin == 0 {
            return Ok(());
        }
        match self.live.get(&begin) {
            Some(one) if homes.contains(&one.home) => {}
            _ => {
                let what = match self.freed.get(&begin) {
                    Some(one) => format!("{call} frees what is free already: {}", one.name),
                    None => format!("{call} frees {}, which is no allocation of its kind", self.describe(begin)),
                };
                wrong_call(
                    call,
                    what,
                    "free the pointer that the allocation gave, once, with the call that belongs to it",
                );
                return Err(INVALID_VALUE);
            }
        }
        match self.live.get(&begin) {
            Some(one) if one.home == Home::Graph => self.sleep(begin),
            _ => self.bury(begin, call),
        }
        Ok(())
    }

    fn bury(&mut self, begin: u64, call: &str) {
        let Some(one) = self.live.remove(&begin) else { return };
        guard::open(begin, one.bytes as u64);
        let size = one.bytes.next_multiple_of(PAGE as usize);
        // SAFETY: the addresses are of this allocation alone, and from now on nobody may use them.
        unsafe {
            libc::madvise(one.begin as *mut _, size, libc::MADV_DONTNEED);
            libc::mprotect(one.begin as *mut _, size, libc::PROT_NONE);
        }
        self.gives_back(one.gpu, one.bytes);
        self.freed.insert(begin, one.freed_by(call.trim_end_matches("_v2")));
        if self.freed.len() > REMEMBERED {
            self.freed.pop_first();
        }
    }

    /// The allocation that an address is in.
    pub(crate) fn find(&self, address: u64) -> Option<&Allocation> {
        let (_, one) = self.live.range(..=address).next_back()?;
        Some(one).filter(|one| address < one.end())
    }

    /// The same, or what a graph will allocate there: its address is known before.
    pub(crate) fn find_known(&self, address: u64) -> Option<&Allocation> {
        let asleep = || Some(self.asleep.range(..=address).next_back()?.1).filter(|one| address < one.end());
        self.find(address).or_else(asleep)
    }

    pub(crate) fn holds(&self, address: u64, bytes: usize) -> bool {
        self.find(address).is_some_and(|one| bytes as u64 <= one.end() - address)
    }

    /// Whether the host may look at an address too.
    pub(crate) fn is_of_the_host(&self, address: u64) -> bool {
        self.find(address).is_some_and(Allocation::is_of_the_host)
    }

    /// Whether a range is in one allocation; if not, the call is wrong.
    pub(crate) fn expect(&self, address: u64, bytes: usize, call: &str) -> Result {
        if bytes == 0 || self.holds(address, bytes) {
            return Ok(());
        }
        wrong_call(
            call,
            format!("{call} is given {bytes} bytes at {}", self.describe(address)),
            "stay within one allocation that is not freed",
        );
        Err(INVALID_VALUE)
    }

    /// What is moved between host and device has to be managed.
    pub(crate) fn expect_managed(&self, address: u64, bytes: usize, call: &str) -> Result {
        self.expect(address, bytes, call)?;
        match self.find(address) {
            Some(one) if !one.is_managed() => Err(INVALID_VALUE),
            _ => Ok(()),
        }
    }

    /// What messages call the allocation that an address is in, and where it is.
    pub(crate) fn piece_of(&self, address: u64) -> (Arc<str>, Range<u64>) {
        self.find(address).map_or((Arc::default(), address..address), |one| (one.name.clone(), one.begin..one.end()))
    }

    /// What an address is in, or near to.
    pub(crate) fn describe(&self, address: u64) -> String {
        let before = |all: &BTreeMap<u64, Allocation>| all.range(..=address).next_back().map(|(_, one)| one.clone());
        let asleep = before(&self.asleep).map(|one| one.freed_by("its graph"));
        let near = [before(&self.live), before(&self.freed), asleep].into_iter().flatten().max_by_key(|one| one.begin);
        match near {
            Some(one) if address < one.end() => {
                format!("byte {} of {} of {} bytes", address - one.begin, one.name, one.bytes)
            }
            Some(one) if address - one.end() < ROOM => {
                format!("{} bytes beyond the end of {} of {} bytes", address - one.end(), one.name, one.bytes)
            }
            _ => format!("address {address:#x}, which is not in device memory"),
        }
    }

    /// What messages about a kernel call each piece of memory.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let asleep = self.asleep.values().map(|one| one.freed_by("its graph").piece());
        self.live.values().chain(self.freed.values()).map(Allocation::piece).chain(asleep).collect()
    }
}

/// # Safety
/// None: it asks for addresses that nobody uses.
unsafe fn map(bytes: usize) -> *mut libc::c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: no address is asked for.
    unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) }
}

/// The mapping of this process that an address of the host is in.
pub(crate) fn host_mapping(address: u64) -> Option<(u64, u64)> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (begin, end) = line.split_whitespace().next()?.split_once('-')?;
        let range = (u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        (range.0..range.1).contains(&address).then_some(range)
    })
}

/// What nobody has written of a range, by what was there before.
fn unwritten_of(begin: u64, end: u64, old: &[Allocation]) -> Gaps {
    let mut unwritten = Gaps::all(begin, end);
    for one in old {
        let mut from = one.begin;
        for &(first, behind) in one.unwritten.ranges() {
            unwritten.write(from, first);
            from = behind;
        }
        unwritten.write(from, one.end());
    }
    unwritten
}
