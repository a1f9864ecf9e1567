//! Where an instruction is in a text.

use std::collections::HashMap;

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

/// What the checks know of the sites, by their numbers.
#[derive(Default)]
pub(crate) struct Sites {
    /// Where accesses have to stay. There is nothing if none has to stay anywhere.
    within: Vec<Vec<(u64, u64)>>,
    /// Numbers of the lines of the source, which inlined copies of a function share if they are of the same call.
    lines: Vec<Option<usize>>,
}

impl Sites {
    pub(crate) fn new(all: &[Site]) -> Sites {
        let mut numbers = HashMap::new();
        let lines = all.iter().map(|site| {
            let next = numbers.len();
            let line = (site.source.as_ref()?, &site.called);
            Some(*numbers.entry(line).or_insert(next))
        });
        let lines = lines.collect();
        let is_free = all.iter().all(|site| site.within.is_empty());
        let within = if is_free { Vec::new() } else { all.iter().map(|site| site.within.clone()).collect() };
        Sites { within, lines }
    }

    /// Where the accesses of a site have to stay; nothing if they need not.
    #[inline]
    pub(crate) fn within(&self, site: u32) -> &[(u64, u64)] {
        self.within.get(site as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether both are the same instruction, or a compiler has made both of one line: of a loop, say.
    pub(crate) fn are_of_one_line(&self, one: u32, other: u32) -> bool {
        let line = |site: u32| self.lines.get(site as usize).copied().flatten();
        one == other || line(one).is_some() && line(one) == line(other)
    }
}
