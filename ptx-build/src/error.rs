//! What every failure of the harness says: what was wrong, where, and what to do about it.

use std::fmt;

/// A failure that a person can act on.
#[derive(Debug)]
pub struct Error {
    what: String,
    place: Option<String>,
    fixes: Vec<String>,
    cause: Option<String>,
}

/// The harness's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure, described by what went wrong.
    pub fn new(what: impl fmt::Display) -> Self {
        Error { what: what.to_string(), place: None, fixes: Vec::new(), cause: None }
    }

    /// Begins with what the user asked for.
    pub fn of(mut self, asked: impl fmt::Display) -> Self {
        self.what = format!("{asked}: {}", self.what);
        self
    }

    /// Names the file, line or program it happened at.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Says what to do; may be called more than once, for alternatives.
    pub fn fix(mut self, advice: impl fmt::Display) -> Self {
        self.fixes.push(advice.to_string());
        self
    }

    /// Adds what caused it: another error, or what a program printed.
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// An operation on a file that the system refused.
    pub fn io(doing: &str, path: &std::path::Path, error: std::io::Error) -> Self {
        Error::new(format_args!("could not {doing}: {error}")).at(path.display())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.what.trim_end())?;
        if let Some(place) = &self.place {
            write!(out, "\n  at {place}")?;
        }
        if let Some(cause) = &self.cause {
            for line in cause.trim_end().lines() {
                write!(out, "\n  | {line}")?;
            }
        }
        for fix in &self.fixes {
            write!(out, "\n  → {fix}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
