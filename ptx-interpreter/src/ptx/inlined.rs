//! Which calls were inlined around an instruction.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A file, a line and a column.
type Location = (u32, u32, u32);

/// So many calls within each other are told.
const DEEPEST: usize = 16;
/// So many ways to one place are compared.
const MOST: usize = 64;

/// What the `.loc` of a function have said so far. Each names the innermost call alone, and those around it stand in others, before
/// the first instruction that needs them. A function that is inlined twice has two ways, and PTX says no more which one is meant.
#[derive(Default)]
pub(crate) struct Inlined {
    /// By whom a place is called, the newest last; nobody, if it is the function's own.
    callers: HashMap<Location, Vec<Option<Location>>>,
    /// What has been said since the last instruction.
    new: HashSet<Location>,
    /// The place before this one, and the calls around it.
    before: Vec<Location>,
    /// The first place of the function.
    first: Option<Location>,
    /// Whether columns are told.
    has_columns: bool,
}

impl Inlined {
    /// The file and line of a `.loc`, and those of the calls that were inlined around it, the innermost first.
    pub(crate) fn read(&mut self, loc: &str) -> Vec<(u32, u32)> {
        let (own, caller) = loc.split_once("inlined_at").map_or((loc, None), |(own, caller)| (own, location(caller)));
        let Some(own) = location(own) else { return Vec::new() };
        if self.is_of_the_launch(own) {
            return self.lines();
        }
        let callers = self.callers.entry(own).or_default();
        callers.retain(|known| *known != caller);
        callers.push(caller);
        self.new.insert(own);
        let mut ways = Vec::new();
        self.ways(&mut vec![own], &mut ways);
        self.before = ways.into_iter().min_by_key(|way| self.distance(way)).unwrap_or_default();
        self.lines()
    }

    fn lines(&self) -> Vec<(u32, u32)> {
        self.before.iter().map(|(file, line, _)| (*file, *line)).collect()
    }

    /// Whether a place is that of a function before the kernel, which launches it: CuTe DSL gives it to what has no place of its own.
    fn is_of_the_launch(&mut self, (file, line, column): Location) -> bool {
        self.has_columns |= column > 0;
        let (first, of, _) = *self.first.get_or_insert((file, line, column));
        column == 0 && self.has_columns && file == first && line < of
    }

    /// An instruction follows.
    pub(crate) fn has_instruction(&mut self) {
        self.new.clear();
    }

    /// All ways from the last place of one to the function, the newest first.
    fn ways(&self, way: &mut Vec<Location>, ways: &mut Vec<Vec<Location>>) {
        let Some(place) = way.last().copied().filter(|_| ways.len() < MOST) else { return };
        let all = self.callers.get(&place).map_or(&[None][..], Vec::as_slice);
        let known = if self.new.contains(&place) { all.len() - 1 } else { 0 };
        for caller in all[known..].iter().rev() {
            // The same place may be inlined into itself, by a recursion.
            match caller.filter(|_| way.len() < DEEPEST) {
                Some(caller) => {
                    way.push(caller);
                    self.ways(way, ways);
                    way.pop();
                }
                None => ways.push(way.clone()),
            }
        }
    }

    /// How far a way is from the place before: what comes next is mostly close to it in the source.
    fn distance(&self, way: &[Location]) -> (Reverse<usize>, u32) {
        let mut pairs = way.iter().rev().zip(self.before.iter().rev());
        let same = pairs.by_ref().take_while(|(one, other)| one == other).count();
        let apart = way.iter().rev().zip(self.before.iter().rev()).nth(same);
        let lines = apart.map_or(0, |(one, other)| if one.0 == other.0 { one.1.abs_diff(other.1) } else { u32::MAX });
        (Reverse(same), lines)
    }
}

/// The first three numbers of a text.
fn location(text: &str) -> Option<Location> {
    let mut numbers = text.split([' ', ',', '\t']).filter_map(|word| word.parse::<u32>().ok());
    Some((numbers.next()?, numbers.next()?, numbers.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inlined: &mut Inlined, locs: &[&str]) -> Vec<(u32, u32)> {
        let all = locs.iter().map(|loc| inlined.read(loc)).last();
        inlined.has_instruction();
        all.unwrap_or_default()
    }

    #[test]
    fn calls_around_a_place_are_known_from_those_before() {
        let mut all = Inlined::default();
        assert_eq!(read(&mut all, &["1 20 3"]), [(1, 20)]);
        assert_eq!(read(&mut all, &["1 5 1, function_name $a, inlined_at 1 20 3"]), [(1, 5), (1, 20)]);
        let two = ["2 7 9, function_name $b, inlined_at 1 5 1", "2 8 9, function_name $c, inlined_at 2 7 9"];
        assert_eq!(read(&mut all, &two), [(2, 8), (2, 7), (1, 5), (1, 20)]);
    }

    /// A loop is unrolled, in which a function is inlined twice: only its first round names both calls.
    #[test]
    fn of_two_calls_the_one_close_to_what_comes_before_is_told() {
        let mut all = Inlined::default();
        let call = |line: u32| format!("2 7 9, function_name $a, inlined_at 1 {line} 5");
        let inner = "3 8 9, function_name $b, inlined_at 2 7 9";
        for line in [55, 86] {
            let own = format!("1 {line} 5");
            let expected = [(3, 8), (2, 7), (1, line)];
            assert_eq!(read(&mut all, &[&own, &call(line), inner]), expected);
        }
        for line in [55, 86, 55] {
            let before = format!("1 {} 5", line - 1);
            assert_eq!(read(&mut all, &[&before, inner]), [(3, 8), (2, 7), (1, line)]);
        }
    }

    /// The kernel begins in line 80, and is launched in line 20.
    #[test]
    fn what_has_no_place_of_its_own_has_the_one_before() {
        let mut all = Inlined::default();
        let lines: Vec<_> =
            ["1 80 0", "1 84 5", "1 20 0", "2 20 0", "1 80 0"].map(|loc| read(&mut all, &[loc])).concat();
        assert_eq!(lines, [(1, 80), (1, 84), (1, 84), (2, 20), (1, 80)]);
        // Without columns each is what it says.
        let mut all = Inlined::default();
        let lines: Vec<_> = ["1 80 0", "1 84 0", "1 20 0"].map(|loc| read(&mut all, &[loc])).concat();
        assert_eq!(lines, [(1, 80), (1, 84), (1, 20)]);
    }

    #[test]
    fn a_recursion_ends() {
        let mut all = Inlined::default();
        assert_eq!(read(&mut all, &["1 2 3, function_name $a, inlined_at 1 2 3"]).len(), DEEPEST);
    }
}
