//! What ends a launch early.

use std::fmt;

/// Why a launch ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The interpreter does not know an instruction.
    Gap,
    /// An address was not as aligned as its access.
    Misaligned,
    /// An access where there is no memory.
    Astray,
    /// What a thread freed was not given by `malloc`, or was freed before.
    NotGiven,
    /// The kernel executed `trap`.
    Trap,
    /// The kernel took more instructions than [`Launch::steps`](crate::Launch::steps), or all of its threads wait.
    Endless,
    /// Functions call themselves deeper than a stack can be.
    Deep,
    /// It had not ended before [`Launch::deadline`](crate::Launch::deadline).
    Late,
    /// The kernel is no PTX, or is launched as it must not be.
    Wrong,
}

/// What ended a launch early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Of what kind it is.
    pub why: Why,
    /// In words: what, and at which instruction of which function.
    pub text: String,
    /// The lane whose thread did it, if it was one alone.
    pub(crate) lane: Option<usize>,
}

impl Stop {
    pub(crate) fn by(self, lane: usize) -> Stop {
        Stop { lane: self.lane.or(Some(lane)), ..self }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Stop {}

pub(crate) type Result<T> = std::result::Result<T, Stop>;

pub(crate) fn stop<T>(why: Why, text: impl Into<String>) -> Result<T> {
    Err(Stop { why, text: text.into(), lane: None })
}

pub(crate) fn wrong(text: impl Into<String>) -> Stop {
    Stop { why: Why::Wrong, text: text.into(), lane: None }
}

pub(crate) fn missing() -> Stop {
    wrong("an operand is missing")
}

pub(crate) fn gap(words: &[impl AsRef<str>]) -> Stop {
    Stop { why: Why::Gap, text: words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("."), lane: None }
}
