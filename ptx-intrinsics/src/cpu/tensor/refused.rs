//! Why a box of a tensor cannot be copied.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// Why a box cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No GPU would do it.
    Wrong(String),
    /// A GPU would, but how it does is not known here.
    Unknown(String),
}

impl Refused {
    /// Why, in words.
    pub fn text(self) -> String {
        match self {
            Refused::Wrong(text) => text,
            Refused::Unknown(text) => format!("{text}: what a GPU does there is not known here"),
        }
    }
}

pub(super) type Result<T> = core::result::Result<T, Refused>;

pub(super) fn unknown<T>(text: &str) -> Result<T> {
    Err(Refused::Unknown(text.to_owned()))
}
