//! The forms of `multimem`, for the catalogue.

use alloc::format;
use alloc::string::String;

use super::access::address;
use crate::grammar::multimem::Multimem;
use crate::isa::atomic::AtomicOperation;
use crate::isa::multimem::{AccumulationWord, MultimemWord, TYPES};
use crate::isa::order::OrderWord;
use crate::isa::row::Signature;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;

/// Every `multimem` that is legal, without `.weak`, which is meant anyway.
pub(super) fn multimems() -> impl Iterator<Item = Multimem> {
    fn or_none<W: Copy + 'static>(all: &'static [W]) -> impl Iterator<Item = Option<W>> {
        core::iter::once(None).chain(all.iter().copied().map(Some))
    }
    let ordered = MultimemWord::ALL.iter().flat_map(|&word| {
        or_none(OrderWord::ALL).filter(|order| *order != Some(OrderWord::Weak)).flat_map(move |order| {
            or_none(ScopeWord::ALL).map(move |scope| Multimem { order, scope, ..Multimem::plain(word) })
        })
    });
    let placed = ordered.flat_map(|head| [None, Some(SpaceWord::Global)].map(|space| Multimem { space, ..head }));
    let reducing = placed.flat_map(|head| {
        or_none(AtomicOperation::ALL).flat_map(move |op| {
            or_none(AccumulationWord::ALL).map(move |accumulation| Multimem { op, accumulation, ..head })
        })
    });
    let typed = reducing.flat_map(|head| (0..TYPES.len()).map(move |ty| Multimem { ty, ..head }));
    typed.filter(|multimem| multimem.check().is_ok())
}

impl Multimem {
    /// The anchor of its section in the PTX ISA.
    pub(crate) fn section(&self) -> &'static str {
        "data-movement-and-conversion-instructions-multimem"
    }

    /// `multimem.ld_reduce`.
    pub(crate) fn instruction(&self) -> String {
        format!("multimem{}", self.word.ptx())
    }

    /// Its words in the order of the PTX ISA.
    pub fn ptx(&self) -> String {
        let words = [
            Some("multimem"),
            Some(self.word.ptx()),
            self.order.map(OrderWord::ptx),
            self.scope.map(ScopeWord::ptx),
            self.space.map(SpaceWord::ptx),
            self.op.map(AtomicOperation::ptx),
            self.accumulation.map(AccumulationWord::ptx),
            Some(TYPES[self.ty].ptx),
        ];
        words.into_iter().flatten().collect()
    }

    /// How many bytes each copy has.
    pub fn bytes(&self) -> usize {
        TYPES[self.ty].bytes
    }

    pub(crate) fn space(&self) -> Option<&'static str> {
        self.space.map(|space| &space.ptx()[1..])
    }

    pub(crate) fn signature(&self) -> Signature<'static> {
        let row = &TYPES[self.ty].catalogue;
        match self.word {
            MultimemWord::LdReduce => row.load,
            _ => row.red[0],
        }
    }

    /// The expression, with `p`, `v`, under a predicate `cond`, and for a load `or`.
    pub(crate) fn rust(&self, guarded: bool) -> String {
        let is_load = self.word == MultimemWord::LdReduce;
        let cond = if guarded { "@cond " } else { "" };
        let p = address(None, if is_load { "const" } else { "mut" }, TYPES[self.ty].catalogue.rust);
        let rest = match (is_load, guarded) {
            (false, _) => ", v",
            (true, true) => ", else or",
            (true, false) => "",
        };
        format!("ptx!({cond}{} [{p}]{rest})", self.ptx())
    }
}
