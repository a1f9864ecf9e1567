//! A load or store in PTX's own words, as data: which words there are, and which of them go together.
//!
//! [`ptx!`](crate::ptx) asks it about what the author wrote, and the catalogue about everything that could be written.

use crate::element::*;
use crate::qualifier::caching::*;
use crate::qualifier::order::*;
use crate::qualifier::policy::CachePolicy;
use crate::qualifier::prefetch_size::*;
use crate::qualifier::space;
use crate::qualifier::target::*;

/// What an instruction does with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a value.
    Load,
    /// Writes a value.
    Store,
    /// Neither: it brings something into a cache, or makes a policy.
    Other,
}

/// What something needs of a target: an SM and a PTX ISA version, and whether this build has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// 80 for sm_80.
    pub sm: u32,
    /// 74 for PTX ISA 7.4.
    pub ptx: u32,
    /// The build's GPU is new enough.
    pub has_sm: bool,
    /// The build's PTX ISA version is new enough.
    pub has_ptx: bool,
}

impl Needs {
    pub(crate) const fn of<S: Sm, P: Isa>() -> Self {
        Self { sm: S::NUMBER, ptx: P::NUMBER, has_sm: S::REACHED, has_ptx: P::REACHED }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            sm: newer(self.sm, other.sm),
            ptx: newer(self.ptx, other.ptx),
            has_sm: self.has_sm && other.has_sm,
            has_ptx: self.has_ptx && other.has_ptx,
        }
    }

    pub(crate) const fn and_if(self, condition: bool, other: Self) -> Self {
        if condition { self.and(other) } else { self }
    }
}

/// Whether two words are the same.
pub(crate) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A kind of word: an enum, its texts, and what each needs.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $rust:tt [$($needs:tt)*];)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "a variant is the word that it is named after")]
        pub enum $name { $($variant),* }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word, with its dot.
            pub const fn ptx(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// What it is called in Rust.
            pub const fn rust(self) -> &'static str {
                match self { $(Self::$variant => $rust),* }
            }

            pub(crate) const fn needs(self) -> Needs {
                match self { $(Self::$variant => Needs::of::<$($needs)*>()),* }
            }

            pub(crate) const fn read(word: &[u8]) -> Option<Self> {
                $(if same(word, $text.as_bytes()) {
                    return Some(Self::$variant);
                })*
                None
            }
        }
    };
}

words! {
    /// How an access is ordered.
    Ordering {
        Weak ".weak" "" [sm_70, ptx60];
        Volatile ".volatile" ".volatile()" [sm_20, ptx20];
        Relaxed ".relaxed" ".relaxed::<>()" [sm_70, ptx60];
        Acquire ".acquire" ".acquire::<>()" [sm_70, ptx60];
        Release ".release" ".release::<>()" [sm_70, ptx60];
        AcqRel ".acq_rel" "" [sm_70, ptx60];
        Mmio ".mmio" ".mmio()" [sm_70, ptx82];
    }
}
words! {
    /// The threads that an ordered access synchronises with.
    Threads {
        Cta ".cta" "Cta" [<Cta as Scope>::Sm, <Cta as Scope>::Isa];
        Cluster ".cluster" "Cluster" [<Cluster as Scope>::Sm, <Cluster as Scope>::Isa];
        Gpu ".gpu" "Gpu" [<Gpu as Scope>::Sm, <Gpu as Scope>::Isa];
        Sys ".sys" "Sys" [<Sys as Scope>::Sm, <Sys as Scope>::Isa];
    }
}
words! {
    /// The space that the address is in; none for a generic address.
    Place {
        Global ".global" "_global" [sm_20, ptx20];
        Shared ".shared" "_shared" [sm_20, ptx20];
        SharedCta ".shared::cta" "_shared" [sm_30, ptx78];
        SharedCluster ".shared::cluster" "_shared_cluster"
            [<space::SharedCluster as space::Space>::Sm, <space::SharedCluster as space::Space>::Isa];
        Const ".const" "_const" [sm_20, ptx20];
        Local ".local" "_local" [sm_20, ptx20];
        Param ".param" "_param_entry" [sm_70, ptx77];
        ParamEntry ".param::entry" "_param_entry"
            [<space::ParamEntry as space::Space>::Sm, <space::ParamEntry as space::Space>::Isa];
        ParamFunc ".param::func" "_param_func"
            [<space::ParamFunc as space::Space>::Sm, <space::ParamFunc as space::Space>::Isa];
    }
}
impl Place {
    /// Whether it is shared memory, of this block or of the cluster.
    pub(crate) const fn is_shared(place: Option<Self>) -> bool {
        matches!(place, Some(Self::Shared | Self::SharedCta | Self::SharedCluster))
    }
}
words! {
    /// `.level::prefetch_size`.
    Size {
        B64 ".L2::64B" "Prefetch64" [<Prefetch64 as PrefetchSize>::Sm, <Prefetch64 as PrefetchSize>::Isa];
        B128 ".L2::128B" "Prefetch128" [<Prefetch128 as PrefetchSize>::Sm, <Prefetch128 as PrefetchSize>::Isa];
        B256 ".L2::256B" "Prefetch256" [<Prefetch256 as PrefetchSize>::Sm, <Prefetch256 as PrefetchSize>::Isa];
    }
}

/// The words of caching, out of the table of their markers.
macro_rules! caching_words {
    (@words () any [$none:ident $none_text:literal $($operator:ident $operator_text:literal)*]
        l1 [$($l1:ident $l1_text:literal)*] l2 [$($l2:ident $l2_text:literal)*]) => {
        caching_words! {
            /// A cache operator.
            Operator [$($operator $operator_text)*]
            /// An L1 eviction priority.
            L1 [$($l1 $l1_text)*]
            /// An L2 eviction priority.
            L2 [$($l2 $l2_text)*]
        }
    };
    ($($(#[$doc:meta])* $name:ident [$($word:ident $text:literal)*])*) => { $(
        words! {
            $(#[$doc])*
            $name { $($word $text (stringify!($word)) [<$word as Caching>::Sm, <$word as Caching>::Isa];)* }
        }
    )* };
}
for_each_caching! { caching_words words () }

/// An element type's row: what it is called in Rust and in PTX, and what it needs.
#[derive(Debug)]
pub(crate) struct ElementRow {
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) rust: &'static str,
    pub(crate) ptx: &'static str,
    pub(crate) bytes: usize,
    /// One element and not a vector.
    scalar: bool,
    needs: Needs,
}

macro_rules! element_rows {
    (() $({($($t:tt)*) $words:tt [$($text:literal)*] $shape:ident $class:ident $register:ident $width:ident})*) => {
        pub(crate) const ELEMENTS: &[ElementRow] = &[$(ElementRow {
            #[cfg(not(target_arch = "nvptx64"))]
            rust: element_name!($($t)*),
            ptx: concat!($($text),*),
            bytes: size_of::<$($t)*>(),
            scalar: matches!(stringify!($shape).as_bytes(), b"x1" | b"b128"),
            needs: Needs::of::<<$($t)* as PtxType>::Sm, <$($t)* as PtxType>::Isa>(),
        }),*];
    };
}
/// `stringify!` would put blanks into `V2<f32>`.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! element_name {
    ($scalar:ident) => {
        stringify!($scalar)
    };
    ($vector:ident<$scalar:ident>) => {
        concat!(stringify!($vector), "<", stringify!($scalar), ">")
    };
}
for_each_element! { element_rows () }

/// A load or store with all its qualifiers and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub(crate) operation: Operation,
    /// `ldu`: a load of what is the same for all threads of a warp.
    pub(crate) uniform: bool,
    pub(crate) order: Option<Ordering>,
    pub(crate) scope: Option<Threads>,
    pub(crate) place: Option<Place>,
    pub(crate) nc: bool,
    pub(crate) operator: Option<Operator>,
    pub(crate) l1: Option<L1>,
    pub(crate) l2: Option<L2>,
    /// `.L2::cache_hint`, which takes a policy.
    pub(crate) hint: bool,
    pub(crate) size: Option<Size>,
    /// `.unified` behind the address.
    pub(crate) unified: bool,
    /// The row of its type.
    pub(crate) element: usize,
}

/// What is wrong with a spelling: the word, where it is one, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong<'t> {
    /// The word.
    pub word: &'t str,
    /// Why it does not belong there, and what does.
    pub why: &'static str,
}

pub(crate) const fn wrong<'t, T>(word: &'t str, why: &'static str) -> Result<T, Wrong<'t>> {
    Err(Wrong { word, why })
}

/// Returns with the word as what it is, where it is one of these; each may stand only once.
macro_rules! take_word {
    ($spelling:ident $this:ident words [$($field:ident $kind:ident)*] flags [$($flag:ident $text:literal)*]) => {
        $(if let Some(word) = $kind::read($this.as_bytes()) {
            let had = $spelling.$field.is_some();
            $spelling.$field = Some(word);
            return once($spelling, $this, had);
        })*
        $(if same($this.as_bytes(), $text) {
            let had = $spelling.$flag;
            $spelling.$flag = true;
            return once($spelling, $this, had);
        })*
    };
}

pub(crate) const fn once<'t, T: Copy>(spelling: T, word: &'t str, had: bool) -> Result<T, Wrong<'t>> {
    if had { wrong(word, "one of its kind is there already") } else { Ok(spelling) }
}

/// What those words need that are there.
macro_rules! needs_of_words {
    ($spelling:ident $needs:ident [$($field:ident)*]) => { $(
        if let Some(word) = $spelling.$field {
            $needs = $needs.and(word.needs());
        }
    )* };
}

/// The row of a type that is all that is left.
macro_rules! row_of {
    ($rows:ident $rest:ident) => {{
        let mut at = 0;
        while at < $rows.len() {
            if same($rest, $rows[at].ptx.as_bytes()) {
                return Some(at);
            }
            at += 1;
        }
        None
    }};
}

impl Spelling {
    /// A weak access to a generic address, nothing said.
    pub(crate) const fn plain(operation: Operation, element: usize) -> Self {
        Self {
            operation,
            uniform: false,
            order: None,
            scope: None,
            place: None,
            nc: false,
            operator: None,
            l1: None,
            l2: None,
            hint: false,
            size: None,
            unified: false,
            element,
        }
    }

    /// Reads `ld.relaxed.gpu.global.L1::no_allocate.f32`: the qualifiers in any order, each once, then the type.
    pub const fn read(text: &str) -> Result<Self, Wrong<'_>> {
        let bytes = text.as_bytes();
        let mut at = end_of_word(bytes, 0);
        let (operation, uniform) = match bytes.split_at(at).0 {
            b"ld" => (Operation::Load, false),
            b"ldu" => (Operation::Load, true),
            b"st" => (Operation::Store, false),
            _ => return wrong(word(text, 0, at), "`ptx!` spells `ld`, `ldu`, `st`, `atom` and `red`"),
        };
        let mut spelling = Self { uniform, ..Self::plain(operation, 0) };
        let mut relaxed = false;
        while at < bytes.len() {
            if let Some(element) = element(bytes.split_at(at).1) {
                spelling.element = element;
                return spelling.with_mmio_relaxed(relaxed);
            }
            let end = end_of_word(bytes, at);
            let this = word(text, at, end);
            if same(this.as_bytes(), b".relaxed") {
                if relaxed {
                    return wrong(this, "it is there already");
                }
                relaxed = true;
            } else {
                spelling = match spelling.and(this) {
                    Ok(spelling) => spelling,
                    Err(wrong) => return Err(wrong),
                };
            }
            at = end;
        }
        wrong(
            "",
            "the type is missing: `.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32`, `.f64`; before it `.v2` or `.v4` of up to 64 bits, `.v8` of 32 bits",
        )
    }

    /// `.mmio` stands with `.relaxed`; alone, `.relaxed` is an order of its own.
    const fn with_mmio_relaxed(mut self, relaxed: bool) -> Result<Self, Wrong<'static>> {
        match self.order {
            Some(Ordering::Mmio) if relaxed => Ok(self),
            Some(Ordering::Mmio) => wrong(".mmio", "write `.mmio.relaxed.sys`"),
            Some(_) if relaxed => wrong(".relaxed", "an access has one order"),
            None if relaxed => {
                self.order = Some(Ordering::Relaxed);
                Ok(self)
            }
            _ => Ok(self),
        }
    }

    /// With one more word.
    const fn and(mut self, this: &str) -> Result<Self, Wrong<'_>> {
        let bytes = this.as_bytes();
        take_word! {
            self this
            words [order Ordering scope Threads place Place operator Operator l1 L1 l2 L2 size Size]
            flags [nc b".nc" hint b".L2::cache_hint"]
        }
        wrong(this, unknown(bytes))
    }

    const fn bytes(&self) -> usize {
        ELEMENTS[self.element].bytes
    }

    /// In global memory, or wherever a generic address points.
    const fn is_far(&self) -> bool {
        matches!(self.place, None | Some(Place::Global))
    }

    const fn is_weak(&self) -> bool {
        matches!(self.order, None | Some(Ordering::Weak))
    }

    /// Whether all its words go together, as `ptxas` judges it, and what they need.
    pub const fn check(&self) -> Result<Needs, Wrong<'static>> {
        if let Err(wrong) = self.check_uniform() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_place() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_order() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_caching() {
            return Err(wrong);
        }
        if let Err(wrong) = self.check_type() {
            return Err(wrong);
        }
        Ok(self.needs())
    }

    /// `ldu` takes nothing but a space and a type.
    const fn check_uniform(&self) -> Result<(), Wrong<'static>> {
        if !self.uniform {
            return Ok(());
        }
        macro_rules! none_of {
            ($($field:ident)*) => { $(
                if let Some(word) = self.$field {
                    return wrong(word.ptx(), "`ldu` takes a space and a type: `ldu.global.f32`; all else belongs to `ld`");
                }
            )* };
        }
        none_of! { order scope operator l1 l2 size }
        match self {
            Self { nc: true, .. } => wrong(".nc", "write `ldu.global` or `ld.global.nc`"),
            Self { hint: true, .. } => wrong(".L2::cache_hint", "`ldu` takes no policy; `ld` does"),
            Self { place: Some(place), .. } if !self.is_far() => {
                wrong(place.ptx(), "`ldu` stands on generic and global addresses")
            }
            _ if self.bytes() == 32 => wrong(ELEMENTS[self.element].ptx, "`ldu` moves up to 128 bits"),
            _ => Ok(()),
        }
    }

    const fn check_place(&self) -> Result<(), Wrong<'static>> {
        let load = matches!(self.operation, Operation::Load);
        match self.place {
            Some(Place::Const) if !load => return wrong(".const", "constant memory is read only"),
            Some(Place::Param | Place::ParamEntry | Place::ParamFunc) if !load => {
                return wrong(".param", "the assembler takes no store to a parameter's address in a register");
            }
            _ => {}
        }
        if self.nc && !(load && matches!(self.place, Some(Place::Global)) && self.order.is_none()) {
            return wrong(".nc", "it is a load from global memory without an order: `ld.global.nc`");
        }
        if self.unified && !(load && self.is_far() && self.is_weak() && !self.nc) {
            return wrong(".unified", "it stands on weak loads from generic and global addresses");
        }
        Ok(())
    }

    const fn check_order(&self) -> Result<(), Wrong<'static>> {
        let shared = Place::is_shared(self.place);
        let synchronises = self.is_far() || shared;
        match (self.order, self.scope) {
            (None | Some(Ordering::Weak | Ordering::Volatile), Some(scope)) => {
                wrong(scope.ptx(), "a scope belongs to `.relaxed`, `.acquire` or `.release`")
            }
            (Some(Ordering::Relaxed | Ordering::Acquire | Ordering::Release), None) => {
                wrong("", "the scope is missing: `.cta`, `.cluster`, `.gpu` or `.sys`")
            }
            (Some(Ordering::Mmio), scope) if !matches!(scope, Some(Threads::Sys)) => {
                wrong(".mmio", "write `.mmio.relaxed.sys`")
            }
            (Some(Ordering::Mmio), _) if !self.is_far() => wrong(".mmio", "it stands on generic and global addresses"),
            (Some(Ordering::Volatile), _) if !synchronises && !matches!(self.place, Some(Place::Local)) => {
                wrong(".volatile", "it stands on generic, global, shared and local addresses")
            }
            (Some(order), Some(_)) if !synchronises => {
                wrong(order.ptx(), "it stands on generic, global and shared addresses")
            }
            (Some(Ordering::AcqRel), _) => wrong(".acq_rel", "a load acquires, a store releases; `atom` does both"),
            (Some(Ordering::Acquire), _) if matches!(self.operation, Operation::Store) => {
                wrong(".acquire", "a load acquires, a store releases: `st.release`")
            }
            (Some(Ordering::Release), _) if matches!(self.operation, Operation::Load) => {
                wrong(".release", "a store releases, a load acquires: `ld.acquire`")
            }
            _ => Ok(()),
        }
    }

    const fn check_caching(&self) -> Result<(), Wrong<'static>> {
        let load = matches!(self.operation, Operation::Load);
        if let Some(operator) = self.operator {
            if self.l1.is_some() || self.l2.is_some() {
                return wrong(operator.ptx(), "a cache operator and an eviction priority are alternatives");
            }
            if !self.is_weak() {
                return wrong(
                    operator.ptx(),
                    "cache operators are for weak accesses; an order takes eviction priorities",
                );
            }
            let taken = match operator {
                Operator::Cg | Operator::Cs => true,
                Operator::Ca => load,
                Operator::Lu | Operator::Cv => load && !self.nc,
                Operator::Wb | Operator::Wt => !load,
            };
            if !taken {
                return wrong(
                    operator.ptx(),
                    "`ld` takes `.ca .cg .cs .lu .cv`, `ld.global.nc` `.ca .cg .cs`, `st` `.wb .cg .cs .wt`",
                );
            }
        }
        let prioritised = self.is_far() && !matches!(self.order, Some(Ordering::Volatile | Ordering::Mmio));
        let said = match (self.l1, self.l2) {
            (Some(l1), _) => l1.ptx(),
            (None, Some(l2)) => l2.ptx(),
            (None, None) => ".L2::cache_hint",
        };
        if (self.l1.is_some() || self.l2.is_some() || self.hint) && !prioritised {
            return wrong(said, "it stands on generic and global addresses, and not with `.volatile` or `.mmio`");
        }
        if let Some(l2) = self.l2
            && self.bytes() != 32
        {
            return wrong(
                l2.ptx(),
                "an L2 eviction priority needs a 256-bit type: `.v8` of 32 bits or `.v4` of 64 bits",
            );
        }
        if let Some(size) = self.size
            && !(load && self.is_far() && !matches!(self.order, Some(Ordering::Mmio)))
        {
            return wrong(
                size.ptx(),
                "a prefetch size stands on loads from generic and global addresses, and not with `.mmio`",
            );
        }
        if load && matches!(self.order, Some(Ordering::Relaxed)) && matches!(self.l1, Some(L1::EvictFirst)) {
            return wrong(
                ".L1::evict_first",
                "the assembler makes a weak load of `ld.relaxed` with this priority: use another one, or `.acquire`",
            );
        }
        Ok(())
    }

    const fn check_type(&self) -> Result<(), Wrong<'static>> {
        let row = &ELEMENTS[self.element];
        if row.bytes == 32 && !self.is_far() {
            return wrong(row.ptx, "256 bits at a time go only to generic and global addresses");
        }
        match self.order {
            Some(Ordering::Mmio) if !row.scalar => wrong(row.ptx, "`.mmio` moves scalars only"),
            Some(Ordering::Acquire | Ordering::Release) if row.bytes == 32 => wrong(
                row.ptx,
                "on 256-bit types the assembler forgets `.acquire` and `.release`: move two 128-bit halves, or use `.relaxed` and a fence",
            ),
            _ => Ok(()),
        }
    }

    const fn needs(&self) -> Needs {
        let row = &ELEMENTS[self.element];
        let b128 = row.bytes == 16 && row.scalar;
        let local_volatile = matches!((self.place, self.order), (Some(Place::Local), Some(Ordering::Volatile)));
        let mut needs = row
            .needs
            .and_if(self.nc, Needs::of::<sm_32, ptx31>())
            .and_if(self.hint, CachePolicy::NEEDS)
            .and_if(local_volatile, Needs::of::<sm_20, ptx91>())
            .and_if(b128 && matches!(self.scope, Some(Threads::Sys)), Needs::of::<sm_20, ptx84>());
        needs_of_words! { self needs [order scope place operator l1 l2 size] }
        needs
    }
}

/// Where the word that begins at `at` ends.
pub(crate) const fn end_of_word(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != b'.' {
        end += 1;
    }
    if end < text.len() { end } else { text.len() }
}

pub(crate) const fn word(text: &str, from: usize, to: usize) -> &str {
    text.split_at(to).0.split_at(from).1
}

const fn element(rest: &[u8]) -> Option<usize> {
    row_of! { ELEMENTS rest }
}

const fn unknown(word: &[u8]) -> &'static str {
    match word {
        b".v2" | b".v4" | b".v8" => {
            "PTX has `.v2` and `.v4` of types of up to 64 bits, `.v8` of 32-bit types, and nothing after the type"
        }
        b".L2::evict_unchanged" => "no load or store takes it; `createpolicy` does",
        b".b16x2" | b".f16" | b".bf16" => "16-bit floats are moved as `.b16`, pairs of them as `.b32`",
        _ => "PTX has no such qualifier or type here",
    }
}

/// What [`ptx!`](crate::ptx) makes of what it was given: the mnemonic, whether a policy stands behind the operands and
/// `.unified` behind the address, and which lanes are named.
pub const fn judge<'t>(
    text: &'t str,
    policy: bool,
    unified: bool,
    lanes: Lanes<'_>,
) -> Result<(Spelling, Needs), Wrong<'t>> {
    let spelling = match Spelling::read(text) {
        Ok(spelling) => Spelling { unified, ..spelling },
        Err(wrong) => return Err(wrong),
    };
    let needs = match spelling.check() {
        Ok(needs) => needs,
        Err(wrong) => return Err(wrong),
    };
    if let Err(wrong) = demand_policy(spelling.hint, policy) {
        return Err(wrong);
    }
    match lanes {
        Lanes::Some(_) if spelling.bytes() != 32 => wrong("_", "only a 256-bit access can leave lanes out"),
        Lanes::Some(named) if named.len() != ELEMENTS[spelling.element].lanes() || !any(named) => {
            wrong("{…}", "name each lane of the vector, or write `_` for it; at least one is named")
        }
        _ => Ok((spelling, needs)),
    }
}

/// The spelling that [`ptx!`](crate::ptx) was given; the build stops where it is none, or is not on its target.
#[doc(hidden)]
pub const fn demand(text: &'static str, policy: bool, unified: bool, lanes: Lanes<'_>) -> Spelling {
    match judge(text, policy, unified, lanes) {
        Ok((spelling, needs)) => {
            stop_unless_on_target(text, needs);
            spelling
        }
        Err(wrong) => stop(text, wrong),
    }
}

/// Whether a policy stands behind the operands exactly where `.L2::cache_hint` is said.
pub(crate) const fn demand_policy(hint: bool, policy: bool) -> Result<(), Wrong<'static>> {
    match (hint, policy) {
        (true, false) => wrong(".L2::cache_hint", "a `CachePolicy` is missing behind the other operands"),
        (false, true) => wrong("", "a `CachePolicy` is there, and `.L2::cache_hint` is not"),
        _ => Ok(()),
    }
}

/// Stops the build where its target is too old.
pub(crate) const fn stop_unless_on_target(text: &str, needs: Needs) {
    match needs {
        Needs { has_sm: false, sm, .. } => stop_for_sm(text, sm),
        Needs { has_ptx: false, ptx, .. } => stop_for_ptx(text, ptx),
        _ => {}
    }
}

/// Which lanes of a vector are moved.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Lanes<'l> {
    /// Every one: nothing is said.
    All,
    /// Those that have a name.
    Some(&'l [bool]),
}

const fn any(named: &[bool]) -> bool {
    let mut at = 0;
    while at < named.len() {
        if named[at] {
            return true;
        }
        at += 1;
    }
    false
}

/// Stops the build with `text: word: why`.
pub(crate) const fn stop(text: &str, Wrong { word, why }: Wrong<'_>) -> ! {
    let message = Message::about(text);
    let message = if word.is_empty() { message } else { message.and("`").and(word).and("`: ") };
    message.and(why).panic()
}

const fn stop_for_sm(text: &str, sm: u32) -> ! {
    let message =
        Message::about(text).and("needs sm_").and_number(sm).and(" or newer, and this build is for an older GPU: ");
    let message = if cfg!(ptx_by_libnvvm) {
        message.and("ask cuda_builder for a newer `arch`")
    } else {
        message.and("put `-Ctarget-cpu=sm_").and_number(sm).and("` into RUSTFLAGS")
    };
    message.and("; if PTX_INTRINSICS_TARGET is set, raise it there").panic()
}

const fn stop_for_ptx(text: &str, ptx: u32) -> ! {
    let message = Message::about(text);
    if is_beyond_this_rustc(ptx) {
        let message = message.and("needs a rustc with PTX ISA ptx").and_number(ptx);
        let message = message.and(", and this one ends with an older version: it would ignore `-Ctarget-feature=+ptx");
        message.and_number(ptx).and("`").panic()
    }
    let message =
        message.and("needs PTX ISA ptx").and_number(ptx).and(" or newer, and this build emits an older `.version`: ");
    if cfg!(ptx_by_libnvvm) {
        let message = message.and("libnvvm writes its own; if yours writes ptx").and_number(ptx);
        message.and(" or newer, state it in PTX_INTRINSICS_TARGET").panic()
    }
    if cfg!(target_arch = "nvptx64") {
        let message = message.and("add `-Ctarget-feature=+ptx").and_number(ptx);
        message.and("` to RUSTFLAGS; if PTX_INTRINSICS_TARGET is set, raise it there").panic()
    }
    let message =
        message.and("raise it in PTX_INTRINSICS_TARGET; the build for the GPU needs a rustc with that version, and");
    message.and(" `-Ctarget-feature=+ptx").and_number(ptx).and("` in RUSTFLAGS").panic()
}

/// A text that is put together while constants are evaluated.
struct Message {
    bytes: [u8; 512],
    length: usize,
}

impl Message {
    const fn about(text: &str) -> Self {
        Self { bytes: [0; 512], length: 0 }.and("`").and(text).and("`: ")
    }

    const fn and(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn and_number(self, number: u32) -> Self {
        let digit = "0123456789".split_at((number % 10) as usize).1.split_at(1).0;
        let before = if number >= 10 { self.and_number(number / 10) } else { self };
        before.and(digit)
    }

    const fn panic(self) -> ! {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("the words do not go together"),
        }
    }
}

impl ElementRow {
    const fn lanes(&self) -> usize {
        match self.ptx.as_bytes() {
            [b'.', b'v', lanes, ..] => (*lanes - b'0') as usize,
            _ => 1,
        }
    }
}
