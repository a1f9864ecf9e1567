//! Why a file is not read.

use std::fmt;

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What is wrong.
    pub why: String,
    /// The line, from 1, if it is one line's.
    pub line: Option<usize>,
    /// Whether the file is well-formed, and asks for what is outside of the model's scope.
    pub outside: bool,
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.why),
            None => out.write_str(&self.why),
        }
    }
}

pub(super) type Read<T> = Result<T, Unread>;

pub(super) fn wrong<T>(why: impl fmt::Display) -> Read<T> {
    Err(Unread { why: why.to_string(), line: None, outside: false })
}

pub(super) fn outside<T>(why: impl fmt::Display) -> Read<T> {
    Err(Unread { why: why.to_string(), line: None, outside: true })
}

/// Names the line of a mistake, unless a deeper place did.
pub(super) fn at<T>(line: usize, read: Read<T>) -> Read<T> {
    read.map_err(|unread| Unread { line: unread.line.or(Some(line)), ..unread })
}
