//! Which calls led to a function.

use std::collections::HashMap;

/// Paths of calls from a kernel to its functions. Each has a number, and that of the kernel itself is 0. A site on a path is the number of
/// an instruction, and that of the path times the count of all instructions.
#[derive(Debug)]
pub(crate) struct Paths {
    /// How many instructions there are.
    count: u32,
    /// The call that each path ends with, as a site on the path before it.
    calls: Vec<u32>,
    /// The paths by these calls.
    numbers: HashMap<u32, u32>,
}

/// Paths, at most. What is called by others has none.
const PATHS: usize = 1 << 16;

impl Paths {
    pub(crate) fn new(count: usize) -> Paths {
        Paths { count: count as u32, calls: Vec::new(), numbers: HashMap::new() }
    }

    /// The sites of what a call at a site leads to begin here. A function that calls itself leads to the path that it was called by.
    pub(crate) fn enter(&mut self, call: u32) -> u32 {
        let number = match self.numbers.get(&call) {
            Some(known) => *known,
            None => {
                let number = self.again(call).unwrap_or_else(|| self.new_path(call));
                self.numbers.insert(call, number);
                number
            }
        };
        number * self.count
    }

    /// The path that a call already is on.
    fn again(&self, call: u32) -> Option<u32> {
        self.before(call).find(|path| self.calls[*path as usize - 1] % self.count == call % self.count)
    }

    fn new_path(&mut self, call: u32) -> u32 {
        let most = (u32::MAX / self.count).saturating_sub(1) as usize;
        if self.calls.len() >= PATHS.min(most) {
            return 0;
        }
        self.calls.push(call);
        self.calls.len() as u32
    }

    /// The paths that lead to a site, the longest first.
    fn before(&self, site: u32) -> impl Iterator<Item = u32> {
        let path = |site: u32| Some(site / self.count).filter(|path| *path > 0);
        std::iter::successors(path(site), move |number| path(self.calls[*number as usize - 1]))
    }

    /// Enters what others have entered. Gives the number that each of their paths has here.
    pub(crate) fn enter_all(&mut self, others: &Paths) -> Vec<u32> {
        let mut numbers = vec![0];
        for call in &others.calls {
            let from = numbers[(call / self.count) as usize] * self.count;
            numbers.push(self.enter(from + call % self.count) / self.count);
        }
        numbers
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The instructions that called what leads to a site, the innermost first.
    pub(crate) fn to(&self, site: u32) -> Vec<u32> {
        self.before(site).map(|path| self.calls[path as usize - 1] % self.count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_by_its_calls() {
        let mut paths = Paths::new(10);
        let one = paths.enter(3);
        let other = paths.enter(4);
        let deep = paths.enter(one + 7);
        assert_eq!([one, other, deep, paths.enter(3)], [10, 20, 30, 10]);
        assert_eq!(
            [one + 1, other + 1, deep + 2, 5].map(|site| paths.to(site)),
            [vec![3], vec![4], vec![7, 3], vec![]]
        );
    }

    #[test]
    fn a_recursion_has_one_path() {
        let mut paths = Paths::new(10);
        let first = paths.enter(3);
        let second = paths.enter(first + 7);
        assert_eq!([paths.enter(second + 7), paths.enter(second + 7)], [second, second]);
        let mut all = Paths::new(10);
        all.enter(5);
        assert_eq!(all.enter_all(&paths), [0, 2, 3]);
        assert_eq!(all.to(31), [7, 3]);
        assert_eq!(paths.to(second + 1), [7, 3]);
    }
}
