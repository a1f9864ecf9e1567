//! What ended a launch early, as a finding.

use crate::check::{Actor, Checks, Found, Kind, LATE, OF_OTHER_BLOCK, is_freed};
use crate::machine::Machine;
use crate::machine::stop::{Stop, Why};
use crate::memory::spaces::{Owner, is_shared, owner};
use crate::ptx::text;

impl Machine<'_> {
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
        let (kind, help) = self.kind_of(&stop, is_end);
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
            Some(address) => tell_address(&mut found, checks, (address, &current), (size, blocks), stop.why),
            None if deadlock.is_empty() => {
                let instruction = &self.program.sites[site as usize].text;
                let own = current.strip_prefix(instruction.as_str()).and_then(|rest| rest.strip_prefix(": "));
                found.notes.push(own.unwrap_or(&current).to_owned());
            }
            None => {}
        }
        if is_freed(&found.places[0].2) && stop.why != Why::NotGiven {
            found.title = "memory is accessed that a thread has freed".into();
            found.help = "free it after the last access".into();
        }
        if is_end {
            found.title = "a block ends before a copy into its shared memory is known to be done".into();
        }
        let waits: Vec<(u64, &String)> = deadlock
            .iter()
            .filter_map(|(actor, _, wait)| Some((checks.waits.get(&(actor.block, actor.number))?.0, wait)))
            .collect();
        if waits.first().is_some_and(|(bar, wait)| checks.hangs_by_early_use(*bar, wait))
            || waits.iter().any(|(bar, wait)| checks.hangs_by_bytes(*bar, wait))
        {
            return None;
        }
        if !deadlock.is_empty() {
            found.places = deadlock;
        }
        checks.find(found);
        None
    }

    /// What it is, and what to do about it. What goes astray at the end of a block is a copy.
    fn kind_of(&self, stop: &Stop, is_end: bool) -> (Kind, &'static str) {
        match stop.why {
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
            Why::Astray if stop.text.contains(IN_NO_SPACE) => (
                Kind::Bounds,
                "give it an address in the state space that it names: `cvta.to` makes none of an address in another space",
            ),
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
        }
    }
}

/// Says what the address of a message is in, of a launch whose blocks have so much shared memory, so many of them in a cluster.
fn tell_address(
    found: &mut Found,
    checks: &Checks,
    (address, text): (u64, &str),
    (size, blocks): (usize, usize),
    why: Why,
) {
    let below = checks.below_shared(address, found.places[0].0.block).filter(|_| found.kind == Kind::Bounds);
    if let Some(what) = below {
        found.places[0].2 = what;
        found.title = OUTSIDE.into();
        found.help = "compare the index with zero before the access: it is below that".into();
        return;
    }
    let bytes = bytes(text).unwrap_or(1);
    found.places[0].2 = match found.kind {
        Kind::Bounds if why == Why::NotGiven => format!("frees {}", checks.place_of(address)),
        Kind::Bounds => checks.extent(address, bytes),
        _ => format!("accesses {}", checks.place_of(address)),
    };
    if found.kind == Kind::Bounds && is_beyond_shared(address.saturating_add(bytes), blocks, size) {
        found.notes.push(format!("a block has {size} bytes of shared memory"));
        let adds = "let the launch add shared memory: `--shared` of `cargo ptx run`, the third number of `<<<…>>>`";
        if size == 0 {
            found.help = adds.into();
        } else if checks.dynamic.is_some() {
            found.help += &format!(", or {adds}");
        }
    }
    let multiple = text.split_once("multiple of ").and_then(|(_, rest)| rest.split(' ').next());
    found.notes.extend(multiple.map(|of| format!("the address has to be a multiple of {of}")));
    let help = of_other_block(address, found.places[0].0, blocks, text).filter(|_| found.kind == Kind::Bounds);
    found.help = help.map_or(std::mem::take(&mut found.help), str::to_owned);
}

/// What to do about an access of the shared memory of a block that the thread cannot reach.
fn of_other_block(address: u64, actor: Actor, blocks: usize, stop: &str) -> Option<&'static str> {
    match owner(address, blocks).0 {
        Owner::Nobody if is_shared(address) && !stop.contains(IN_NO_SPACE) => Some(
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

/// The title of an access where no memory is.
const OUTSIDE: &str = "an access is outside of every piece of memory";
/// What says that an address is in another state space.
const IN_NO_SPACE: &str = " is not in the space ";
/// What says that a condition of the kernel's own is false.
const ASSERTION: &str = "the assertion `";
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
        Kind::Bounds if stop.text.contains(IN_NO_SPACE) => {
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
        Kind::Bounds => OUTSIDE,
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
