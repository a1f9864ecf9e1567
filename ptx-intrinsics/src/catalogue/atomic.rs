//! The forms of `atom` and `red`, for the catalogue.

use alloc::format;
use alloc::string::String;

use super::access::address;
use crate::grammar::atomic::Atomic;
use crate::isa::atomic::{AtomicOperation, TYPES};
use crate::isa::order::OrderWord;
use crate::isa::row::Signature;
use crate::isa::scope::ScopeWord;
use crate::isa::space::SpaceWord;

/// Every atomic that is legal. What is meant anyway is left out: `.gpu` after an order, `::cta` after `.shared`.
pub(super) fn atomics() -> impl Iterator<Item = Atomic> {
    let spaces = [None, Some(SpaceWord::Global), Some(SpaceWord::Shared), Some(SpaceWord::SharedCluster)];
    let orders = || core::iter::once(None).chain(OrderWord::ALL.iter().copied().map(Some));
    let scopes = || core::iter::once(None).chain(ScopeWord::ALL.iter().copied().map(Some));
    let heads = [false, true].into_iter().flat_map(move |red| {
        AtomicOperation::ALL.iter().flat_map(move |&op| {
            orders().flat_map(move |order| {
                scopes().flat_map(move |scope| {
                    spaces.map(move |space| Atomic { op: Some(op), order, scope, space, ..Atomic::plain(red) })
                })
            })
        })
    });
    heads
        .filter(|head| head.order.is_none() || head.scope.is_some())
        .flat_map(|head| {
            (0..TYPES.len()).flat_map(move |ty| {
                [(false, false), (true, false), (false, true), (true, true)].map(|(noftz, hint)| Atomic {
                    ty,
                    noftz,
                    hint,
                    ..head
                })
            })
        })
        .filter(|atomic| atomic.check().is_ok())
}

impl Atomic {
    fn mnemonic(&self) -> &'static str {
        if self.red { "red" } else { "atom" }
    }

    /// The anchor of its section in the PTX ISA.
    pub(crate) fn section(&self) -> &'static str {
        match self.mnemonic() {
            "red" => "parallel-synchronization-and-communication-instructions-red",
            _ => "parallel-synchronization-and-communication-instructions-atom",
        }
    }

    /// `atom.add`, `red.max`.
    pub(crate) fn instruction(&self) -> String {
        format!("{}{}", self.mnemonic(), self.op.map_or("", AtomicOperation::ptx))
    }

    /// Its words in the order of the PTX ISA, what is meant anyway left out.
    pub fn ptx(&self) -> String {
        let words = [
            Some(self.mnemonic()),
            self.order.map(OrderWord::ptx),
            self.scope.or(self.order.map(|_| ScopeWord::Gpu)).map(ScopeWord::ptx),
            self.space
                .map(|space| if space == SpaceWord::SharedCta { SpaceWord::Shared } else { space })
                .map(SpaceWord::ptx),
            self.op.map(AtomicOperation::ptx),
            self.noftz.then_some(".noftz"),
            self.hint.then_some(".L2::cache_hint"),
            Some(TYPES[self.ty].ptx),
        ];
        words.into_iter().flatten().collect()
    }

    /// How many bytes it changes.
    pub fn bytes(&self) -> usize {
        TYPES[self.ty].bytes
    }

    pub(crate) fn space(&self) -> Option<&'static str> {
        self.space.map(|space| &space.ptx()[1..])
    }

    pub(crate) fn hint(&self) -> bool {
        self.hint
    }

    pub(crate) fn signature(&self) -> Signature<'static> {
        let row = &TYPES[self.ty].catalogue;
        let form = match (self.red, self.op) {
            (true, _) => &row.red,
            (false, Some(AtomicOperation::Cas)) => &row.cas,
            _ => &row.atom,
        };
        form[match self.space {
            None | Some(SpaceWord::Global) => 0,
            Some(SpaceWord::SharedCluster) => 2,
            _ => 1,
        }]
    }

    /// The expression, with `p`, `v`, for `.cas` `compare`, under a predicate `cond` and for `atom` `or`.
    pub(crate) fn rust(&self, guarded: bool) -> String {
        let (cond, or) = match (guarded, self.red) {
            (false, _) => ("", ""),
            (true, true) => ("@cond ", ""),
            (true, false) => ("@cond ", ", else or"),
        };
        let compare = if self.op == Some(AtomicOperation::Cas) { "compare, " } else { "" };
        let policy = if self.hint { ", policy" } else { "" };
        let p = address(self.space, "mut", TYPES[self.ty].catalogue.rust);
        format!("ptx!({cond}{} [{p}], {compare}v{policy}{or})", self.ptx())
    }
}
