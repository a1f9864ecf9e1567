//! Where an instruction is in a text.

use std::collections::{HashMap, HashSet};
use std::ops::{Deref, Index};

/// Where an instruction is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(crate) function: String,
    pub(crate) text: String,
    pub(crate) line: u32,
    /// The source's file and line, if the PTX has `.loc`.
    pub(crate) source: Option<(String, u32)>,
    /// Where the functions were called that the compiler has inlined, the innermost first.
    pub(crate) called: Vec<(String, u32)>,
    /// Where its accesses to shared memory have to stay, if they are to variables.
    pub(crate) within: Vec<(u64, u64)>,
    /// Comments beside it that allow findings.
    pub(crate) comments: Vec<String>,
}

impl Site {
    /// The lines of the source that a message names, the innermost first. Compilers say 0 of code that they have made of several lines.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (String, u32)> {
        self.source.iter().chain(&self.called).filter(|(_, line)| *line > 0).cloned()
    }
}

/// Every instruction of a module, by its number. One in a function has other numbers too, which tell by what [path](crate::ptx::paths::Paths)
/// of calls it was reached.
pub(crate) struct AllSites(pub(crate) Vec<Site>);

impl Deref for AllSites {
    type Target = [Site];

    fn deref(&self) -> &[Site] {
        &self.0
    }
}

impl Index<usize> for AllSites {
    type Output = Site;

    fn index(&self, site: usize) -> &Site {
        &self.0[site % self.0.len()]
    }
}

/// What the checks know of the sites, by their numbers.
#[derive(Default)]
pub(crate) struct Sites {
    count: u32,
    /// Where accesses have to stay. There is nothing if none has to stay anywhere.
    within: Vec<Vec<(u64, u64)>>,
    /// Numbers of the lines of the source, which inlined copies of a function share if they are of the same call.
    lines: Vec<Option<usize>>,
    /// Where the functions begin.
    begins: Vec<u32>,
    /// Volatile accesses, but for those that wait in a loop.
    volatile: HashSet<u32>,
}

impl Sites {
    pub(crate) fn new(all: &[Site], volatile: HashSet<u32>) -> Sites {
        let mut numbers = HashMap::new();
        let lines = all.iter().map(|site| {
            let next = numbers.len();
            let line = (site.source.as_ref()?, &site.called);
            Some(*numbers.entry(line).or_insert(next))
        });
        let lines = lines.collect();
        let is_free = all.iter().all(|site| site.within.is_empty());
        let within = if is_free { Vec::new() } else { all.iter().map(|site| site.within.clone()).collect() };
        let is_first = |at: &u32| *at == 0 || all[*at as usize].function != all[*at as usize - 1].function;
        let begins = (0..all.len() as u32).filter(is_first).collect();
        Sites { count: all.len() as u32, within, lines, begins, volatile }
    }

    /// The instruction of a site, by whatever calls it was reached.
    #[inline]
    pub(crate) fn instruction(&self, site: u32) -> u32 {
        if site < self.count { site } else { site % self.count }
    }

    /// Whether it is a volatile access, and does not wait in a loop.
    pub(crate) fn is_volatile(&self, site: u32) -> bool {
        self.volatile.contains(&self.instruction(site))
    }

    /// Where the accesses of a site have to stay; nothing if they need not.
    #[inline]
    pub(crate) fn within(&self, site: u32) -> &[(u64, u64)] {
        if self.within.is_empty() { &[] } else { &self.within[self.instruction(site) as usize] }
    }

    /// Whether the one instruction is behind the other in the text of their function.
    pub(crate) fn is_behind(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|site| self.instruction(site));
        one > other && self.function(one) == self.function(other)
    }

    /// The number of a site's function.
    pub(crate) fn function(&self, site: u32) -> u32 {
        let instruction = self.instruction(site);
        self.begins.partition_point(|begin| *begin <= instruction) as u32
    }

    /// Whether both are the same instruction, or a compiler has made both of one line: of a loop, say.
    pub(crate) fn are_of_one_line(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|site| self.instruction(site));
        let line = |site: u32| self.lines.get(site as usize).copied().flatten();
        one == other || line(one).is_some() && line(one) == line(other)
    }
}
