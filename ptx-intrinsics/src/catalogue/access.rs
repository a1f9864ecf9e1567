//! The forms of loads and stores, and how each is written in Rust.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::grammar::access::Spelling;
use crate::isa::caching::{L1PriorityWord, L2PriorityWord, OperatorWord};
use crate::isa::element::ELEMENTS;
use crate::isa::order::OrderWord;
use crate::isa::prefetch_size::PrefetchSizeWord;
use crate::isa::row::Operation;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;

/// The address that `ptx!` is given: in shared memory a pointer of the space.
pub(crate) fn address(space: Option<SpaceWord>, mutability: &str, ty: &str) -> String {
    if SpaceWord::is_shared(space) { format!("p.cast::<{ty}>()") } else { format!("p as *{mutability} {ty}") }
}

/// Every load and store.
pub(super) fn spellings() -> impl Iterator<Item = Spelling> {
    heads().flat_map(with_qualifiers)
}

/// Each operation in each space and order that has it, nothing else said.
fn heads() -> impl Iterator<Item = Spelling> {
    let spaces = [
        Some(SpaceWord::Global),
        None,
        Some(SpaceWord::Shared),
        Some(SpaceWord::SharedCluster),
        Some(SpaceWord::Const),
        Some(SpaceWord::Local),
        Some(SpaceWord::ParamEntry),
        Some(SpaceWord::ParamFunc),
    ];
    let scopes = || core::iter::once(None).chain(ScopeWord::ALL.iter().copied().map(Some));
    let orders = core::iter::once(None)
        .chain(OrderWord::ALL.iter().copied().filter(|&order| order != OrderWord::Weak).map(Some));
    let heads = orders.flat_map(move |order| {
        scopes().flat_map(move |scope| {
            spaces.into_iter().flat_map(move |space| {
                let load = Spelling { order, scope, space, ..Spelling::plain(Operation::Load, 0) };
                let store = Spelling { operation: Operation::Store, ..load };
                [Spelling { nc: true, ..load }, load, Spelling { uniform: true, ..load }, store]
            })
        })
    });
    heads.filter(|head| head.check().is_ok())
}

/// Each way to say what a head takes, for each type that it moves.
fn with_qualifiers(head: Spelling) -> impl Iterator<Item = Spelling> {
    let l1 = || core::iter::once(None).chain(L1PriorityWord::ALL.iter().copied().map(Some));
    let l2 = || core::iter::once(None).chain(L2PriorityWord::ALL.iter().copied().map(Some));
    let operators = OperatorWord::ALL.iter().map(move |&operator| Spelling { operator: Some(operator), ..head });
    let priorities = l1().flat_map(move |l1| l2().map(move |l2| Spelling { l1, l2, ..head }));
    let cachings: Vec<Spelling> = priorities.chain(operators).collect();
    let sizes = || core::iter::once(None).chain(PrefetchSizeWord::ALL.iter().copied().map(Some));
    let spellings = (0..ELEMENTS.len()).flat_map(move |element| {
        cachings.clone().into_iter().flat_map(move |caching| {
            [false, true]
                .into_iter()
                .flat_map(move |hint| sizes().map(move |size| Spelling { element, hint, size, ..caching }))
        })
    });
    spellings.filter(|spelling| spelling.check().is_ok())
}

impl Spelling {
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
            (Some(OrderWord::Mmio), _) => ".mmio.relaxed.sys".into(),
            (order, scope) => [order.map(OrderWord::ptx), scope.map(ScopeWord::ptx)].into_iter().flatten().collect(),
        }
    }

    /// The anchor of its section in the PTX ISA.
    pub(super) fn section(&self) -> &'static str {
        match self.mnemonic() {
            "ld" if self.nc => "data-movement-and-conversion-instructions-ld-global-nc",
            "ld" => "data-movement-and-conversion-instructions-ld",
            "ldu" => "data-movement-and-conversion-instructions-ldu",
            _ => "data-movement-and-conversion-instructions-st",
        }
    }

    pub(super) fn instruction(&self) -> String {
        let (nc, space) = (if self.nc { ".nc" } else { "" }, self.space.map_or("", SpaceWord::ptx));
        match self.order {
            None => format!("{}{space}{nc}", self.mnemonic()),
            Some(order) => format!("{}{}", self.mnemonic(), order.ptx()),
        }
    }

    /// Its words in the order of the PTX ISA.
    pub fn ptx(&self) -> String {
        let mut ptx = String::from(self.mnemonic());
        ptx += &self.order_ptx();
        let words = [
            self.space.map(SpaceWord::ptx),
            self.operator.map(OperatorWord::ptx),
            self.nc.then_some(".nc"),
            self.l1.map(L1PriorityWord::ptx),
            self.l2.map(L2PriorityWord::ptx),
            self.hint.then_some(".L2::cache_hint"),
            self.size.map(PrefetchSizeWord::ptx),
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
    pub(super) fn method(&self, guarded: bool) -> Option<String> {
        let space = self.space.map_or("", SpaceWord::rust);
        let nc = if self.nc { "_nc" } else { "" };
        let (size, caching) = (self.size.map_or("NoPrefetch", PrefetchSizeWord::rust), self.caching());
        let (global, order) = (self.space == Some(SpaceWord::Global), self.order.unwrap_or(OrderWord::Weak));
        let by_method = match self.order {
            // The functions of the other spaces have no parameters.
            _ if !global && (caching != "NoHint" || size != "NoPrefetch") => false,
            None => global || !self.hint,
            Some(order) => !self.hint && order.takes(&caching, size),
        };
        if !by_method || self.uniform || guarded && !order.under_predicate() {
            return None;
        }
        let parameters = match self.operation {
            _ if !global => String::new(),
            Operation::Load => format!("::<{caching}, {size}>"),
            _ => format!("::<{caching}>"),
        };
        let order = self.order.map_or(String::new(), |order| {
            let scope = self.scope.filter(|_| order != OrderWord::Mmio).map_or("", ScopeWord::rust);
            order.rust().replace("<>", &format!("<{scope}>"))
        });
        let (when, with) = (if guarded { "_if" } else { "" }, if self.hint { "_with" } else { "" });
        let operands = self.operands(guarded);
        let verb = if self.operation == Operation::Load { "read" } else { "write" };
        Some(format!("{}{space}{nc}{parameters}(){order}.{verb}{when}{with}({operands})", self.mnemonic()))
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
    pub(super) fn macro_call(&self, guarded: bool) -> String {
        let (ty, policy) = (ELEMENTS[self.element].rust, if self.hint { ", policy" } else { "" });
        let (cond, or) = if guarded { ("@cond ", ", else or") } else { ("", "") };
        let unified = if self.unified { ".unified" } else { "" };
        let ptx = self.ptx();
        let p = address(self.space, if self.operation == Operation::Load { "const" } else { "mut" }, ty);
        match self.operation {
            Operation::Load => format!("ptx!({cond}{ptx} [{p}]{unified}{policy}{or})"),
            _ => format!("ptx!({cond}{ptx} [{p}], v{policy})"),
        }
    }
}
