//! Findings that have one cause.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::keys::{keys, of_many_lines};
use super::places::{Place, Range, Span};
use crate::check::{DIVERGENT, Finding, IN_A_BLOCK, IN_A_CLUSTER, IN_A_WARP, Kind, NARROW, NOT_BEGUN};

/// What was found at one instruction, or at two.
pub(super) struct Pair {
    finding: Finding,
    /// What its help is in any language.
    help: String,
    span: Span,
    /// What it has in common with others of its cause.
    keys: Vec<String>,
}

/// Pairs that have one cause.
#[derive(Default)]
struct Group {
    pairs: Vec<usize>,
    /// Where one barrier would order all of them.
    ranges: Vec<Range>,
    /// How many barriers are missing.
    steps: usize,
}

pub(super) struct Groups<'p> {
    pairs: &'p [Pair],
    all: Vec<Group>,
}

impl Pair {
    pub(super) fn new(finding: Finding, help: String, span: Span) -> Pair {
        let mut keys = keys(&finding, &help, &span);
        keys.extend(of_many_lines(&finding));
        Pair { finding, help, span, keys }
    }

    /// What a barrier that divergent threads come to should order lacks nothing else.
    pub(super) fn note_divergent(&mut self, barriers: &[Place]) {
        let is_in = |(begin, end): &Range| barriers.iter().any(|place| begin < place && place < end);
        let is_of_one = self.finding.title == DIVERGENT || self.ranges().iter().any(is_in);
        self.keys.extend(is_of_one.then(|| DIVERGENT.to_owned()));
    }

    /// Who waits until another block has begun also comes after what that block does first.
    pub(super) fn note_begun(&mut self, too_early: &HashSet<String>) {
        let Finding { kind, title, places, .. } = &self.finding;
        let is_first_use = title == NOT_BEGUN || *kind == Kind::Uninitialised || self.help == IN_A_CLUSTER;
        let lines =
            places.iter().map(|place| place.line_key(true)).filter(|line| is_first_use && too_early.contains(line));
        self.keys.extend(lines.map(|line| format!("{NOT_BEGUN} {line}")).collect::<Vec<_>>());
    }

    /// The line that uses a block's shared memory before it is known to have begun.
    pub(super) fn too_early(&self) -> Option<String> {
        self.finding.places.first().filter(|_| self.finding.title == NOT_BEGUN).map(|place| place.line_key(true))
    }

    /// What says most of several that have one cause comes first: what the others follow from, and a scope that is too narrow behind what it
    /// should have ordered.
    fn rank(&self) -> u32 {
        match &*self.finding.title {
            DIVERGENT | NOT_BEGUN => 0,
            title if title.starts_with(NARROW) => 2,
            _ => 1,
        }
    }

    fn is_own(&self) -> bool {
        matches!(self.span, Span::Own)
    }

    /// Whether two blocks do it, and neither tells the other one anything.
    fn is_of_blocks(&self) -> bool {
        let places = &self.finding.places;
        let is_access = matches!(self.finding.kind, Kind::Race | Kind::Order) && !matches!(self.span, Span::Weak);
        is_access && places.len() == 2 && places[0].block != places[1].block
    }

    /// Whether what another one needs is enough for this one.
    fn needs_what(&self, other: &Pair) -> bool {
        let needs_less = || self.help == IN_A_WARP && other.help == IN_A_BLOCK;
        self.finding.kind == other.finding.kind && (self.help == other.help || needs_less())
    }

    fn ranges(&self) -> &[Range] {
        if let Span::Between(ranges, _) = &self.span { ranges } else { &[] }
    }

    /// Its instructions.
    fn instructions(&self) -> impl Iterator<Item = (Kind, u32)> {
        self.finding.places.iter().map(|place| (self.finding.kind, place.ptx_line))
    }
}

impl<'p> Groups<'p> {
    pub(super) fn of(pairs: &'p [Pair]) -> Groups<'p> {
        let mut groups = Groups { pairs, all: Vec::new() };
        groups.share();
        groups.order();
        let left = groups.left(|_| true).into_iter().map(|pair| Group { pairs: vec![pair], ..Group::default() });
        groups.all.extend(left);
        groups.join_alike();
        groups.chain();
        groups.all.sort_by_key(|group| group.pairs.iter().min().copied());
        groups
    }

    pub(super) fn findings(self) -> Vec<Finding> {
        let findings = self.all.iter().filter_map(|group| group.finding(self.pairs));
        let mut findings: Vec<Finding> = findings.collect();
        fold(&mut findings);
        findings
    }

    /// The pairs of some kind that are in no group yet.
    fn left(&self, is: impl Fn(&Pair) -> bool) -> Vec<usize> {
        let known: HashSet<usize> = self.all.iter().flat_map(|group| &group.pairs).copied().collect();
        (0..self.pairs.len()).filter(|pair| !known.contains(pair) && is(&self.pairs[*pair])).collect()
    }

    /// What several blocks store by one instruction they share, whatever else they do with it.
    fn share(&mut self) {
        let own = self.pairs.iter().filter(|pair| pair.is_own() && pair.is_of_blocks());
        let shared: HashSet<(Kind, u32)> = own.flat_map(Pair::instructions).collect();
        for number in self.left(Pair::is_of_blocks) {
            let lines: Vec<(Kind, u32)> =
                self.pairs[number].instructions().filter(|line| shared.contains(line)).collect();
            if lines.is_empty() {
                continue;
            }
            let pairs = self.pairs;
            let has_line = |group: &mut Group| {
                group.pairs.iter().flat_map(|pair| pairs[*pair].instructions()).any(|line| lines.contains(&line))
            };
            let mut joined = Group { pairs: vec![number], ..Group::default() };
            self.all.extract_if(.., has_line).for_each(|group| joined.pairs.extend(group.pairs));
            joined.pairs.sort_by_key(|pair| {
                let Pair { finding, .. } = &pairs[*pair];
                (!finding.is_of_an_update(), !pairs[*pair].is_own(), *pair)
            });
            self.all.push(joined);
        }
    }

    /// One barrier may order several pairs.
    fn order(&mut self) {
        let pairs = self.pairs;
        let mut left = self.left(|pair| !pair.ranges().is_empty());
        // Of all places that order the pair which ends first, the last one orders most others.
        left.sort_by_key(|pair| {
            let ranges = pairs[*pair].ranges();
            let ends = (&ranges[ranges.len() - 1].1, Reverse(&ranges[0].0));
            (pairs[*pair].finding.is_in_one_warp(), ranges.len(), ends)
        });
        for number in left {
            let pair = &pairs[number];
            let common = self.all.iter_mut().find_map(|group| {
                let needs_what = group.pairs.first().is_some_and(|first| pair.needs_what(&pairs[*first]));
                let ranges = if needs_what { common(&group.ranges, pair.ranges()) } else { vec![] };
                (!ranges.is_empty()).then_some((group, ranges))
            });
            match common {
                Some((group, ranges)) => {
                    group.ranges = ranges;
                    group.pairs.push(number);
                }
                None => self.all.push(Group { pairs: vec![number], ranges: pair.ranges().to_vec(), steps: 1 }),
            }
        }
    }

    /// A loop that the compiler has unrolled has several instructions for each line of its source, and lacks the same barrier in each turn.
    fn join_alike(&mut self) {
        let keys =
            |group: &Group| group.pairs.iter().flat_map(|pair| &self.pairs[*pair].keys).map(|key| &**key).collect();
        let keys: Vec<HashSet<&str>> = self.all.iter().map(keys).collect();
        self.all = joined(std::mem::take(&mut self.all), &keys, |one, mut other| one.pairs.append(&mut other.pairs));
    }

    /// Who counts on it that a warp goes on together lacks a barrier between each two of several steps.
    fn chain(&mut self) {
        let pairs = self.pairs;
        let is_step =
            |group: &Group| !group.ranges.is_empty() && group.pairs.iter().all(|pair| pairs[*pair].help == IN_A_WARP);
        let (steps, others): (Vec<Group>, Vec<Group>) = std::mem::take(&mut self.all).into_iter().partition(is_step);
        let places = |group: &Group| -> HashSet<String> {
            group.pairs.iter().flat_map(|pair| &pairs[*pair].finding.places).map(|place| place.line_key(true)).collect()
        };
        let places: Vec<HashSet<String>> = steps.iter().map(places).collect();
        let places: Vec<HashSet<&str>> = places.iter().map(|keys| keys.iter().map(|key| &**key).collect()).collect();
        self.all = joined(steps, &places, |one, mut other| {
            one.pairs.append(&mut other.pairs);
            one.steps += other.steps;
        });
        self.all.extend(others);
    }
}

impl Group {
    /// One finding, with what is at other lines beside it.
    fn finding(&self, pairs: &[Pair]) -> Option<Finding> {
        let all = || self.pairs.iter().map(|pair| &pairs[*pair].finding);
        let rank = self.pairs.iter().map(|pair| pairs[*pair].rank()).min();
        let own: Vec<usize> = self.pairs.iter().copied().filter(|pair| Some(pairs[*pair].rank()) == rank).collect();
        // What is to do between warps helps in one too, and what happens as it was meant is read with ease.
        let is_as_meant = |pair: &&usize| matches!(pairs[**pair].span, Span::Between(_, [0, _]));
        let between_warps = || own.iter().filter(|pair| !pairs[**pair].finding.is_in_one_warp());
        let as_meant = between_warps().find(is_as_meant).or(between_warps().next());
        let first = &pairs[*as_meant.or(own.iter().find(is_as_meant)).or(own.first())?].finding;
        let mut told = vec![(Finding { times: 0, ..first.clone() }, 0)];
        for finding in all() {
            match told.iter_mut().find(|(one, _)| one.is_between_the_lines_of(finding)) {
                Some((one, count)) => (one.times, *count) = (one.times + finding.times, *count + 1),
                None => told.push((finding.clone(), 1)),
            }
        }
        let (first, count) = &mut told[0];
        if self.steps > 1 {
            first.help = first.help.replace("between them", "between each two of these steps");
        }
        if *count > 1 {
            let what = if first.places.len() == 1 { "instructions" } else { "pairs of instructions" };
            first.notes.push(format!("{count} {what} of the PTX come from here, and do the same"));
        }
        Finding::of_one_cause(told.into_iter().map(|(finding, _)| finding).collect())
    }
}

/// Groups that have a key in common are one, the first of them.
fn joined(groups: Vec<Group>, keys: &[HashSet<&str>], mut join: impl FnMut(&mut Group, Group)) -> Vec<Group> {
    let mut firsts: Vec<usize> = (0..groups.len()).collect();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, keys) in keys.iter().enumerate() {
        for key in keys {
            let [one, other] = [*known.entry(key).or_insert(at), at].map(|at| firsts[at]);
            let (first, last) = (one.min(other), one.max(other));
            firsts.iter_mut().filter(|at| **at == last).for_each(|at| *at = first);
        }
    }
    let mut all: Vec<(usize, Group)> = Vec::new();
    for (at, group) in groups.into_iter().enumerate() {
        match all.iter_mut().find(|(first, _)| *first == firsts[at]) {
            Some((_, first)) => join(first, group),
            None => all.push((at, group)),
        }
    }
    all.into_iter().map(|(_, group)| group).collect()
}

/// What is in both.
fn common(some: &[Range], others: &[Range]) -> Vec<Range> {
    let both = |one: &Range, other: &Range| ((&one.0).max(&other.0).clone(), (&one.1).min(&other.1).clone());
    let all = some.iter().flat_map(|one| others.iter().map(move |other| both(one, other)));
    all.filter(|(begin, end)| begin < end).collect()
}

/// What another finding tells as well is counted there.
fn fold(findings: &mut Vec<Finding>) {
    for at in (0..findings.len()).rev() {
        let tells = |other: &usize| *other != at && findings[at].is_told_by(&findings[*other]);
        if let Some(other) = (0..findings.len()).find(tells) {
            findings[other].times += findings[at].times;
            findings.remove(at);
        }
    }
}
