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

use crate::element::*;
use crate::qualifier::caching::Caching;
use crate::qualifier::prefetch_size::*;
use crate::qualifier::target::{Isa, Sm, newer, ptx74, sm_80};

/// What a form needs: an SM and a PTX ISA version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    sm: u32,
    ptx: u32,
}

impl Needs {
    const fn of<S: Sm, P: Isa>() -> Self {
        Self { sm: S::NUMBER, ptx: P::NUMBER }
    }

    const fn and(self, other: Self) -> Self {
        Self { sm: newer(self.sm, other.sm), ptx: newer(self.ptx, other.ptx) }
    }
}

/// An instruction's row for one caching qualifier.
#[derive(Debug)]
pub(crate) struct Head {
    marker: &'static str,
    opcode: &'static str,
    needs: Needs,
}

impl Head {
    pub(crate) const fn new<C: Caching>(marker: &'static str, opcode: &'static str) -> Self {
        Self { marker, opcode, needs: Needs::of::<C::Sm, C::Isa>() }
    }
}

/// A row of an instruction that moves no value and has a function for each spelling.
#[derive(Debug)]
pub(crate) struct Single {
    rust: &'static str,
    ptx: &'static str,
    needs: Needs,
}

impl Single {
    pub(crate) const fn new<S: Sm, P: Isa>(rust: &'static str, ptx: &'static str) -> Self {
        Self { rust, ptx, needs: Needs::of::<S, P>() }
    }
}

/// An instruction and its rows.
#[derive(Debug)]
pub(crate) struct Instruction {
    name: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Access(Access),
    Singles(&'static [Single]),
}

/// A load or a store: its function, and its rows for types of up to 128 and of 256 bits.
#[derive(Debug)]
struct Access {
    operation: Operation,
    function: &'static str,
    narrow: &'static [Head],
    wide: &'static [Head],
    needs: Needs,
}

/// What a form does with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a value.
    Load,
    /// Writes a value.
    Store,
    /// Brings something into a cache.
    Prefetch,
}

impl Instruction {
    pub(crate) const fn access<S: Sm, P: Isa>(
        operation: Operation,
        name: &'static str,
        function: &'static str,
        narrow: &'static [Head],
        wide: &'static [Head],
    ) -> Self {
        Self { name, kind: Kind::Access(Access { operation, function, narrow, wide, needs: Needs::of::<S, P>() }) }
    }

    pub(crate) const fn singles(name: &'static str, rows: &'static [Single]) -> Self {
        Self { name, kind: Kind::Singles(rows) }
    }
}

/// The instructions, in the order in which [`forms`] walks them.
const INSTRUCTIONS: [&Instruction; 4] =
    [&crate::ld_global_nc::TABLE, &crate::ld::TABLE, &crate::st::TABLE, &crate::prefetch::TABLE];

/// An element type's row.
#[derive(Debug)]
struct ElementRow {
    rust: &'static str,
    ptx: &'static str,
    bytes: usize,
    needs: Needs,
}

macro_rules! element_rows {
    (() $({($($t:tt)*) [$($text:literal)*] $shape:ident $class:ident $register:ident $width:ident})*) => {
        const ELEMENTS: &[ElementRow] = &[$(ElementRow {
            rust: element_name!($($t)*),
            ptx: concat!($($text),*),
            bytes: size_of::<$($t)*>(),
            needs: Needs::of::<<$($t)* as PtxType>::Sm, <$($t)* as PtxType>::Isa>(),
        }),*];
    };
}
/// `stringify!` would put blanks into `V2<f32>`.
macro_rules! element_name {
    ($scalar:ident) => {
        stringify!($scalar)
    };
    ($vector:ident<$scalar:ident>) => {
        concat!(stringify!($vector), "<", stringify!($scalar), ">")
    };
}
for_each_element! { element_rows () }

/// A prefetch size's row.
struct Size {
    rust: &'static str,
    bytes: u32,
    needs: Needs,
}

const fn size<P: PrefetchSize>(rust: &'static str) -> Size {
    Size { rust, bytes: P::BYTES, needs: Needs::of::<P::Sm, P::Isa>() }
}

const SIZES: [Size; 4] = [
    size::<NoPrefetch>("NoPrefetch"),
    size::<Prefetch64>("Prefetch64"),
    size::<Prefetch128>("Prefetch128"),
    size::<Prefetch256>("Prefetch256"),
];

/// A store has no prefetch size.
const NO_SIZE: [Size; 1] = [size::<NoPrefetch>("")];

/// The `.L2::cache_hint` of an access.
const POLICY: Needs = Needs::of::<sm_80, ptx74>();

/// One legal form: an instruction with all its qualifiers and its type.
#[derive(Clone, Debug)]
pub struct Form {
    instruction: &'static str,
    operation: Operation,
    rust: String,
    rust_if: Option<String>,
    ptx: String,
    element: Option<&'static ElementRow>,
    policy: bool,
    needs: Needs,
}

impl Form {
    /// The instruction's name: `ld.global.nc`.
    pub fn instruction(&self) -> &'static str {
        self.instruction
    }

    /// What it does with its address.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The expression, with `p` as the address, `v` as the value of a store, `policy` where a policy is taken. It is
    /// unsafe to evaluate.
    pub fn rust(&self) -> &str {
        &self.rust
    }

    /// The predicated form's expression, with `cond`, and for a load `or`, beside the others. None where there is none.
    pub fn rust_if(&self) -> Option<&str> {
        self.rust_if.as_deref()
    }

    /// The mnemonic with all qualifiers and the type.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The Rust type that it moves: `V4<f32>`. None for a prefetch.
    pub fn element(&self) -> Option<&'static str> {
        self.element.map(|row| row.rust)
    }

    /// How many bytes it moves; 0 for a prefetch.
    pub fn bytes(&self) -> usize {
        self.element.map_or(0, |row| row.bytes)
    }

    /// Whether it takes a [`CachePolicy`](crate::CachePolicy).
    pub fn takes_policy(&self) -> bool {
        self.policy
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
pub fn forms() -> impl Iterator<Item = Form> {
    INSTRUCTIONS.into_iter().flat_map(Instruction::forms)
}

impl Instruction {
    fn forms(&'static self) -> Vec<Form> {
        match &self.kind {
            Kind::Access(access) => access.forms(self.name),
            Kind::Singles(rows) => rows.iter().map(|row| row.form(self.name)).collect(),
        }
    }
}

impl Single {
    fn form(&self, instruction: &'static str) -> Form {
        Form {
            instruction,
            operation: Operation::Prefetch,
            rust: self.rust.into(),
            rust_if: None,
            ptx: self.ptx.into(),
            element: None,
            policy: false,
            needs: self.needs,
        }
    }
}

impl Access {
    fn forms(&self, instruction: &'static str) -> Vec<Form> {
        let mut forms = Vec::new();
        for element in ELEMENTS {
            for head in if element.bytes == 32 { self.wide } else { self.narrow } {
                for policy in [false, true] {
                    for size in self.sizes() {
                        forms.push(self.form(instruction, element, head, policy, size));
                    }
                }
            }
        }
        forms
    }

    fn sizes(&self) -> &'static [Size] {
        match self.operation {
            Operation::Load => &SIZES,
            _ => &NO_SIZE,
        }
    }

    fn form(
        &self,
        instruction: &'static str,
        element: &'static ElementRow,
        head: &Head,
        policy: bool,
        size: &Size,
    ) -> Form {
        let Access { operation, function, needs, .. } = *self;
        let (marker, ty) = (head.marker, element.rust);
        let (with, and_policy) = if policy { ("_with", ", policy") } else { ("", "") };
        let (value, if_value) = match operation {
            Operation::Load => (format!("{function}::<{marker}, {}>()", size.rust), "or"),
            _ => (format!("{function}::<{marker}>()"), "v"),
        };
        let (verb, pointer, stored) = match operation {
            Operation::Load => ("read", "const", ""),
            _ => ("write", "mut", ", v"),
        };
        let hint = if policy { ".L2::cache_hint" } else { "" };
        let prefetch = if size.bytes == 0 { String::new() } else { format!(".L2::{}B", size.bytes) };
        let mut all = needs.and(head.needs).and(element.needs).and(size.needs);
        if policy {
            all = all.and(POLICY);
        }
        Form {
            instruction,
            operation,
            rust: format!("{value}.{verb}{with}(p as *{pointer} {ty}{stored}{and_policy})"),
            rust_if: Some(format!("{value}.{verb}_if{with}(cond, p as *{pointer} {ty}, {if_value}{and_policy})")),
            ptx: format!("{}{hint}{prefetch}{}", head.opcode, element.ptx),
            element: Some(element),
            policy,
            needs: all,
        }
    }
}
