//! What became of mutants, and why some change nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Fate, Kind, Mutant};

/// The mutants that change nothing, each with the reason.
const LISTED: &str = include_str!("equivalent.txt");

/// What became of all of them.
#[derive(Debug, Default)]
pub struct Report {
    /// Each with its fate, and the reason why it is listed.
    pub fates: Vec<(Mutant, Fate, Option<&'static str>)>,
    /// How many were not reached in time.
    pub open: usize,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    /// The numbers, and the mutants that are alive.
    pub fn table(&self) -> String {
        let mut table = String::new();
        let mut judges: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, fate, _) in &self.fates {
            if let Fate::Killed(judge) = fate {
                *judges.entry(judge).or_default() += 1;
            }
        }
        for kind in Kind::ALL {
            let count = |wanted: fn(&Fate, Option<&str>) -> bool| {
                self.fates.iter().filter(|(mutant, fate, reason)| mutant.kind == kind && wanted(fate, *reason)).count()
            };
            let [killed, listed, alive, refused] = [
                count(|fate, _| matches!(fate, Fate::Killed(_))),
                count(|fate, reason| *fate == Fate::Alive && reason.is_some()),
                count(|fate, reason| *fate == Fate::Alive && reason.is_none()),
                count(|fate, _| *fate == Fate::Refused),
            ];
            if killed + listed + alive + refused > 0 {
                table += &format!(
                    "{:>9}  {}: {killed} killed, {listed} listed, {alive} alive; {refused} more do not compile\n",
                    killed + listed + alive,
                    kind.name()
                );
            }
        }
        for (judge, count) in judges {
            table += &format!("{count:>9}  killed by {judge}\n");
        }
        table += &format!("{:>9.0}  seconds\n", self.seconds);
        if self.open > 0 {
            table += &format!("{:>9}  not reached in time: `--resume` goes on with them\n", self.open);
        }
        for (mutant, ..) in self.alive() {
            table += &format!("alive: {mutant}\n");
        }
        table
    }

    /// Those that no test noticed, and for which no reason is listed.
    pub fn alive(&self) -> impl Iterator<Item = &(Mutant, Fate, Option<&'static str>)> {
        self.fates.iter().filter(|(_, fate, reason)| *fate == Fate::Alive && reason.is_none())
    }

    /// `M mutants: K killed, L listed, A alive`.
    pub fn last_line(&self) -> String {
        let count = |wanted: fn(&Fate, Option<&str>) -> bool| {
            self.fates.iter().filter(|(_, fate, reason)| wanted(fate, *reason)).count()
        };
        let killed = count(|fate, _| matches!(fate, Fate::Killed(_)));
        let listed = count(|fate, reason| *fate == Fate::Alive && reason.is_some());
        let alive = count(|fate, reason| *fate == Fate::Alive && reason.is_none());
        format!("{} mutants: {killed} killed, {listed} listed, {alive} alive", killed + listed + alive)
    }
}

/// Why a mutant changes nothing, if it is listed.
pub fn reason(mutant: &Mutant) -> Option<&'static str> {
    let told = mutant.told();
    listed().into_iter().find(|(_, pattern)| pattern.is_match(&told)).map(|(reason, _)| reason)
}

/// The reasons, and what they are about: a reason begins a line, its patterns are indented.
pub(super) fn listed() -> Vec<(&'static str, &'static Regex)> {
    static ALL: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
        let mut reason = "";
        let mut all = Vec::new();
        for line in LISTED.lines().filter(|line| !line.trim().is_empty()) {
            match line.strip_prefix("  ") {
                Some(pattern) => all.push((reason, Regex::new(pattern).expect("the pattern is valid"))),
                None => reason = line,
            }
        }
        all
    });
    ALL.iter().map(|(reason, pattern)| (*reason, pattern)).collect()
}
