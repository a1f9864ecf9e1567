//! What the checks find, and how it is shown.

use std::fmt;

use super::titles::{
    ASKS_AGAIN, FOREIGN, HANGS, LATE, MEANINGLESS, NO_BLOCK, NO_PEER, NOT_BEGUN, OFFSET_OF_BARRIER, OLDER, OTHER_LANES,
    OUTLIVED, UNMARKED, UNORDERED_INIT,
};
use crate::machine::lanes::LANES;
use crate::ptx::text::guarded;

/// Of what kind a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Kind {
    /// Two accesses of the same bytes, of which one writes, and nothing orders them.
    Race,
    /// Two accesses that threads tried to order, and the order is too weak or for too narrow a scope.
    Order,
    /// The asynchronous proxy accesses what another proxy wrote, and no proxy fence is between them.
    Proxy,
    /// An access to what an asynchronous copy has not yet read or written.
    Async,
    /// Bytes that the grid writes are read as if it did not, by `ld.global.nc`, `ldu` or `ld.const`.
    Nc,
    /// An access outside of every piece of memory.
    Bounds,
    /// An address that is not as aligned as its access.
    Misaligned,
    /// Something is done by bytes that nobody has written, or by what a shuffle took from a lane that was not there.
    Uninitialised,
    /// Threads wait for what never happens.
    Deadlock,
    /// The launch is none that the kernel or a GPU can have, the kernel ended itself, or a cluster asks for the work of another one
    /// although there is none left.
    Launch,
    /// A GPU is known to do something else than PTX says.
    Gpu,
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Race,
        Kind::Order,
        Kind::Proxy,
        Kind::Async,
        Kind::Nc,
        Kind::Bounds,
        Kind::Misaligned,
        Kind::Uninitialised,
        Kind::Deadlock,
        Kind::Launch,
        Kind::Gpu,
    ];

    /// The kind of that word: `race`.
    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether it is about two accesses that something should order.
    pub(crate) fn is_of_order(self) -> bool {
        matches!(self, Kind::Race | Kind::Order | Kind::Proxy | Kind::Async)
    }

    /// Its word: `race`.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Order => "order",
            Kind::Proxy => "proxy",
            Kind::Async => "async",
            Kind::Nc => "nc",
            Kind::Bounds => "bounds",
            Kind::Misaligned => "misaligned",
            Kind::Uninitialised => "uninitialised",
            Kind::Deadlock => "deadlock",
            Kind::Launch => "launch",
            Kind::Gpu => "gpu",
        }
    }
}

/// A thread at an instruction; or the host, at a line of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// The GPU, of a launch on several.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub gpu: Option<u32>,
    /// The block, by its number in the grid.
    pub block: u32,
    /// The thread, by its number in the block.
    pub thread: u32,
    /// The function.
    pub function: String,
    /// The instruction's line in the PTX; 0 of the host.
    pub ptx_line: u32,
    /// The instruction.
    pub instruction: String,
    /// The source's file and line, if the PTX has `.loc`.
    pub source: Option<(String, u32)>,
    /// Where the source calls the functions that the compiler has inlined there, the innermost first.
    pub called: Vec<(String, u32)>,
    /// The calls that led to the function, if it is none of the kernel's own instructions: the innermost first.
    pub callers: Vec<Call>,
    /// Comments beside the instruction in the PTX that [allow](crate::Allowed) findings: `race) a reason`.
    pub comments: Vec<String>,
    /// What the thread does there: `writes 4 bytes of argument 0 at offset 16`.
    pub what: String,
}

/// A call of a function that the compiler has not inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The function that calls.
    pub function: String,
    /// The call's line in the PTX.
    pub ptx_line: u32,
    /// The source's file and line, if the PTX has `.loc`.
    pub source: Option<(String, u32)>,
    /// Where the source calls the functions that the compiler has inlined there, the innermost first.
    pub called: Vec<(String, u32)>,
}

impl Place {
    /// The lines of the source that lead there, the innermost first.
    pub fn lines(&self) -> impl Iterator<Item = &(String, u32)> {
        let callers = self.callers.iter().flat_map(|call| call.source.iter().chain(&call.called));
        self.source.iter().chain(&self.called).chain(callers)
    }

    /// The host, in a function at a line of its source. `what` says what it does there, or what its call does: `the host reads byte 4`.
    pub fn of_the_host(function: String, source: (String, u32), what: String) -> Place {
        let text = std::fs::read_to_string(&source.0).unwrap_or_default();
        let line = text.lines().nth(source.1.saturating_sub(1) as usize).unwrap_or_default().trim().to_owned();
        Place {
            gpu: None,
            block: 0,
            thread: 0,
            function,
            ptx_line: 0,
            instruction: line,
            source: Some(source),
            called: vec![],
            callers: vec![],
            comments: vec![],
            what,
        }
    }

    fn is_of_rust(&self) -> bool {
        self.source.as_ref().is_some_and(|(file, _)| file.ends_with(".rs"))
    }

    /// Whether a copy begins there.
    pub(crate) fn begins_copy(&self) -> bool {
        self.what.starts_with("begins a copy")
    }

    /// What stands between the brackets of its address.
    fn address(&self) -> Option<&str> {
        self.instruction.split_once('[')?.1.split(']').next()
    }

    /// Whether another instruction of that kind comes from the same line of the source.
    fn is_of_the_line_of(&self, other: &Place) -> bool {
        self.line_key(true) == other.line_key(true)
    }

    /// The kind of its instruction, and its line of the source, or of the PTX if that names none.
    pub(crate) fn line_key(&self, with_calls: bool) -> String {
        let word = self.unguarded().split(['.', ' ']).next().unwrap_or_default();
        let line = if self.source.is_none() { self.ptx_line } else { 0 };
        let called: &[_] = if with_calls { &self.called } else { &[] };
        format!("{word} {line} {:?} {called:?} {}", self.source, self.function)
    }

    /// Whether another one is at the same line of the source, or of the PTX if that names none.
    fn is_at_the_place_of(&self, other: &Place) -> bool {
        let has_place = self.source.is_some() || self.ptx_line == other.ptx_line;
        has_place && self.is_at_the_line_of(other)
    }

    /// Its instruction without the predicate.
    fn unguarded(&self) -> &str {
        guarded(&self.instruction).1
    }

    /// Whether both are reached by the same calls, inlined ones too.
    pub(crate) fn is_called_as(&self, other: &Place) -> bool {
        (&self.called, &self.function) == (&other.called, &other.function)
    }

    /// The same place in a function that the compiler has inlined, as if it were called elsewhere.
    fn called_as(&self, other: &Place) -> Place {
        Place { called: other.called.clone(), ..self.clone() }
    }

    fn is_at_the_line_of(&self, other: &Place) -> bool {
        (&self.source, &self.called, &self.function) == (&other.source, &other.called, &other.function)
    }

    fn is_of_the_host(&self) -> bool {
        self.ptx_line == 0
    }

    /// The number of the line that is shown: in the PTX, or of the host in its source.
    pub fn line(&self) -> u32 {
        match &self.source {
            Some((_, line)) if self.is_of_the_host() => *line,
            _ => self.ptx_line,
        }
    }
}

/// Something that is wrong with a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Finding {
    /// Of what kind it is.
    pub kind: Kind,
    /// In a sentence.
    pub title: String,
    /// Where: of two accesses, the earlier one first.
    pub places: Vec<Place>,
    /// What is missing.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: String,
    /// How often it was found, with those that have the same cause.
    pub times: u64,
    /// What else has the same cause: other pairs of accesses that the same order would put right.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub further: Vec<Finding>,
}

/// Lines from a load to the store of what was computed with it, at most, where the PTX does not name the lines of its source.
const NEAR: u32 = 8;

/// Words of CUDA C++, and what Rust has for them.
const IN_RUST: [(&str, &str); 11] = [
    ("__syncthreads()", "sync_threads()"),
    ("__syncwarp()", "sync_warp()"),
    ("cluster.sync()", "sync_cluster()"),
    ("__threadfence()", "fence_acq_rel::<Gpu>()"),
    ("__threadfence_system()", "fence_acq_rel::<Sys>()"),
    ("cudaGridDependencySynchronize()", "griddepcontrol_wait()"),
    ("__threadfence_block()", "fence_acq_rel::<Cta>()"),
    ("shared::cta` (cuda::ptx::fence_proxy_async)", "shared::cta` (fence_proxy_async_shared_cta())"),
    ("global` (cuda::ptx::fence_proxy_async)", "global` (fence_proxy_async_global())"),
    ("`__shared__`", "`shared!`"),
    ("`atomicAdd` and its like; `atom` or `red`", "`ptx!(red.…)`, `ptx!(atom.…)`"),
];

impl Finding {
    /// Whether the launch went on after it, though its kind is one that ends a launch.
    pub fn went_on(&self) -> bool {
        [
            ASKS_AGAIN,
            NO_BLOCK,
            NO_PEER,
            NOT_BEGUN,
            OUTLIVED,
            FOREIGN,
            MEANINGLESS,
            OTHER_LANES,
            OFFSET_OF_BARRIER,
            UNMARKED,
        ]
        .contains(&&*self.title)
    }

    /// Whether all threads wait in the end, because of it.
    pub fn hangs(&self) -> bool {
        self.notes.iter().any(|note| note.starts_with(HANGS))
    }

    /// Whether a thread reads by `ld.const` what its grid writes.
    pub(crate) fn reads_constants(&self) -> bool {
        self.kind == Kind::Nc && self.places.iter().any(|place| place.instruction.contains("ld.const"))
    }

    /// Whether two threads race that load a value and store another one in its place.
    pub(crate) fn is_of_an_update(&self) -> bool {
        let [one, other, ..] = &*self.places else { return false };
        let is_pair = |load: &Place, store: &Place| {
            let is_near = store.ptx_line.wrapping_sub(load.ptx_line) < NEAR;
            let is_beside = load.source.as_ref().map_or(is_near, |_| load.is_at_the_line_of(store));
            load.instruction.starts_with("ld.") && store.instruction.starts_with("st.") && is_beside
        };
        self.kind == Kind::Race
            && (is_pair(one, other) || is_pair(other, one))
            && one.function == other.function
            && one.address() == other.address()
    }

    /// Whether a flag is an atomic of Rust's library, whose order the compiler may have left out.
    pub(crate) fn may_lack_the_order_of_rust(&self) -> bool {
        let is_bare = |place: &Place| {
            let word = place.unguarded().split(' ').next().unwrap_or_default();
            let has_order = || ["relaxed", "acquire", "release", "acq_rel"].iter().any(|order| word.contains(order));
            word.starts_with("atom.") && !has_order()
        };
        self.kind == Kind::Order && self.places.iter().skip(2).any(|place| place.is_of_rust() && is_bare(place))
    }

    /// A help that has the words of CUDA C++, with those of `ptx-kernel` and `ptx-intrinsics` instead where the source is Rust.
    pub(crate) fn in_its_language(&self, help: &str) -> String {
        if !self.places.iter().any(Place::is_of_rust) {
            return help.to_owned();
        }
        IN_RUST.iter().fold(help.to_owned(), |help, (cuda, rust)| help.replace(cuda, rust))
    }

    /// Whether another one is of the same kind at the same lines of the source, by such instructions.
    pub fn is_of_the_lines_of(&self, other: &Finding) -> bool {
        self.kind == other.kind && self.line_key().is_some_and(|key| Some(key) == other.line_key())
    }

    /// Whether the places of both are at the same lines, whatever instructions they are.
    pub(crate) fn is_between_the_lines_of(&self, other: &Finding) -> bool {
        match (&self.places[..], &other.places[..]) {
            ([one, two, ..], [first, second, ..]) => {
                are_alike([one, two], [first, second], Place::is_at_the_place_of)
                    || are_alike([one, two], [second, first], Place::is_at_the_place_of)
            }
            ([one], [first]) => one.is_at_the_place_of(first),
            (one, other) => one.is_empty() && other.is_empty(),
        }
    }

    /// Whether another one tells the same mistake of one line: loads and stores of it lack the same order, or race for a value that
    /// threads load and store again.
    pub(crate) fn is_told_by(&self, other: &Finding) -> bool {
        let has_line = self.places.len() > 1 && self.places.iter().all(|place| place.source.is_some());
        let are_beside = || {
            let mut pairs = self.places.iter().zip(&other.places);
            self.places.len() == other.places.len() && pairs.all(|(one, other)| one.is_at_the_line_of(other))
        };
        let is_of_update = || {
            let place = &other.places[0];
            self.places.iter().all(|one| one.is_at_the_line_of(place) && one.address() == place.address())
        };
        match self.kind {
            Kind::Order => has_line && self.title == other.title && are_beside(),
            Kind::Race => has_line && other.is_of_an_update() && is_of_update(),
            _ => false,
        }
    }

    /// Whether older values change what the kernel leaves, and all that another finding of that kind needs, this one needs too. So it is gone
    /// when the other one is.
    pub fn needs_what(&self, other: &Finding) -> bool {
        let is_here = |needed: &Place| self.places.iter().any(|place| place.is_of_the_line_of(needed));
        let are_older = self.title == OLDER && other.title == OLDER && !other.places.is_empty();
        are_older && other.places.iter().all(is_here)
    }

    /// Whether all of its threads are of one warp.
    pub(crate) fn is_in_one_warp(&self) -> bool {
        let warp = |place: &Place| (place.block, place.thread as usize / LANES);
        self.places.windows(2).all(|both| warp(&both[0]) == warp(&both[1]))
    }

    /// What it has in common with others that are of the same kind at the same lines; nothing if it names no place.
    pub(crate) fn line_key(&self) -> Option<String> {
        // Whatever uses a barrier, its initialisation lacks one order.
        let places = if self.title == UNORDERED_INIT { &self.places[..1] } else { &self.places[..] };
        let is_in_one = self.kind.is_of_order() && places.windows(2).all(|both| both[0].is_called_as(&both[1]));
        let mut keys: Vec<String> = places.iter().map(|place| place.line_key(!is_in_one)).collect();
        // Which of two accesses comes first may be another one each time.
        let title = if self.kind == Kind::Race && keys.len() == 2 { "" } else { &self.title };
        if title.is_empty() {
            keys.sort_unstable();
        }
        (!keys.is_empty()).then(|| format!("{:?} {title} {}", self.kind, keys.join(" ")))
    }

    /// Whether it says only that the deadline of the launch came first. See [`Launch::deadline`](crate::Launch::deadline).
    pub fn is_late(&self) -> bool {
        self.kind == Kind::Deadlock && self.title == LATE
    }
}

/// Whether two places are as two others. A function that is inlined in several places has them in each.
fn are_alike(one: [&Place; 2], other: [&Place; 2], are: impl Fn(&Place, &Place) -> bool) -> bool {
    let is_in_function = one[0].is_called_as(one[1]) && other[0].is_called_as(other[1]);
    let is_same = |(one, other): (&Place, &Place)| match is_in_function {
        true => are(&one.called_as(other), other),
        false => are(one, other),
    };
    one.into_iter().zip(other).all(is_same)
}

/// Calls of inlined functions that are shown of one place, at most.
const CALLS: usize = 5;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.kind.word(), self.title)?;
        let width = self.places.iter().map(|place| place.line().to_string().len()).max().unwrap_or(1);
        let blank = " ".repeat(width);
        for (number, place) in self.places.iter().enumerate() {
            let arrow = if number == 0 { "-->" } else { ":::" };
            let source = place.source.as_ref().map(|(file, line)| format!("{file}:{line}, ")).unwrap_or_default();
            match place.is_of_the_host() {
                true => writeln!(f, "{blank}{arrow} {source}{} of the host", place.function)?,
                false => writeln!(f, "{blank}{arrow} {source}PTX line {} in {}", place.ptx_line, place.function)?,
            }
            let inlined = |f: &mut fmt::Formatter<'_>, called: &[(String, u32)]| {
                // Of many the innermost one and the outermost ones say most.
                let between = if called.len() > CALLS + 1 { 1..called.len() - CALLS + 1 } else { 0..0 };
                called.iter().enumerate().try_for_each(|(at, (file, line))| match between.contains(&at) {
                    false => writeln!(f, "{blank}    called at {file}:{line}"),
                    true if at == 1 => writeln!(f, "{blank}    called by {} functions in between", between.len()),
                    true => Ok(()),
                })
            };
            inlined(f, &place.called)?;
            for Call { function, ptx_line, source, called } in &place.callers {
                let source = source.as_ref().map(|(file, line)| format!("{file}:{line}, ")).unwrap_or_default();
                writeln!(f, "{blank}    called at {source}PTX line {ptx_line} in {function}")?;
                inlined(f, called)?;
            }
            writeln!(f, "{blank} |")?;
            writeln!(f, "{:>width$} | {}", place.line(), place.instruction)?;
            let under = "^".repeat(place.instruction.chars().count().max(1));
            match place.is_of_the_host() {
                true => writeln!(f, "{blank} | {under} {}", place.what)?,
                false => {
                    let gpu = place.gpu.map(|gpu| format!(" of GPU {gpu}")).unwrap_or_default();
                    writeln!(
                        f,
                        "{blank} | {under} thread {} of block {}{gpu} {}",
                        place.thread, place.block, place.what
                    )?
                }
            }
        }
        writeln!(f, "{blank} |")?;
        for note in &self.notes {
            writeln!(f, "{blank} = note: {note}")?;
        }
        if !self.help.is_empty() {
            writeln!(f, "{blank} = help: {}", self.help)?;
        }
        if !self.further.is_empty() {
            writeln!(f, "{blank} = note: {}", self.others())?;
        }
        if self.times > 1 {
            writeln!(f, "{blank} = note: found {} times", self.times)?;
        }
        Ok(())
    }
}
