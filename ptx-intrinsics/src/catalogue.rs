//! Every legal form, from the tables that emit them: for tests, documentation and tools on the host.
//!
//! ```
//! use ptx_intrinsics::catalogue;
//!
//! let form = catalogue::forms().find(|form| form.ptx() == "ld.global.nc.L1::evict_last.L2::256B.f32").unwrap();
//! assert_eq!(form.rust(), "ld_global_nc::<EvictLast, Prefetch256>().read(p as *const f32)");
//! assert_eq!((form.min_sm(), form.min_ptx()), (80, 74));
//! ```

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::atom::{Atomic, atomics};
use crate::qualifier::target::{Isa, Sm};
pub use crate::spelling::Operation;
use crate::spelling::{ELEMENTS, L1, L2, Needs, Operator, Ordering, Place, Size, Spelling, Threads};
use crate::{
    applypriority, cp_async, cp_async_bulk, createpolicy, cvta, discard, fence, isspacep, mapa, mbarrier, prefetch,
};

/// A row of an instruction that has a function for each spelling.
#[derive(Debug)]
pub(crate) struct Single {
    instruction: &'static str,
    rust: &'static str,
    ptx: &'static str,
    signature: Signature,
    needs: Needs,
}

/// What a form that is neither a load nor a store takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The parameters that its Rust expression names: `p: *const u8`.
    pub parameters: &'static str,
    /// The type of the expression, where it has a value.
    pub result: Option<&'static str>,
    /// The operands of the instruction, `%` for a register: `[%]`.
    pub operands: &'static str,
}

impl Single {
    pub(crate) const fn new<S: Sm, P: Isa>(
        instruction: &'static str,
        rust: &'static str,
        ptx: &'static str,
        signature: Signature,
    ) -> Self {
        Self::needing(instruction, rust, ptx, signature, Needs::of::<S, P>())
    }

    pub(crate) const fn needing(
        instruction: &'static str,
        rust: &'static str,
        ptx: &'static str,
        signature: Signature,
        needs: Needs,
    ) -> Self {
        Self { instruction, rust, ptx, signature, needs }
    }
}

/// One legal form: an instruction with all its qualifiers and its type.
#[derive(Clone, Debug)]
pub struct Form {
    instruction: String,
    rust: String,
    ptx: String,
    what: What,
    needs: Needs,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Access(Spelling),
    Atomic(Atomic),
    Single(Signature),
}

impl Form {
    /// The instruction's name: `ld.global.nc`, `ld.acquire`.
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// What it does with its address.
    pub fn operation(&self) -> Operation {
        self.access().map_or(Operation::Other, |spelling| spelling.operation)
    }

    /// Whether it is an `atom` or a `red`.
    pub fn is_atomic(&self) -> bool {
        matches!(self.what, What::Atomic(_))
    }

    fn access(&self) -> Option<Spelling> {
        if let What::Access(spelling) = self.what { Some(spelling) } else { None }
    }

    /// What it takes and gives, if it is neither a load nor a store.
    pub fn signature(&self) -> Option<Signature> {
        match self.what {
            What::Access(_) => None,
            What::Atomic(atomic) => Some(atomic.signature()),
            What::Single(signature) => Some(signature),
        }
    }

    /// The expression, with `p` as the address, `v` as the value of a store, `policy` where a policy is taken. It is
    /// unsafe to evaluate. What has a method is written with it, all else with [`ptx!`](crate::ptx).
    pub fn rust(&self) -> &str {
        &self.rust
    }

    /// The predicated form's expression, with `cond`, and where it has a value `or`, beside the others. None where there
    /// is none.
    pub fn rust_if(&self) -> Option<String> {
        match self.what {
            What::Access(spelling) => Some(spelling.method(true).unwrap_or_else(|| spelling.spelled(true))),
            What::Atomic(atomic) => Some(atomic.rust(true)),
            What::Single(_) => None,
        }
    }

    /// The expression of a load or store with [`ptx!`](crate::ptx). None for all else.
    pub fn rust_ptx(&self) -> Option<String> {
        self.access().map(|spelling| spelling.spelled(false))
    }

    /// The predicated expression of a load or store with [`ptx!`](crate::ptx). None for all else.
    pub fn rust_ptx_if(&self) -> Option<String> {
        self.access().map(|spelling| spelling.spelled(true))
    }

    /// The form with `.unified` behind its address, where it takes that: the expression, SM and PTX ISA version.
    pub fn unified(&self) -> Option<(String, u32, u32)> {
        let spelling = Spelling { unified: true, ..self.access()? };
        let needs = spelling.check().ok()?;
        Some((spelling.spelled(false), needs.sm, needs.ptx))
    }

    /// The mnemonic with all qualifiers and the type.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The mnemonic, and behind it the operands where they tell forms apart: `cp.async.cg.shared.global [%], [%], 16`.
    pub fn told(&self) -> String {
        let operands = self.signature().map_or("", |signature| signature.operands);
        let by_operands = ["cp", "mbarrier"].contains(&self.ptx.split('.').next().unwrap_or_default());
        if by_operands && !operands.is_empty() { format!("{} {operands}", self.ptx) } else { self.ptx.clone() }
    }

    /// The Rust type that a load or store moves: `V4<f32>`. None for all else.
    pub fn element(&self) -> Option<&'static str> {
        self.access().map(|spelling| ELEMENTS[spelling.element].rust)
    }

    /// How many bytes a load or store moves; 0 for all else.
    pub fn bytes(&self) -> usize {
        self.access().map_or(0, |spelling| ELEMENTS[spelling.element].bytes)
    }

    /// The state space of its address as a word without a dot, `shared::cluster`. None for a generic address.
    pub fn space(&self) -> Option<&'static str> {
        match self.what {
            What::Access(spelling) => spelling.place.map(|place| &place.ptx()[1..]),
            What::Atomic(atomic) => atomic.space(),
            What::Single(_) => None,
        }
    }

    /// Whether it takes a [`CachePolicy`](crate::CachePolicy).
    pub fn takes_policy(&self) -> bool {
        match self.what {
            What::Access(spelling) => spelling.hint,
            What::Atomic(atomic) => atomic.hint(),
            What::Single(_) => false,
        }
    }

    /// The oldest target that has it: 80 for sm_80.
    pub fn min_sm(&self) -> u32 {
        self.needs.sm
    }

    /// The oldest PTX ISA version that has it: 74 for 7.4.
    pub fn min_ptx(&self) -> u32 {
        self.needs.ptx
    }
}

/// Every legal form.
///
/// The words that say what is meant anyway are left out: `.weak`, `::cta` behind `.shared`, and `.param` for
/// `.param::entry`. [`ptx!`](crate::ptx) takes them too.
pub fn forms() -> impl Iterator<Item = Form> {
    heads().flat_map(with_qualifiers).chain(
        [
            prefetch::SINGLES,
            applypriority::SINGLES,
            discard::SINGLES,
            createpolicy::SINGLES,
            isspacep::SINGLES,
            cvta::SINGLES,
            mapa::SINGLES,
        ]
        .into_iter()
        .flatten()
        .chain(cp_async::singles())
        .chain(cp_async_bulk::singles())
        .chain(mbarrier::singles())
        .chain(fence::singles())
        .map(Single::form)
        .chain(atomics().filter_map(Atomic::form)),
    )
}

impl Atomic {
    fn form(self) -> Option<Form> {
        Some(Form {
            instruction: self.instruction(),
            rust: self.rust(false),
            ptx: self.ptx(),
            what: What::Atomic(self),
            needs: self.check().ok()?,
        })
    }
}

impl Single {
    fn form(&self) -> Form {
        Form {
            instruction: self.instruction.into(),
            rust: self.rust.into(),
            ptx: self.ptx.into(),
            what: What::Single(self.signature),
            needs: self.needs,
        }
    }
}

/// The address that `ptx!` is given: in shared memory a pointer of the space.
pub(crate) fn address(place: Option<Place>, mutability: &str, ty: &str) -> String {
    if Place::is_shared(place) { format!("p.cast::<{ty}>()") } else { format!("p as *{mutability} {ty}") }
}

/// Each operation in each space and order that has it, nothing else said.
fn heads() -> impl Iterator<Item = Spelling> {
    let places = [
        Some(Place::Global),
        None,
        Some(Place::Shared),
        Some(Place::SharedCluster),
        Some(Place::Const),
        Some(Place::Local),
        Some(Place::ParamEntry),
        Some(Place::ParamFunc),
    ];
    let scopes = || core::iter::once(None).chain(Threads::ALL.iter().copied().map(Some));
    let orders =
        core::iter::once(None).chain(Ordering::ALL.iter().copied().filter(|&order| order != Ordering::Weak).map(Some));
    let heads = orders.flat_map(move |order| {
        scopes().flat_map(move |scope| {
            places.into_iter().flat_map(move |place| {
                let load = Spelling { order, scope, place, ..Spelling::plain(Operation::Load, 0) };
                let store = Spelling { operation: Operation::Store, ..load };
                [Spelling { nc: true, ..load }, load, Spelling { uniform: true, ..load }, store]
            })
        })
    });
    heads.filter(|head| head.check().is_ok())
}

/// Each way to say what a head takes, for each type that it moves.
fn with_qualifiers(head: Spelling) -> impl Iterator<Item = Form> {
    let l1 = || core::iter::once(None).chain(L1::ALL.iter().copied().map(Some));
    let l2 = || core::iter::once(None).chain(L2::ALL.iter().copied().map(Some));
    let operators = Operator::ALL.iter().map(move |&operator| Spelling { operator: Some(operator), ..head });
    let priorities = l1().flat_map(move |l1| l2().map(move |l2| Spelling { l1, l2, ..head }));
    let cachings: Vec<Spelling> = priorities.chain(operators).collect();
    let sizes = || core::iter::once(None).chain(Size::ALL.iter().copied().map(Some));
    let spellings = (0..ELEMENTS.len()).flat_map(move |element| {
        cachings.clone().into_iter().flat_map(move |caching| {
            [false, true]
                .into_iter()
                .flat_map(move |hint| sizes().map(move |size| Spelling { element, hint, size, ..caching }))
        })
    });
    spellings.filter_map(|spelling| spelling.form())
}

impl Spelling {
    fn form(self) -> Option<Form> {
        let needs = self.check().ok()?;
        Some(Form {
            instruction: self.instruction(),
            rust: self.method(false).unwrap_or_else(|| self.spelled(false)),
            ptx: self.ptx(),
            what: What::Access(self),
            needs,
        })
    }

    fn mnemonic(&self) -> &'static str {
        match self.operation {
            Operation::Load if self.uniform => "ldu",
            Operation::Load => "ld",
            _ => "st",
        }
    }

    /// An order with its scope, as PTX writes it.
    fn order_ptx(&self) -> String {
        match (self.order, self.scope) {
            (Some(Ordering::Mmio), _) => ".mmio.relaxed.sys".into(),
            (order, scope) => [order.map(Ordering::ptx), scope.map(Threads::ptx)].into_iter().flatten().collect(),
        }
    }

    fn instruction(&self) -> String {
        let (nc, place) = (if self.nc { ".nc" } else { "" }, self.place.map_or("", Place::ptx));
        match self.order {
            None => format!("{}{place}{nc}", self.mnemonic()),
            Some(order) => format!("{}{}", self.mnemonic(), order.ptx()),
        }
    }

    /// Its words in the order of the PTX ISA.
    pub fn ptx(&self) -> String {
        let mut ptx = String::from(self.mnemonic());
        ptx += &self.order_ptx();
        let words = [
            self.place.map(Place::ptx),
            self.operator.map(Operator::ptx),
            self.nc.then_some(".nc"),
            self.l1.map(L1::ptx),
            self.l2.map(L2::ptx),
            self.hint.then_some(".L2::cache_hint"),
            self.size.map(Size::ptx),
            Some(ELEMENTS[self.element].ptx),
        ];
        ptx.extend(words.into_iter().flatten());
        ptx
    }

    /// The caching qualifier's marker.
    fn caching(&self) -> String {
        match (self.operator, self.l1, self.l2) {
            (Some(operator), ..) => operator.rust().into(),
            (_, Some(l1), Some(l2)) => format!("({}, {})", l1.rust(), l2.rust()),
            (_, Some(l1), None) => l1.rust().into(),
            (_, None, Some(l2)) => l2.rust().into(),
            (None, None, None) => "NoHint".into(),
        }
    }

    /// The expression with the methods, where they reach it.
    fn method(&self, guarded: bool) -> Option<String> {
        let place = self.place.map_or("", Place::rust);
        let nc = if self.nc { "_nc" } else { "" };
        let (size, caching) = (self.size.map_or("NoPrefetch", Size::rust), self.caching());
        let said = self.hint || self.size.is_some();
        let global = self.place == Some(Place::Global);
        let by_method = match self.order {
            None => global || !said && caching == "NoHint",
            Some(Ordering::Volatile | Ordering::Mmio) => !said && caching == "NoHint",
            Some(_) => !said && (caching == "NoHint" || global && caching == "NoAllocate"),
        };
        // Under a predicate the methods spell weak accesses.
        if !by_method || self.uniform || guarded && self.order.is_some() {
            return None;
        }
        let parameters = match self.operation {
            _ if !global => String::new(),
            Operation::Load => format!("::<{caching}, {size}>"),
            _ => format!("::<{caching}>"),
        };
        let order = self.order.map_or(String::new(), |order| {
            let scope = self.scope.filter(|_| order != Ordering::Mmio).map_or("", Threads::rust);
            order.rust().replace("<>", &format!("<{scope}>"))
        });
        let (when, with) = (if guarded { "_if" } else { "" }, if self.hint { "_with" } else { "" });
        let operands = self.operands(guarded);
        let verb = if self.operation == Operation::Load { "read" } else { "write" };
        Some(format!("{}{place}{nc}{parameters}(){order}.{verb}{when}{with}({operands})", self.mnemonic()))
    }

    /// The operands of a method.
    fn operands(&self, guarded: bool) -> String {
        let cond = if guarded { "cond, " } else { "" };
        let (ty, policy) = (ELEMENTS[self.element].rust, if self.hint { ", policy" } else { "" });
        match self.operation {
            Operation::Load if guarded => format!("{cond}p as *const {ty}, or{policy}"),
            Operation::Load => format!("p as *const {ty}{policy}"),
            _ => format!("{cond}p as *mut {ty}, v{policy}"),
        }
    }

    /// The expression with `ptx!`.
    fn spelled(&self, guarded: bool) -> String {
        let (ty, policy) = (ELEMENTS[self.element].rust, if self.hint { ", policy" } else { "" });
        let (cond, or) = if guarded { ("@cond ", ", else or") } else { ("", "") };
        let unified = if self.unified { ".unified" } else { "" };
        let ptx = self.ptx();
        let p = address(self.place, if self.operation == Operation::Load { "const" } else { "mut" }, ty);
        match self.operation {
            Operation::Load => format!("ptx!({cond}{ptx} [{p}]{unified}{policy}{or})"),
            _ => format!("ptx!({cond}{ptx} [{p}], v{policy})"),
        }
    }
}
