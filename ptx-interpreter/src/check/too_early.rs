//! Barriers in memory that are used before they are initialised.

use std::collections::{BTreeMap, BTreeSet};

/// What is remembered of them.
#[derive(Default)]
pub(super) struct TooEarly {
    /// By which instruction each was used first when it was none.
    pub(super) by: BTreeMap<u64, u32>,
    /// Those whose initialisation races with a use, and where that is.
    pub(super) raced: BTreeMap<u64, u32>,
}

impl TooEarly {
    /// Uses that are no mistake beside the races: of their barriers all race.
    pub(super) fn doubled(&self) -> BTreeSet<u32> {
        let (raced, told): (Vec<_>, Vec<_>) = self.by.iter().partition(|(place, _)| self.raced.contains_key(place));
        raced.into_iter().map(|(_, site)| *site).filter(|site| told.iter().all(|(_, other)| *other != site)).collect()
    }
}
