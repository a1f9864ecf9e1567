//! What has the cause of a finding, beside it.

use super::finding::{Finding, Place};

/// Pairs of lines that are named, at most.
const NAMED: usize = 8;

impl Finding {
    /// Itself, and what has the same cause.
    pub fn and_further(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(self).chain(&self.further)
    }

    /// All that have its cause, itself first, each with how often it was found itself.
    pub fn take_apart(&mut self) -> Vec<Finding> {
        let further = std::mem::take(&mut self.further);
        let others: u64 = further.iter().map(|one| one.times).sum();
        let first = Finding { times: self.times.saturating_sub(others), ..self.clone() };
        std::iter::once(first).chain(further).collect()
    }

    /// The first of some that have one cause, with the others beside it; nothing of none.
    pub fn of_one_cause(mut all: Vec<Finding>) -> Option<Finding> {
        let times = all.iter().map(|one| one.times).sum();
        let further = all.split_off(all.len().min(1));
        all.pop().map(|first| Finding { times, further, ..first })
    }

    /// Its places, and those of what has the same cause.
    pub fn all_places(&mut self) -> impl Iterator<Item = &mut Place> {
        self.places.iter_mut().chain(self.further.iter_mut().flat_map(|further| &mut further.places))
    }

    /// The lines of what else has its cause: `2 more pairs of lines have the same cause: 40 and 52, 41 and scan.h:51`.
    pub(super) fn others(&self) -> String {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let file = |place: &Place| place.source.as_ref().map(|(file, _)| name(file));
        let own = self.places.first().and_then(file);
        let line = |place: &Place| match &place.source {
            None => place.ptx_line.to_string(),
            Some((file, line)) if own.as_ref() == Some(&name(file)) => line.to_string(),
            Some((file, line)) => format!("{}:{line}", name(file)),
        };
        let mut lines: Vec<String> = Vec::new();
        for one in &self.further {
            let mut places: Vec<&Place> = one.places.iter().take(2).collect();
            // Which access came first is chance.
            places.sort_by_key(|place| {
                (file(place) != own, place.source.as_ref().map_or(place.ptx_line, |(_, line)| *line))
            });
            let both: Vec<String> = places.iter().copied().map(line).collect();
            let of = if places.iter().all(|place| place.source.is_none()) { " of the PTX" } else { "" };
            let both = format!("{}{of}", both.join(" and "));
            if !lines.contains(&both) {
                lines.push(both);
            }
        }
        let (all, left) = (lines.len(), lines.len().saturating_sub(NAMED));
        lines.truncate(NAMED);
        let more = if left > 0 { format!(", and {left} others") } else { String::new() };
        let pairs = if all == 1 { "pair of lines has" } else { "pairs of lines have" };
        format!("{all} more {pairs} the same cause: {}{more}", lines.join(", "))
    }
}
