//! What is known to be done.

/// Work on one line is done one piece after the other: a stream, or a branch of its graphs.
pub(crate) type Line = usize;

/// A piece of work, by its line and its number there.
pub(crate) type Turn = (Line, u64);

/// Of each line how many of its pieces of work are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u64>);

impl Clock {
    pub(crate) fn of(&self, line: Line) -> u64 {
        self.0.get(line).copied().unwrap_or_default()
    }

    pub(crate) fn raise(&mut self, line: Line, count: u64) {
        if self.0.len() <= line {
            self.0.resize(line + 1, 0);
        }
        self.0[line] = count.max(self.0[line]);
    }

    /// Without a piece of work and what comes after it on its line.
    pub(crate) fn before(&self, (line, number): Turn) -> Clock {
        let mut before = self.clone();
        if let Some(own) = before.0.get_mut(line) {
            *own = number.saturating_sub(1).min(*own);
        }
        before
    }

    /// What another knows is known here too.
    pub(crate) fn join(&mut self, other: &Clock) {
        for (line, count) in other.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.raise(line, *count);
        }
    }

    /// Whether it knows that one of some pieces of work is done.
    pub(crate) fn has_any(&self, turns: &[Turn]) -> bool {
        turns.iter().any(|(line, number)| self.of(*line) >= *number)
    }

    /// Whether it knows all that another knows.
    pub(crate) fn has(&self, other: &Clock) -> bool {
        other.0.iter().enumerate().all(|(line, count)| self.of(line) >= *count)
    }
}
