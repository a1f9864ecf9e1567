//! The forms of the rows of `instructions!`: what each takes and gives, read from the text of its function.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::isa::row::{Pair, Row, SAME, Table};

/// What a form that is neither a load, a store nor an atomic takes and gives.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) parameters: String,
    pub(super) result: Option<String>,
    pub(super) operands: &'static str,
    pub(super) section: &'static str,
}

/// The rows of tables.
pub(super) fn rows(tables: &'static [Table]) -> impl Iterator<Item = &'static Row> {
    tables.iter().copied().flatten().copied().flatten().copied().flatten()
}

/// The rows of tables of pairs: that in the cluster follows that in this block.
pub(super) fn pairs(tables: &'static [&'static [&'static [Pair]]]) -> impl Iterator<Item = &'static Row> {
    let pairs = tables.iter().copied().flatten().copied().flatten();
    pairs.flat_map(|[here, there]| here.iter().zip(*there)).flat_map(|(here, there)| [here, there])
}

impl Row {
    /// The expression. None where a function without the word makes the form.
    pub(super) fn rust(&self) -> Option<String> {
        let names: Vec<_> = self.parameters.iter().map(|(name, _)| *name).collect();
        (self.word != SAME).then(|| format!("{}{}({})", self.name, self.generics(), names.join(", ")))
    }

    pub(super) fn message(&self) -> Message {
        let parameters: Vec<_> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {}", self.shown(of))).collect();
        Message {
            parameters: parameters.join(", "),
            result: self.result.map(|result| self.shown(result)),
            operands: self.operands,
            section: self.section,
        }
    }

    /// What a call has to say beside its arguments: a word, or a type that no argument tells.
    fn generics(&self) -> String {
        let told = self.parameters.iter().any(|(_, of)| has_t(of));
        let word = tight(self.word);
        match (word.as_str(), self.generic) {
            ("", "T") if !told => format!("::<{}>", self.of),
            ("", _) => String::new(),
            (word, generic) if generic.contains(',') => format!("::<{word}, _>"),
            (word, _) => format!("::<{word}>"),
        }
    }

    /// A type as a caller writes it: with a type for `T`.
    fn shown(&self, of: &str) -> String {
        let of = tight(of).replace("impl InCluster", "SharedClusterPtr").replace("impl Sized", "T");
        of.split_inclusive(is_delimiter)
            .map(|part| match part.trim_end_matches(is_delimiter) {
                "T" => part.replacen('T', self.of, 1),
                _ => part.to_owned(),
            })
            .collect()
    }
}

/// Without the spaces that `stringify!` may put between tokens.
fn tight(text: &str) -> String {
    text.replace(" < ", "<").replace(" >", ">").replace("* ", "*")
}

fn is_delimiter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

fn has_t(of: &str) -> bool {
    of.split(is_delimiter).any(|word| word == "T")
}
