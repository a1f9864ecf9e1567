//! Values of lanes that were not there, and that somebody uses all the same.

use super::actor::Actor;
use super::checks::{Checks, Found};
use super::finding::Kind;
use crate::machine::undefined::Absent;

impl Checks {
    /// A thread uses what it has of a lane that has ended, or that is not in the mask of a shuffle, or what was computed with it.
    pub(crate) fn uses_absent(&mut self, from: Absent, (actor, site): (Actor, u32), what: &str) {
        let (why, help) = match from.has_ended {
            true => (
                "which has ended",
                "let threads that have nothing to do go on until the last shuffle, with a value that changes nothing",
            ),
            false => (
                "which is not in the mask",
                "let all lanes whose values are needed execute the shuffle, and name them in its mask; or use the value only where the lane is there",
            ),
        };
        self.find(Found {
            kind: Kind::Uninitialised,
            title: "a value is used that a shuffle took from a lane which was not there".into(),
            places: vec![
                (from.reader, from.site, format!("shuffles the register of lane {}, {why}", from.lane)),
                (actor, site, what.into()),
            ],
            notes: vec!["PTX leaves undefined what such a shuffle gives, and so what is computed with it".into()],
            help: help.into(),
            times: 1,
        });
    }
}
