//! How often the instructions of a module were executed, for `cargo ptx check --coverage` and `--accesses`.

use std::collections::HashMap;
use std::sync::Arc;

use ptx_interpreter::{CountedLine, Counts, Program, Record};

use crate::output::tell;

/// Of a module of which a kernel was launched.
pub(crate) struct Counted {
    program: Arc<Program>,
    counts: Counts,
    /// How many threads of each line were told.
    told: HashMap<(String, u32), u64>,
}

impl Counted {
    pub(crate) fn new(program: &Arc<Program>) -> Counted {
        Counted { program: Arc::clone(program), counts: Counts::default(), told: HashMap::new() }
    }

    /// Adds those of a launch. A line that is new is told at once: a program may be ended.
    pub(crate) fn add(&mut self, counts: &Counts) {
        if self.counts.add(counts) {
            let lines = self.new_lines();
            tell(&Record { lines, ..Record::default() });
        }
    }

    /// How many more threads have executed each line than was told.
    fn new_lines(&mut self) -> Vec<CountedLine> {
        let mut lines = self.program.lines(&self.counts);
        lines.retain_mut(|CountedLine { file, line, threads }| {
            let told = self.told.insert((file.clone(), *line), *threads);
            *threads -= told.unwrap_or_default();
            told.is_none() || *threads > 0
        });
        lines
    }

    /// Tells the rest: nothing more is launched.
    pub(crate) fn end(&mut self) {
        let (lines, accesses) = (self.new_lines(), self.program.accesses(&self.counts));
        self.counts = Counts::default();
        self.told.clear();
        tell(&Record { lines, accesses, ..Record::default() });
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.end();
    }
}
