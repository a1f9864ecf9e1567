//! Where an order is missing.

use std::collections::HashMap;

use crate::check::{Found, Kind};
use crate::machine::{Line, Program};
use crate::ptx::order::Order;
use crate::ptx::paths::Paths;

/// A place in the order in which threads come to instructions: among those of the kernel, of the function that is called there, and so on.
pub(super) type Place = Vec<usize>;

/// What is behind a first place, and not behind a second one.
pub(super) type Range = (Place, Place);

/// What an order of two accesses lacks.
pub(super) enum Span {
    /// Something in one of these ranges: there are two if it may be in one turn of a loop or in the next. The numbers of the two accesses
    /// say which has to come first.
    Between(Vec<Range>, [usize; 2]),
    /// No thread comes from the one to the other: they are in two branches.
    Beside,
    /// Both are of one instruction.
    Own,
    /// Both are ordered by something else, which is too weak.
    Weak,
    /// It is about no order.
    Other,
}

/// The places of a program's instructions.
pub(super) struct Places<'p> {
    program: &'p Program,
    paths: &'p Paths,
    orders: HashMap<&'p str, Order>,
}

impl<'p> Places<'p> {
    pub(super) fn new(program: &'p Program, paths: &'p Paths) -> Places<'p> {
        Places { program, paths, orders: HashMap::new() }
    }

    /// What the order of a finding lacks. Both threads had passed a barrier last.
    pub(super) fn span(&mut self, found: &Found, since: Option<u32>) -> Span {
        let Some(since) = since.filter(|_| found.kind.is_of_order()) else { return Span::Other };
        let [(_, one, _), (_, other, _)] = &found.places[..] else { return Span::Weak };
        let all = [*one, *other].map(|site| self.calls(site));
        let Some(level) = all[0].iter().zip(&all[1]).position(|(one, other)| one != other) else { return Span::Own };
        let places = [0, 1].map(|at| self.place(&all[at]));
        let order = if places[0] < places[1] { [0, 1] } else { [1, 0] };
        let [low, high] = order.map(|at| &places[at]);
        let [first, last] = order.map(|at| all[at][level]);
        let [from, to] = [first, last].map(|site| self.at(site));
        if !self.order(first).leads(from, to) {
            return Span::Beside;
        }
        // What a copy does comes before what waits for it.
        let is_around = match found.kind {
            Kind::Async => order == [1, 0],
            _ => since > 0 && (low..high).contains(&&self.place(&self.calls(since))),
        };
        if !is_around {
            return Span::Between(vec![(low.clone(), high.clone())], order);
        }
        let (begin, end) = self.turn(&low[..level], low[level], high[level], first);
        let ranges = [(high.clone(), end), (begin, low.clone())].into_iter().filter(|(begin, end)| begin < end);
        Span::Between(ranges.collect(), [order[1], order[0]])
    }

    /// The place of a site.
    pub(super) fn of(&mut self, site: u32) -> Place {
        let calls = self.calls(site);
        self.place(&calls)
    }

    /// The calls that lead to a site, and its instruction.
    fn calls(&self, site: u32) -> Vec<u32> {
        let mut calls = self.paths.to(site);
        calls.reverse();
        calls.push(site % self.program.sites.len() as u32);
        calls
    }

    fn place(&mut self, calls: &[u32]) -> Place {
        calls.iter().map(|site| self.rank(*site)).collect()
    }

    fn rank(&mut self, site: u32) -> usize {
        let at = self.at(site);
        self.order(site).rank(at)
    }

    /// The number of an instruction in its function.
    fn at(&self, site: u32) -> usize {
        (site - self.lines(site)[0].site) as usize
    }

    fn lines(&self, site: u32) -> &'p [Line] {
        &self.program.functions[&self.program.sites[site as usize].function].lines
    }

    fn order(&mut self, site: u32) -> &Order {
        let lines = self.lines(site);
        let function = self.program.sites[site as usize].function.as_str();
        self.orders.entry(function).or_insert_with(|| Order::new(lines))
    }

    /// What is before the smallest loop with two places of the function that some calls lead to, and its last place.
    fn turn(&mut self, calls: &[usize], one: usize, other: usize, site: u32) -> Range {
        let at = |place: &[usize]| calls.iter().chain(place).copied().collect::<Place>();
        match self.order(site).turn(one, other) {
            Some((0, last)) => (at(&[]), at(&[last])),
            Some((first, last)) => (at(&[first - 1, usize::MAX]), at(&[last])),
            None => (at(&[]), at(&[usize::MAX])),
        }
    }
}
