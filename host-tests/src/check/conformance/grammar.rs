//! Every spelling that the words of an instruction can make, legal or not.
//!
//! The words are here once more, apart from the crate's tables: what the tables leave out has to be asked too.

use std::fmt::{self, Write};
use std::sync::LazyLock;

use rand::{Rng, RngExt};
use regex::Regex;

/// The choices of one place in a mnemonic; an empty one leaves the place empty.
type Axis = &'static [&'static str];

const ORDER: Axis = &[
    "",
    ".weak",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".mmio",
    ".mmio.relaxed",
    ".mmio.acquire",
    ".mmio.release",
];
const SCOPE: Axis = &["", ".cta", ".cluster", ".gpu", ".sys"];
const SPACE: Axis = &[
    "",
    ".global",
    ".shared",
    ".shared::cta",
    ".shared::cluster",
    ".const",
    ".local",
    ".param",
    ".param::entry",
    ".param::func",
];
/// Those of loads and of stores: that one has none of the other's is for the assembler to say.
const OPERATOR: Axis = &["", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"];
const NC: Axis = &["", ".nc"];
const L1: Axis =
    &["", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"];
const L2: Axis = &["", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"];
const HINT: Axis = &["", ".L2::cache_hint"];
const SIZE: Axis = &["", ".L2::64B", ".L2::128B", ".L2::256B"];

/// Types that the assembler treats alike, as far as qualifiers go: each head is asked with one of each class, every
/// head with another one, and where one is accepted with all of them.
const TYPES: [Axis; 6] = [
    &[".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f32", ".f64"],
    &[".b128"],
    &[
        ".v2.b8", ".v2.b16", ".v2.b32", ".v2.b64", ".v2.u8", ".v2.u16", ".v2.u32", ".v2.u64", ".v2.s8", ".v2.s16",
        ".v2.s32", ".v2.s64", ".v2.f32", ".v2.f64", ".v4.b8", ".v4.b16", ".v4.b32", ".v4.u8", ".v4.u16", ".v4.u32",
        ".v4.s8", ".v4.s16", ".v4.s32", ".v4.f32",
    ],
    &[".v8.b32", ".v8.u32", ".v8.s32", ".v8.f32", ".v4.b64", ".v4.u64", ".v4.s64", ".v4.f64"],
    &[".v8.b8", ".v8.b16", ".v8.u8", ".v8.u16", ".v8.s8", ".v8.s16"],
    &[".v2.b128", ".v4.b128", ".v8.b128", ".v8.b64", ".v8.u64", ".v8.s64", ".v8.f64"],
];

/// Words of neighbouring instructions and sizes that do not exist, which a person may try.
const STRANGERS: Axis = &[
    ".L2::evict_unchanged",
    ".L2::no_allocate",
    ".L1::cache_hint",
    ".L1::64B",
    ".L2::32B",
    ".L2::512B",
    ".L3::evict_last",
    ".evict_last",
    ".noftz",
    ".aligned",
    ".sync",
    ".v1",
    ".v16",
];
const STRANGE_TYPES: Axis =
    &["", ".f32", ".f16", ".bf16", ".f16x2", ".bf16x2", ".b16x2", ".tf32", ".e4m3", ".pred", ".b1", ".b4", ".b256"];

const PREFETCH: &[Axis] = &[
    &["prefetch", "prefetchu"],
    SPACE,
    &["", ".L1", ".L2", ".L3"],
    &["", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_last"],
    &["", ".L2::cache_hint"],
    &["", ".tensormap"],
];
const CREATEPOLICY: &[Axis] = &[
    &["createpolicy"],
    &["", ".fractional", ".range", ".cvt"],
    &["", ".global", ".shared"],
    &[".L2", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_last"],
    &["", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_first"],
    &["", ".b64", ".u64", ".b32"],
];
const APPLYPRIORITY: &[Axis] = &[
    &["applypriority", "discard"],
    SPACE,
    &["", ".L1", ".L2", ".L1::evict_normal", ".L2::evict_normal", ".L2::evict_last", ".L2::evict_first"],
];
const FILL: &[Axis] = &[
    &["st.bulk"],
    &["", ".weak", ".relaxed"],
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster", ".local"],
];
const LATER: &[Axis] = &[
    &["st.async", "red.async"],
    &["", ".mmio"],
    &["", ".weak", ".relaxed", ".acquire", ".release"],
    SCOPE,
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster"],
    &["", ".mbarrier::complete_tx::bytes"],
    &["", ".and", ".or", ".xor", ".exch", ".inc", ".dec", ".add", ".min", ".max"],
    &["", ".v2", ".v4", ".v8"],
    &[
        ".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16", ".f32",
        ".f64",
    ],
];
const ATOMIC: &[Axis] = &[
    &["atom", "red"],
    &["", ".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc"],
    SCOPE,
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster", ".const", ".local", ".param"],
    &["", ".and", ".or", ".xor", ".exch", ".cas", ".inc", ".dec", ".add", ".min", ".max", ".popc"],
    &["", ".noftz"],
    HINT,
    &["", ".v2", ".v4", ".v8"],
    &[
        ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16",
        ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64",
    ],
];
const FENCE: &[Axis] = &[
    &["fence", "membar"],
    &["", ".mbarrier_init", ".proxy"],
    &[
        "",
        ".alias",
        ".async",
        ".async.global",
        ".async.shared::cta",
        ".async.shared::cluster",
        ".async.shared",
        ".tensormap::generic",
        ".async::generic",
        ".tensormap",
        ".generic",
    ],
    &["", ".sc", ".acq_rel", ".acquire", ".release", ".relaxed"],
    &["", ".sync_restrict::shared::cta", ".sync_restrict::shared::cluster"],
    &["", ".cta", ".cluster", ".gpu", ".sys", ".gl"],
];
const ADDRESS: &[Axis] =
    &[&["isspacep", "cvta", "cvta.to", "mapa", "getctarank"], SPACE, &["", ".u32", ".u64", ".b64", ".s64"]];
const STRANGE: &[Axis] = &[&["ld", "st"], SPACE, NC, STRANGERS, STRANGE_TYPES];

/// Copies, barriers and what waits for them are told apart by their operands: those are an axis too. `%s` is an address in
/// shared memory, `%p` one in global memory; where no space is said, both are `%p`. `%phase` is a state or a parity.
const COPY: &[Axis] = &[
    &["cp.async"],
    &["", ".ca", ".cg", ".cs"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &["", ".global"],
    HINT,
    &["", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::32B"],
    &[" [%s], [%p], 4", " [%s], [%p], 8", " [%s], [%p], 12", " [%s], [%p], 16"],
    &["", ", %r0", ", %ignore"],
];
const GROUP: &[Axis] = &[
    &["cp.async"],
    &["", ".ca", ".bulk"],
    &[".commit_group", ".wait_group", ".wait_all", ".mbarrier.arrive", ".mbarrier.arrive.noinc"],
    &["", ".read", ".b64", ".shared.b64", ".shared::cta.b64", ".shared::cluster.b64", ".global.b64", ".shared.b32"],
    &["", " 3", " %r0", " [%s]", " [%s], 3"],
];
const ARRIVE: &[Axis] = &[
    &["mbarrier.arrive", "mbarrier.arrive_drop"],
    &["", ".noComplete", ".expect_tx", ".parity"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64"],
    &[" %d0, [%s]", " %d0, [%s], %r0", " _, [%s]", " _, [%s], %r0", " [%s]"],
];
const WAIT: &[Axis] = &[
    &["mbarrier.test_wait", "mbarrier.try_wait"],
    &["", ".parity", ".noComplete"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64"],
    &[" %done, [%s], %phase", " %done, [%s], %phase, %r0", " [%s], %phase"],
];
const BARRIER: &[Axis] = &[
    &["mbarrier"],
    &[".init", ".inval", ".expect_tx", ".complete_tx", ".pending_count", ".arrive", ".test_wait"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64", ".b32"],
    &[" [%s]", " [%s], %r0", " %r0, %d0"],
];

const BULK: &[Axis] = &[
    &["cp.async.bulk"],
    &[
        ".shared::cluster.global",
        ".shared::cta.global",
        ".shared.global",
        ".shared::cluster.shared::cta",
        ".shared::cluster.shared",
        ".shared::cta.shared::cluster",
        ".global.shared::cta",
        ".global.shared",
        ".global.global",
    ],
    &["", ".mbarrier::complete_tx::bytes", ".bulk_group"],
    &["", ".multicast::cluster", ".ignore_oob"],
    HINT,
    &["", ".cp_mask"],
    &[" [%dst], [%src], %r0"],
    &["", ", [%s]", ", [%s], %h0", ", %r1, %r2, [%s]", ", %h0"],
];
const BULK_PREFETCH: &[Axis] = &[
    &["cp.async.bulk.prefetch"],
    &[".L2", ".L1", ".L3"],
    &["", ".global", ".shared::cta"],
    &["", ".L2::cache_hint", ".L2::evict_last"],
    &[" [%p], %r0", " [%p]"],
];
const TENSOR_PREFETCH: &[Axis] = &[
    &["cp.async.bulk.prefetch.tensor"],
    &[".1d", ".2d", ".3d", ".4d", ".5d"],
    &[".L2.global", ".L2"],
    &["", ".tile", ".tile::gather4", ".im2col", ".im2col::w", ".im2col::w::128"],
    HINT,
    &[
        " [%p, {%r0}]",
        " [%p, {%r0, %r1}]",
        " [%p, {%r0, %r1, %r2}]",
        " [%p, {%r0, %r1, %r2, %r3}]",
        " [%p, {%r0, %r1, %r2, %r3, %r4}]",
    ],
    &["", ", {%h0}", ", {%h0, %h1}", ", {%h0, %h1, %h2}"],
];

const LOAD: &[Axis] = &[&["ld"], ORDER, SCOPE, SPACE, OPERATOR, NC, L1, L2, HINT, SIZE];
/// `ldu` takes none of a load's words: one at a time is enough to see it.
const UNIFORM: &[Axis] = &[
    &["ldu"],
    &[
        "",
        ".weak",
        ".volatile",
        ".relaxed",
        ".relaxed.gpu",
        ".acquire.gpu",
        ".release.gpu",
        ".mmio.relaxed.sys",
        ".gpu",
    ],
    SPACE,
    &[
        "",
        ".ca",
        ".cg",
        ".cs",
        ".lu",
        ".cv",
        ".nc",
        ".L1::evict_normal",
        ".L1::evict_last",
        ".L1::no_allocate",
        ".L2::evict_last",
        ".L2::cache_hint",
        ".L2::64B",
        ".L2::256B",
    ],
];
const STORE: &[Axis] = &[&["st"], ORDER, SCOPE, SPACE, OPERATOR, NC, L1, L2, HINT, SIZE];

/// An instruction's grammar: the places of its mnemonic, and whether a type ends it.
#[derive(Debug)]
pub struct Grammar {
    /// `ld`.
    pub name: &'static str,
    places: &'static [Axis],
    /// Whether a type ends it: what moves a value.
    pub typed: bool,
}

/// Every grammar.
pub static GRAMMARS: &[Grammar] = &[
    Grammar { name: "ld", places: LOAD, typed: true },
    Grammar { name: "st", places: STORE, typed: true },
    Grammar { name: "ldu", places: UNIFORM, typed: true },
    Grammar { name: "atom and red", places: ATOMIC, typed: false },
    Grammar { name: "prefetch", places: PREFETCH, typed: false },
    Grammar { name: "createpolicy", places: CREATEPOLICY, typed: false },
    Grammar { name: "applypriority and discard", places: APPLYPRIORITY, typed: false },
    Grammar { name: "st.bulk", places: FILL, typed: false },
    Grammar { name: "st.async and red.async", places: LATER, typed: false },
    Grammar { name: "other words", places: STRANGE, typed: false },
    Grammar { name: "fence and membar", places: FENCE, typed: false },
    Grammar { name: "addresses", places: ADDRESS, typed: false },
    Grammar { name: "cp.async", places: COPY, typed: false },
    Grammar { name: "groups of cp.async", places: GROUP, typed: false },
    Grammar { name: "cp.async.bulk", places: BULK, typed: false },
    Grammar { name: "cp.async.bulk.prefetch", places: BULK_PREFETCH, typed: false },
    Grammar { name: "cp.async.bulk.prefetch.tensor", places: TENSOR_PREFETCH, typed: false },
    Grammar { name: "mbarrier.arrive", places: ARRIVE, typed: false },
    Grammar { name: "mbarrier.test_wait", places: WAIT, typed: false },
    Grammar { name: "mbarrier", places: BARRIER, typed: false },
];

/// A mnemonic with all its words, and what is in its operands beside an address, a value and a policy. Where operands
/// distinguish forms they come after the words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spelling {
    /// The mnemonic: `ld.global.nc.f32`.
    pub ptx: String,
    /// What is said in the operands.
    pub operands: Operands,
}

/// What is in the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operands {
    /// Nothing in particular.
    Plain,
    /// `.unified` after the address of a load.
    Unified,
    /// A sink for the first element of a vector.
    OneSink,
    /// A sink for each.
    AllSinks,
}

impl Grammar {
    /// How many spellings it has, one of each class of types.
    pub fn len(&self) -> usize {
        self.heads() * if self.typed { TYPES.len() } else { 1 }
    }

    /// Whether `ptx!` is how it is written.
    pub fn is_spelled(&self) -> bool {
        ["ld", "st", "ldu", "atom and red", "other words"].contains(&self.name)
    }

    /// Whether a slice holds only some of it.
    pub fn is_large(&self) -> bool {
        self.len() > 100_000
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn heads(&self) -> usize {
        self.places.iter().map(|axis| axis.len()).product()
    }

    /// The spelling of that number.
    pub fn spelling(&self, number: usize) -> Spelling {
        let mut ptx = self.head(number % self.heads());
        if self.typed {
            let class = TYPES[number / self.heads()];
            // Far apart for neighbours, so that no type always meets the same words.
            ptx += class[(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % class.len()];
        }
        Spelling { ptx, operands: Operands::Plain }
    }

    /// The spelling of that number with each type of its class, and with everything that its operands may say.
    pub fn family(&self, number: usize) -> Vec<Spelling> {
        if !self.typed {
            return vec![self.spelling(number)];
        }
        let head = self.head(number % self.heads());
        let types = TYPES[number / self.heads()].iter();
        types
            .flat_map(|ty| {
                Operands::of(self.name, ty)
                    .map(|operands| Spelling { ptx: format!("{head}{ty}"), operands })
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// The number of a spelling that differs from that one in one word, or in its type.
    pub fn neighbour(&self, number: usize, random: &mut impl Rng) -> usize {
        let place = random.random_range(0..self.places.len() + usize::from(self.typed));
        let (weight, choices) = match self.places.get(place) {
            Some(axis) => (self.places[..place].iter().map(|axis| axis.len()).product(), axis.len()),
            None => (self.heads(), TYPES.len()),
        };
        let choice = number / weight % choices;
        number - choice * weight + random.random_range(0..choices) * weight
    }

    /// The number of a mnemonic, its type standing for the class, if this grammar spells it.
    pub fn number(&self, ptx: &str) -> Option<usize> {
        fn rest(places: &[Axis], typed: bool, ptx: &str) -> Option<usize> {
            let Some((axis, others)) = places.split_first() else {
                let class = TYPES.iter().position(|class| class.contains(&ptx));
                return if typed { class } else { ptx.is_empty().then_some(0) };
            };
            axis.iter().enumerate().find_map(|(choice, word)| {
                let left =
                    ptx.strip_prefix(word).filter(|left| left.is_empty() || left.starts_with(['.', ' ', ',']))?;
                Some(choice + axis.len() * rest(others, typed, left)?)
            })
        }
        rest(self.places, self.typed, ptx)
    }

    fn head(&self, mut number: usize) -> String {
        let mut head = String::with_capacity(80);
        for axis in self.places {
            head += axis[number % axis.len()];
            number /= axis.len();
        }
        head
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands = match self.operands {
            Operands::Plain => "",
            Operands::Unified => " [p].unified",
            Operands::OneSink => " {_, …}",
            Operands::AllSinks => " {_}",
        };
        write!(out, "{}{operands}", self.ptx)
    }
}

impl Operands {
    fn of(instruction: &str, ty: &str) -> impl Iterator<Item = Self> {
        let load = ["ld", "ldu"].contains(&instruction).then_some(Self::Unified);
        let vector = ty.starts_with(".v").then_some([Self::OneSink, Self::AllSinks]);
        [Self::Plain].into_iter().chain(load).chain(vector.into_iter().flatten())
    }
}

/// The registers that the lines of a function use, beside `.b128 %q`.
pub const REGISTERS: &str = ".reg .b16 %h<24>; .reg .b32 %r<24>; .reg .b64 %d<24>; .reg .f32 %f<24>; .reg .f64 %e<24>; \
                             .reg .b32 %s; .reg .pred %ignore, %done;";

impl Spelling {
    /// The instruction, at the address `%p` plus `offset`, under the policy `%policy` where it takes one.
    pub fn instruction(&self, offset: usize) -> String {
        let policy = if self.takes_policy() { ", %policy" } else { "" };
        let address = format!("[%p+{offset}]{}", if self.operands == Operands::Unified { ".unified" } else { "" });
        match self.opcode() {
            "cp" | "mbarrier" => self.told_by_operands(offset, policy),
            "ld" | "ldu" => format!("{} {}, {address}{policy};", self.ptx, self.value()),
            "st.bulk" => format!("{} {address}, %d0, 0;", self.ptx),
            "st.async" | "red.async" => {
                let barrier = if self.ptx.contains("::complete_tx") { ", [%p]" } else { "" };
                format!("{} {address}, {}{barrier};", self.ptx, self.value())
            }
            "st" => format!("{} {address}, {}{policy};", self.ptx, self.value()),
            "atom" => format!("{} {}, {address}, {}{policy};", self.ptx, self.values_from(0), self.changed_by()),
            "red" => format!("{} {address}, {}{policy};", self.ptx, self.changed_by()),
            "fence" if self.ptx.contains("::generic.acquire") && !self.ptx.contains(".sync_restrict") => {
                format!("{} {address}, 128;", self.ptx)
            }
            "fence" | "membar" => format!("{};", self.ptx),
            "isspacep" => format!("{} %done, %p;", self.ptx),
            "cvta" | "mapa" | "getctarank" => {
                let register = if self.ptx.ends_with("32") { "%r" } else { "%d" };
                let result = if self.opcode() == "getctarank" { "%r" } else { register };
                let rank = if self.opcode() == "mapa" { ", %r2" } else { "" };
                format!("{} {result}0, {register}1{rank};", self.ptx)
            }
            "createpolicy" if self.ptx.contains(".range") => format!("{} %d0, {address}, %r0, %r1;", self.ptx),
            "createpolicy" if self.ptx.contains(".cvt") => format!("{} %d0, %p;", self.ptx),
            "createpolicy" => format!("{} %d0, %f0;", self.ptx),
            "applypriority" | "discard" => format!("{} {address}, 128;", self.ptx),
            _ => format!("{} {address}{policy};", self.ptx),
        }
    }

    fn told_by_operands(&self, offset: usize, policy: &str) -> String {
        let says = |words| self.ptx.contains(words);
        let [dst, src] = match () {
            _ if says(".bulk.global") => ["%p", "%s"],
            _ if says(".shared::cluster.shared") || says(".shared::cta.shared") => ["%s", "%s"],
            _ => ["%s", "%p"],
        };
        let barrier = if says("shared") { "%s" } else { "%p" };
        let phase = if says(".parity") { "%r1" } else { "%d0" };
        let named = self.ptx.replace("%dst", dst).replace("%src", src).replace("%s]", &format!("{barrier}]"));
        let text = named.replace("%phase", phase).replace("%p]", &format!("%p+{offset}]"));
        let text = text.replace("%s]", &format!("%s+{offset}]"));
        match text.rsplit_once(", ") {
            // A mask comes after the policy.
            Some((before, mask)) if says(".cp_mask") => format!("{before}{policy}, {mask};"),
            _ => format!("{text}{policy};"),
        }
    }

    /// As the catalogue tells its forms apart: `%` for a register, but for predicates.
    pub fn told(&self) -> String {
        static REGISTER: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"%(?:phase|dst|src|[sp]|[hrd]\d)\b").expect("valid"));
        let by_operands = ["cp", "mbarrier"].contains(&self.opcode());
        let policy = if by_operands && self.takes_policy() { ", %" } else { "" };
        REGISTER.replace_all(&self.ptx, "%").into_owned() + policy
    }

    /// The word that it begins with; two words for what `ptx!` does not spell.
    fn opcode(&self) -> &str {
        let functions = ["st.bulk", "st.async", "red.async"];
        let own = functions.into_iter().find(|opcode| self.ptx.starts_with(opcode));
        own.unwrap_or_else(|| self.ptx.split('.').next().unwrap_or_default())
    }

    /// Whether it is a load or a store.
    pub fn moves(&self) -> bool {
        matches!(self.opcode(), "ld" | "ldu" | "st")
    }

    /// Whether `ptx!` is how it is written.
    pub fn is_spelled(&self) -> bool {
        self.moves() || self.is_atomic()
    }

    /// Whether it is an atomic.
    pub fn is_atomic(&self) -> bool {
        matches!(self.opcode(), "atom" | "red")
    }

    /// Stores that keep what a load brings, a register each: without them the assembler would drop it, or narrow it.
    pub fn kept(&self) -> String {
        let mut kept = String::new();
        if self.opcode() == "createpolicy" {
            kept += " st.volatile.global.b64 [%p], %d0;";
        }
        if matches!(self.opcode(), "ld" | "ldu" | "atom") {
            let (register, bits) = self.register();
            let first = usize::from(self.operands == Operands::OneSink);
            for lane in first..self.lanes() {
                write!(kept, " st.volatile.global.b{bits} [%p], %{register}{lane};").expect("a string takes all");
            }
        }
        kept
    }

    /// Whether it takes a policy.
    pub fn takes_policy(&self) -> bool {
        self.ptx.contains("::cache_hint")
    }

    /// How many elements its type has.
    pub fn lanes(&self) -> usize {
        let vector = self.ptx.rsplit_once(".v").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
        vector.unwrap_or(1)
    }

    fn value(&self) -> String {
        self.values_from(0)
    }

    /// What an atomic changes the value in memory by; a `.cas` compares before.
    fn changed_by(&self) -> String {
        let value = self.values_from(8);
        if self.ptx.contains(".cas.") { format!("{}, {value}", self.values_from(16)) } else { value }
    }

    /// The value in registers from a number on.
    fn values_from(&self, first: usize) -> String {
        let (register, lanes) = (self.register().0, self.lanes());
        if lanes == 1 {
            return format!("%{register}{first}");
        }
        let lane = |at: usize| match self.operands {
            Operands::AllSinks => "_".to_owned(),
            Operands::OneSink if at == 0 => "_".to_owned(),
            _ => format!("%{register}{}", first + at),
        };
        format!("{{{}}}", (0..lanes).map(lane).collect::<Vec<_>>().join(", "))
    }

    /// The register that holds an element, and the element's bits.
    fn register(&self) -> (char, &str) {
        let ty = self.ptx.rsplit('.').next().unwrap_or_default();
        let bits =
            if ty.ends_with("16x2") { "32" } else { ty.trim_start_matches(|kind: char| kind.is_ascii_lowercase()) };
        let register = match (ty, bits) {
            ("f32", _) => 'f',
            ("f64", _) => 'e',
            (_, "8" | "16") => 'h',
            (_, "64") => 'd',
            (_, "128") => 'q',
            _ => 'r',
        };
        (register, bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_product_once() {
        let access = 10 * 5 * 10 * 8 * 2 * 6 * 4 * 2 * 4;
        let lengths: Vec<usize> = GRAMMARS.iter().map(Grammar::len).collect();
        assert_eq!(
            lengths,
            [
                6 * access,
                6 * access,
                6 * 9 * 10 * 14,
                2 * 8 * 5 * 8 * 12 * 2 * 2 * 4 * 19,
                2 * 10 * 4 * 6 * 2 * 2,
                4 * 3 * 6 * 6 * 4,
                2 * 10 * 7,
                3 * 6,
                2 * 2 * 5 * 5 * 5 * 2 * 10 * 4 * 15,
                2 * 10 * 2 * 13 * 13,
                2 * 3 * 11 * 6 * 3 * 6,
                5 * 10 * 5,
                4 * 4 * 2 * 2 * 5 * 4 * 3,
                3 * 5 * 8 * 5,
                9 * 3 * 3 * 2 * 2 * 5,
                3 * 3 * 3 * 2,
                5 * 2 * 6 * 2 * 5 * 4,
                2 * 4 * 4 * 4 * 4 * 5,
                2 * 3 * 4 * 4 * 4 * 3,
                7 * 4 * 4 * 4 * 2 * 3,
            ]
        );
        for grammar in GRAMMARS.iter().filter(|grammar| !grammar.is_large() && !grammar.typed) {
            let all: HashSet<_> = (0..grammar.len()).map(|number| grammar.spelling(number)).collect();
            assert_eq!(all.len(), grammar.len());
        }
        let heads: HashSet<_> = (0..access).map(|number| GRAMMARS[0].head(number)).collect();
        assert_eq!(heads.len(), access);
        assert_eq!(TYPES.iter().flat_map(|class| class.iter()).collect::<HashSet<_>>().len(), 4 * 15);
    }

    #[test]
    fn numbers_are_found_again() {
        for grammar in GRAMMARS {
            for number in (0..grammar.len()).step_by(grammar.len().div_ceil(500)) {
                assert_eq!(grammar.number(&grammar.spelling(number).ptx), Some(number), "{}", grammar.name);
            }
        }
        assert_eq!(GRAMMARS[0].number("ld.global.nc.L2::1024B.f32"), None);
    }

    #[test]
    fn each_class_is_met_whole() {
        let access = GRAMMARS[0].heads();
        for (at, class) in TYPES.iter().enumerate() {
            // 2 heads that differ in their space only meet several types.
            let met: HashSet<_> = (0..100 * class.len())
                .map(|number| GRAMMARS[0].spelling(at * access + number * 50).ptx)
                .filter_map(|ptx| class.iter().find(|ty| ptx.ends_with(*ty)).copied())
                .collect();
            assert_eq!(met.len(), class.len(), "class {at}");
        }
    }

    #[test]
    fn lines_are_whole_instructions() {
        let line = |ptx: &str, operands| {
            let spelling = Spelling { ptx: ptx.into(), operands };
            spelling.instruction(64) + &spelling.kept()
        };
        assert_eq!(
            line("ld.global.nc.L2::cache_hint.v2.s8", Operands::Plain),
            "ld.global.nc.L2::cache_hint.v2.s8 {%h0, %h1}, [%p+64], %policy; st.volatile.global.b8 [%p], %h0; \
             st.volatile.global.b8 [%p], %h1;"
        );
        assert_eq!(
            line("ld.v2.f64", Operands::OneSink),
            "ld.v2.f64 {_, %e1}, [%p+64]; st.volatile.global.b64 [%p], %e1;"
        );
        assert_eq!(
            line("ld.b128", Operands::Unified),
            "ld.b128 %q0, [%p+64].unified; st.volatile.global.b128 [%p], %q0;"
        );
        assert_eq!(line("st.global.v4.f32", Operands::AllSinks), "st.global.v4.f32 [%p+64], {_, _, _, _};");
        assert_eq!(line("prefetchu.L1", Operands::Plain), "prefetchu.L1 [%p+64];");
        assert_eq!(
            line("atom.cas.b16", Operands::Plain),
            "atom.cas.b16 %h0, [%p+64], %h16, %h8; st.volatile.global.b16 [%p], %h0;"
        );
        assert_eq!(
            line("red.global.add.noftz.L2::cache_hint.v2.f16x2", Operands::Plain),
            "red.global.add.noftz.L2::cache_hint.v2.f16x2 [%p+64], {%r8, %r9}, %policy;"
        );
        assert_eq!(
            line("cp.async.cg.shared.global.L2::cache_hint [%s], [%p], 16, %ignore", Operands::Plain),
            "cp.async.cg.shared.global.L2::cache_hint [%s+64], [%p+64], 16, %ignore, %policy;"
        );
        assert_eq!(line("mbarrier.inval.b64 [%s]", Operands::Plain), "mbarrier.inval.b64 [%p+64];");
        assert_eq!(
            line("createpolicy.range.L2::evict_last.b64", Operands::Plain),
            "createpolicy.range.L2::evict_last.b64 %d0, [%p+64], %r0, %r1; st.volatile.global.b64 [%p], %d0;"
        );
    }
}
